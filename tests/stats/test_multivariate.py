"""Distributions of vectors and matrices against SciPy, gradients against differences of values."""

import numpy as np
import pytest
import scipy.stats

import numgrad as ng

rng = np.random.default_rng(0)
FACTOR = rng.normal(size=(3, 3))
COV = FACTOR @ FACTOR.T + np.eye(3)
MEAN = rng.normal(size=3)
ALPHA = np.array([0.5, 1.0, 3.0])
SHARES = np.array([[0.2, 0.3, 0.5], [0.1, 0.2, 0.7], [0.6, 0.3, 0.1]]).T
MATRICES = scipy.stats.wishart.rvs(5, COV, size=2, random_state=0)
P = np.array([0.2, 0.3, 0.5])
COUNTS = rng.multinomial(7, P, size=4).astype(float)

CASES = [
    ("multivariate_normal", (rng.normal(size=3), MEAN, COV)),
    ("multivariate_normal", (rng.normal(size=(2, 5, 3)), MEAN, COV)),
    ("multivariate_normal", (rng.normal(size=(1, 3)), MEAN, COV)),
    ("multivariate_normal", (rng.normal(size=(5, 3)), MEAN, np.array([1.0, 2.0, 3.0]))),
    ("multivariate_normal", (rng.normal(size=(5, 3)), MEAN, 2.0)),
    ("multivariate_normal", (rng.normal(size=(5, 3)), None, COV)),
    ("multivariate_normal", (rng.normal(size=5), 1.0, 2.0)),
    ("multivariate_normal", (0.3,)),
    ("dirichlet", (SHARES, ALPHA)),
    ("dirichlet", (SHARES[:, 0], ALPHA)),
    ("dirichlet", (SHARES[:2], ALPHA)),
    ("wishart", (MATRICES[0], 4.5, COV)),
    ("wishart", (np.moveaxis(MATRICES, 0, -1), 4.5, COV)),
    ("wishart", (np.array([2.0, 3.0]), 3.0, 1.5)),
    ("multinomial", (COUNTS, 7, P)),
    ("multinomial", (COUNTS + [0, 0, 1], [7, 8, 8, 9], P)),
    ("multinomial", ([1.0, 0.5, 1], 2.5, P)),
    ("multinomial", ([0, 2, 1], 3, [0.0, 0.3, 0.7])),
]


@pytest.mark.parametrize(("name", "given"), CASES)
def test_values_equal_scipy(name, given):
    kinds = ("logpmf", "pmf") if name == "multinomial" else ("logpdf", "pdf")
    for kind in kinds:
        expected = getattr(getattr(scipy.stats, name), kind)(*given)
        actual = getattr(getattr(ng.stats, name), kind)(*given)
        assert actual.shape == np.shape(expected)
        np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-12)


GRADIENTS = [
    ("multivariate_normal", CASES[1][1], (0, 1, 2)),
    ("multivariate_normal", CASES[3][1], (0, 1, 2)),
    ("dirichlet", CASES[8][1], (1,)),
    ("dirichlet", CASES[10][1], (0, 1)),
    ("wishart", CASES[11][1], (0, 1, 2)),
]


@pytest.mark.parametrize(("name", "given", "places"), GRADIENTS)
def test_gradients(name, given, places):
    tensors = [ng.tensor(x, requires_grad=i in places) for i, x in enumerate(given)]
    y = getattr(ng.stats, name).logpdf(*tensors).sum()
    found = ng.grad(y, [tensors[i] for i in places])
    for place, gradient in zip(places, found, strict=True):
        direction = np.asarray(rng.normal(size=np.shape(given[place])))
        if direction.shape == (3, 3):
            direction = direction + direction.T  # stays symmetric

        def value(step, place=place, direction=direction):
            moved = [x + step * direction if i == place else x for i, x in enumerate(given)]
            return getattr(scipy.stats, name).logpdf(*moved).sum()

        expected = (value(1e-5) - value(-1e-5)) / 2e-5
        np.testing.assert_allclose((gradient.numpy() * direction).sum(), expected, rtol=1e-6)


def test_the_gradient_of_probabilities_is_that_of_a_likelihood():
    p = ng.tensor(P, requires_grad=True)
    (slope,) = ng.grad(ng.stats.multinomial.logpmf([2, 0, 5], 7, p), p)
    np.testing.assert_allclose(slope.numpy(), np.array([2, 0, 5]) / P, rtol=1e-14)


def test_points_outside_and_parameters_that_are_not_valid():
    assert ng.stats.dirichlet.logpdf([0.5, 0.6, 0.1], ALPHA).item() == -np.inf
    assert np.isnan(ng.stats.dirichlet.logpdf([0.5, 0.4, 0.1], [-1, 1.0, 1.0]).item())
    assert np.isnan(ng.stats.multinomial.logpmf([1, 2], 3, [0.5, 0.6]).item())
    assert np.isnan(ng.stats.wishart.logpdf(COV, 1.0, COV).item())
    with pytest.raises(np.linalg.LinAlgError):
        ng.stats.multivariate_normal.logpdf(MEAN, MEAN, COV - 9 * np.eye(3))


@pytest.mark.parametrize(("mean", "cov"), [(MEAN, COV[:2, :2]), (COV, COV), (MEAN, COV[None])])
def test_shapes_that_do_not_fit(mean, cov):
    with pytest.raises(ValueError, match=r"stats\.multivariate_normal"):
        ng.stats.multivariate_normal.logpdf(MEAN, mean, cov)
    with pytest.raises(ValueError, match=r"stats\.dirichlet"):
        ng.stats.dirichlet.logpdf([0.5, 0.5], [1.0, 1.0, 1.0, 1.0])


def test_counts_have_no_derivative():
    with pytest.raises(ng.errors.NotDifferentiableError, match=r"stats\.multinomial"):
        ng.stats.multinomial.logpmf(ng.tensor(COUNTS, requires_grad=True), 7, P)
