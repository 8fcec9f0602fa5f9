"""Piecewise linear interpolation."""

from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.graph.value import CPU
from ...engine.record.apply import mode
from ..array.operands import as_scalar, as_tensor, as_tensors, is_known, values_of
from ..elementwise.comparison import isnan
from ..shape.joining import concat
from ..shape.selection import where
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
    xp, fp = _plain(xp), _plain(fp)
    here = _plain(x.detach())
    with np.errstate(all="ignore"):
        y = _between(x, here, xp, fp)
    y = _replaced(here < xp[0], fp[0] if left is None else left, y)
    y = _replaced(here > xp[-1], fp[-1] if right is None else right, y)
    return as_scalar(as_tensor(y).astype(fp.dtype, copy=False))


def _plain(x: Tensor) -> Any:
    """Return the array of a tensor without a gradient, with which NumPy computes what needs no
    graph."""
    is_plain = mode.capture is None and x.array is not None and x.spec.device == CPU
    return values_of(x) if is_plain and not x.requires_grad else x


def _replaced(where_: Any, other: Any, y: Any) -> Any:
    """Return ``y`` with another value where that is to be; ``y`` itself if that is nowhere."""
    if isinstance(where_, np.ndarray) and not where_.any():
        return y
    return where(where_, other, y)


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


def _between(x: Tensor, here: Any, xp: Any, fp: Any) -> Any:
    """Return the values at ``x``, whose elements are ``here``, inside the points."""
    if xp.size == 1:
        return fp[0]
    detached = xp.detach() if isinstance(xp, Tensor) else xp
    at = np.clip(np.searchsorted(detached, here, "right") - 1, 0, xp.size - 1)
    start = np.clip(at, 0, xp.size - 2)
    width = xp[1:] - xp[:-1]
    slopes = (fp[1:] - fp[:-1]) / np.where(width == 0, 1.0, width)  # no x is in an empty interval
    slope, there = slopes[start], fp[at]
    y = slope * (x - xp[at]) + there
    is_nan = np.isnan(_plain(y.detach()))
    if isinstance(is_nan, np.ndarray) and not is_nan.any():
        return y
    # As in NumPy: where infinite values meet, it may be the other end that gives a number.
    end = fp[start + 1]
    other = where((here == xp[at]) | (there == end), there, slope * (x - xp[start + 1]) + end)
    return where(isnan(x), x, where(is_nan, other, y))
