"""Captured functions share memory where NumPy does: a reshape is a view or a copy as it would be
there, whatever order the program computes in."""

import numpy as np
import pytest

import numgrad as ng
from tests.memory_orders import MAKERS, OF_THREE, WRITES, arrays
from tests.sampling import one_in

CASES = [pytest.param(2, f, id=f"{name}, 2") for name, f in MAKERS.items()]
CASES += [pytest.param(3, f, id=f"{name}, 3") for name, f in {**MAKERS, **OF_THREE}.items()]


def turned(array):
    """Return an array in C order, and what makes the one that is given of it."""
    axes = np.argsort([-step for step in array.strides])
    back = np.argsort(axes)
    return np.ascontiguousarray(array.transpose(axes)), lambda x: x.transpose(back)


@pytest.mark.parametrize(("ndim", "make"), one_in(3, CASES))
def test_writes_are_seen_where_numpy_sees_them(ndim, make):
    for array in list(arrays(ndim))[:2]:
        base, turn = turned(array)
        expected = [write(np, make(np, turn(base))) for write in WRITES]

        def every(x):
            return [write(ng, make(ng, turn(x))) for write in WRITES]  # noqa: B023  called here

        np.testing.assert_allclose(ng.jit(every)(base), expected, 1e-6)


@pytest.mark.parametrize(("ndim", "make"), one_in(3, CASES[::3]))
def test_gradients_too(ndim, make):
    (array, *_) = arrays(ndim)
    base, turn = turned(array)
    for write in WRITES:

        def of(x):
            return write(ng, make(ng, turn(x)))  # noqa: B023  called here

        expected = ng.func.grad(of)(base)
        np.testing.assert_allclose(ng.jit(ng.func.grad(of))(base), expected, 1e-6, 1e-12)


def test_the_order_of_an_argument_counts():
    def of(x):
        y = x * 2.0
        flat = y.reshape(-1)
        y[0] = 0.0
        return flat

    captured = ng.jit(of)
    base = np.arange(9.0).reshape(3, 3)
    for array in (base, base.T, base, base.T, base[::-1], base.T[:, ::-1], np.asfortranarray(base)):
        for kind in (np.asarray, ng.asarray):
            for _ in range(3):
                found = captured(kind(array))
                np.testing.assert_array_equal(np.asarray(found), of(array))


def test_the_order_of_an_argument_counts_for_keywords_and_in_containers():
    def of(x, *, others):
        y = np.multiply(x, others["a"]) if isinstance(x, np.ndarray) else x * others["a"]
        flat = y.ravel()
        y += 1.0
        return flat.sum()

    captured = ng.jit(of)
    base = np.arange(6.0).reshape(2, 3)
    for _ in range(3):
        for x in (base, np.asfortranarray(base)):
            for a in (base, np.asfortranarray(base)):
                assert captured(x, others={"a": a}) == of(x, others={"a": a})


def test_one_recording_serves_all_that_lies_alike():
    calls = []

    def of(x):
        calls.append(x.shape)
        return (x * 2.0).sum()

    captured = ng.jit(of)
    base = np.arange(32.0).reshape(4, 8)
    for array in (base, base[:, ::2][:, :4], base[::-1], base.reshape(8, 4)[:4]):
        assert captured(np.array(array)) == 2.0 * array.sum()
        assert captured(array) == 2.0 * array.sum()
    assert len(calls) == 2  # shapes (4, 8) and (4, 4)


def test_branches_and_inner_captured_functions():
    inner = ng.jit(lambda x: x.T * 2.0)

    def of(x, flag):
        y = ng.cond(flag, lambda x: x.T * 2.0, lambda x: x.T + 2.0, x)
        z = inner(x)
        flat = z.reshape(-1)
        z *= 0.5
        return y, flat

    x = np.arange(6.0).reshape(2, 3)
    y, flat = ng.jit(of)(x, True)
    np.testing.assert_array_equal(y, x.T * 2.0)
    np.testing.assert_array_equal(flat, of(x, True)[1])


def test_an_ensemble_of_members_in_fortran_order():
    def of(x):
        y = x.T * 2.0
        flat = y.reshape(-1)
        y *= 0.5
        return flat

    members = np.arange(24.0).reshape(4, 2, 3)
    expected = [of(x) for x in members]
    np.testing.assert_array_equal(ng.jit(of, ensemble=True)(members), expected)
