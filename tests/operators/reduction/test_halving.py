"""Reductions by halves: code for whole vectors has the bits of the order that it stands for."""

import itertools
import math

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare import registry
from numgrad.ir import pairwise
from numgrad.ir.pairwise import BLOCK, LEAF, halved_max, halved_min, halved_sum

SIZES = (
    1, 2, 3, 5, 7, 8, 9, 17, 31, 32, 33, 63, 64, 65, 100, 128, 129, 511, 512, 513, 543, 1000, 1023,
    1024,
)  # fmt: skip
VALUES = [
    [0.0, -0.0], [-0.0], [0.0, -0.0, -1.0], [0.0, -0.0, 1.0], [1.0, np.nan, -np.inf]
]  # fmt: skip
HALVED = {"sum": halved_sum, "max": halved_max, "min": halved_min}
SUM, MAX, MIN = (registry[name] for name in HALVED)


def numbers(n, dtype=np.float64, seed=3):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n) * 10.0 ** rng.integers(-6, 7, n)
    return (x * np.exp(1j * rng.normal(size=n)) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def bits(x):
    return np.asarray(x).tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("name", HALVED)
def test_kernels_have_the_bits_of_the_definition(name, dtype):
    if np.dtype(dtype).kind == "c" and name != "sum":
        return
    for n in SIZES:
        x = numbers(n, dtype)
        assert bits(registry[name](x, axes=(-1,)).numpy()) == bits(HALVED[name](x, 0, n)), n


def test_the_first_halves_take_the_second():
    x = np.zeros(LEAF)
    x[[0, 1, LEAF // 2]] = 1.0, 1e16, -1.0  # 1 and -1 meet before the big one comes
    x[LEAF // 2 + 1] = 2.0
    assert halved_sum(x, 0, LEAF) == 1e16 + 2.0
    assert SUM(x, axes=(-1,)).item() == 1e16 + 2.0


@pytest.mark.parametrize("columns", [2, 3, 8, 11, 15, 16, 40, 67, 512, 513, 1100])
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 7, 16, 17, 31, 32, 33, 100, 1024, 1025])
def test_rows_of_any_width_have_the_bits_of_contiguous_elements(rows, columns):
    x = numbers((rows * columns), np.float32).reshape(rows, columns)
    for operator in (SUM, MAX, MIN):
        found = operator(x, axes=(-2,)).numpy()
        lines = operator(np.ascontiguousarray(x.T), axes=(-1,)).numpy()
        assert bits(found) == bits(lines)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("rows", [1, 5, 33, 1030, 2100])
def test_rows_have_the_bits_of_the_definition(rows, dtype):
    for name, columns in itertools.product(("sum", "max", "min"), (2, 9, 70)):
        if np.dtype(dtype).kind != "c" or name == "sum":
            x = numbers(rows * columns, dtype).reshape(rows, columns)
            found = np.empty(columns, dtype)
            pairwise.REDUCE_ROWS[name](x, found)
            assert bits(registry[name](x, axes=(-2,)).numpy()) == bits(found)


@pytest.mark.parametrize("n", [3, 32, 40, 1024, 1500, 5000])
def test_signs_of_zeros_and_nans_are_those_of_rows(n):
    for operator in (SUM, MAX, MIN):
        for values in VALUES:
            x = np.random.default_rng(n).choice(values, n)
            whole = operator(x, axes=(-1,)).numpy()
            rows = operator(np.tile(x[:, None], (1, 9)), axes=(-2,)).numpy()
            assert {bits(r) for r in rows} == {bits(whole)}
            assert np.isnan(whole) == np.isnan(x).any()


@pytest.mark.parametrize("operator", [MAX, MIN])
def test_a_nan_is_found_wherever_it_is(operator):
    for n in (1, 2, 33, 700, BLOCK + 1):
        for at in {0, n // 2, n - 1}:
            x = np.zeros(n)
            x[at] = np.nan
            assert np.isnan(operator(x, axes=(-1,)).item())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_are_as_accurate_as_pairwise_ones(dtype):
    ours = theirs = 0.0
    for seed in range(20):
        x = np.random.default_rng(seed).random(100_000).astype(dtype)
        exact = math.fsum(x.tolist())
        ours = max(ours, abs(float(ng.sum(x).numpy()) - exact))
        theirs = max(theirs, abs(float(np.sum(x)) - exact))
    assert ours <= theirs


def test_the_sum_of_none_is_zero_and_of_minus_zeros_too():
    assert bits(SUM(np.zeros(0), axes=(-1,)).numpy()) == bits(0.0)
    assert bits(SUM(np.zeros((0, 9)), axes=(-2,)).numpy()) == bits(np.zeros(9))
    assert bits(SUM(np.full((20, 9), -0.0), axes=(-2,)).numpy()) == bits(np.zeros(9))
