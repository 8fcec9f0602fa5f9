"""Interpolation of values on grids that are products of coordinates."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....functions.creation.from_data import asarray
from ....functions.shape.joining import stack
from ....functions.shape.rearranging import flip
from ....functions.shape.reshaping import moveaxis
from ....functions.shape.selection import where
from .basis import tensor_spline
from .collocation import make_interp_spline
from .data import answer, floating, interval, known, real, require_finite
from .folding import folded

WHAT = "RegularGridInterpolator"
DEGREES = {"slinear": 1, "cubic": 3, "quintic": 5}
METHODS = ("linear", "nearest", "pchip", *DEGREES)
LEAST = {"pchip": 4, "slinear": 2, "cubic": 4, "quintic": 6}


class RegularGridInterpolator:
    """An interpolant on a grid, with the signature of `scipy.interpolate.RegularGridInterpolator`.

    Parameters
    ----------
    points : tuple of array_like
        The coordinates along each axis, which ascend or descend.
    values : array_like
        Values on the grid, and any axes after those of the grid.
    method : {"linear", "nearest", "slinear", "cubic", "quintic", "pchip"}
        With ``"pchip"`` along one axis after the other, the last one first, of real values.
    bounds_error : bool
        Whether points outside are an error.
    fill_value : number, optional
        The value outside; None extrapolates.
    solver, solver_args
        Refused: the systems of splines are banded and solved directly.

    Notes
    -----
    It is differentiable with respect to values, coordinates and the points where it is asked; with
    ``"linear"`` the derivative at a coordinate is that to its right. ``"nearest"`` has the
    derivative 0 with respect to all but the values. The values of splines are those of SciPy with
    ``solver=scipy.sparse.linalg.spsolve``; its own solver is iterative and stops earlier.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> x, y = np.linspace(0.0, 1.0, 5), np.linspace(0.0, 2.0, 6)
    >>> f = ng.interop.scipy.RegularGridInterpolator((x, y), x[:, None] ** 3 * y, method="cubic")
    >>> at = ng.tensor([0.4, 0.7], requires_grad=True)
    >>> ng.grad(f(at)[0], at)[0].numpy().round(12)  # 3 x**2 y, x**3
    array([0.336, 0.064])
    """

    def __init__(
        self,
        points: Sequence[Any],
        values: Any,
        method: str = "linear",
        bounds_error: bool = True,
        fill_value: Any = np.nan,
        *,
        solver: Any = None,
        solver_args: Any = None,
    ) -> None:
        if solver is not None or solver_args:
            raise NotImplementedError(f"{WHAT}: splines are solved directly, leave solver out")
        self._given = [list(points), values, fill_value]
        self._values = floating(values)
        if len(points) > self._values.ndim:
            raise ValueError(
                f"{WHAT}: there are {len(points)} vectors of points, but values has "
                f"{self._values.ndim} axes"
            )
        self._grid = [self._coordinates(p, axis) for axis, p in enumerate(points)]
        self.method, self.bounds_error, self.fill_value = method, bounds_error, fill_value
        self._splines: dict[str, tuple[list[Tensor], Tensor]] = {}
        self._require_method(method)

    def _coordinates(self, points: Any, axis: int) -> Tensor:
        """Return ascending coordinates; descending ones are reversed, and the values with them."""
        x = real(points, WHAT, "points")
        require_finite(x, WHAT, "points")
        if x.ndim != 1 or x.size != self._values.shape[axis]:
            raise ValueError(
                f"{WHAT}: points of shape {x.shape} do not fit {self._values.shape[axis]} values "
                f"along axis {axis}"
            )
        numbers = known(x)
        if numbers is None or (np.diff(numbers) > 0).all():
            return x
        if not (np.diff(numbers) < 0).all():
            raise ValueError(
                f"{WHAT}: the points in dimension {axis} must be strictly ascending or descending"
            )
        self._values = flip(self._values, axis)
        return flip(x, 0)

    def _require_method(self, method: str) -> None:
        if method not in METHODS:
            raise ValueError(f"{WHAT}: method {method!r} is not defined")
        if method == "pchip" and self._values.dtype.kind == "c":
            raise ValueError(f"{WHAT}: method 'pchip' takes real values; take values.real")
        least = LEAST.get(method, 1)
        for axis, x in enumerate(self._grid):
            if x.size < least:
                raise ValueError(
                    f"{WHAT}: there are {x.size} points in dimension {axis}, but method {method} "
                    f"requires at least {least}"
                )

    @property
    def grid(self) -> tuple[Any, ...]:
        """The coordinates, which ascend."""
        return tuple(answer(x, *self._given) for x in self._grid)

    @property
    def values(self) -> Any:
        """The values on the grid."""
        return answer(self._values, *self._given)

    def __call__(self, xi: Any, method: str | None = None, *, nu: Any = None) -> Any:
        """Return values, or with `nu` those of derivatives, at points along the last axis."""
        method = self.method if method is None else method
        self._require_method(method)
        if nu is not None and method not in DEGREES:
            raise ValueError(f"{WHAT}: derivatives are those of {', '.join(DEGREES)}")
        at, lead = self._points(xi)
        columns = [at[:, n] for n in range(len(self._grid))]
        y = self._outside(self._inside(columns, method, nu), columns)
        return answer(y.reshape((*lead, *y.shape[1:])), xi, *self._given)

    def _inside(self, columns: Sequence[Tensor], method: str, nu: Any) -> Tensor:
        """Return values; outside of the grid they are those of its outermost cells."""
        if method in DEGREES:
            return self._spline(columns, method, nu)
        if method == "pchip":
            return folded(self._grid, self._values, columns)
        return self._linear(columns) if method == "linear" else self._nearest(columns)

    def _points(self, xi: Any) -> tuple[Tensor, tuple[int, ...]]:
        """Return points as rows, and their shape.

        Points are given as an array, or as a tuple of coordinates that are broadcast.
        """
        ndim = len(self._grid)
        if isinstance(xi, tuple):
            from ....functions.shape.repeating import broadcast_arrays

            xi = stack(broadcast_arrays(*[real(x, WHAT, "xi") for x in xi]), axis=-1)
        at = real(xi, WHAT, "xi")
        if at.ndim == 1:
            at = at[:, None] if ndim == 1 else at[None]
        if at.ndim == 0 or at.shape[-1] != ndim:
            raise ValueError(
                f"{WHAT}: the points have dimension {at.shape[-1:]} but the grid has {ndim}"
            )
        return at.reshape(-1, ndim), at.shape[:-1]

    def _outside(self, y: Tensor, columns: Sequence[Tensor]) -> Tensor:
        """Return values, with the fill value or NaN for points outside of the grid."""
        is_nan, is_out = np.False_, np.False_
        for axis, (x, at) in enumerate(zip(self._grid, columns, strict=True)):
            at, x = at.detach(), x.detach()
            out = (at < x[0]) | (at > x[-1])
            numbers = known(out | (at != at))
            if self.bounds_error and numbers is not None and numbers.any():
                raise ValueError(f"{WHAT}: one of the points is out of bounds in dimension {axis}")
            is_out, is_nan = is_out | out, is_nan | (at != at)
        shape = (-1, *[1] * (y.ndim - 1))
        if not self.bounds_error and self.fill_value is not None:
            y = where(asarray(is_out).reshape(shape), self.fill_value, y)
        return where(asarray(is_nan).reshape(shape), np.nan, y)

    def _cells(self, columns: Sequence[Tensor]) -> list[tuple[Any, Any]]:
        """Return, along each axis, the interval of each point, and its position in the interval."""
        found = []
        for x, at in zip(self._grid, columns, strict=True):
            if x.size == 1:
                found.append((np.zeros(at.shape, int), at * 0.0))
                continue
            place = interval(x, at, 0, x.size - 2)
            low = x[place]
            found.append((place, (at - low) / (x[place + 1] - low)))
        return found

    def _linear(self, columns: Sequence[Tensor]) -> Tensor:
        cells, trailing = self._cells(columns), (1,) * (self._values.ndim - len(columns))
        y: Any = None
        for corner in product((0, 1), repeat=len(cells)):
            if any(up and x.size == 1 for up, x in zip(corner, self._grid, strict=True)):
                continue
            weight: Any = 1.0
            for up, (_, share) in zip(corner, cells, strict=True):
                weight = weight * (share if up else 1.0 - share)
            value = self._values[tuple([c[0] + up for up, c in zip(corner, cells, strict=True)])]
            term = value * weight.reshape(weight.shape + trailing)
            y = term if y is None else y + term
        return y

    def _nearest(self, columns: Sequence[Tensor]) -> Tensor:
        places = [
            where(share.detach() <= 0.5, place, place + 1) if x.size > 1 else place
            for x, (place, share) in zip(self._grid, self._cells(columns), strict=True)
        ]
        return self._values[tuple(places)]

    def _coefficients(self, method: str) -> tuple[list[Tensor], Tensor]:
        """Return knots and coefficients of the product of splines along the axes."""
        if method not in self._splines:
            c, knots = self._values, []
            for axis, x in enumerate(self._grid):
                spline = make_interp_spline(x, moveaxis(c, axis, 0), DEGREES[method])
                knots.append(spline.t)
                c = moveaxis(spline.c, 0, axis)
            self._splines[method] = knots, c
        return self._splines[method]

    def _spline(self, columns: Sequence[Tensor], method: str, nu: Any) -> Tensor:
        knots, c = self._coefficients(method)
        k, orders = DEGREES[method], [0] * len(columns) if nu is None else list(nu)
        if len(orders) != len(columns) or min(orders) < 0:
            raise ValueError(f"{WHAT}: nu must be {len(columns)} non-negative integers")
        return tensor_spline(knots, c, [k] * len(columns), columns, orders)
