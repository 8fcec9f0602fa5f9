"""Interpolating splines under the names of FITPACK's interfaces in ``scipy.interpolate``."""

from typing import Any

import numpy as np

from ....functions.array.argument_checks import integer, numeric
from ....functions.array.operands import as_tensor
from ....functions.creation.constants import zeros
from ....functions.shape.joining import concat, stack
from ....functions.shape.selection import where
from .basis import BSpline
from .collocation import make_interp_spline
from .data import answer, ascending, known, real

OUTSIDE = {"extrapolate": 0, "zeros": 1, "raise": 2, "const": 3}
SMOOTHING = "splines that smooth are found by trials of knots, and have no derivative"


def _require_interpolating(what: str, s: Any, w: Any = None, bbox: Any = (None, None)) -> None:
    if s is None or not np.isscalar(s) or s != 0:
        raise NotImplementedError(
            f"{what}: s must be 0, got {s!r:.40}: {SMOOTHING}; write s=0 for the spline through "
            f"the points, or fit the coefficients of a BSpline by ng.linalg.lstsq"
        )
    if any(end is not None for end in bbox):
        raise NotImplementedError(f"{what}: the ends must be those of the points, leave bbox out")
    numbers = None if w is None else known(as_tensor(numeric(w, "w")))
    if numbers is not None and (numbers <= 0).any():
        raise ValueError(f"{what}: w must be positive")


def splrep(
    x: Any,
    y: Any,
    w: Any = None,
    xb: Any = None,
    xe: Any = None,
    k: int = 3,
    task: int = 0,
    s: Any = None,
    t: Any = None,
    full_output: int = 0,
    per: int = 0,
    quiet: int = 1,
) -> tuple[Any, Any, int]:
    """Return knots, coefficients and degree of the spline through points, as
    `scipy.interpolate.splrep` does with ``s=0``.

    Parameters
    ----------
    x, y : array_like
        Coordinates, which ascend, and values.
    k : int
        The degree, from 1 to 5.
    s : {0, None}
        Splines that smooth are refused: they have no derivative.
    w, quiet
        They do not matter for a spline through all points; with ``w`` SciPy smooths unless ``s`` is
        0.
    xb, xe, task, t, full_output, per
        Refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> y = ng.tensor([0.0, 1.0, 8.0, 27.0], requires_grad=True)
    >>> tck = ng.interop.scipy.splrep([0.0, 1.0, 2.0, 3.0], y)
    >>> round(ng.interop.scipy.splev(1.5, tck).item(), 6)
    3.375
    """
    for name, value in {"task": task, "full_output": full_output, "per": per}.items():
        if integer(value, name):
            raise NotImplementedError(f"splrep: {name} must be 0, got {value!r:.40}")
    if t is not None:
        raise NotImplementedError("splrep: knots are chosen; write make_interp_spline(x, y, k, t)")
    _require_interpolating("splrep", 0 if s is None and w is None else s, w, (xb, xe))
    spline = _through(x, y, k, "splrep")
    c = as_tensor(spline.c)
    c = concat([c, zeros((spline.k + 1,), dtype=c.dtype)])
    return spline.t, answer(c, x, y), spline.k


def _through(x: Any, y: Any, k: Any, what: str) -> BSpline:
    degree = integer(k, "k")
    if not 1 <= degree <= 5:
        raise ValueError(f"{what}: k must be in 1..5, got {degree}")
    at = ascending(numeric(x, "x"), what, degree + 1)
    values = real(numeric(y, "y"), what, "y")
    if values.shape != at.shape:
        raise ValueError(f"{what}: x and y have shapes {at.shape} and {values.shape}")
    spline = make_interp_spline(at, values, degree)
    return BSpline.made(spline._t, spline._c, degree, True, 0, [x, y])


def splev(x: Any, tck: Any, der: int = 0, ext: int = 0) -> Any:
    """Return values of a spline or of its derivative, as `scipy.interpolate.splev` does.

    Parameters
    ----------
    x : array_like
        Points.
    tck : tuple or BSpline
        Knots, coefficients and degree, as of `splrep`.
    der : int
        The order of the derivative.
    ext : {0, 1, 2, 3}
        Whether the spline is extrapolated, 0 outside, refused there, or goes on with its value at
        the end.

    Examples
    --------
    >>> import numgrad as ng
    >>> tck = ng.interop.scipy.splrep([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 8.0, 27.0])
    >>> x = ng.tensor(1.5, requires_grad=True)
    >>> round(ng.grad(ng.interop.scipy.splev(x, tck), x)[0].item(), 6)
    6.75
    """
    return _valued(_spline(tck, "splev"), x, integer(der, "der"), ext, "splev")


def _spline(tck: Any, what: str) -> BSpline:
    if isinstance(tck, BSpline):
        return tck
    if hasattr(tck, "tck"):
        tck = tck.tck
    if not isinstance(tck, (tuple, list)) or len(tck) != 3 or isinstance(tck[1], (list, tuple)):
        raise ValueError(f"{what}: tck must be knots, an array of coefficients, and a degree")
    return BSpline(*tck)


