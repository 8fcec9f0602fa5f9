"""Fits and minima of one variable against SciPy, its differences and closed forms."""

import numpy as np
import pytest
from scipy import optimize

import numgrad as ng
from numgrad.errors import ConvergenceError

from ..differences import agree, derivative
from ..integration.test_integrals import same_derivatives

scipy = ng.interop.scipy
T = np.linspace(0.0, 3.0, 7)
Y = 2.0 * np.exp(-0.7 * T) + np.array([0.1, -0.05, 0.02, 0.0, 0.03, -0.04, 0.05])
SIGMA = np.linspace(0.5, 1.5, 7)
COVARIANCE = np.diag(SIGMA**2) + 0.05


def decay(t, a, k):
    return a * np.exp(-k * t)


@pytest.mark.parametrize("weights", [None, SIGMA, COVARIANCE], ids=["none", "sigma", "covariance"])
def test_fits_of_curves(weights):
    tight = {"ftol": 1e-14, "xtol": 1e-14}
    for absolute in (False, True):
        expected = optimize.curve_fit(decay, T, Y, sigma=weights, absolute_sigma=absolute, **tight)
        found = scipy.curve_fit(decay, T, Y, sigma=weights, absolute_sigma=absolute, **tight)
        y = ng.tensor(Y, requires_grad=True)
        both = scipy.curve_fit(decay, T, y, sigma=weights, absolute_sigma=absolute, **tight)
        for own, live, other in zip(found, both, expected, strict=True):
            np.testing.assert_allclose(own, other, rtol=1e-6)
            np.testing.assert_allclose(live.detach(), other, rtol=1e-6)

    def fit(of, y, x, w):
        p, cov = of.curve_fit(decay, x, y, [1.0, 1.0], w, **tight)
        return p[0] + 3.0 * p[1] + 10.0 * cov[0, 1]

    f = ng.func.grad(lambda y: fit(scipy, y, T, weights))
    agree(f(Y), derivative(lambda y: fit(optimize, y, T, weights), Y), 1e-5)
    f = ng.func.grad(lambda x: fit(scipy, Y, x, weights))
    agree(f(T), derivative(lambda x: fit(optimize, Y, x, weights), T), 1e-5)
    if weights is SIGMA:
        f = ng.func.grad(lambda w: fit(scipy, Y, T, w))
        agree(f(SIGMA), derivative(lambda w: fit(optimize, Y, T, w), SIGMA), 1e-5)


def test_fits_within_bounds_and_with_little_data():
    found, _ = scipy.curve_fit(decay, T, Y, bounds=([0.0, 0.0], [1.5, np.inf]))
    expected, _ = optimize.curve_fit(decay, T, Y, bounds=([0.0, 0.0], [1.5, np.inf]))
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    with pytest.warns(optimize.OptimizeWarning, match="covariance"):
        _, cov = scipy.curve_fit(decay, T[:2], Y[:2])
    assert np.isinf(cov).all()
    with pytest.raises(ng.errors.ArgTypeError, match="give p0"):
        scipy.curve_fit(lambda t, *p: p[0] * t, T, Y)
    with pytest.raises(ValueError, match="infs or NaNs"):
        scipy.curve_fit(decay, T, np.full(7, np.nan))
    captured = ng.jit(lambda y: scipy.curve_fit(decay, T, y, [1.0, 1.0])[0])
    np.testing.assert_allclose(captured(Y), scipy.curve_fit(decay, T, Y)[0], rtol=1e-6)


def test_least_squares_by_its_older_name():
    def model(x, y):
        return x[0] * np.exp(-x[1] * T) - y

    x, status = scipy.leastsq(model, [1.0, 1.0], (Y,))
    np.testing.assert_allclose(x, optimize.leastsq(model, [1.0, 1.0], (Y,))[0], rtol=1e-6)
    assert status == 1
    f = ng.func.grad(lambda y: scipy.leastsq(model, [1.0, 1.0], (y,), xtol=1e-14)[0][1])
    agree(f(Y), derivative(lambda y: optimize.leastsq(model, [1.0, 1.0], (y,))[0][1], Y), 1e-5)


