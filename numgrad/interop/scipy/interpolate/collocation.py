"""Splines of any degree through given points."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....functions.array.argument_checks import integer
from ....functions.creation.constants import zeros
from ....functions.creation.from_data import asarray
from ....functions.linalg.banded import solve_banded
from ....functions.linalg.systems import solve
from ....functions.shape.joining import concat
from .basis import BSpline, local_basis, require_sorted, rows
from .data import along_first, ascending, floating, known, real

WHAT = "make_interp_spline"
NAMED = {"clamped": 1, "natural": 2}


def make_interp_spline(
    x: Any,
    y: Any,
    k: int = 3,
    t: Any = None,
    bc_type: Any = None,
    axis: int = 0,
    check_finite: bool = True,
) -> BSpline:
    """Return the spline of a degree through given points.

    It has the signature of `scipy.interpolate.make_interp_spline`.

    Parameters
    ----------
    x : array_like, shape (n,)
        Coordinates, which ascend.
    y : array_like
        Values; the length along `axis` is that of `x`.
    k : int
        The degree.
    t : array_like, optional
        Knots.
    bc_type : None, str, or pair of str or list of ``(order, value)``
        What holds at the ends: ``"not-a-knot"`` (or None), ``"periodic"``, ``"clamped"``,
        ``"natural"``, or derivatives.
    axis : int
    check_finite
        For SciPy's sake: what is not finite is refused in any case.

    Returns
    -------
    BSpline

    Notes
    -----
    The coefficients solve a banded system, so derivatives of any order, with respect to `x`, `y`,
    `t`, the derivatives at the ends and the points where the spline is asked, are those of the
    spline, to rounding.

    Examples
    --------
    >>> import numgrad as ng
    >>> y = ng.tensor([0.0, 1.0, 4.0, 9.0, 16.0], requires_grad=True)
    >>> spline = ng.interop.scipy.make_interp_spline([0.0, 1.0, 2.0, 3.0, 4.0], y, k=2)
    >>> round(spline(1.25).item(), 12), round(spline(1.25, 1).item(), 12)
    (1.5625, 2.5)
    """
    k = integer(k, "k")
    if k < 0:
        raise ValueError(f"{WHAT}: the degree k cannot be negative")
    x_ = ascending(x, WHAT, 1)
    y_, axis = along_first(y, x_, axis, WHAT)
    is_periodic = isinstance(bc_type, str) and bc_type == "periodic"
    left, right = _ends(bc_type, y_)
    given = [x, y, t, [value for _, value in (*left, *right)] if _gives(bc_type) else None]
    if k < 2 and t is None and not is_periodic:
        if left or right:
            raise ValueError(f"{WHAT}: with k={k} bc_type can only be None")
        knots = concat([x_, x_[-1:]] if k == 0 else [x_[:1], x_, x_[-1:]])
        return BSpline.made(knots, y_, k, True, axis, given)
    if is_periodic:
        return _periodic(x_, y_, k, t, axis, given)
    knots = real(t, WHAT, "t") if t is not None else _knots(x_, k, bool(left or right))
    _require_fitting(knots, x_, k, len(left) + len(right))
    ab = _matrix(knots, x_, k, left, right)
    values = [value[None].astype(y_.dtype, copy=False) for _, value in left]
    after = [value[None].astype(y_.dtype, copy=False) for _, value in right]
    rhs = concat([*values, y_, *after])
    flat = solve_banded((k, k), ab, rhs.reshape(rhs.shape[0], -1))
    return BSpline.made(knots, flat.reshape(rhs.shape), k, True, axis, given)


Condition = tuple[int, Tensor]


def _gives(bc_type: Any) -> bool:
    """Whether one of the conditions has a tensor as its value."""
    sides = () if bc_type is None or isinstance(bc_type, str) else bc_type
    pairs = [pair for side in sides if side and not isinstance(side, str) for pair in side]
    return any(isinstance(value, Tensor) for _, value in pairs)


def _ends(bc_type: Any, y: Tensor) -> tuple[list[Condition], list[Condition]]:
    """Return the given derivatives at both ends."""
    if bc_type is None or (isinstance(bc_type, str) and bc_type in ("not-a-knot", "periodic")):
        return [], []
    try:
        left, right = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
    except (TypeError, ValueError):
        raise ValueError(f"{WHAT}: unknown boundary condition {bc_type!r:.60}") from None
    return _conditions(left, y), _conditions(right, y)


def _conditions(side: Any, y: Tensor) -> list[Condition]:
    if side is None or (isinstance(side, str) and side == "not-a-knot"):
        return []
    if isinstance(side, str):
        if side not in NAMED:
            raise ValueError(f"{WHAT}: unknown boundary condition {side!r}")
        return [(NAMED[side], asarray(np.zeros(y.shape[1:])))]
    try:
        found = [(integer(order, "bc_type"), floating(value)) for order, value in side]
    except (TypeError, ValueError):
        raise ValueError(
            f"{WHAT}: derivatives at an end are a list of pairs (order, value), got {side!r:.60}"
        ) from None
    for _, value in found:
        if value.shape != y.shape[1:]:
            raise ValueError(
                f"{WHAT}: the value of a derivative has shape {value.shape}, expected {y.shape[1:]}"
            )
    return found


def _knots(x: Tensor, k: int, is_bound: bool) -> Tensor:
    """Return knots at the points, for even degrees between the points.

    Points next to an end without conditions are no knots.
    """
    if is_bound:
        return concat([*[x[:1]] * k, x, *[x[-1:]] * k])
    if k % 2:
        inner = x[(k + 1) // 2 : x.size - (k + 1) // 2]
    else:
        middle = 0.5 * (x[1:] + x[:-1])
        inner = middle[k // 2 : middle.size - k // 2]
    return concat([*[x[:1]] * (k + 1), inner, *[x[-1:]] * (k + 1)])


def _require_fitting(t: Tensor, x: Tensor, k: int, count: int) -> None:
    if t.ndim != 1 or t.size < x.size + k + 1:
        raise ValueError(f"{WHAT}: got {t.size} knots, need at least {x.size + k + 1}")
    require_sorted(t, WHAT)
    missing = t.size - k - 1 - x.size
    if missing != count:
        raise ValueError(f"{WHAT}: {missing} derivatives at the ends are needed, {count} are given")
    points, knots = known(x), known(t)
    if points is None or knots is None:
        return
    if points[0] < knots[k] or points[-1] > knots[-k - 1]:
        raise ValueError(f"{WHAT}: there are points outside of the knots")


def _matrix(
    t: Tensor, x: Tensor, k: int, left: Sequence[Condition], right: Sequence[Condition]
) -> Tensor:
    """Return the values of the basis at points, and the given derivatives of it, as a banded
    matrix."""
    first, values = rows(t, k, x)
    firsts, parts = [first], [values]
    for side, end in ((left, 0), (right, x.size - 1)):
        at = x[end : end + 1]
        found = [rows(t, k, at, order) for order, _ in side]
        where = 0 if end == 0 and side is left else len(parts)
        firsts[where:where] = [place for place, _ in found]
        parts[where:where] = [part for _, part in found]
    n = t.size - k - 1
    columns = concat(firsts)[:, None] + np.arange(k + 1)
    lines = k + np.arange(n)[:, None] - columns
    is_inside = (lines >= 0) & (lines <= 2 * k)
    ab = zeros((2 * k + 1, n), dtype=np.float64)
    ab[lines.clip(0, 2 * k), columns] += concat(parts) * is_inside
    return ab


def _periodic(x: Tensor, y: Tensor, k: int, t: Any, axis: int, given: Any) -> BSpline:
    """Return the spline whose derivatives are the same at both ends."""
    if t is not None:
        raise NotImplementedError(f"{WHAT}: knots of a periodic spline are chosen, leave t out")
    ends = known(y[:: x.size - 1])
    if ends is not None and not np.allclose(ends[0], ends[1], atol=1e-15):
        raise ValueError(f"{WHAT}: the first and the last value of a periodic spline are the same")
    knots = _periodic_knots(x, k)
    n = knots.size - k - 1
    matrix = zeros((n, n), dtype=np.float64)
    first, values = rows(knots, k, x)
    lines = np.arange(k - 1, n)[:, None]
    matrix[lines, first[:, None] + np.arange(k + 1)] += values
    for order in range(1, k):
        for end, sign in ((0, 1.0), (x.size - 1, -1.0)):
            place, values = rows(knots, k, x[end : end + 1], order)
            matrix[order - 1, place + np.arange(k + 1)] += sign * values[0]
    rhs = concat([zeros((k - 1, *y.shape[1:]), dtype=y.dtype), y])
    flat = solve(matrix.astype(y.dtype, copy=False), rhs.reshape(n, -1))
    return BSpline.made(knots, flat.reshape(rhs.shape), k, "periodic", axis, given)


def _periodic_knots(x: Tensor, k: int) -> Tensor:
    """Return knots at the points, for even degrees between them, continued beyond both ends."""
    if k % 2 == 0:
        step = x[1:] - x[:-1]
        x = concat([x[:1], x[1:-1] - 0.5 * step[:-1], x[-1:]])
    step, count = x[1:] - x[:-1], x.size - 1
    before, after = [x[:1]], [x[-1:]]
    for n in range(k):
        before.append(before[-1] - step[count - 1 - n % count][None])
        after.append(after[-1] + step[n % count][None])
    return concat([*before[:0:-1], x, *after[1:]])


__all__ = ["local_basis", "make_interp_spline"]
