"""Least squares on the logarithms of the pelts, and what the result is worth."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from numgrad.data import Pelts

from .population import residuals

Array = NDArray[np.float64]

# Hare and lynx have cycled together about every ten years for as long as the trade has kept books.
CYCLE_YEARS = 10.0


class Model(Protocol):
    """Residuals and their Jacobian as functions of the log parameters."""

    def __call__(self, log_parameters: Array) -> Array: ...
    def jacobian(self, log_parameters: Array) -> Array: ...


@dataclass(frozen=True, slots=True)
class Fit:
    """The best parameters, their standard errors and how they were reached."""

    log_parameters: Array
    parameters: Array
    standard_errors: Array
    scatter: float
    simulations: int
    jacobians: int
    seconds: float
    converged: bool


def starting_point(pelts: Pelts) -> Array:
    """Log parameters read off the data: small oscillations around the mean populations.

    Around their equilibrium ``gamma / delta`` hares and ``alpha / beta`` lynxes the populations
    oscillate with angular frequency ``sqrt(alpha gamma)``.
    """
    frequency = 2.0 * np.pi / CYCLE_YEARS
    hares, lynxes = pelts.populations.mean(axis=0)
    rates = [frequency, frequency / lynxes, frequency, frequency / hares]
    return np.log([*rates, pelts.hare[0], pelts.lynx[0]])


def fit(model: Model, start: Array, watch: Callable[[int, float], None]) -> Fit:
    """Minimise the squared residuals of ``model`` from ``start``.

    ``watch`` is called after each simulation with their count and the root mean square residual.
    """
    from scipy.optimize import least_squares

    simulations = 0

    def watched(log_parameters: Array) -> Array:
        nonlocal simulations
        values = model(log_parameters)
        simulations += 1
        watch(simulations, float(np.sqrt(np.mean(values**2))))
        return values

    jacobian: Any = model.jacobian  # SciPy's type for it is the one of its default, str
    began = perf_counter()
    found = least_squares(watched, start, jac=jacobian, xtol=1e-10, ftol=1e-10, gtol=1e-10)
    seconds = perf_counter() - began
    scatter, errors = standard_errors(found.fun, found.jac)
    parameters = np.exp(found.x)
    return Fit(
        log_parameters=found.x,
        parameters=parameters,
        standard_errors=parameters * errors,
        scatter=scatter,
        simulations=simulations,
        jacobians=found.njev,
        seconds=seconds,
        converged=found.status > 0,
    )


def standard_errors(values: Array, jacobian: Array) -> tuple[float, Array]:
    """Residual standard deviation s, and the roots of the diagonal of ``s^2 (J^T J)^-1``."""
    freedom = values.size - jacobian.shape[1]
    scatter = float(np.sqrt(np.sum(values**2) / freedom))
    covariance = scatter**2 * np.linalg.inv(jacobian.T @ jacobian)
    return scatter, np.sqrt(np.diagonal(covariance))


def central_differences(log_parameters: Array, observed: Array) -> Array:
    """The Jacobian from two simulations per parameter, on NumPy arrays alone."""
    step = np.finfo(np.float64).eps ** (1.0 / 3.0)
    columns = [
        (residuals(log_parameters + h, observed) - residuals(log_parameters - h, observed))
        / (2.0 * step)
        for h in step * np.eye(log_parameters.size)
    ]
    return np.stack(columns, axis=1)
