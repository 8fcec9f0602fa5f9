"""Passes that record themselves and compute each operation at once, as forward code does.

A pass of another kind builds expressions and runs them as one program. That a pass is recorded is a
reason not to: its operations have to be recorded one by one in any case, by plans that are known,
and the program would be made anew each time.
"""

from collections.abc import Collection, Sequence
from math import prod
from typing import Any

from .graph import Accumulator, Node, Value
from .record import mode, runtime, unusual

MOST_WRITTEN = 1 << 14
"""The elements of an array of which a part is read: the gradient of the part is written into as
many zeros, which takes as long as it takes to make a part of a program."""


def is_immediate(request: Any, order: Sequence[Node]) -> bool:
    """Whether a pass over these nodes computes each operation as it is recorded.

    So it is where the operations are built-in ones without rows, and where nobody looks at a
    gradient on its way.
    """
    if not request.create_graph or request.batch is not None or (unusual and not mode.direct):
        return False
    if request.check is not None or request.retain_all or request.initial:
        return False
    if any([value.array is None or value.rows for _, value in request.seeds]):  # noqa: C419
        return False
    return all([_is_simple(node) for node in order])  # noqa: C419  a list is faster


def _is_simple(node: Node) -> bool:
    if node.extras is not None:
        return False
    if type(node) is Accumulator:
        return not node.variable.hooks
    operator, roles = node.operator, runtime.roles
    if operator is roles["put_view"] or not operator.has_rule:
        return False
    saved = node.saved
    if saved is None or any([type(v) is not runtime.value and v is not None for v in saved]):  # noqa: C419
        return False
    is_part = operator is roles["index"] or operator is roles["element"]
    return not is_part or prod(node.inputs[0].shape) <= MOST_WRITTEN


def is_own(value: Value, others: Collection[int]) -> bool:
    """Whether nobody but the graph of the pass has the array of a value: it is no view, no constant
    and, by its id, none of the others."""
    array = value.array
    return (
        array is not None and array.base is None and array.flags.writeable
        and id(array) not in others
    )  # fmt: skip
