"""Sparse systems and eigenpairs as functions of their matrices, against differences."""

import numpy as np
import pytest
from scipy import sparse

import numgrad as ng
from numgrad.errors import DtypeError, InplaceError, MatrixError

from ..differences import agree, checked

scipy = ng.interop.scipy
MATRIX = sparse.csr_array(
    np.array([[4.0, 1.0, 0, 0], [0, 3.0, 0, -1.0], [2.0, 0, 5.0, 0], [0, 0.5, 0, 2.0]])
)
PLACES = MATRIX.indices, MATRIX.indptr


@pytest.mark.parametrize("columns", [None, 1, 3])
def test_sparse_systems(columns):
    rng = np.random.default_rng(1)
    b = rng.normal(size=4 if columns is None else (4, columns))
    value = scipy.spsolve((MATRIX.data, *PLACES), b)
    np.testing.assert_allclose(value, np.linalg.solve(MATRIX.toarray(), b), rtol=1e-13)
    checked(lambda data: scipy.spsolve((data, *PLACES), b), MATRIX.data)
    checked(lambda b: scipy.spsolve((MATRIX.data, *PLACES), b**2), b)


def test_a_sparse_gradient_is_on_the_pattern_alone(systems):
    data = ng.tensor(MATRIX.data, requires_grad=True)
    b = ng.tensor(np.ones(4), requires_grad=True)
    x = scipy.spsolve((data, *PLACES), b)
    jdata, jb = ng.grad(x, [data, b], np.eye(4), is_grads_batched=True)
    assert systems["factorised"] == 1
    assert systems["solved"] == [((4,), False), ((4, 4), True)]
    inverse = np.linalg.inv(MATRIX.toarray())
    agree(jb.numpy(), inverse, 1e-13)
    rows = np.repeat(np.arange(4), np.diff(MATRIX.indptr))
    agree(jdata.numpy(), -inverse[:, rows] * (inverse @ np.ones(4))[MATRIX.indices], 1e-13)


def test_bad_sparse_systems():
    with pytest.raises(MatrixError, match="singular"):
        scipy.spsolve((np.array([1.0, 0.0]), [0, 1], [0, 1, 2]), np.ones(2))
    with pytest.raises(MatrixError, match="singular"):
        scipy.spsolve((np.array([1.0, 1.0, 1.0, 1.0 + 1e-17]), [0, 1, 0, 1], [0, 2, 4]), np.ones(2))
    with pytest.raises(TypeError, match=r"shape \(3,\) does not fit a matrix of shape \(2, 2\)"):
        scipy.spsolve((np.ones(2), [0, 1], [0, 1, 2]), np.ones(3))
    with pytest.raises(DtypeError, match="complex128"):
        scipy.spsolve((np.ones(2) * 1j, [0, 1], [0, 1, 2]), np.ones(2))
    found = scipy.spsolve((np.array([2, 4]), [0, 1], [0, 1, 2]), np.array([2.0, 2.0], np.float32))
    np.testing.assert_array_equal(found, [1.0, 0.5])


def symmetric(p):
    a = ng.stack([ng.stack([p[0], p[1], p[2]]), ng.stack([p[1], p[3], p[4]]),
                  ng.stack([p[2], p[4], p[5]])])  # fmt: skip
    return a


ENTRIES = np.array([2.0, 0.3, -0.5, 1.0, 0.2, 4.0])
MIX = np.array([[1.0, -2.0, 0.5], [0.3, 1.5, -1.0], [2.0, 0.1, 0.7]])


def pinned(v):
    """Eigenvectors with a sign that depends on the matrix smoothly."""
    return v * ng.sign(v[2:3]).detach() * MIX[:, : v.shape[1]]


def test_all_eigenpairs():
    values, vectors = scipy.eigh(np.asarray(symmetric(ENTRIES)))
    np.testing.assert_allclose(
        np.asarray(symmetric(ENTRIES)) @ vectors, vectors * values, atol=1e-14
    )
    checked(lambda p: scipy.eigh(symmetric(p))[0], ENTRIES)
    checked(lambda p: pinned(scipy.eigh(symmetric(p))[1]), ENTRIES)
    one_triangle = scipy.eigh(np.array([[2.0, 1.0], [0.0, 2.0]]))[0]
    np.testing.assert_allclose(one_triangle, [1.5, 2.5])


