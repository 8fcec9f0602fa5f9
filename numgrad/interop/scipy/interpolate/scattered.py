"""Interpolation of values at scattered points: on triangles, and by the nearest point."""

from typing import Any

import numpy as np

from ...._declare import HostOperator
from ...._tensor import Tensor
from ....functions.array.argument_checks import integer, numeric
from ....functions.array.operands import as_tensor
from ....functions.linalg.systems import solve
from ....functions.shape.joining import concat, stack
from ....functions.shape.repeating import broadcast_arrays
from ....functions.shape.reshaping import matrix_transpose
from ....functions.shape.selection import where
from .data import answer, floating, real, require_finite
from .one_dimensional import interp1d


def _corners(points: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the numbers of the corners of the simplex around each point, -1 outside."""
    from scipy.spatial import Delaunay

    loop = np.broadcast_shapes(points.shape[:-2], at.shape[:-2])
    points, at = (np.broadcast_to(x, (*loop, *x.shape[-2:])) for x in (points, at))
    found = np.empty((*loop, at.shape[-2], at.shape[-1] + 1), np.int64)
    triangles: Any = None
    known_points: Any = None
    for place in np.ndindex(loop):
        if known_points is None or not np.array_equal(points[place], known_points):
            known_points = points[place]
            triangles = Delaunay(known_points)
        number = triangles.find_simplex(np.where(np.isfinite(at[place]), at[place], np.inf))
        found[place] = np.where(number[:, None] < 0, -1, triangles.simplices[number])
    return found


def _closest(points: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the number of the nearest point to each."""
    from scipy.spatial import KDTree

    loop = np.broadcast_shapes(points.shape[:-2], at.shape[:-2])
    points, at = (np.broadcast_to(x, (*loop, *x.shape[-2:])) for x in (points, at))
    found = np.empty((*loop, at.shape[-2]), np.int64)
    for place in np.ndindex(loop):
        is_number: Any = np.isfinite(at[place]).all(axis=-1)
        found[place] = KDTree(points[place]).query(np.where(is_number[:, None], at[place], 0.0))[1]
    return found


corners = HostOperator(
    _corners, "(n,d),(k,d)->(k,v)", name="simplex_corners", results=[np.int64],
    sizes=lambda known, **static: {"v": known["d"] + 1}, differentiable=False, register=False,
)  # fmt: skip
closest = HostOperator(
    _closest, "(n,d),(k,d)->(k)", name="nearest_points", results=[np.int64], differentiable=False,
    register=False,
)  # fmt: skip


class Scattered:
    """Points, values there, and the points that are asked for."""

    def __init__(self, points: Any, values: Any, rescale: Any) -> None:
        what, rescale = type(self).__name__, bool(integer(rescale, "rescale"))
        self.what = what
        self._given = [points, values]
        x = _as_rows(points, what)
        require_finite(x, what, "points")
        if x.ndim == 1:
            x = x[:, None]
        self._values = floating(numeric(values, "values"))
        if x.ndim != 2 or not self._values.ndim or self._values.shape[0] != x.shape[0]:
            raise ValueError(
                f"{what}: points of shape {x.shape} do not fit values of shape {self._values.shape}"
            )
        self._points = x
        # Which points are neighbours may depend on units; it is settled by numbers.
        numbers = x.detach()
        self._low = numbers.min(axis=0) * 0.0 if not rescale else numbers.mean(axis=0)
        spread = numbers.max(axis=0) - numbers.min(axis=0)
        self._scale = where(spread > 0, spread, 1.0) if rescale else spread * 0.0 + 1.0

    def _asked(self, args: tuple[Any, ...]) -> tuple[Tensor, tuple[int, ...]]:
        """Return points as rows, and the shape of the result."""
        at = _as_rows(args[0] if len(args) == 1 else args, self.what)
        size = self._points.shape[1]
        if at.ndim == 0 or at.shape[-1] != size:
            raise ValueError(f"{self.what}: points of {size} coordinates, got shape {at.shape}")
        return at.reshape(-1, size), at.shape[:-1]

    def _scaled(self, x: Tensor) -> Tensor:
        return (x.detach() - self._low) / self._scale

    def _delivered(self, y: Tensor, shape: tuple[int, ...], args: tuple[Any, ...]) -> Any:
        return answer(y.reshape((*shape, *self._values.shape[1:])), *args, *self._given)


def _as_rows(x: Any, what: str) -> Tensor:
    """Return points along the last axis; they may be a tuple of coordinates that are broadcast."""
    if isinstance(x, tuple):
        x = stack(broadcast_arrays(*[real(numeric(p, "points"), what, "points") for p in x]), -1)
    return real(numeric(x, "points"), what, "points")


class LinearNDInterpolator(Scattered):
    """The function that is linear on triangles of scattered points, or on simplices in higher
    dimensions, with the signature of `scipy.interpolate.LinearNDInterpolator`.

    Parameters
    ----------
    points : array_like
        One in a row; or a tuple of coordinates.
    values : array_like
        Along the first axis, one for each point.
    fill_value : number
        The value outside of the points' convex hull.
    rescale : bool
        Whether the points are scaled to the unit cube before they are connected.

    Notes
    -----
    The triangulation of Delaunay is SciPy's. It holds for derivatives, which are those of the
    triangle that a point is in: with respect to values, the points themselves, and the points where
    the function is asked.

    Examples
    --------
    >>> import numgrad as ng
    >>> z = ng.tensor([0.0, 2.0, 4.0, 6.0], requires_grad=True)
    >>> corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.1]]
    >>> f = ng.interop.scipy.LinearNDInterpolator(corners, z)
    >>> y = f(0.25, 0.25)
    >>> round(y.item(), 6), ng.grad(y, z)[0].numpy().round(6)
    (1.5, array([0.5 , 0.25, 0.25, 0.  ]))
    """

    def __init__(
        self, points: Any, values: Any, fill_value: Any = np.nan, rescale: bool = False
    ) -> None:
        super().__init__(points, values, rescale)
        self._fill = fill_value
        if self._points.shape[1] < 2:
            raise ValueError(f"{self.what}: points need two coordinates or more; use interp1d")

    def __call__(self, *args: Any) -> Any:
        """Return values at points along the last axis, or at coordinates that are broadcast."""
        at, shape = self._asked(args)
        around = corners(self._scaled(self._points), self._scaled(at))
        is_inside, around = around[:, 0] >= 0, around.clip(0, None)
        places = self._points[around]
        first = places[:, 0]
        edges = matrix_transpose(places[:, 1:] - first[:, None])
        one = is_inside[:, None, None]
        edges = where(one, edges, np.eye(first.shape[-1]))
        shares = solve(edges, where(one, (at - first)[..., None], 0.0))[..., 0]
        weights = concat([1.0 - shares.sum(axis=-1, keepdims=True), shares], axis=-1)
        trailing = (1,) * (self._values.ndim - 1)
        values = self._values[around]
        y = (values * weights.reshape(weights.shape + trailing)).sum(axis=1)
        y = where(is_inside.reshape(is_inside.shape + trailing), y, self._fill)
        return self._delivered(y, shape, (*args, self._fill))


class NearestNDInterpolator(Scattered):
    """The value at the nearest of scattered points, with the signature of
    `scipy.interpolate.NearestNDInterpolator`.

    Parameters
    ----------
    x : array_like
        Points, one in a row.
    y : array_like
        Values along the first axis.
    rescale : bool
        Whether the points are scaled to the unit cube before.
    tree_options
        Refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> f = ng.interop.scipy.NearestNDInterpolator([[0.0, 0.0], [1.0, 1.0]], [5.0, 7.0])
    >>> float(f(0.9, 0.8))
    7.0
    """

    def __init__(self, x: Any, y: Any, rescale: bool = False, tree_options: Any = None) -> None:
        if tree_options is not None:
            raise NotImplementedError("NearestNDInterpolator: leave tree_options out")
        super().__init__(x, y, rescale)

    def __call__(self, *args: Any) -> Any:
        """Return values at points along the last axis, or at coordinates that are broadcast."""
        at, shape = self._asked(args)
        y = self._values[closest(self._scaled(self._points), self._scaled(at))]
        is_number = (at.detach() == at.detach()).all(axis=-1)
        y = where(is_number.reshape(is_number.shape + (1,) * (y.ndim - 1)), y, np.nan)
        return self._delivered(y, shape, args)


def griddata(
    points: Any,
    values: Any,
    xi: Any,
    method: str = "linear",
    fill_value: Any = np.nan,
    rescale: bool = False,
) -> Any:
    """Interpolate values at scattered points, as `scipy.interpolate.griddata` does.

    Parameters
    ----------
    points : array_like, or tuple of coordinates
    values : array_like
    xi : array_like, or tuple of coordinates that are broadcast
        Points along the last axis.
    method : {"linear", "nearest"}
        `LinearNDInterpolator` or `NearestNDInterpolator`; in one dimension also ``"cubic"``. In two
        dimensions that is refused.
    fill_value, rescale
        As in `LinearNDInterpolator`.

    Examples
    --------
    >>> import numgrad as ng
    >>> z = ng.tensor([0.0, 2.0, 4.0], requires_grad=True)
    >>> points = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    >>> ng.interop.scipy.griddata(points, z, [[0.25, 0.25]]).tolist()
    [1.5]
    """
    x = _as_rows(points, "griddata")
    if x.ndim == 2 and x.shape[1] == 1:
        x = x[:, 0]
    if not isinstance(method, str) or method not in ("linear", "nearest", "cubic"):
        raise ValueError(f"griddata: method must be 'linear' or 'nearest', got {method!r:.40}")
    if x.ndim == 1:
        (asked,) = xi if isinstance(xi, tuple) else (xi,)
        f = interp1d(x, values, method, 0, True, False, "extrapolate" if method == "nearest" else
                     fill_value)
        return answer(as_tensor(f(asked)), points, values, xi, fill_value)
    if method == "cubic":
        raise NotImplementedError(
            "griddata: method 'cubic' of two variables has slopes that SciPy finds by iteration; "
            "use RBFInterpolator(points, values, kernel='cubic'), which is as smooth"
        )
    if method == "nearest":
        found = NearestNDInterpolator(x, values, rescale)(xi)
    else:
        found = LinearNDInterpolator(x, values, fill_value, rescale)(xi)
    return answer(as_tensor(found), points, values, xi, fill_value)
