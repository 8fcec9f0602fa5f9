"""Indexing: regions read and overwritten, positions gathered and scattered, in programs too."""

from math import prod

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare import registry
from numgrad.operators.shape.indexing import as_chain

from ..derivatives import check_batched, check_derivatives, gradient, in_program

INDEX, DIAGONAL, PUT_VIEW = (registry[name] for name in ("index", "diagonal", "put_view"))
GATHER, SCATTER_ADD, PUT_AT = (registry[name] for name in ("gather", "scatter_add", "put_at"))
DTYPES = [np.float32, np.float64, np.complex64, np.complex128]

X = np.arange(24.0).reshape(2, 3, 4)
POSITIONS = np.array([0, 5, 5, 11, 2, 0])

VIEWS = {
    "integer": (INDEX, {"key": (1,)}),
    "slices": (INDEX, {"key": ((1, 3, 1), (3, None, -2))}),
    "new axis": (INDEX, {"key": (None, (None,), 2)}),
    "nothing": (INDEX, {"key": ()}),
    "empty": (INDEX, {"key": ((1, 1, 1), (None,))}),
    "diagonal": (DIAGONAL, {"axes": (-2, -1), "offset": 0}),
    "upper diagonal": (DIAGONAL, {"axes": (-1, -3), "offset": 1}),
}
PLACES = {
    "flat": {"count": 2, "tail": 0, "shape": (6,)},
    "shaped": {"count": 2, "tail": 0, "shape": (2, 3)},
    "rows": {"count": 2, "tail": 1, "shape": (3, 2)},
}


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def rank(operator, static):
    """Return how many core axes a view operator has before and after."""
    if operator is DIAGONAL:
        ncore = -min(static["axes"])
        return ncore, ncore - 1
    key = static["key"]
    return sum(i is not None for i in key), sum(not isinstance(i, int) for i in key)


@pytest.mark.parametrize("name", VIEWS)
def test_views_give_the_same_in_programs_and_behind_leading_axes(name):
    operator, static = VIEWS[name]
    for x in (X, X.astype(np.int64), np.asfortranarray(X), X[:, ::-1]):
        np.testing.assert_array_equal(
            in_program(operator, x, **static), operator(x, **static).numpy()
        )
    stacked = operator(np.stack([X, -X]), **static).numpy()
    np.testing.assert_array_equal(stacked[1], operator(-X, **static).numpy())


@pytest.mark.parametrize("name", VIEWS)
def test_derivatives_of_views(name, rng):
    operator, static = VIEWS[name]

    def squared(x):
        y = operator(x, **static)
        return y * y * y

    check_derivatives(squared, X / 7 - 1, rng)
    check_batched(squared, X, rng)


@pytest.mark.parametrize("name", VIEWS)
def test_a_region_is_overwritten(name, rng):
    operator, static = VIEWS[name]
    ncore, nregion = rank(operator, static)
    chain = as_chain([(operator, static)])
    region = operator(X, **static).numpy()
    v = rng.standard_normal(region.shape)
    options = {"ncore": ncore, "nregion": nregion, "chain": chain}
    expected = X.copy()
    operator.function(expected, **static)[...] = v
    np.testing.assert_array_equal(PUT_VIEW(X, v, **options).numpy(), expected)
    np.testing.assert_array_equal(in_program(PUT_VIEW, X, v, **options), expected)
    check_derivatives(lambda x: PUT_VIEW(x * x, v, **options), X / 9, rng)
    check_derivatives(lambda u: PUT_VIEW(X, u * u, **options), v, rng)
    check_batched(lambda u: PUT_VIEW(X, u * u, **options), v, rng)


def test_operands_of_a_write_may_lack_leading_axes(rng):
    options = {"ncore": 1, "nregion": 1, "chain": as_chain([(INDEX, {"key": ((1, 3, 1),)})])}
    x, v = rng.standard_normal((5, 4)), rng.standard_normal((5, 2))
    for a, b in ((x, v[0]), (x[0], v), (x, v)):
        result = PUT_VIEW(a, b, **options).numpy()
        np.testing.assert_array_equal(in_program(PUT_VIEW, a, b, **options), result)
        np.testing.assert_array_equal(result[:, 1:3], np.broadcast_to(b, (5, 2)))
        np.testing.assert_array_equal(result[:, 3], np.broadcast_to(a, (5, 4))[:, 3])


# Positions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", [*DTYPES, np.float16, np.int64, np.bool_])
def test_gather_equals_take(dtype, place):
    static = PLACES[place]
    positions = POSITIONS % 6 if static["tail"] else POSITIONS
    x = X.astype(dtype)
    sizes = (6, 4) if static["tail"] else (2, 12)
    expected = x.reshape(sizes)
    expected = expected[positions] if static["tail"] else expected[:, positions]
    for layout in (x, np.asfortranarray(x)):
        result = GATHER(layout, positions, **static).numpy()
        np.testing.assert_array_equal(result.ravel(), expected.ravel())
        np.testing.assert_array_equal(in_program(GATHER, layout, positions, **static), result)
        assert result.dtype == dtype


