"""One step of a method, as a function of tensors."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..functions.elementwise.arithmetic import abs as absolute
from ..functions.linalg.systems import solve
from ..functions.reduction.reduction import sum as total
from ..functions.shape.selection import where
from .elimination import MOST, Eliminated
from .slopes import Slope
from .tableaux import Explicit, Rosenbrock

Step = Callable[..., tuple[Any, Any]]
"""``step(y, t, h, *params)`` returns the next state and an estimate of its error, or None."""

_SOLVED = 1e-10  # the last change of a state, of its size, whose own error is the square of it
_ROUNDS = 6  # of Newton's method, whose error is squared in each


def explicit(tableau: Explicit, slope: Slope) -> Step:
    """Return the step of an explicit Runge-Kutta method."""

    def step(y: Any, t: Any, h: Any, *params: Any) -> tuple[Any, Any]:
        stages: list[Any] = []
        for row, node in zip(tableau.matrix, tableau.nodes, strict=True):
            stages.append(slope(_plus(y, h, row, stages), t + node * h, *params))
        following = _plus(y, h, tableau.weights, stages)
        if tableau.errors is None:
            return following, None
        if len(tableau.errors) > len(stages):
            stages.append(slope(following, t + h, *params))
        return following, h * _weighed(tableau.errors, stages)

    return step


def rosenbrock(tableau: Rosenbrock, slope: Slope) -> Step:
    """Return the step of a Rosenbrock method: a system of equations for each stage, all with one
    matrix."""

    def step(y: Any, t: Any, h: Any, *params: Any) -> tuple[Any, Any]:
        factor = tableau.gamma * h
        system = _system(slope, y, t, params, factor)
        moved = slope.by_time(y, t, *params)
        stages: list[Any] = []
        rows = tableau.matrix, tableau.couplings, tableau.nodes, tableau.slopes
        for row, couplings, node, along in zip(*rows, strict=True):
            b = factor * slope(_sum(y, row, stages), t + node * h, *params)
            b = _sum(b, [tableau.gamma * c for c in couplings], stages)
            if moved is not None and along:
                b = b + (along * h * factor) * moved
            stages.append(system(b))
        return _sum(y, (*tableau.matrix[-1], 1.0), stages), stages[-1]

    return step


def implicit_midpoint(slope: Slope) -> Step:
    """Return the step of the implicit midpoint rule: Newton's method for the state in the middle.

    A state whose equation is not solved is NaN.
    """

    def step(y: Any, t: Any, h: Any, *params: Any) -> tuple[Any, Any]:
        half, middle, change = 0.5 * h, y, None
        for _ in range(_ROUNDS):
            missing = y + half * slope(middle, t + half, *params) - middle
            change = _system(slope, middle, t + half, params, half)(missing)
            middle = middle + change
        size = total(absolute(middle)) + total(absolute(y))
        is_solved = total(absolute(change)) <= _SOLVED * size
        return where(is_solved, middle + (middle - y), np.nan), None

    return step


def _system(
    slope: Slope, y: Any, t: Any, params: Sequence[Any], factor: Any
) -> Callable[[Any], Any]:
    """Return the solution of systems with the matrix ``I - factor J`` as a function of what is on
    their right."""
    size = slope.size
    matrix = Tensor(np.eye(size)) - factor * slope.jacobian(y, t, *params)
    return Eliminated(matrix, size).solved if size <= MOST else lambda b: solve(matrix, b)


def _plus(y: Any, h: Any, weights: Sequence[float], stages: Sequence[Any]) -> Any:
    """Return a state further on along slopes."""
    return y + h * _weighed(weights, stages) if any(weights) else y


def _weighed(weights: Sequence[float], stages: Sequence[Any]) -> Any:
    parts = [w * stage for w, stage in zip(weights, stages, strict=True) if w]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part
    return whole


def _sum(y: Any, weights: Sequence[float], stages: Sequence[Any]) -> Any:
    for weight, stage in zip(weights, stages, strict=True):
        y = y + (stage if weight == 1.0 else weight * stage)
    return y
