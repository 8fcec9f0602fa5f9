"""Cumulative sums and products: values, exact derivatives at zeros, all orders."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare import registry

from ..derivatives import check_batched, check_derivatives, gradient, in_program, second

UNARY = [
    "cumulative_sum",
    "cumulative_sum_reversed",
    "cumulative_prod",
    "products_before",
    "exclusive_prod",
]


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_derivatives(rng, name, zeros):
    x = rng.standard_normal((2, 5))
    x[:, 1 : 1 + zeros] = 0
    check_derivatives(registry[name], x, rng)
    check_batched(registry[name], x, rng)


@pytest.mark.parametrize("name", ["recurrence", "recurrence_reversed"])
def test_derivatives_of_recurrences(rng, name):
    a, b = rng.standard_normal((2, 5))
    operator = registry[name]
    check_derivatives(lambda a: operator(a, b), a, rng)
    check_derivatives(lambda b: operator(a, b), b, rng)
    check_batched(lambda a: operator(a, b), a, rng)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.int64])
def test_values_agree_with_numpy(rng, dtype):
    x = rng.integers(-3, 4, (3, 6)).astype(dtype)
    for name, expected in (
        ("cumulative_sum", np.cumsum(x, -1)),
        ("cumulative_prod", np.cumprod(x, -1)),
    ):
        y = registry[name](x).numpy()
        np.testing.assert_array_equal(y, expected)
        assert y.dtype == dtype
        np.testing.assert_array_equal(
            in_program(registry[name], x[:, ::-1]), registry[name](x[:, ::-1]).numpy()
        )


def test_cumulative_products_with_zeros_have_exact_derivatives():
    x = np.array([0.0, 2, 3])
    np.testing.assert_array_equal(gradient(registry["cumulative_prod"], x), [9, 0, 0])
    np.testing.assert_array_equal(
        second(registry["cumulative_prod"], x, np.ones(3), np.ones(3)), [6, 4, 2]
    )


def test_complex_derivatives_are_conjugated(rng):
    x = rng.standard_normal(4) + 1j * rng.standard_normal(4)
    g = rng.standard_normal(4) + 1j * rng.standard_normal(4)
    step = 1e-6
    jacobian = np.stack(
        [(np.cumprod(x + step * e) - np.cumprod(x - step * e)) / (2 * step) for e in np.eye(4)]
    )
    np.testing.assert_allclose(
        gradient(registry["cumulative_prod"], x, g), jacobian.conj() @ g, 1e-6
    )


def test_empty_and_single():
    for name in UNARY:
        for size in (0, 1):
            x = ng.tensor(np.full(size, 3.0), requires_grad=True)
            (gx,) = ng.grad(registry[name](x), x, np.ones(size), create_graph=True)
            assert gx.shape == (size,)
