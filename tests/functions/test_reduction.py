"""Reductions as functions: NumPy's values, dtypes, shapes and errors."""

import numpy as np
import pytest

import numgrad as ng

SAME = ["sum", "prod", "max", "min", "mean", "var", "std", "any", "all", "count_nonzero"]


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (2, 1), ()])
@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.bool_])
def test_values_and_dtypes_are_those_of_numpy(rng, name, axis, dtype):
    x = rng.integers(0, 3, (3, 4, 2)).astype(dtype)
    for keepdims in (False, True):
        expected = getattr(np, name)(x, axis=axis, keepdims=keepdims)
        y = getattr(ng, name)(x, axis=axis, keepdims=keepdims).numpy()
        np.testing.assert_allclose(y, expected, 1e-13)
        assert y.dtype == np.asarray(expected).dtype
        assert y.shape == np.shape(expected)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "mean", "var", "std"])
def test_half_precision_is_computed_in_single(rng, name):
    x = rng.random((3, 40)).astype(np.float16)
    y = getattr(ng, name)(ng.tensor(x, requires_grad=True), axis=0)
    assert y.dtype == np.float16
    expected = getattr(np, name)(x.astype(np.float32), axis=0).astype(np.float16)
    np.testing.assert_array_equal(y.detach().numpy(), expected)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions(rng, name):
    x = rng.integers(0, 4, (3, 4, 5)).astype(float)
    for axis in (None, 0, 1, -1):
        for keepdims in (False, True):
            expected = getattr(np, name)(x, axis=axis, keepdims=keepdims)
            found = getattr(ng, name)(x, axis, keepdims=keepdims)
            np.testing.assert_array_equal(found.numpy(), expected)


def test_dtype_is_that_of_the_elements_before_they_are_reduced():
    x = np.array([0.6, 0.6, 0.6])
    assert ng.sum(x, dtype=np.int64).item() == 0
    assert ng.sum(x, dtype=np.float32).dtype == np.float32
    assert ng.mean([1, 2], dtype=np.float32).dtype == np.float32


def test_reductions_of_nothing():
    nothing = np.zeros((0, 3))
    np.testing.assert_array_equal(ng.sum(nothing, 0).numpy(), np.zeros(3))
    np.testing.assert_array_equal(ng.prod(nothing, 0).numpy(), np.ones(3))
    assert np.isnan(ng.mean(nothing).item())
    assert np.isnan(ng.var(nothing).item())
    for function in (ng.max, ng.min, ng.argmax, ng.argmin, ng.logsumexp):
        with pytest.raises(ValueError, match="no elements"):
            function(nothing)
    x = ng.tensor(nothing, requires_grad=True)
    assert ng.grad(ng.prod(x), x)[0].shape == (0, 3)


@pytest.mark.parametrize("axis", [3, -4, (0, 0)])
def test_wrong_axes(axis):
    with pytest.raises((ValueError, np.exceptions.AxisError)):
        ng.sum(np.zeros((2, 2, 2)), axis)


def test_extrema_of_complex_numbers_are_refused():
    for function in (ng.max, ng.min, ng.argmax, ng.logsumexp):
        with pytest.raises(TypeError, match="complex"):
            function(np.array([1j]))


@pytest.mark.parametrize("name", ["sum", "prod"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32"])
def test_the_dtype_asked_for_is_that_of_the_result(name, dtype):
    x = np.array([[1.9, 100.0, 3.0], [2.5, 0.0, 7.0]])
    expected = getattr(np, name)(x, axis=1, dtype=dtype)
    found = getattr(ng, name)(x, axis=1, dtype=dtype).numpy()
    np.testing.assert_array_equal(found, expected, strict=True)
