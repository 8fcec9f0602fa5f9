"""Bounds and constraints of minima: their exact Jacobians, and the elements that are held at a
bound."""

from typing import Any

import numpy as np

from ...._errors import ConvergenceError, NotDifferentiableError
from ...._tensor import Tensor
from ....engine.record.apply import mode
from ....functions.shape.joining import stack
from ....functions.shape.repeating import broadcast_to
from ..implicit.functions import function
from ..implicit.parameters import number
from ..systems.linear import as_real


def exact(constraint: Any, method: Any, of: function) -> Any:
    """Return one or several constraints with exact derivatives in place of differences; ``of`` is
    the function that is minimised."""
    from scipy.optimize import BFGS, NonlinearConstraint

    shape, jit = of.of_vector.shape, of.jit
    if isinstance(constraint, (list, tuple)):
        return [exact(part, method, of) for part in constraint]
    if isinstance(constraint, dict):
        if constraint.get("jac") is not None:
            return constraint
        hook = function(constraint["fun"], constraint.get("args", ()), shape=shape, jit=jit)
        return {"type": constraint["type"], "fun": hook.vector, "jac": hook.matrix}
    if not isinstance(constraint, NonlinearConstraint) or constraint.jac != "2-point":
        return constraint
    hook = function(constraint.fun, shape=shape, jit=jit)
    has_hessian = method == "trust-constr" and isinstance(constraint.hess, BFGS)
    options: dict[str, Any] = {
        "jac": hook.matrix,
        "hess": hook.hess if has_hessian else constraint.hess,
        "keep_feasible": constraint.keep_feasible,
    }
    return NonlinearConstraint(hook.vector, constraint.lb, constraint.ub, **options)


def refuse_live(constraint: Any) -> None:
    """Raise if a constraint holds tensors that require grad."""
    if isinstance(constraint, (list, tuple)):
        for part in constraint:
            refuse_live(part)
        return
    held = constraint if isinstance(constraint, dict) else getattr(constraint, "__dict__", {})
    for name, value in held.items():
        parts = value if isinstance(value, (list, tuple)) else [value]
        if mode.grad and any(isinstance(part, Tensor) and part.requires_grad for part in parts):
            raise NotDifferentiableError(
                f"minimize: {name} of a constraint requires grad, and the derivative of a minimum "
                f"under constraints is not known here; write the conditions of the minimum as "
                f"equations for root, or detach it"
            )


class Limits:
    """Bounds of the unknowns: ``given`` in the form of SciPy, and ``lower`` and ``upper``, one for
    each unknown, which are tensors if they were given as tensors."""

    def __init__(self, bounds: Any, n: int, in_pairs: bool) -> None:
        from scipy.optimize import Bounds

        self.given: Any = None
        self.lower: Any = None
        self.upper: Any = None
        if bounds is None:
            return
        if isinstance(bounds, Bounds):
            sides: Any = bounds.lb, bounds.ub  # arrays: it takes no tensors that require grad
            self.given = bounds
        elif in_pairs:
            pairs = [tuple(pair) for pair in bounds]
            fills = enumerate((-np.inf, np.inf))
            sides = [_joined([pair[n] for pair in pairs], fill) for n, fill in fills]
            self.given = [tuple(map(number, pair)) for pair in pairs]
        else:
            sides = tuple(bounds)
            self.given = tuple(map(number, sides))
        self.lower, self.upper = (_for_each(side, n) for side in sides)


def _joined(side: Any, fill: float) -> Any:
    """Return the limits of single unknowns as an array or a tensor, with ``fill`` for None."""
    filled = [fill if a is None else a for a in side]
    if any(isinstance(a, Tensor) for a in filled):
        return stack([as_real(a, "minimize") for a in filled])
    return np.array(filled, float)


def _for_each(side: Any, n: int) -> Any:
    """Return one limit for each unknown."""
    if isinstance(side, Tensor):
        return broadcast_to(as_real(side, "bounds"), (n,))
    return np.broadcast_to(np.asarray(side, float), (n,))


def free_elements(x: np.ndarray, limits: Limits, slope: np.ndarray, what: str) -> np.ndarray:
    """Return the elements of a minimum that no bound holds.

    A bound holds an element if the slope is larger than the distance: at a solution one of them is
    zero, up to the tolerance of the solver.
    """
    lower, upper = number(limits.lower), number(limits.upper)
    below, above = x - lower, upper - x
    held = (below < slope) | (above < -slope) | (lower == upper)
    distance = np.where(slope > 0.0, below, above)
    lost = held & (distance > 1e-4 * (1.0 + np.abs(x))) & (lower != upper)
    if lost.any():
        n = int(np.argmax(lost))
        raise ConvergenceError(
            f"{what}: the solver has stopped where there is no minimum: element {n} is at "
            f"{x[n]:g}, not at a bound, with a derivative of {slope[n]:g}; give it another start, "
            f"inside the bounds, or another tolerance"
        )
    return np.broadcast_to(~held, x.shape)
