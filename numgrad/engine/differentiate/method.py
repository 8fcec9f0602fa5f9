"""The method of a pass: how its nodes are visited, and how the operations are carried out.

Nodes in which hooks, checks or functions of users take part are visited with care; a *plain* pass
has none. An *immediate* pass computes each operation at once, see `walk`; a *traced* one is
immediate, and its operations become a recorded plan. The operations of all other passes become a
program.
"""

from collections.abc import Collection, Sequence
from math import prod
from typing import Any, NamedTuple

from ..graph.node import Accumulator, Node, OwnSlot
from ..graph.value import CPU, device_of
from ..lower.executable import watch
from ..record.apply import chosen_stream, is_direct, other_modes, runtime

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
    """

    is_immediate: bool = False
    is_traced: bool = False
    careful: Collection[Node] | None = None


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
    is_immediate = not is_lasting and is_computable(request, order, careful)
    is_traced = is_immediate and comes_again and structure is not None
    return Method(is_immediate, is_traced, careful)


def careful_nodes(request: Any, order: Sequence[Node]) -> set[Node] | None:
    """Return the nodes that a pass visits with care; None for all.

    These are nodes with hooks, retained gradients or no rule, leaves with hooks, and nodes whose
    derivatives read the output of such a node past its hooks. Options, streams and recording
    concern all nodes.
    """
    if request.is_special or request.create_graph or request.seeds_last:
        return None
    if other_modes and chosen_stream() is not None:
        return None
    found = {node for node in order if _is_seen(node)}
    if any([node.stream is not None for node in found]):  # noqa: C419  a list is faster
        return None
    return found | {node for node in order if _passes(node, found)} if found else found


def _is_seen(node: Node) -> bool:
    """Whether a node has hooks or the like, or a derivative that is a function of the user."""
    if isinstance(node, Accumulator):
        return node.extras is not None or bool(node.variable.hooks)
    return node.extras is not None or node.kind is None


def _passes(node: Node, found: Collection[Node]) -> bool:
    """Whether a node sends a gradient to one of ``found`` that hooks there do not see."""
    pairs = zip(node.parents, node.slots, strict=True)
    return any([type(slot) is OwnSlot and parent in found for parent, slot in pairs])  # noqa: C419


def is_plain(request: Any, order: Sequence[Node]) -> bool:
    """Whether a pass only applies rules: no hooks, no chosen stream, no recording."""
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
    return all([_is_simple(node, most) for node in order])  # noqa: C419


def _is_simple(node: Node, most: int | None) -> bool:
    if isinstance(node, Accumulator):
        return True
    if node.saved is None or not all(map(_is_computed, node.saved)):
        return False
    kind = node.kind
    if kind is None:
        return _is_small(node, most)
    if kind.is_small is None:
        kind.is_small = {n: _is_small(node, n) for n in (None, MOST, MOST_WATCHED)}
    return kind.is_small[most]


def _is_small(node: Node, most: int | None) -> bool:
    """Whether nodes of this kind have rules, and a program would save no memory on their arrays.

    ``most`` is the largest number of elements that an array may have, None for any number.
    """
    operator, roles = node.operator, runtime.roles
    if not (operator.has_rule or operator.is_python) or operator.is_replay:
        return False
    if operator is roles.put_view and most is not None:
        return False  # a program writes a part without a copy of the rest
    if most is not None and any([prod(spec.shape) > most for spec in node.outputs]):  # noqa: C419
        return False
    # The gradient of a part is written into zeros of the size of the whole array.
    is_part = operator in (roles.index, roles.element, roles.put_view)
    return not is_part or prod(node.inputs[0].shape) <= (most or MOST)


def _is_computed(saved: Any) -> bool:
    """Whether a saved value is None or a computed value that no hook has packed."""
    return saved is None or (type(saved) is runtime.value and saved.array is not None)


__all__ = ["Method", "careful_nodes", "how", "is_plain"]
