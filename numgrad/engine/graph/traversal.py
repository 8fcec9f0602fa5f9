"""Searches through a graph: the nodes that a pass executes, and what values depend on.

A pass executes the nodes on a path from the outputs to the wanted inputs (chainer's minimal path)
that goes through no cut edge (``no_grad_vars``).
"""

from collections.abc import Collection, Iterable, Sequence
from operator import attrgetter

from .node import Accumulator, Call, Edge, Node, OwnSlot, Value, accumulator_of
from .references import kept_leaves


def reachable(
    roots: Iterable[Node], cut: Collection[Edge], ends: Collection[Node] = (), first: int = 0
) -> list[Node]:
    """Return ``roots`` and the nodes on which they depend, the latest first.

    A node is created after its parents, so this order is a topological one. The search does not go
    through the edges ``cut``, nor beyond the nodes ``ends``, nor to nodes whose creation number is
    less than ``first``.
    """
    seen: set[Node] = set(roots)
    stack = [node for node in seen if node not in ends] if ends else list(seen)
    while stack and not cut and not ends and not first:
        for node in stack.pop().parents:
            if node is not None and node not in seen:
                seen.add(node)
                stack.append(node)
    while stack:
        last = stack.pop()
        for node, slot in zip(last.parents, last.slots, strict=True):
            if node is None or node in seen or node.number < first or (node, slot) in cut:
                continue
            seen.add(node)
            if node not in ends:
                stack.append(node)
    return sorted(seen, key=attrgetter("number"), reverse=True)


def watched_nodes(nodes: Sequence[Node]) -> list[int]:
    """Return the numbers of the nodes in which Python code of the user takes part, or that have
    anything else that few nodes have (`Extras`), but for a stream.

    That code is hooks, or the derivative of a function of the user.
    """
    found: list[int] = []
    for n, node in enumerate(nodes):
        # Most nodes have a shared kind and no extras: a look at that is faster than a call.
        extras = node.extras
        if extras is not None and extras.are_seen:
            found.append(n)
        elif not node._kind.is_shared:
            is_leaf = isinstance(node, Accumulator)
            if node.variable.hooks if is_leaf else node._kind.operator.is_python:  # type: ignore[attr-defined]
                found.append(n)
    return found


def is_marked(node: Node) -> bool:
    """Whether a node has anything that few nodes have (`Extras`), but for a stream."""
    return node.extras is not None and node.extras.are_seen


def is_seen_within(node: Node) -> bool:
    """Whether hooks look at the node itself, and not only at the tensors that it has made."""
    extras = node.extras
    return extras is not None and bool(extras.pre_hooks or extras.post_hooks)


def has_plain_watchers(nodes: Sequence[Node], watched: Iterable[int]) -> bool:
    """Whether a pass may visit the watched nodes alone with care.

    It may not if an operation ran on a stream, or if a derivative reads the output of a node past
    its hooks: then other nodes need care, too.
    """
    if any([node.extras is not None and node.stream is not None for node in nodes]):  # noqa: C419
        return False
    seen = {nodes[n] for n in watched if nodes[n].extras is not None or type(nodes[n]) is not Call}
    if not seen:
        return True
    return not any([  # noqa: C419  a list is faster
        type(slot) is OwnSlot and parent in seen
        for node in nodes
        for parent, slot in zip(node.parents, node.slots, strict=True)
    ])  # fmt: skip


