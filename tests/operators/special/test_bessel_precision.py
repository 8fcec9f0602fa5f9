"""Bessel functions of order 0 and 1 and Airy functions, to a few units in the last place of what
they reach near by, at points of their own; and the table that their series begin with."""

import mpmath
import numpy as np
import pytest
import scipy.special as sp

import numgrad as ng
from numgrad.operators.special.bessel import taylor_nodes
from numgrad.operators.special.formulas import TABLE

RNG = np.random.default_rng(11)
BESSEL = {
    "j0": (mpmath.besselj, 0), "j1": (mpmath.besselj, 1),
    "y0": (mpmath.bessely, 0), "y1": (mpmath.bessely, 1),
}  # fmt: skip
AIRY = {
    "airy_ai": (mpmath.airyai, 0), "airy_aip": (mpmath.airyai, 1),
    "airy_bi": (mpmath.airybi, 0), "airy_bip": (mpmath.airybi, 1),
}  # fmt: skip
UNITS = 8


def exact(function, points):
    with mpmath.workdps(40):
        return np.array([float(function(mpmath.mpf(float(x)))) for x in points])


@pytest.mark.parametrize("name", BESSEL)
def test_bessel_functions(name):
    x = np.concatenate([RNG.uniform(0.01, 60, 120), RNG.uniform(60, 1e6, 20), [2.5, 25.5, 1e-9]])
    function, order = BESSEL[name]
    wanted = exact(lambda v: function(order, v), x)
    size = np.maximum(np.abs(wanted), 0.3 * np.sqrt(2 / np.pi / np.maximum(x, 1)))
    found = getattr(ng.special, name)(x).numpy()
    assert np.max(np.abs(found - wanted) / np.spacing(size)) <= UNITS


@pytest.mark.parametrize("name", AIRY)
def test_airy_functions(name):
    x = np.concatenate([RNG.uniform(-40, 12, 100), RNG.uniform(10, 100, 40), [-10.5, 10.5, 0]])
    function, order = AIRY[name]
    wanted = exact(lambda v: function(v, derivative=order), x)
    waves = 0.3 * np.maximum(np.abs(x), 1) ** (0.25 if order else -0.25) / np.pi**0.5
    size = np.where(x < -1, np.maximum(np.abs(wanted), waves), np.abs(wanted))
    found = TABLE[name](x).numpy()
    assert np.max(np.abs(found - wanted) / np.spacing(size)) <= UNITS


@pytest.mark.parametrize("name", BESSEL)
def test_special_arguments(name):
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, -30.0, 1e-300, 5e-324])
    wanted = getattr(sp, name)(x)
    np.testing.assert_allclose(getattr(ng.special, name)(x).numpy(), wanted, 1e-12)


def test_airy_functions_of_special_arguments():
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e4, -1e4, 999.0])
    found = ng.special.airy(x)
    with np.errstate(all="ignore"):
        wanted = sp.airy(x)
    for one, other in zip(found, wanted, strict=True):
        known = ~np.isnan(other)
        np.testing.assert_allclose(one.numpy()[known], other[known], 1e-9)
    assert np.isinf(found[2].numpy()[-1])  # SciPy has no number where Bi overflows


@pytest.mark.parametrize("name", [*BESSEL, "airy_ai"])
def test_single_precision(name):
    x = np.linspace(0.1, 40, 200).astype(np.float32)
    found = TABLE[name](x).numpy()
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, TABLE[name](x.astype(float)).numpy(), 1e-6, 1e-7)


def test_the_table():
    integers = range(taylor_nodes.FIRST, taylor_nodes.LAST + 1)
    for name, (function, order) in BESSEL.items():
        wanted = exact(lambda v, f=function, n=order: f(n, v), integers)
        assert getattr(taylor_nodes, name.upper()) == tuple(wanted)
    integers = range(taylor_nodes.LOWEST, taylor_nodes.HIGHEST + 1)
    for name, (function, order) in AIRY.items():
        wanted = exact(lambda v, f=function, n=order: f(v, derivative=n), integers)
        assert getattr(taylor_nodes, name.removeprefix("airy_").upper()) == tuple(wanted)
