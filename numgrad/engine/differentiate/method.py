"""The method of a pass: how its nodes are visited, and how the operations are carried out.

Nodes in which hooks, checks or functions of users take part are visited with care; a *plain* pass
has none. An *immediate* pass computes each operation at once, see `walk`; a *traced* one is
immediate, and its operations become a recorded plan. The operations of all other passes become a
program.
"""

from collections.abc import Collection, Sequence
from math import prod
from operator import attrgetter
from typing import Any, NamedTuple

from ..graph.kind import Kind
from ..graph.node import Accumulator, Call, Node, OwnSlot
from ..graph.value import CPU, device_of
from ..lower.executable import watch
from ..record.apply import is_direct, runtime
from ..replay.node_streams import streams_beside

MOST = 1 << 14
"""The most elements of an array in an immediate pass that is not recorded: for larger arrays the
memory that a program saves is taken to be worth the time of making it. An order of magnitude, not a
measured bound."""
MOST_WATCHED = 1 << 17
"""The same where hooks or functions of users take part: each pass would make its program anew,
which takes about as long as an operation on so many elements."""


class Method(NamedTuple):
    """How a pass is run; see the module.

    Attributes
    ----------
    careful : collection of Node or None
        The nodes that are visited with care; None for all nodes.
    is_watched : bool
        Whether hooks, checks or functions of users take part.
    is_cut : bool
        Whether the pass follows a plan that is cut at watched nodes, or makes one.
    """

    is_immediate: bool = False
    is_traced: bool = False
    careful: Collection[Node] | None = None
    is_watched: bool = True
    is_cut: bool = False

    @property
    def applies_rules(self) -> bool:
        """Whether the pass does nothing but apply rules to arrays."""
        return self.is_immediate and not self.is_watched


def how(request: Any, order: Sequence[Node], structure: Any, comes_again: bool) -> Method:
    """Return the method of a pass over the nodes ``order``.

    Operations are computed at once where a program would hardly run again: in a pass that is
    recorded itself, and in the first pass of a structure.

    Parameters
    ----------
    structure : Structure, optional
        The structure of the pass; None if no plan can serve it.
    comes_again : bool
        Whether the structure was met before.
    """
    careful, is_lasting = careful_nodes(request, order), not request.create_graph and comes_again
    is_watched = careful is None or bool(careful)
    has_watched = structure is not None and bool(structure.watched)
    is_immediate = (not is_lasting or has_watched) and is_computable(request, order, careful)
    again = is_immediate and comes_again and structure is not None
    if is_immediate and careful:
        careful = _with_hooks(careful)
    is_cut = again and has_watched
    return Method(is_immediate, again and not has_watched, careful, is_watched, is_cut)


def _with_hooks(careful: Collection[Node]) -> set[Node]:
    """Return those of the nodes visited with care which an immediate pass visits with care, too.

    A derivative that is a function of the user gets numbers there as any other derivative does.
    """
    found = {node for node in careful if node.extras is not None or node.is_accumulator}
    return found | {node for node in careful if _passes(node, found)} if found else found


def is_usable(structure: Any, plan: Any) -> bool:
    """Whether a pass may use the plan that was found for its structure.

    A plan that is cut at watched nodes is of no use where the user looks at programs, and where a
    function of the user has saved a value that is not computed, or packed by a hook.
    """
    if not plan.is_cut:
        return True
    order = structure.order
    seen = [order[plan.visited[n]] for n in plan.watched]
    return watch.current is None and _are_computed(seen)


def careful_among(order: Sequence[Node], watched: Sequence[int]) -> set[Node]:
    """Return the nodes that an immediate pass visits with care, of watched ones, given by their
    numbers; functions of users are not among them, unless they have hooks."""
    seen = [order[n] for n in watched]
    return {node for node in seen if node.extras is not None or type(node) is not Call}


def careful_nodes(request: Any, order: Sequence[Node]) -> set[Node] | None:
    """Return the nodes that a pass visits with care; None for all.

    These are nodes with hooks, retained gradients or no rule, leaves with hooks, and nodes whose
    derivatives read the output of such a node past its hooks. Options, streams and recording
    concern all nodes.
    """
    if request.is_special or request.create_graph or request.seeds_last:
        return None
    if streams_beside(order) is not None:
        return None
    # Most nodes have a shared kind and no extras: looking at that here is faster than a call.
    found = {
        node
        for node in order
        if (node.extras is not None or not node._kind.is_shared) and _is_seen(node)
    }
    return found | {node for node in order if _passes(node, found)} if found else found