def test_eigenvalues_that_coincide():
    a = ng.tensor(np.diag([1.0, 1.0, 3.0]), requires_grad=True)
    values, vectors = scipy.eigh(a)
    (slope,) = ng.grad(values.sum(), a, retain_graph=True)
    np.testing.assert_allclose(slope.numpy(), np.eye(3), atol=1e-15)
    with pytest.raises(MatrixError, match="eigenvalues 0 and 1 are equal"):
        ng.grad(vectors[0, 0], a)
    with pytest.raises(TypeError, match="one square matrix"):
        scipy.eigh(np.ones((2, 3)))


def ring(p):
    """The stored elements of a symmetric sparse matrix, both triangles, of its different ones."""
    return ng.concat([p[:5], p[5:10], p[5:10]])


N = 5
ROWS = np.concatenate([np.arange(N), np.arange(N), (np.arange(N) + 1) % N])
COLUMNS = np.concatenate([np.arange(N), (np.arange(N) + 1) % N, np.arange(N)])
ORDER = np.lexsort((COLUMNS, ROWS))
INDPTR = np.searchsorted(ROWS[ORDER], np.arange(N + 1))
RING = np.array([1.0, 2.5, 4.0, 5.5, 8.0, 0.4, -0.6, 0.5, 0.3, 0.7])


@pytest.mark.parametrize("options", [{"which": "LA"}, {"sigma": 0.0}])
def test_some_eigenpairs_of_a_sparse_matrix(options):
    def pairs(p):
        data = ring(ng.asarray(p))[ORDER]
        return scipy.eigsh((data, COLUMNS[ORDER], INDPTR), k=2, v0=np.ones(N), tol=0, **options)

    whole = np.zeros((N, N))
    whole[ROWS, COLUMNS] = ring(ng.asarray(RING)).numpy()
    known = np.linalg.eigvalsh(whole)
    expected = known[-2:] if "which" in options else known[:2]
    np.testing.assert_allclose(pairs(RING)[0].numpy(), expected, rtol=1e-12)

    def signed(p):
        values, v = pairs(p)
        return values + v * ng.sign(v.sum(axis=0)).detach() * np.arange(1.0, 11.0).reshape(5, 2)

    checked(signed, RING)


def test_a_double_eigenvalue_of_a_sparse_matrix_is_refused():
    data = ng.tensor(np.array([1.0, 1.0, 3.0, 5.0]), requires_grad=True)
    A = (data, np.arange(4), np.arange(5))
    values, vectors = scipy.eigsh(A, k=2, which="SA", v0=np.ones(4))
    with pytest.raises(MatrixError, match=r"eigsh: .* singular"):
        ng.grad(vectors.sum() + values.sum(), data)


@pytest.mark.parametrize("solver", ["root", "fixed_point", "minimize", "least_squares"])
def test_a_function_that_has_changed_before_the_backward_pass_is_refused(solver):
    factor, a = np.ones(2), ng.tensor([0.3, 0.4], requires_grad=True)
    of = {
        "root": lambda x, a: factor * x - a,
        "fixed_point": lambda x, a: 0.5 * x * factor + 0.5 * a,
        "minimize": lambda x, a: ((factor * x - a) ** 2).sum(),
        "least_squares": lambda x, a: factor * x - a,
    }
    found = getattr(scipy, solver)(of[solver], np.ones(2), args=(a,))
    x = found if solver == "fixed_point" else found.x
    np.testing.assert_allclose(ng.grad(x.sum(), a, retain_graph=True)[0].numpy(), 1.0, rtol=1e-6)
    factor[:] = 1.5
    with pytest.raises(InplaceError, match="has changed since the solution was found"):
        ng.grad(x.sum(), a)