def test_numbers_that_are_not_negative():
    rng = np.random.default_rng(2)
    A, b = rng.normal(size=(6, 4)), rng.normal(size=6)
    x, rest = scipy.nnls(A, b)
    assert np.array_equal(x, optimize.nnls(A, b)[0])
    assert rest == optimize.nnls(A, b)[1]
    assert (x == 0.0).any()
    assert (x > 0.0).any()
    weights = np.arange(1.0, 5.0)
    for place, given in enumerate((A, b)):
        def f(of, v, place=place):
            x, rest = of.nnls(*((v, b) if place == 0 else (A, v)))
            return (x * weights).sum() + rest

        agree(ng.func.grad(lambda v, f=f: f(scipy, v))(given),
              derivative(lambda v, f=f: f(optimize, v), given), 1e-6)  # fmt: skip
    captured = ng.jit(lambda b: scipy.nnls(A, b)[0])
    np.testing.assert_allclose(captured(b), x, rtol=1e-12)
    np.testing.assert_allclose(scipy.nnls(ng.tensor(A), -abs(A).sum(1))[0].shape, 4)


SEARCHES = {
    "minimize_scalar": lambda f, *a: scipy.minimize_scalar(f, args=a).x,
    "bounded": lambda f, *a: scipy.minimize_scalar(f, bounds=(0.0, 2.0), args=a).x,
    "golden": lambda f, *a: scipy.golden(f, a),
    "brent": lambda f, *a: scipy.brent(f, a),
    "fminbound": lambda f, *a: scipy.fminbound(f, 0.0, 2.0, a, xtol=1e-9),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_minima_of_one_variable(name):
    search = SEARCHES[name]
    exact = lambda v: v[0] * v[1] / (1.0 + v[1])  # noqa: E731
    cost = lambda x, a, b: (x - a) ** 2 * b + x**2 + 1.0  # noqa: E731
    np.testing.assert_allclose(search(cost, 1.3, 0.4), exact([1.3, 0.4]), rtol=1e-5)
    assert isinstance(search(cost, 1.3, 0.4), float)
    for f in (lambda v: search(cost, v[0], v[1]), lambda v: search(lambda x: cost(x, *v))):
        found = ng.func.grad(f)(np.array([1.3, 0.4]))
        np.testing.assert_allclose(found, ng.func.grad(exact)(np.array([1.3, 0.4])), rtol=1e-6)
    captured = ng.jit(f)
    np.testing.assert_allclose(ng.func.grad(captured)(np.array([1.3, 0.4])), found, rtol=1e-12)


def test_values_of_minima_and_minima_at_bounds():
    def value(v):
        return scipy.minimize_scalar(lambda x: (x - v[0]) ** 2 + v[1] * x**2).fun

    same_derivatives(value, lambda v: v[1] / (1.0 + v[1]) * v[0] ** 2, [1.3, 0.4])
    a = ng.tensor(3.0, requires_grad=True)
    at_bound = scipy.minimize_scalar(lambda x: (x - a) ** 2, bounds=(0.0, 2.0))
    assert ng.grad(at_bound.x, a, retain_graph=True)[0].item() == 0.0
    np.testing.assert_allclose(ng.grad(at_bound.fun, a)[0].item(), 2.0, rtol=1e-4)
    with pytest.raises(ConvergenceError, match="the slope of the function is not 0"):
        scipy.golden(lambda x: abs(x - a))
    with ng.interop.scipy.patch():
        x = optimize.golden(lambda x: (x - a) ** 2)
        y, number = optimize.golden(lambda x: (x - a) ** 2, full_output=True)[1:]
    assert ng.grad(x, a)[0].item() == 1.0
    assert y.item() < 1e-12
    assert number > 10
