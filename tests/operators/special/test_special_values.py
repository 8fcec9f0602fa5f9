"""Special functions and their derivatives against the numbers of mpmath, at 200 points each.

``python -m tests.oracles.generate_special`` writes the numbers, and says what they are. Errors are
in units in the last place of the exact value; of functions with zeros that are no round numbers, in
those of the largest value within a tenth of the last argument. Bounds above 8 are the smallest
powers of two that hold, and none is above what SciPy's own function needs at the same points.
"""

import warnings
from functools import cache

import numpy as np
import pytest
import scipy.special as sp

import numgrad as ng
from numgrad._declare.foreign import ForeignFunction
from numgrad.operators.special.formulas import TABLE

from ...oracles.special_points import (
    FIRST,
    LEAST,
    PATH,
    RANGES,
    SECOND,
    UNTABLED,
    differentiated,
    points,
)  # fmt: skip

BOUNDS = {
    "betaln": 64, "gammaincinv": 32, "gammainccinv": 32, "betainc": 16, "betaincinv": 16,
    "betainccinv": 16, "voigt_profile": 64, "owens_t": 32, "kl_div": 512, "inv_boxcox": 64,
    "inv_boxcox1p": 64, "jv": 256, "jve": 256, "yv": 16, "yve": 32, "yn": 1024, "kn": 16,
    "ive": 512, "kv": 64, "kve": 64, "hankel1": 16, "hankel2": 16, "spherical_jn": 128,
    "spherical_kn": 16, "struve": 4096, "modstruve": 1024, "hyp1f1": 64, "hyp2f1": 128,
    "hyperu": 64, "eval_gegenbauer": 16, "eval_jacobi": 16, "eval_hermite": 16, "lpmv": 256,
    "ellipj_sn": 32, "ellipj_cn": 32, "ellipj_dn": 64, "stdtr": 16, "chdtri": 32, "gdtrix": 16,
    "gdtria": 32, "fdtrc": 16, "fdtri": 32,
}  # fmt: skip
"""In units in the last place, where 8 do not hold."""
TINY = 1e-300
KNOWN_ONCE = r"the first derivative is known only|not known in closed form"


@cache
def stored():
    return dict(np.load(PATH))


def function_of(name):
    """Return the function of numbers; those of a whole array are of three here, stacked."""
    if name == "multigammaln":
        return lambda a: ng.special.multigammaln(a, 3)
    if name in ("logsumexp", "softmax", "log_softmax"):
        whole = getattr(ng.special, name)
        if name == "logsumexp":
            return lambda *abc: whole(ng.stack(abc), axis=0)
        return lambda *abc: whole(ng.stack(abc), axis=0)[0]
    if name == "wofz":
        return lambda x, height: ng.special.wofz(x + 1j * height)
    return getattr(ng.special, name) if name in UNTABLED else TABLE[name]


SEVERAL = {"airy_ai": 0, "airy_aip": 1, "airy_bi": 2, "airy_bip": 3, "sici_ci": 1, "shichi_chi": 1,
           "fresnel_c": 1, "ellipj_cn": 1, "ellipj_dn": 2, "ellipj_ph": 3}  # fmt: skip
"""Which result of SciPy's function it is, where it is not the first."""


def of_scipy(name):
    """Return SciPy's function, or NumPy's where SciPy has none."""
    if name == "wofz":
        return lambda x, height: sp.wofz(x + 1j * height)
    if name in ("softmax", "log_softmax"):
        return lambda *abc: getattr(sp, name)(np.stack(abc), axis=0)[0]
    base = {"hurwitz_zeta": "zeta"}.get(name, name)
    function = getattr(sp, base, None) or getattr(sp, base.split("_")[0], None) or getattr(np, base)
    if not isinstance(function, np.ufunc):
        whole = "nd" if name == "polygamma" or name.startswith("spherical") else ""
    else:
        whole = getattr(foreign(name), "kinds", "")
    place = SEVERAL.get(name, 0)

    def called(*args):
        kinds = whole.ljust(len(args), "d")
        given = [x.astype(int) if k == "n" else x for x, k in zip(args, kinds, strict=False)]
        y = function(*given)
        return y[place] if isinstance(y, tuple) else y

    return called


def foreign(name):
    """Return SciPy's function of which an operator's value is; None where it is its own."""
    found = TABLE[name].function.__globals__.get("foreign") if name in TABLE else None
    return found if isinstance(found, ForeignFunction) else None


def units(found, wanted, size):
    """Return errors in units in the last place; where there is no number both must have none."""
    number = np.isfinite(wanted)
    error = np.where(found == wanted, 0.0, np.inf)
    error[number] = np.abs(found[number] - wanted[number]) / np.spacing(size[number])
    return np.where(np.isnan(error), np.inf, error)


