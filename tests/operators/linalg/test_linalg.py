"""Matrix products, factorizations and determinants as operators: values, derivatives, programs."""

from types import SimpleNamespace

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.lower.lower import force, lower, pending_exprs
from numgrad.engine.record.apply import deferring, runtime
from numgrad.operators.linalg import determinant, factorization
from numgrad.operators.linalg.matmul import LARGE, matmul
from numgrad.targets.cpu.machine import machine
from numgrad.targets.cpu.schedule import bound_program

from ..derivatives import check_derivatives, in_program, second

DTYPES = [np.float32, np.float64, np.complex64, np.complex128]
LAYOUTS = {
    "plain": lambda a: a,
    "transposed": lambda a: a.swapaxes(-1, -2).copy().swapaxes(-1, -2),
    "reversed": lambda a: a[..., ::-1, ::-1].copy()[..., ::-1, ::-1],
    "strided": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "repeated": lambda a: np.broadcast_to(a[..., :1, :], a.shape),
}


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def draw(rng, shape, dtype=np.float64):
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def split(function):
    """Turn a function of a complex array into one of its real and imaginary parts."""

    def parts(x):
        y = function(x[0] + 1j * x[1])
        return ng.stack([ng.real(y), ng.imag(y)])

    return parts


def close(actual, expected):
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    eps = np.finfo(np.asarray(expected).dtype).eps
    np.testing.assert_allclose(actual, expected, atol=200 * eps * scale, rtol=0)


def check_rows(function, x, rng, rows=5):
    """Check that a batched pass equals one pass per row, to rounding."""
    leaf = ng.tensor(x, requires_grad=True)
    y = function(leaf)
    seeds = draw(rng, (rows, *y.shape), y.dtype)
    batched = ng.grad(y, leaf, seeds, retain_graph=True, is_grads_batched=True)[0].numpy()
    looped = [ng.grad(y, leaf, seed, retain_graph=True)[0].numpy() for seed in seeds]
    close(batched, np.stack(looped))


# Products


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_matmul_of_any_layout_now_and_in_programs(rng, dtype, layout):
    for m, k, n in [(3, 4, 5), (1, 4, 5), (3, 4, 1), (3, 1, 5), (1, 4, 1)]:
        a, b = draw(rng, (2, m, k), dtype), draw(rng, (k, n), dtype)
        for x, y in [(LAYOUTS[layout](a), b), (a, LAYOUTS[layout](b))]:
            now = matmul(x, y).numpy()
            close(now, x @ y)
            close(in_program(matmul, ng.tensor(x), ng.tensor(y)), now)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "int64", "uint64"])
def test_products_of_integers_in_programs_are_those_of_numpy(rng, dtype):
    most = 2 if dtype == "bool" else 100
    shapes = [((3, 4), (4, 2)), ((1, 4), (4, 1)), ((2, 1), (1, 3)), ((3, 0), (0, 2))]
    for pair in shapes:
        a, b = (rng.integers(0, most, shape).astype(dtype) for shape in pair)
        for x in (a, np.asfortranarray(a)):
            found = in_program(matmul, ng.tensor(x), ng.tensor(b))
            assert found.dtype == a.dtype
            np.testing.assert_array_equal(found, x @ b)


@pytest.mark.parametrize("shapes", [((0, 3), (3, 2)), ((2, 0), (0, 3)), ((0, 2, 3), (3, 2))])
def test_matmul_of_nothing(shapes):
    a, b = (ng.tensor(np.ones(s), requires_grad=True) for s in shapes)
    y = matmul(a, b)
    np.testing.assert_array_equal(y.detach().numpy(), np.zeros(y.shape))
    ga, gb = ng.grad(y.sum(), [a, b])
    assert (ga.shape, gb.shape) == shapes
    assert not gb.numpy().any()


@pytest.mark.parametrize("shapes", [((3, 4), (4, 2)), ((2, 3, 4), (4, 1)), ((1, 4), (3, 4, 2))])
def test_matmul_derivatives(rng, shapes):
    a, b = (rng.standard_normal(s) for s in shapes)
    check_derivatives(lambda x: matmul(x, b), a, rng)
    check_derivatives(lambda x: matmul(a, x), b, rng)
    check_rows(lambda x: matmul(x, b), a, rng)
    check_rows(lambda x: matmul(a, x), b, rng)


def test_matmul_derivatives_of_complex_matrices(rng):
    b = draw(rng, (3, 2), np.complex128)
    check_derivatives(split(lambda z: matmul(z, b)), rng.standard_normal((2, 2, 3)), rng)
    check_derivatives(split(lambda z: matmul(z, z)), rng.standard_normal((2, 2, 2)), rng)


def test_loop_axes_are_aligned_before_a_batch_axis_comes_in_front(rng):
    a, b = rng.standard_normal((2, 5, 3, 4)), rng.standard_normal((4, 2))
    leaves = [ng.tensor(x, requires_grad=True) for x in (a, b)]
    y = matmul(*leaves)
    seeds = rng.standard_normal((6, *y.shape))
    grads = ng.grad(y, leaves, seeds, is_grads_batched=True, create_graph=True)
    w = rng.standard_normal(grads[1].shape)
    # d(sum w_r . A' g_r)/dA
    expected = np.einsum("rkn,rlpmn->lpmk", w, seeds)
    close(ng.grad(grads[1], leaves[0], w)[0].numpy(), expected)


