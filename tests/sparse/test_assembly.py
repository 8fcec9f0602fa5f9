"""Sparse arrays of tensors, against SciPy's, and against dense programs for derivatives."""

import pickle

import numpy as np
import pytest
from scipy import sparse

import numgrad as ng

ROWS = np.array([4, 0, 2, 0, 2, 4, 1, 2, 4])
COLUMNS = np.array([1, 2, 0, 2, 3, 3, 1, 0, 0])
SHAPE = (6, 4)  # rows 3 and 5 are empty, two places come twice
DENSE = np.array(
    [[0.0, 2, 0, 1], [3, 0, 0, 0], [0, 0, 0, 0], [1, 0, 4, 0], [0, 5, 0, 6], [7, 0, 0, 0]]
)
S = sparse.csr_array(DENSE)
SQUARE = np.array([[4.0, 1, 0, 0], [1, 5, 2, 0], [0, 2, 6, 1], [0, 0, 1, 7]])
K = sparse.csr_array(SQUARE)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def numbers(rng, dtype="f8"):
    values = rng.standard_normal(ROWS.size)
    return (values + 1j * values[::-1] if dtype[0] == "c" else values).astype(dtype)


def assembled(data):
    return ng.sparse.coo(data, (ROWS, COLUMNS), SHAPE)


def dense(data):
    """The same matrix by NumPy's ways to write it."""
    flat = ng.zeros(24, dtype=ng.asarray(data).dtype)
    for n, place in enumerate(ROWS * 4 + COLUMNS):
        flat = flat + data[n] * np.eye(24)[place].astype(flat.dtype)
    return flat.reshape(SHAPE)


PROGRAMS = {
    "toarray": lambda A: A,
    "scipy": lambda A: A * 2.0 - A / 3.0 + A,
    "transposed": lambda A: A.T,
    "square": lambda A: A @ A.T,
    "other order": lambda A: A.T @ A,
    "part": lambda A: A[[4, 0, 2]][:, 1:],
    "vector": lambda A: A @ np.arange(1.0, 5.0),
    "on the right": lambda A: np.arange(6.0) @ A,
    "matrix": lambda A: A @ DENSE.T,
    "diagonal": lambda A: A.diagonal(),
    "columns": lambda A: A.sum(axis=0) ** 2,
    "rows": lambda A: A.sum(axis=1) ** 2,
    "all": lambda A: A.sum() * A,
    "elements": lambda A: A * np.arange(1.0, 5.0) * A,
    "column scale": lambda A: A * np.arange(6.0)[:, None],
    "dense sum": lambda A: A + DENSE,
    "negative": lambda A: -A,
    "element": lambda A: A[4, 1] * A,
}


