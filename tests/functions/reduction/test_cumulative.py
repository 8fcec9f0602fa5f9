"""Cumulative sums and products as functions: NumPy's values, dtypes and axes."""

import numpy as np
import pytest

import numgrad as ng

from ...operators.derivatives import check_derivatives


@pytest.fixture
def rng():
    return np.random.default_rng(13)


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.int16, np.bool_, np.float16])
def test_values_and_dtypes_are_those_of_numpy(rng, name, dtype):
    x = rng.integers(-1, 3, (2, 3, 4)).astype(dtype)
    for axis in (None, 0, 1, -1):
        expected = getattr(np, name)(x, axis)
        y = getattr(ng, name)(x, axis).numpy()
        np.testing.assert_array_equal(y, expected)
        assert y.dtype == expected.dtype
    assert getattr(ng, name)(x, 0, np.float64).dtype == np.float64


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_array_api_names(rng, name):
    x = rng.random((2, 3))
    for initial in (False, True):
        expected = getattr(np, name)(x, axis=0, include_initial=initial)
        y = getattr(ng, name)(x, axis=0, include_initial=initial)
        np.testing.assert_allclose(y.numpy(), expected)
    with pytest.raises(ValueError, match="axis"):
        getattr(ng, name)(x)


def test_derivatives_along_inner_axes(rng):
    x = rng.standard_normal((2, 3, 2))
    check_derivatives(lambda x: ng.cumprod(x, axis=1), x, rng)
    check_derivatives(lambda x: ng.cumsum(x), x, rng)
    check_derivatives(lambda x: ng.cumulative_prod(x, axis=0, include_initial=True), x, rng)
