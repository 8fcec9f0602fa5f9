"""Bounds and constraints of minima: with exact Jacobians, and which of them hold an element."""

from typing import Any

import numpy as np

from .functions import function


def exact(constraints: Any, method: Any, shape: tuple[int, ...], jit: bool) -> Any:
    """Return constraints with exact derivatives in place of differences."""
    if isinstance(constraints, (list, tuple)):
        return [_exact(constraint, method, shape, jit) for constraint in constraints]
    return _exact(constraints, method, shape, jit)


def _exact(constraint: Any, method: Any, shape: tuple[int, ...], jit: bool) -> Any:
    from scipy.optimize import BFGS, NonlinearConstraint

    if isinstance(constraint, dict):
        if constraint.get("jac") is not None:
            return constraint
        hook = function(constraint["fun"], constraint.get("args", ()), shape=shape, jit=jit)
        return {"type": constraint["type"], "fun": hook.vector, "jac": hook.matrix}
    if not isinstance(constraint, NonlinearConstraint) or constraint.jac != "2-point":
        return constraint
    hook = function(constraint.fun, shape=shape, jit=jit)
    has_hessian = method == "trust-constr" and isinstance(constraint.hess, BFGS)
    return NonlinearConstraint(
        hook.vector, constraint.lb, constraint.ub, hook.matrix,
        hook.hess if has_hessian else constraint.hess, constraint.keep_feasible,
    )  # fmt: skip


def free_elements(x: np.ndarray, bounds: Any, slope: np.ndarray) -> np.ndarray:
    """Return which elements of a minimum are held by no bound.

    A bound holds an element if the slope is larger than the distance. At a solution one of them is
    zero, up to the tolerance of the solver.
    """
    from scipy.optimize import Bounds

    if bounds is None:
        return np.ones(x.shape, bool)
    if not isinstance(bounds, Bounds):
        pairs = np.array([[-np.inf if a is None else a, np.inf if b is None else b]
                          for a, b in bounds], float)  # fmt: skip
        bounds = Bounds(pairs[:, 0], pairs[:, 1])
    held = (x - bounds.lb < slope) | (bounds.ub - x < -slope) | (bounds.lb == bounds.ub)
    return np.broadcast_to(~held, x.shape)


__all__ = ["exact", "free_elements"]
