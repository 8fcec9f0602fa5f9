"""Cumulative sums and products, differences, and the trapezoidal rule."""

from functools import cache
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.composition import composed
from ...engine.record.guards import guarded
from ...engine.record.options import Steps
from ...ir.dtypes import FLOATING
from ...operators.elementwise.arithmetic import add, multiply, subtract
from ...operators.elementwise.comparison import not_equal
from ...operators.reduction import cumulative as _operators
from ...operators.reduction.reductions import sum as _sum
from ...operators.shape.indexing import index
from ...operators.shape.joining import concat
from ...operators.shape.reshape import reshape
from ..array.argument_checks import integer
from ..array.axes import negative_axis
from ..array.operands import as_tensor, as_tensors
from ..array.results import delivered


def cumsum(
    a: ArrayLike, axis: int | None = None, dtype: Any = None, out: Tensor | None = None
) -> Tensor:
    """Return the sums of the elements so far along ``axis``.

    Parameters
    ----------
    a : array_like
        The elements.
    axis : int, optional
        By default the elements of all axes, in C order.
    dtype : dtype, optional
        Of the elements before they are summed; small integers become int64 as in NumPy.
    out : Tensor, optional
        Where the result is written.

    Notes
    -----
    For :math:`y_i = \\sum_{j \\le i} x_j` the gradient is :math:`g^x_j = \\sum_{i \\ge j} g_i`.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> ng.cumsum(x).detach()
    tensor([1., 3., 6.])
    >>> ng.grad(ng.cumsum(x).sum(), x)[0]
    tensor([3., 2., 1.])
    """
    y = _scan(_operators.cumulative_sum, a, axis, dtype)
    return y if out is None else delivered(y, out, "cumsum")


def cumprod(
    a: ArrayLike, axis: int | None = None, dtype: Any = None, out: Tensor | None = None
) -> Tensor:
    """Return the products of the elements so far along ``axis``; parameters as in `cumsum`.

    Notes
    -----
    For :math:`y_i = \\prod_{j \\le i} x_j` the gradient is :math:`g^x_j = \\sum_{i \\ge j} g_i
    \\prod_{k \\le i, k \\ne j} x_k`, computed without a division, so that zeros do no harm.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([2.0, 0.0, 3.0], requires_grad=True)
    >>> ng.grad(ng.cumprod(x).sum(), x)[0]
    tensor([1., 8., 0.])
    """
    y = _scan(_operators.cumulative_prod, a, axis, dtype)
    return y if out is None else delivered(y, out, "cumprod")


def running_extrema(name: str, x: Tensor, axis: int) -> Tensor:
    """Return what ``maximum.accumulate`` or ``minimum.accumulate`` returns for real numbers."""
    return _scan(RUNNING_EXTREMA[name], x, axis, None)


RUNNING_EXTREMA = {"maximum": _operators.running_max, "minimum": _operators.running_min}


