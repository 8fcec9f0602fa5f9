"""Confluent functions, polynomials and integrals against mpmath, where SciPy's lose digits."""

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp

import numgrad as ng
from numgrad.functions.elementwise import tabled as _tabled  # noqa: F401  it fills the table
from numgrad.operators.special.formulas import TABLE


def largest_error(found, exact, *args):
    """Return the largest relative error; of one argument or of several."""
    with mp.workdps(80):
        wanted = [exact(*map(mp.mpf, map(float, one))) for one in zip(*args, strict=True)]
        errors = [abs(float(y) - w) / abs(w) for y, w in zip(found.numpy(), wanted, strict=True)]
    return float(max(errors))


@pytest.mark.parametrize(
    ("a", "b", "x"),
    [
        ((1e-9, 8), (-3, 8), (-7, 3)),
        ((20, 90), (-40, 60), (-1, 2)),
        ((0.1, 3), (-2, 2.4), (-200, -20)),
        ((0.1, 3), (-2, 3), (20, 80)),
        ((-12, 0), (-9, 9), (-2, 1.5)),
        ((-20, 0), (10, 60), (0, 2)),
    ],
)
def test_tricomi_has_twelve_digits(a, b, x):
    random = np.random.default_rng(7)
    a, b, x = (random.uniform(*ends, 20) for ends in (a, b, x))
    x = 10**x
    assert largest_error(ng.special.hyperu(a, b, x), mp.hyperu, a, b, x) < 1e-12


def test_tricomi_of_whole_parameters_has_twelve_digits():
    a, b = (c.ravel().astype(float) for c in np.mgrid[-9:7:3, -8:9:2])
    x = np.random.default_rng(7).uniform(0.1, 20, a.size)
    assert largest_error(ng.special.hyperu(a, b, x), mp.hyperu, a, b, x) < 1e-12


def test_tricomi_at_the_ends():
    a = np.array([2.0, 0.0, -2.0, 2.0, -3.0, 0.5, 1.0, -1.5, np.nan, 1.0, 2.0])
    b = np.array([1.0, 1.0, 1.0, 3.0, 1.0, -2.5, 0.5, 0.5, 1.0, np.nan, 1.0])
    x = np.array([np.inf, np.inf, np.inf, 0, 0, 0, 0, 0, 1, 1, -1])
    at_zero = [float(mp.gamma(3.5) / mp.gamma(4)), 2.0, 0.0]
    wanted = [0, 1, np.inf, np.inf, -6, *at_zero, np.nan, np.nan, np.nan]
    np.testing.assert_allclose(ng.special.hyperu(a, b, x).numpy(), wanted, 1e-15)


