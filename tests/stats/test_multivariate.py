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
    ("multivariate_t", (rng.normal(size=3), MEAN, COV, 2.5)),
    ("multivariate_t", (rng.normal(size=(2, 5, 3)), MEAN, COV, 0.7)),
    ("multivariate_t", (rng.normal(size=(5, 3)), MEAN, np.array([1.0, 2.0, 3.0]), 40.0)),
    ("multivariate_t", (rng.normal(size=(5, 3)), None, COV, 4.0)),
    ("multivariate_t", (rng.normal(size=5), 1.0, 2.0)),
    ("multivariate_t", (0.3,)),
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
    ("multivariate_t", (*CASES[1][1], 2.5), (0, 1, 2, 3)),
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


PLANE = rng.normal(size=(4, 2))
FLAT = PLANE @ PLANE.T  # of rank 2
IN_PLANE = rng.normal(size=(5, 2)) @ PLANE.T
SINGULAR = [
    (IN_PLANE, np.zeros(4), FLAT),
    (np.vstack([IN_PLANE, np.ones((1, 4))]) + 3.0, np.full(4, 3.0), FLAT),
    (IN_PLANE, IN_PLANE[0], FLAT + np.eye(4)),
    (np.array([[1.0, 0.0, 2.0], [1.0, 1e-3, 2.0]]), np.zeros(3), np.array([1.0, 0.0, 2.0])),
    (0.3, 0.0, 2.0),
]


@pytest.mark.parametrize("given", SINGULAR)
def test_a_singular_covariance_has_the_density_of_its_space(given):
    own, theirs = ng.stats.multivariate_normal, scipy.stats.multivariate_normal
    expected = theirs.logpdf(*given, allow_singular=True)
    actual = own.logpdf(*given, allow_singular=True)
    np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-10)
    captured = ng.jit(lambda *given: own.pdf(*given, allow_singular=True))(*given)
    np.testing.assert_allclose(captured, np.exp(expected), rtol=1e-10)
    frozen = own(*given[1:], allow_singular=True)
    np.testing.assert_array_equal(frozen.logpdf(given[0]).numpy(), actual.numpy())


def of_rank_two(stats, numbers):
    """Return a log likelihood, in which points, mean and covariance stay in one plane."""
    factor = numbers[2:].reshape(4, 2)
    points = np.array([[1.0, -0.5], [0.3, 2.0]]) @ factor.T
    mean = numbers[:2] @ factor.T
    density = stats.multivariate_normal(mean, factor @ factor.T, allow_singular=True)
    return density.logpdf(points).sum() + density.entropy()


@pytest.mark.parametrize("way", [ng.func.grad, ng.func.jacfwd])
def test_gradients_of_a_singular_covariance_are_right_where_the_rank_stays(way):
    numbers = np.concatenate([[0.2, -0.4], PLANE.reshape(-1)])
    actual = way(lambda numbers: of_rank_two(ng.stats, numbers))(numbers)
    steps = 1e-5 * np.eye(numbers.size)
    up, down = ([of_rank_two(scipy.stats, numbers + s * h) for h in steps] for s in (1, -1))
    np.testing.assert_allclose(actual, (np.array(up) - down) / 2e-5, rtol=1e-6, atol=1e-8)


def test_a_point_outside_of_the_space_has_no_gradient():
    given = [ng.tensor(v, requires_grad=True) for v in (np.ones(4), np.zeros(4), FLAT)]
    y = ng.stats.multivariate_normal.logpdf(*given, allow_singular=True)
    assert y.item() == -np.inf
    assert all((g.numpy() == 0).all() for g in ng.grad(y, given))


def test_a_covariance_that_is_not_valid_is_nan_where_singular_ones_are_allowed():
    indefinite = np.diag([1.0, -1.0])
    density = ng.stats.multivariate_normal([0.0, 0.0], indefinite, allow_singular=True)
    assert np.isnan(density.logpdf([1.0, 0.0]).item())
    assert np.isnan(density.entropy().item())


ENTROPIES = [
    ("multivariate_normal", (MEAN, COV)),
    ("multivariate_normal", (np.zeros(4), FLAT)),
    ("multivariate_normal", (None, 2.5)),
    ("dirichlet", (ALPHA,)),
    ("wishart", (4.5, COV)),
    ("wishart", (3.0, 1.5)),
]


@pytest.mark.parametrize(("name", "given"), ENTROPIES)
def test_entropies_equal_scipy(name, given):
    own, theirs = getattr(ng.stats, name), getattr(scipy.stats, name)
    actual = own.entropy(*given)
    assert actual.shape == ()
    np.testing.assert_allclose(actual.numpy(), theirs.entropy(*given), rtol=1e-12)
    np.testing.assert_array_equal(own(*given).entropy().numpy(), actual.numpy())


@pytest.mark.parametrize(("name", "given"), [ENTROPIES[0], *ENTROPIES[3:5]])
def test_gradients_of_entropies(name, given):
    own, theirs = getattr(ng.stats, name).entropy, getattr(scipy.stats, name).entropy
    for place, x in enumerate(given):
        x, direction = np.asarray(x, float), np.asarray(rng.normal(size=np.shape(x)))
        direction = direction + direction.T  # matrices stay symmetric

        def at(x, place=place):
            return [x if i == place else v for i, v in enumerate(given)]

        actual = (ng.func.grad(lambda x, at=at: own(*at(x)))(x) * direction).sum()
        up, down = (theirs(*at(x + s * direction)) for s in (1e-5, -1e-5))
        np.testing.assert_allclose(actual, (up - down) / 2e-5, rtol=1e-6, atol=1e-9)


def test_an_entropy_without_formula_and_parameters_that_are_not_valid():
    expected = scipy.stats.multinomial.entropy(3, P)
    np.testing.assert_array_equal(ng.stats.multinomial.entropy(3, P).numpy(), expected)
    assert np.isnan(ng.stats.dirichlet.entropy([-1.0, 2.0]).item())
    assert np.isnan(ng.stats.wishart.entropy(1.0, COV).item())


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


def test_many_degrees_of_freedom_lead_to_the_normal_distribution():
    x = np.array([0.3, -1.0, 2.0])
    normal = ng.stats.multivariate_normal.logpdf(x, MEAN, COV).item()
    for df in (1e13, np.inf):
        found = ng.stats.multivariate_t.logpdf(x, MEAN, COV, df).item()
        np.testing.assert_allclose(found, normal, 1e-12)
    slope = ng.func.grad(lambda df: ng.stats.multivariate_t.logpdf(x, MEAN, COV, df))
    np.testing.assert_allclose(slope(np.array(1e8)) * 1e4, slope(np.array(1e6)), 1e-4)


@pytest.mark.parametrize("df", [0.0, -1.0, np.nan])
def test_without_degrees_of_freedom_there_is_no_density(df):
    assert np.isnan(ng.stats.multivariate_t.pdf([0.3, 1.0], [0.0, 0.0], 1.0, df).item())


def test_shapes_that_do_not_fit_are_named_after_their_distribution():
    with pytest.raises(ValueError, match=r"stats\.multivariate_t: the mean has shape \(2,\)"):
        ng.stats.multivariate_t.logpdf([0.3, 1.0], [0.0, 0.0], np.eye(3))
