"""Results lie in memory in NumPy's order, which shows where they are reshaped and written."""

import numpy as np
import pytest

import numgrad as ng
from tests.memory_orders import MAKERS, OF_THREE, WRITES, arrays


def in_memory(array):
    """Return the strides that matter."""
    pairs = zip(array.strides, array.shape, strict=True)
    return [step for step, n in pairs if n > 1] if array.size else []


CASES = [pytest.param(2, f, id=f"{name}, 2") for name, f in MAKERS.items()]
CASES += [pytest.param(3, f, id=f"{name}, 3") for name, f in {**MAKERS, **OF_THREE}.items()]


@pytest.mark.parametrize(("ndim", "make"), CASES)
def test_results_lie_as_numpys(ndim, make):
    for array in arrays(ndim):
        expected = make(np, array)
        constant, variable = ng.asarray(array), ng.asarray(array).detach()
        variable.requires_grad = True
        for x in (constant, constant, variable):
            found = make(ng, x)
            assert found.dtype == expected.dtype
            assert in_memory(found.array) == in_memory(expected)
            np.testing.assert_allclose(found.detach().array, expected, 1e-6, 1e-12)


@pytest.mark.parametrize(("ndim", "make"), CASES[::5])
@pytest.mark.parametrize("write", WRITES)
def test_writes_are_seen_where_numpy_sees_them(ndim, make, write):
    for array in arrays(ndim):
        expected = write(np, make(np, array))
        assert write(ng, make(ng, ng.asarray(array))).item() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("order", ["C", "F"])
def test_what_keys_read_lies_as_in_numpy_each_time(order):
    """The memory order is worked out once for keys that differ in their numbers alone."""
    array = np.asarray(np.arange(120.0).reshape(2, 3, 4, 5), order=order)
    indices = np.array([[0, 1], [1, 0]])
    keys = [
        (indices, slice(None), indices), (slice(None), indices, slice(None), indices),
        (indices.T, slice(None, None, -1), indices.T[:1]), (slice(None), indices[0], None, indices),
        (..., indices, slice(None)), (1, slice(None), indices[:, :1]),
        (slice(None), np.array([True, False, True]), slice(None), [0, 1]),
    ]  # fmt: skip
    for x in (ng.asarray(array), ng.Tensor(array).requires_grad_(True)):
        for key in [*keys, *keys]:
            turned = tuple(1 - k if k is indices else k for k in key)
            for each in (key, turned):
                found, expected = x[each].detach().array, array[each]
                assert in_memory(found) == in_memory(expected)
                np.testing.assert_array_equal(found, expected)


ORDERED = {
    "ravel K": lambda np, x: x.ravel(order="K"),
    "ravel A": lambda np, x: np.ravel(x, order="A"),
    "flatten K": lambda np, x: x.flatten(order="K"),
    "flatten A": lambda np, x: x.flatten("A"),
    "reshape A": lambda np, x: x.reshape(-1, 2, order="A"),
}


@pytest.mark.parametrize("read", ORDERED.values(), ids=ORDERED)
def test_elements_in_memory_order(read):
    laid = [*arrays(2), *arrays(3), np.arange(12.0).reshape(3, 4), np.arange(12.0)[::-1]]
    for array in (a for a in laid if a.size % 2 == 0):
        expected, x = read(np, array), ng.asarray(array)
        found = read(ng, x)
        np.testing.assert_array_equal(found.array, expected)
        is_view = np.may_share_memory(expected, array)
        assert np.may_share_memory(found.array, x.array) == is_view
        assert (found.storage is x.storage) == is_view


def test_reshape_and_ravel_refuse_other_orders():
    with pytest.raises(ValueError, match="order must be 'C', 'F' or 'A'"):
        ng.reshape([1.0, 2.0], 2, order="K")
    with pytest.raises(ValueError, match="order must be one of"):
        ng.ravel([1.0, 2.0], order="B")
