"""Reductions: sums, products, extrema and their positions, truth and counts."""

from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...operators.elementwise.arithmetic import add, multiply
from ...operators.elementwise.selection import maximum, minimum
from ...operators.reduction import reductions as _operators
from ...operators.reduction import searching as _searching
from ..array.axes import (
    Axis,
    kept,
    negative_axes,
    number_of_elements,
    own_array,
    reduce_axes,
    reducer,
)
from ..array.operands import as_tensor
from ..array.results import delivered, initial_of, present
from ..shape.repeating import broadcast_to


def _as_dtype(x: ArrayLike, dtype: Any) -> Tensor:
    x = as_tensor(x)
    return x if dtype is None or x.dtype == np.dtype(dtype) else x.astype(dtype)


def sum(
    a: ArrayLike,
    axis: Axis = None,
    dtype: Any = None,
    out: Tensor | None = None,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike = True,
) -> Tensor:
    """Return the sum of the elements along ``axis``.

    Parameters
    ----------
    a : array_like
        The elements; the sum of none is 0.
    axis : int or tuple of int, optional
        The axes to sum over, by default all.
    dtype : dtype, optional
        Of the sum, and of the elements before they are summed; by default small integers become
        int64 as in NumPy.
    out : Tensor, optional
        Where the result is written.
    keepdims : bool
        Whether the summed axes stay, with size 1.
    initial : number or Tensor, optional
        What is added to the sum.
    where : array_like of bool, optional
        Which elements count; the others receive no gradient.

    Notes
    -----
    The gradient is the cotangent, repeated along the summed axes. The sum has the same bits for
    every memory layout and number of threads.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> ng.sum(x, axis=0).detach()
    tensor([4., 6.])
    >>> ng.grad(ng.sum(x, axis=0), x, ng.tensor([1.0, 10.0]))[0]
    tensor([[ 1., 10.],
            [ 1., 10.]])
    """
    if type(a) is not Tensor or dtype is not None:
        a = _as_dtype(a, dtype)
    if where is not True:
        a = present(a, where, 0, "sum")
    y = own_array(_sums.call(a, axis, keepdims), keepdims)
    y = y if dtype is None else y.astype(dtype)
    if initial is not None:
        y = add(y, initial_of(initial, y.dtype, "sum"))
    return y if out is None else delivered(y, out, "sum")


_sums = reducer(_operators.sum)


def prod(
    a: ArrayLike,
    axis: Axis = None,
    dtype: Any = None,
    out: Tensor | None = None,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike = True,
) -> Tensor:
    """Return the product of the elements along ``axis``; parameters as in `sum`, the product of
    none is 1.

    Notes
    -----
    The gradient is :math:`g^x_i = g \\prod_{j \\ne i} x_j`, computed without a division, so that
    zeros do no harm at any order.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.0, 2.0, 3.0], requires_grad=True)
    >>> ng.grad(ng.prod(x), x)[0]
    tensor([6., 0., 0.])
    """
    a = _as_dtype(a, dtype)
    if where is not True:
        a = present(a, where, 1, "prod")
    y = reduce_axes(_operators.prod, a, axis, keepdims)
    y = y if dtype is None else y.astype(dtype)
    if initial is not None:
        y = multiply(y, initial_of(initial, y.dtype, "prod"))
    return delivered(y, out, "prod")


def max(
    a: ArrayLike,
    axis: Axis = None,
    out: Tensor | None = None,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike = True,
) -> Tensor:
    """Return the largest element along ``axis``, NaN if there is one.

    Parameters
    ----------
    a : array_like
        The elements; real.
    axis : int or tuple of int, optional
        The axes to search, by default all.
    out, keepdims
        As in `sum`.
    initial : number or Tensor, optional
        The result is no smaller.
    where : array_like of bool, optional
        Which elements count; ``initial`` is needed then.

    Raises
    ------
    ValueError
        If there is no element, and no ``initial``.

    Notes
    -----
    The gradient goes to the largest element, in even parts to several; where the result is NaN so
    is the gradient.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 3.0, 3.0], requires_grad=True)
    >>> ng.grad(ng.max(x), x)[0]
    tensor([0. , 0.5, 0.5])
    """
    a = a if type(a) is Tensor else as_tensor(a)
    if initial is None and where is True and out is None:
        return own_array(_maxima.call(a, axis, keepdims), keepdims)
    return _extremum(_maxima, "max", a, axis, out, keepdims, initial, where)


_maxima = reducer(_operators.max)


