"""Piecewise polynomials."""

import math
from typing import Any, Self

import numpy as np

from ...._tensor import Tensor
from ....functions.array.operands import as_tensor
from ....functions.elementwise.rounding import floor
from ....functions.reduction.cumulative import cumsum
from ....functions.shape.joining import concat, stack
from ....functions.shape.reshaping import moveaxis
from .data import (
    along_first,
    answer,
    ascending,
    beside,
    floating,
    interval,
    real,
    to_axis,
    within,
)


class PPoly:
    """A piecewise polynomial, with the signature of `scipy.interpolate.PPoly`.

    Parameters
    ----------
    c : array_like, shape (k, m, ...)
        Coefficients, those of the highest power first.
    x : array_like, shape (m + 1,)
        Breakpoints, which ascend.
    extrapolate : bool or "periodic"
        Whether the first and the last polynomial hold beyond the ends; else there is NaN.
    axis : int
        The axis of interpolation.

    Attributes
    ----------
    c, x, axis, extrapolate

    Notes
    -----
    It is differentiable with respect to coefficients, breakpoints and the points where it is asked.
    Results are tensors where any of these is, else arrays. At a breakpoint derivatives are those of
    the polynomial to its right, at the last one those to its left.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> parabola = ng.interop.scipy.PPoly(np.array([[1.0], [0.0], [2.0]]), np.array([0.0, 1.0]))
    >>> t = ng.tensor(0.5, requires_grad=True)
    >>> parabola(t).item(), ng.grad(parabola(t), t)[0].item(), parabola.integrate(0.0, 1.0).item()
    (2.25, 1.0, 2.3333333333333335)
    """

    def __init__(self, c: Any, x: Any, extrapolate: Any = None, axis: int = 0) -> None:
        c_, x_ = floating(c), ascending(x, "PPoly")
        if c_.ndim < 2 or not 0 <= axis < c_.ndim - 1 or c_.shape[axis + 1] != x_.size - 1:
            raise ValueError(f"PPoly: shapes {c_.shape} of c and {x_.shape} of x do not fit")
        c_ = moveaxis(moveaxis(c_, axis + 1, 0), axis + 1, 0)
        self._settle(c_, x_, True if extrapolate is None else extrapolate, axis, [c, x])

    def _settle(self, c: Tensor, x: Tensor, extrapolate: Any, axis: int, given: Any) -> None:
        self._c, self._x, self.axis = c, x, axis
        self.extrapolate = extrapolate if extrapolate == "periodic" else bool(extrapolate)
        self._given = given

    def _made(self, c: Tensor, extrapolate: Any) -> "PPoly":
        new = object.__new__(PPoly)
        new._settle(c, self._x, extrapolate, self.axis, self._given)
        return new

    @property
    def c(self) -> Any:
        """The coefficients; the first axis is that of the powers, the second that of the intervals.
        """
        return answer(self._c, *self._given)

    @property
    def x(self) -> Any:
        """The breakpoints."""
        return answer(self._x, *self._given)

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        """Return values, or those of a derivative, at points of any shape."""
        if nu < 0:
            raise ValueError("order of derivative cannot be negative")
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        at = real(x, type(self).__name__, "x")
        breaks = self._x
        if extrapolate == "periodic":
            at = breaks[0] + (at - breaks[0]) % (breaks[-1] - breaks[0])
        where_ = interval(breaks, at, 0, breaks.size - 2)
        y = self._horner(self._c[:, where_], at - breaks[where_], nu)
        y = within(y, at, (breaks[0], breaks[-1]) if extrapolate is False else None)
        return answer(to_axis(y, self.axis, at.ndim), x, *self._given)

    def _horner(self, c: Tensor, step: Tensor, nu: int) -> Tensor:
        """Return the values of polynomials at steps from their breakpoints."""
        step = step.reshape(step.shape + (1,) * (c.ndim - 1 - step.ndim))
        degree = c.shape[0] - 1
        y: Any = c[0] * 0.0 if degree < nu else None
        for n in range(degree - nu + 1):
            term = c[n] * float(math.perm(degree - n, nu)) if nu else c[n]
            y = term if y is None else y * step + term
        return y

    def derivative(self, nu: int = 1) -> "PPoly":
        """Return the derivative, a piecewise polynomial."""
        if nu < 0:
            return self.antiderivative(-nu)
        degree = self._c.shape[0] - 1
        rows = [self._c[n] * float(math.perm(degree - n, nu)) for n in range(degree - nu + 1)]
        return self._made(stack(rows) if rows else self._c[:1] * 0.0, self.extrapolate)

    def antiderivative(self, nu: int = 1) -> "PPoly":
        """Return the integral from the first breakpoint, a piecewise polynomial."""
        if nu < 0:
            return self.derivative(-nu)
        c = self._c
        for _ in range(nu):
            powers = np.arange(c.shape[0], 0, -1.0).reshape(-1, *[1] * (c.ndim - 1))
            c = concat([c / powers, c[:1] * 0.0])
            step = self._x[1:] - self._x[:-1]
            sums = cumsum(self._horner(c, step, 0)[:-1], axis=0)
            c = concat([c[:-1], concat([c[-1:, :1], sums[None]], axis=1)])
        extrapolate = False if nu and self.extrapolate == "periodic" else self.extrapolate
        return self._made(c, extrapolate)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """Return the integral between two points."""
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        whole, at = self.antiderivative(), [as_tensor(end).astype(float) for end in (a, b)]
        if extrapolate != "periodic":
            low, high = (as_tensor(whole(end, extrapolate=extrapolate)) for end in at)
            return answer(high - low, a, b, *self._given)
        first, period = self._x[0], self._x[-1] - self._x[0]
        turns = [floor((end - first) / period) for end in at]
        over = as_tensor(whole(self._x[-1], extrapolate=True))
        low, high = (
            n.detach() * over + as_tensor(whole(end - n.detach() * period, extrapolate=True))
            for n, end in zip(turns, at, strict=True)
        )
        return answer(high - low, a, b, *self._given)


