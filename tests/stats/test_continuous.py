"""Continuous distributions against SciPy, and their gradients against differences of its values."""

import copy
import pickle
from itertools import product

import mpmath
import numpy as np
import pytest
import scipy.stats

import numgrad as ng

from .cases import CONTINUOUS, INSIDE, PROBABILITIES, differences, each, points, scipys_quantiles

# SciPy computes infinities with a warning.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
CASES = list(each(CONTINUOUS))
TWO_PLACES = ((), (0.3, 2.0))
"""Location and scale."""
WITHOUT_CDF = {"vonmises"}
WITHOUT_PPF = {"vonmises", "skewnorm", "invgauss"}


def assert_equal_logs(actual, expected, what):
    np.testing.assert_allclose(actual, expected, 1e-12, 1e-14, equal_nan=True, err_msg=what)


@pytest.mark.parametrize(("name", "shapes"), CASES)
def test_densities_equal_scipy_everywhere(name, shapes):
    own, theirs = getattr(ng.stats, name), getattr(scipy.stats, name)
    for place in ((), (0.3, 2.0), (0.5,), (1.0, -1.0), (0.0, 0.0)):
        given = (points(name, "logpdf"), *shapes, *place)
        actual = own.logpdf(*given)
        assert_equal_logs(actual.numpy(), theirs.logpdf(*given), f"{place}")
        density, expected = own.pdf(*given).numpy(), ng.exp(actual).numpy(copy=True)
        # At infinity the logarithm may be a difference of infinities; the density is 0.
        expected[np.isinf(given[0]) & (density == 0)] = 0.0
        np.testing.assert_array_equal(density, expected, f"{place}")


@pytest.mark.parametrize(("name", "shapes"), [c for c in CASES if c[0] not in WITHOUT_CDF])
def test_distribution_functions_equal_scipy(name, shapes):
    for function, place in product(("cdf", "sf", "logcdf", "logsf"), TWO_PLACES):
        given, what = (points(name, function), *shapes, *place), f"{function} at {place}"
        expected = getattr(getattr(scipy.stats, name), function)(*given)
        actual = getattr(getattr(ng.stats, name), function)(*given).numpy()
        if name == "triang":  # where SciPy has fewer digits, near the end
            np.testing.assert_allclose(actual, expected, 1e-9, 1e-16, err_msg=what)
        elif function.startswith("log"):
            assert_equal_logs(actual, expected, what)
        else:
            np.testing.assert_allclose(actual, expected, 1e-12, 1e-300, err_msg=what)


OF_QUANTILES = [c for c in CASES if c[0] not in WITHOUT_PPF and c[1] != (-40.0, -35.0)]


@pytest.mark.parametrize(("name", "shapes"), OF_QUANTILES)
def test_quantiles_equal_scipy(name, shapes):
    for place in TWO_PLACES:
        expected = scipys_quantiles(name, "ppf", PROBABILITIES, shapes, place)
        actual = getattr(ng.stats, name).ppf(PROBABILITIES, *shapes, *place).numpy()
        np.testing.assert_allclose(actual, expected, 1e-10, 1e-15, err_msg=f"{place}")


def slopes(name, function, x, shapes, wanted):
    """Return the sum's gradients to the argument and the parameters, NaN where there is none."""
    values = [np.broadcast_to(v, x.shape).astype(float) for v in (x, *shapes, 0.3, 2.0)]
    tensors = [ng.tensor(v, requires_grad=i in wanted) for i, v in enumerate(values)]
    y = getattr(getattr(ng.stats, name), function)(*tensors)
    found = ng.grad(y.sum(), [tensors[i] for i in wanted], allow_unused=True)
    return values, [np.zeros(x.shape) if g is None else g.numpy() for g in found]


VALID = [
    (name, shapes)
    for name, shapes in CASES
    if not np.isnan(getattr(scipy.stats, name).logpdf(0.5, *shapes)) and np.isfinite(shapes).all()
    and not (name == "triang" and shapes[0] in (0, 1)) and 1e10 not in shapes
]  # fmt: skip


@pytest.mark.parametrize(("name", "shapes"), VALID)
def test_gradients_of_densities_and_distribution_functions(name, shapes):
    """To the argument, location and scale; shapes have one where a closed form exists."""
    theirs = getattr(scipy.stats, name)
    wanted = range(len(shapes) + 3)
    for function in ("logpdf",) if name in WITHOUT_CDF else ("logpdf", "cdf", "logsf"):
        is_log, largest = function == "logpdf", 3 if name == "skewnorm" else 30
        x = INSIDE if is_log else INSIDE[np.abs(INSIDE) < largest]
        values, found = slopes(name, function, x, shapes, wanted)
        outside = theirs.logpdf(*values) == -np.inf if is_log else theirs.pdf(*values) == 0
        for place, gradient in zip(wanted, found, strict=True):
            with np.errstate(invalid="ignore"):
                expected = differences(getattr(theirs, function), values, place)
            expected[outside] = 0
            what = f"{function}, argument {place}"
            np.testing.assert_allclose(gradient, expected, 2e-6, 1e-9, err_msg=what)


