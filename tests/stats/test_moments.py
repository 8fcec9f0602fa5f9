"""Means, variances, entropies and upper quantiles against SciPy, and slopes against differences."""

from itertools import product

import numpy as np
import pytest
import scipy.stats

import numgrad as ng

from .cases import CONTINUOUS, DISCRETE, PROBABILITIES, differences, each, scipys_quantiles

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
CASES = [case for case in each(CONTINUOUS | DISCRETE) if case != ("f", (3.0, -1.0))]
PLACES = [(), (0.3, 2.0), (0.5,), (1.0, -1.0)]
HALF_DIGITS = {("truncnorm", (-40.0, -35.0))}
"""The variance is the small difference of large numbers."""


NO_ENTROPY_OF_SCIPY = [
    ("pareto", (0.0,)), ("truncnorm", (-np.inf, 0.5)), ("truncnorm", (1.0, np.inf)),
    ("geom", (1.0,)),
]  # fmt: skip
NAN_FOR_INFINITY = {"fisk", "genpareto"}


def moments_of(name, shapes):
    """Yield the moments for which SciPy has a formula."""
    yield "mean"
    if name != "vonmises":
        yield from ("var", "std")
    if (name, shapes) not in NO_ENTROPY_OF_SCIPY:
        yield "entropy"


@pytest.mark.parametrize(("name", "shapes"), CASES)
def test_moments_equal_scipy(name, shapes):
    rtol = 1e-3 if (name, shapes) in HALF_DIGITS else 1e-9
    places = PLACES if name in CONTINUOUS else [(), (2,)]
    for function, place in product(moments_of(name, shapes), places):
        expected = getattr(getattr(scipy.stats, name), function)(*shapes, *place)
        actual = getattr(getattr(ng.stats, name), function)(*shapes, *place)
        assert isinstance(actual, ng.Tensor)
        if name in NAN_FOR_INFINITY and np.isnan(expected):
            valid = shapes[0] > 0 and place[1:] != (-1.0,)
            expected = np.inf if valid else np.nan
        what = f"{function} at {place}"
        np.testing.assert_allclose(actual.numpy(), expected, rtol, 1e-12, err_msg=what)


INNER = {
    "fisk": (3.0,), "genextreme": (0.4,), "genpareto": (-0.3,), "gompertz": (0.5,),
    "loguniform": (0.4, 3.0), "powerlaw": (3.0,), "beta": (2.0, 3.0), "binom": (5.0, 0.3),
    "betabinom": (5.0, 2.0, 1.5),
    "chi2": (3.5,), "f": (2.0, 5.0), "gamma": (3.2,),
    "geom": (0.3,), "invgamma": (4.0,), "lognorm": (0.7,), "nbinom": (2.5, 0.3), "pareto": (3.0,),
    "poisson": (3.3,), "skewnorm": (-3.0,), "t": (3.0,), "triang": (0.3,), "vonmises": (0.5,),
    "truncnorm": (-1.0, 2.0), "weibull_min": (3.0,), "bernoulli": (0.3,), "invgauss": (0.3,),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted({*CONTINUOUS, *DISCRETE} - {"cauchy", "halfcauchy"}))
def test_slopes_of_moments(name):
    own, theirs = getattr(ng.stats, name), getattr(scipy.stats, name)
    place = (0.3, 2.0) if name in CONTINUOUS else (2.0,)
    values = [np.array(v) for v in (*INNER.get(name, ()), *place)]
    tensors = [ng.tensor(v, requires_grad=True) for v in values]
    for function in [f for f in ("mean", "var", "entropy") if f in own._formulas]:
        y = getattr(own, function)(*tensors)
        found = ng.grad(y, tensors, allow_unused=True, materialize_grads=True)
        for number, gradient in enumerate(found):
            if name in ("binom", "betabinom") and number == 0:
                continue  # SciPy takes whole numbers of trials only
            expected = differences(getattr(theirs, function), values, number)
            what = f"{function}, argument {number}"
            np.testing.assert_allclose(gradient.numpy(), expected, 1e-6, 1e-8, err_msg=what)


@pytest.mark.parametrize(("name", "shapes"), list(each(CONTINUOUS)))
def test_upper_quantiles_equal_scipy(name, shapes):
    q = PROBABILITIES[~(PROBABILITIES == 1e-300)] if name in SMALL else PROBABILITIES
    for place in ((), (0.3, 2.0)):
        expected = scipys_quantiles(name, "isf", q, shapes, place)
        actual = getattr(ng.stats, name).isf(q, *shapes, *place).numpy()
        rtol = 1e-6 if name in SMALL else 1e-9
        np.testing.assert_allclose(actual, expected, rtol, 1e-15, err_msg=f"{place}")


