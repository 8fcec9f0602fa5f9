"""Sets of numbers: NumPy's values for all options, and gradients where values come from."""

import itertools

import numpy as np
import pytest

import numgrad as ng

A = np.array([[3.0, 1.0, 3.0], [2.0, np.nan, np.nan]])
B = np.array([2.0, 3.0, 5.0, np.nan])


def same(own, theirs):
    if isinstance(theirs, tuple):
        for one, other in zip(own, theirs, strict=True):
            same(one, other)
    else:
        assert own.dtype == theirs.dtype
        np.testing.assert_array_equal(own.detach().numpy(), theirs)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, np.complex64, np.bool_])
@pytest.mark.parametrize("options", list(itertools.product([False, True], repeat=3)))
def test_unique(dtype, options):
    a = np.nan_to_num(A).astype(dtype)
    for axis in (None, 0, 1, -1):
        for function in (np.unique, ng.unique):
            same(function(ng.tensor(a), *options, axis), np.unique(a, *options, axis))


def test_unique_where_nan_is_not_nan():
    same(ng.unique(ng.tensor(A), equal_nan=False), np.unique(A, equal_nan=False))
    same(ng.unique(ng.tensor(A)), np.unique(A))


PAIRED = ["isin", "union1d", "intersect1d", "setdiff1d", "setxor1d"]


@pytest.mark.parametrize("name", PAIRED)
@pytest.mark.parametrize("dtype", [np.float64, np.int16, np.complex128])
def test_two_sets(name, dtype):
    a, b = np.nan_to_num(A).astype(dtype), np.nan_to_num(B).astype(dtype)
    if dtype == np.complex128 and name == "setxor1d":
        return  # complex numbers are not sorted here
    expected = getattr(np, name)(a, b)
    same(getattr(ng, name)(ng.tensor(a), b), expected)
    same(getattr(np, name)(a, ng.tensor(b)), expected)


@pytest.mark.parametrize("name", PAIRED)
def test_sets_of_nothing_and_of_nan(name):
    for a, b in ((A, B), (A, []), ([], B), (np.array(2.0), B)):
        expected = getattr(np, name)(a, b)
        np.testing.assert_array_equal(getattr(ng, name)(ng.asarray(a), b).numpy(), expected)


def test_options_of_two_sets():
    a, b = np.array([3, 1, 2]), np.array([2, 3])
    same(ng.intersect1d(a, b, return_indices=True), np.intersect1d(a, b, return_indices=True))
    same(ng.intersect1d(a, b, True), np.intersect1d(a, b, True))
    same(ng.setdiff1d(a, [1], True), np.setdiff1d(a, [1], True))
    same(ng.isin(a, b, invert=True), np.isin(a, b, invert=True))
    same(ng.in1d([[1, 2]], b), np.isin([1, 2], b))


def test_gradients_go_to_what_was_found():
    x = ng.tensor([3.0, 1.0, 3.0, 2.0], requires_grad=True)
    weights = np.array([1.0, 10.0, 100.0])
    for y, expected in (
        (ng.unique(x) @ weights, [100, 1, 0, 10]),
        (ng.intersect1d(x, [2.0, 3.0]) @ weights[:2], [10, 0, 0, 1]),
        (ng.setdiff1d(x, [2.0]) @ weights[:2], [10, 1, 0, 0]),
        (ng.setxor1d(x, [2.0, 7.0]) @ weights, [10, 1, 0, 0]),
        (ng.union1d(x, [2.0]) @ weights, [100, 1, 0, 10]),
    ):
        assert ng.grad(y, x)[0].tolist() == expected


def test_membership_in_programs():
    f = ng.jit(lambda x: ng.sum(x, where=ng.isin(ng.floor(x), [1.0, 3.0])))
    assert f(np.array([0.5, 1.5, 3.25, 2.0])) == 4.75
    assert f(np.array([0.5, 0.5, 3.25, 2.0])) == 3.25
