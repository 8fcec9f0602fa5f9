"""B-splines: basis functions, their derivatives, and linear combinations of them."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....functions.elementwise.rounding import floor
from ....functions.reduction.cumulative import cumsum
from ....functions.shape.joining import concat, stack
from ....functions.shape.reshaping import moveaxis
from ....functions.shape.selection import where
from ....functions.sorting.searching import searchsorted
from .data import answer, beside, floating, interval, known, real, to_axis, within


def local_basis(t: Tensor, k: int, place: Tensor, at: Tensor, nu: int = 0) -> list[Tensor]:
    """Return the basis functions of degree ``k`` that are not zero in an interval between knots, or
    their derivatives of order ``nu``, at points.

    Their numbers are ``place - k`` to ``place``.
    """
    values = [at * 0.0 + 1.0]
    for degree in range(1, k + 1):
        lows = [t[place - degree + 1 + n] for n in range(degree)]
        highs = [t[place + 1 + n] for n in range(degree)]
        is_value = degree <= k - nu
        up, down = [], []
        for low, high, value in zip(lows, highs, values, strict=True):
            share = value / (high - low)
            up.append(share * (at - low) if is_value else float(degree) * share)
            down.append(share * (high - at) if is_value else -float(degree) * share)
        inner = [u + d for u, d in zip(up[:-1], down[1:], strict=True)]
        values = [down[0], *inner, up[-1]]
    return values


class BSpline:
    """A spline of a degree between knots, with the signature of `scipy.interpolate.BSpline`.

    Parameters
    ----------
    t : array_like, shape (n + k + 1,)
        Knots, which do not descend.
    c : array_like
        Coefficients; at least `n` along `axis`.
    k : int
        The degree.
    extrapolate : bool or "periodic"
        Whether the first and the last polynomial hold beyond the base interval, from ``t[k]`` to
        ``t[n]``; else there is NaN.
    axis : int
        The axis of interpolation.

    Attributes
    ----------
    t, c, k, axis, extrapolate

    Notes
    -----
    It is differentiable with respect to knots, coefficients and the points where it is asked.
    Results are tensors where any of these is, else arrays.

    Examples
    --------
    >>> import numgrad as ng
    >>> c = ng.tensor([0.0, 1.0, 4.0], requires_grad=True)
    >>> spline = ng.interop.scipy.BSpline([0.0, 0.0, 1.0, 2.0, 2.0], c, 1)
    >>> spline(1.5).item(), ng.grad(spline(1.5), c)[0].tolist()
    (2.5, [0.0, 0.5, 0.5])
    """

    def __init__(self, t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0) -> None:
        t_, c_, k = real(t, "BSpline", "t"), floating(c), int(k)
        if k < 0:
            raise ValueError("BSpline: the degree k cannot be negative")
        if not c_.ndim or not -c_.ndim <= axis < c_.ndim:
            raise ValueError(f"BSpline: axis {axis} is out of bounds for c of shape {c_.shape}")
        axis %= c_.ndim
        if t_.ndim != 1 or t_.size < 2 * k + 2 or c_.shape[axis] < t_.size - k - 1:
            raise ValueError(
                f"BSpline: shapes {t_.shape} of t and {c_.shape} of c do not fit the degree {k}"
            )
        require_sorted(t_, "BSpline")
        self._settle(t_, moveaxis(c_, axis, 0), k, extrapolate, axis, [t, c])

    def _settle(
        self, t: Tensor, c: Tensor, k: int, extrapolate: Any, axis: int, given: Any
    ) -> None:
        self._t, self._c, self.k, self.axis = t, c[: t.size - k - 1], k, axis
        self.extrapolate = extrapolate if extrapolate == "periodic" else bool(extrapolate)
        self._given = given

    @classmethod
    def made(
        cls, t: Tensor, c: Tensor, k: int, extrapolate: Any, axis: int, given: Any
    ) -> "BSpline":
        """Return the spline with coefficients whose axis of interpolation comes first."""
        new = object.__new__(cls)
        new._settle(t, c, k, extrapolate, axis, given)
        return new

    @property
    def t(self) -> Any:
        """The knots."""
        return answer(self._t, *self._given)

    @property
    def c(self) -> Any:
        """The coefficients, the axis of interpolation in front."""
        return answer(self._c, *self._given)

    @property
    def tck(self) -> tuple[Any, Any, int]:
        """Knots, coefficients and degree."""
        return self.t, self.c, self.k

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        """Return values, or those of a derivative, at points of any shape."""
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        at, (low, high) = real(x, "BSpline", "x"), self._ends()
        if extrapolate == "periodic":
            at = low + (at - low) % (high - low)
        y = self._values(at, nu)
        y = within(y, at, (low, high) if extrapolate is False else None)
        return answer(to_axis(y, self.axis, at.ndim), x, *self._given)

    def _ends(self) -> tuple[Tensor, Tensor]:
        return self._t[self.k], self._t[self._t.size - self.k - 1]

    def _values(self, at: Tensor, nu: int) -> Tensor:
        t, k, c = self._t, self.k, self._c
        place = knot_interval(t, k, at)
        if nu > k:
            return c[place] * 0.0
        axes = (1,) * (c.ndim - 1)
        terms = [
            basis.reshape(basis.shape + axes) * c[place - k + n]
            for n, basis in enumerate(local_basis(t, k, place, at, nu))
        ]
        return sum(terms[1:], terms[0])

    def derivative(self, nu: int = 1) -> "BSpline":
        """Return the derivative, a spline of lower degree."""
        if nu < 0:
            return self.antiderivative(-nu)
        t, c, k = self._t, self._c, self.k
        for _ in range(nu):
            if k == 0:
                c, t = c * 0.0, t
                continue
            width = t[k + 1 : -1] - t[1 : t.size - k - 1]
            change = (c[1:] - c[:-1]) * float(k)
            c = where(beside(width, c) > 0, change / beside(where(width > 0, width, 1.0), c), 0.0)
            t, k = t[1:-1], k - 1
        return self.made(t, c, k, self.extrapolate, self.axis, self._given)

    def antiderivative(self, nu: int = 1) -> "BSpline":
        """Return the integral from the first knot, a spline of higher degree."""
        if nu < 0:
            return self.derivative(-nu)
        t, c, k = self._t, self._c, self.k
        for _ in range(nu):
            width = (t[k + 1 :] - t[: t.size - k - 1]) / float(k + 1)
            c = concat([c[:1] * 0.0, cumsum(c * beside(width, c), axis=0)])
            t, k = concat([t[:1], t, t[-1:]]), k + 1
        extrapolate = False if nu and self.extrapolate == "periodic" else self.extrapolate
        return self.made(t, c, k, extrapolate, self.axis, self._given)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """Return the integral between two points; beyond the base interval the spline is taken as
        zero, as in SciPy, unless it is extrapolated, or repeated."""
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        low, high = self._ends()
        ends = [real(end, "BSpline", "a limit") for end in (a, b)]
        if not extrapolate:
            ends = [where(end < low, low, where(end > high, high, end)) for end in ends]
        whole = self.antiderivative()
        if extrapolate == "periodic":
            first, last = (whole._over_periods(end) for end in ends)
        else:
            first, last = (whole._values(end, 0) for end in ends)
        return answer(last - first, a, b, *self._given)

    def _over_periods(self, at: Tensor) -> Tensor:
        """Return the value at a point outside of the base interval, where each period adds the
        difference of the ends."""
        low, high = self._ends()
        count = floor((at - low) / (high - low)).detach()
        first, last, here = (self._values(x, 0) for x in (low, high, at - count * (high - low)))
        return here + beside(count, here) * (last - first)


def require_sorted(t: Tensor, what: str) -> None:
    """Raise for knots in descending order."""
    values = known(t)
    if values is not None and (np.diff(values) < 0).any():
        raise ValueError(f"{what}: knots must be in a non-decreasing order")


def knot_interval(t: Tensor, k: int, at: Tensor) -> Tensor:
    """Return for each point the number of the knot interval that contains it.

    It is in the base interval, and is not empty unless the degree is 0.
    """
    last = t.size - k - 2
    if not k:
        return interval(t, at, k, last)
    knots = t.detach()
    return interval(t, at, k, searchsorted(knots, knots[last + 1], "left") - 1)


def rows(t: Tensor, k: int, at: Tensor, nu: int = 0) -> tuple[Tensor, Tensor]:
    """Return the number of the first basis function that is not zero at each point, and the values
    of these functions or of their derivatives, along the last axis."""
    place = knot_interval(t, k, at)
    return place - k, stack(local_basis(t, k, place, at, nu), axis=-1)


def tensor_spline(
    knots: Sequence[Tensor], c: Tensor, degrees: Sequence[int], at: Sequence[Tensor],
    orders: Sequence[int],
) -> Tensor:  # fmt: skip
    """Return the values, or those of derivatives, of a product of splines along the first axes of
    coefficients, at points that are broadcast."""
    places, bases = [], []
    for t, k, x, order in zip(knots, degrees, at, orders, strict=True):
        place = knot_interval(t, k, x)
        places.append(place - k)
        zero = [x * 0.0] * (k + 1)
        bases.append(local_basis(t, k, place, x, order) if order <= k else zero)
    trailing, y = (1,) * (c.ndim - len(knots)), None
    for corner in product(*[range(k + 1) for k in degrees]):
        weight: Any = 1.0
        for n, basis in zip(corner, bases, strict=True):
            weight = weight * basis[n]
        value = c[tuple([place + n for n, place in zip(corner, places, strict=True)])]
        term = value * weight.reshape(weight.shape + trailing)
        y = term if y is None else y + term
    assert y is not None
    return y
