"""The derivatives of a quotient, which share a reciprocal, also one that is infinite or zero."""

import numpy as np
import pytest

import numgrad as ng

INF, NAN = np.inf, np.nan


def gradients(x1, x2, g, dtype="float64", wanted=(True, True), **options):
    """Return the gradients of ``x1 / x2``, of those that are wanted."""
    x1, x2, g = (np.asarray(a, dtype) for a in (x1, x2, g))
    variables = [ng.tensor(a, requires_grad=w) for a, w in zip((x1, x2), wanted, strict=True)]
    live = [x for x in variables if x.requires_grad]
    return [v.detach().numpy() for v in ng.grad(variables[0] / variables[1], live, g, **options)]


def points(dtype):
    """Return numerators, denominators and cotangents, ordinary and special ones."""
    info = np.finfo(dtype)
    numbers = [0.0, -0.0, 1.5, -3.0, INF, -INF, NAN, info.tiny, info.max, info.eps, 1 / info.eps]
    grid = np.meshgrid(numbers, [*numbers, info.smallest_subnormal], [0.0, 1.0, -0.7])
    return [a.ravel() for a in grid]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients_are_those_of_two_divisions(dtype):
    x1, x2, g = (a.astype(dtype) for a in points(dtype))
    with np.errstate(all="ignore"):
        expected = g * (1 / x2), g * (-(x1 / x2) / x2)
    found = gradients(x1, x2, g, dtype)
    np.testing.assert_array_equal(found[0], expected[0])
    info = np.finfo(dtype)
    np.testing.assert_allclose(found[1], expected[1], 4 * info.eps, info.smallest_subnormal)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_the_quotient_zero_by_a_tiny_number_has_the_slope_zero(dtype):
    tiny = np.finfo(dtype).smallest_subnormal
    _, found = gradients([0.0, 0.0, -0.0], [tiny, -tiny, 3 * tiny], [1.0, -2.0, 0.5], dtype)
    np.testing.assert_array_equal(found, 0.0)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_bits_do_not_depend_on_what_is_wanted_recorded_or_batched(dtype):
    rng = np.random.default_rng(3)
    x1, x2, g = rng.standard_normal((3, 200))
    both = gradients(x1, x2, g, dtype)
    np.testing.assert_array_equal(gradients(x1, x2, g, dtype, (True, False))[0], both[0])
    np.testing.assert_array_equal(gradients(x1, x2, g, dtype, (False, True))[0], both[1])
    for options in ({"create_graph": True}, {"is_grads_batched": True}):
        seed = g[None] if "is_grads_batched" in options else g
        for a, b in zip(gradients(x1, x2, seed, dtype, **options), both, strict=True):
            np.testing.assert_array_equal(a.reshape(b.shape), b)


@pytest.mark.parametrize("shapes", [((3, 1), (4,)), ((), (5,)), ((5,), ()), ((2, 3), (1, 1))])
def test_gradients_of_broadcast_operands_are_sums(shapes):
    rng = np.random.default_rng(4)
    x1, x2 = (rng.uniform(1.0, 2.0, shape) for shape in shapes)
    g = rng.standard_normal(np.broadcast_shapes(*shapes))
    full = gradients(*np.broadcast_arrays(x1, x2), g)
    for found, a, x in zip(gradients(x1, x2, g), full, (x1, x2), strict=True):
        lead = tuple(range(a.ndim - x.ndim))
        kept = tuple(n for n in range(-x.ndim, 0) if x.shape[n] == 1)
        expected = a.sum(lead).sum(kept, keepdims=True)
        np.testing.assert_allclose(found, expected, 1e-14)


def test_second_derivatives_at_a_numerator_of_zero():
    x1, x2 = ng.tensor(0.0, requires_grad=True), ng.tensor(4.0, requires_grad=True)
    first = ng.grad(x1 / x2, [x1, x2], create_graph=True)
    by1 = ng.grad(first[1], [x1, x2], retain_graph=True)
    by2 = ng.grad(first[0], x2)
    assert [v.item() for v in (*first, *by1, *by2)] == [0.25, 0.0, -1 / 16, 0.0, -1 / 16]


def test_third_derivative():
    x = ng.tensor([0.5, 2.0], requires_grad=True)
    y = 3.0 / x
    for power in (2, 3, 4):
        (y,) = ng.grad(y.sum(), x, create_graph=True)
        expected = (-1) ** (power - 1) * 3.0 * [1, 2, 6][power - 2] / x.detach().numpy() ** power
        np.testing.assert_allclose(y.detach().numpy(), expected, 1e-14)


def test_integers_are_divided_as_float64():
    x = ng.tensor([2.0, 4.0], requires_grad=True)
    (found,) = ng.grad((np.array([1, 3]) / x).sum(), x)
    np.testing.assert_array_equal(found.numpy(), [-1 / 4, -3 / 16])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_slope_of_a_root_has_the_bits_of_one_division(dtype):
    info = np.finfo(dtype)
    x = np.array([0.0, info.smallest_subnormal, info.tiny, 2.0, 3.0, info.max, INF], dtype)
    x = np.concatenate([x, np.random.default_rng(5).uniform(0, 9, 1000).astype(dtype)])
    leaf = ng.tensor(x, requires_grad=True)
    (found,) = ng.grad(ng.sqrt(leaf).sum(), leaf)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(found.numpy(), x.dtype.type(0.5) / np.sqrt(x))
