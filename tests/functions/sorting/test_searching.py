"""Positions as NumPy finds them, and gradients of the values found there."""

import numpy as np
import pytest

import numgrad as ng

X = np.array([[2.0, 0.0, 1.0], [1.0, 2.0, 0.0]])


def test_nonzero_and_argwhere():
    x = ng.tensor(X, requires_grad=True)
    for own, other in zip(x.nonzero(), np.nonzero(X), strict=True):
        np.testing.assert_array_equal(own.numpy(), other)
    np.testing.assert_array_equal(ng.argwhere(x).numpy(), np.argwhere(X))
    assert ng.grad(x[ng.nonzero(x)].sum(), x)[0].tolist() == (X != 0).astype(float).tolist()
    with pytest.raises(ValueError, match="0d"):
        ng.nonzero(ng.tensor(1.0))


@pytest.mark.parametrize("where", [ng.where, np.where])
def test_where_of_a_condition_alone_is_nonzero(where):
    x = ng.tensor(X, requires_grad=True)
    for own, other in zip(where(x > 1), np.nonzero(X > 1), strict=True):
        np.testing.assert_array_equal(own.numpy(), other)
    assert ng.grad(x[where(x > 1)].sum(), x)[0].tolist() == (X > 1).astype(float).tolist()
    assert where(x > 1, x, 0.0).tolist() == np.where(X > 1, X, 0.0).tolist()
    with pytest.raises(TypeError, match="either both or neither"):
        where(x > 1, x)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("values", [2.0, [0.5, 2.0, 9.0], [[1.0], [3.0]]])
def test_searchsorted(side, values):
    a = np.array([3.0, 1.0, 2.0])
    order = np.argsort(a)
    result = ng.searchsorted(ng.tensor(a), values, side, sorter=ng.tensor(order))
    np.testing.assert_array_equal(result.numpy(), np.searchsorted(a, values, side, order))


def test_unique_is_that_of_numpy():
    own, other = ng.unique_all(ng.tensor(X)), np.unique_all(X)
    for one, expected in zip(own, other, strict=True):
        np.testing.assert_array_equal(one.numpy(), expected)
    np.testing.assert_array_equal(ng.unique_counts(X).counts.numpy(), other.counts)
    np.testing.assert_array_equal(ng.unique_inverse(X).inverse_indices.numpy(), other[2])
    np.testing.assert_array_equal(ng.unique_values(X).numpy(), other.values)


def test_gradient_of_a_unique_value_goes_to_its_first_occurrence():
    x = ng.tensor([3.0, 1.0, 3.0], requires_grad=True)
    assert ng.grad((ng.unique_values(x) * ng.tensor([5.0, 7.0])).sum(), x)[0].tolist() == [7, 5, 0]
