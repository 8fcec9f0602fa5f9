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
    np.testing.assert_allclose(ng.jit(ours)(k, b), ours(k, b), 1e-14)


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


def test_transforms_take_and_return_sparse_arrays(rng):
    data, x = numbers(rng), rng.standard_normal(4)
    A = assembled(data)

    def energy(A, x):
        return (A @ x) @ (A @ x) + (A.T @ A).diagonal() @ x

    def of_dense(a, x):
        return (a @ x) @ (a @ x) + ng.diagonal(a.T @ a) @ x

    at = A.row, A.col
    expected = ng.func.grad(of_dense)(A.toarray(), x).numpy()[at]
    value, slope = ng.func.value_and_grad(energy)(A, x)
    assert isinstance(slope, ng.sparse.SparseArray)
    assert slope.structure == A.structure
    np.testing.assert_allclose(slope.data, expected, rtol=1e-13)
    np.testing.assert_allclose(value, energy(A, x))
    both = ng.func.grad(energy, argnums=(0, 1))(A, x)
    np.testing.assert_allclose(both[1], ng.func.grad(lambda x: energy(A, x))(x), rtol=1e-13)
    captured = ng.jit(ng.func.grad(energy))
    for _ in range(3):
        np.testing.assert_array_equal(captured(A, x).data, slope.data)
    np.testing.assert_allclose(captured(A.T @ A, x).data, ng.func.grad(energy)(A.T @ A, x).data)
    assert "2 recordings" in repr(captured)
    tangent = A.with_data(np.arange(7.0))
    np.testing.assert_allclose(
        ng.func.jvp(energy, (A, x), (tangent, np.zeros(4)))[1], expected @ np.arange(7.0)
    )
    (pulled,) = ng.func.vjp(lambda A: A @ x, A)[1](np.ones(6))
    np.testing.assert_allclose(pulled.data, x[A.col], rtol=1e-13)
    leaf = A.with_data(ng.tensor(A.data.numpy(), requires_grad=True))
    np.testing.assert_allclose(ng.grad(ng.jit(energy)(leaf, x), leaf.data)[0], expected)


def test_transforms_of_functions_that_make_sparse_arrays(rng):
    data = numbers(rng)

    def squared(data):
        A = assembled(data)
        return {"square": A.T @ A, "size": A.nnz}

    exact = squared(ng.tensor(data))["square"]
    found = ng.jit(squared)(data)
    np.testing.assert_array_equal(found["square"].toarray(), exact.toarray())
    assert isinstance(found["square"].data, np.ndarray)
    blocks = ng.func.jacobian(lambda data: squared(data)["square"])(data)
    dense_blocks = ng.func.jacobian(lambda data: dense(data).T @ dense(data))(data)
    np.testing.assert_allclose(blocks, dense_blocks[exact.row, exact.col])
    rate = ng.func.jacobian(lambda t: assembled(data * t))(2.0)
    np.testing.assert_allclose(rate.toarray(), assembled(data).toarray())
    many = np.stack([data, 2 * data])
    stacked = ng.func.vmap(lambda data: assembled(data))(many)
    np.testing.assert_array_equal(stacked, [assembled(row).data for row in many])


def test_samples_share_a_sparse_array_or_have_its_numbers(rng):
    A, x = assembled(numbers(rng)), rng.standard_normal((3, 4))
    shared = ng.func.vmap(lambda A, x: A @ x, in_axes=(None, 0))(A, x)
    np.testing.assert_allclose(shared, x @ A.toarray().T)
    own = ng.func.vmap(lambda d: A.with_data(d) @ x[0])(np.stack([A.data, 2 * A.data]))
    np.testing.assert_allclose(own, [A @ x[0], 2 * A @ x[0]])
    with pytest.raises(ng.errors.ArgTypeError, match="no axis of samples"):
        ng.func.vmap(lambda A: A @ x[0])(A)


def test_products_as_a_function(rng):
    data, x = numbers(rng), rng.standard_normal(4)
    A = assembled(data)
    for product in (ng.sparse.matmul(A, x), ng.sparse.matmul(x, A.T)):
        np.testing.assert_allclose(product, A.toarray() @ x)
    np.testing.assert_allclose(ng.sparse.matmul(A, A.T).toarray(), (A @ A.T).toarray())
    np.testing.assert_allclose(ng.sparse.matmul(S, A.T).toarray(), DENSE @ A.toarray().T)
    many = rng.standard_normal((3, A.nnz))
    batch = ng.sparse.matmul(A, x[:, None], data=many)
    np.testing.assert_allclose(batch[..., 0], [A.with_data(d) @ x for d in many])
    with pytest.raises(TypeError, match="with_data"):
        ng.sparse.matmul(A, A.T, data=A.data)
    with pytest.raises(ValueError, match="7 numbers"):
        ng.sparse.matmul(A, x, data=np.ones(6))


