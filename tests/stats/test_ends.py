"""Densities and probabilities that are 0 have slopes, though their logarithms have none."""

from functools import partial
from itertools import product

import mpmath as mp
import numpy as np
import pytest
import scipy.stats

import numgrad as ng

from .cases import CONTINUOUS, DISCRETE, each

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

AT_0 = [
    ("gamma", (3.5,)), ("chi2", (7.0,)), ("beta", (3.0, 2.5)), ("beta", (600.0, 700.0)),
    ("f", (7.0, 9.0)), ("weibull_min", (3.0,)), ("powerlaw", (3.0,)), ("fisk", (3.0,)),
    ("triang", (0.3,)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "shapes"), AT_0)
def test_a_density_of_0_does_not_change_with_the_shape(name, shapes):
    def density(shapes, scale):
        return getattr(ng.stats, name).pdf(0.0, *shapes, scale=scale)

    found, of_scale = ng.func.grad(density, argnums=(0, 1))(np.array(shapes), np.array(1.3))
    assert density(shapes, 1.3).item() == 0
    np.testing.assert_array_equal(found, np.zeros(len(shapes)))
    assert of_scale == 0


@pytest.mark.parametrize(
    ("name", "shapes", "slope"),
    [
        ("gamma", (2.0,), 1.0), ("chi2", (4.0,), 0.25), ("beta", (2.0, 2.0), 6.0),
        ("beta", (1.0, 3.0), -6.0), ("f", (4.0, 5.0), 5.6), ("weibull_min", (2.0,), 2.0),
        ("powerlaw", (2.0,), 2.0), ("fisk", (2.0,), 2.0), ("fisk", (1.0,), -2.0),
        ("triang", (0.3,), 2 / 0.3),
    ],
)  # fmt: skip
def test_the_slope_of_a_density_at_its_end(name, shapes, slope):
    density = getattr(ng.stats, name).pdf
    found = ng.func.grad(lambda x: density(x, *shapes, loc=1.0, scale=2.0))(np.array(1.0))
    np.testing.assert_allclose(found, slope / 4, rtol=1e-14)
    found = ng.func.vmap(ng.func.grad(lambda x: density(x, *shapes)))(np.array([0.0, 0.0]))
    np.testing.assert_allclose(found, [slope] * 2, rtol=1e-14)


def test_the_curvature_of_a_density_at_its_end():
    found = ng.func.hessian(lambda x: ng.stats.gamma.pdf(x, 2.0))(np.array(0.0))
    np.testing.assert_allclose(found, -2.0, rtol=1e-14)
    found = ng.func.hessian(lambda x: ng.stats.gamma.pdf(x, 3.0))(np.array(0.0))
    np.testing.assert_allclose(found, 1.0, rtol=1e-14)


@pytest.mark.parametrize(("function", "sign"), [("cdf", 1), ("sf", -1)])
def test_the_slope_of_a_share_at_its_end(function, sign):
    share = getattr(ng.stats.fisk, function)
    for c, slope in ((1.0, 1.0), (2.0, 0.0)):
        assert ng.func.grad(lambda x, c=c: share(x, c))(np.array(0.0)) == sign * slope
    share = getattr(ng.stats.geom, function)
    for k, slope in ((1, 1.0), (2, 0.0)):
        assert ng.func.grad(lambda p, k=k: share(k, p))(np.array(1.0)) == sign * slope


