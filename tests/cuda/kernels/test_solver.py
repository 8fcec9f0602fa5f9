"""Calls of cuSOLVER for large matrices, carried out by SciPy in memory of the host."""

import inspect
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.linalg

import numgrad as ng
from numgrad.operators.linalg import factorization as operators
from numgrad.targets.cuda.kernels import small_matrices
from numgrad.targets.cuda.launch.steps import HostCall
from numgrad.targets.cuda.program import solver
from numgrad.targets.cuda.program.library_factorization import LibraryFactorization

from ..programs import TARGET, on_both, program_of, require_equal
from .host_memory import numbers, resolved

RNG = np.random.default_rng(31)
DTYPES = ["float32", "float64", "complex64", "complex128"]
SCRATCH = 17  # the elements that a routine asks for


class Library:
    """The part of cuSOLVER or cuBLAS that is called, with the parameters of its bindings."""

    def __init__(self):
        self.calls, self.streams, self.made = [], [], 0

    def create(self):
        self.made += 1
        return 100 + self.made

    def set_stream(self, handle, stream_id):
        self.streams.append((handle, stream_id))

    def __getattr__(self, name):
        dtype = {letter: char for char, letter in solver.LETTERS.items()}[name[0]]
        routine = getattr(type(self), f"of_{name[1:]}")
        self.calls.append(name)
        return lambda *arguments: routine(self, dtype, *arguments)


class Lapack(Library):
    def of_getrf_buffer_size(self, dtype, handle, m, n, a, lda):
        return SCRATCH

    def of_potrf_buffer_size(self, dtype, handle, uplo, n, a, lda):
        return SCRATCH

    def of_getrf(self, dtype, handle, m, n, a, lda, workspace, dev_ipiv, dev_info):
        assert m == n == lda
        numbers(workspace, dtype, SCRATCH)[...] = np.nan
        matrix = numbers(a, dtype, lda, n)
        getrf = scipy.linalg.get_lapack_funcs("getrf", (matrix,))
        matrix[...], pivots, numbers(dev_info, "i4", 1)[...] = getrf(matrix)
        numbers(dev_ipiv, "i4", n)[...] = pivots + 1

    def of_getrs(self, dtype, handle, trans, n, nrhs, a, lda, dev_ipiv, b, ldb, dev_info):
        assert n == lda == ldb
        right, pivots = numbers(b, dtype, ldb, nrhs), numbers(dev_ipiv, "i4", n) - 1
        right[...] = scipy.linalg.lu_solve((numbers(a, dtype, lda, n), pivots), right, trans)
        numbers(dev_info, "i4", 1)[...] = 0

    def of_potrf(self, dtype, handle, uplo, n, a, lda, workspace, lwork, dev_info):
        assert (uplo, lwork) == (1, SCRATCH)
        numbers(workspace, dtype, SCRATCH)[...] = np.nan
        matrix = numbers(a, dtype, lda, n)
        potrf = scipy.linalg.get_lapack_funcs("potrf", (matrix,))
        factor, numbers(dev_info, "i4", 1)[...] = potrf(matrix, lower=False)
        matrix[...] = np.triu(factor) + np.tril(np.full((n, n), np.nan), -1)


class Blas(Library):
    def of_trsm(self, dtype, handle, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb):
        assert (side, diag, m, m) == (0, 0, lda, ldb)
        assert numbers(alpha, dtype, 1)[0] == 1
        matrix, right = numbers(a, dtype, lda, m), numbers(b, dtype, ldb, n)
        if np.diag(matrix).all():
            right[...] = scipy.linalg.solve_triangular(matrix, right, trans, lower=uplo == 0)


@pytest.fixture
def library(monkeypatch):
    """A library, and matrices of three rows are large."""
    monkeypatch.setattr(small_matrices, "MOST", 2)
    found = SimpleNamespace(lapack=Lapack(), blas=Blas())
    for target in (TARGET, ng.zeros(1, device="cuda").array.target):
        calls = solver.Solver(found.lapack, found.blas, resolved)
        monkeypatch.setattr(target.runtime.driver, "solver", calls, raising=False)
    return found


def matrices(shape, dtype):
    found = RNG.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        found = found + 1j * RNG.standard_normal(shape)
    return found.astype(dtype)


def require_near(function, *arrays, steps=1):
    made = TARGET.bind(program_of(function, *arrays)).steps
    assert [type(step) for step in made].count(LibraryFactorization) == steps
    assert not any(isinstance(step, HostCall) for step in made)
    require_equal(on_both(function, *arrays), 3e-4 if arrays[0].dtype.char in "fF" else 1e-11)


