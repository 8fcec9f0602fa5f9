"""Special functions against SciPy, and their derivatives against differences of values."""

import numpy as np
import pytest
import scipy.special as reference

import numgrad as ng
from numgrad import special

POINTS = np.array([0.15, 0.5, 1.0, 1.7, 3.2, 9.99, 12.5])
FUNCTIONS = ["digamma", "erf", "erfc", "expit", "gammaln", "log_expit", "ndtr"]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("sign", [1, -1])
def test_equals_scipy(name, sign):
    x = sign * np.array([0.0, 1e-8, 0.15, 0.5, 1.7, 3.25, 12.5, 30.0, 1e5, np.inf])
    x = x[np.isfinite(x)] if name in ("digamma", "gammaln") else x
    actual, expected = getattr(special, name)(x).numpy(), getattr(reference, name)(x)
    np.testing.assert_allclose(actual, expected, rtol=1e-13, atol=1e-300)


def test_logit_and_xlogy_equal_scipy():
    x = np.array([0.1, 0.5, 0.99])
    np.testing.assert_allclose(special.logit(x).numpy(), reference.logit(x), rtol=1e-14, atol=1e-15)
    x1, x2 = np.array([0.0, 0.0, 2.0, 0.0]), np.array([0.0, 3.0, 3.0, np.nan])
    np.testing.assert_allclose(special.xlogy(x1, x2).numpy(), reference.xlogy(x1, x2))


@pytest.mark.parametrize("n", [0, 1, 2, 5, 8])
def test_polygamma_equals_scipy(n):
    expected = reference.polygamma(n, POINTS)
    np.testing.assert_allclose(special.polygamma(n, POINTS).numpy(), expected, rtol=1e-13)


def test_poles_of_digamma_are_nan_and_infinity_at_zero():
    np.testing.assert_array_equal(
        special.digamma([-1.0, -2.0, 0.0]).numpy(), [np.nan, np.nan, -np.inf]
    )


@pytest.mark.parametrize("n", [-1, 0.5])
def test_polygamma_refuses_an_order_that_is_no_natural_number(n):
    with pytest.raises(ValueError, match="order"):
        special.polygamma(n, 1.0)


@pytest.mark.parametrize("name", [*FUNCTIONS, "logit", "sigmoid", "lgamma", "psi"])
def test_derivatives_of_first_and_second_order(name):
    function = getattr(special, name)
    points = POINTS / 15 if name == "logit" else POINTS
    step = 1e-6 * points

    def slope(array):
        x = ng.tensor(array, requires_grad=True)
        return x, ng.grad(function(x), x, create_graph=True)[0]

    x, first = slope(points)
    expected = (function(points + step).numpy() - function(points - step).numpy()) / (2 * step)
    np.testing.assert_allclose(first.detach().numpy(), expected, rtol=1e-7, atol=1e-8)
    ends = [slope(points + sign * step)[1].detach().numpy() for sign in (1, -1)]
    expected = (ends[0] - ends[1]) / (2 * step)
    np.testing.assert_allclose(ng.grad(first, x)[0].numpy(), expected, rtol=1e-6, atol=1e-8)


def test_derivative_of_expit_has_correct_digits_in_both_tails():
    x = ng.tensor([-60.0, 60.0], requires_grad=True)
    np.testing.assert_allclose(ng.grad(special.expit(x), x)[0].numpy(), np.exp([-60.0, -60.0]))


def test_derivatives_of_xlogy():
    x1 = ng.tensor([0.0, 2.0], requires_grad=True)
    x2 = ng.tensor([0.0, 4.0], requires_grad=True)
    g1, g2 = ng.grad(special.xlogy(x1, x2), [x1, x2])
    np.testing.assert_allclose(g1.numpy(), [-np.inf, np.log(4)])
    np.testing.assert_allclose(g2.numpy(), [0, 0.5])
