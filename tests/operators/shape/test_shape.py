"""Operators of shape: the same eagerly, in programs and behind leading axes."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare import registry
from numgrad.operators.shape.joining import stack

from ..derivatives import check_batched, check_derivatives, in_program

CONCAT, ROLL = registry["concat"], registry["roll"]
X = np.arange(24.0).reshape(2, 3, 4) / 8 - 1

CASES = {
    "expand_dims": {"axes": (-3, -1)},
    "permute_dims": {"axes": (-1, -3, -2)},
    "reshape": {"ncore": 2, "shape": (2, 6)},
    "flip": {"axes": (-3, -1)},
    "roll": {"shifts": (1, -7), "axes": (-2, -1)},
}


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.mark.parametrize("name", CASES)
def test_programs_and_leading_axes(name):
    operator, static = registry[name], CASES[name]
    expected = operator(X, **static).numpy()
    layouts = [X, np.asfortranarray(X), X[::-1].copy()[::-1], np.repeat(X, 2, axis=2)[..., ::2]]
    for layout in layouts:
        np.testing.assert_array_equal(operator(layout, **static).numpy(), expected)
        np.testing.assert_array_equal(in_program(operator, layout, **static), expected)
    stacked = operator(np.stack([X, -X]), **static).numpy()
    np.testing.assert_array_equal(stacked, np.stack([expected, -expected]))


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name, rng):
    operator, static = registry[name], CASES[name]

    def cubed(x):
        y = operator(x, **static)
        return y * y * y

    check_derivatives(cubed, X, rng)
    check_batched(cubed, X, rng)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.int32, np.bool_])
def test_elements_are_moved_whatever_they_are(name, dtype):
    operator, static = registry[name], CASES[name]
    x = (X * 8 + 8).astype(dtype)
    result = in_program(operator, x, **static)
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, operator(x, **static).numpy())


@pytest.mark.parametrize("axis", [-1, -2, -3])
def test_concat(axis, rng):
    x, y, empty = X, X * 2, X[:0]
    parts = [x, y] if axis != -3 else [x, empty, y]
    expected = np.concatenate(parts, axis)
    np.testing.assert_array_equal(CONCAT(*parts, axis=axis).numpy(), expected)
    np.testing.assert_array_equal(in_program(CONCAT, *parts, axis=axis), expected)
    check_derivatives(lambda t: CONCAT(t * t, X, t * t * t, axis=axis), X, rng)
    check_batched(lambda t: CONCAT(t * t, X, t * t * t, axis=axis), X, rng)


def test_parts_may_lack_leading_axes():
    x, y = X[0, 0], X[0]
    expected = np.concatenate([np.broadcast_to(x, (3, 4)), y], axis=-1)
    np.testing.assert_array_equal(CONCAT(x, y, axis=-1).numpy(), expected)
    np.testing.assert_array_equal(in_program(CONCAT, x, y, axis=-1), expected)


@pytest.mark.parametrize("axis", [-1, -2, -3])
def test_a_stack_has_a_new_axis(axis, rng):
    x, y = ng.tensor(X), ng.tensor(-X)
    expected = np.stack([X, -X], axis)
    for _ in range(2):
        np.testing.assert_array_equal(stack(x, y, axis=axis).numpy(), expected)
    np.testing.assert_array_equal(in_program(stack, x, y, axis=axis), expected)
    check_derivatives(lambda t: stack(t * t, t, axis=axis), X, rng)


def test_a_stack_of_one_value_per_row_and_one_for_all():
    x = ng.tensor(X, requires_grad=True)
    rows = np.arange(5.0 * X.size).reshape(5, *X.shape)
    y = x * ng.tensor(X)
    seeds = ng.tensor(np.stack([rows, -rows], axis=2))
    z = ng.stack([y, ng.tensor(X)], axis=1)
    (found,) = ng.grad(z, x, seeds, is_grads_batched=True, create_graph=True)
    np.testing.assert_allclose(found.numpy(), rows * X)


@pytest.mark.parametrize("shape", [(0,), (1,), (3, 0)])
def test_rolling_few_elements(shape):
    x = np.ones(shape)
    assert in_program(ROLL, x, shifts=(2,), axes=(-1,)).shape == shape
    assert ROLL(x, shifts=(2,), axes=(-1,)).shape == shape


def test_batched_nodes_are_differentiated_again(rng):
    functions = [
        lambda x: CONCAT(x, x * x, axis=-2),
        lambda x: ROLL(x * x, shifts=(1,), axes=(-1,)) * x,
        lambda x: CONCAT(ng.tensor(X), x * x, axis=-1),
    ]
    for function in functions:
        x = ng.tensor(X, requires_grad=True)
        y = function(x)
        y = y * y
        seeds, weights = rng.standard_normal((2, *y.shape)), rng.standard_normal((2, *X.shape))
        (gx,) = ng.grad(y, x, seeds, is_grads_batched=True, create_graph=True)
        (twice,) = ng.grad((gx * weights).sum(), x)
        expected = 0
        for seed, weight in zip(seeds, weights, strict=True):
            z = function(x)
            (row,) = ng.grad(z * z, x, seed, create_graph=True)
            expected = expected + ng.grad((row * weight).sum(), x)[0].numpy()
        np.testing.assert_allclose(twice.numpy(), expected, 1e-12, 1e-12)