def evaluated(program, A):
    y = program(A)
    return y.toarray() if hasattr(y, "toarray") else y


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_have_values_and_derivatives_of_dense_ones(rng, name):
    program, x = PROGRAMS[name], numbers(rng)
    exact = {"rtol": 1e-12, "atol": 1e-12}

    def of(make):
        return lambda data: evaluated(program, make(ng.sin(data)))

    ours, theirs = of(assembled), of(dense)
    value = theirs(x).numpy()
    np.testing.assert_allclose(ours(x).numpy(), value, **exact)
    np.testing.assert_allclose(ng.jit(ours)(x), value, **exact)
    mapped = ng.func.vmap(ours)(np.stack([2 * x, x]))
    np.testing.assert_allclose(mapped[1], value, **exact)
    slopes = ng.func.jacrev(theirs)(x)
    for transform in (ng.func.jacrev(ours), ng.func.jacfwd(ours), ng.jit(ng.func.jacrev(ours))):
        np.testing.assert_allclose(transform(x), slopes, **exact)
    scalar = [lambda data, f=f: (f(data) ** 3).sum() for f in (ours, theirs)]
    hessians = [ng.func.hessian(f)(x) for f in scalar]
    np.testing.assert_allclose(*hessians, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i8"])
def test_operations_are_scipys(rng, dtype):
    data = numbers(rng) * 8 if dtype == "i8" else numbers(rng, dtype)
    data = data.astype(dtype)
    A, B = assembled(data), sparse.coo_array((data, (ROWS, COLUMNS)), SHAPE).tocsr()
    assert (A.shape, A.dtype, A.nnz) == (B.shape, B.dtype, B.nnz)
    np.testing.assert_array_equal(A.indices, B.indices)
    tolerance = 1e-6 if dtype == "f4" else 1e-13
    for f in (
        lambda M: M, lambda M: M + S, lambda M: S + M, lambda M: S - M, lambda M: M - S,
        lambda M: M * S, lambda M: S * M, lambda M: M @ S.T, lambda M: S.T @ M, lambda M: 2 * M,
        lambda M: M.T, lambda M: M[1:5:2], lambda M: M[::-1, [0, 0, 3]], lambda M: M.multiply(3),
        lambda M: M * np.float64(2.5), lambda M: M / np.float64(2.0),
        lambda M: abs(M), lambda M: M.conj(),
        lambda M: M + M, lambda M: 0 + M, lambda M: M**2,
    ):  # fmt: skip
        found, wanted = f(A), f(B)
        assert isinstance(found, ng.sparse.SparseArray)
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found.toarray().numpy(), wanted.toarray(), tolerance, tolerance)
    assert (A / 2.0).dtype == (data / 2.0).dtype  # as in NumPy; SciPy makes float64 of float32
    for k in (-5, -2, 0, 3):
        np.testing.assert_allclose(A.diagonal(k).numpy(), B.diagonal(k), tolerance)
    np.testing.assert_allclose(A.to_scipy().toarray(), B.toarray(), tolerance)


def test_complex_numbers_have_the_gradients_of_the_dense_program(rng):
    x = numbers(rng, "c16")

    def squares(make):
        return lambda data: (abs(evaluated(PROGRAMS["square"], make(data))) ** 2).sum()

    found, wanted = (ng.func.grad(squares(make))(x) for make in (assembled, dense))
    np.testing.assert_allclose(found, wanted, 1e-12, 1e-12)


def test_constructors_are_scipys(rng):
    v = rng.standard_normal(5)
    for arguments in (
        ([v, v[:4]], [0, -1]), (v, 1), ([v], [-2]), ([1.0, -2.0, 1.0], [-1, 0, 1], (4, 6)),
        ([v, v], [0, 2], (5, 5)), ([v[0]], 0, (2, 3)), ([[1.0], [2.0, 3.0]], [0, 1], (2, 4)),
    ):  # fmt: skip
        wanted = sparse.diags(*arguments).toarray()
        np.testing.assert_array_equal(ng.sparse.diags(*arguments).toarray().numpy(), wanted)
    B = sparse.coo_array((numbers(rng), (ROWS, COLUMNS)), SHAPE).tocsr()
    A = ng.sparse.csr(B.data, B.indices, B.indptr, SHAPE)
    np.testing.assert_array_equal(A.data.numpy(), B.data)
    order = np.array([1, 0])  # a row whose columns are not in order
    A = ng.sparse.csr(np.array([1.0, 2.0]), order, [0, 2])
    assert A.toarray().tolist() == [[2.0, 1.0]]
    np.testing.assert_array_equal(
        ng.sparse.kron(B, K).toarray().numpy(), np.kron(B.toarray(), SQUARE)
    )
    np.testing.assert_array_equal(ng.sparse.eye(3, 4, -1).toarray().numpy(), np.eye(3, 4, -1))
    blocks = [[K, S.T], [S, None]]
    wanted = sparse.block_array(blocks).toarray()
    np.testing.assert_array_equal(ng.sparse.block_array(blocks).toarray().numpy(), wanted)
    for shape in ((0, 3), (2, 0)):
        empty = ng.sparse.coo(np.zeros(0), ([], []), shape)
        assert (empty @ empty.T + ng.sparse.eye(shape[0])).toarray().shape == (shape[0],) * 2


def springs(k):
    """The matrix of springs in a row, and one to the wall at each end."""
    return ng.sparse.diags([-k[1:-1], k[:-1] + k[1:], -k[1:-1]], [-1, 0, 1])