SMALL = {"f", "truncnorm"}
"""Where SciPy takes small probabilities from 1 or leaves the support."""


@pytest.mark.parametrize("df", [99.0, 101.0, 1e4, 1e10])
def test_entropies_of_large_parameters_keep_their_digits(df):
    """Both are normal in the limit: the first terms of their series in ``1 / df`` are known."""
    normal = 0.5 * np.log(2 * np.pi * np.e)
    t = normal + 1 / df + 1 / (4 * df**2) - 1 / (6 * df**3) - 1 / (8 * df**4)
    np.testing.assert_allclose(ng.stats.t.entropy(df).item(), t, 1e-9 if df < 1e3 else 1e-15)
    gamma = normal + 0.5 * np.log(df) - 1 / (3 * df) - 1 / (12 * df**2) - 1 / (90 * df**3)
    np.testing.assert_allclose(ng.stats.gamma.entropy(df).item(), gamma, 1e-9)


def test_medians_and_intervals_have_slopes():
    theta = np.array([2.3, 0.8])

    def width(theta):
        claims = ng.stats.weibull_min(theta[0], scale=theta[1])
        low, high = claims.interval(0.9)
        return (high - low) / claims.median()

    def reference(theta):
        claims = scipy.stats.weibull_min(theta[0], scale=theta[1])
        low, high = claims.interval(0.9)
        return (high - low) / claims.median()

    np.testing.assert_allclose(width(theta), reference(theta), 1e-14)
    expected = [(reference(theta + h) - reference(theta - h)) / 2e-6 for h in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(ng.func.grad(width)(theta), expected, 1e-6, 1e-9)


def test_an_evidence_bound_of_two_normal_distributions():
    """The divergence of two normal distributions by their entropies and moments."""

    def divergence(theta):
        q = ng.stats.norm(theta[0], ng.exp(theta[1]))
        return 0.5 * (q.var() + q.mean() ** 2) - q.entropy() + 0.5 * np.log(2 * np.pi)

    m, s = 0.4, -0.3
    slope = ng.func.grad(divergence)(np.array([m, s]))
    np.testing.assert_allclose(slope, [m, np.exp(2 * s) - 1], 1e-14)


def test_what_has_no_formula_is_scipys():
    x = np.array([0.3, 0.4, 1.2])
    assert ng.stats.norm.fit(x) == scipy.stats.norm.fit(x)
    np.testing.assert_array_equal(ng.stats.vonmises.cdf(x, 2.0), scipy.stats.vonmises.cdf(x, 2.0))
    assert ng.stats.gamma(2.0).expect(np.sqrt) == scipy.stats.gamma(2.0).expect(np.sqrt)
    assert ng.stats.poisson.ppf(0.3, 4.0) == scipy.stats.poisson.ppf(0.3, 4.0)
    draws = ng.stats.norm.rvs(1.0, 2.0, size=3, random_state=4)
    np.testing.assert_array_equal(draws, scipy.stats.norm.rvs(1.0, 2.0, size=3, random_state=4))
    mean = ng.stats.multivariate_normal([1.0, 2.0]).rvs(5, random_state=np.random.default_rng(3))
    assert mean.shape == (5, 2)
    assert repr(ng.stats.norm) == "<numgrad.stats.norm>"
    with pytest.raises(AttributeError, match="nothing_such"):
        ng.stats.norm.nothing_such  # noqa: B018


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda v: ng.stats.vonmises.cdf(0.3, v), "stats.vonmises.cdf"),
        (lambda v: ng.stats.vonmises.var(v), "stats.vonmises.var"),
        (lambda v: ng.stats.vonmises.isf(0.3, v), "stats.vonmises.isf"),
        (lambda v: ng.stats.vonmises(v).median(), "stats.vonmises.ppf"),
        (lambda v: ng.stats.nbinom.entropy(v, 0.5), "stats.nbinom.entropy"),
        (lambda v: ng.stats.multinomial.entropy(3, [v, 0.5]), "stats.multinomial.entropy"),
    ],
)
def test_derivatives_without_a_formula_are_refused(call, name):
    with pytest.raises(NotImplementedError, match=f"{name}: there is no formula"):
        call(ng.tensor(0.5, requires_grad=True))
