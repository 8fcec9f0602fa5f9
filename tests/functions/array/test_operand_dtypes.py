"""Operands of every dtype, and numbers of Python, are taken as by NumPy: now, captured, mapped."""

import numpy as np
import pytest

import numgrad as ng
from tests.sampling import one_in

MATRIX, VECTOR = np.array([[3, 1], [1, 2]]), np.array([1, 2])
AT = np.array([0, 1, 1])
MASK = np.array([False, True])
INTEGERS = "?bhilqBHILQ"


def added(np, x):
    y = np.zeros(4, dtype=x.dtype)
    np.add.at(y, AT, x)
    return y


HALVES = {
    "added at indices": added,
    "weights": lambda np, x: np.histogram([0.1, 0.2, 0.8], bins=2, weights=x)[0],
    "weights of pairs": lambda np, x: np.histogram2d([0.1, 0.2, 0.8], [0, 1, 1], 2, weights=x)[0],
    "read at indices": lambda np, x: x[AT],
    "as they are": lambda np, x: x,
    "and more": lambda np, x: (x * 2, x)[1],
    "conjugate": lambda np, x: np.conj(x),
    "convolved": lambda np, x: np.convolve(x, x),
    "cumulative": lambda np, x: np.cumsum(x),
    "taken": lambda np, x: np.take(x, AT),
    "put": lambda np, x: np.where(AT == 0, x, 0),
}
"""Of three numbers."""
SOLVED = {
    "solve": lambda a, b: ng.linalg.solve(a, b),
    "tensorsolve": lambda a, b: ng.linalg.tensorsolve(a, b),
    "solve_triangular": lambda a, b: ng.linalg.solve_triangular(a, b),
    "cho_solve": lambda a, b: ng.linalg.cho_solve((ng.linalg.cholesky(a), True), b),
    "solve_toeplitz": lambda a, b: ng.linalg.solve_toeplitz(a[0], b),
    "lu_solve": lambda a, b: ng.linalg.lu_solve(ng.linalg.lu_factor(a), b),
    "lstsq": lambda a, b: ng.linalg.lstsq(a, b, rcond=None)[0],
    "inv": lambda a, b: ng.linalg.inv(a),
    "det": lambda a, b: ng.linalg.det(a),
    "cholesky": lambda a, b: ng.linalg.cholesky(a),
}
NUMBERS = {
    "choose": lambda np, x, number: np.choose([0, 1], [x, number]),
    "select": lambda np, x, number: np.select([MASK], [x], number),
    "r_": lambda np, x, number: np.r_[x, number],
    "where": lambda np, x, number: np.where(MASK, x, number),
}


def ways(call, *args):
    """Yield what a function gives now, captured, and mapped over two equal samples."""
    yield call(*map(ng.tensor, args)).numpy()
    yield ng.jit(call)(*args)
    mapped = ng.func.vmap(call)(*[np.stack([x, x]) for x in args])
    yield mapped[0]
    yield mapped[1]


@pytest.mark.parametrize("dtype", one_in(2, ["float16", "float32", "int8", "int32", "uint16"]))
@pytest.mark.parametrize("name", HALVES)
def test_small_dtypes(name, dtype):
    x = np.array([1.5, 2.5, 0.5]).astype(dtype)
    expected = HALVES[name](np, x)
    for found in ways(lambda x: HALVES[name](ng, x), x):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", one_in(3, INTEGERS))
@pytest.mark.parametrize("name", SOLVED)
def test_integers_in_systems_of_equations(name, dtype):
    a, b = MATRIX.astype(float), VECTOR.astype(float)
    if dtype == "?":
        a, b = np.eye(2), np.ones(2)
    expected = SOLVED[name](ng.tensor(a), ng.tensor(b)).numpy()
    for left, right in ((dtype, dtype), ("d", dtype), (dtype, "d")):
        for found in ways(SOLVED[name], a.astype(left), b.astype(right)):
            assert found.dtype == np.float64
            np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("number", [True, 2, 2.5, 1j])
@pytest.mark.parametrize("dtype", ["uint8", "int32", "float16", "float32", "complex64"])
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_take_the_dtype_of_the_others(name, dtype, number):
    x = np.array([1, 2]).astype(dtype)
    expected = NUMBERS[name](np, x, number)
    call = lambda x, number: NUMBERS[name](ng, x, number)  # noqa: E731
    for found in (call(ng.tensor(x), number).numpy(), ng.jit(call)(x, number)):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", INTEGERS[1:] + "efd")
@pytest.mark.parametrize("number", [1, 2.0, np.int64(1)])
def test_numbers_written_at_indices(dtype, number):
    """What NumPy would cast without a look is refused."""
    fits = np.can_cast(np.result_type(np.dtype(dtype), number), dtype, "same_kind")
    for ufunc in (np.add, np.multiply, np.maximum):
        expected, y = np.ones(4, dtype), ng.ones(4, dtype=dtype)
        if not fits:
            with pytest.raises(TypeError, match="do not fit"):
                ufunc.at(y, AT, number)
            continue
        ufunc.at(expected, AT, number)
        ufunc.at(y, AT, number)
        np.testing.assert_array_equal(y.numpy(), expected)
