"""Incomplete gamma and beta functions and their like against mpmath, at points of their own."""

import itertools

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp

import numgrad as ng
from numgrad.functions.elementwise import tabled as _tabled  # noqa: F401  it fills the table
from numgrad.operators.special.formulas import TABLE

from ...oracles.special_exact import beta_share, student

INF, NAN = np.inf, np.nan
RANDOM = np.random.default_rng(11)


def log(low, high, count=60):
    return 10 ** RANDOM.uniform(np.log10(low), np.log10(high), count)


def around(a, widths=6):
    """Numbers near the change of the incomplete gamma function from 0 to 1."""
    return a + np.sqrt(a) * RANDOM.uniform(-widths, widths, a.size)


def lower(a, x):
    """By the series of positive terms."""
    term = total = mp.mpf(1)
    while term > mp.eps * total:
        a += 1
        term *= x / a
        total += term
    return total


def gamma_lower(a, x):
    return mp.exp(a * mp.log(x) - x - mp.loggamma(a + 1)) * lower(a, x)


def gamma_upper(a, x):
    return 1 - gamma_lower(a, x)


def log_beta(a, b):
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def f_share(a, b, x):
    return beta_share(a / 2, b / 2, a * x / (a * x + b))


def error(name, exact, *args, digits=60):
    """Return the largest relative error."""
    found, largest = TABLE[name](*args).numpy(), 0.0
    with mp.workdps(digits):
        for y, *given in zip(found, *args, strict=True):
            wanted = exact(*map(mp.mpf, given))
            if 1e-300 < abs(wanted) < 1e300:
                largest = max(largest, float(abs(mp.mpf(float(y)) / wanted - 1)))
    return largest


SMALL, LARGE, HUGE = log(1e-12, 1, 100), log(50, 2e3, 30), np.array([1e5, 1e5, 1e6, 1e6])
GAMMA = [
    (SMALL, log(1e-6, 3, 100)),
    (log(0.1, 300), log(1e-3, 500)),
    (LARGE, around(LARGE)),
    (LARGE, LARGE * RANDOM.uniform(0.6, 1.5, 30)),
    (HUGE, HUGE + np.sqrt(HUGE) * (-4, 3, -1, 0.01)),
]


@pytest.mark.parametrize("number", range(len(GAMMA)))
def test_incomplete_gamma_functions_have_fourteen_digits(number):
    a, x = GAMMA[number]
    digits = 60 if number < 1 else 250
    assert error("gammainc", gamma_lower, a, x) < 1e-14
    few = slice(None, None, 3)
    assert error("gammaincc", gamma_upper, a[few], x[few], digits=digits) < 1e-14


def test_scaled_arguments_lose_nothing_in_the_product():
    a, b, x = log(0.1, 5), log(20, 200), log(1e-3, 100)
    assert error("gdtr", lambda a, b, x: gamma_lower(b, a * x), a, b, x) < 1e-14


WIDE = log(1e-12, 1e6, 100)


@pytest.mark.parametrize(
    ("name", "exact", "args"),
    [
        ("beta", mp.beta, (log(1e-12, 200, 100), log(1e-12, 200, 100))),
        ("beta", mp.beta, (log(1, 12, 100), log(1, 1e8, 100))),
        ("betaln", log_beta, (WIDE, RANDOM.permutation(WIDE))),
        ("betaln", log_beta, (log(0.01, 0.5, 100), log(1e2, 1e12, 100))),
        ("poch", mp.rf, (log(1e-3, 1e4, 100), RANDOM.uniform(0, 20, 100))),
        ("binom", mp.binomial, (RANDOM.uniform(-0.9, 60, 100), RANDOM.uniform(-5, 50, 100))),
        ("binom", mp.binomial, (log(1e-12, 1e6, 100), RANDOM.uniform(0, 30, 100))),
        ("betainc", beta_share, (log(0.5, 500), log(0.5, 500), RANDOM.uniform(0.01, 0.99, 60))),
        ("stdtr", student, (log(0.5, 2e3, 30), RANDOM.uniform(-50, 50, 30))),
        ("fdtr", f_share, (log(0.5, 200), log(0.5, 200), log(0.01, 1e4))),
    ],
)
def test_beta_functions_and_their_like_have_thirteen_digits(name, exact, args):
    assert error(name, exact, *args) < 1e-13


def test_the_logarithm_of_beta_is_precise_near_its_zeros():
    a = np.array([0.1594, 0.3, 0.05])
    with mp.workdps(80):
        b = [float(mp.findroot(lambda b, a=a: log_beta(a, b), float(g)))
             for a, g in zip(a, (1e5, 28.0, 1e19), strict=True)]  # fmt: skip
        for near in (1, 1 + 1e-3, 1 - 1e-3):
            c = np.multiply(b, near)
            wanted = [float(log_beta(*map(mp.mpf, pair))) for pair in zip(a, c, strict=True)]
            np.testing.assert_allclose(TABLE["betaln"](a, c).numpy(), wanted, 1e-12, 3e-15)


