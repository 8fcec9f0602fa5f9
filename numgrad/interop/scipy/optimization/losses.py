"""The cost of a fit: robust losses of residuals."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...._errors import NotDifferentiableError
from ...._tensor import Tensor
from ....func import grad, jacobian
from ....functions.elementwise.exponential import log1p
from ....functions.elementwise.powers import sqrt
from ....functions.elementwise.trigonometric import arctan
from ....functions.reduction.reduction import sum as _sum
from ....functions.shape.reshaping import reshape
from ....functions.shape.selection import where

LOSSES: dict[str, Callable[..., Any]] = {
    "linear": lambda z: z,
    "soft_l1": lambda z: 2.0 * (sqrt(1.0 + z) - 1.0),
    "huber": lambda z: where(z <= 1.0, z, 2.0 * sqrt(where(z <= 1.0, 1.0, z)) - 1.0),
    "cauchy": lambda z: log1p(z),
    "arctan": lambda z: arctan(z),
}
"""Losses, as functions of a squared residual."""


class Cost:
    """Half the sum of the losses of squared residuals, as in `scipy.optimize.least_squares`, as a
    function of the unknowns, of the scale of residuals, and of arguments."""

    def __init__(self, f: Callable[..., Any], loss: Any) -> None:
        if callable(loss):
            raise NotDifferentiableError(
                "least_squares: the derivative of the solution needs the loss as a function of "
                "tensors; take one of SciPy's by name, or minimize"
            )
        self.f, self.name = f, loss

    def __call__(self, x: Any, scale: Any, *args: Any) -> Tensor:
        """Return the cost."""
        return 0.5 * scale**2 * self._loss((self.f(x, *args) / scale) ** 2)

    def _loss(self, z: Any) -> Tensor:
        return _sum(LOSSES[self.name](z))

    def jacobian(self, x: Any, scale: Any, *args: Any) -> Tensor:
        """Return the Jacobian of the residuals as SciPy scales it.

        Its product with its transpose is the Hessian of the cost without second derivatives of
        residuals.
        """
        rows = jacobian(self.f)(x, *args)
        if self.name == "linear":
            return rows
        z = (self.f(x, *args) / scale) ** 2
        slope = grad(self._loss)
        bend = grad(lambda z: _sum(slope(z)))(z)
        factor = slope(z) + 2.0 * z * bend
        least = np.finfo(float).eps
        is_large = factor >= least
        return rows * reshape(sqrt(where(is_large, factor, least)), (-1, 1))
