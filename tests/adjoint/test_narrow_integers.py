"""Integers of fewer than 64 bits in kernels: the gradient multiplies by the numbers that Numba has.

Each kernel is linear in ``x``, so its gradient is what it returns for the rows of the identity.
"""

import numpy as np
import pytest

import numgrad as ng
from numgrad import njit

A, B = [3, 200, 5], [4, 100, 250]


@njit
def difference_with_a_name(x, a, b):
    d = a - b
    return np.sum(x * d)


@njit
def difference_in_an_expression(x, a, b):
    return np.sum(x * (a - b))


@njit
def called_difference(x, a, b):
    return np.sum(x * np.subtract(a, b))


@njit
def sum_of_products(x, a, b):
    return x[0] * np.sum(a * b) + x[1] * (a * b).max() + x[2] * np.mean(a - b)


@njit
def squares(x, a, b):
    return np.sum(x * np.square(a)) + x[0] * np.square(a[1]) + x[1] * np.multiply(a[1], b[1])


@njit
def elements_of_an_expression(x, a, b):
    return x[0] * (a - b)[0] + np.sum(x * (a + b)[::-1])


@njit
def absolute_values_and_roundings(x, a, b):
    return np.sum(x * np.fabs(a) ** -1.0) + np.sum(x * np.fabs(a) ** -1) + x[0] * np.rint(b)[1]


@njit
def chosen(x, a, b):
    return np.sum(x * np.where(a > b, a - b, b - a))


@njit
def with_numbers(x, a, b):
    return np.sum(x * (a * 3 - b)) + np.sum(x * ((a - 1) // 2))


@njit
def negated(x, a, b):
    c = -a
    d = ~b
    return np.sum(x * c) + np.sum(x * d)


@njit
def powers(x, a, b):
    p = a**a
    return np.sum(x * p)


@njit
def outer(x, a, b):
    return np.sum(x * np.outer(a, b))


@njit
def multiples(x, a, b):
    m = np.lcm(a, b)
    return np.sum(x * m)


@njit
def accumulated(x, a, b):
    return np.sum(x * np.cumsum(a)) + np.sum(x * np.cumprod(b)) + np.sum(x * a.cumsum())


@njit
def accumulated_without_nan(x, a, b):
    return np.sum(x * np.nancumsum(a)) + np.sum(x * np.nancumprod(b))


KERNELS = [
    difference_with_a_name, difference_in_an_expression, called_difference, sum_of_products,
    squares, elements_of_an_expression, absolute_values_and_roundings, chosen, with_numbers,
    negated, powers, outer, multiples, accumulated, accumulated_without_nan,
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["uint8", "int16"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_gradients_multiply_by_what_the_value_has(kernel, dtype):
    scale = 1 if dtype == "uint8" else 130
    a, b = (np.array(numbers, np.int64) * scale for numbers in (A, B))
    _require_coefficients(kernel, a.astype(dtype), b.astype(dtype))


@njit
def ranks(x, m):
    return np.sum(x * np.cumsum(m > 0))


@njit
def counted(x, m):
    both = (m > 0) + (m > 1)
    return np.sum(x * both) + np.sum(x * ((m > 0) + (m > 1))) + x[0] * np.sum((m > 0) + (m > 1))


@njit
def inverted(x, m):
    known = np.invert(m > 1)
    return np.sum(x * known) + x[1] * np.sum(known)


@pytest.mark.parametrize("kernel", [ranks, counted, inverted], ids=lambda kernel: kernel.__name__)
def test_truth_values_are_counted_as_in_the_value(kernel):
    _require_coefficients(kernel, np.array([1.0, 2.0, 3.0]))


def test_products_of_large_int32_arrays_wrap_as_in_the_value():
    a = np.array([50_000, 60_000, 7], np.int32)
    _require_coefficients(difference_with_a_name, a, -a)
    _require_coefficients(squares, a, a)


def _require_coefficients(kernel, *args):
    found = ng.func.grad(kernel)(np.array([1.0, 2.0, 3.0]), *args)
    expected = [kernel(row, *args) for row in np.eye(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
