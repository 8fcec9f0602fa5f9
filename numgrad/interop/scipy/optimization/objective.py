"""A minimum within limits as a function of the arguments, with the other fields of the solver's
result."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....func import grad
from ....functions.shape.reshaping import reshape
from ....functions.shape.selection import where
from ..implicit.fields import deliver
from ..implicit.functions import function
from ..implicit.parameters import Parameters
from .constraints import Limits, free_elements


class Objective:
    """A scalar function ``f(x, scale, *args)`` that a solver has minimised within limits.

    ``hook`` is the same function for SciPy; ``parameters`` are scale, limits and arguments
    together.
    """

    def __init__(
        self, f: Callable[..., Any], hook: function, scale: Any, limits: Limits, given: Parameters
    ) -> None:
        self.f, self.hook, self.limits = f, hook, limits
        args = given.args(given.tensors)
        all_given = scale, limits.lower, limits.upper, *args
        self.parameters = Parameters(all_given, given.what, given.closure)

    def deliver(
        self,
        result: Any,
        shape: Any,
        fields: Mapping[str, Callable[..., Any]],
        instead: Mapping[str, str],
    ) -> Any:
        """Return the result of SciPy, with tensors for the fields that depend on tensors.

        ``fields`` has functions like `f` for the fields with a derivative, ``instead`` has advice
        for the others.
        """
        found, parameters = np.reshape(result.x, -1), self.parameters
        result.x = found.reshape(shape)
        if not parameters.has_tensors:
            return result
        slope = free = None
        if parameters.want_grad and self.limits.given is not None:
            slope = self.hook.grad(found)
            free = free_elements(found, self.limits, slope, parameters.what)
        x = parameters.solution(
            found,
            self._equations(slope, free),
            lambda: _reduced(self.hook.hess(found), free),
            result,
        )
        deliver(result, x, parameters, {name: _of_all(f) for name, f in fields.items()}, instead)
        result.x = reshape(x, shape)
        return result

    def _equations(
        self, slope: np.ndarray | None, free: np.ndarray | None
    ) -> Callable[..., Tensor]:
        """Return the equations of a minimum: the slope of a free element is 0, and an element that
        a bound holds is at that bound."""

        def equations(x: Tensor, scale: Any, lower: Any, upper: Any, *args: Any) -> Tensor:
            found = grad(self.f)(x, scale, *args)
            if slope is None or free is None or free.all():
                return found
            return where(free, found, x - where(slope >= 0.0, lower, upper))

        return equations


def _of_all(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of unknowns, scale and arguments as one that takes limits, too."""
    return lambda x, scale, lower, upper, *args: f(x, scale, *args)


def _reduced(matrix: Any, free: np.ndarray | None) -> Any:
    """Return the Jacobian of the equations of a minimum, given the Hessian in any form."""
    if free is None or free.all():
        return matrix
    if isinstance(matrix, np.ndarray):
        return free[:, None] * matrix + np.diag(~free)
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import aslinearoperator

    kept, fixed = diags_array(free.astype(float)), diags_array((~free).astype(float))
    if hasattr(matrix, "matvec"):
        return aslinearoperator(kept) @ matrix + aslinearoperator(fixed)
    return kept @ matrix + fixed