def needed(
    nodes: list[Node], targets: Collection[Edge], cut: Collection[Edge]
) -> dict[Node, tuple[bool, ...]]:
    """Return the nodes to execute, each with a mask of the inputs whose gradients are wanted.

    Parameters
    ----------
    nodes
        The result of `reachable`.
    targets
        The edges whose gradients are asked for. A node with a target among its outputs is executed
        only if another target is further towards the inputs.
    cut
        The edges that let no gradient pass.
    """
    wanted: dict[Node, tuple[bool, ...]] = {}
    touched = {node for node, _ in targets if node is not None}
    # A node with one output is a target or none: its edges need not be looked at one by one.
    if not cut and all([len(node._kind.outputs) == 1 for node in touched]):  # noqa: C419
        for node in reversed(nodes):
            found = tuple([parent in touched for parent in node.parents])
            if True in found:
                wanted[node] = found
                touched.add(node)
        return wanted
    for node in reversed(nodes):
        mask = [
            parent in wanted or (parent in touched and (parent, slot) in targets)
            for parent, slot in zip(node.parents, node.slots, strict=True)
        ]
        if cut:
            edges = zip(node.parents, node.slots, strict=True)
            mask = [want and edge not in cut for want, edge in zip(mask, edges, strict=True)]
        if True in mask:
            wanted[node] = tuple(mask)
    return wanted


def depending_on(values: Sequence[Value], ends: Collection[Node]) -> list[int]:
    """Return the positions in ``values`` of the values that depend on a node of ``ends``."""
    roots = {n: value.edge.node for n, value in enumerate(values) if value.requires_grad}
    found: set[Node | None] = set()
    for node in reversed(reachable([node for node in roots.values() if node], (), ends)):
        if node in ends or any([parent in found for parent in node.parents]):  # noqa: C419
            found.add(node)
    return [n for n, node in roots.items() if node in found]


def reaches_outside(values: Iterable[Value], first: int, last: int | None = None) -> bool:
    """Whether values that a function has computed depend on nodes or leaves from outside of the
    function.

    Nodes and leaves with a creation number less than ``first``, the number at the begin of the
    call, are from outside. So are leaves with a number greater than ``last``, and leaves that the
    function has made and that something else than the graph still refers to.

    The search stops at the first older node, so a loop of many transforms over one long graph takes
    linear time.
    """
    stack: list[Node] = [v.node or accumulator_of(v) for v in values if v.requires_grad]
    seen = set(stack)
    made: list[Accumulator] = []
    while stack:
        node = stack.pop()
        number = node.number
        if isinstance(node, Accumulator):
            number = number_of(node)
            if last is not None and number > last:
                return True
            if not node.variable.leaf.is_variable:
                made.append(node)
        if number < first:
            return True
        for parent in node.parents:
            if parent is not None and parent not in seen:
                seen.add(parent)
                stack.append(parent)
    return bool(kept_leaves(made, seen))


def edges_outside(
    values: Iterable[Value], first: int, arguments: Iterable[Value] = ()
) -> list[Edge]:
    """Return the edges from outside of a function on which the results of the function depend.

    They are the edges of the tensors that the function closes over.

    Parameters
    ----------
    values
        The results of the function.
    first : int
        The creation number before the call (see `number_of`): older nodes are from outside.
    arguments
        The search does not go through these values, so nodes that are reached only by way of them
        are left out.
    """
    found: dict[Edge, None] = {}
    stack: list[Edge] = [value.edge for value in values if value.requires_grad]
    known, seen = {value.edge for value in arguments}, set[Node]()
    while stack:
        edge = stack.pop()
        node = edge.node
        if node is None or node in seen or edge in known:
            continue
        if number_of(node) < first:
            found[edge] = None
        else:
            seen.add(node)
            stack += [Edge(*edge) for edge in zip(node.parents, node.slots, strict=True)]
    return list(found)


def number_of(node: Node) -> int:
    """Return the creation number of a node; for an accumulator, the number of its leaf."""
    return node.variable.leaf.number if isinstance(node, Accumulator) else node.number


def reached_nodes(values: Sequence[Value], kept: Sequence[Node]) -> list[Node]:
    """Return the nodes of ``kept`` on which values depend.

    One pass has recorded all nodes of ``kept``. The values may depend on them through other nodes,
    which inner passes have recorded.
    """
    if not kept:
        return []
    first = kept[0].number
    stack = [value.node for value in values]
    seen: set[Node] = set()
    while stack:
        node = stack.pop()
        if node is None or node in seen or node.number < first:
            continue
        seen.add(node)
        stack += node.parents
    return [node for node in kept if node in seen]