@pytest.mark.parametrize("dtype", DTYPES)
def test_scatter_adds_in_order(dtype, rng):
    g = rng.standard_normal((3, 6)).astype(dtype) * 10 ** rng.uniform(-6, 6, (3, 6)).astype(dtype)
    static = {"count": 1, "tail": 0, "sizes": (3, 4)}
    expected = np.zeros((3, 12), dtype)
    for n, position in enumerate(POSITIONS):
        expected[:, position] += g[:, n]
    result = SCATTER_ADD(g, POSITIONS, **static).numpy()
    np.testing.assert_array_equal(result, expected.reshape(3, 3, 4))
    np.testing.assert_array_equal(in_program(SCATTER_ADD, g, POSITIONS, **static), result)
    strided = np.repeat(g, 2, axis=1)[:, ::2]
    np.testing.assert_array_equal(SCATTER_ADD(strided, POSITIONS, **static).numpy(), result)


def test_nothing_is_scattered_or_gathered():
    none = np.zeros(0, np.int64)
    np.testing.assert_array_equal(
        SCATTER_ADD(X[0, 0, :0], none, count=1, tail=0, sizes=(2, 2)).numpy(), 0
    )
    np.testing.assert_array_equal(
        in_program(SCATTER_ADD, X[0, 0, :0], none, count=1, tail=0, sizes=(2, 2)), np.zeros((2, 2))
    )
    assert in_program(GATHER, X, none, count=2, tail=0, shape=(0,)).shape == (2, 0)


@pytest.mark.parametrize("place", PLACES)
def test_derivatives_of_positional_operators(place, rng):
    static = PLACES[place]
    positions = POSITIONS % 6 if static["tail"] else POSITIONS

    def gathered(x):
        y = GATHER(x, positions, **static)
        return y * y * y

    check_derivatives(gathered, X / 7 - 1, rng)
    check_batched(gathered, X, rng)


def test_derivatives_of_a_write_at_positions(rng):
    positions = np.array([7, 0, 3])
    static = {"count": 2, "tail": 0, "shape": (3,)}
    v = rng.standard_normal((2, 3))
    expected = X.copy()
    expected.reshape(2, 12)[:, positions] = v
    np.testing.assert_array_equal(PUT_AT(X, v, positions, **static).numpy(), expected)
    np.testing.assert_array_equal(in_program(PUT_AT, X, v, positions, **static), expected)
    check_derivatives(lambda x: PUT_AT(x * x, v, positions, **static), X / 9, rng)
    check_derivatives(lambda u: PUT_AT(X, u * u, positions, **static), v, rng)
    check_batched(lambda u: PUT_AT(X, u * u, positions, **static), v, rng)


def test_a_batched_graph_is_differentiated_again(rng):
    """Nodes of a batched pass have the batch as a leading axis; statics count from the right."""
    operators = [
        lambda x: GATHER(x, POSITIONS, count=2, tail=0, shape=(2, 3)),
        lambda x: INDEX(x, key=((0, 2, 1), 1)),
        lambda x: DIAGONAL(x, axes=(-1, -2), offset=0),
        lambda x: PUT_AT(x, x[:, 0, :3], np.array([7, 0, 3]), count=2, tail=0, shape=(3,)),
    ]
    for operator in operators:
        x = ng.tensor(X / 9, requires_grad=True)

        def function(x, operator=operator):
            y = operator(x * x)
            return y * y

        y = function(x)
        seeds = rng.standard_normal((3, *y.shape))
        weights = rng.standard_normal((3, *X.shape))
        (gx,) = ng.grad(y, x, seeds, is_grads_batched=True, create_graph=True)
        (twice,) = ng.grad((gx * weights).sum(), x)
        expected = 0
        for seed, weight in zip(seeds, weights, strict=True):
            (row,) = ng.grad(function(x), x, seed, create_graph=True)
            expected = expected + ng.grad((row * weight).sum(), x)[0].numpy()
        np.testing.assert_allclose(twice.numpy(), expected, 1e-12, 1e-12)


def test_half_precision_is_added_in_single():
    x = ng.tensor(np.ones(3, np.float16), requires_grad=True)
    cotangents = np.array([2048.0, 1.0, 1.0], np.float16)
    (gx,) = ng.grad(x[[1, 1, 1]], x, cotangents)
    assert gx.dtype == np.float16
    np.testing.assert_array_equal(gx.numpy(), [0, 2050, 0])


def test_a_gradient_reaches_each_element_once_per_use():
    counts = gradient(lambda x: GATHER(x, POSITIONS, count=2, tail=0, shape=(6,)), X[0])
    np.testing.assert_array_equal(counts.ravel(), np.bincount(POSITIONS, minlength=12))


@pytest.mark.parametrize("shape", [(12,), (12, 3)])
@pytest.mark.parametrize("fuse", ["never", "now"])
def test_values_that_are_overwritten_at_positions_can_be_read_again(shape, fuse):
    def written(np, u, v):
        kept = u = np.exp(u)
        for i in range(4):
            u = u * 1.0
            u[[i, i + 5]] = v[i] * u[[i + 1, i]]
            if i == 1:
                kept = u * 1.0
        u = u + 0.0
        u[[1, 2]] = u[3:5]
        return (u * kept).sum()

    u, v = np.linspace(0.1, 1.0, prod(shape)).reshape(shape), np.arange(1.0, 5.0)
    value, slopes = ng.jit(
        ng.func.value_and_grad(lambda u, v: written(ng, u, v), argnums=(0, 1)), fuse=fuse
    )(u, v)
    assert value == pytest.approx(written(np, u, v), rel=1e-14)
    for n, slope in enumerate(slopes):
        step = np.where(np.arange(2) == n, 1e-6, 0.0)
        ends = [written(np, u + s * step[0], v + s * step[1]) for s in (1, -1)]
        assert np.sum(slope) == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-7)
