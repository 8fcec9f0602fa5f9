"""The strides that values of a captured function would have if they were computed at once.

Programs keep all values in C order, but a captured function must share memory where NumPy would.
That depends on strides for a reshape alone: the result is a view, which sees later writes, or a
copy. So the strides of an expression are worked out from the strides of its inputs, on demand.
"""

from typing import Any

import numpy as np

from ...ir.device_array import DeviceArray
from ...ir.memory_order import (
    Strides,
    in_miniature,
    standing_in,
    strides_like,
    strides_of,
    strides_of_copy,
)
from ...ir.program import is_contiguous
from .value import CPU, Expr
from .view import Chain


def is_view(root: Any, chain: Chain) -> bool:
    """Whether a chain of view operators, applied to the value ``root``, gives a view and not a
    copy.

    A reshape in the chain may have to copy, which depends on the strides of ``root``.
    """
    reshapes = [operator.may_copy for operator, _ in chain]
    if True not in reshapes or (False not in reshapes and strides_of_value(root) is None):
        return True
    return is_view_of_array(stand_in(root), chain)


def is_view_of_array(array: np.ndarray | None, chain: Chain) -> bool:
    """Whether a chain of view operators, applied to an array, gives a view and never has to
    copy."""
    for operator, static in chain:
        array = operator.seen(array, static)
        if array is None:
            return False
    return True


def stand_in(value: Any) -> np.ndarray:
    """Return an array with the shape, dtype and strides of a value, which may still have to be
    computed.

    Views of the array tell which views of the value are possible. The elements of the array are
    meaningless.
    """
    return standing_in(value.shape, value.dtype, strides_of_value(value))


def strides_of_value(value: Any) -> Strides:
    """Return the strides of a value or expression without the batch axis; None for C order."""
    array = value.array
    if array is not None:
        if not value.rows:
            return strides_of(array)
        strides = array.strides[1:]
        return None if is_contiguous(value.shape, strides, value.dtype.itemsize) else strides
    expr = value.expr
    return (expr.strides or _strides_of_expr(expr))[value.expr_slot]


def strides_of_value_copy(value: Any) -> Strides:
    """Return the strides of a dense copy of an array or value; None for C order.

    The axes of the copy have the same order in memory as those of the original.
    """
    is_array = isinstance(value, np.ndarray | DeviceArray)
    found = strides_of(value) if is_array else strides_of_value(value)
    return found and strides_of_copy(value.shape, found, value.dtype.itemsize)


def _strides_of_expr(expr: Expr) -> tuple[Strides, ...]:
    """Return the strides of an expression's outputs.

    The strides of all expressions on which the expression depends are worked out before, and
    stored.
    """
    stack = [expr]
    while stack:
        last = stack[-1]
        waiting = [
            source.expr for source in last.inputs
            if source.array is None and source.expr.strides is None
        ]  # fmt: skip
        if waiting:
            stack += waiting
        else:
            stack.pop()
            last.strides = last.strides or _strides(last)
    return expr.strides or ()


def _strides(expr: Expr) -> tuple[Strides, ...]:
    """Return the strides of an expression's outputs; those of its inputs are known already."""
    operator, inputs = expr.operator, expr.inputs
    given = [strides_of_value(source) for source in inputs]
    if operator.is_view:
        (source,) = inputs
        if operator.may_copy and given[0] is None:
            return (None,)
        view = operator.seen(standing_in(source.shape, source.dtype, given[0]), expr.static)
        return (None if view is None else strides_of(view),)
    found = None
    is_asked = operator.memory_order and (operator.reorders or any(s is not None for s in given))
    if is_asked and expr.specs[0].device == CPU:  # a device has C order after each operation
        small = [in_miniature(s.shape, lie) for s, lie in zip(inputs, given, strict=True)]
        found = operator.memory_order(small, expr.static)
    if found is None:
        return (None,) * len(expr.specs)
    return tuple([
        strides_like(small, spec.shape, spec.dtype.itemsize)
        for small, spec in zip(found, expr.specs, strict=True)
    ])  # fmt: skip
