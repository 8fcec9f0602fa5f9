"""Discrete distributions against SciPy, and their gradients against differences of its values."""

import numpy as np
import pytest
import scipy.stats

import numgrad as ng

from .cases import DISCRETE, differences, each

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
CASES = list(each(DISCRETE))
POINTS = np.array([-1e10, -3, -1, -0.5, 0, 0.5, 1, 2, 3, 5, 7, 7.5, 8, 40, 1e3, np.nan])


@pytest.mark.parametrize(("name", "shapes"), CASES)
@pytest.mark.parametrize("function", ["logpmf", "pmf", "cdf", "sf", "logcdf", "logsf"])
@pytest.mark.parametrize("loc", [(), (2,)])
def test_values_equal_scipy(name, shapes, function, loc):
    expected = getattr(getattr(scipy.stats, name), function)(POINTS, *shapes, *loc)
    actual = getattr(getattr(ng.stats, name), function)(POINTS, *shapes, *loc).numpy()
    valid = ~(np.isnan(actual) & (expected == 0) | np.isnan(expected))  # SciPy's NaN of NaN
    if np.isnan(getattr(scipy.stats, name).pmf(1, *shapes)):
        assert np.isnan(actual).all()
    else:
        np.testing.assert_allclose(actual[valid], expected[valid], rtol=1e-11, atol=1e-13)
        assert np.isnan(actual[-1])


@pytest.mark.parametrize("shapes", [(3.5, 1.0, 2.0), (3.0, -1.0, 1.0), (3.0, 1.0, 0.0)])
def test_parameters_that_are_none_give_nan(shapes):
    assert np.isnan(ng.stats.betabinom.pmf([0, 1, 4], *shapes).numpy()).all()


INNER = [("bernoulli", (0.3,)), ("geom", (0.3,)), ("nbinom", (2.5, 0.3)), ("poisson", (3.3,))]
OF_TRIALS = [("binom", (5.0, 0.3)), ("betabinom", (5.0, 2.0, 1.5))]


@pytest.mark.parametrize(("name", "shapes"), [*INNER, *OF_TRIALS])
def test_gradients_of_parameters(name, shapes):
    k = np.array([-1.0, 0, 0.5, 1, 2, 5])
    values = [k, *(np.full(k.shape, s) for s in shapes)]
    places = range(2 if (name, shapes) in OF_TRIALS else 1, len(values))  # of trials none
    tensors = [ng.tensor(v, requires_grad=i in places) for i, v in enumerate(values)]
    y = getattr(ng.stats, name).logpmf(*tensors)
    found = ng.grad(y.sum(), [tensors[i] for i in places])
    function = getattr(scipy.stats, name).logpmf
    for place, gradient in zip(places, found, strict=True):
        expected = differences(function, values, place)
        expected[function(*values) == -np.inf] = 0
        np.testing.assert_allclose(gradient.numpy(), expected, rtol=1e-7)


@pytest.mark.parametrize(("name", "p"), [("bernoulli", 0.0), ("bernoulli", 1.0), ("geom", 1.0)])
def test_gradients_at_the_ends_of_a_probability_where_the_value_is_impossible(name, p):
    p = ng.tensor(p, requires_grad=True)
    (slope,) = ng.grad(getattr(ng.stats, name).logpmf(-1.0, p), p)
    assert slope.item() == 0


def test_the_gradient_of_a_distribution_function():
    mu = ng.tensor(3.3, requires_grad=True)
    (slope,) = ng.grad(ng.stats.poisson.cdf(4, mu), mu)
    np.testing.assert_allclose(slope.item(), -scipy.stats.poisson.pmf(4, 3.3), rtol=1e-13)


def test_an_integer_has_no_derivative():
    k = ng.tensor(2.0, requires_grad=True)
    with pytest.raises(ng.errors.NotDifferentiableError, match=r"stats\.poisson\.logpmf"):
        ng.stats.poisson.logpmf(k, 3.0)


@pytest.mark.parametrize(("name", "shapes"), [("binom", (7.0, 0.4)), ("nbinom", (2.5, 0.3))])
@pytest.mark.parametrize("function", ["cdf", "sf", "logcdf", "logsf"])
def test_distribution_functions_have_gradients_to_a_probability(name, shapes, function):
    """A place inside of the support, made of parameters, reaches no argument."""
    k = np.array([-1.0, 0, 0.5, 3, 6, 40])
    p = np.full(k.shape, shapes[1])
    t = ng.tensor(p, requires_grad=True)
    (slope,) = ng.grad(getattr(getattr(ng.stats, name), function)(k, shapes[0], t).sum(), t)
    expected = differences(
        lambda p: getattr(getattr(scipy.stats, name), function)(k, shapes[0], p), [p], 0
    )
    expected = np.nan_to_num(expected)
    np.testing.assert_allclose(slope.numpy(), expected, rtol=1e-7, atol=1e-12)


def test_the_slope_of_a_binomial_share_in_its_closed_form():
    p = ng.tensor(0.4, requires_grad=True)
    (slope,) = ng.grad(ng.stats.binom.cdf(3.0, 7, p), p)
    np.testing.assert_allclose(slope.item(), -7 * 20 * 0.4**3 * 0.6**3, rtol=1e-14)
    second = ng.func.hessian(lambda p: ng.stats.binom.cdf(3.0, 7, p))(0.4)
    np.testing.assert_allclose(second, -7 * 20 * 3 * (0.4 * 0.6) ** 2 * (1 - 0.8), rtol=1e-13)


def test_a_shift_of_an_integer_has_no_derivative():
    loc = ng.tensor(1.0, requires_grad=True)
    for function in ("logpmf", "pmf", "cdf", "sf"):
        with pytest.raises(ng.errors.NotDifferentiableError, match=rf"poisson\.{function}.*loc"):
            getattr(ng.stats.poisson, function)(3, 2.0, loc)
    assert ng.grad(ng.stats.poisson.mean(2.0, loc), loc)[0].item() == 1


@pytest.mark.parametrize("function", ["ppf", "isf", "entropy", "interval", "median"])
def test_what_has_no_formula_names_distribution_function_and_parameter(function):
    mu = ng.tensor(2.0, requires_grad=True)
    first = () if function in ("entropy", "median") else (0.3,)
    with pytest.raises(NotImplementedError, match=rf"stats\.poisson\.{function}.* mu;"):
        getattr(ng.stats.poisson, function)(*first, mu)
