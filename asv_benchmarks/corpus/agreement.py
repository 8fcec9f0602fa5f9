"""Whether results agree: of one way with NumPy and finite differences, and of all with one."""

from collections.abc import Sequence

import numpy as np

from .libraries.numpy import value
from .program import GRADIENT, HESSIAN, JACOBIAN, Problem

STEP = {GRADIENT: 1e-6, JACOBIAN: 1e-6}  # of first differences; second ones take a larger one
SECOND_STEP = 1e-4

Arrays = Sequence[np.ndarray]


def difference(found: Arrays, expected: Arrays) -> float:
    """Return the largest difference relative to each expected array's largest entry."""
    if len(found) != len(expected):
        return float("inf")
    return max((_relative(f, e) for f, e in zip(found, expected, strict=True)), default=0.0)


def _relative(found: np.ndarray, expected: np.ndarray) -> float:
    if found.shape != expected.shape or not np.isfinite(found).all():
        return float("inf")
    scale = np.abs(expected).max(initial=0.0) or 1.0
    return float(np.abs(found - expected).max(initial=0.0) / scale)


def projected(problem: Problem, derivatives: Arrays) -> np.ndarray:
    """Return what derivatives say about a step in the problem's random directions."""
    directions = problem.directions
    if problem.program.derivative == HESSIAN:
        (v,), (h,) = directions, derivatives
        return np.asarray(v.ravel() @ h.reshape(v.size, v.size) @ v.ravel())
    axes = [tuple(range(-v.ndim, 0)) for v in directions]
    pairs = zip(derivatives, directions, axes, strict=True)
    return np.asarray(sum(np.sum(d * v, axis=axis) for d, v, axis in pairs))


def differences(problem: Problem, k: int = 0) -> np.ndarray:
    """Return the same by differences of NumPy's values."""
    kind = problem.program.derivative
    step = STEP.get(kind, SECOND_STEP)

    def moved(distance: float) -> np.ndarray:
        pairs = zip(problem.variables, problem.directions, strict=True)
        return value(problem, [x + distance * v for x, v in pairs], k)

    if kind in STEP:
        slope = (moved(step) - moved(-step)) / (2 * step)
        return slope if kind == GRADIENT else np.tensordot(_rows(problem), slope, slope.ndim)
    return (moved(step) - 2 * moved(0.0) + moved(-step)) / step**2


def _rows(problem: Problem) -> np.ndarray:
    return problem.rows(value(problem).shape)
