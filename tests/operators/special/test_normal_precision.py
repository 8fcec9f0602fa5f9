"""Error functions, the normal distribution and angles in degrees, to a few units in the last place
at points of their own, and as SciPy has them where there is no number."""

import mpmath
import numpy as np
import pytest
import scipy.special as sp

import numgrad as ng

RNG = np.random.default_rng(5)
COUNT = 60


def log_ndtr(x):
    return mpmath.log1p(-mpmath.ncdf(-x)) if x > 0 else mpmath.log(mpmath.ncdf(x))


def dawsn(x):
    return mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x)


def kolmogorov(x):
    terms = [(-1) ** (k - 1) * mpmath.exp(-2 * k * k * x * x) for k in range(1, 40)]
    return 2 * mpmath.fsum(terms)


def ndtri_exp(y):
    near = sp.ndtri_exp(float(y))
    return mpmath.findroot(lambda x: log_ndtr(x) - y, near, tol=1e-40)


FUNCTIONS = {
    "erfcx": (lambda x: mpmath.exp(x * x) * mpmath.erfc(x), -20, 40),
    "erfi": (mpmath.erfi, -26, 26),
    "dawsn": (dawsn, -15, 15),
    "ndtr": (mpmath.ncdf, -37, 9),
    "log_ndtr": (log_ndtr, -60, 20),
    "ndtri_exp": (ndtri_exp, -900, -2),
    "kolmogorov": (kolmogorov, 0.3, 18),
    "tandg": (lambda x: mpmath.tan(x * mpmath.pi / 180), -2000, 2000),
    "cotdg": (lambda x: mpmath.cot(x * mpmath.pi / 180), -2000, 2000),
    "sinc": (mpmath.sincpi, -60, 60),
    "zeta": (mpmath.zeta, -4, 0),
    "loggamma": (mpmath.loggamma, 0.1, 20),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_few_units_in_the_last_place(name):
    exact, low, high = FUNCTIONS[name]
    x = np.concatenate([RNG.uniform(low, high, COUNT), low + (high - low) * RNG.random(20) ** 4])
    with mpmath.workdps(40):
        wanted = np.array([float(exact(mpmath.mpf(float(v)))) for v in x])
    found = getattr(ng.special, name)(x).numpy()
    assert np.max(np.abs(found - wanted) / np.spacing(np.abs(wanted))) <= 8


@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_arguments(name):
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e300, -1e300, 90.0, -90.0, 45.0, -135.0])
    with np.errstate(all="ignore"):
        function = np.sinc if name == "sinc" else getattr(sp, name)
        wanted = function(x)
    found = getattr(ng.special, name)(x).numpy()
    np.testing.assert_allclose(found, wanted, 1e-12, 1e-12)


@pytest.mark.parametrize("name", sorted({*FUNCTIONS} - {"zeta"}))
def test_single_precision(name):
    _, low, high = FUNCTIONS[name]
    x = np.linspace(max(low, -8), min(high, 8), 301).astype(np.float32)
    wanted = getattr(ng.special, name)(x.astype(float)).numpy()
    found = getattr(ng.special, name)(x).numpy()
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, 1e-6, 1e-7)


def test_the_faddeeva_function():
    far = RNG.uniform(-12, 12, 60) + 1j * RNG.uniform(0, 12, 60)
    low = RNG.uniform(-7, 7, 40) + 1j * 10 ** RNG.uniform(-12, 0, 40)
    z = np.concatenate([far, low, [6.2j, 0.457j, 1e-300 + 1e-300j]])
    with mpmath.workdps(40):
        points = [mpmath.mpc(v) for v in z]
        wanted = np.array([complex(mpmath.exp(-v * v) * mpmath.erfc(-1j * v)) for v in points])
    found = ng.special.wofz(z).numpy()
    assert np.max(np.abs(found - wanted) / np.spacing(np.abs(wanted))) <= 8
    z = np.array([0, 5, -1 - 1j, complex(np.inf, 1), complex(1, np.inf), 1e300 + 1j])
    np.testing.assert_allclose(ng.special.wofz(z).numpy(), sp.wofz(z), 1e-13)