@pytest.mark.parametrize("side", ["left", "right"])
def test_cotangents_of_a_vector_reach_blas_as_one_matrix(rng, side, monkeypatch):
    w = ng.tensor(rng.standard_normal((30, 30)))
    x = ng.tensor(rng.standard_normal(30), requires_grad=True)
    y = x @ w if side == "left" else w @ x
    calls = []

    def watch(code, starts, parts, *rest):
        calls.append((code[starts[parts[-1][0]] + 2], parts[-1][3]))
        return machine.Runner(code, starts, parts, *rest)

    monkeypatch.setattr(bound_program, "machine", SimpleNamespace(Runner=watch))
    jacobian = ng.grad(y, x, np.eye(30), is_grads_batched=True)[0].numpy()
    dims, tile = calls[-1]
    assert dims == 1  # the rows are the kernel's own loop, which it folds
    assert tile > 1
    close(jacobian, w.numpy().T if side == "left" else w.numpy())


# Factorizations


def regular(rng, shape, dtype=np.float64):
    return draw(rng, shape, dtype) + 3 * np.eye(shape[-1], dtype=dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("k", [1, 3])
def test_lu_solve(rng, dtype, adjoint, k):
    a, b = draw(rng, (3, 4, 4), dtype), draw(rng, (3, 4, k), dtype)
    a[0] = a[0][::-1]
    matrices = a.conj().swapaxes(-1, -2) if adjoint else a
    for n in (slice(None), slice(0, 1), 0):
        lu, pivots = factorization.lu_factor(a[n])
        x = factorization.lu_solve(a[n], lu, pivots, b, adjoint=adjoint).numpy()
        close(x, np.linalg.solve(matrices[n], b))
        strided = np.repeat(b, 2, axis=1)[:, ::2]
        again = in_program(
            factorization.lu_solve, ng.tensor(a[n]), lu, pivots, ng.tensor(strided), adjoint=adjoint
        )
        close(again, x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("k", [1, 3])
def test_solve_triangular(rng, dtype, adjoint, lower, k):
    a, b = regular(rng, (3, 4, 4), dtype), draw(rng, (3, 4, k), dtype)
    half = np.tril(a) if lower else np.triu(a)
    matrices = half.conj().swapaxes(-1, -2) if adjoint else half
    for n in (slice(None), 0):
        x = factorization.solve_triangular(a[n], b, lower=lower, adjoint=adjoint).numpy()
        close(x, np.linalg.solve(matrices[n], b))


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("adjoint", [False, True])
def test_solve_triangular_derivatives(rng, lower, adjoint):
    a, b = regular(rng, (3, 3)), rng.standard_normal((3, 2))
    options = {"lower": lower, "adjoint": adjoint}
    check_derivatives(lambda x: factorization.solve_triangular(x, b, **options), a, rng)
    check_derivatives(lambda x: factorization.solve_triangular(a, x, **options), b, rng)


def test_one_factorization_serves_all_rows(rng):
    a = ng.tensor(regular(rng, (4, 4)), requires_grad=True)
    y = ng.linalg.solve(a, rng.standard_normal(4))
    names = []
    before = runtime.target.kernel

    def watch(spec):
        names.append(spec.name)
        return before(spec)

    runtime.target.kernel = watch
    try:
        ng.grad(y, a, np.eye(4), is_grads_batched=True)
    finally:
        del runtime.target.kernel
    assert "lu_factor" not in names
    assert names.count("lu_solve") == 1


# Determinants


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 5])
def test_determinants(rng, dtype, n):
    a = draw(rng, (4, n, n), dtype)
    close(ng.linalg.det(a).numpy(), np.linalg.det(a))
    sign, logabs = ng.linalg.slogdet(a)
    expected = np.linalg.slogdet(a)
    close(sign.numpy(), expected.sign)
    close(logabs.numpy(), expected.logabsdet)
    assert logabs.dtype == expected.logabsdet.dtype


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_determinant_derivatives(rng, n):
    a = rng.standard_normal((2, n, n))
    check_derivatives(ng.linalg.det, a, rng)
    check_derivatives(lambda x: ng.linalg.slogdet(x).logabsdet, a, rng, 1e-5)
    check_rows(ng.linalg.det, a, rng)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_determinant_derivatives_of_complex_matrices(rng, n):
    x = rng.standard_normal((2, n, n))
    check_derivatives(split(ng.linalg.det), x, rng, 1e-5)
    check_derivatives(split(lambda z: ng.linalg.slogdet(z).sign), x, rng, 1e-5)


def singular(rng, n, rank):
    return rng.integers(-3, 4, (n, rank)) @ rng.integers(-3, 4, (rank, n)) * 1.0


def cofactors(a):
    n = len(a)
    minors = [
        [np.linalg.det(np.delete(np.delete(a, i, 0), j, 1)) for j in range(n)] for i in range(n)
    ]
    return np.array(minors) * (-1.0) ** np.add.outer(np.arange(n), np.arange(n))


