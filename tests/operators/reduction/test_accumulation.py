"""Sums at positions have the digits of other sums, however many terms they have."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.operators.reduction.accumulation import SCATTERS, is_crowded

MANY = 10**6
TERMS = {"f2": 0.1, "f4": 0.1, "f8": 0.1, "c8": 0.1 + 0.2j, "c16": 0.1 + 0.2j}


def gradient(dtype, positions, g, size=2):
    x = ng.tensor(np.zeros(size, dtype), requires_grad=True)
    return ng.grad(x[positions], x, grad_outputs=g)[0].numpy()


@pytest.mark.parametrize("dtype", TERMS)
def test_gradient_of_one_element_taken_a_million_times(dtype):
    count = MANY if dtype != "f2" else 10**5
    g = np.full(count, TERMS[dtype], dtype)
    found = gradient(dtype, np.zeros(count, int), g)
    np.testing.assert_allclose(found[0], complex(g[0]) * count, np.finfo(dtype).eps)
    assert found[1] == 0


def test_ten_million_terms_of_single_precision():
    """Added one by one they make 1087937."""
    found = gradient("f4", np.zeros(10 * MANY, int), np.full(10 * MANY, 0.1, "f4"))
    assert found[0] == np.float32(1e6)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("size", [1, 7, 3000, 100000])
def test_sums_are_those_of_more_digits(dtype, size):
    rng = np.random.default_rng(size)
    positions = np.concatenate([rng.integers(0, size, 20000), np.full(5000, size - 1)])
    g = rng.uniform(0, 1, (positions.size, 3)).astype(dtype)
    x = ng.tensor(np.zeros((size, 3), dtype), requires_grad=True)
    found = ng.grad(x[positions], x, grad_outputs=g)[0].numpy()
    wanted = np.zeros((size, 3), np.clongdouble if dtype[0] == "c" else np.longdouble)
    np.add.at(wanted, positions, g)
    few = np.bincount(positions, minlength=size) <= 32
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(found[few], wanted[few].astype(found.dtype), 16 * eps)
    np.testing.assert_allclose(found[~few], wanted[~few].astype(found.dtype), eps)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_batched_captured_and_looped_sums_have_the_same_bits(dtype):
    rng = np.random.default_rng(5)
    positions = rng.integers(0, 3, 500)
    x = ng.tensor(rng.normal(size=3).astype(dtype), requires_grad=True)
    y, g = x[positions], rng.normal(size=(9, 500)).astype(dtype)
    batched = ng.grad(y, x, grad_outputs=g, is_grads_batched=True, retain_graph=True)[0]
    looped = [ng.grad(y, x, grad_outputs=row, retain_graph=True)[0].numpy() for row in g]
    captured = ng.jit(lambda x, i, row: ng.func.vjp(lambda x: x[i], x)[1](row)[0])
    replayed = [captured(x.detach().numpy(), positions, row) for row in g]
    np.testing.assert_array_equal(batched.numpy(), looped)
    np.testing.assert_array_equal(replayed, looped)


def test_infinities_stay_and_make_no_number_only_with_their_opposite():
    weights = np.tile([1.0, np.inf, 2.0], 40)
    places = np.zeros(120, int)
    assert ng.bincount(places, weights).item() == np.inf
    assert np.isnan(ng.bincount(places, weights * np.tile([1, 1, 1, -1], 30)).item())


def test_integers_wrap_around_as_in_numpy():
    x = ng.tensor(np.zeros(1, np.int64))
    ng.add.at(x, np.zeros(100, int), 2**62)
    wanted = np.zeros(1, np.int64)
    np.add.at(wanted, np.zeros(100, int), 2**62)
    assert x.numpy() == wanted


@pytest.mark.parametrize("dtype", ["f4", "c8", "f8", "c16"])
def test_what_the_memory_of_the_result_held_has_no_part(dtype):
    index = np.zeros(1000, np.int64)
    for left in (np.nan, np.inf):
        out = np.full((2, 1), left, dtype)
        SCATTERS[dtype](np.ones((1000, 1), dtype), index, out)
        np.testing.assert_array_equal(out, [[1000], [0]])


@pytest.mark.parametrize("most", [32, 33, 100])
def test_positions_are_crowded_where_one_comes_more_than_32_times(most):
    index = np.concatenate([np.full(most, 7), np.arange(8, 3000)])
    index = np.random.default_rng(1).permutation(index)
    assert is_crowded(index, 4000) == (most > 32)


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i8"])
def test_rows_of_each_width_are_gathered_and_added_up(width, dtype):
    rng = np.random.default_rng(0)
    x, places = (9 * rng.standard_normal((6, width))).astype(dtype), rng.integers(0, 6, 40)
    out = ng.zeros((6, width), dtype=dtype)
    ng.add.at(out, places, ng.jit(lambda x, i: x[i], fuse="never")(x, places))
    wanted = np.zeros((6, width), dtype)
    np.add.at(wanted, places, x[places])
    np.testing.assert_allclose(out.numpy(), wanted, rtol=1e-5 if dtype == "f4" else 1e-14)
