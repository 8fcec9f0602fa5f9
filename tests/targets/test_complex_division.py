"""Division of complex numbers in kernels: by zero, and of numbers whose squares leave the range."""

import numpy as np
import pytest

from numgrad.targets.cpu import CPUTarget
from numgrad.targets.cpu.kernels import ElementwiseSpec


def quotient(a, b):
    return a / b


def reciprocal(x):
    return 1 / x


def kernel(function, dtype, count):
    dtype = np.dtype(dtype)
    return (
        CPUTarget().kernel(ElementwiseSpec("quotient", function, (dtype,) * count, (dtype,))).ufunc
    )


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_equals_numpy(dtype):
    rng = np.random.default_rng(1)
    values = (rng.normal(size=(2, 40)) + 1j * rng.normal(size=(2, 40))).astype(dtype)
    a, b = values[0], values[1]
    rtol = 8 * np.finfo(dtype).eps
    np.testing.assert_allclose(kernel(quotient, dtype, 2)(a, b), a / b, rtol=rtol)


def test_zero_divisor_gives_infinities_and_later_elements_are_computed():
    b = np.array([2.0, 0.0, 4j, complex(0.0, -0.0), 5.0])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(kernel(quotient, complex, 2)(1 + 2j, b), (1 + 2j) / b)
    assert np.isinf(kernel(reciprocal, complex, 1)(0j).real)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_large_and_small_divisors(scale):
    b = np.array([3 + 4j, 4 - 3j, -3 + 1j]) * scale
    np.testing.assert_allclose(kernel(reciprocal, complex, 1)(b) * b, np.ones(3), rtol=1e-15)
