"""Special functions against mpmath, at 200 points each: values, and derivatives by their formulas.

The bounds are in units in the last place. Above 8 they are those of SciPy, whose value it is
(another test compares them bit for bit), and of `digamma` and
`ndtr`, which magnify the rounding of their argument.
"""

import numpy as np
import pytest
import scipy.special as sp

import numgrad as ng
from numgrad._declare.foreign import Foreign
from numgrad.operators.formulas import TABLE

mp = pytest.importorskip("mpmath")
COUNT = 200
EPS = np.finfo(float).eps

# name: exact function, from where to where (wide ranges are spaced in ratios), bound
LOG, LINEAR = "log", "linear"
CASES = {
    "gamma": (mp.gamma, (0.01, 170, LOG), 8),
    "rgamma": (mp.rgamma, (0.01, 170, LOG), 8),
    "loggamma": (lambda x: mp.loggamma(x).real, (0.01, 1e12, LOG), 8),
    "digamma": (mp.digamma, (0.01, 1e12, LOG), 32),
    "erf": (mp.erf, (1e-300, 30, LOG), 8),
    "erfc": (mp.erfc, (1e-10, 25, LOG), 8),
    "erfcx": (lambda x: mp.erfc(x) * mp.exp(mp.mpf(x) ** 2), (1e-10, 1e8, LOG), 8),
    "erfi": (mp.erfi, (1e-10, 26, LOG), 256),
    "dawsn": (
        lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-mp.mpf(x) ** 2) * mp.erfi(x), (1e-10, 50, LOG), 64,
    ),
    "erfinv": (mp.erfinv, (1e-10, 0.999, LOG), 8),
    "ndtr": (mp.ncdf, (-5, 8, LINEAR), 32),
    "entr": (lambda x: -x * mp.log(x), (1e-300, 1e300, LOG), 8),
    "exprel": (lambda x: mp.expm1(x) / x, (1e-10, 700, LOG), 8),
    "cosm1": (lambda x: mp.cos(x) - 1, (1e-8, 3, LOG), 8),
    "logit": (lambda x: mp.log(x) - mp.log1p(-mp.mpf(x)), (1e-300, 0.999, LOG), 8),
    "exp10": (lambda x: mp.mpf(10) ** x, (1e-10, 300, LOG), 8),
    "j0": (lambda x: mp.besselj(0, x), (0.01, 1e4, LOG), None),
    "j1": (lambda x: mp.besselj(1, x), (0.01, 1e4, LOG), None),
    "y0": (lambda x: mp.bessely(0, x), (0.01, 1e4, LOG), None),
    "i0": (lambda x: mp.besseli(0, x), (0.01, 700, LOG), 8),
    "i0e": (lambda x: mp.besseli(0, x) * mp.exp(-mp.mpf(x)), (0.01, 1e6, LOG), 8),
    "i1e": (lambda x: mp.besseli(1, x) * mp.exp(-mp.mpf(x)), (0.01, 1e6, LOG), 8),
    "k0": (lambda x: mp.besselk(0, x), (0.01, 600, LOG), 8),
    "k1": (lambda x: mp.besselk(1, x), (0.01, 600, LOG), 8),
    "k0e": (lambda x: mp.besselk(0, x) * mp.exp(mp.mpf(x)), (0.01, 1e6, LOG), 8),
    "expi": (mp.ei, (0.5, 600, LOG), 256),
    "exp1": (mp.e1, (0.01, 600, LOG), 8),
    "ellipk": (mp.ellipk, (1e-10, 0.9999, LOG), 8),
    "ellipe": (mp.ellipe, (1e-10, 0.9999, LOG), 8),
    "spence": (lambda x: mp.polylog(2, 1 - mp.mpf(x)).real, (0.01, 1.9, LINEAR), None),
    "kolmogorov": (
        lambda x: -2 * sum((-1) ** k * mp.exp(-2 * k * k * mp.mpf(x) ** 2) for k in range(1, 60)),
        (0.3, 10, LOG), 64,
    ),
}  # fmt: skip


def points(low, high, spacing):
    if spacing == LOG:
        return np.geomspace(low, high, COUNT)
    return np.linspace(low, high, COUNT)


def foreign(name):
    """Return SciPy's function of which an operator's value is; None where it is its own."""
    found = TABLE[name].function.__globals__.get("foreign")
    return found if isinstance(found, Foreign) and isinstance(sp_function(name), np.ufunc) else None


def sp_function(name):
    return getattr(sp, name, None)


@pytest.mark.parametrize("name", CASES)
def test_value(name):
    exact, where, bound = CASES[name]
    x = points(*where)
    found = getattr(ng.special, name)(x).numpy()
    with mp.workdps(40):
        wanted = np.array([float(exact(mp.mpf(float(t)))) for t in x])
    if bound is None:  # near its zeros a function is as precise as its argument
        np.testing.assert_allclose(found, wanted, 0, 64 * EPS * np.maximum(np.abs(wanted).max(), 1))
    else:
        np.testing.assert_allclose(found, wanted, bound * EPS)


@pytest.mark.parametrize("name", [name for name in TABLE if foreign(name)])
def test_value_is_that_of_scipy(name):
    operator, rng = TABLE[name], np.random.default_rng(3)
    args = [rng.uniform(a, b, COUNT) for a, b in operator.tried]
    kinds = foreign(name).kinds
    args = [x.astype(int) if kind == "n" else x for x, kind in zip(args, kinds, strict=True)]
    np.testing.assert_array_equal(operator(*args).numpy(), sp_function(name)(*args))


SLOPES = {
    "gamma": (0.1, 30), "rgamma": (-3.3, 30), "gammaln": (0.1, 1e8), "erfcx": (-5, 1e8),
    "dawsn": (0.1, 1e8), "log_ndtr": (-1e8, 8), "erfinv": (-0.99, 0.99), "i0e": (0.1, 1e10),
    "i1e": (0.1, 1e10), "k0e": (0.1, 1e10), "k1e": (0.1, 1e10), "j0": (0.1, 30),
    "y1": (0.1, 30), "ellipk": (-50, 0.99), "ellipe": (-50, 0.99), "exprel": (-49, 50),
    "logit": (0.01, 0.99), "exp1": (0.1, 30),
}  # fmt: skip
EXACT = {
    "gammaln": mp.loggamma,
    "erfcx": lambda x: mp.erfc(x) * mp.exp(x * x),
    "dawsn": lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x),
    "log_ndtr": lambda x: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2),
    "y1": lambda x: mp.bessely(1, x),
    "k1e": lambda x: mp.besselk(1, x) * mp.exp(x),
}


@pytest.mark.parametrize("name", SLOPES)
def test_derivative(name):
    low, high = SLOPES[name]
    x = np.linspace(low, high, 9)
    if high - low > 1e3:
        x = np.sign(high + low) * np.geomspace(0.2, 0.3 * (high - low), 9)
    exact = EXACT.get(name) or CASES[name][0]
    t = ng.tensor(x, requires_grad=True)
    found = ng.grad(getattr(ng.special, name)(t).sum(), t)[0].numpy()
    with mp.workdps(60):
        steps = [mp.mpf(max(abs(float(a)), 1e-3)) * mp.mpf(10) ** -15 for a in x]
        pairs = zip(map(mp.mpf, x.tolist()), steps, strict=True)
        wanted = [float(mp.re(mp.diff(exact, a, h=h))) for a, h in pairs]
    np.testing.assert_allclose(found, wanted, 1e-10)
