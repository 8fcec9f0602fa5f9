"""Transposes of linear functions."""

import numpy as np
import pytest

import numgrad as ng

rng = np.random.default_rng(7)
A = rng.normal(size=(3, 4))
C = A + 1j * rng.normal(size=(3, 4))
V = rng.normal(size=3)


def test_matrices():
    transposed = ng.func.linear_transpose(lambda x: A @ x, np.zeros(4))
    for v in (V, 2 * V):  # again, with the same graph
        (found,) = transposed(v)
        np.testing.assert_allclose(found, A.T @ v, rtol=1e-14)


def test_complex_matrices_are_not_conjugated():
    v = V + 1j * V[::-1]
    (found,) = ng.func.linear_transpose(lambda x: C @ x, np.zeros(4, complex))(v)
    np.testing.assert_allclose(found, C.T @ v, rtol=1e-14)


def test_values_of_primals_do_not_matter():
    given = {"a": np.full(4, np.nan), "b": (np.ones(4), 3.0)}
    transposed = ng.func.linear_transpose(lambda t: {"y": A @ (t["a"] - t["b"][0] * 2)}, given)
    (found,) = transposed({"y": V})
    np.testing.assert_allclose(found["a"], A.T @ V, rtol=1e-14)
    np.testing.assert_allclose(found["b"][0], -2 * A.T @ V, rtol=1e-14)
    assert found["b"][1] == 0


def test_transposed_twice_is_the_function():
    at = np.zeros(4)
    once = ng.func.linear_transpose(lambda x: np.cumsum(A @ x), at)
    twice = ng.func.linear_transpose(lambda v: once(v)[0], np.zeros(3))
    x = rng.normal(size=4)
    np.testing.assert_allclose(twice(x)[0], np.cumsum(A @ x), rtol=1e-13)


def test_gradients_to_what_the_function_closes_over():
    def loss(a):
        (found,) = ng.func.linear_transpose(lambda x: a @ x, np.zeros(4))(V)
        return (found**2).sum()

    np.testing.assert_allclose(ng.func.grad(loss)(A), 2 * np.outer(V, A.T @ V), rtol=1e-13)


def test_captured_and_mapped():
    def transposed(v):
        return ng.func.linear_transpose(lambda x: A @ x, np.zeros(4))(v)[0]

    rows = np.stack([V, 3 * V])
    for f in (ng.func.vmap(transposed), ng.func.vmap(ng.jit(transposed))):
        np.testing.assert_allclose(f(rows), rows @ A, rtol=1e-13)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * x, np.sin, lambda x: x + 1, lambda x: (x * x[::-1]).sum(), np.abs,
        lambda x: np.maximum(x, 0), lambda x: np.where(x > 0, x, 2 * x), np.max, np.sort,
        lambda x: {"a": x, "b": x**3},
    ],
)  # fmt: skip
def test_what_is_not_linear_is_refused(function):
    with pytest.raises(ng.errors.ArgTypeError, match="the function is not linear"):
        ng.func.linear_transpose(function, np.ones(5))


def test_a_result_of_integers_is_refused_by_its_dtype():
    with pytest.raises(ng.errors.ArgTypeError, match="returns int64, which no linear function"):
        ng.func.linear_transpose(lambda x: (x, 1), np.zeros(2))


def test_captured_functions_that_are_not_linear_have_nan():
    transposed = ng.jit(lambda v: ng.func.linear_transpose(np.abs, np.zeros(3))(v)[0])
    assert np.isnan(transposed(np.ones(3))).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_parts_of_complex_numbers_and_other_precisions(dtype):
    x, v = np.ones(4, dtype), np.arange(4)
    for function in (np.fft.fft, np.real, np.conj, lambda x: x[::-1] * 3, np.cumsum):
        (found,) = ng.func.linear_transpose(function, x)(v.astype(np.asarray(function(x)).dtype))
        assert found.dtype == dtype


def test_what_does_not_depend_on_its_argument():
    (found,) = ng.func.linear_transpose(lambda x: np.zeros(2), np.ones(3))(np.ones(2))
    np.testing.assert_array_equal(found, np.zeros(3))
