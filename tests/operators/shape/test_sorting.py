"""Sorting: one stable order, and permutations that undo each other."""

import numpy as np
import pytest

from numgrad._declare import registry

from ..derivatives import check_batched, check_derivatives, gradient, in_program

ARGSORT, PERMUTE, UNPERMUTE = (registry[name] for name in ("argsort", "permute", "unpermute"))


@pytest.fixture
def rng():
    return np.random.default_rng(3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 17, 200])
def test_the_kernel_finds_the_stable_order(rng, n, dtype):
    x = rng.integers(-5, 5, (3, n)).astype(dtype)
    if x.dtype.kind == "f":
        x[rng.random(x.shape) < 0.1] = np.nan
        x[rng.random(x.shape) < 0.1] = np.inf
    expected = np.argsort(x, axis=-1, kind="stable")
    np.testing.assert_array_equal(ARGSORT(x).numpy(), expected)
    np.testing.assert_array_equal(in_program(ARGSORT, x), expected)


def test_permutations_in_programs(rng):
    x = rng.standard_normal((3, 6))
    order = np.argsort(x, axis=-1)
    for operator in (PERMUTE, UNPERMUTE):
        np.testing.assert_array_equal(in_program(operator, x, order), operator(x, order).numpy())
        np.testing.assert_array_equal(
            in_program(operator, x, order[0]), operator(x, order[0]).numpy()
        )
    np.testing.assert_array_equal(UNPERMUTE(PERMUTE(x, order), order).numpy(), x)


def test_derivatives(rng):
    x = rng.standard_normal((2, 5))
    for operator in (PERMUTE, UNPERMUTE):
        check_derivatives(lambda x, f=operator: f(x, ARGSORT(x)), x, rng)
        check_batched(lambda x, f=operator: f(x, ARGSORT(x)), x, rng)


def test_complex_elements_are_sorted_as_numpy_does(rng):
    x = rng.integers(0, 3, 20) + 1j * rng.integers(0, 3, 20)
    order = ARGSORT(x)
    np.testing.assert_array_equal(PERMUTE(x, order).numpy(), np.sort(x))
    g = rng.standard_normal(20) + 1j * rng.standard_normal(20)
    expected = np.empty_like(g)
    expected[order.numpy()] = g
    np.testing.assert_array_equal(gradient(lambda x: PERMUTE(x, order), x, g), expected)
