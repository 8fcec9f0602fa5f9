"""Linear adjoint equations by collocation: many steps at once, and smaller ones where needed.

The adjoint of an initial value problem is linear, and its matrix is known at all times beforehand.
So the effect of a step of an implicit Runge-Kutta method on *any* cotangent is one system of
equations, and the systems of all steps are solved together; the rest, a product with a small matrix
for each step, is done one after the other. The method is that of Radau (IIA, five stages, order
nine), which damps stiff components. A step is divided until the error of its polynomial, measured
by the equation at its beginning, is within tolerance.
"""

import functools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.polynomial import legendre

from ...._errors import ConvergenceError
from .trajectory import Trajectory

STAGES = 5
FIRST = (STAGES + 1) * (STAGES + 2.0)  # the slope at 0 of the first polynomial that is left out
TINY = np.finfo(float).tiny
KEPT = 1 << 22  # the most numbers of steps that are kept at a time
GRADED = np.array([1.0, 1.0 / 4.0, 1.0 / 16.0, 1.0 / 64.0, 0.0])  # towards a fast decay


class Tableau(NamedTuple):
    """A method of collocation on an interval of length one: its nodes and its matrix (Butcher's).

    ``series`` and ``slope`` map the values of a polynomial, at 0 and at the nodes, to its Legendre
    coefficients and to its slope at 0.
    """

    nodes: np.ndarray
    matrix: np.ndarray
    series: np.ndarray
    slope: np.ndarray


@functools.cache
def radau() -> Tableau:
    """Return the method of Radau that ends at its last node."""
    s = STAGES
    nodes = np.sort(legendre.legroots([0.0] * (s - 1) + [-1.0, 1.0]).real)
    nodes[-1] = 1.0
    values = legendre.legvander(nodes, s - 1)
    integrals = [legendre.legint(unit, lbnd=-1.0, scl=0.5) for unit in np.eye(s)]
    areas = np.array([legendre.legval(nodes, c) for c in integrals]).T
    series = np.linalg.inv(legendre.legvander(np.array([-1.0, *nodes]), s))
    k = np.arange(s + 1)
    slope = -((-1.0) ** k) * k * (k + 1) @ series
    return Tableau((nodes + 1.0) / 2.0, areas @ np.linalg.inv(values), series, slope)


