"""Choices by several conditions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.composition import composed
from ...ir.broadcasting import broadcast_shapes
from ..array.argument_checks import sequence
from ..array.operands import as_tensor, as_tensors, in_one_dtype
from ..creation.constants import zeros_like
from ..creation.memory_order import in_order
from ..elementwise.comparison import logical_not
from ..indexing.inplace import setitem
from .selection import where


@composed
def select(
    condlist: Sequence[ArrayLike], choicelist: Sequence[ArrayLike], default: ArrayLike = 0
) -> Tensor:
    """Return elements of the first of several choices whose condition holds.

    Parameters
    ----------
    condlist : sequence of array_like of bool
        The conditions.
    choicelist : sequence of array_like
        As many choices; all are broadcast together.
    default : array_like
        Where no condition holds.

    Raises
    ------
    ValueError
        If there is no condition, or another number of choices.
    TypeError
        If a condition is not boolean.

    Notes
    -----
    Each cotangent goes to the choice that was taken, exactly 0 to the others; as in `where` each
    choice is computed everywhere.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([-2.0, 0.5, 3.0], requires_grad=True)
    >>> y = ng.select([x < 0, x > 1], [x**2, 3 * x])
    >>> ng.grad(y.sum(), x)[0]
    tensor([-4.,  0.,  3.])
    """
    condlist, choicelist = sequence(condlist, "condlist"), sequence(choicelist, "choicelist")
    if len(condlist) != len(choicelist):
        raise ValueError(f"select: {len(condlist)} conditions for {len(choicelist)} choices")
    if not len(condlist):
        raise ValueError("select: at least one condition is needed")
    conditions = as_tensors(*condlist)
    if any(c.dtype.kind != "b" for c in conditions):
        raise TypeError("select: conditions must be boolean")
    choices = in_one_dtype(*choicelist, default)
    result: Any = choices[-1]
    for condition, choice in zip(conditions[::-1], choices[-2::-1], strict=True):
        result = where(condition, choice, result)
    shape = broadcast_shapes(*(c.shape for c in (*conditions, *choices)))
    same = result.shape == shape
    return in_order(result if same else result + np.zeros(shape, result.dtype), "C")


def piecewise(
    x: ArrayLike,
    condlist: Any,
    funclist: Sequence[Any],
    *args: Any,
    **kw: Any,
) -> Tensor:
    """Return a function that is given by pieces: each is called with the elements of its condition.

    Parameters
    ----------
    x : array_like
        The points.
    condlist : sequence of array_like of bool
        Of the shape of ``x``; where several hold the last one counts.
    funclist : sequence of callable or number
        As many, or one more for where none holds.
    *args, **kw
        Handed to the functions.

    Raises
    ------
    ValueError
        For another number of functions.
    IndexError
        If a condition has another shape than ``x``.

    Notes
    -----
    The derivative is that of the piece; nothing is computed outside of it. In a captured function,
    where conditions are not known, functions of elements are, and others are refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([-1.0, 4.0], requires_grad=True)
    >>> y = ng.piecewise(x, [x < 0, x >= 0], [lambda x: -x, ng.sqrt])
    >>> ng.grad(y.sum(), x)[0]
    tensor([-1.  ,  0.25])
    """
    x = as_tensor(x)
    is_one = not isinstance(condlist, (list, tuple)) and np.ndim(condlist) == 0
    if is_one or (x.ndim and np.ndim(condlist[0]) == 0):
        condlist = [condlist]
    conditions = [as_tensor(c).astype(bool) for c in condlist]
    funclist = sequence(funclist, "funclist")
    if len(conditions) == len(funclist) - 1:
        rest = conditions[0]
        for condition in conditions[1:]:
            rest = rest | condition
        conditions.append(logical_not(rest))
    if len(conditions) != len(funclist):
        raise ValueError(f"piecewise: {len(conditions)} conditions for {len(funclist)} functions")
    y = zeros_like(x)
    for condition, function in zip(conditions, funclist, strict=True):
        value = function
        if callable(function):
            part = x[condition]
            if isinstance(part, Tensor) and not part.size:
                continue
            value = function(part, *args, **kw)
        setitem(y, condition, value)
    return y
