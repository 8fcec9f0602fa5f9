"""Which nodes a pass executes: those on a path from the outputs to the wanted inputs (chainer's
minimal path)."""

from collections.abc import Collection, Iterable

from .graph import Edge, Node


def reachable(roots: Iterable[Node], cut: Collection[Edge]) -> list[Node]:
    """Return the nodes reachable from ``roots`` in descending creation number.

    A node is created after the nodes it points to, so this order is a topological one.
    """
    seen: set[Node] = set(roots)
    stack = list(seen)
    while stack:
        for edge in stack.pop().edges:
            if edge.node is not None and edge.node not in seen and edge not in cut:
                seen.add(edge.node)
                stack.append(edge.node)
    return sorted(seen, key=_number, reverse=True)


def _number(node: Node) -> int:
    return node.number


def needed(
    nodes: list[Node], targets: Collection[Edge], cut: Collection[Edge]
) -> dict[Node, tuple[bool, ...]]:
    """Return the nodes to execute, each with the mask of inputs whose gradient is wanted.

    Parameters
    ----------
    nodes
        What `reachable` returned.
    targets
        The edges whose gradient is asked for; the node of a target is executed only for another
        target above.
    cut
        The edges that let no gradient pass.
    """
    wanted: dict[Node, tuple[bool, ...]] = {}
    for node in reversed(nodes):
        mask = tuple(
            edge.node is not None and edge not in cut and (edge in targets or edge.node in wanted)
            for edge in node.edges
        )
        if any(mask):
            wanted[node] = mask
    return wanted