def test_what_is_made_of_others(rng):
    A, x = assembled(numbers(rng)), rng.standard_normal(4)
    made = {
        "vstack": ([A, S, x],), "block_diag": ([A, 3.0, S, x],), "tril": (A, 1), "triu": (A, -1),
        "hstack": ([A, S, DENSE],), "kron": (A, DENSE[:2]), "bmat": ([[A, None], [DENSE, S]],),
        "csr_array": (DENSE,), "csc_array": (S.tocsc(),), "identity": (3,), "eye_array": (3, 2),
    }  # fmt: skip
    for name, given in made.items():
        theirs = [scipy_like(argument) for argument in given]
        if name in ("vstack", "block_diag"):  # a vector is a row
            theirs = [[np.atleast_2d(b) if b is x else b for b in theirs[0]]]
        expected = getattr(sparse, name)(*theirs)
        assert np.array_equal(getattr(ng.sparse, name)(*given).toarray(), expected.toarray()), name
    weights = ng.tensor(DENSE * 1.0, requires_grad=True)
    blocks = ng.sparse.vstack([ng.sparse.csr_array(weights), weights])
    assert blocks.nnz == 48
    np.testing.assert_array_equal(ng.grad(blocks.sum(), weights)[0], np.full((6, 4), 2.0))
    assert ng.sparse.csr_array((3, 2)).nnz == 0
    columns = sparse.csc_array(DENSE)
    given = columns.data, columns.indices, columns.indptr
    np.testing.assert_array_equal(ng.sparse.csc_array(given, shape=(6, 4)).toarray(), DENSE)
    with pytest.raises(AttributeError, match=r"ng\.sparse\.csr_array, with A @ B"):
        _ = ng.sparse.csr_matrix


def scipy_like(value):
    """Return an argument as SciPy takes it."""
    if isinstance(value, list):
        return [scipy_like(item) for item in value]
    return value.to_scipy() if isinstance(value, ng.sparse.SparseArray) else value


def test_attributes_of_sparse_arrays_of_scipy(rng):
    A = assembled(numbers(rng))
    theirs = A.to_scipy()
    for call in (
        lambda A: A.mean(), lambda A: A.mean(axis=0), lambda A: A.tocoo().row,
        lambda A: A.tocoo().col, lambda A: A.tocoo().coords[1], lambda A: A.conjugate().data,
        lambda A: A.real.data, lambda A: A.imag.toarray(), lambda A: np.sum(A),
        lambda A: A[[0, 1, 2, 0], [2, 1, 0, 0]], lambda A: A[A.toarray() > 0.1],
        lambda A: A.todia().toarray(), lambda A: A.sum(dtype="f4"),
    ):  # fmt: skip
        found, expected = call(A), call(theirs)
        assert np.shape(found) == np.shape(expected)
        np.testing.assert_allclose(found, expected)
    gradient = ng.func.grad(lambda A: (A[[0, 0, 5], [2, 2, 0]] ** 2).sum())(A).toarray()
    expected = np.zeros(SHAPE)
    expected[0, 2] = 4 * float(A[0, 2])
    np.testing.assert_allclose(gradient, expected)
    for words, call in {
        "ng.sparse.diags": lambda: A.setdiag(1.0), "with_data": lambda: A.sqrt(),
        "never written": lambda: A.__setitem__((0, 0), 1.0), "A.data": lambda: list(A),
        "spsolve": lambda: A.max(), "shape": lambda: len(A),
    }.items():  # fmt: skip
        with pytest.raises((TypeError, AttributeError), match=words):
            call()


def test_factors_serve_many_systems(rng):
    data = np.arange(1.0, 11.0)
    rows, columns = np.r_[:4, :3, 1:4], np.r_[:4, 1:4, :3]
    b, many = rng.standard_normal(4), rng.standard_normal((4, 2))

    def solved(data, b, many):
        A = ng.sparse.coo(data, (rows, columns), (4, 4))
        lu = ng.interop.scipy.splu(A)
        twice = lu.solve(lu.solve(b), trans="T")
        return (twice**2).sum() + ng.interop.scipy.factorized(A)(many).sum()

    def of_dense(data, b, many):
        a = ng.sparse.coo(data, (rows, columns), (4, 4)).toarray()
        twice = ng.linalg.solve(a.T, ng.linalg.solve(a, b))
        return (twice**2).sum() + ng.linalg.solve(a, many).sum()

    for n in range(3):
        found, expected = (ng.func.grad(f, n)(data, b, many) for f in (solved, of_dense))
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        found, expected = (ng.func.hessian(f, n)(data, b, many) for f in (solved, of_dense))
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    lu = ng.interop.scipy.splu(K)
    assert isinstance(lu.solve(b), np.ndarray)
    assert lu.shape == (4, 4)
    assert lu.nnz >= K.nnz
    np.testing.assert_allclose(lu.solve(many), np.linalg.solve(SQUARE, many))
    with pytest.raises(ng.errors.ArgTypeError, match="right hand side"):
        lu.solve(np.ones(3))
    with pytest.raises(ng.errors.MatrixError, match="singular"):
        ng.interop.scipy.factorized(ng.sparse.diags([1.0, 0.0]))
    with pytest.raises(ng.errors.ArgTypeError, match="square"):
        ng.interop.scipy.splu(S)