@pytest.mark.parametrize("name", ["gammaincinv", "gammainccinv", "chdtri"])
def test_inverses_give_the_probability_back(name):
    shapes, shares = log(0.05, 300), RANDOM.uniform(1e-3, 0.999, 60)
    found = TABLE[name](shapes, shares).numpy()
    half = 0.5 if name == "chdtri" else 1
    with mp.workdps(60):
        for a, p, y in zip(shapes, shares, found, strict=True):
            a, x = half * mp.mpf(a), half * mp.mpf(y)
            part = (gamma_lower if name == "gammaincinv" else gamma_upper)(a, x)
            slope = mp.exp(a * mp.log(x) - x - mp.loggamma(a))
            assert abs(part - p) < 2e-14 * slope


VALUES = (0.0, -0.0, 1e-300, 0.5, 1.0, 2.0, 3.7, 10.0, 1e12, 1e300, INF, -INF, NAN, -1.0, -2.5)
SHARES = (0.0, 1.0, 0.5, 1e-300, -0.1, 1.1, NAN)
FEW = (0.0, 1e-300, 0.5, 3.0, 1e200, INF, NAN, -1.0)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        *((name, (VALUES, VALUES)) for name in (
            "gammainc", "gammaincc", "chdtr", "chdtrc", "beta", "betaln", "stdtr")),
        *((name, (VALUES, SHARES)) for name in (
            "gammaincinv", "gammainccinv", "chdtri", "stdtrit")),
        *((name, (FEW, FEW, FEW)) for name in ("gdtr", "gdtrc", "fdtr", "fdtrc", "betainc")),
    ],
)  # fmt: skip
def test_special_arguments_have_the_values_of_scipy(name, values):
    args = np.array(list(itertools.product(*values))).T
    with np.errstate(all="ignore"):
        expected = getattr(sp, name)(*args)
        if name == "stdtrit":  # SciPy has +inf for the lower end, and stops at 5e153
            expected[(args[0] > 0) & (args[1] == 0)] = -INF
            for i in np.flatnonzero((args[0] > 0.1) & (args[0] < 20) & (args[1] == 1e-300)):
                expected[i] = far_student(*args[:, i])
        np.testing.assert_allclose(TABLE[name](*args).numpy(), expected, 1e-9)


def far_student(df, p):
    """The quantile where the tail is a power."""
    part = mp.mpf(p) * df * mp.beta(mp.mpf(df) / 2, 0.5)
    return -float(mp.sqrt(df) * part ** (-1 / mp.mpf(df)))


@pytest.mark.parametrize("df", [0.3, 1.0, 3.0, 5.0, 10.0, 50.0, 1e3])
def test_far_quantiles_of_student_lie_where_the_tail_is(df):
    """SciPy has half of what is right for 3 degrees of freedom at 1e-200, and +inf at 1e-250."""
    half = mp.mpf(df) / 2
    for p in (1e-300, 1e-250, 1e-200, 1e-100, 1e-50, 1e-31, 1e-30, 1e-29, 1e-12):
        t = ng.special.stdtrit(df, p).item()
        if p < 1e-31 and far_student(df, p) == -INF:
            assert t == -INF
            continue
        share = mp.betainc(half, 0.5, 0, df / (df + mp.mpf(t) ** 2), regularized=True) / 2
        assert t < 0
        assert abs(share / p - 1) / df < 2e-15, (p, t)
    assert ng.special.stdtrit(df, [0.0, 1.0]).tolist() == [-INF, INF]


def test_whole_numbers_stay_whole():
    n, k = map(np.array, zip(*itertools.product(range(20), range(8)), strict=True))
    np.testing.assert_array_equal(ng.special.binom(n, k), sp.binom(n, k))
    np.testing.assert_array_equal(ng.special.poch(n[n > 0], k[n > 0]), sp.poch(n[n > 0], k[n > 0]))


@pytest.mark.parametrize(
    ("name", "kinds"),
    [("gammainc", "ax"), ("gammaincc", "ax"), ("gdtr", "aax"), ("beta", "aa"), ("betaln", "aa"),
     ("poch", "aa"), ("betainc", "aap"), ("stdtr", "ax"), ("gammaincinv", "ap"), ("stdtrit", "ap")],
)  # fmt: skip
def test_single_precision_has_its_digits(name, kinds):
    draw = {"a": lambda: log(0.5, 20), "x": lambda: log(0.1, 20), "p": lambda: log(0.01, 0.99)}
    args = [draw[kind]().astype(np.float32) for kind in kinds]
    single = TABLE[name](*args).numpy()
    double = TABLE[name](*(x.astype(float) for x in args)).numpy()
    np.testing.assert_allclose(single, double, 2e-6)