@pytest.mark.parametrize(
    ("n", "rank"), [(1, 0), (2, 1), (2, 0), (3, 2), (3, 1), (4, 3), (4, 2), (5, 4), (4, 0)]
)
def test_gradient_of_a_singular_determinant_is_the_cofactors(rng, n, rank):
    a = ng.tensor(singular(rng, n, rank), requires_grad=True)
    gradient = ng.grad(ng.linalg.det(a), a)[0].numpy()
    np.testing.assert_allclose(gradient, cofactors(a.detach().numpy()), atol=1e-10)


@pytest.mark.parametrize(("n", "rank"), [(1, 0), (2, 1), (2, 0), (3, 2), (3, 1), (3, 0)])
def test_second_derivatives_of_a_singular_small_determinant(rng, n, rank):
    check_derivatives(ng.linalg.det, singular(rng, n, rank), rng, 1e-5)


def test_second_derivative_of_a_larger_singular_determinant_is_refused(rng):
    a = ng.tensor(np.arange(16.0).reshape(4, 4), requires_grad=True)
    with pytest.raises(np.linalg.LinAlgError, match="det"):
        ng.grad(ng.linalg.det(a), a, create_graph=True)


def test_third_derivative_of_a_determinant(rng):
    a = ng.tensor(singular(rng, 3, 1), requires_grad=True)
    u, v, w = (rng.standard_normal((3, 3)) for _ in range(3))
    (first,) = ng.grad(ng.linalg.det(a), a, create_graph=True)
    (two,) = ng.grad((first * u).sum(), a, create_graph=True)
    (three,) = ng.grad((two * v).sum(), a)
    # The determinant is cubic, so its third derivative is the one of the mixed form anywhere.
    mixed = determinant.mixed_cofactor(u, v).numpy()
    np.testing.assert_allclose((three.numpy() * w).sum(), (mixed * w).sum())


# Errors


def test_a_failing_factorization_in_a_program_raises_its_own_error():
    a = ng.tensor(np.stack([np.eye(3), np.zeros((3, 3))]))
    with ng.no_grad(), deferring(True):
        lu, pivots = factorization.lu_factor(a)
        x = factorization.lu_solve(a, lu, pivots, np.ones((3, 1)), adjoint=False)
    with pytest.raises(
        np.linalg.LinAlgError, match="lu_solve: singular matrix at row 0, loop index 1"
    ):
        force([x])


SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])
BROKEN = {
    "solve": lambda a: ng.linalg.solve(a, np.ones(2)),
    "inv": ng.linalg.inv,
    "matrix_power": lambda a: ng.linalg.matrix_power(a, -2),
    "cholesky": ng.linalg.cholesky,
    "slogdet": lambda a: ng.func.grad(lambda a: ng.linalg.slogdet(a).logabsdet)(a),
    "det": lambda a: ng.func.hessian(ng.linalg.det)(ng.kron(np.eye(2), a)),
}


@pytest.mark.parametrize("how", ["eager", "captured"])
@pytest.mark.parametrize("name", BROKEN)
def test_errors_name_the_function_that_was_called(name, how):
    function = BROKEN[name] if how == "eager" else ng.jit(BROKEN[name])
    with pytest.raises(ng.errors.MatrixError, match=f"^{name}: "):
        function(ng.tensor(SINGULAR))


def test_programs_with_blas_say_so(rng):
    a, b = rng.standard_normal((2, 3)), rng.standard_normal((3, 2))
    long = np.ones((2, LARGE // 4)), np.ones((LARGE // 4, 3))
    for factors, says_so in (((a, b), False), ((a + 0j, b), True), (long, True)):
        with ng.no_grad(), deferring(True):
            y = matmul(*factors)
        assert pending_exprs([y])
        assert lower([y], runtime.target).uses_blas is says_so
        force([y])
        np.testing.assert_allclose(y.numpy(), factors[0] @ factors[1])


def test_a_large_product_in_a_batch_is_made_of_its_rows(rng):
    """BLAS has all threads where there is one product; rows of a batch have a thread each."""
    w = np.broadcast_to(rng.standard_normal(3), (LARGE // 4, 3))
    x = ng.tensor(np.ones((2, LARGE // 4)), requires_grad=True)
    y = matmul(x, w)
    seeds = rng.standard_normal((5, 2, 3))
    (g,) = ng.grad(y, x, seeds, is_grads_batched=True)
    np.testing.assert_allclose(g.numpy(), seeds @ w.T)


def test_second_derivative_of_solve(rng):
    a, b = regular(rng, (3, 3)), rng.standard_normal((3, 2))
    check_derivatives(lambda x: ng.linalg.solve(x, b), a, rng)
    check_derivatives(lambda x: ng.linalg.solve(a, x), b, rng)
    check_derivatives(lambda x: ng.linalg.solve(a * x, x[0]), regular(rng, (3, 3)), rng, 1e-5)
    assert not second(lambda x: ng.linalg.solve(a, x), b, b, b).any()