def lies(x):
    """Return matrices that lie in several ways."""
    return (x, x[:, ::-1, :, ::-1], x.swapaxes(-1, -2), np.broadcast_to(x[:1], x.shape), x[0, 0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_factors_and_pivots(library, dtype):
    for x in lies(matrices((2, 1, 5, 5), dtype)):
        require_near(operators.lu_factor, x)


@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_systems(library, dtype, adjoint):
    def solved(a, b):
        lu, pivots = operators.lu_factor(a)
        return operators.lu_solve(a, lu, pivots, b, adjoint=adjoint)

    for x in lies(matrices((2, 1, 4, 4), dtype) + 4 * np.eye(4, dtype=dtype)):
        for columns in (1, 3, 6):
            b = matrices((*x.shape[:-2], columns, 4), dtype).swapaxes(-1, -2)
            require_near(solved, x, b, steps=2)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_triangles(library, dtype, adjoint, lower):
    def solved(a, b):
        return operators.solve_triangular(a, b, lower=lower, adjoint=adjoint)

    for x in lies(matrices((2, 1, 4, 4), dtype) + 4 * np.eye(4, dtype=dtype)):
        require_near(solved, x, matrices((*x.shape[:-2], 4, 3), dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_factors_of_positive_matrices(library, dtype):
    x = matrices((2, 1, 5, 5), dtype)
    x = (x @ x.conj().swapaxes(-1, -2) + 5 * np.eye(5)).astype(dtype)
    for positive in (x, x[::-1], np.broadcast_to(x[:1], x.shape), x[0, 0]):
        require_near(operators.cholesky, positive)
    require_near(operators.cholesky, x + np.triu(np.full_like(x, np.nan), 1))


@pytest.mark.parametrize(
    "function",
    [ng.linalg.inv, ng.linalg.det, lambda x: ng.linalg.solve(x, x[..., :1] ** 2 + 1),
     lambda x: ng.linalg.cholesky(x + x.mT + 20 * np.eye(4))],
)  # fmt: skip
def test_tensors_and_their_gradients(library, function):
    values = matrices((2, 4, 4), "float64") + 4 * np.eye(4)
    found = []
    for device in ("cpu", "cuda"):
        x = ng.tensor(values, device=device, requires_grad=True)
        y = function(x)
        (g,) = ng.grad((y * y * y).sum(), x)
        found.append([v.detach().cpu().numpy() for v in (y, g, ng.jit(function)(x))])
    assert library.lapack.calls
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(other, one, 1e-9, 1e-9 * np.abs(one).max())


@pytest.mark.parametrize(
    ("function", "bad"),
    [(ng.linalg.inv, np.ones((4, 4))), (ng.linalg.cholesky, -np.eye(4)),
     (lambda x: ng.linalg.solve_triangular(x, x, lower=True), np.tril(np.ones((4, 4)), -1))],
)  # fmt: skip
def test_what_fails_is_an_error(library, function, bad):
    with pytest.raises(ng.errors.MatrixError):
        function(ng.tensor(np.stack([np.eye(4), bad]), device="cuda"))


def test_many_matrices_and_empty_ones_are_left_to_the_host(library):
    many = TARGET.runtime.driver.PROCESSORS + 1
    for shape in ((many, 4, 4), (2, 0, 0)):
        (step,) = TARGET.bind(program_of(operators.lu_factor, np.ones(shape))).steps
        assert isinstance(step, HostCall)


def test_each_stream_has_handles_of_its_own():
    lapack = Lapack()
    calls = solver.Solver(lapack, Blas(), lambda pointers, stream: (pointers, stream))
    form = small_matrices.Form("lu_factor", np.dtype(float), True, False)
    for stream in (5, 6, 5):
        assert calls.scratch(form, 3, 0, stream) == SCRATCH
    assert lapack.streams == [(101, 5), (102, 6), (101, 5)]


def test_the_libraries_are_optional(monkeypatch):
    def missing():
        raise RuntimeError("cuSOLVER\n is not found")

    cublas = SimpleNamespace(get_cudart_version=lambda: 13040)
    for create, is_there in ((missing, False), (lambda: 5, True)):
        lapack = SimpleNamespace(create=create, destroy=lambda handle: None)
        module = SimpleNamespace(cublas=cublas, cusolverDn=lapack)
        monkeypatch.setitem(sys.modules, "nvmath", SimpleNamespace())
        monkeypatch.setitem(sys.modules, "nvmath.bindings", module)
        assert (solver.found(resolved) is not None) == is_there
        assert solver.why_not() == (None if is_there else "RuntimeError: cuSOLVER is not found")
    monkeypatch.setitem(sys.modules, "nvmath.bindings", None)
    assert solver.found(resolved) is None
    assert "nvmath" in solver.why_not()


@pytest.mark.parametrize(("module", "library"), [("cusolverDn", Lapack), ("cublas", Blas)])
def test_the_libraries_are_called_as_they_declare(module, library):
    bindings = pytest.importorskip(f"nvmath.bindings.{module}")
    routines = {name[3:]: one for name, one in vars(library).items() if name.startswith("of_")}
    for letter in solver.LETTERS.values():
        for name, routine in routines.items():
            text = getattr(bindings, letter + name).__doc__.partition(")")[0]
            found = [item.split()[-1] for item in text.partition("(")[2].split(",")]
            assert found == list(inspect.signature(routine).parameters)[2:]
    assert bindings.set_stream.__doc__.startswith("set_stream(intptr_t handle, intptr_t stream")
    assert callable(bindings.create)
    assert callable(bindings.destroy)
