"""Reductions: sums, products, extrema and their positions, truth and counts."""

from typing import Any

import numpy as np

from .._tensor import ArrayLike, Tensor
from ..operators import reduction as _operators
from ..operators import searching as _searching
from .axes import Axis, reduce_axes, reducer
from .cumulative import cumprod as cumprod
from .cumulative import cumsum as cumsum
from .operands import as_tensor
from .statistics import logsumexp as logsumexp
from .statistics import mean as mean
from .statistics import median as median
from .statistics import std as std
from .statistics import var as var


def _as_dtype(x: ArrayLike, dtype: Any) -> Tensor:
    x = as_tensor(x)
    return x if dtype is None or x.dtype == np.dtype(dtype) else x.astype(dtype)


def sum(x: ArrayLike, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Return the sum of the elements along ``axis``.

    Parameters
    ----------
    x : array_like
        The elements; the sum of none is 0.
    axis : int or tuple of int, optional
        The axes to sum over, by default all.
    dtype : dtype, optional
        Of the sum, and of the elements before they are summed; by default small integers become
        int64 as in NumPy.
    keepdims : bool
        Whether the summed axes stay, with size 1.

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
    if type(x) is not Tensor or dtype is not None:
        x = _as_dtype(x, dtype)
    y = _sums.call(x, axis, keepdims)
    return y if dtype is None else y.astype(dtype)


_sums = reducer(_operators.sum)


def prod(x: ArrayLike, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
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
    y = reduce_axes(_operators.prod, _as_dtype(x, dtype), axis, keepdims)
    return y if dtype is None else y.astype(dtype)


def max(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the largest element along ``axis``, NaN if there is one.

    Parameters
    ----------
    x : array_like
        The elements; real.
    axis : int or tuple of int, optional
        The axes to search, by default all.
    keepdims : bool
        Whether these axes stay, with size 1.

    Raises
    ------
    ValueError
        If there is no element.

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
    return _maxima.call(x if type(x) is Tensor else as_tensor(x), axis, keepdims)


_maxima = reducer(_operators.max)


def min(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
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
    return _minima.call(x if type(x) is Tensor else as_tensor(x), axis, keepdims)


_minima = reducer(_operators.min)


amax = max
amin = min


def any(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return whether any element along ``axis`` is not zero.

    Parameters
    ----------
    x : array_like
        The elements; NaN is not zero.
    axis : int or tuple of int, optional
        The axes to search, by default all.
    keepdims : bool
        Whether these axes stay, with size 1.

    Notes
    -----
    Not differentiable: the result has no gradient.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.any([[0.0, 1.0], [0.0, 0.0]], axis=1)
    tensor([ True, False])
    """
    return reduce_axes(_searching.any, as_tensor(x), axis, keepdims)


def all(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return whether no element along ``axis`` is zero; parameters and notes as in `any`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.all([[2.0, 1.0], [0.0, 1.0]], axis=1)
    tensor([ True, False])
    """
    return reduce_axes(_searching.all, as_tensor(x), axis, keepdims)


def count_nonzero(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the number of elements along ``axis`` that are not zero; parameters and notes as in
    `any`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.count_nonzero([1.0, 0.0, 2.0])
    tensor(2)
    """
    return reduce_axes(_searching.count_nonzero, as_tensor(x), axis, keepdims)


def argmax(x: ArrayLike, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Return the position of the first largest element along ``axis``, or of the first NaN.

    Parameters
    ----------
    x : array_like
        The elements; real.
    axis : int, optional
        By default the position counts the elements of all axes, in C order.
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
    return reduce_axes(_searching.argmax, as_tensor(x), axis, keepdims)


def argmin(x: ArrayLike, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Return the position of the first smallest element along ``axis``; parameters and errors as
    in `argmax`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.argmin([[3.0, 1.0], [0.0, 2.0]], axis=0)
    tensor([1, 0])
    """
    return reduce_axes(_searching.argmin, as_tensor(x), axis, keepdims)
