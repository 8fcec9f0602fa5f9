"""Splines of two variables on rectangular grids."""

from typing import Any

from ...._tensor import Tensor
from ....functions.array.argument_checks import integer, numeric
from ....functions.array.operands import as_tensor
from ....functions.shape.reshaping import moveaxis
from ....functions.shape.selection import where
from .basis import BSpline, tensor_spline
from .collocation import make_interp_spline
from .data import answer, ascending, known, real, require_finite
from .fitpack import _require_interpolating

WHAT = "RectBivariateSpline"


class RectBivariateSpline:
    """The spline through values on a grid, with the signature of
    `scipy.interpolate.RectBivariateSpline`.

    Parameters
    ----------
    x, y : array_like
        The coordinates along each axis, which ascend.
    z : array_like
        Values on the grid.
    bbox
        Refused unless None: the ends are those of the points.
    kx, ky : int
        Degrees, from 1 to 5.
    s : 0
        Splines that smooth are refused.
    maxit
        For SciPy's sake.

    Notes
    -----
    It is differentiable with respect to values, coordinates and the points where it is asked. As in
    SciPy a point outside has the value of the nearest point of the rectangle.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> x, y = np.linspace(0.0, 1.0, 5), np.linspace(0.0, 2.0, 6)
    >>> f = ng.interop.scipy.RectBivariateSpline(x, y, x[:, None] ** 3 * y)
    >>> at = ng.tensor(0.4, requires_grad=True)
    >>> round(ng.grad(f.ev(at, 0.7), at)[0].item(), 6)  # 3 x**2 y
    0.336
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        z: Any,
        bbox: Any = (None, None, None, None),
        kx: int = 3,
        ky: int = 3,
        s: Any = 0,
        maxit: int = 20,
    ) -> None:
        _require_interpolating(WHAT, s, None, bbox)
        self._given = [x, y, z]
        c = real(numeric(z, "z"), WHAT, "z")
        require_finite(c, WHAT, "z")
        self.degrees = integer(kx, "kx"), integer(ky, "ky")
        if not all(1 <= k <= 5 for k in self.degrees):
            raise ValueError(f"{WHAT}: kx and ky must be in 1..5, got {self.degrees}")
        pairs = list(zip((x, y), self.degrees, strict=True))
        grid = [ascending(numeric(p, "x"), WHAT, k + 1) for p, k in pairs]
        if c.shape != tuple(p.size for p in grid):
            raise ValueError(f"{WHAT}: z of shape {c.shape} for {[p.size for p in grid]} points")
        self._knots: list[Tensor] = []
        for axis, (points, k) in enumerate(zip(grid, self.degrees, strict=True)):
            spline = make_interp_spline(points, moveaxis(c, axis, 0), k)
            self._knots.append(spline._t)
            c = moveaxis(spline._c, 0, axis)
        self._c = c

    @classmethod
    def _known(cls, tx: Any, ty: Any, c: Any, degrees: tuple[int, int]) -> "RectBivariateSpline":
        """Return the spline with known knots and coefficients."""
        new = object.__new__(cls)
        sizes = [t.size - k - 1 for t, k in zip((tx, ty), degrees, strict=True)]
        new.degrees, new._given = degrees, [c]
        new._knots, new._c = [as_tensor(tx), as_tensor(ty)], as_tensor(c.reshape(sizes))
        return new

    def __call__(self, x: Any, y: Any, dx: int = 0, dy: int = 0, grid: bool = True) -> Any:
        """Return values, or those of a derivative, on the grid of two vectors, or at points."""
        at = [real(numeric(p, n), WHAT, n) for p, n in ((x, "x"), (y, "y"))]
        if grid:
            at = [p.reshape(-1) for p in at]
            for points in map(known, at):
                if points is not None and (points[1:] < points[:-1]).any():
                    raise ValueError(
                        f"{WHAT}: the points of a grid must ascend; write grid=False for others"
                    )
            at = [at[0][:, None], at[1][None, :]]
        inside = [self._nearest(p, n) for n, p in enumerate(at)]
        orders = [integer(dx, "dx"), integer(dy, "dy")]
        if min(orders) < 0 or any(n >= k for n, k in zip(orders, self.degrees, strict=True) if n):
            raise ValueError(f"{WHAT}: dx and dy must be from 0 to the degree less 1, got {orders}")
        y_ = tensor_spline(self._knots, self._c, self.degrees, inside, orders)
        return answer(y_, x, y, *self._given)

    def _nearest(self, at: Tensor, axis: int) -> Tensor:
        t, k = self._knots[axis], self.degrees[axis]
        low, high = t[k], t[t.size - k - 1]
        return where(at < low, low, where(at > high, high, at))

    def ev(self, xi: Any, yi: Any, dx: int = 0, dy: int = 0) -> Any:
        """Return values, or those of a derivative, at points."""
        return self(xi, yi, dx, dy, grid=False)

    def integral(self, xa: Any, xb: Any, ya: Any, yb: Any) -> Any:
        """Return the integral over a rectangle; the spline is 0 outside of the grid."""
        along = BSpline.made(self._knots[0], self._c, self.degrees[0], True, 0, self._given)
        c = as_tensor(along.integrate(xa, xb, extrapolate=False))
        across = BSpline.made(self._knots[1], c, self.degrees[1], True, 0, self._given)
        found = as_tensor(across.integrate(ya, yb, extrapolate=False))
        return answer(found, xa, xb, ya, yb, *self._given)

    def get_knots(self) -> tuple[Any, Any]:
        """Return the knots along each axis."""
        first, second = (answer(t, *self._given) for t in self._knots)
        return first, second

    def get_coeffs(self) -> Any:
        """Return the coefficients as a vector."""
        return answer(self._c.reshape(-1), *self._given)
