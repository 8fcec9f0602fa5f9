"""Products of tensors with SciPy's sparse arrays, against dense ones and differences."""

import pickle

import numpy as np
import pytest
from scipy import sparse

import numgrad as ng

from ...operators.derivatives import check_derivatives

FORMATS = ["csr", "csc", "bsr", "coo", "dia", "lil", "dok"]
PATTERN = np.array(
    [[1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 1, 0, 0], [1, 1, 1, 1]]
)


def matrix(rng, kind="csr", dtype="f8"):
    values = 4 * rng.standard_normal(PATTERN.shape)
    values = values + 1j * values.T.reshape(6, 4) if dtype[0] == "c" else values
    found = sparse.csr_array((values * PATTERN).astype(dtype))
    return found.tobsr((2, 2)) if kind == "bsr" else found.asformat(kind)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i8", "?"])
def test_products_are_scipys(rng, kind, dtype):
    S = matrix(rng, kind, dtype)
    for x in (rng.standard_normal(4), rng.standard_normal((4, 3)), np.arange(4), np.ones(4, "c8")):
        y = S @ ng.tensor(x)
        assert isinstance(y, ng.Tensor)
        assert y.dtype == (S @ x).dtype
        np.testing.assert_allclose(y.numpy(), S @ x, 1e-6, 1e-6)
    for x in (rng.standard_normal(6), rng.standard_normal((2, 6))):
        np.testing.assert_allclose((ng.tensor(x) @ S).numpy(), x @ S.toarray(), 1e-6, 1e-6)


def test_stacks_of_matrices_and_old_matrices(rng):
    S, x = matrix(rng), rng.standard_normal((3, 4, 2))
    np.testing.assert_allclose((S @ ng.tensor(x)).numpy(), S.toarray() @ x)
    turned = x.swapaxes(1, 2)
    np.testing.assert_allclose((ng.tensor(turned) @ S.T).numpy(), turned @ S.toarray().T)
    old, v = sparse.csr_matrix(S), ng.tensor(x[0, :, 0], requires_grad=True)
    for y in (old * v, old @ v, old.dot(v)):
        assert y.requires_grad
        np.testing.assert_allclose(y.detach().numpy(), S @ x[0, :, 0])


@pytest.mark.parametrize("kind", FORMATS)
def test_derivatives_to_vectors(rng, kind):
    S = matrix(rng, kind)
    check_derivatives(lambda x: S @ x**2, rng.standard_normal(4), rng)
    check_derivatives(lambda x: (x**2) @ S, rng.standard_normal((2, 6)), rng)


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "dia"])
def test_derivatives_to_stored_elements(rng, kind):
    S, x = matrix(rng, kind), rng.standard_normal((4, 2))
    data = S.data.copy()

    def product(data, x):
        return ng.sparse.matmul(S, x, data=data)

    twice = S.copy()
    twice.data = 2 * data
    np.testing.assert_allclose(product(2 * data, x).numpy(), twice @ x)
    check_derivatives(lambda data: product(data**2, x), data, rng)
    check_derivatives(lambda x: product(data, x) ** 2, x, rng)
    y = rng.standard_normal((3, 6))
    check_derivatives(lambda data: ng.sparse.matmul(y, S, data=ng.sin(data)), data, rng)
    both = ng.func.jacrev(product, argnums=(0, 1))(data, x)
    for forward, reverse in zip(
        ng.func.jacfwd(product, argnums=(0, 1))(data, x), both, strict=True
    ):
        np.testing.assert_allclose(forward, reverse, 1e-12, 1e-12)
    mapped = ng.func.vmap(product, in_axes=(0, None))(np.stack([data, 2 * data]), x)
    np.testing.assert_allclose(mapped, np.stack([S @ x, 2 * (S @ x)]))


