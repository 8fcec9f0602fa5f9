"""Bounds and constraints of minima: with exact Jacobians, and which of them hold an element."""

from typing import Any

import numpy as np

from ..._errors import ConvergenceError
from .functions import function


def exact(constraint: Any, method: Any, of: function) -> Any:
    """Return one or several constraints with exact derivatives in place of differences, given the
    function that is minimised."""
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


def free_elements(x: np.ndarray, bounds: Any, slope: np.ndarray, what: str) -> np.ndarray:
    """Return which elements of a minimum are held by no bound. A bound holds an element if the
    slope is larger than the distance: at a solution one of them is zero, up to the tolerance of the
    solver."""
    from scipy.optimize import Bounds

    if not isinstance(bounds, Bounds):
        lower = np.array([-np.inf if a is None else a for a, _ in bounds], float)
        upper = np.array([np.inf if b is None else b for _, b in bounds], float)
    else:
        lower, upper = np.asarray(bounds.lb), np.asarray(bounds.ub)
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
