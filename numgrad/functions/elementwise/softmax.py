"""Sums and shares of exponentials, without overflow."""

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.composition import composed
from ...operators.reduction.reductions import shifted_exp
from ...operators.special.softmax import of_log_shares, of_shares, total
from ..array.axes import Axis, negative_axes
from ..array.operands import as_tensor
from ..reduction.reduction import max as largest_of
from ..reduction.reduction import sum as sum_of
from ..reduction.statistics import logsumexp as plain_logsumexp
from ..shape.reshaping import squeeze
from ..shape.selection import where
from .arithmetic import abs as absolute
from .arithmetic import multiply, sign, subtract
from .comparison import isfinite
from .complex_parts import real
from .exponential import exp, log


@composed
def logsumexp(
    a: ArrayLike,
    axis: Axis = None,
    b: ArrayLike | None = None,
    keepdims: bool = False,
    return_sign: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """Return the logarithm of the sum of exponentials, weighted or not.

    Parameters
    ----------
    a : array_like
        The exponents; real or complex.
    axis : int or tuple of int, optional
        The axes to sum over, by default all.
    b : array_like, optional
        Weights, of any sign; broadcast with ``a``.
    keepdims : bool
        Whether these axes stay, with size 1.
    return_sign : bool
        Whether to return the logarithm of the size of the sum, and its sign (of a complex sum, its
        direction). Without, the logarithm of a negative sum is NaN.

    Returns
    -------
    tuple of Tensor
        ``res, sgn``:
        ``sgn`` only where it is asked for.

    Notes
    -----
    The largest exponent is subtracted first, so nothing overflows. The derivative with respect to
    ``a`` is ``b * exp(a) / sum(b * exp(a))``, that with respect to ``b`` the same without ``b``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.logsumexp([1000.0, 1000.0], b=[1.0, 2.0]).item()
    1001.0986122886682
    """
    a = as_tensor(a)
    if b is None and not return_sign and a.dtype.kind != "c":
        return plain_logsumexp(a, axis, keepdims)
    used = a if b is None else where(as_tensor(b) != 0, a, -float("inf"))
    shift = _largest(used, axis)
    terms = exp(subtract(used, shift))
    total = sum_of(terms if b is None else multiply(b, terms), axis=axis, keepdims=keepdims)
    shift = shift if keepdims else squeeze(shift, axis)
    if return_sign:
        size = absolute(total)
        direction = sign(total) if total.dtype.kind != "c" else _direction(total, size)
        return log(size) + shift, direction
    return log(total) + shift


def _direction(total: Tensor, size: Tensor) -> Tensor:
    return where(size == 0, 0.0, total / where(size == 0, 1.0, size))


@composed
def softmax(x: ArrayLike, axis: Axis = None) -> Tensor:
    """Return the exponentials divided by their sum.

    Parameters
    ----------
    x : array_like
        Real or complex.
    axis : int or tuple of int, optional
        The axes to sum over, by default all.

    Notes
    -----
    The vector-Jacobian product is ``y * (g - sum(g * y))``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.softmax([0.0, 0.0])
    tensor([0.5, 0.5])
    """
    x = as_tensor(x)
    if not _has_slopes(x):
        powers = exp(_shifted(x, axis))
        return powers / sum_of(powers, axis=axis, keepdims=True)
    x, dtype, axes = _exponents(x, axis)
    inside = x.detach()
    powers = shifted_exp(inside, _largest(inside, axis))
    return of_shares(x, powers / total(powers, axes), axes=axes).astype(dtype, copy=False)


@composed
def log_softmax(x: ArrayLike, axis: Axis = None) -> Tensor:
    """Return the logarithm of `softmax`.

    Parameters
    ----------
    x : array_like
        Real or complex.
    axis : int or tuple of int, optional
        The axes to sum over, by default all.

    Notes
    -----
    The vector-Jacobian product is ``g - softmax(x) * sum(g)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.log_softmax([0.0, 1000.0])
    tensor([-1000.,     0.])
    """
    x = as_tensor(x)
    if not _has_slopes(x):
        shifted = _shifted(x, axis)
        return subtract(shifted, log(sum_of(exp(shifted), axis=axis, keepdims=True)))
    x, dtype, axes = _exponents(x, axis)
    inside = x.detach()
    largest = _largest(inside, axis)
    powers = shifted_exp(inside, largest)
    whole = total(powers, axes)
    y = subtract(subtract(inside, largest), log(whole))
    return of_log_shares(x, y, powers, whole, axes=axes).astype(dtype, copy=False)


def _has_slopes(x: Tensor) -> bool:
    """Whether there are real exponents, along axes."""
    return x.dtype.kind != "c" and x.ndim > 0 and x.size > 0


def _exponents(x: Tensor, axis: Axis) -> tuple[Tensor, np.dtype, tuple[int, ...]]:
    """Return exponents in the dtype to compute in, the dtype of the result, and the axes."""
    dtype = x.dtype if x.dtype.kind == "f" else np.dtype(float)
    inside = np.dtype(np.float32) if dtype == np.float16 else dtype
    return x.astype(inside, copy=False), dtype, negative_axes(axis, x.ndim)


def _shifted(x: ArrayLike, axis: Axis) -> Tensor:
    x = as_tensor(x)
    x = x if x.dtype.kind in "fc" else x.astype(float)
    return subtract(x, _largest(x, axis))


def _largest(x: Tensor, axis: Axis) -> Tensor:
    """Return the largest real parts, 0 for an infinite one and of no elements."""
    x = real(x.detach())
    largest = largest_of(x, axis=axis, keepdims=True) if x.size else sum_of(x, axis, keepdims=True)
    return where(isfinite(largest), largest, 0.0)
