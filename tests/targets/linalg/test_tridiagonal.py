"""Eigenvalues and eigenvectors from reductions to tridiagonal matrices, beside NumPy's."""

import numpy as np
import pytest

from numgrad.ir.kernel_spec import LibrarySpec
from numgrad.targets.cpu.kernels.kernel import kernel

DTYPES = pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
TRIANGLES = pytest.mark.parametrize("lower", [True, False])
SIZES = (1, 2, 3, 7, 40)
LAYOUTS = {
    "by rows": lambda a: a,
    "by columns": lambda a: np.ascontiguousarray(a.swapaxes(1, 2)).swapaxes(1, 2),
    "strided": lambda a: np.repeat(np.repeat(a, 2, 1), 3, 2)[:, ::2, ::3],
}


def hermitian(n, dtype, scale=1.0):
    rng = np.random.default_rng(n)
    a = rng.standard_normal((3, n, n)) + 1j * rng.standard_normal((3, n, n))
    a = a if np.dtype(dtype).kind == "c" else a.real
    return (scale * (a + a.conj().swapaxes(1, 2))).astype(dtype)


def found(a, lower, is_kept=True):
    """Return eigenvalues, those beside the eigenvectors, and the eigenvectors."""
    specs = [
        LibrarySpec(name, a.dtype, lower)
        for name in ("hermitian_reduced", "eigvalsh", "hermitian_vectors")
    ]
    reduced, status = kernel(specs[0]).call(a)
    assert status == 0
    reduced = reduced if is_kept else np.full_like(reduced, np.nan)
    values, status = kernel(specs[1]).call(a, reduced)
    (again, vectors), other = kernel(specs[2]).call(a, reduced)
    assert (status, other) == (0, 0)
    return values, again, vectors


def unread(a, lower):
    """Return matrices with NaN in the triangle that is not read."""
    n = a.shape[-1]
    upper = np.triu(np.ones((n, n), bool), 1)
    return np.where(upper if lower else upper.T, np.nan, a).astype(a.dtype)


@DTYPES
@TRIANGLES
@pytest.mark.parametrize("n", SIZES)
def test_values_are_those_of_numpy_and_vectors_belong_to_them(dtype, lower, n):
    a = hermitian(n, dtype)
    expected = np.linalg.eigvalsh(a)
    near = 50 * n * np.finfo(dtype).eps
    for lies in LAYOUTS.values():
        w, again, v = found(lies(unread(a, lower)), lower)
        assert (w.dtype, again.dtype, v.dtype) == (expected.dtype, expected.dtype, a.dtype)
        np.testing.assert_allclose(w, expected, near, near)
        np.testing.assert_allclose(again, expected, near, near)
        np.testing.assert_allclose(a @ v, v * w[:, None, :], near, near)
        eye = np.broadcast_to(np.eye(n), v.shape)
        np.testing.assert_allclose(v.conj().swapaxes(1, 2) @ v, eye, atol=near)


@DTYPES
@TRIANGLES
def test_a_reduction_that_is_missing_is_made_with_the_same_bits(dtype, lower):
    for n in SIZES:
        a = hermitian(n, dtype)
        for one, other in zip(found(a, lower), found(a, lower, False), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("dtype", "scale"),
    [("float64", 1e300), ("float64", 1e-300), ("complex128", 1e300), ("complex128", 1e-300),
     ("float64", 1e-320), ("float32", 1e37), ("float32", 1e-37), ("float64", 0.0)],
)  # fmt: skip
@TRIANGLES
def test_extreme_matrices(dtype, scale, lower):
    for n in SIZES:
        a = hermitian(n, dtype, scale)
        expected = np.linalg.eigvalsh(a)
        near = 100 * n * np.finfo(dtype).eps * np.abs(expected).max()
        w, again, v = found(unread(a, lower), lower)
        np.testing.assert_allclose(w, expected, 0, near)
        np.testing.assert_allclose(again, expected, 0, near)
        eye = np.broadcast_to(np.eye(n), v.shape)
        np.testing.assert_allclose(v.conj().swapaxes(1, 2) @ v, eye, atol=1e-4)


@pytest.mark.parametrize("n", [1, 3])
def test_infinite_elements_give_what_numpy_gives(n):
    a = hermitian(n, "float64")
    a[:, 0, 0] = np.inf
    np.testing.assert_array_equal(found(a, True)[0], np.linalg.eigvalsh(a))


def test_no_elements():
    for shape in ((0, 0), (2, 0, 0), (0, 3, 3)):
        w, again, v = found(np.ones(shape), True)
        assert (w.shape, again.shape, v.shape) == (shape[:-1], shape[:-1], shape)


def test_which_matrix_has_failed():
    """LAPACK finds no eigenvalues of a matrix of NaN."""
    a = hermitian(4, "float64")
    a[1] = np.nan
    reduced = kernel(LibrarySpec("hermitian_reduced", a.dtype)).call(a)[0]
    assert kernel(LibrarySpec("eigvalsh", a.dtype)).call(a, reduced)[1] == 2
    assert kernel(LibrarySpec("hermitian_vectors", a.dtype)).call(a, reduced)[1] == 2
