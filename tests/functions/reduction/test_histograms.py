"""Counts and histograms: NumPy's numbers, and derivatives to weights and of edges."""

import numpy as np
import pytest

import numgrad as ng

from ..numpy_calls import cases, check_call, check_gradients, flat

RNG = np.random.default_rng(9)
NUMBERS = RNG.integers(0, 6, 20)
X, Y, W = (RNG.standard_normal(20) for _ in range(3))
S = RNG.standard_normal((20, 3))

COUNTS = {
    "plain": lambda np, n: np.bincount(n),
    "long": lambda np, n: np.bincount(n, minlength=9),
    "weights": lambda np, n: np.bincount(n, W, 9),
    "integers": lambda np, n: np.bincount(n, np.arange(20)),
    "misfit": lambda np, n: np.bincount(n, W[:3]),
    "complex": lambda np, n: np.bincount(n, W + 0j),
    "negative": lambda np, n: np.bincount(n - 3),
    "matrix": lambda np, n: np.bincount(n.reshape(4, 5)),
    "floats": lambda np, n: np.bincount(n * 1.0),
    "none": lambda np, n: np.bincount(n[:0], minlength=3),
    "list": lambda np, n: np.bincount([], minlength=3),
}  # fmt: skip


@cases(COUNTS)
def test_counts_equal_numpy(call):
    check_call(call, NUMBERS)


OPTIONS = [
    {"bins": 5},
    {"bins": 4, "range": (-1, 1)},
    {"bins": 4, "density": True},
    {"bins": [-1, 0, 0.5, 2], "density": True},
    {"bins": np.array([-1.0, 0.0])},
    {"bins": [2, 1]},
    {"bins": 0},
    {"range": (2, 1)},
]


@pytest.mark.parametrize("options", [*OPTIONS, {"bins": "auto"}])
def test_histograms_equal_numpy(options):
    check_call(lambda np, x: np.histogram(x, **options), X)
    check_call(lambda np, x: np.histogram(x.reshape(4, 5), **options), X)
    options = {name: value for name, value in options.items() if name != "density"}
    check_call(lambda np, x: np.histogram_bin_edges(x, **options), X)


@pytest.mark.parametrize("options", [*OPTIONS, {"bins": "auto"}])
def test_weighted_histograms_equal_numpy(options):
    leaf = ng.tensor(W, requires_grad=True)
    for weights in (W, np.arange(20), leaf):
        array = W if weights is leaf else weights
        call = lambda np, x, w=weights, a=array: np.histogram(  # noqa: E731
            x, weights=w if np is ng else a, **options
        )
        check_call(call, X, overridden=False)


PLANES = {
    "plain": lambda np, x, w: np.histogram2d(x, Y, weights=w),
    "numbers": lambda np, x, w: np.histogram2d(x, Y, [3, 4], weights=w, density=True),
    "range": lambda np, x, w: np.histogram2d(x, Y, 4, [(-1, 1), (-2, 1)], weights=w),
    "edges": lambda np, x, w: np.histogram2d(x, Y, [[-1, 0, 1], [-2, 0, 0.1, 2]], weights=w),
    "mixed": lambda np, x, w: np.histogram2d(x, Y, [[-1, 0, 1], 3], weights=w),
    "shared": lambda np, x, w: np.histogram2d(x, Y, [-1, 0, 1, 2], weights=w),
    "misfit": lambda np, x, w: np.histogram2d(x, Y[:3], weights=w),
    "space": lambda np, x, w: np.histogramdd(S, 3, weights=w),
    "space-range": lambda np, x, w: np.histogramdd(S, 2, [(-1, 1)] * 3, weights=w),
    "columns": lambda np, x, w: np.histogramdd([x, Y], (2, 3), weights=w, density=True),
}  # fmt: skip


@cases(PLANES)
def test_histograms_of_several_axes_equal_numpy(call):
    check_call(lambda np, x: call(np, x, None), X, overridden=False)
    check_call(call, X, W, overridden=False)
    leaf = ng.tensor(W, requires_grad=True)
    check_call(lambda np, x: call(np, x, leaf if np is ng else W), X, overridden=False)