@pytest.mark.parametrize("name", ["beta", "f", "t"])
def test_second_derivatives_to_shapes_of_beta_functions_are_refused(name):
    shapes = CONTINUOUS[name][1]
    with pytest.raises(NotImplementedError, match=r"the slope of .*, not the second"):
        ng.func.hessian(lambda s: getattr(ng.stats, name).cdf(0.6, s, *shapes[1:]))(shapes[0])


@pytest.mark.parametrize(("name", "shapes"), [("skewnorm", (2.0,)), ("invgauss", (0.7,))])
def test_quantiles_without_a_formula_have_the_slopes_of_the_inverse(name, shapes):
    q = np.array([0.05, 0.35, 0.62, 0.95])
    for function in ("ppf", "isf"):
        values, found = slopes(name, function, q, shapes, range(len(shapes) + 3))
        for place, gradient in enumerate(found):
            expected = differences(getattr(getattr(scipy.stats, name), function), values, place)
            np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)
    x = getattr(ng.stats, name).ppf(0.35, *shapes).item()
    density = getattr(ng.stats, name).pdf(x, *shapes).item()
    slope = ng.func.grad(lambda x: getattr(ng.stats, name).pdf(x, *shapes))(x)
    second = ng.func.hessian(lambda q: getattr(ng.stats, name).ppf(q, *shapes))(0.35)
    np.testing.assert_allclose(second, -slope / density**3, rtol=1e-9)


QUANTILES = [(name, shapes) for name, shapes in VALID if name not in WITHOUT_PPF]


@pytest.mark.parametrize(("name", "shapes"), QUANTILES)
def test_gradients_of_quantiles(name, shapes):
    q = np.array([0.05, 0.35, 0.62, 0.95])
    wanted = range(len(shapes) + 3)
    values, found = slopes(name, "ppf", q, shapes, wanted)
    for place, gradient in zip(wanted, found, strict=True):
        expected = differences(getattr(scipy.stats, name).ppf, values, place)
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-9)


FAR = {
    "cauchy": ((), -2 * np.log(1e200) - np.log(np.pi)),
    "halfcauchy": ((), -2 * np.log(1e200) - np.log(np.pi / 2)),
    "laplace": ((), -1e200),
    "t": ((1.0,), -2 * np.log(1e200) - np.log(np.pi)),
}


@pytest.mark.parametrize("name", FAR)
def test_densities_far_out_where_squares_overflow(name):
    shapes, expected = FAR[name]
    x = ng.tensor(1e200, requires_grad=True)
    y = getattr(ng.stats, name).logpdf(x, *shapes)
    np.testing.assert_allclose(y.item(), expected, rtol=1e-14)
    slope = -1.0 if name == "laplace" else -2e-200
    np.testing.assert_allclose(ng.grad(y, x)[0].item(), slope, rtol=1e-14)


@pytest.mark.parametrize(
    ("name", "shapes", "expected"),
    [
        ("expon", (), -1.0),
        ("gamma", (1.0,), -1.0),
        ("chi2", (2.0,), -0.5),
        ("weibull_min", (1.0,), -1.0),
        ("beta", (1.0, 3.0), -2.0),
        ("halfnorm", (), 0.0),
        ("uniform", (), 0.0),
        ("truncnorm", (0.0, 1.0), 0.0),
        ("f", (2.0, 4.0), -1.5),
    ],
)
def test_gradients_at_the_edge_of_the_support(name, shapes, expected):
    x = ng.tensor(0.0, requires_grad=True)
    (slope,) = ng.grad(getattr(ng.stats, name).logpdf(x, *shapes), x)
    np.testing.assert_allclose(slope.item(), expected, rtol=1e-14, atol=1e-15)


def test_derivatives_of_second_order():
    x = np.array([0.4, 1.7])

    def total(theta):
        return ng.stats.gamma.logpdf(x, theta[0], scale=theta[1]).sum()

    a, s = 2.3, 0.8
    hessian = ng.func.hessian(total)(np.array([a, s]))
    first = -2 * scipy.special.polygamma(1, a)
    expected = [[first, -2 / s], [-2 / s, 2 * a / s**2 - 2 * x.sum() / s**3]]
    np.testing.assert_allclose(hessian, expected, rtol=1e-12)


def test_forward_mode_mapped_and_captured_functions_agree():
    x, mu = np.array([0.3, -1.2, 2.0]), np.array([0.1, 0.5, -0.3])

    def one(x, mu):
        return ng.stats.t.logpdf(x, 3.5, mu, 2.0)

    expected = ng.func.vmap(ng.func.grad(one, argnums=1))(x, mu)
    forward = np.diagonal(ng.func.jacfwd(one, argnums=1)(x, mu))
    np.testing.assert_allclose(forward, expected, rtol=1e-14)
    captured = ng.jit(ng.func.grad(lambda x, mu: one(x, mu).sum(), argnums=1))
    captured(x + 1, mu)
    np.testing.assert_allclose(captured(x, mu), expected, rtol=1e-14)


