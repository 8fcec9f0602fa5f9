"""The Lotka-Volterra equations in plain NumPy functions.

Nothing here knows about gradients: every function takes NumPy arrays or numgrad tensors, and gives
back what it was given.

Hares h and lynxes l follow ``h' = (alpha - beta l) h`` and ``l' = (delta h - gamma) l``.
"""

from typing import Any

import numpy as np

PARAMETERS = {
    "alpha": "birth rate of hares, per year",
    "beta": "loss rate of hares per thousand lynxes",
    "gamma": "death rate of lynxes, per year",
    "delta": "gain rate of lynxes per thousand hares",
    "hare(0)": "hares in the first year, thousands",
    "lynx(0)": "lynxes in the first year, thousands",
}

# Five steps a year move the fitted parameters by 5e-6 of their value, far below their uncertainty.
STEPS_PER_YEAR = 5

# Hares are born and eaten, lynxes starve and feed.
_SIGNS = np.array([1.0, -1.0])


def runge_kutta_step(slope: Any, state: Any, dt: float) -> Any:
    """One step of the classical fourth-order Runge-Kutta method."""
    k1 = slope(state)
    k2 = slope(state + 0.5 * dt * k1)
    k3 = slope(state + 0.5 * dt * k2)
    k4 = slope(state + dt * k3)
    return state + dt / 6.0 * (k1 + 2.0 * (k2 + k3) + k4)


def simulate(log_parameters: Any, years: int, steps_per_year: int = STEPS_PER_YEAR) -> Any:
    """Hare and lynx populations, one row per step, from the logarithms of the six parameters."""
    parameters = np.exp(log_parameters)
    alone = _SIGNS * parameters[0:4:2]  # alpha, -gamma
    together = -_SIGNS * parameters[1:4:2]  # -beta, delta

    def slope(populations: Any) -> Any:
        return populations * (alone + together * populations[::-1])

    populations = parameters[4:]
    trajectory = [populations]
    for _ in range(years * steps_per_year):
        populations = runge_kutta_step(slope, populations, 1.0 / steps_per_year)
        trajectory.append(populations)
    return np.stack(trajectory)


def residuals(log_parameters: Any, observed: Any, steps_per_year: int = STEPS_PER_YEAR) -> Any:
    """Log simulated minus log observed populations, year by year, the hare before the lynx."""
    trajectory = simulate(log_parameters, len(observed) - 1, steps_per_year)
    misfit = np.log(trajectory[::steps_per_year]) - np.log(observed)
    return misfit.reshape(-1)
