"""Sorting as functions: NumPy's order, ascending and descending, along any axis."""

import numpy as np
import pytest

import numgrad as ng

from ...operators.derivatives import check_batched, check_derivatives


@pytest.fixture
def rng():
    return np.random.default_rng(17)


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int32, np.bool_, np.complex128])
def test_values_are_those_of_numpy(rng, dtype):
    x = rng.integers(0, 3, (3, 5, 4)).astype(dtype)
    for axis in (None, 0, 1, -1):
        y = ng.sort(x, axis).numpy()
        np.testing.assert_array_equal(y, np.sort(x, axis))
        assert y.dtype == dtype
        expected = np.argsort(x, axis, kind="stable")
        np.testing.assert_array_equal(ng.argsort(x, axis).numpy(), expected)


def test_descending_order_is_stable_too():
    x = [1.0, 2.0, 1.0, np.nan, 2.0]
    assert ng.argsort(x, descending=True).tolist() == [3, 1, 4, 0, 2]
    np.testing.assert_array_equal(ng.sort(x, descending=True).numpy(), [np.nan, 2, 2, 1, 1])


@pytest.mark.parametrize("axis", [0, 1, None])
def test_derivatives(rng, axis):
    x = rng.standard_normal((3, 4))
    check_derivatives(lambda x: ng.sort(x, axis) ** 2, x, rng)
    check_batched(lambda x: ng.sort(x, axis, descending=True), x, rng)


@pytest.mark.parametrize("equal", [(), (0.0, -0.0), (1.5, 1.5), (np.nan, -np.nan)])
def test_many_elements_are_sorted_as_few_are(equal):
    x = np.random.default_rng(2).normal(size=(3, 500))
    x[1, 100 : 100 + len(equal)] = equal
    order = np.argsort(x, kind="stable")
    assert np.array_equal(ng.argsort(x).numpy(), order)
    assert ng.sort(x[1]).numpy().tobytes() == x[1][order[1]].tobytes()


def test_partitions_in_place_and_of_positions():
    x = np.array([[3.0, 1.0, 2.0], [5.0, 9.0, 7.0]])
    for axis in (0, -1):
        tensor, array = ng.tensor(x), x.copy()
        assert tensor.partition(1, axis) is None
        array.partition(1, axis)
        np.testing.assert_array_equal(tensor.numpy().take(1, axis), array.take(1, axis))
        found = ng.tensor(x).argpartition(1, axis).numpy()
        np.testing.assert_array_equal(np.take_along_axis(x, found, axis), tensor.numpy())
    leaf = ng.tensor(x, requires_grad=True)
    y = leaf * 1
    y.partition(1)
    middle = x == np.median(x, 1, keepdims=True)
    np.testing.assert_array_equal(ng.grad(y[:, 1].sum(), leaf)[0].numpy(), middle)


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "f4", "f8", "c8", "c16"])
def test_dtypes_of_sorted_complex_numbers_are_those_of_numpy(dtype):
    x = np.array([1, 0, 1]).astype(dtype)
    assert ng.sort_complex(ng.tensor(x)).dtype == np.sort_complex(x).dtype
