"""Integrals of functions with known values at points."""

from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....functions.array.operands import as_tensor
from ....functions.reduction.cumulative import cumsum
from ....functions.reduction.reduction import sum as _sum
from ....functions.shape.joining import concat
from ....functions.shape.reshaping import moveaxis
from ....functions.shape.selection import where
from ..interpolate.data import answer, floating


def _given(y: Any, x: Any, dx: Any, axis: int, what: str) -> tuple[Tensor, Tensor]:
    """Return values and lengths of steps along the last axis, after checking that they fit."""
    y_ = moveaxis(floating(y), axis, -1)
    if not y_.shape[-1]:
        raise ValueError(f"{what}: at least one point is required along axis {axis}")
    if x is None:
        step = as_tensor(dx)
        step = step if step.ndim == 0 else moveaxis(step, axis, -1)
        return y_, step + np.zeros(y_.shape[-1] - 1)
    x_ = floating(x)
    x_ = x_ if x_.ndim == 1 else moveaxis(x_, axis, -1)
    if x_.shape[-1] != y_.shape[-1]:
        raise ValueError(f"{what}: shapes {y_.shape} of y and {x_.shape} of x do not fit")
    return y_, x_[..., 1:] - x_[..., :-1]


def cumulative_trapezoid(
    y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None
) -> Any:
    """Integrate cumulatively by the trapezoidal rule.

    It has the signature of `scipy.integrate.cumulative_trapezoid`.

    Parameters
    ----------
    y : array_like
        Values.
    x : array_like, optional
        Points; a vector, or of the shape of `y`.
    dx : array_like
        Without `x`, the length of a step.
    axis : int
    initial : 0, optional
        With it the result begins with 0, and is as long as `y`.

    Examples
    --------
    >>> import numgrad as ng
    >>> y = ng.tensor([0.0, 1.0, 4.0], requires_grad=True)
    >>> ng.interop.scipy.cumulative_trapezoid(y, initial=0).tolist()
    [0.0, 0.5, 3.0]
    """
    values, step = _given(y, x, dx, axis, "cumulative_trapezoid")
    parts = cumsum(0.5 * step * (values[..., 1:] + values[..., :-1]), axis=-1)
    if initial is not None:
        if np.ndim(initial) or initial != 0:
            raise ValueError("cumulative_trapezoid: initial must be None or 0")
        parts = concat([values[..., :1] * 0.0, parts], axis=-1)
    return answer(moveaxis(parts, -1, axis), y, x, dx)


def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: int = -1) -> Any:
    """Integrate by Simpson's rule, with the signature of `scipy.integrate.simpson`.

    Parameters
    ----------
    y : array_like
        Values.
    x : array_like, optional
        Points; a vector, or of the shape of `y`.
    dx : array_like
        Without `x`, the length of a step.
    axis : int

    Notes
    -----
    With an even number of points the last step is that of the parabola through the last three, as
    in SciPy.

    Examples
    --------
    >>> import numgrad as ng
    >>> y = ng.tensor([0.0, 1.0, 4.0], requires_grad=True)
    >>> integral = ng.interop.scipy.simpson(y)
    >>> round(integral.item(), 12), ng.grad(integral, y)[0].numpy().round(3)
    (2.666666666667, array([0.333, 1.333, 0.333]))
    """
    values, step = _given(y, x, dx, axis, "simpson")
    count = values.shape[-1]
    if count == 2:
        return answer(_sum(0.5 * step * (values[..., 1:] + values[..., :-1]), axis=-1), y, x, dx)
    whole = _pairs(values[..., : count - 1 + count % 2], step[..., : count - 2 + count % 2])
    if count % 2 == 0:
        whole = whole + _last_step(values, step)
    return answer(whole, y, x, dx)


def _pairs(y: Tensor, step: Tensor) -> Tensor:
    """Return the integral of parabolas over pairs of steps."""
    h0, h1 = step[..., ::2], step[..., 1::2]
    y0, y1, y2 = y[..., :-2:2], y[..., 1::2], y[..., 2::2]
    both = h0 + h1
    first, last = 2.0 - _ratio(h1, h0), 2.0 - _ratio(h0, h1)
    parts = both / 6.0 * (y0 * first + y1 * _ratio(both * both, h0 * h1) + y2 * last)
    return _sum(parts, axis=-1)


def _last_step(y: Tensor, step: Tensor) -> Tensor:
    """Return the integral over the last step, by the parabola through the last three points."""
    h0, h1 = step[..., -2], step[..., -1]
    last = _ratio(2.0 * h1**2 + 3.0 * h0 * h1, 6.0 * (h0 + h1))
    middle = _ratio(h1**2 + 3.0 * h0 * h1, 6.0 * h0)
    first = _ratio(h1**3, 6.0 * h0 * (h0 + h1))
    return last * y[..., -1] + middle * y[..., -2] - first * y[..., -3]


def _ratio(top: Tensor, bottom: Tensor) -> Tensor:
    """Return a ratio, 0 where two points are the same, as in SciPy."""
    return where(bottom == 0, 0.0, top / where(bottom == 0, 1.0, bottom))


def romb(y: Any, dx: Any = 1.0, axis: int = -1, show: bool = False) -> Any:
    """Integrate by Romberg's rule, as `scipy.integrate.romb` does.

    Parameters
    ----------
    y : array_like
        Values at ``2**k + 1`` points of equal distance.
    dx : array_like
        The distance.
    axis : int
    show
        For SciPy's sake: nothing is printed.

    Examples
    --------
    >>> import numgrad as ng
    >>> y = ng.tensor([0.0, 1.0, 4.0], requires_grad=True)
    >>> integral = ng.interop.scipy.romb(y)
    >>> round(integral.item(), 12), ng.grad(integral, y)[0].numpy().round(3)
    (2.666666666667, array([0.333, 1.333, 0.333]))
    """
    values = moveaxis(floating(y), axis, -1)
    steps = values.shape[-1] - 1
    if steps < 1 or steps & (steps - 1):
        raise ValueError(f"romb: y must have 2**k + 1 values along axis {axis}, got {steps + 1}")
    h = as_tensor(dx) * float(steps)
    rows = [h * 0.5 * (values[..., 0] + values[..., -1])]
    for level in range(steps.bit_length() - 1):
        step = steps >> level
        inner = _sum(values[..., step // 2 :: step], axis=-1)
        h = 0.5 * h
        row = [0.5 * rows[0] + h * inner]
        for k, before in enumerate(rows):
            row.append(row[-1] + (row[-1] - before) / (4.0 ** (k + 1) - 1.0))
        rows = row
    return answer(rows[-1], y, dx)