def _valued(spline: BSpline, x: Any, nu: int, ext: Any, what: str) -> Any:
    """Return values at points, and outside what ``ext`` says."""
    given = OUTSIDE.get(ext, ext) if isinstance(ext, str) else ext
    if given not in (0, 1, 2, 3):
        raise ValueError(f"{what}: ext must be 0, 1, 2 or 3, got {ext!r:.40}")
    if not 0 <= nu <= spline.k:
        raise ValueError(f"{what}: a derivative of order 0..{spline.k}, got {nu}")
    at = real(numeric(x, "x"), what, "x")
    low, high = spline._ends()
    outside = (at.detach() < low.detach()) | (at.detach() > high.detach())
    numbers = known(outside)
    if given == 2 and numbers is not None and numbers.any():
        raise ValueError(f"{what}: a point is outside of the knots")
    if given == 3 and not nu:  # FITPACK extrapolates derivatives
        at = where(at < low, low, where(at > high, high, at))
    y = as_tensor(spline(at, nu))
    if given == 1:
        y = where(outside, 0.0, y)
    return answer(y, x, *spline._given)


def splint(a: Any, b: Any, tck: Any, full_output: int = 0) -> Any:
    """Return the integral of a spline between two points, as `scipy.interpolate.splint` does: the
    spline is 0 outside of its knots.

    Examples
    --------
    >>> import numgrad as ng
    >>> tck = ng.interop.scipy.splrep([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 8.0, 27.0])
    >>> round(float(ng.interop.scipy.splint(0.0, 2.0, tck)), 6)
    4.0
    """
    if integer(full_output, "full_output"):
        raise NotImplementedError("splint: full_output asks for FITPACK's arrays; leave it out")
    return _spline(tck, "splint").integrate(numeric(a, "a"), numeric(b, "b"), extrapolate=False)


class InterpolatedUnivariateSpline:
    """The spline through points, with the signature of
    `scipy.interpolate.InterpolatedUnivariateSpline`.

    Parameters
    ----------
    x, y : array_like
        Coordinates, which ascend, and values.
    w
        For SciPy's sake: weights do not matter for a spline through all points.
    bbox
        Refused unless None: the ends are those of the points.
    k : int
        The degree, from 1 to 5.
    ext : int or str
        Whether the spline is extrapolated (0, ``"extrapolate"``), 0 outside (1, ``"zeros"``),
        refused there (2, ``"raise"``), or goes on with its value at the end (3, ``"const"``).
    check_finite
        For SciPy's sake: what is not finite is refused in any case.

    Notes
    -----
    It is differentiable with respect to coordinates, values and the points where it is asked.

    Examples
    --------
    >>> import numgrad as ng
    >>> y = ng.tensor([0.0, 1.0, 8.0, 27.0], requires_grad=True)
    >>> f = ng.interop.scipy.InterpolatedUnivariateSpline([0.0, 1.0, 2.0, 3.0], y)
    >>> round(f(1.5).item(), 6), ng.grad(f(1.5), y)[0].numpy().round(4)
    (3.375, array([-0.0625,  0.5625,  0.5625, -0.0625]))
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        w: Any = None,
        bbox: Any = (None, None),
        k: int = 3,
        ext: Any = 0,
        check_finite: bool = False,
    ) -> None:
        what = type(self).__name__
        _require_interpolating(what, 0, w, bbox)
        self._settle(_through(x, y, k, what), ext)

    def _settle(self, spline: BSpline, ext: Any) -> None:
        self._spline, self.ext = spline, ext

    def _made(self, spline: BSpline) -> "InterpolatedUnivariateSpline":
        new = object.__new__(InterpolatedUnivariateSpline)
        new._settle(spline, self.ext)
        return new

    def __call__(self, x: Any, nu: int = 0, ext: Any = None) -> Any:
        """Return values, or those of a derivative, at points of any shape."""
        ext = self.ext if ext is None else ext
        return _valued(self._spline, x, integer(nu, "nu"), ext, type(self).__name__)

    def derivative(self, n: int = 1) -> "InterpolatedUnivariateSpline":
        """Return the derivative, a spline of lower degree."""
        return self._made(self._spline.derivative(n))

    def antiderivative(self, n: int = 1) -> "InterpolatedUnivariateSpline":
        """Return the integral from the first point, a spline of higher degree."""
        return self._made(self._spline.antiderivative(n))

    def derivatives(self, x: Any) -> Any:
        """Return all derivatives at a point, the value first."""
        found = [as_tensor(self(x, nu, 0)) for nu in range(self._spline.k + 1)]
        return answer(stack(found), x, *self._spline._given)

    def integral(self, a: Any, b: Any) -> Any:
        """Return the integral between two points; the spline is 0 outside."""
        return self._spline.integrate(a, b, extrapolate=False)

    def get_knots(self) -> Any:
        """Return the knots, each once."""
        t, k = self._spline._t, self._spline.k
        return answer(t[k : t.size - k], *self._spline._given)

    def get_coeffs(self) -> Any:
        """Return the coefficients."""
        return self._spline.c

    def get_residual(self) -> float:
        """Return 0: the spline goes through all points."""
        return 0.0


class UnivariateSpline(InterpolatedUnivariateSpline):
    """The spline through points, with the signature of `scipy.interpolate.UnivariateSpline`, where
    ``s=0`` is to be given: splines that smooth are refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> f = ng.interop.scipy.UnivariateSpline([0.0, 1.0, 2.0], [0.0, 1.0, 4.0], k=2, s=0)
    >>> round(float(f(1.5)), 6)
    2.25
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        w: Any = None,
        bbox: Any = (None, None),
        k: int = 3,
        s: Any = None,
        ext: Any = 0,
        check_finite: bool = False,
    ) -> None:
        _require_interpolating("UnivariateSpline", s, w, bbox)
        super().__init__(x, y, w, bbox, k, ext)


