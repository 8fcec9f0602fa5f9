"""Piecewise linear interpolation."""

from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ..array.operands import as_scalar, as_tensor, as_tensors, is_known, values_of
from ..elementwise.comparison import isnan
from ..shape.joining import concat
from ..shape.selection import where
from ..sorting.searching import searchsorted
from ..sorting.sorting import argsort


def interp(
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    left: ArrayLike | None = None,
    right: ArrayLike | None = None,
    period: ArrayLike | None = None,
) -> Tensor:
    """Return at ``x`` the function that is linear between the points ``(xp, fp)``.

    Parameters
    ----------
    x : array_like
        Any shape; real.
    xp, fp : array_like
        Vectors of one size: ascending points, and the values there, real or complex.
    left, right : number or Tensor, optional
        The values below the first and above the last point, by default those at these points.
    period : number, optional
        With it points are taken modulo the period and sorted, ``left`` and ``right`` are ignored.

    Raises
    ------
    ValueError
        If the points are no vectors of one size, none are given, or the period is 0.

    Notes
    -----
    With the slope :math:`s` of the interval and :math:`t = (x - x_j) / (x_{j+1} - x_j)` the
    derivatives are :math:`s` for `x`, :math:`1 - t` and :math:`t` for the values,
    :math:`-s (1 - t)` and :math:`-s t` for the points; 0 for `x` outside. At a point the interval
    is the one to the right, at the last point the one to the left.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.5, 2.0], requires_grad=True)
    >>> ng.grad(ng.interp(x, [0.0, 1.0, 3.0], [1.0, 5.0, 3.0]), x)[0]
    tensor([ 4., -1.])
    """
    x, xp, fp = as_tensors(x, xp, fp)
    x, xp = x.astype(np.float64, copy=False), xp.astype(np.float64, copy=False)
    fp = fp.astype(np.result_type(fp.dtype, np.float64), copy=False)
    if xp.ndim != 1 or fp.ndim != 1 or not xp.size:
        raise ValueError(f"interp: points must be non-empty vectors, got {xp.shape} and {fp.shape}")
    if xp.shape != fp.shape:
        raise ValueError(f"interp: {fp.size} values do not fit {xp.size} points")
    if period is not None:
        x, xp, fp = _periodic(x, xp, fp, period)
        left = right = None
    y = where(x < xp[0], fp[0] if left is None else left, _between(x, xp, fp))
    y = where(x > xp[-1], fp[-1] if right is None else right, y)
    return as_scalar(y.astype(fp.dtype, copy=False))


def _periodic(x: Tensor, xp: Tensor, fp: Tensor, period: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Return all points inside one period, sorted, with a neighbour at either end."""
    if is_known(period) and values_of(period) == 0:
        raise ValueError("interp: period must not be 0")
    period = abs(as_tensor(period))
    x, xp = x % period, xp % period
    order = argsort(xp)
    xp, fp = xp[order], fp[order]
    xp = concat([xp[-1:] - period, xp, xp[:1] + period])
    return x, xp, concat([fp[-1:], fp, fp[:1]])


def _between(x: Tensor, xp: Tensor, fp: Tensor) -> Tensor:
    """Return the values at ``x`` inside the points."""
    if xp.size == 1:
        return fp[0]
    at = (searchsorted(xp.detach(), x.detach(), "right") - 1).clip(0, xp.size - 1)
    start = at.clip(0, xp.size - 2)
    width = xp[1:] - xp[:-1]
    slopes = (fp[1:] - fp[:-1]) / where(width == 0, 1.0, width)  # no x is in an empty interval
    slope, there = slopes[start], fp[at]
    y = slope * (x - xp[at]) + there
    # As in NumPy: where infinite values meet, it may be the other end that gives a number.
    end = fp[start + 1]
    other = where((x == xp[at]) | (there == end), there, slope * (x - xp[start + 1]) + end)
    return where(isnan(x), x, where(isnan(y), other, y))
