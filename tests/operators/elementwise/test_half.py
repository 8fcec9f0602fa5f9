"""Conversions from and to float16 in programs, against NumPy's."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.operators.elementwise.cast import cast_spec
from numgrad.targets.cpu import CPUTarget

HALF = np.dtype(np.float16)


def convert(array, result):
    """Convert with the kernel that programs use."""
    result = np.dtype(result)
    source = array.view(np.uint16) if array.dtype == HALF else array
    converted = CPUTarget().kernel(cast_spec(array.dtype, result)).ufunc(source)
    return converted.view(HALF) if result == HALF else converted


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_half_is_read_and_written(dtype):
    halves = np.arange(65536, dtype=np.uint16).view(HALF)
    wide = convert(halves, dtype)
    np.testing.assert_array_equal(wide, halves.astype(dtype))
    np.testing.assert_array_equal(np.signbit(wide), np.signbit(halves))
    np.testing.assert_array_equal(convert(wide, HALF), halves)


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rounding_is_to_nearest_even(dtype):
    halves = np.arange(31744, dtype=np.uint16).view(HALF).astype(dtype)
    middles = (halves[1:] + halves[:-1]) / 2
    for x in (middles, np.nextafter(middles, 0), np.nextafter(middles, np.inf)):
        x = np.concatenate([x, -x, np.array([65519.9, 65520, 1e30, 1e-30], dtype)]).astype(dtype)
        np.testing.assert_array_equal(convert(x, HALF), x.astype(HALF))


@pytest.mark.parametrize("dtype", ["bool", "int64", "complex64"])
def test_other_dtypes(dtype):
    x = np.array([0, 1, 3], dtype)
    np.testing.assert_array_equal(convert(np.array([0, 1, 3], HALF), dtype), x)
    if dtype != "complex64":  # goes through float64
        np.testing.assert_array_equal(convert(x, HALF), x.astype(HALF))


def test_gradient_of_half_precision_from_a_complex_function():
    x = ng.tensor(np.array([0.5, 1.5], HALF), requires_grad=True)
    (g,) = ng.grad(ng.real((1 + 2j) * x), x)
    assert g.dtype == HALF
    assert g.tolist() == [1, 1]


def test_gradients_of_half_precision():
    x = ng.tensor(np.array([0.5, 1.5], HALF), requires_grad=True)
    (g,) = ng.grad(ng.tanh(x) + x * x, x)
    assert g.dtype == HALF
    np.testing.assert_allclose(g.numpy(), 1 / np.cosh([0.5, 1.5]) ** 2 + [1, 3], rtol=1e-3)
    batched = ng.grad(ng.tanh(x), x, ng.tensor(np.eye(2, dtype=HALF)), is_grads_batched=True)[0]
    assert batched.dtype == HALF
