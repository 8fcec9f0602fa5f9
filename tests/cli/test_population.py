"""The simulation itself, on NumPy arrays."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from numgrad._cli.population import STEPS_PER_YEAR, residuals, runge_kutta_step, simulate

PARAMETERS = np.array([0.54, 0.027, 0.80, 0.024, 34.6, 5.8])


def reference(years):
    alpha, beta, gamma, delta, *start = PARAMETERS

    def slope(_, state):
        hare, lynx = state
        return [(alpha - beta * lynx) * hare, (delta * hare - gamma) * lynx]

    found = solve_ivp(
        slope,
        (0, years),
        start,
        t_eval=np.arange(years + 1),
        method="DOP853",
        rtol=1e-11,
        atol=1e-11,
    )
    return found.y.T


def test_simulation_follows_the_differential_equation():
    yearly = simulate(np.log(PARAMETERS), 20, 40)[::40]
    assert np.allclose(yearly, reference(20), rtol=1e-6)


def test_error_falls_with_the_fourth_power_of_the_step():
    exact = reference(5)
    errors = [
        np.abs(simulate(np.log(PARAMETERS), 5, steps)[::steps] - exact).max() for steps in (8, 16)
    ]
    assert errors[0] / errors[1] == pytest.approx(16, rel=0.2)


def test_one_step_is_exact_for_cubic_growth():
    state = runge_kutta_step(lambda s: np.array([1.0, 3 * s[0] ** 2]), np.zeros(2), 0.7)
    assert np.allclose(state, [0.7, 0.7**3], rtol=1e-14)


def test_residuals_vanish_on_simulated_data_and_alternate_species():
    observed = simulate(np.log(PARAMETERS), 20)[::STEPS_PER_YEAR]
    assert np.abs(residuals(np.log(PARAMETERS), observed)).max() < 1e-12
    observed[3, 1] *= 2.0
    misfit = residuals(np.log(PARAMETERS), observed)
    assert np.flatnonzero(np.abs(misfit) > 1e-12).tolist() == [7]
    assert misfit[7] == pytest.approx(-np.log(2.0))
