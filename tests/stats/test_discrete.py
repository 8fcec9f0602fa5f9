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


INNER = [("bernoulli", (0.3,)), ("geom", (0.3,)), ("nbinom", (2.5, 0.3)), ("poisson", (3.3,))]


@pytest.mark.parametrize(("name", "shapes"), [*INNER, ("binom", (5.0, 0.3))])
def test_gradients_of_parameters(name, shapes):
    k = np.array([-1.0, 0, 0.5, 1, 2, 5])
    values = [k, *(np.full(k.shape, s) for s in shapes)]
    places = range(2 if name == "binom" else 1, len(values))  # of the number of trials none
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