EDGES = [[0, 1, 2], [2, 1, 0], [0, 2, 1], [1, 1, 1], [1], [0.5, -0.5]]


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("edges", EDGES)
def test_digitize_equals_numpy(edges, right):
    check_call(lambda np, x: np.digitize(x, edges, right), X.reshape(4, 5))
    check_call(lambda np, x: np.digitize(x, edges, right), NUMBERS)
    check_call(lambda np, x: np.digitize(x[0], edges, right), X)
    check_call(lambda np, x: np.digitize(x + 0j, edges, right), X)


def test_derivatives_to_weights():
    check_gradients(lambda np, w: np.bincount(NUMBERS, w), W)
    check_gradients(lambda np, w: np.histogram(X, 4, (-1, 1), True, w)[0], abs(W))
    check_gradients(lambda np, w: np.histogram2d(X, Y, 3, None, True, w)[0], abs(W))


MOVING = {
    "elements": lambda np, x, a: np.histogram(x, 3)[1],
    "density": lambda np, x, a: np.histogram(x * a, 4, density=True)[0],
    "limits": lambda np, x, a: np.histogram_bin_edges(X, 4, range=(-a, 2 * a)),
    "one-limit": lambda np, x, a: np.histogram(X, 4, (-1.0, a), True)[0],
    "edges": lambda np, x, a: np.histogram(X, [-a, 0.0, 2 * a], density=True)[0],
    "rule": lambda np, x, a: np.histogram_bin_edges(x, "sturges"),
    "plane": lambda np, x, a: [np.histogram2d(x, Y, 3)[1], np.histogram2d(Y, x * a, 3)[2]],
    "space": lambda np, x, a: np.histogramdd([x, Y], (2, [-a, 0, a]), density=True)[0],
    "single": lambda np, x, a: np.histogram_bin_edges(x[:1], 3),
}


@cases(MOVING)
def test_edges_move_with_what_they_are_made_of(call):
    leaves = [ng.tensor(value, requires_grad=True) for value in (X, np.array(0.9))]
    for got, expected in zip(flat(call(ng, *leaves)), flat(call(np, X, 0.9)), strict=True):
        np.testing.assert_allclose(got, expected, 1e-13)
    assert ng.testing.gradcheck(lambda x, a: call(ng, x, a), leaves)


def test_edges_of_captured_histograms_have_derivatives():
    def loss(x, edges):
        moving, given = ng.histogram(x, 3)[1], ng.histogram(X, edges, density=True)
        return (moving * np.arange(4)).sum() + (given[0] * given[1][1:]).sum()

    edges = np.array([-1.0, 0.2, 1.5])
    gradient = ng.func.grad(loss, argnums=(0, 1))
    for got, expected in zip(ng.jit(gradient)(X, edges), gradient(X, edges), strict=True):
        np.testing.assert_allclose(got, expected, 1e-13)


def test_numbers_that_are_not_known_are_refused():
    with pytest.raises(ng.errors.CaptureError):
        ng.jit(lambda n, w: ng.bincount(n, w))(NUMBERS, W)


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint8, np.uint64, bool])
def test_captured_counts_refuse_numbers_without_a_place(dtype):
    count = ng.jit(lambda n: ng.bincount(n, minlength=2))
    places = np.array([1, 0, 1], dtype)
    np.testing.assert_array_equal(count(places), np.bincount(places, minlength=2))
    if dtype is not bool:
        with pytest.raises(ValueError, match=r"the number 7 has no place among minlength=2"):
            count(np.array([1, 7, 0], dtype))
    if np.dtype(dtype).kind == "i":
        with pytest.raises(ValueError, match=r"the number -1 is negative"):
            count(np.array([1, -1, 9], dtype))
    np.testing.assert_array_equal(count(places), np.bincount(places, minlength=2))