def test_parameters_broadcast_and_results_are_of_double_precision():
    x = np.float32([[0.5], [1.0]])
    actual = ng.stats.gamma.logpdf(x, [1, 2, 3], scale=np.float32(2))
    assert actual.shape == (2, 3)
    assert actual.dtype == np.float64
    np.testing.assert_allclose(
        actual.numpy(), scipy.stats.gamma.logpdf(x, [1, 2, 3], scale=2), rtol=1e-14
    )


@pytest.mark.parametrize("name", ["gamma", "poisson", "dirichlet", "multinomial"])
def test_copies_of_distributions_are_the_distributions(name):
    distribution = getattr(ng.stats, name)
    assert pickle.loads(pickle.dumps(distribution)) is distribution
    assert copy.deepcopy(distribution) is distribution


def test_frozen_distributions():
    own, theirs = ng.stats.lognorm(0.5, scale=2.0), scipy.stats.lognorm(0.5, scale=2.0)
    np.testing.assert_allclose(own.logcdf(1.3).item(), theirs.logcdf(1.3), rtol=1e-13)
    np.testing.assert_allclose(own.ppf(0.2).item(), theirs.ppf(0.2), rtol=1e-13)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ng.stats.gamma.logpdf(1.0),
        lambda: ng.stats.gamma.logpdf(1.0, 2.0, a=3.0),
        lambda: ng.stats.norm.cdf(1.0, 0.0, 1.0, 2.0),
        lambda: ng.stats.norm.sf(1.0, sigma=1.0),
        lambda: ng.stats.norm(1.0, 2.0, 3.0),
    ],
)
def test_wrong_parameters_are_named(call):
    with pytest.raises(TypeError, match=r"^stats\.(gamma|norm)\.\w+ takes the parameters"):
        call()


def test_what_is_refused():
    for function in ("logpdf", "pdf", "cdf", "ppf"):
        with pytest.raises(ng.errors.DtypeError, match=rf"^stats\.norm\.{function} takes"):
            getattr(ng.stats.norm, function)(1j)
    with pytest.raises(NotImplementedError, match=r"stats\.vonmises\.cdf"):
        ng.stats.vonmises.cdf(0.1, ng.tensor(2.0, requires_grad=True))
    with pytest.raises(ng.errors.DetachedError, match=r"ng\.random"):
        ng.stats.gamma.rvs(ng.tensor(2.0, requires_grad=True), size=3)


@pytest.mark.parametrize("mu", [0.3, 5.0])
@pytest.mark.parametrize("x", [3.0, 30.0, 1e4, 1e8, 5e9, 1e10])
def test_the_tail_of_the_inverse_normal_distribution(x, mu):
    """Two parts cancel there, of which SciPy has the rounding errors."""
    with mpmath.workdps(60):
        z, m = mpmath.mpf(x), mpmath.mpf(mu)
        low, high = (z / m - 1) / mpmath.sqrt(2 * z), (z / m + 1) / mpmath.sqrt(2 * z)
        share = (mpmath.erfc(low) - mpmath.exp(2 / m) * mpmath.erfc(high)) / 2
        wanted = float(mpmath.log(share))
    np.testing.assert_allclose(ng.stats.invgauss.logsf(x, mu).item(), wanted, 1e-13)


@pytest.mark.parametrize(
    ("name", "shapes"),
    [("skewnorm", (a,)) for a in (-20.0, 0.0, 1.0, 3.0, 100.0)]
    + [("invgauss", (mu,)) for mu in (0.01, 0.7, 50.0)],
)
def test_quantiles_without_a_formula_in_the_tails(name, shapes):
    """The probability beyond them is what is asked for, also where SciPy's numbers are none."""
    own = getattr(ng.stats, name)
    q = np.array([1e-300, 1e-100, 1e-30, 1e-16, 1e-10, 1e-3, 0.3, 0.7])
    for quantile, share in ((own.ppf, own.cdf), (own.isf, own.sf)):
        x = quantile(q, *shapes).numpy()
        np.testing.assert_allclose(share(x, *shapes).numpy(), q, rtol=1e-8)
        assert (np.diff(x) * (1 if quantile == own.ppf else -1) > 0).all()
        ends = quantile(np.array([0.0, 1.0, np.nan, -0.1, 1.1]), *shapes).numpy()
        assert np.isnan(ends[2:]).all()
        assert not np.isnan(ends[:2]).any()
    t = ng.tensor(1e-30, requires_grad=True)
    (slope,) = ng.grad(own.ppf(t, *shapes), t)
    np.testing.assert_allclose(slope.item(), 1 / own.pdf(own.ppf(1e-30, *shapes), *shapes).item())