DEGREES, SHAPES = np.arange(80) % 40, np.linspace(-0.9, 8, 160).reshape(80, 2).T
POLYNOMIALS = {
    "legendre": (mp.legendre, 0), "chebyt": (mp.chebyt, 0), "chebyu": (mp.chebyu, 0),
    "gegenbauer": (mp.gegenbauer, 1), "jacobi": (mp.jacobi, 2),
    "laguerre": (lambda n, x: mp.laguerre(n, 0, x), 0), "genlaguerre": (mp.laguerre, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_of_whole_degrees_have_twelve_digits(name):
    """Outside of where their zeros are, so that errors are relative."""
    exact, count = POLYNOMIALS[name]
    shapes = np.abs(SHAPES[:count]) if name == "gegenbauer" else SHAPES[:count]
    x = np.linspace(-40, 0, 80) if "laguerre" in name else np.linspace(1.6, 1, 80)
    args = (DEGREES.astype(float), *shapes, x)
    found = getattr(ng.special, f"eval_{name}")(*args)
    assert largest_error(found, lambda n, *rest: exact(int(n), *rest), *args) < 2e-14


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_elsewhere_are_those_of_scipy(name):
    count = 1 + POLYNOMIALS[name][1]
    values = np.array([-np.inf, -2.5, -1.0, 0.0, 0.5, 1.0, 3.0, np.inf, np.nan])
    args = [c.ravel() for c in np.meshgrid(*[values] * (1 + count))]
    found = getattr(ng.special, f"eval_{name}")(*args).numpy()
    wanted = getattr(sp, f"eval_{name}")(*args)
    np.testing.assert_allclose(found, wanted, 1e-12, 1e-14)


def units(name, exact, x):
    """Return the largest error in units in the last place."""
    found = TABLE[name](x).numpy()
    with mp.workdps(60):
        wanted = np.array([float(exact(mp.mpf(float(v)))) for v in x])
    return np.max(np.abs(found - wanted) / np.spacing(np.abs(wanted)))


SIDES = np.array([-1.0, 1.0])[:, None]


@pytest.mark.parametrize(
    ("name", "exact", "x"),
    [
        ("fresnel_s", mp.fresnels, (SIDES * 10 ** np.linspace(-2, 7, 150)).ravel()),
        ("fresnel_c", mp.fresnelc, (SIDES * 10 ** np.linspace(-2, 7, 150)).ravel()),
        ("fresnel_c", mp.fresnelc, np.linspace(1.1, 4, 100)),
        ("sici_ci", mp.ci, np.linspace(2.31, 3.99, 100)),
        ("shichi_shi", mp.shi, (SIDES * np.linspace(88, 700, 100)).ravel()),
        ("wrightomega", lambda z: mp.lambertw(mp.exp(z)), np.linspace(-45, 60, 300)),
    ],
)
def test_functions_of_one_argument_have_all_digits(name, exact, x):
    if name == "sici_ci":  # relative to what is near by
        x = x[np.abs(x - 3.3841804225511862) > 0.2]
    assert units(name, exact, x) <= 8


def test_the_zero_of_the_cosine_integral_is_at_its_place():
    x = 3.3841804225511862 + np.array([0, 1, -3]) * np.spacing(3.0)
    assert largest_error(TABLE["sici_ci"](x), mp.ci, x) < 1e-14


@pytest.mark.parametrize("k", [0, -1, 1])
@pytest.mark.parametrize("angle", [0, 0.4, 2.5, -1.0])
def test_the_function_of_lambert_has_all_digits_next_to_its_branch_point(k, angle):
    apart = 10 ** np.linspace(-16, -0.6, 60)
    z = -np.exp(-1) + apart * np.exp(1j * angle)
    found = ng.special.lambertw(z, float(k)).numpy()
    with mp.workdps(50):
        wanted = np.array([complex(mp.lambertw(mp.mpc(complex(v)), k)) for v in z])
    assert np.max(np.abs(found - wanted) / np.abs(wanted)) < 1e-15


def test_integrals_and_roots_at_the_ends():
    x = np.array([np.inf, -np.inf, np.nan, 0.0, 1e300])
    half = [0.5, -0.5, np.nan, 0.0, 0.5]
    np.testing.assert_array_equal(TABLE["fresnel_s"](x).numpy(), half)
    np.testing.assert_array_equal(TABLE["fresnel_c"](x).numpy(), half)
    wanted = [np.inf, -np.inf, np.nan, 0.0, np.inf]
    np.testing.assert_array_equal(TABLE["shichi_shi"](x).numpy(), wanted)
    wanted = [np.inf, 0.0, np.nan, 0.5671432904097838, 1e300]
    np.testing.assert_array_equal(ng.special.wrightomega(x).numpy(), wanted)
    found = ng.special.lambertw([np.inf, -np.inf, 1e308], 0.0).numpy()
    np.testing.assert_allclose(found, sp.lambertw([np.inf, -np.inf, 1e308]), 1e-15)


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize(("low", "high"), [(-12, 0), (-1, 2), (2.2, 3)])
def test_the_limit_function_has_fourteen_digits(low, high, sign):
    """Relative to what is near by, as it has zeros."""
    random = np.random.default_rng(3)
    v, z = 10 ** random.uniform(low, high, 60), sign * np.exp(random.uniform(-5, 4.6, 60))
    found = ng.special.hyp0f1(v, z).numpy()
    near = [[mp.hyp0f1(a, b * share) for a, b in zip(v, z, strict=True)] for share in (1, 1.05)]
    near = np.array(near).astype(float)
    assert np.max(np.abs(found - near[0]) / np.max(np.abs(near), 0)) < 1e-14


def test_the_limit_function_elsewhere_is_that_of_scipy():
    values = [-np.inf, -3.0, -1.0, 0.0, 0.5, 3.0, np.inf, np.nan]
    v, z = (c.ravel() for c in np.meshgrid(values, [*values, 1e-300, 200.0]))
    np.testing.assert_allclose(ng.special.hyp0f1(v, z).numpy(), sp.hyp0f1(v, z), 1e-12)


@pytest.mark.parametrize(
    ("a", "b", "x"), [((-12, 12), (0.05, 30), (-32, 32)), ((-9, 12), (-12, 0), (-30, 30))]
)
def test_kummers_function_has_fourteen_digits(a, b, x):
    """Relative to what is near by, as it has zeros."""
    random = np.random.default_rng(5)
    a, b, x = (random.uniform(*ends, 80) for ends in (a, b, x))
    found = ng.special.hyp1f1(a, b, x).numpy()
    rows = list(zip(a, b, x, strict=True))
    near = np.array([[float(mp.hyp1f1(a, b, x * c)) for a, b, x in rows] for c in (1, 1.05, 0.95)])
    assert np.max(np.abs(found - near[0]) / np.max(np.abs(near), 0)) < 1e-14


def test_kummers_function_is_one_where_a_parameter_or_the_argument_is_zero_and_has_exact_zeros():
    a, b, x = (np.array(c) for c in ([0.0, 2, -1, -1], [1.0, 3, 2.5, -2.5], [5.0, 0, 2.5, -2.5]))
    np.testing.assert_array_equal(ng.special.hyp1f1(a, b, x).numpy(), [1, 1, 0, 0])


def test_laguerres_functions_of_degrees_between_have_twelve_digits():
    random = np.random.default_rng(5)
    n, a, x = random.uniform(0, 12, 60), random.uniform(0, 3, 60), random.uniform(0, 30, 60)
    assert largest_error(ng.special.eval_genlaguerre(n, a, x), mp.laguerre, n, a, x) < 1e-12


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        ("fresnel_s", ((-100, 100),)),
        ("fresnel_c", ((-100, 100),)),
        ("wrightomega", ((-40, 60),)),
        ("hyp0f1", ((0.1, 9), (-100, 100))),
        ("hyp1f1", ((0.1, 9), (0.1, 9), (-30, 30))),
        ("eval_laguerre", ((0, 12), (0, 30))),
        ("hyperu", ((0.1, 5), (0.1, 5), (0.1, 40))),
    ],
)
def test_single_precision_has_its_digits(name, ends):
    random = np.random.default_rng(9)
    args = [random.uniform(*pair, 200).astype(np.float32) for pair in ends]
    single = TABLE[name](*args).numpy()
    double = TABLE[name](*(x.astype(float) for x in args)).numpy()
    np.testing.assert_allclose(single, double, 1e-5 if name == "hyperu" else 5e-7)


def test_slopes_of_fresnels_integrals_have_all_digits_at_large_arguments():
    x = ng.tensor(10 ** np.linspace(0, 12, 60), requires_grad=True)
    with mp.workdps(50):
        angles = [mp.pi * mp.mpf(float(v)) ** 2 / 2 for v in x.detach().numpy()]
        wanted = [[float(f(angle)) for angle in angles] for f in (mp.sin, mp.cos)]
    for name, slopes in zip(("fresnel_s", "fresnel_c"), wanted, strict=True):
        (found,) = ng.grad(TABLE[name](x).sum(), x)
        np.testing.assert_allclose(found.numpy(), slopes, 1e-13, 1e-15)
