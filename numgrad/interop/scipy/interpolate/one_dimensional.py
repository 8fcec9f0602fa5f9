"""Interpolation in one dimension by the kinds of ``scipy.interpolate.interp1d``, and on grids by
one call."""

from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....functions.array.argument_checks import numeric
from ....functions.array.operands import as_tensor
from ....functions.indexing.indexing import take
from ....functions.shape.selection import where
from ....functions.sorting.searching import searchsorted
from ....functions.sorting.sorting import argsort
from .collocation import make_interp_spline
from .data import along_first, answer, beside, interval, known, real, require_finite, to_axis
from .grids import METHODS, RegularGridInterpolator

WHAT = "interp1d"
SPLINES = {"zero": 0, "slinear": 1, "quadratic": 2, "cubic": 3}
STEPS = ("nearest", "nearest-up", "previous", "next")


class interp1d:  # noqa: N801  SciPy's name
    """An interpolant of values along an axis, with the signature of `scipy.interpolate.interp1d`.

    Parameters
    ----------
    x : array_like
        Coordinates, in any order.
    y : array_like
        Values; the length along `axis` is that of `x`.
    kind : str or int
        ``"linear"``, ``"nearest"``, ``"nearest-up"``, ``"zero"``, ``"slinear"``, ``"quadratic"``,
        ``"cubic"``, ``"previous"``, ``"next"``, or the degree of a spline.
    axis : int
    copy
        For SciPy's sake: nothing is written.
    bounds_error : bool, optional
        Whether points outside are an error; by default, unless they are extrapolated.
    fill_value : array_like, pair of array_like, or "extrapolate"
        What is outside; of a pair below and above.
    assume_sorted : bool
        Whether `x` ascends.

    Notes
    -----
    It is differentiable with respect to values, coordinates, what is outside, and the points where
    it is asked; with ``"linear"`` the derivative at a coordinate is that to its right. Of the kinds
    that are constant between coordinates only values have derivatives that are not 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> y = ng.tensor([0.0, 1.0, 4.0], requires_grad=True)
    >>> f = ng.interop.scipy.interp1d([0.0, 1.0, 2.0], y)
    >>> f(1.5).item(), ng.grad(f(1.5), y)[0].tolist()
    (2.5, [0.0, 0.5, 0.5])
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        kind: str | int = "linear",
        axis: int = -1,
        copy: bool = True,
        bounds_error: bool | None = None,
        fill_value: Any = np.nan,
        assume_sorted: bool = False,
    ) -> None:
        self._given = [x, y, fill_value]
        self._x = real(numeric(x, "x"), WHAT, "x")
        require_finite(self._x, WHAT, "x")
        if self._x.ndim != 1 or not self._x.size:
            raise ValueError(f"{WHAT}: x must be a vector with elements, got {self._x.shape}")
        self._y, self.axis = along_first(numeric(y, "y"), self._x, axis, WHAT)
        if not assume_sorted:
            order = argsort(self._x.detach())
            self._x, self._y = take(self._x, order), take(self._y, order, axis=0)
        self.kind = kind
        self._spline = self._of_degree(kind)
        self._is_extrapolated = isinstance(fill_value, str) and fill_value == "extrapolate"
        self.bounds_error = not self._is_extrapolated if bounds_error is None else bounds_error
        if self._is_extrapolated and bounds_error:
            raise ValueError(f"{WHAT}: cannot extrapolate and raise at the same time")
        self.fill_value = fill_value

    def _of_degree(self, kind: Any) -> Any:
        """Return the spline of a kind, None for linear interpolation and steps."""
        if isinstance(kind, str) and kind in ("linear", *STEPS):
            return None
        degree = SPLINES.get(kind, kind) if isinstance(kind, str) else kind
        if isinstance(degree, bool) or not isinstance(degree, (int, np.integer)):
            choices = ", ".join(("linear", *STEPS, *SPLINES))
            raise ValueError(f"{WHAT}: kind must be a degree or one of {choices}, got {kind!r:.80}")
        if self._x.size < degree + 1:
            raise ValueError(f"{WHAT}: degree {degree} needs {degree + 1} points or more")
        return make_interp_spline(self._x, self._y, int(degree))

    def __call__(self, x: Any) -> Any:
        """Return values at points of any shape, whose axes are in the place of that of `x`."""
        at = real(numeric(x, "x"), WHAT, "x")
        y = self._filled(as_tensor(self._inside(at)), at)
        return answer(to_axis(y, self.axis, at.ndim), x, *self._given)

    def _inside(self, at: Tensor) -> Any:
        if self._spline is not None:
            return self._spline(at)
        x, y, last = self._x, self._y, self._x.size - 1
        if self.kind == "linear" and last:
            low = interval(x, at, 0, last - 1)
            slope = (y[low + 1] - y[low]) / beside(x[low + 1] - x[low], y)
            return y[low] + slope * beside(at - x[low], y)
        side = {"nearest": "left", "next": "left"}.get(str(self.kind), "right")
        breaks = 0.5 * (x[1:] + x[:-1]) if str(self.kind).startswith("nearest") else x
        place = searchsorted(breaks.detach(), at.detach(), side)
        place = place - 1 if self.kind == "previous" else place
        return y[place.clip(0, last)] + beside(at * 0.0, y)

    def _filled(self, y: Tensor, at: Tensor) -> Tensor:
        at, low, high = at.detach(), self._x[0].detach(), self._x[-1].detach()
        below, above = at < low, at > high
        outside = known(below | above)
        if self.bounds_error and outside is not None and outside.any():
            raise ValueError(f"{WHAT}: a point is outside of the range of x")
        if self._is_extrapolated:
            steps = {"previous": (np.nan, None), "next": (None, np.nan)}
            fills = steps.get(str(self.kind), (None, None))
        else:
            fill = self.fill_value
            fills = fill if isinstance(fill, tuple) and len(fill) == 2 else (fill, fill)
        for is_there, fill in zip((below, above), fills, strict=True):
            if fill is not None:
                y = where(beside(is_there, self._y), fill, y)
        return where(beside(at == at, self._y), y, np.nan)


def interpn(
    points: Any,
    values: Any,
    xi: Any,
    method: str = "linear",
    bounds_error: bool = True,
    fill_value: Any = np.nan,
) -> Any:
    """Interpolate values on a grid at points, as `scipy.interpolate.interpn` does.

    Parameters
    ----------
    points, values, method, bounds_error, fill_value
        As in `RegularGridInterpolator`, whose methods there are; ``"splinef2d"`` is
        `RectBivariateSpline`.
    xi : array_like or tuple of array_like
        Points along the last axis, or a tuple of coordinates that are broadcast.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> x, y = np.linspace(0.0, 1.0, 3), np.linspace(0.0, 2.0, 3)
    >>> table = ng.tensor(x[:, None] * y, requires_grad=True)
    >>> z = ng.interop.scipy.interpn((x, y), table, [[0.25, 0.5]])
    >>> z.tolist(), ng.grad(z.sum(), table)[0][0].tolist()
    ([0.125], [0.25, 0.25, 0.0])
    """
    if not isinstance(points, (tuple, list)):
        points = [points]
    if isinstance(method, str) and method == "splinef2d":
        method = "cubic"
        if len(points) != 2:
            raise ValueError("interpn: method 'splinef2d' is for two dimensions")
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(
            f"interpn: method must be one of {', '.join(METHODS)}, splinef2d, got {method!r:.80}"
        )
    numeric(values, "values")
    found = RegularGridInterpolator(points, values, method, bounds_error, fill_value)
    return found(xi)