def test_complex_gradients_are_those_of_the_dense_product(rng):
    S, x, g = matrix(rng, "csc", "c16"), rng.standard_normal(4) + 2j, rng.standard_normal(6) - 1j
    leaf, data = (ng.tensor(v, requires_grad=True) for v in (x, S.data))
    gx, gdata = ng.grad(ng.sparse.matmul(S, leaf, data=data), [leaf, data], g)
    np.testing.assert_allclose(gx.numpy(), S.toarray().conj().T @ g)
    rows, columns = S.tocoo().coords
    np.testing.assert_allclose(gdata.numpy(), g[rows] * x[columns].conj())
    real = ng.tensor(S.data.real, requires_grad=True)
    (greal,) = ng.grad(ng.sparse.matmul(S, x, data=real), real, g)
    np.testing.assert_allclose(greal.numpy(), (g[rows] * x[columns].conj()).real)


def test_stored_elements_that_share_a_place(rng):
    S = sparse.coo_array((np.array([1.0, 2.0, 3.0]), ([0, 1, 0], [1, 0, 1])), shape=(2, 2))
    data, x = ng.tensor(S.data, requires_grad=True), np.array([10.0, 100.0])
    y = ng.sparse.matmul(S, x, data=data)
    np.testing.assert_allclose(y.detach().numpy(), S @ x)
    np.testing.assert_allclose(ng.grad(y, data, np.array([1.0, 2.0]))[0].numpy(), [100, 20, 100])


def test_a_captured_product_reads_the_matrix_at_each_call(rng):
    S, x = matrix(rng), rng.standard_normal(4)
    captured = ng.jit(ng.func.value_and_grad(lambda x: ((S @ x) ** 2).sum()))
    for _ in range(2):
        value, slope = captured(x)
        np.testing.assert_allclose(value, np.sum((S @ x) ** 2))
        np.testing.assert_allclose(slope, 2 * S.T @ (S @ x))
        S.data *= 2


@pytest.mark.parametrize("shape", [(0, 4), (3, 0), (0, 0)])
@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_no_rows_or_no_columns(shape, kind):
    S = sparse.coo_array(shape).asformat(kind)
    np.testing.assert_array_equal((S @ ng.tensor(np.ones(shape[1]))).numpy(), np.zeros(shape[0]))
    x = ng.tensor(np.ones((2, shape[0])), requires_grad=True)
    (g,) = ng.grad((x @ S).sum(), x)
    np.testing.assert_array_equal(g.numpy(), np.zeros(x.shape))


def test_operands_that_do_not_fit(rng):
    S = matrix(rng)
    for call in (lambda: S @ ng.tensor(np.ones(6)), lambda: ng.tensor(np.ones((6, 4))) @ S,
                 lambda: S @ ng.tensor(1.0), lambda: ng.sparse.matmul(np.ones(4), S)):  # fmt: skip
        with pytest.raises(ValueError, match=r"sparse\.matmul: factors of shapes"):
            call()
    with pytest.raises(ValueError, match=r"data of shape \(3,\), not \(11,\)"):
        ng.sparse.matmul(S, np.ones(4), data=np.ones(3))
    for pair in ((S, S), (np.ones((4, 4)), np.ones(4))):
        with pytest.raises(TypeError, match="one sparse array and one tensor"):
            ng.sparse.matmul(*pair)


