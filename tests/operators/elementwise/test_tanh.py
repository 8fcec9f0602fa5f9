"""The hyperbolic tangent: one exponential and one division for the value and the slope."""

import math

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare import registry
from numgrad.ir.kernel_spec import FusedSpec

from ...targets.kernel_tools import F32, F64, generated_code

DTYPES = pytest.mark.parametrize("dtype", [F32, F64], ids=str)


def value_and_slope(x):
    leaf = ng.tensor(x, requires_grad=True)
    y = ng.tanh(leaf)
    (slope,) = ng.grad(y.sum(), leaf)
    return y.detach().numpy(), slope.numpy()


@DTYPES
def test_special_values(dtype):
    tiny = np.nextafter(dtype.type(0), dtype.type(1))
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, tiny, -tiny, 50.0, -50.0, 1e30], dtype)
    y, slope = value_and_slope(x)
    assert y.dtype == slope.dtype == dtype
    np.testing.assert_array_equal(y, np.tanh(x))
    np.testing.assert_array_equal(np.signbit(y), np.signbit(np.tanh(x)))
    far = 4 * math.exp(-100) if dtype == F64 else 0.0
    expected = np.array([1, 1, 0, 0, np.nan, 1, 1, far, far, 0], dtype)
    np.testing.assert_allclose(slope, expected, rtol=1e-15)


@DTYPES
def test_digits_of_values_and_slopes(dtype):
    rng = np.random.default_rng(4)
    size = np.concatenate([10.0 ** rng.uniform(-30, 1.5, 5000), rng.uniform(0, 3, 5000)])
    x = (size * rng.choice([-1, 1], size.size)).astype(dtype)
    y, slope = value_and_slope(x)
    wide = x.astype(np.longdouble)
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(y.astype(np.longdouble), np.tanh(wide), rtol=2 * eps)
    right = 1 / np.cosh(wide) ** 2
    normal = right > np.finfo(dtype).tiny
    np.testing.assert_allclose(slope[normal], right[normal].astype(float), rtol=2 * eps)
    assert (np.abs(y) <= 1).all()


@DTYPES
def test_values_never_pass_1_where_they_come_near(dtype):
    x = np.linspace(5, 25, 20001).astype(dtype)
    y, _ = value_and_slope(x)
    assert (y <= 1).all()
    assert y[-1] == 1


def test_one_division_serves_the_value_and_the_slope(monkeypatch):
    value, slope = (registry[name].spec(F64) for name in ("tanh", "tanh_slope"))
    spec = FusedSpec("both", ((value, (0,)), (slope, (0,))), (F64,), (F64, F64), (1, 2), (False,))
    alone = FusedSpec("one", ((value, (0,)), (value, (1,))), (F64,), (F64,), (1,), (False,))
    both, one = (generated_code(s, monkeypatch)[0] for s in (spec, alone))
    assert both.count("fdiv") == one.count("fdiv") > 0


def test_complex_values_and_slopes():
    x = np.array([0.3 + 0.2j, -1.5 + 2j, 20 - 1j, -0.1j])
    leaf = ng.tensor(x, requires_grad=True)
    y = ng.tanh(leaf)
    (slope,) = ng.grad(y, leaf, np.ones(4, complex))
    np.testing.assert_allclose(y.detach().numpy(), np.tanh(x), rtol=1e-14)
    np.testing.assert_allclose(slope.numpy(), np.conj(1 / np.cosh(x) ** 2), rtol=1e-13)


def test_second_derivatives_have_digits_far_out():
    x = np.array([-30.0, -3.0, 0.5, 8.0, 40.0])
    f = ng.func.vmap(ng.func.grad(ng.func.grad(ng.tanh)))
    wide = x.astype(np.longdouble)
    right = -2 * np.tanh(wide) / np.cosh(wide) ** 2
    np.testing.assert_allclose(np.asarray(f(x)), right.astype(float), rtol=1e-14)