class Steps(NamedTuple):
    """Consecutive steps, from the last time to the first.

    ``begin`` and ``end`` are their times, ``stages`` the matrices from the cotangent at the
    beginning to those at the nodes, and ``filters`` the matrices from the residual of the equation
    at the beginning to an error.
    """

    begin: np.ndarray
    end: np.ndarray
    stages: np.ndarray
    filters: np.ndarray

    @classmethod
    def solved(cls, trajectory: Trajectory, begin: np.ndarray, end: np.ndarray) -> "Steps":
        """Return steps between given times."""
        times = np.concatenate([begin[:, None], times_of(begin, end)], axis=1)
        jacobians = trajectory.jacobians(times.ravel())
        count, n = begin.size, jacobians.shape[-1]
        scaled = (begin - end)[:, None, None, None] * jacobians.reshape(count, -1, n, n)
        scaled = scaled.transpose(0, 1, 3, 2)  # of the adjoint
        stages = np.empty((count, STAGES, n, n))
        some = max(1, KEPT // (STAGES * n) ** 2)
        for k in range(0, count, some):
            stages[k : k + some] = _stages(scaled[k : k + some, 1:])
        filters = _inverse(FIRST * np.eye(n) - scaled[:, 0])
        return cls(begin, end, stages, filters)


def times_of(begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the times of the nodes of steps, a row for each step."""
    times = begin[:, None] - (begin - end)[:, None] * radau().nodes
    times[:, -1] = end
    return times


def _stages(scaled: np.ndarray) -> np.ndarray:
    """Return the matrices from the beginning of steps to their nodes, given the matrices of the
    adjoint at the nodes times the lengths of the steps."""
    count, s, n, _ = scaled.shape
    system = -radau().matrix[:, None, :, None] * scaled.transpose(0, 2, 1, 3)[:, None]
    system = system.reshape(count, s * n, s * n)
    system[:, np.arange(s * n), np.arange(s * n)] += 1.0
    right = np.broadcast_to(np.tile(np.eye(n), (s, 1)), (count, s * n, n))
    return _solved(system, right).reshape(count, s, n, n)


def _inverse(matrices: np.ndarray) -> np.ndarray:
    return _solved(matrices, np.broadcast_to(np.eye(matrices.shape[-1]), matrices.shape))


def _solved(systems: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the solutions of systems; NaN for a singular system, which a shorter step avoids."""
    try:
        return np.linalg.solve(systems, right)
    except np.linalg.LinAlgError:
        if len(systems) == 1:
            return np.full(right.shape, np.nan)
        return np.concatenate(
            [_solved(systems[k : k + 1], right[k : k + 1]) for k in range(len(systems))]
        )


class Passed(NamedTuple):
    """Cotangents carried through steps: at the beginning of each step, at its nodes, and after the
    last step.

    All have an axis for elements and one for rows at the end.
    """

    begin: np.ndarray
    nodes: np.ndarray
    after: np.ndarray


def passed(steps: Steps, w: np.ndarray, added: dict[float, np.ndarray]) -> Passed:
    """Carry cotangents through steps; ``added`` has further ones by their times."""
    begin = np.empty((steps.begin.size, *w.shape))
    for k, (t, matrix) in enumerate(zip(steps.begin.tolist(), steps.stages[:, -1], strict=True)):
        if t in added:
            w = w + added[t]
        begin[k] = w
        w = matrix @ w
    return Passed(begin, steps.stages @ begin[:, None], w)


def errors(steps: Steps, found: Passed, rtol: np.ndarray, atol: np.ndarray) -> np.ndarray:
    """Return an estimate of the error of each step, in units of the tolerance.

    It is the first coefficient that the polynomial does not have. One estimate continues the last
    coefficients as they fall; the other is the correction of the equation at the beginning, which
    is no node. The larger one counts.
    """
    values = np.concatenate([found.begin[:, None], found.nodes], axis=1)
    largest = np.maximum(np.abs(found.begin), np.abs(found.nodes[:, -1]))
    scale = np.maximum(atol[:, None] + rtol[:, None] * largest, TINY)
    rest = np.einsum("s,ksnr->knr", radau().slope, values) - FIRST * found.begin
    rest = found.begin + steps.filters @ rest
    last = np.einsum("cs,ksnr->cknr", radau().series[-3:], values)
    missed, before, this, after = np.sqrt(np.mean((np.stack([rest, *last]) / scale) ** 2, axis=2))
    ratio = np.maximum(this / np.maximum(before, TINY), after / np.maximum(this, TINY))
    error = np.maximum(missed, after * np.minimum(ratio, 1.0)).max(axis=1, initial=0.0)
    is_reached = np.isfinite(found.begin).all(axis=(1, 2))  # False after a step that has failed
    return np.where(is_reached, np.nan_to_num(error, nan=np.inf), 0.0)


def divided(steps: Steps, error: np.ndarray, trajectory: Trajectory) -> Steps:
    """Return the steps; a step whose error is above one is replaced by shorter steps."""
    is_kept = error <= 1.0
    begin, end = [], []
    for a, b, e in zip(steps.begin[~is_kept], steps.end[~is_kept], error[~is_kept], strict=True):
        if abs(a - b) <= 16.0 * np.spacing(max(abs(a), abs(b))):
            raise ConvergenceError(
                f"solve_ivp: the adjoint was not integrated: its steps at t = {a:.6g} are as small "
                f"as the spacing of numbers; give it larger tolerances, adjoint_rtol= and "
                f"adjoint_atol="
            )
        parts = np.ceil(1.1 * e ** (1.0 / (STAGES + 1))) if np.isfinite(e) else np.inf
        cuts = np.linspace(1.0, 0.0, max(int(parts), 2) + 1) if parts <= 4 else GRADED
        cuts = a - (a - b) * cuts[::-1]
        cuts[0], cuts[-1] = a, b
        begin.extend(cuts[:-1])
        end.extend(cuts[1:])
    new = Steps.solved(trajectory, np.array(begin), np.array(end))
    old = [part[is_kept] for part in steps]
    joined = [np.concatenate(pair) for pair in zip(old, new, strict=True)]
    order = np.argsort((steps.end[0] - steps.begin[0]) * joined[0], kind="stable")
    return Steps(*[part[order] for part in joined])


def carried(
    trajectory: Trajectory, grid: np.ndarray, w: np.ndarray, added: dict[float, np.ndarray],
    rtol: np.ndarray, atol: np.ndarray,
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:  # fmt: skip
    """Carry cotangents from the first time of a grid to its last one, window by window.

    Yields
    ------
    times, weighted, w
        For each window the times of all nodes, the cotangents there times the weights of the
        integral (rows, times, elements), and the cotangents at its end.
    """
    count = max(16, KEPT // (8 * STAGES * w.shape[0] * (w.shape[0] + w.shape[1])))
    for start in range(0, grid.size - 1, count):
        window = grid[start : start + count + 1]
        steps = Steps.solved(trajectory, window[:-1], window[1:])
        found = passed(steps, w, added)
        while (error := errors(steps, found, rtol, atol)).max(initial=0.0) > 1.0:
            steps = divided(steps, error, trajectory)
            found = passed(steps, w, added)
        weights = (steps.begin - steps.end)[:, None] * radau().matrix[-1]
        weighted = weights[:, :, None, None] * found.nodes
        w = found.after
        yield (
            times_of(steps.begin, steps.end).ravel(),
            np.ascontiguousarray(weighted.reshape(-1, *w.shape).transpose(2, 0, 1)),
            w,
        )