KINDS = ["csr_array", "csc_array", "coo_array", "dia_array", "bsr_array", "lil_array", "dok_array",
         "csr_matrix", "csc_matrix", "dia_matrix"]  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_a_number_times_a_sparse_array_is_one_of_tensors(rng, name):
    dense = matrix(rng).toarray()[:4, :4] + np.eye(4)
    S, identity = getattr(sparse, name)(dense), sparse.eye(4)
    v, weights = rng.normal(size=4), rng.normal(size=(4, 4))
    calls = {
        "k * S": (lambda k: k * S, lambda k: k * dense),
        "S * k": (lambda k: S * k, lambda k: dense * k),
        "S / k": (lambda k: S / k, lambda k: dense / k),
        "np.multiply": (lambda k: np.multiply(S, k), lambda k: dense * k),
        "np.dot": (lambda k: np.dot(k, S), lambda k: k * dense),
        "step": (lambda k: identity - k * S, lambda k: np.eye(4) - k * dense),
    }
    for called, (own, full) in calls.items():
        made = own(ng.tensor(0.7, requires_grad=True))
        assert isinstance(made, ng.sparse.SparseArray), called
        assert isinstance(own(ng.tensor(0.7)), ng.sparse.SparseArray), called
        for f in (lambda k, of=own: (of(k).toarray() * weights).sum(),
                  ng.jit(lambda k, of=own: (of(k).toarray() * weights).sum())):  # fmt: skip
            value, slope = ng.func.value_and_grad(f)(0.7)
            same, exact = ng.func.value_and_grad(lambda k, of=full: (of(k) * weights).sum())(0.7)
            np.testing.assert_allclose([value, slope], [same, exact], rtol=1e-12, err_msg=called)
    x = ng.tensor(v, requires_grad=True)
    by_name = S.asformat("csr").dot(x)  # that of coo wants an array
    for product in (np.dot(S, x), np.matmul(S, x), by_name, ng.dot(S, x), S @ x):
        np.testing.assert_allclose(product.detach(), dense @ v, rtol=1e-12)
    for product in (x.dot(S), np.dot(x, S), np.matmul(x, S), x @ S):
        np.testing.assert_allclose(product.detach(), v @ dense, rtol=1e-12)
        np.testing.assert_allclose(ng.grad(product.sum(), x)[0], dense.sum(1), rtol=1e-12)
    with pytest.raises(TypeError, match="unsupported operand"):
        ng.tensor(2.0) / S
    with pytest.raises(ng.errors.DetachedError, match=r"S\.multiply"):
        S.multiply(x)


def test_vectors_act_on_the_elements_of_a_sparse_array_of_the_new_kind(rng):
    S, x = matrix(rng), ng.tensor(rng.normal(size=4), requires_grad=True)
    dense, numbers = S.toarray(), x.detach().numpy()
    for made, expected in ((S * x, dense * numbers), (x * S, dense * numbers),
                           (S / x, dense / numbers)):  # fmt: skip
        np.testing.assert_allclose(made.toarray().detach(), expected, rtol=1e-12)
    np.testing.assert_allclose((S + x).detach(), dense + numbers, rtol=1e-12)
    np.testing.assert_allclose(ng.grad((S * x).sum(), x)[0], dense.sum(0), rtol=1e-12)
    old = sparse.csr_matrix(dense)
    np.testing.assert_allclose((old * x).detach(), dense @ numbers, rtol=1e-12)


def test_solvers_of_sparse_systems_have_the_names_of_scipy():
    from numgrad.sparse import linalg

    assert ng.sparse.linalg is linalg
    assert all(getattr(linalg, n) is getattr(ng.interop.scipy, n) for n in dir(linalg))
    with pytest.raises(AttributeError, match="it has eigsh, factorized, splu, spsolve"):
        _ = linalg.gmres



# Matrices of the old kind -------------------------------------------------------------------------


def of_old_matrices(s, eye, A, v):
    B = eye - s * A
    return (
        (B * (B * v)).sum() + (B**2 * v).sum() + (v * B).sum() + (A * B * v).sum()
        + (B.T / 2 * v).sum() + ((B + A) * v).sum()
    )  # fmt: skip


def test_what_old_matrices_and_tensors_make_has_the_product_of_old_matrices():
    A = sparse.csr_matrix(np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 1.0], [4.0, 0.0, 1.0]]))
    v, eye = np.array([1.0, 2.0, 3.0]), sparse.identity(3, format="csr")

    def value(s):
        return of_old_matrices(s, eye, A, v)

    found, slope = ng.func.value_and_grad(value)(0.5)
    np.testing.assert_allclose(found, value(0.5), rtol=1e-14)  # of SciPy alone
    expected = (value(0.5 + 1e-5) - value(0.5 - 1e-5)) / 2e-5
    np.testing.assert_allclose(slope, expected, rtol=1e-8)
    np.testing.assert_allclose(ng.jit(ng.func.grad(value))(0.5), slope, rtol=1e-14)
    B = eye - ng.tensor(0.5) * A
    by_element = (eye - 0.5 * A).multiply(v)
    np.testing.assert_array_equal(B.multiply(v).toarray().numpy(), by_element.toarray())
    copied = pickle.loads(pickle.dumps(B))
    np.testing.assert_array_equal((copied * v).numpy(), (B @ v).numpy())
    with pytest.raises(ValueError, match=r"A\.power\(n\)"):
        B**0.5
