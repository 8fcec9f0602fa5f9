"""Cubic splines with two continuous derivatives."""

from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....functions.creation.from_data import asarray
from ....functions.linalg.banded import solve_banded
from ....functions.shape.joining import concat, stack
from ....functions.shape.rearranging import roll
from .data import along_first, ascending, beside, floating, known
from .piecewise import CubicHermiteSpline

NAMED = {"clamped": 1, "natural": 2}


class CubicSpline(CubicHermiteSpline):
    """The cubic spline through given points, with the signature of `scipy.interpolate.CubicSpline`.

    Parameters
    ----------
    x : array_like, shape (n,)
        Coordinates, which ascend.
    y : array_like
        Values; the length along `axis` is that of `x`.
    axis : int
    bc_type : str, or pair of str or ``(order, value)``
        What holds at the ends: ``"not-a-knot"``, ``"periodic"``, ``"clamped"``, ``"natural"``; or,
        for each of the ends, one of these or the first or the second derivative, which may be a
        tensor.
    extrapolate : bool or "periodic", optional
        By default periodic where the spline is, else true.

    Attributes
    ----------
    x, c, axis, extrapolate
        See `PPoly`, with whose methods it is evaluated, differentiated and integrated.

    Notes
    -----
    The slopes at the points solve a tridiagonal system, so derivatives of any order, with respect
    to `x`, `y`, the conditions at the ends and the points where it is asked, are those of the
    spline, to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> y = ng.tensor([0.0, 1.0, 4.0, 9.0], requires_grad=True)
    >>> spline = ng.interop.scipy.CubicSpline([0.0, 1.0, 2.0, 3.0], y)
    >>> round(spline(1.5).item(), 12), ng.grad(spline(1.5), y)[0].numpy().round(12)
    (2.25, array([-0.0625,  0.5625,  0.5625, -0.0625]))
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        axis: int = 0,
        bc_type: Any = "not-a-knot",
        extrapolate: Any = None,
    ) -> None:
        x_ = ascending(x, "CubicSpline")
        y_, axis = along_first(y, x_, axis, "CubicSpline")
        ends = _conditions(bc_type, y_)
        y_ = y_.astype(np.result_type(y_.dtype, *[v.dtype for _, v in ends if v is not None]))
        if extrapolate is None and ends[0][0] == "periodic":
            extrapolate = "periodic"
        slopes = _slopes(x_, y_, ends)
        given = [x, y, [value for _, value in ends]] if _gives(bc_type) else [x, y]
        self._hermite(x_, y_, slopes, axis, extrapolate, given)


Condition = tuple[Any, Tensor | None]


def _gives(bc_type: Any) -> bool:
    """Whether one of the conditions has a tensor as its value."""
    pairs = () if isinstance(bc_type, str) else bc_type
    return any(not isinstance(bc, str) and isinstance(bc[1], Tensor) for bc in pairs)


def _conditions(bc_type: Any, y: Tensor) -> list[Condition]:
    """Return the conditions at the ends: a name, or an order and a value."""
    if isinstance(bc_type, str):
        values = known(y) if bc_type == "periodic" else None
        if values is not None and not np.allclose(values[0], values[-1], 1e-15, 1e-15):
            raise ValueError(
                "CubicSpline: the first and the last value must be the same with bc_type='periodic'"
            )
        return [_condition(bc_type, y)] * 2
    if len(bc_type) != 2:
        raise ValueError("CubicSpline: bc_type must have two elements, for the start and the end")
    if any(isinstance(bc, str) and bc == "periodic" for bc in bc_type):
        raise ValueError("CubicSpline: 'periodic' is for both ends; give bc_type='periodic'")
    return [_condition(bc, y) for bc in bc_type]


def _condition(bc: Any, y: Tensor) -> Condition:
    if isinstance(bc, str):
        if bc in ("not-a-knot", "periodic"):
            return bc, None
        if bc not in NAMED:
            raise ValueError(f"CubicSpline: bc_type={bc!r} is not allowed")
        return NAMED[bc], asarray(np.zeros(y.shape[1:]))
    try:
        order, value = bc
    except (TypeError, ValueError):
        raise ValueError(
            f"CubicSpline: a condition is a name or (order, value), got {bc!r:.60}"
        ) from None
    if order not in (1, 2):
        raise ValueError("CubicSpline: the order of a given derivative must be 1 or 2")
    value = floating(value)
    if value.shape != y.shape[1:]:
        raise ValueError(
            f"CubicSpline: the value of a derivative has shape {value.shape}, expected "
            f"{y.shape[1:]}"
        )
    return order, value


def _slopes(x: Tensor, y: Tensor, ends: list[Condition]) -> Tensor:
    """Return the slopes of the spline at its points."""
    step = x[1:] - x[:-1]
    h = beside(step, y)
    mean = (y[1:] - y[:-1]) / h
    names = [name for name, _ in ends]
    if x.size == 2:
        ends = [(1, mean[0]) if value is None else (name, value) for name, value in ends]
        names = [name for name, _ in ends]
    if x.size == 3 and names == ["not-a-knot"] * 2:  # a parabola
        middle = (h[0] * mean[1] + h[1] * mean[0]) / (h[0] + h[1])
        return stack([2.0 * mean[0] - middle, middle, 2.0 * mean[1] - middle])
    if names[0] == "periodic":
        return _periodic(step, h, mean)
    first = _at_end(ends[0], h, mean, -0.5)
    last = _at_end(ends[1], h[::-1], mean[::-1], 0.5)
    inner = 2.0 * (step[:-1] + step[1:])
    zero = np.zeros(1)
    upper = concat([zero, first[1], step[:-1]])
    lower = concat([step[1:], last[1], zero])
    rhs = 3.0 * (h[1:] * mean[:-1] + h[:-1] * mean[1:])
    rhs = concat([first[2][None], rhs, last[2][None]])
    ab = stack([upper, concat([first[0], inner, last[0]]), lower])
    return _solved(ab, rhs)


def _at_end(condition: Condition, h: Tensor, mean: Tensor, sign: float) -> tuple[Any, Any, Tensor]:
    """Return the elements on and beside the diagonal, and the right hand side, of the equation at
    one end; ``h`` and ``mean`` begin at that end."""
    name, value = condition
    if name == "not-a-knot":
        both = h[0] + h[1]
        rhs = ((h[0] + 2.0 * both) * h[1] * mean[0] + h[0] ** 2 * mean[1]) / both
        return h[1].reshape(-1)[:1], both.reshape(-1)[:1], rhs
    assert value is not None
    if name == 1:
        return np.ones(1), np.zeros(1), value
    near = h[0].reshape(-1)[:1]
    return 2.0 * near, near, 3.0 * h[0] * mean[0] + sign * value * h[0] ** 2


def _periodic(step: Tensor, h: Tensor, mean: Tensor) -> Tensor:
    """Return the slopes of a periodic spline.

    All unknowns but the last one are linear functions of the last one, which the last equation
    determines.
    """
    if step.size == 2:
        slope = (mean / h).sum(0) / (1.0 / h).sum(0)
        return stack([slope] * 3)
    before = roll(step, 1)
    diagonal = 2.0 * (before + step)
    rhs = 3.0 * (h * roll(mean, 1, axis=0) + roll(h, 1, axis=0) * mean)
    zero = np.zeros(1)
    upper, lower = concat([zero, before[:-2]]), concat([step[1:-1], zero])
    ab = stack([upper, diagonal[:-1], lower])
    of_last = np.zeros((step.size - 3,))
    of_last = concat([-step[:1], of_last, zero]) - concat([zero, of_last, before[-2:-1]])
    known_part, factor = _solved(ab, rhs[:-1]), _solved(ab, of_last)
    top = rhs[-1] - before[-1] * known_part[0] - step[-1] * known_part[-1]
    last = top / (diagonal[-1] + before[-1] * factor[0] + step[-1] * factor[-1])
    slopes = known_part + beside(factor, known_part) * last
    return concat([slopes, last[None], slopes[:1]])


def _solved(ab: Tensor, rhs: Tensor) -> Tensor:
    return solve_banded((1, 1), ab, rhs.reshape(rhs.shape[0], -1)).reshape(rhs.shape)