def errors_of(function, name):
    wanted = stored()[name]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = function(*points(name))
    found = found.numpy() if isinstance(found, ng.Tensor) else np.asarray(found)
    size = np.fmax(stored().get(f"{name}.size", LEAST.get(name, 0.0)), np.abs(wanted))
    return units(found, wanted, size)


def gradient(name, place, few, order=1):
    """Return the derivative of a function, of the real part of a complex one."""
    args = [c[few] for c in points(name)]
    x = args[place] = ng.tensor(args[place], requires_grad=True)
    y = function_of(name)(*args)
    for _ in range(order):
        if not y.requires_grad:  # a constant slope
            return np.zeros(x.shape)
        (y,) = ng.grad(y.real.sum(), x, create_graph=True)
    return y.detach().numpy()


def compare(name, place, few, key, order, bound):
    wanted = stored()[key]
    size = np.maximum(np.abs(wanted), LEAST.get(name, TINY))
    found = gradient(name, place, few, order)
    with np.errstate(invalid="ignore"):  # infinite numbers that are equal
        error = np.where(found == wanted.real, 0.0, np.abs(found - wanted.real) / size)
    assert (error <= bound).all(), [(*(c[few][error.argmax()] for c in points(name)), error.max())]


@pytest.mark.parametrize("name", RANGES)
def test_value(name):
    assert errors_of(function_of(name), name).max() <= BOUNDS.get(name, 8)


@pytest.mark.parametrize("name", BOUNDS)
def test_no_bound_is_above_what_scipy_needs(name):
    """To the next power of two."""
    assert BOUNDS[name] < 2 * errors_of(of_scipy(name), name).max()


def slope_bound(name, argument):
    """Return 1e-10, and what shapes near 0 leave: terms as large as their reciprocals cancel."""
    if name not in ("betainc", "betaincc") or argument == "x":
        return 1e-10
    a, b, _ = (c[FIRST] for c in points(name))
    return np.maximum(1e-10, 1e-15 / np.minimum(a, b))


@pytest.mark.parametrize(
    ("name", "place", "argument"),
    [(name, place, x) for name in RANGES for place, x in differentiated(name).items()],
)
def test_derivative(name, place, argument):
    key = f"{name}.{argument}"
    compare(name, place, FIRST, key, 1, slope_bound(name, argument))
    if name in TABLE and argument in TABLE[name].once:
        with pytest.raises(ng.errors.NotDifferentiableError, match=KNOWN_ONCE):
            gradient(name, place, SECOND, 2)
    else:
        compare(name, place, SECOND, f"{key}.2", 2, 1e-8)


@pytest.mark.parametrize("name", RANGES)
def test_numbers_are_those_of_the_points(name):
    sums = [np.sum(np.cbrt(c[np.isfinite(c)])) for c in points(name)]
    np.testing.assert_allclose(stored()[f"{name}.inputs"], sums, 1e-12)


FLAT_AT_INFINITY = {
    "arctan": (ng.arctan, 1), "arcsinh": (ng.arcsinh, 1), "arccosh": (ng.arccosh, 1),
    **{name: (getattr(ng.special, name), 1) for name in (
        "dawsn", "i0e", "i1e", "k0e", "k1e", "kolmogorov", "digamma")},
    "gammaln": (ng.special.gammaln, 2),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", FLAT_AT_INFINITY)
def test_derivatives_whose_limit_is_0_are_0_at_infinity(name, dtype):
    function, first = FLAT_AT_INFINITY[name]
    for order in range(1, 4):
        function = ng.func.grad(function)
        if order >= first:
            assert function(dtype(np.inf)) == 0


@pytest.mark.parametrize("name", ["i0e", "i1e", "k0e", "k1e"])
def test_scaled_bessel_functions_have_derivatives_where_scipys_have_no_values(name):
    # The leading term of the asymptotic series is a power of x, to the exponent -1/2.
    value = function = getattr(ng.special, name)
    x, factor = 1e12, 1.0
    for order in range(1, 4):
        function, factor = ng.func.grad(function), factor * (0.5 - order)
        expected = float(value(x)) * factor / x**order
        np.testing.assert_allclose(function(x), expected, rtol=1e-11)


def test_kolmogorovs_distribution_is_flat_near_0():
    for x in (5e-324, 1e-300, 1e-160, 1e-3, 0.029, 0.031):
        assert ng.special.kolmogorov(x) == 1
        function = ng.special.kolmogorov
        for _ in range(3):
            function = ng.func.grad(function)
            assert function(x) == 0
