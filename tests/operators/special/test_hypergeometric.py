"""Confluent hypergeometric functions of arguments for which SciPy's never return, or raise."""

import numpy as np
import pytest
from mpmath import mp

import numgrad as ng


@pytest.mark.parametrize(("a", "b"), [(2, 3), (0.5, 0.5), (-2.5, 3), (2.5, -3.5), (-2.5, -3.5)])
@pytest.mark.parametrize("x", [1e15, 1e100, np.inf])
def test_a_huge_argument_gives_the_infinity_of_its_sign(a, b, x):
    sign = mp.sign(mp.hyp1f1(a, b, 2000))
    assert ng.special.hyp1f1(float(a), float(b), x).item() == float(sign) * np.inf


def test_polynomials_and_large_parameters_of_huge_arguments_are_finite():
    assert ng.special.hyp1f1(-2.0, 3.0, 1e100).item() == pytest.approx(1e200 / 12)
    assert ng.special.hyp1f1(1e10, 1e10, 1.5).item() == pytest.approx(np.exp(1.5))


@pytest.mark.parametrize("x", [-1e12, -1e15, -np.inf])
@pytest.mark.parametrize("a", [1, 2, 4.0])
def test_a_polynomial_times_an_exponential_vanishes(a, x):
    assert ng.special.hyp1f1(a, 1.0, x).item() == 0


@pytest.mark.parametrize("z", [1.2e5, 1.27e5, 1e6, 1e300, np.inf])
def test_the_limit_function_of_1_is_a_bessel_function(z):
    expected = float(mp.besseli(0, 2 * mp.sqrt(z))) if z < 1.3e5 else np.inf
    assert ng.special.hyp0f1(1.0, z).item() == pytest.approx(expected, rel=1e-12)


def test_slopes_at_huge_arguments_return():
    x = ng.tensor([-np.inf, -1e300, 1e300, np.inf, np.nan], requires_grad=True)
    (slope,) = ng.grad(ng.special.exprel(x).sum(), x)
    np.testing.assert_array_equal(slope, [0, 0, np.inf, np.inf, np.nan])
