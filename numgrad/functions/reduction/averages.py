"""Weighted averages, covariances and correlations, and ranges."""

from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.composition import composed
from ..array.axes import Axis, normalize_axis_tuple
from ..array.operands import as_scalar, as_tensor, as_tensors, is_known, values_of
from ..array.results import delivered
from ..creation.constants import full
from ..elementwise.powers import sqrt
from ..products.products import matmul
from ..shape.diagonals import diagonal
from ..shape.joining import concat
from ..shape.repeating import broadcast_to
from ..shape.reshaping import permute_dims as transpose
from ..shape.reshaping import reshape, squeeze
from ..shape.selection import clip
from .reduction import max as _max
from .reduction import min as _min
from .reduction import sum as _sum
from .statistics import mean


def average(
    a: ArrayLike,
    axis: Axis = None,
    weights: ArrayLike | None = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any:
    """Return the weighted average along ``axis``.

    Parameters
    ----------
    a : array_like
        The elements.
    axis : int or tuple of int, optional
        By default all axes.
    weights : array_like, optional
        Of the shape of ``a``, or of its axes ``axis``; without them this is `mean`.
    returned : bool
        Whether to return the sum of the weights too.
    keepdims : bool
        Whether the axes stay, with size 1.

    Raises
    ------
    ZeroDivisionError
        If weights sum to 0; in a captured function the average is NaN then.
    TypeError, ValueError
        If the shape of the weights does not fit.

    Notes
    -----
    With the average :math:`y = \\sum w_i x_i / W` and :math:`W = \\sum w_i` the derivatives are
    :math:`w_i / W` and :math:`(x_i - y) / W`.

    Examples
    --------
    >>> import numgrad as ng
    >>> w = ng.tensor([1.0, 3.0], requires_grad=True)
    >>> ng.grad(ng.average([2.0, 6.0], weights=w), w)[0]
    tensor([-0.75,  0.25])
    """
    if weights is None:
        a = as_tensor(a)
        result = mean(a, axis, keepdims=keepdims)
        total = full((), a.size / max(result.size, 1), result.dtype)
    else:
        a, w = as_tensors(a, weights)
        w = fitting_weights("average", a, w, axis)
        whole = [np.dtype(np.float64)] if a.dtype.kind in "biu" else []
        dtype = np.result_type(a.dtype, w.dtype, *whole)
        total = _sum(w.astype(dtype, copy=False), axis, keepdims=keepdims)
        if is_known(total) and np.any(values_of(total) == 0):
            raise ZeroDivisionError("average: weights sum to zero")
        products = a.astype(dtype, copy=False) * w.astype(dtype, copy=False)
        result = _sum(products, axis, keepdims=keepdims) / total
    return (result, broadcast_to(total, result.shape).copy()) if returned else result


def fitting_weights(name: str, a: Tensor, weights: Tensor, axis: Axis) -> Tensor:
    """Return weights in a shape that broadcasts with ``a``."""
    if weights.shape == a.shape:
        return weights
    if axis is None:
        raise TypeError(f"{name}: axis must be given where weights have another shape than a")
    axes = normalize_axis_tuple(axis, a.ndim)
    if weights.shape != tuple(a.shape[n] for n in axes):
        raise ValueError(
            f"{name}: weights of shape {weights.shape} do not fit axes {axes} of shape {a.shape}"
        )
    ordered = transpose(weights, [int(n) for n in np.argsort(axes)])
    return reshape(ordered, [size if n in axes else 1 for n, size in enumerate(a.shape)])


@composed
def cov(
    m: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: ArrayLike | None = None,
    aweights: ArrayLike | None = None,
    *,
    dtype: Any = None,
) -> Tensor:
    """Return the covariance matrix of variables.

    Parameters
    ----------
    m, y : array_like
        Observations of one variable, or a row for each variable; those of ``y`` are further ones.
    rowvar : bool
        False if variables are columns.
    bias : bool
        Divide by the number of observations, and not by one less.
    ddof : int, optional
        What to take from the number of observations, instead of ``bias``.
    fweights, aweights : array_like, optional
        How often each observation was made, and its weight; weights may be differentiated.
    dtype : dtype, optional
        Of the result, at least of double precision by default.

    Raises
    ------
    ValueError, TypeError, RuntimeError
        Where NumPy raises them: more than two axes, weights that are negative or do not fit.

    Notes
    -----
    :math:`C = \\sum_k w_k d_k d_k^H / f` with the deviations :math:`d` from the average; the
    gradient of an element of a single variable is :math:`2 g w_k d_k / f`.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([[1.0, 2.0, 6.0], [3.0, 1.0, 2.0]], requires_grad=True)
    >>> ng.cov(x).detach()
    tensor([[ 7. , -0.5],
            [-0.5,  1. ]])
    """
    given = as_tensors(m) if y is None else as_tensors(m, y)
    if any(x.ndim > 2 for x in given):
        raise ValueError("cov: observations have at most two axes")
    if ddof is not None and ddof != int(ddof):
        raise ValueError("cov: ddof must be an integer")
    if dtype is None:
        dtype = np.result_type(*(x.dtype for x in given), np.float64)
    x = concat([_rows(x.astype(dtype, copy=False), rowvar) for x in given], axis=0)
    if not x.shape[0]:
        return full((0, 0), 0, dtype)
    ddof = (0 if bias else 1) if ddof is None else int(ddof)
    weights, a = _of_observations(fweights, aweights, x.shape[1])
    if weights is None:
        deviations = x - mean(x, 1, keepdims=True)
        factor: Any = max(x.shape[1] - ddof, 0)
        weighted = deviations
    else:
        centre, total = average(x, 1, weights, True, keepdims=True)
        deviations, total = x - centre, total[0, 0].real
        taken = 0 if ddof == 0 else ddof if a is None else ddof * _sum(weights * a) / total
        factor = clip(total - taken, 0, None)
        weighted = deviations * weights
    c = matmul(deviations, transpose(weighted).conj()) / as_tensor(factor).astype(dtype)
    return as_scalar(squeeze(c))


def _rows(x: Tensor, rowvar: bool) -> Tensor:
    """Return observations with a row for each variable."""
    if x.ndim < 2:
        return reshape(x, (1, -1))
    return x if rowvar or x.shape[0] == 1 else transpose(x)


def _of_observations(fweights: Any, aweights: Any, count: int) -> tuple[Any, Any]:
    """Return the product of the weights of all observations, and their weights alone."""
    found = []
    for name, weights in (("fweights", fweights), ("aweights", aweights)):
        if weights is not None:
            weights = as_tensor(weights).astype(np.float64, copy=False)
            values = values_of(weights) if is_known(weights) else np.zeros(0)
            if name == "fweights" and np.any(values != np.around(values)):
                raise TypeError("cov: fweights must be integers")
            if weights.ndim > 1 or weights.size != count:
                raise RuntimeError(f"cov: {name} of shape {weights.shape} for {count} observations")
            if np.any(values < 0):
                raise ValueError(f"cov: {name} must not be negative")
        found.append(weights)
    f, a = found
    return a if f is None else f if a is None else f * a, a


@composed
def corrcoef(
    x: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, *, dtype: Any = None
) -> Tensor:
    """Return the correlation coefficients of variables; parameters as in `cov`.

    Notes
    -----
    :math:`C_{ij} / \\sqrt{C_{ii} C_{jj}}`; where rounding leads out of :math:`[-1, 1]` the
    derivative is 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.corrcoef([1.0, 2.0, 3.0], ng.tensor([2.0, 4.0, 6.0]))[0, 1]
    tensor(1.)
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if not c.ndim:
        return c / c
    spread = sqrt(diagonal(c).real)
    c = c / spread[:, None] / spread
    if c.dtype.kind != "c":
        return clip(c, -1, 1)
    return clip(c.real, -1, 1) + 1j * clip(c.imag, -1, 1)


def ptp(
    a: ArrayLike, axis: Axis = None, out: Tensor | None = None, keepdims: bool = False
) -> Tensor:
    """Return the distance of the largest and the smallest element along ``axis``.

    Notes
    -----
    The gradients are those of `max` and `min`: even parts to equal elements.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([3.0, 9.0, 4.0], requires_grad=True)
    >>> ng.grad(ng.ptp(x), x)[0]
    tensor([-1.,  1.,  0.])
    """
    a = as_tensor(a)
    found = _max(a, axis, keepdims=keepdims) - _min(a, axis, keepdims=keepdims)
    return delivered(found, out, "ptp")
