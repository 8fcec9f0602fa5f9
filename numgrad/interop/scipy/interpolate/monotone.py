"""Cubic interpolants whose slopes depend on neighbours only."""

from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....functions.elementwise.arithmetic import sign
from ....functions.shape.joining import concat, stack
from ....functions.shape.selection import where
from .data import along_first, ascending, beside
from .piecewise import CubicHermiteSpline


def _given(x: Any, y: Any, axis: int, what: str) -> tuple[Tensor, Tensor, int]:
    x_ = ascending(x, what)
    y_, axis = along_first(y, x_, axis, what)
    if y_.dtype.kind == "c":
        raise ValueError(f"{what}: y must contain real values; take y.real and y.imag")
    return x_, y_, axis


class PchipInterpolator(CubicHermiteSpline):
    """The monotone cubic interpolant, with the signature of `scipy.interpolate.PchipInterpolator`.

    Parameters
    ----------
    x : array_like, shape (n,)
        Coordinates, which ascend.
    y : array_like
        Values, real; the length along `axis` is that of `x`.
    axis : int
    extrapolate : bool or "periodic", optional

    Notes
    -----
    Slopes are harmonic means of those of the neighbouring intervals, and 0 where these have
    different signs or one of them is 0. There the gradient of the slope is 0, too: that of a local
    extremum.

    Examples
    --------
    >>> import numgrad as ng
    >>> y = ng.tensor([0.0, 1.0, 4.0, 4.0], requires_grad=True)
    >>> f = ng.interop.scipy.PchipInterpolator([0.0, 1.0, 2.0, 3.0], y)
    >>> f(1.5).item(), f(2.5).item()
    (2.6875, 4.0)
    """

    def __init__(self, x: Any, y: Any, axis: int = 0, extrapolate: Any = None) -> None:
        x_, y_, axis = _given(x, y, axis, "PchipInterpolator")
        h = beside(x_[1:] - x_[:-1], y_)
        slopes = harmonic(h, (y_[1:] - y_[:-1]) / h)
        self._hermite(x_, y_, slopes, axis, extrapolate, [x, y])


def harmonic(h: Tensor, mean: Tensor) -> Tensor:
    """Return the slopes at all coordinates, given widths and mean slopes of the intervals."""
    if mean.shape[0] == 1:
        return concat([mean, mean])
    left, right = mean[:-1], mean[1:]
    is_flat = (sign(left) != sign(right)) | (left == 0) | (right == 0)
    near, far = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
    inverse = near / where(is_flat, 1.0, left) + far / where(is_flat, 1.0, right)
    inner = where(is_flat, 0.0, (near + far) / where(is_flat, 1.0, inverse))
    first = _at_end(h[0], h[1], mean[0], mean[1])
    last = _at_end(h[-1], h[-2], mean[-1], mean[-2])
    return concat([first[None], inner, last[None]])


def _at_end(h0: Tensor, h1: Tensor, m0: Tensor, m1: Tensor) -> Tensor:
    """Return the slope of the parabola through three points, limited so that the shape is kept."""
    slope = ((2.0 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    is_steep = (sign(m0) != sign(m1)) & (abs(slope) > 3.0 * abs(m0))
    return where(sign(slope) != sign(m0), 0.0, where(is_steep, 3.0 * m0, slope))


class Akima1DInterpolator(CubicHermiteSpline):
    """Akima's interpolant, with the signature of `scipy.interpolate.Akima1DInterpolator`.

    Parameters
    ----------
    x : array_like, shape (n,)
        Coordinates, which ascend.
    y : array_like
        Values, real; the length along `axis` is that of `x`.
    axis : int
    method : {"akima", "makima"}
    extrapolate : bool, optional
        By default there is NaN outside.

    Notes
    -----
    A slope is a mean of those of the two neighbouring intervals, with weights that are absolute
    differences of slopes: where such a difference is 0, its gradient is taken as 0. Where both
    weights vanish the slope is the plain mean, as in SciPy.

    Examples
    --------
    >>> import numgrad as ng
    >>> t = ng.tensor(1.5, requires_grad=True)
    >>> f = ng.interop.scipy.Akima1DInterpolator([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 4.0, 9.0])
    >>> f(t).item(), ng.grad(f(t), t)[0].item()
    (2.25, 3.0)
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        axis: int = 0,
        *,
        method: str = "akima",
        extrapolate: Any = None,
    ) -> None:
        if method not in ("akima", "makima"):
            raise NotImplementedError(f"Akima1DInterpolator: method={method!r} is unsupported")
        x_, y_, axis = _given(x, y, axis, "Akima1DInterpolator")
        mean = (y_[1:] - y_[:-1]) / beside(x_[1:] - x_[:-1], y_)
        slopes = _weighted(mean, method)
        self._hermite(x_, y_, slopes, axis, bool(extrapolate), [x, y])


def _weighted(mean: Tensor, method: str) -> Tensor:
    if mean.shape[0] == 1:
        return concat([mean, mean])
    before, after = 2.0 * mean[0] - mean[1], 2.0 * mean[-1] - mean[-2]
    m = concat(
        [stack([2.0 * before - mean[0], before]), mean, stack([after, 2.0 * after - mean[-1]])]
    )
    change = abs(m[1:] - m[:-1])
    if method == "makima":
        change = change + 0.5 * abs(m[1:] + m[:-1])
    left, right = change[:-2], change[2:]
    both = left + right
    largest = both.detach().max() if both.size else -np.inf
    is_defined = both.detach() > 1e-9 * largest
    share = left / where(is_defined, both, 1.0)
    return where(is_defined, m[1:-2] + share * (m[2:-1] - m[1:-2]), 0.5 * (m[3:] + m[:-3]))