def min(
    a: ArrayLike,
    axis: Axis = None,
    out: Tensor | None = None,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike = True,
) -> Tensor:
    """Return the smallest element along ``axis``, NaN if there is one; parameters and errors as in
    `max`.

    Notes
    -----
    The gradient goes to the smallest element, in even parts to several; where the result is NaN so
    is the gradient.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.min([[1.0, 3.0], [0.0, 4.0]], axis=1)
    tensor([1., 0.])
    """
    a = a if type(a) is Tensor else as_tensor(a)
    if initial is None and where is True and out is None:
        return own_array(_minima.call(a, axis, keepdims), keepdims)
    return _extremum(_minima, "min", a, axis, out, keepdims, initial, where)


_minima = reducer(_operators.min)


def _extremum(
    extrema: Any, name: str, x: Tensor, axis: Axis, out: Any, keepdims: bool, initial: Any,
    where: Any,
) -> Tensor:  # fmt: skip
    """Return the extremum of those elements that count, and of ``initial``."""
    if where is not True:
        if initial is None:
            raise ValueError(f"{name}: where= needs initial=, for no element may count")
        x = present(x, where, _utmost(x.dtype, name == "max"), name)
    if initial is None:
        return delivered(own_array(extrema.call(x, axis, keepdims), keepdims), out, name)
    least = initial_of(initial, x.dtype, name)
    if not x.ndim or number_of_elements(x, axis):
        y = (maximum if name == "max" else minimum)(extrema.call(x, axis, keepdims), least)
    else:
        axes = negative_axes(axis, x.ndim)
        left = np.any(np.empty(x.shape, bool), axes, keepdims=kept(keepdims)).shape
        y = broadcast_to(least, left).clone()
    return delivered(y, out, name)


def _utmost(dtype: np.dtype, lowest: bool) -> Any:
    """Return the number that is no larger, or no smaller, than any other one of a dtype."""
    if dtype.kind in "fc":
        return -np.inf if lowest else np.inf
    if dtype.kind == "b":
        return not lowest
    return np.iinfo(dtype).min if lowest else np.iinfo(dtype).max


amax = max
amin = min


def any(
    a: ArrayLike,
    axis: Axis = None,
    out: Tensor | None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
) -> Tensor:
    """Return whether any element along ``axis`` is not zero.

    Parameters
    ----------
    a : array_like
        The elements; NaN is not zero.
    axis : int or tuple of int, optional
        The axes to search, by default all.
    out, keepdims, where
        As in `sum`.

    Notes
    -----
    Not differentiable: the result has no gradient.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.any([[0.0, 1.0], [0.0, 0.0]], axis=1)
    tensor([ True, False])
    """
    a = as_tensor(a)
    a = a if where is True else present(a, where, 0, "any")
    return delivered(reduce_axes(_searching.any, a, axis, keepdims), out, "any")


def all(
    a: ArrayLike,
    axis: Axis = None,
    out: Tensor | None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
) -> Tensor:
    """Return whether no element along ``axis`` is zero; parameters and notes as in `any`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.all([[2.0, 1.0], [0.0, 1.0]], axis=1)
    tensor([ True, False])
    """
    a = as_tensor(a)
    a = a if where is True else present(a, where, 1, "all")
    return delivered(reduce_axes(_searching.all, a, axis, keepdims), out, "all")


def count_nonzero(a: ArrayLike, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Return the number of elements along ``axis`` that are not zero; parameters and notes as in
    `any`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.count_nonzero([1.0, 0.0, 2.0])
    tensor(2)
    """
    return reduce_axes(_searching.count_nonzero, as_tensor(a), axis, keepdims)


def argmax(
    a: ArrayLike, axis: int | None = None, out: Tensor | None = None, *, keepdims: bool = False
) -> Tensor:
    """Return the position of the first largest element along ``axis``, or of the first NaN.

    Parameters
    ----------
    a : array_like
        The elements; real.
    axis : int, optional
        By default the position counts the elements of all axes, in C order.
    out : Tensor, optional
        Where the result is written.
    keepdims : bool
        Whether the axis stays, with size 1.

    Raises
    ------
    ValueError
        If there is no element.

    Notes
    -----
    Not differentiable: the result has no gradient.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.argmax([1.0, 3.0, 3.0])
    tensor(1)
    """
    return delivered(reduce_axes(_searching.argmax, as_tensor(a), axis, keepdims), out, "argmax")


def argmin(
    a: ArrayLike, axis: int | None = None, out: Tensor | None = None, *, keepdims: bool = False
) -> Tensor:
    """Return the position of the first smallest element along ``axis``; parameters and errors as
    in `argmax`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.argmin([[3.0, 1.0], [0.0, 2.0]], axis=0)
    tensor([1, 0])
    """
    return delivered(reduce_axes(_searching.argmin, as_tensor(a), axis, keepdims), out, "argmin")