def springs_dense(k):
    return ng.diag(k[:-1] + k[1:]) - ng.diag(k[1:-1], 1) - ng.diag(k[1:-1], -1)


def test_solvers_have_the_derivatives_of_dense_ones(rng):
    k, b = rng.random(7) + 1.0, rng.standard_normal(6)

    def ours(k, b):
        return (ng.interop.scipy.spsolve(springs(k), b) ** 3).sum()

    def theirs(k, b):
        return (ng.linalg.solve(springs_dense(k), b) ** 3).sum()

    for derivative in (ng.func.grad, ng.func.hessian, ng.func.jacfwd):
        for argnum in (0, 1):
            found, wanted = (derivative(f, argnum)(k, b) for f in (ours, theirs))
            np.testing.assert_allclose(found, wanted, 1e-10, 1e-11)

    def lowest(k):
        return ng.interop.scipy.eigsh(springs(k), k=2, sigma=0, v0=np.ones(6))[0][0]

    def lowest_dense(k):
        return ng.linalg.eigvalsh(springs_dense(k))[0]

    for derivative in (ng.func.grad, ng.func.hessian):
        np.testing.assert_allclose(derivative(lowest)(k), derivative(lowest_dense)(k), 1e-8, 1e-9)
    with pytest.raises(ng.errors.CaptureError, match="spsolve"):
        ng.jit(ours)(k, b)


def test_a_captured_function_sees_indices_and_numbers_of_today():
    rows, data = np.array([0, 1]), np.array([1.0, 2.0])
    constant = sparse.csr_array(np.eye(2))
    captured = ng.jit(lambda x: (ng.sparse.coo(x, (rows, [0, 0]), (2, 2)) + constant).toarray())
    assert captured(data).tolist() == [[2.0, 0.0], [2.0, 1.0]]
    rows[1], constant.data[1] = 0, 5.0
    assert captured(data).tolist() == [[4.0, 0.0], [0.0, 5.0]]


def test_structures_are_found_once(rng):
    A, B = assembled(numbers(rng)), assembled(numbers(rng))
    assert A.structure is B.structure
    assert (A @ A.T).structure is (B @ B.T).structure
    with pytest.raises(ValueError, match="read-only"):
        A.indices[0] = 1
    again = pickle.loads(pickle.dumps(ng.sparse.coo(numbers(rng), (ROWS, COLUMNS), SHAPE)))
    assert again.structure == A.structure


def test_jacobians_see_the_pattern(rng):
    J = ng.sparse.jacobian(lambda k: springs(k) @ np.ones(6), rng.random(7))
    wanted = ng.func.jacrev(lambda k: springs_dense(k) @ np.ones(6))(np.ones(7))
    np.testing.assert_allclose(J.toarray(), wanted, atol=1e-15)
    assert J.nnz < 42


def test_what_cannot_be_meant_is_refused(rng):
    A, x = assembled(numbers(rng)), np.ones(3)
    refused = {
        "do not fit": (lambda: A @ x, lambda: x @ A, lambda: A @ A, lambda: A * x),
        "shapes": (lambda: A + A.T, lambda: A * A.T),
        "vmap": (lambda: assembled(np.ones((2, 9))),),
        "row indices": (lambda: ng.sparse.coo([1.0], ([2], [0]), (2, 2)),),
        "column indices": (lambda: ng.sparse.csr([1.0], [-1], [0, 1], (1, 2)),),
        "indptr": (lambda: ng.sparse.csr([1.0], [0], [0, 2]),),
        "offsets": (lambda: ng.sparse.diags([x, x], [0, 0]),),
        "elements at offset": (lambda: ng.sparse.diags([x], [0], (5, 5)),),
        "toarray": (
            lambda: A / A, lambda: A + 1, lambda: np.asarray(A), lambda: ng.sin(A), lambda: A[0],
            lambda: A == A,
        ),
        "positive": (lambda: A**0,),
        "nnz": (lambda: bool(A),),
    }  # fmt: skip
    for words, calls in refused.items():
        for call in calls:
            with pytest.raises(
                (ValueError, TypeError, IndexError, NotImplementedError), match=words
            ):
                call()
