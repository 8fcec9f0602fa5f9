"""The fit against an independent one: an adaptive integrator and finite differences."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares

from numgrad._cli.fit import central_differences, fit, standard_errors, starting_point
from numgrad._cli.jacobian import RecordedResiduals
from numgrad.data import load_pelts

from .complex_step import ComplexStepResiduals


def independent_fit(pelts):
    """Natural parameters, DOP853, three-point differences: no line shared with the main job."""

    def misfit(parameters):
        alpha, beta, gamma, delta, *start = parameters
        years = pelts.years - pelts.years[0]
        found = solve_ivp(
            lambda _, s: [(alpha - beta * s[1]) * s[0], (delta * s[0] - gamma) * s[1]],
            (0, years[-1]),
            start,
            t_eval=years,
            method="DOP853",
            rtol=1e-9,
            atol=1e-9,
        )
        return np.concatenate([np.log(found.y[0] / pelts.hare), np.log(found.y[1] / pelts.lynx)])

    rough = [0.6, 0.03, 0.7, 0.02, 30.0, 4.0]
    tight = {"xtol": 1e-10, "ftol": 1e-10, "gtol": 1e-10}
    return least_squares(misfit, rough, jac="3-point", x_scale="jac", **tight)


@pytest.fixture(scope="module")
def pelts():
    return load_pelts()


@pytest.fixture(scope="module")
def independent(pelts):
    return independent_fit(pelts)


@pytest.mark.parametrize("model", [RecordedResiduals, ComplexStepResiduals])
def test_fit_agrees_with_an_independent_one_to_four_digits(model, pelts, independent):
    seen = []
    best = fit(model(pelts.populations), starting_point(pelts), lambda *at: seen.append(at))
    assert best.converged
    assert np.allclose(best.parameters, independent.x, rtol=5e-5)
    _, errors = standard_errors(independent.fun, independent.jac)
    assert np.allclose(best.standard_errors, errors, rtol=1e-3)
    assert [count for count, _ in seen] == list(range(1, best.simulations + 1))


def test_jacobian_of_one_batched_call_is_exact(pelts):
    model, exact = RecordedResiduals(pelts.populations), ComplexStepResiduals(pelts.populations)
    start = starting_point(pelts)
    assert np.allclose(model(start), exact(start), rtol=1e-12, atol=1e-12)
    batched = model.jacobian(start)
    assert np.allclose(batched, exact.jacobian(start), rtol=1e-10, atol=1e-10)
    assert np.array_equal(batched, model.jacobian_by_rows(start))


def test_jacobian_is_of_the_point_asked_for(pelts):
    model, exact = RecordedResiduals(pelts.populations), ComplexStepResiduals(pelts.populations)
    start = starting_point(pelts)
    model(start)
    elsewhere = start + 0.01
    assert np.allclose(model.jacobian(elsewhere), exact.jacobian(elsewhere), rtol=1e-10, atol=1e-10)


def test_central_differences_are_good_to_their_order(pelts):
    start = starting_point(pelts)
    exact = ComplexStepResiduals(pelts.populations).jacobian(start)
    difference = np.abs(central_differences(start, pelts.populations) - exact).max()
    assert difference < 1e-7 * np.abs(exact).max()


def test_standard_errors_of_a_straight_line():
    """The textbook formula for slope and intercept."""
    x = np.arange(5.0)
    design = np.stack([np.ones(5), x], axis=1)
    y = np.array([0.1, 0.9, 2.2, 2.8, 4.1])
    coefficients, *_ = np.linalg.lstsq(design, y)
    misfit = design @ coefficients - y
    scatter, errors = standard_errors(misfit, design)
    spread = np.sum((x - 2.0) ** 2)
    assert scatter == pytest.approx(np.sqrt(np.sum(misfit**2) / 3))
    assert errors == pytest.approx(scatter * np.sqrt([1 / 5 + 4 / spread, 1 / spread]))
