"""Closeness, made of operators, against NumPy's; and what else compares or converts elements."""

import numpy as np
import pytest

import numgrad as ng

DTYPES = ("bool", "int8", "uint64", "float16", "float32", "float64", "complex128")
EDGES = (0.0, 1.0, 1.00001, 1.1, -1.0, np.nan, np.inf, -np.inf)


def edges(dtype):
    if np.dtype(dtype).kind in "fc":
        return np.array(EDGES, dtype)
    return np.array([0, 1, 1, 2, 3], dtype)


@pytest.mark.parametrize("other", DTYPES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("equal_nan", [False, True])
def test_isclose_is_that_of_numpy(dtype, other, equal_nan):
    a, b = edges(dtype)[:, None], edges(other)
    with np.errstate(all="ignore"):
        expected = np.isclose(a, b, equal_nan=equal_nan)
    found = ng.isclose(ng.tensor(a), ng.tensor(b), equal_nan=equal_nan)
    np.testing.assert_array_equal(found.numpy(), expected)


def test_isclose_takes_numbers_and_tensors_that_require_grad():
    x = ng.tensor([1.0, 2.0], requires_grad=True)
    close = ng.isclose(x, 1.05, rtol=0.1, atol=ng.tensor(0.01, requires_grad=True))
    assert close.tolist() == [True, False]
    assert not close.requires_grad
    assert ng.isclose(3, 3.0).item() is True


def test_an_imaginary_number_is_true():
    assert ng.tensor([0j, 1j, 1.0]).astype(bool).tolist() == [False, True, True]
    assert ng.where(ng.tensor([0j, 1j]), 1.0, 2.0).tolist() == [2.0, 1.0]


@pytest.mark.parametrize("options", [{"side": "middle"}, {"a": [[1.0]]}])
def test_searchsorted_says_what_it_cannot_search(options):
    with pytest.raises(ValueError, match="searchsorted"):
        ng.searchsorted(**{"a": [1.0], "v": 1.0, **options})