@pytest.mark.parametrize("n", [5, 5000])
@pytest.mark.parametrize("p", [0.0, 1.0])
def test_the_slopes_of_the_binomial_distribution_where_one_count_is_certain(n, p):
    k = np.array([0, 1, 2, n // 2, n - 2, n - 1, n, n + 1, -1])
    found = ng.func.jacobian(lambda p: ng.stats.binom.pmf(k, n, p))(np.array(p))
    certain, next_to = (0, 1) if p == 0 else (n, n - 1)
    slope = n if p == 1 else -n
    np.testing.assert_allclose(
        found, np.where(k == certain, slope, np.where(k == next_to, -slope, 0)), rtol=1e-11
    )
    curvature = ng.func.hessian(lambda p: ng.stats.binom.pmf(certain, n, p))(np.array(p))
    np.testing.assert_allclose(curvature, n * (n - 1), rtol=1e-11)


@pytest.mark.parametrize(
    ("name", "shapes", "p", "k", "slopes"),
    [
        ("bernoulli", (), 0.0, [0, 1], [-1, 1]), ("bernoulli", (), 1.0, [0, 1], [-1, 1]),
        ("poisson", (), 0.0, [0, 1, 2], [-1, 1, 0]), ("geom", (), 1.0, [0, 1, 2, 3], [0, 1, -1, 0]),
        ("nbinom", (3.0,), 1.0, [0, 1, 2], [3, -3, 0]),
    ],
)  # fmt: skip
def test_the_slopes_of_probabilities_where_one_number_is_certain(name, shapes, p, k, slopes):
    probability = getattr(ng.stats, name).pmf
    found = ng.func.jacobian(lambda p: probability(np.array(k), *shapes, p))(np.array(p))
    np.testing.assert_allclose(found, slopes, rtol=1e-12)


def test_a_chain_of_genes_that_is_fixed_at_its_ends():
    copies, n = np.arange(7), 6

    def fixation(s):
        share = copies / n
        share = share * (1 + s) / (1 + s * share)
        steps = ng.stats.binom.pmf(copies, n, share[:, None])
        return ng.linalg.solve(np.eye(n - 1) - steps[1:-1, 1:-1], steps[1:-1, -1])[0]

    slope = ng.func.grad(fixation)(np.array(0.1))
    differences = (fixation(0.1 + 1e-6) - fixation(0.1 - 1e-6)) / 2e-6
    np.testing.assert_allclose(slope, differences.item(), rtol=1e-8)


@pytest.mark.parametrize("x", [1e-300, 1e-20, 1e-9, 0.3, 0.99, 1.0, 3.0, 30.0])
def test_a_half_normal_number_near_0_has_its_digits(x):
    halfnorm, far = ng.stats.halfnorm, mp.mpf(x) / mp.sqrt(2)
    with mp.workdps(340):
        q, beyond = mp.erf(far), mp.erfc(far)
        of_logsf = -mp.sqrt(2 / mp.pi) * mp.exp(-far * far) / beyond
        np.testing.assert_allclose(halfnorm.logsf(x), float(mp.log(beyond)), rtol=1e-15)
        found = ng.func.grad(halfnorm.logsf)(x)
        np.testing.assert_allclose(found, float(of_logsf), rtol=1e-14)
    if x < 1:
        np.testing.assert_allclose(halfnorm.ppf(float(q)), x, rtol=1e-15)


def skew_normal_density(x, a):
    return 2 * mp.npdf(x) * mp.ncdf(a * x)


@pytest.mark.parametrize("shape", [0.3, 3.0, 40.0])
@pytest.mark.parametrize("x", [-9.0, -1.0, -0.2])
def test_the_thin_tail_of_a_skew_normal_number_has_its_digits(shape, x):
    with mp.workdps(40):
        a, h = mp.mpf(shape), -mp.mpf(x)
        # In units of the density, as the rule stops at an absolute error:
        density, width = skew_normal_density(-h, a), 1 / (h * (1 + a * a))
        ends = [-h - width * n for n in (120, 50, 20, 12, 8, 5, 3, 2, 1, 0.5, 0)]
        exact = float(density * mp.quad(lambda t: skew_normal_density(t, a) / density, ends))
    tolerance = 2e-15 * (2 + 0.5 * (x * x + (x * shape) ** 2))  # of the exponential
    for function, sign in (("cdf", 1.0), ("sf", -1.0)):
        share = getattr(ng.stats.skewnorm, function)
        np.testing.assert_allclose(share(sign * x, sign * shape), exact, rtol=tolerance)
        found = ng.func.grad(share)(sign * x, sign * shape)
        np.testing.assert_allclose(sign * found, float(density), rtol=tolerance)


def is_valid(name, shapes):
    """Whether the parameters are those of a distribution, and no limits of such."""
    if name in DISCRETE and {0.0, 1.0} & {*shapes}:
        return False
    return np.isfinite(shapes).all() and not np.isnan(getattr(scipy.stats, name).cdf(0.5, *shapes))


OF_NUMBERS = [c for c in each(CONTINUOUS) if c[0] != "vonmises" and is_valid(*c)]
OF_INTEGERS = [c for c in each(DISCRETE) if c[0] != "betabinom" and is_valid(*c)]


FUNCTIONS = ("cdf", "sf", "logcdf", "logsf", "pdf")


@pytest.mark.parametrize(("name", "shapes"), OF_NUMBERS)
def test_at_infinity_nothing_changes_with_argument_and_parameters(name, shapes):
    own, theirs = getattr(ng.stats, name), getattr(scipy.stats, name)
    for x, function in product((-np.inf, np.inf), FUNCTIONS):
        at, f = np.array([x, *shapes, 0.4, 1.3]), getattr(own, function)
        value = 0.0 if function == "pdf" else getattr(theirs, function)(*at)
        assert f(*at).item() == value, function
        if np.isfinite(value):
            slopes = ng.func.grad(lambda p, f=f: f(*p))(at)
            np.testing.assert_array_equal(slopes, np.zeros(at.size), function)
            curvature = ng.func.hessian(lambda p, f=f, x=x: f(x, *shapes, *p))(at[-2:])
            np.testing.assert_array_equal(curvature, np.zeros((2, 2)), function)


@pytest.mark.parametrize(("name", "shapes"), OF_INTEGERS)
def test_at_infinity_no_probability_of_integers_changes_with_the_parameters(name, shapes):
    own, theirs, at = getattr(ng.stats, name), getattr(scipy.stats, name), np.array(shapes)
    for k, function in product((-np.inf, np.inf), (*FUNCTIONS[:-1], "pmf")):
        f = partial(getattr(own, function), k)
        value = 0.0 if function == "pmf" else getattr(theirs, function)(k, *shapes)
        assert f(*at).item() == value, function
        if np.isfinite(value):
            slopes = ng.func.grad(lambda p, f=f: f(*p))(at)
            np.testing.assert_array_equal(slopes, np.zeros(at.size), function)


@pytest.mark.parametrize(("name", "shapes"), OF_NUMBERS)
def test_far_out_and_beyond_the_support_slopes_are_finite_where_values_are(name, shapes):
    own, at = getattr(ng.stats, name), np.array([*shapes, 0.4, 1.3])
    for x in (-1e10, -2000.0, -40.0, -3.0, 40.0, 2000.0, 1e10):
        for function in FUNCTIONS:
            f = getattr(own, function)
            value, slopes = ng.func.value_and_grad(lambda p, f=f: f(*p))(np.array([x, *at]))
            assert np.isfinite(slopes).all() or not np.isfinite(value), (function, x)


@pytest.mark.parametrize(("a", "b"), [(-1.0, 2.0), (0.0, np.inf), (5.0, 8.0), (-8.0, -5.0)])
def test_the_slope_of_the_share_of_a_truncated_number_at_its_ends(a, b):
    own, density = ng.stats.truncnorm, scipy.stats.truncnorm(a, b).pdf
    with_loc = lambda f, x: ng.func.grad(lambda p: f(p[0] + x, a, b, p[1] + 0.0, 1.0))  # noqa: E731
    found = with_loc(own.cdf, a)(np.zeros(2))
    np.testing.assert_allclose(found, [density(a), -density(a)], rtol=1e-12)
    assert own.cdf(a, a, b).item() == 0
    if b < np.inf:
        found = with_loc(own.sf, b)(np.zeros(2))
        np.testing.assert_allclose(found, [-density(b), density(b)], rtol=1e-12)
        assert own.sf(b, a, b).item() == 0
    found = ng.func.grad(lambda a: own.cdf(-0.5, a, 2.0))(np.array(-0.5))  # the end is moved
    np.testing.assert_allclose(found, -scipy.stats.truncnorm.pdf(-0.5, -0.5, 2.0), rtol=1e-12)


def test_the_logarithm_of_the_share_above_a_log_logistic_number_at_0():
    logsf = ng.stats.fisk.logsf
    for c, slope in ((1.0, -1.0), (2.0, 0.0), (3.5, 0.0)):
        assert ng.func.grad(lambda x, c=c: logsf(x, c))(np.array(0.0)) == slope
        assert ng.func.grad(lambda c: logsf(0.0, c, 0.0, 2.0))(np.array(c)) == 0


@pytest.mark.parametrize("name", ["weibull_min", "fisk", "powerlaw", "gamma", "beta"])
@pytest.mark.parametrize("shape", [0.5, 1.0, 1.35, 2.0, 3.0])
def test_a_share_of_nothing_does_not_change_with_the_scale(name, shape):
    shapes = (shape, 2.0) if name == "beta" else (shape,)
    for function, value in (("cdf", 0.0), ("sf", 1.0), ("logsf", 0.0)):
        of = getattr(getattr(ng.stats, name), function)
        share = lambda s, of=of: of(0.7, *shapes, 0.7, s)  # noqa: E731
        assert share(1.3).item() == value
        assert ng.func.grad(share)(1.3) == 0
        assert ng.func.hessian(share)(1.3) == 0
        assert ng.jit(ng.func.grad(ng.func.grad(share)))(1.3) == 0


def test_intervals_that_are_open_at_one_end():
    low, high = np.array([-np.inf, 0.2, 1.0]), np.array([0.2, 1.0, np.inf])

    def loss(p, low, high):
        cdf = ng.stats.norm(p[0], p[1]).cdf
        return -np.log(cdf(high) - cdf(low)).sum()

    at, ends = np.array([0.3, 1.2]), (low.clip(-1e3), high.clip(None, 1e3))
    found = ng.func.grad(loss)(at, low, high)
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found, ng.func.grad(loss)(at, *ends))
    np.testing.assert_array_equal(ng.jit(ng.func.grad(loss))(at, low, high), found)
    found = ng.func.hessian(loss)(at, low, high)
    np.testing.assert_allclose(found, ng.func.hessian(loss)(at, *ends), rtol=1e-13)
    assert np.isnan(ng.stats.norm.cdf(np.inf, 0.0, -1.0).item())


@pytest.mark.parametrize("mu", [0.01, 0.7, 50.0])
def test_survival_of_the_inverse_gaussian_far_out(mu):
    """With ``log(erfcx)`` from its series, as the two parts of the probability are nearly equal."""

    def exact(x):
        low, high = ((x / mu - k) / mp.sqrt(2 * x) for k in (1, -1))
        logs = []
        for z in (low, high):
            terms = [mp.fac2(2 * k - 1) / (-2 * z * z) ** k for k in range(20)]
            logs.append(mp.log(mp.fsum(terms) / (z * mp.sqrt(mp.pi))))
        return -low * low - mp.log(2) + logs[0] + mp.log1p(-mp.exp(logs[1] - logs[0]))

    for x in (1e6, 1e8, 1e10, 1e16, 1e40):
        t = ng.tensor(x, requires_grad=True)
        value = ng.stats.invgauss.logsf(t, mu)
        with mp.workdps(120):
            wanted = [float(exact(mp.mpf(x))), float(mp.diff(exact, x, h=mp.mpf(x) / 10**30))]
        found = value.item(), ng.grad(value, t)[0].item()
        np.testing.assert_allclose(found, wanted, rtol=1e-12, err_msg=f"{x}")
        assert np.isfinite(ng.grad(ng.stats.invgauss.sf(t, mu), t)[0].item())
