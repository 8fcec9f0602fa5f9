"""Calls of cuSOLVER for large matrices, carried out by SciPy in memory of the host."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import numgrad as ng
from numgrad.operators.linalg import factorization as operators
from numgrad.targets.cuda.kernels import small_matrices
from numgrad.targets.cuda.launch.library_calls import Call, LibraryCalls
from numgrad.targets.cuda.launch.steps import HostCall
from numgrad.targets.cuda.libraries import solver

from ..programs import TARGET, on_both, program_of, require_equal
from .host_libraries import SCRATCH, Factorizations, Triangles, require_declared, resolved

RNG = np.random.default_rng(31)
DTYPES = ["float32", "float64", "complex64", "complex128"]


@pytest.fixture
def library(monkeypatch):
    """A library, and matrices of three rows are large."""
    monkeypatch.setattr(small_matrices, "MOST", 2)
    found = SimpleNamespace(lapack=Factorizations(), blas=Triangles())
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
    assert [type(step) for step in made].count(LibraryCalls) == steps
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
    lapack = Factorizations()
    calls = solver.Solver(lapack, Triangles(), lambda pointers, stream: (pointers, stream))
    call = Call("getrf", (), (3, 3, "matrix", 3))
    for stream in (5, 6, 5):
        assert calls.scratch(call, np.dtype(float), {"matrix": 0}, stream) == SCRATCH
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


@pytest.mark.parametrize(
    ("module", "library"), [("cusolverDn", Factorizations), ("cublas", Triangles)]
)
def test_the_libraries_are_called_as_they_declare(module, library):
    require_declared(pytest.importorskip(f"nvmath.bindings.{module}"), library)