def cumulative_sum(
    x: ArrayLike, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    """Return the sums of the elements so far along ``axis`` (the Array API's `cumsum`).

    Parameters
    ----------
    x : array_like
        The elements.
    axis : int, optional
        May be left out for one axis only.
    dtype : dtype, optional
        As in `cumsum`.
    include_initial : bool
        Whether the result begins with the sum of no elements, 0.

    Raises
    ------
    ValueError
        If ``axis`` is left out and there are several.

    Notes
    -----
    For :math:`y_i = \\sum_{j \\le i} x_j` the gradient is :math:`g^x_j = \\sum_{i \\ge j} g_i`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.cumulative_sum([1.0, 2.0, 3.0], include_initial=True)
    tensor([0., 1., 3., 6.])
    """
    x, axis = _one_axis(x, axis)
    return _with_initial(cumsum(x, axis, dtype), axis, 0, include_initial)


def cumulative_prod(
    x: ArrayLike, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    """Return the products of the elements so far along ``axis``; parameters as in `cumulative_sum`.

    Notes
    -----
    The derivative is that of `cumprod`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.cumulative_prod([2.0, 3.0, 4.0], include_initial=True)
    tensor([ 1.,  2.,  6., 24.])
    """
    x, axis = _one_axis(x, axis)
    return _with_initial(cumprod(x, axis, dtype), axis, 1, include_initial)


def _scan(operator: Any, a: ArrayLike, axis: int | None, dtype: Any) -> Tensor:
    x = as_tensor(a)
    if dtype is None and x.dtype in FLOATING:
        return _scanner(operator).call(x, axis)
    wanted = np.cumsum(np.zeros(1, x.dtype)).dtype if dtype is None else dtype
    x = x.astype(wanted, copy=False)
    return _scanner(operator).call(x, axis).astype(x.dtype, copy=False)


@cache
def _scanner(operator: Any) -> Steps:
    """Return the function ``(x, axis)`` of an operator along the last axis."""

    def resolve(x: Tensor, axis: int | None) -> list[tuple[Any, dict[str, Any]]]:
        if not x.ndim or (axis is None and x.ndim != 1):  # the sums of a number are an array
            negative_axis(axis or 0, max(x.ndim, 1))
            return [(reshape, {"ncore": x.ndim, "shape": (x.size,)}), (operator, {})]
        place = -1 if axis is None else negative_axis(axis, x.ndim)
        return [(operator, {} if place == -1 else {"axis": place})]

    return Steps(resolve)


def _one_axis(x: ArrayLike, axis: int | None) -> tuple[Tensor, int]:
    x = as_tensor(x)
    if axis is None and x.ndim > 1:
        raise ValueError(f"axis is needed for an array of {x.ndim} axes")
    return x, 0 if axis is None else axis


def _with_initial(y: Tensor, axis: int, value: int, include: bool) -> Tensor:
    if not guarded(include):
        return y
    axis = negative_axis(axis, y.ndim)
    shape = [*y.shape]
    shape[axis] = 1
    return concat(np.full(shape, value, y.dtype), y, axis=axis)


# Differences --------------------------------------------------------------------------------------


def diff(
    a: ArrayLike,
    n: int = 1,
    axis: int = -1,
    prepend: ArrayLike | None = None,
    append: ArrayLike | None = None,
) -> Tensor:
    """Return the ``n``-th differences of neighbours along ``axis``.

    Parameters
    ----------
    a : array_like
        The values.
    n : int
        How often to take differences.
    axis : int
        Along which axis.
    prepend, append : array_like, optional
        Values to put in front and at the end first; a number is one of them.

    Raises
    ------
    ValueError
        If ``n`` is negative or ``a`` has no axes.

    Notes
    -----
    For :math:`y_i = x_{i+1} - x_i` the gradient is :math:`g^x_i = g_{i-1} - g_i`.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 4.0, 9.0], requires_grad=True)
    >>> ng.diff(x).detach()
    tensor([3., 5.])
    >>> ng.grad(ng.diff(x), x, ng.tensor([1.0, 10.0]))[0]
    tensor([-1., -9., 10.])
    """
    x, n = as_tensor(a), integer(n, "n")
    if n < 0:
        raise ValueError(f"diff: n must not be negative, got {n}")
    if x.ndim == 0:
        raise ValueError("diff: a needs at least one axis")
    axis = negative_axis(axis, x.ndim)
    x = _extended(x, axis, prepend, append) if n else x
    for _ in range(n if n < x.shape[axis] else x.shape[axis]):  # then nothing is left
        x = _differences.call(x, axis)
    return x


def _any_difference(x: Tensor, axis: int) -> Tensor:
    after, before = (index(x, key=_slab(axis, *ends)) for ends in _ENDS)
    return (not_equal if x.dtype == np.bool_ else subtract)(after, before)


def _difference_steps(x: Tensor, axis: int) -> Any:
    if x.dtype not in FLOATING:
        return ()
    slabs = [(index, {"key": _slab(axis, *ends)}, (0,)) for ends in _ENDS]
    return [*slabs, (subtract, {}, (1, 2))]


_differences = Steps(_difference_steps, _any_difference)
_ENDS = ((1, None), (None, -1))


def _slab(axis: int, start: int | None, stop: int | None) -> tuple[Any, ...]:
    return ((start, stop, None), *((None,),) * (-axis - 1))


def _extended(x: Tensor, axis: int, prepend: Any, append: Any) -> Tensor:
    parts = as_tensors(*[p for p in (prepend, x, append) if p is not None])
    dtype = np.result_type(*(p.dtype for p in parts))
    shape = list(x.shape)
    shape[axis] = 1
    pieces = []
    for part in parts:
        part = part.astype(dtype) if part.dtype != dtype else part
        pieces.append(add(part, np.zeros(shape, dtype)) if part.ndim == 0 else part)
    return concat(*pieces, axis=axis) if len(pieces) > 1 else x


@composed
def trapezoid(
    y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int = -1
) -> Tensor:
    """Integrate along ``axis`` by the trapezoidal rule.

    Parameters
    ----------
    y : array_like
        The values of the integrand.
    x : array_like, optional
        The points, as many as there are values along ``axis``, or of the shape of ``y``.
    dx : float
        The distance of the points where ``x`` is not given.
    axis : int
        Along which axis.

    Notes
    -----
    :math:`\\sum_i (x_{i+1} - x_i)(y_i + y_{i+1})/2`, differentiable in ``y``, ``x`` and ``dx``:
    the weight of :math:`y_i` is :math:`(x_{i+1} - x_{i-1})/2`, half an interval at the ends.

    Examples
    --------
    >>> import numgrad as ng
    >>> y = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> ng.trapezoid(y, x=[0.0, 1.0, 3.0]).item()
    6.5
    >>> ng.grad(ng.trapezoid(y, x=[0.0, 1.0, 3.0]), y)[0]
    tensor([0.5, 1.5, 1. ])
    """
    y, points = (as_tensor(y), None) if x is None else as_tensors(y, x)
    axis = negative_axis(axis, y.ndim)
    pairs = add(*[index(y, key=_slab(axis, *ends)) for ends in _ENDS])
    if points is None:
        steps: Any = dx
    else:
        steps = diff(points) if points.ndim == 1 else diff(points, axis=axis)
        if points.ndim == 1 and axis != -1:
            steps = index(steps, key=((None,), *(None,) * (-axis - 1)))
    return _sum(multiply(multiply(pairs, 0.5), steps), axes=(axis,))
