"""Averages, spreads and logsumexp: values, and gradients where the formulas break."""

import numpy as np
import pytest
from scipy import special

import numgrad as ng

from ...operators.derivatives import check_batched, check_derivatives, gradient, second

INF = np.inf


@pytest.fixture
def rng():
    return np.random.default_rng(9)


FUNCTIONS = {
    "mean": lambda x: ng.mean(x, axis=-2),
    "var": lambda x: ng.var(x, axis=(-3, -1), ddof=1),
    "std": lambda x: ng.std(x, axis=-1, correction=1),
    "median": lambda x: ng.median(x, axis=(-3, -1)),
    "logsumexp": lambda x: ng.logsumexp(x, axis=(-2, -1)),
    "trapezoid": lambda x: ng.trapezoid(x, axis=-2, dx=0.3),
    "diff": lambda x: ng.diff(x, 2, axis=-1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(rng, name):
    x = rng.standard_normal((2, 3, 4))
    check_derivatives(FUNCTIONS[name], x, rng)
    check_batched(FUNCTIONS[name], x, rng)


@pytest.mark.parametrize("ddof", [0, 1, 2.5])
def test_spreads_of_complex_numbers(rng, ddof):
    x = rng.standard_normal((3, 5)) + 1j * rng.standard_normal((3, 5))
    for name in ("var", "std"):
        y = getattr(ng, name)(x, axis=1, ddof=ddof)
        np.testing.assert_allclose(y.numpy(), getattr(np, name)(x, axis=1, ddof=ddof))
        assert y.dtype == np.float64
    d = x - x.mean()
    np.testing.assert_allclose(gradient(ng.var, x), 2 * d / x.size)


def test_a_known_mean(rng):
    x = rng.standard_normal((3, 5))
    m = x.mean(1, keepdims=True)
    np.testing.assert_allclose(ng.var(x, axis=1, mean=m).numpy(), x.var(1))
    with pytest.raises(ValueError, match="correction"):
        ng.var(x, ddof=1, correction=1)


def test_std_of_equal_elements_has_gradient_zero():
    x = np.full(3, 2.0)
    np.testing.assert_array_equal(gradient(ng.std, x), np.zeros(3))
    assert np.isnan(second(ng.std, x, np.array(1.0), np.eye(3)[0])).all()  # it does not exist


def test_std_of_one_element_is_nan_when_unbiased():
    x = np.array([2.0])
    assert np.isnan(ng.std(x, ddof=1).item())
    assert np.isnan(gradient(lambda x: ng.std(x, ddof=1), x)).all()


@pytest.mark.parametrize(
    ("x", "weights"),
    [
        ([-INF, -INF], [0.5, 0.5]),
        ([INF, 1.0], [1, 0]),
        ([INF, INF, 1.0], [0.5, 0.5, 0]),
        ([-INF, 1.0], [0, 1]),
        ([1e4, 1e4, -1e4], [0.5, 0.5, 0]),
    ],
)
def test_logsumexp_of_infinities_has_finite_gradients(x, weights):
    x = np.array(x)
    np.testing.assert_array_equal(ng.logsumexp(x).numpy(), special.logsumexp(x))
    np.testing.assert_allclose(gradient(ng.logsumexp, x), weights, 1e-12)
    assert np.isfinite(second(ng.logsumexp, x, np.array(1.0), np.ones(x.size))).all()


def test_the_median_is_that_of_numpy(rng):
    x = rng.random((3, 4, 5))
    x[0, 1, 2], x[2, 2, 2] = np.nan, np.inf
    for axis in (None, 0, 1, (0, 2)):
        for keepdims in (False, True):
            expected = np.median(x, axis=axis, keepdims=keepdims)
            found = ng.median(x, axis, keepdims=keepdims)
            np.testing.assert_array_equal(found.numpy(), expected)
    assert ng.median(3.0).item() == 3.0
    assert np.isnan(ng.median([]).item())


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_logarithms_and_shares_of_no_elements(axis, keepdims):
    x = np.zeros((0, 3))
    expected = special.logsumexp(x, axis, keepdims=keepdims)
    for function in (ng.logsumexp, ng.special.logsumexp):
        np.testing.assert_array_equal(function(x, axis=axis, keepdims=keepdims), expected)
    np.testing.assert_array_equal(
        ng.special.logsumexp(x, axis, x, keepdims=keepdims),
        special.logsumexp(x, axis, x, keepdims=keepdims),
    )
    assert ng.special.softmax(x, axis).shape == ng.special.log_softmax(x, axis).shape == (0, 3)
    assert gradient(lambda x: ng.logsumexp(x, axis=axis), x).shape == (0, 3)
    assert ng.logsumexp(x).item() == ng.special.logsumexp(x, (0, 1), x).item() == -np.inf


def test_logsumexp_of_nan_is_nan():
    assert np.isnan(ng.logsumexp([1.0, np.nan]).item())


@pytest.mark.parametrize("n", [0, 1, 3])
def test_differences_are_those_of_numpy(rng, n):
    x = rng.integers(-5, 5, (3, 4, 5))
    for axis in (0, 1, -1):
        np.testing.assert_array_equal(ng.diff(x, n, axis).numpy(), np.diff(x, n, axis))
    np.testing.assert_array_equal(
        ng.diff(x, prepend=0, append=[[[7]] * 4] * 3).numpy(),
        np.diff(x, prepend=0, append=np.full((3, 4, 1), 7)),
    )
    np.testing.assert_array_equal(ng.diff(x > 0).numpy(), np.diff(x > 0))
    with pytest.raises(ValueError, match="negative"):
        ng.diff(x, -1)


def test_the_trapezoidal_rule_is_that_of_numpy(rng):
    y, points = rng.random((3, 4)), np.sort(rng.random(3))
    np.testing.assert_allclose(ng.trapezoid(y).numpy(), np.trapezoid(y))
    for x, axis in ((points, 0), (np.sort(rng.random((3, 4)), 0), 0), (rng.random((3, 4)), -1)):
        expected = np.trapezoid(y, x, axis=axis)
        np.testing.assert_allclose(ng.trapezoid(y, x, axis=axis).numpy(), expected)
    check_derivatives(lambda x: ng.trapezoid(y, x, axis=0), points, rng)
