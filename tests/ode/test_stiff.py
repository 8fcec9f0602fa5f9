"""Stiff problems by the Rosenbrock method."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import numgrad as ng
from numgrad.testing.boehm import RATES as BOEHM
from numgrad.testing.boehm import boehm

START = np.array([99.6996231, 44.1670769, 0, 0, 0, 0, 0, 0])
TIMES = np.array([0, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 120, 160, 200, 240.0])


def reference(slope, first, times, rtol=1e-10):
    """Return the states by SciPy."""
    found = solve_ivp(
        lambda t, y: slope(y, t), times[[0, -1]], first, "Radau", times, rtol=rtol, atol=1e-13
    )
    return found.y.T


def test_boehms_model_has_the_states_and_the_gradient_of_forward_sensitivities():
    options = {"method": "rodas5p", "rtol": 1e-8, "atol": 1e-8}
    found = ng.ode.odeint(boehm, START, TIMES, BOEHM, **options).numpy()
    exact = reference(lambda y, t: boehm(y, t, BOEHM, np), START, TIMES)
    assert np.abs(found - exact).max() < 1e-6 * np.abs(exact).max()
    weights = np.linspace(1.0, 2.0, 16)[:, None] * np.linspace(0.5, 1.0, 8)
    gradient = ng.func.grad(
        lambda p: (ng.ode.odeint(boehm, START, TIMES, p, **options) * weights).sum()
    )(BOEHM)
    # By forward sensitivities, derivatives by hand: SciPy's Radau at rtol=1e-11, atol=1e-13.
    expected = [-9352.36114, -34715.4409, -42485.2598, 15214.3211, 2.16680061e-09, 0.0150551505]
    assert np.allclose(gradient, expected, rtol=2e-6)


def test_robertsons_problem_is_solved_over_ten_decades():
    def slope(y, t):
        a, b, c = y
        made, gone = 0.04 * a, 3e7 * b * b
        back = 1e4 * b * c
        return [back - made, made - back - gone, gone]

    times = np.array([0.0, 0.4, 40.0, 4e3, 4e6, 4e10])
    first = np.array([1.0, 0.0, 0.0])
    found = ng.ode.odeint(slope, first, times, method="rodas5p", rtol=1e-8, atol=1e-12).numpy()
    exact = reference(slope, first, times)
    assert np.allclose(found, exact, rtol=1e-5, atol=1e-9)
    assert np.allclose(found.sum(axis=1), 1.0, rtol=1e-9)


@pytest.mark.parametrize("mu", [1.0, 1000.0])
def test_van_der_pols_equation_is_solved_across_its_jump(mu):
    def slope(y, t):
        return [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]]

    first, times = np.array([2.0, 0.0]), np.array([0.0, 0.5 * max(mu, 2.0), 1.7 * max(mu, 2.0)])
    found = ng.ode.odeint(slope, first, times, method="rodas5p").numpy()
    assert np.allclose(found, reference(slope, first, times, 1e-8), rtol=1e-4)