def _is_seen(node: Node) -> bool:
    """Whether a node has hooks or the like, or a derivative that is a function of the user."""
    if isinstance(node, Accumulator):
        return node.extras is not None or bool(node.variable.hooks)
    return node.kind is None or (node.extras is not None and node.extras.are_seen)


def _passes(node: Node, found: Collection[Node]) -> bool:
    """Whether a node sends a gradient to one of ``found`` that hooks there do not see."""
    pairs = zip(node.parents, node.slots, strict=True)
    return any([type(slot) is OwnSlot and parent in found for parent, slot in pairs])  # noqa: C419


def is_plain(request: Any, order: Sequence[Node]) -> bool:
    """Whether a pass only applies rules: no hooks, no other stream, no recording."""
    careful = careful_nodes(request, order)
    return careful is not None and not careful


def is_computable(
    request: Any, order: Sequence[Node], careful: Collection[Node] | None = None
) -> bool:
    """Whether each operation of a pass over these nodes can be computed at once.

    For that no value may have rows, no check may see a gradient, and all operators must be
    built-in, or those of `ng.Function`. A pass over large arrays that is not recorded becomes a
    program, to save memory.
    """
    if request.batch is not None or not is_direct():
        return False
    if request.check is not None or request.retain_all or request.initial:
        return False
    if watch.current is not None:  # the user looks at programs
        return False
    if any([value.array is None or value.rows for _, value in request.seeds]):  # noqa: C419
        return False
    if device_of([edge.node.outputs[edge.slot] for edge, _ in request.seeds]) != CPU:
        return False  # on a device each operation would be a program of its own
    most = None if request.create_graph else MOST_WATCHED if careful else MOST
    if request.direction != "reverse" and any([_is_seen(node) for node in order]):  # noqa: C419
        return False  # tangents go through functions of users by expressions
    return _are_computed(order) and all([_is_small(k, most) for k in _kinds_of(order)])  # noqa: C419


def _kinds_of(order: Sequence[Node]) -> set[Kind]:
    """Return the kinds of nodes that are no accumulators."""
    kinds = set(map(attrgetter("_kind"), order))
    if all([kind.is_settled for kind in kinds]):  # noqa: C419
        return {kind for kind in kinds if kind.inputs}
    return {node.kind or node._kind for node in order if not isinstance(node, Accumulator)}


def _is_small(kind: Kind, most: int | None) -> bool:
    """Whether nodes of a kind have rules, and a program would save no memory on their arrays.

    ``most`` is the largest number of elements that an array may have, None for any number.
    """
    if not kind.is_shared:
        return _is_light(kind, most)
    known = kind.is_small
    if known is None:
        known = kind.is_small = {}
    found = known.get(most)
    if found is None:
        found = known[most] = _is_light(kind, most)
    return bool(found)


def _is_light(kind: Kind, most: int | None) -> bool:
    operator, roles = kind.operator, runtime.roles
    if not (operator.has_rule or operator.is_python) or operator.is_replay:
        return False
    if operator is roles.put_view and most is not None:
        return False  # a program writes a part without a copy of the rest
    if most is not None and any([prod(spec.shape) > most for spec in kind.outputs]):  # noqa: C419
        return False
    # The gradient of a part is written into zeros of the size of the whole array.
    is_part = operator in (roles.index, roles.element, roles.put_view)
    return not is_part or prod(kind.inputs[0].shape) <= (most or MOST)


def _are_computed(order: Sequence[Node]) -> bool:
    """Whether all saved values of nodes are computed values that no hook has packed."""
    kind = runtime.value
    for node in order:
        saved = node.saved
        if saved is None:
            return False
        for value in saved:
            if value is not None and (type(value) is not kind or value.array is None):
                return False
    return True


__all__ = ["Method", "careful_among", "careful_nodes", "how", "is_plain", "is_usable"]
