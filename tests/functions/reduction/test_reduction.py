"""Reductions as functions: NumPy's values, dtypes, shapes and errors."""

import warnings

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
    assert ng.logsumexp(nothing).item() == -np.inf  # as that of torch and SciPy
    for function in (ng.max, ng.min, ng.argmax, ng.argmin):
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


@pytest.mark.parametrize("name", ["mean", "var", "std", "nanmean", "nanvar", "nanstd"])
@pytest.mark.parametrize("dtype", [None, float, complex, np.float32, int, np.int8, bool])
@pytest.mark.parametrize("kind", ["c16", "f8", "f4", "i8"])
def test_averages_are_computed_in_the_dtype_that_is_asked_for(rng, name, dtype, kind):
    """Of complex numbers the mean alone loses its imaginary part to a real dtype."""
    x = (
        rng.normal(size=(4, 3)) * 3 + (1j * rng.normal(size=(4, 3)) if kind == "c16" else 0)
    ).astype(kind)
    if name.startswith("nan") and kind != "i8" and np.dtype(dtype or float).kind not in "fc":
        with pytest.raises(TypeError):
            getattr(ng, name)(x, dtype=dtype)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of lost imaginary parts
        expected = np.asarray(getattr(np, name)(x, dtype=dtype))
    found = getattr(ng, name)(x, dtype=dtype).numpy()
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, 1e-5)
    if kind == "c16" and dtype is float and "mean" not in name:
        assert ng.testing.gradcheck(
            lambda t: getattr(ng, name)(t, dtype=float), ng.tensor(x, requires_grad=True)
        )


NUMBERS = ["sum", "prod", "max", "min", "any", "all", "count_nonzero", "argmax", "argmin", "ptp"]
SUMS = ["nansum", "nanmax", "nanmean", "cumsum", "cumprod", "cumulative_sum", "argsort"]


@pytest.mark.parametrize("name", [*NUMBERS, *SUMS])
@pytest.mark.parametrize("axis", [0, -1])
def test_a_number_has_an_axis_to_reduce_as_in_numpy(name, axis):
    expected = np.asarray(getattr(np, name)(np.array(3.0), axis=axis))
    for library in (ng, np):
        found = getattr(library, name)(ng.tensor(3.0), axis=axis).numpy()
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(np.exceptions.AxisError):
        getattr(ng, name)(ng.tensor(3.0), axis=1)
    rows = ng.func.vmap(lambda t: getattr(ng, name)(t, axis=axis))(np.array([3.0, 3.0]))
    np.testing.assert_array_equal(rows, [expected, expected])


def test_averages_of_a_number_have_no_axis_as_in_numpy():
    for name in ("mean", "var", "std", "median", "sort"):
        with pytest.raises(np.exceptions.AxisError):
            getattr(ng, name)(ng.tensor(3.0), axis=0)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "nansum", "nanprod", "nanmax"])
def test_what_a_reduction_begins_with_is_of_its_dtype(name):
    x = np.array([3, 4])
    expected = getattr(np, name)(x, initial=2.5)
    assert getattr(ng, name)(ng.tensor(x), initial=2.5).item() == expected
    for initial in (1j, ng.tensor(1j)):
        with pytest.raises(TypeError, match="initial= is complex"):
            getattr(ng, name)(ng.tensor([1.0, 2.0]), initial=initial)
    assert ng.sum(ng.tensor([1.0 + 0j]), initial=1j).item() == 1 + 1j


def test_every_element_counts_where_true():
    x = np.array([1.0, np.nan, 3.0])
    assert ng.nanmax(ng.tensor(x), where=True).item() == np.nanmax(x, where=True)
    assert ng.nanmin(ng.tensor(x), where=True).item() == np.nanmin(x, where=True)