class CubicHermiteSpline(PPoly):
    """The piecewise cubic with given values and slopes.

    It has the signature of `scipy.interpolate.CubicHermiteSpline`, and is a `PPoly`.

    Parameters
    ----------
    x : array_like, shape (n,)
        Coordinates, which ascend.
    y, dydx : array_like
        Values and slopes; the length along `axis` is that of `x`.
    axis : int
    extrapolate : bool or "periodic", optional

    Examples
    --------
    >>> import numgrad as ng
    >>> slope = ng.tensor([0.0, 3.0], requires_grad=True)
    >>> y = ng.interop.scipy.CubicHermiteSpline([0.0, 1.0], [0.0, 1.0], slope)(0.5)
    >>> y.item(), ng.grad(y, slope)[0].tolist()
    (0.125, [0.125, -0.125])
    """

    def __init__(self, x: Any, y: Any, dydx: Any, axis: int = 0, extrapolate: Any = None) -> None:
        what = type(self).__name__
        x_ = ascending(x, what)
        (y_, axis), (slopes, _) = (
            along_first(values, x_, axis, what, name) for values, name in ((y, "y"), (dydx, "dydx"))
        )
        if y_.shape != slopes.shape:
            raise ValueError(f"{what}: the shapes of y and dydx must be identical")
        self._hermite(x_, y_, slopes, axis, extrapolate, [x, y, dydx])

    def _hermite(
        self, x: Tensor, y: Tensor, slopes: Tensor, axis: int, extrapolate: Any, given: Any
    ) -> Self:
        step = beside(x[1:] - x[:-1], y)
        mean = (y[1:] - y[:-1]) / step
        bend = (slopes[:-1] + slopes[1:] - 2.0 * mean) / step
        c = stack([bend / step, (mean - slopes[:-1]) / step - bend, slopes[:-1], y[:-1]])
        self._settle(c, x, True if extrapolate is None else extrapolate, axis, given)
        return self
