"""Passes that compute each operation at once, as forward code does.

Others build expressions and run them as one program, which pays where the program runs again. That
of a pass that is recorded itself does not, nor does one for a graph that never comes again, like
those of an index that differs from call to call.
"""

from collections.abc import Collection, Sequence
from math import prod
from typing import Any

from .executable import watch
from .graph import Accumulator, Node, Value
from .record import mode, runtime, unusual

MOST = 1 << 14
"""Elements of an array, beyond which the memory that a program saves is taken to count for more
than the time that it takes to make one: an order of magnitude, not a measured bound."""


def is_immediate(request: Any, order: Sequence[Node]) -> bool:
    """Whether a pass over these nodes computes each operation as it comes.

    So it is where the operations are built-in ones without rows, and where nobody looks at a
    gradient on its way. A program takes less memory, so a pass that is not recorded is one if it is
    large.
    """
    if request.batch is not None or (unusual and not mode.direct):
        return False
    if request.check is not None or request.retain_all or request.initial:
        return False
    if watch.current is not None:  # somebody who wants to see programs
        return False
    if any([value.array is None or value.rows for _, value in request.seeds]):  # noqa: C419
        return False
    most = None if request.create_graph else MOST
    return all([_is_simple(node, most) for node in order])  # noqa: C419  a list is faster


def _is_simple(node: Node, most: int | None) -> bool:
    if node.extras is not None:
        return False
    if type(node) is Accumulator:
        return not node.variable.hooks
    operator, roles = node.operator, runtime.roles
    if not operator.has_rule or (operator is roles["put_view"] and most is not None):
        return False  # a program writes part by part without copies of the rest
    if node.saved is None or not all(map(_is_computed, node.saved)):
        return False
    if most is not None and any([prod(spec.shape) > most for spec in node.outputs]):  # noqa: C419
        return False
    # The gradient of a part is written into as many zeros as the whole has elements.
    is_part = operator in (roles["index"], roles["element"], roles["put_view"])
    return not is_part or prod(node.inputs[0].shape) <= MOST


def _is_computed(saved: Any) -> bool:
    """Whether what a node has saved is nothing, or an array that no hook has packed."""
    return saved is None or (type(saved) is runtime.value and saved.array is not None)


def is_own(value: Value, others: Collection[int]) -> bool:
    """Whether nobody but the graph of the pass has the array of a value: it is no view, no constant
    and, by its id, none of the others."""
    array = value.array
    return (
        array is not None and array.base is None and array.flags.writeable
        and id(array) not in others
    )  # fmt: skip
