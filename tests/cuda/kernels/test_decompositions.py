"""Calls of cuSOLVER for QR factorizations, eigenvalues and singular values, carried out by SciPy in
memory of the host."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.operators.linalg import least_squares, singular_values, spectral
from numgrad.targets.cuda.launch.library_calls import LibraryCalls
from numgrad.targets.cuda.launch.steps import HostCall
from numgrad.targets.cuda.libraries import solver
from numgrad.targets.cuda.program import library_decomposition

from ..programs import TARGET, on_both, program_of, require_equal
from .host_libraries import Decompositions, Lapack, Triangles, require_declared, resolved
from .matrices import FLOATS, made

SIZES = [(5, 3), (3, 5), (4, 4), (1, 3), (3, 1)]


@pytest.fixture(params=[0, 32], ids=["large", "small"])
def library(request, monkeypatch):
    """A library, and the largest matrices that it decomposes together."""
    monkeypatch.setattr(library_decomposition, "MOST_OF_JACOBI", request.param)
    found = Lapack()
    for target in (TARGET, ng.zeros(1, device="cuda").array.target):
        calls = solver.Solver(found, Triangles(), resolved)
        monkeypatch.setattr(target.runtime.driver, "solver", calls, raising=False)
    return found


def few():
    """Return how many matrices are at most decomposed one by one."""
    return TARGET.runtime.driver.PROCESSORS


def pairs_of(function, *arrays):
    """Return pairs of results, of the device and the processor, after a look at the steps."""
    steps = TARGET.bind(program_of(function, *arrays)).steps
    assert [type(step) for step in steps].count(LibraryCalls) == 1
    assert not any(isinstance(step, HostCall) for step in steps)
    return on_both(function, *arrays)


def tolerance(dtype):
    return 2e-4 if np.dtype(dtype).char in "fF" else 1e-11


def lies(x):
    """Return matrices that lie in several ways."""
    turned = np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2)
    return x, x[::-1, ::-1, ::-1], turned, np.broadcast_to(x[:1], x.shape), x[0]


def hermitian(shape, dtype):
    x = made(shape, dtype)
    return x + x.conj().swapaxes(-1, -2)


def require_same_lines(found, expected, tolerance):
    """Compare vectors, as columns, up to a number of size 1 for each."""
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    products = (found.conj() * expected).sum(axis=-2)
    np.testing.assert_allclose(np.abs(products), 1, 10 * tolerance)


@pytest.mark.parametrize("mode", ["reduced", "complete"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_factors_have_the_signs_of_the_processor(library, dtype, mode):
    for m, n in SIZES:
        for x in lies(made((few(), m, n), dtype)):
            pairs = pairs_of(lambda a: least_squares.qr(a, mode=mode), x)
            require_equal(pairs, tolerance(dtype))


def eigenvalues(a, triangle):
    lower = triangle == "L"
    return spectral.eigvalsh(a, spectral.hermitian_reduced(a, lower=lower), lower=lower)


@pytest.mark.parametrize("triangle", ["L", "U"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_eigenvalues_and_vectors(library, dtype, triangle):
    other = np.triu if triangle == "L" else np.tril
    for n in (1, 4):
        whole = hermitian((few(), n, n), dtype)
        unread = other(np.full_like(whole, np.nan), 1 if triangle == "L" else -1)
        for x in (*lies(whole), whole + unread):
            pairs = pairs_of(lambda a: spectral.eigh(a, UPLO=triangle), x)
            require_equal(pairs, tolerance(dtype))  # the routine of NumPy stands in
            pairs = pairs_of(lambda a: eigenvalues(a, triangle), x)
            require_equal(pairs, tolerance(dtype))


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("dtype", FLOATS)
def test_singular_values_and_vectors(library, dtype, full):
    for m, n in SIZES:
        for x in lies(made((few(), m, n), dtype)):
            made_of = pairs_of(
                lambda a: singular_values.svd(a, full_matrices=full, hermitian=False), x
            )
            (u, u_here), (s, s_here), (vh, vh_here) = made_of
            require_equal([(s, s_here)], tolerance(dtype))
            k = s.shape[-1]
            again = (u[..., :k] * s[..., None, :]) @ vh[..., :k, :]
            np.testing.assert_allclose(again, x, tolerance(dtype), tolerance(dtype))
            for one, other in ((u, u_here), (vh.mT, vh_here.mT)):
                assert (one.shape, one.dtype) == (other.shape, other.dtype)
                require_same_lines(one[..., :k], other[..., :k], tolerance(dtype))
                near = one.conj().mT @ one
                eye = np.broadcast_to(np.eye(near.shape[-1]), near.shape)
                np.testing.assert_allclose(near, eye, atol=tolerance(dtype))
            pairs = pairs_of(lambda a: singular_values.svdvals(a, hermitian=False), x)
            require_equal(pairs, tolerance(dtype))


def projected(x):
    """Return what does not depend on the signs of eigenvectors."""
    w, v = ng.linalg.eigh(x + x.mT)
    return w**2, v[..., :2] @ v[..., :2].mT


def low_rank(x):
    u, s, vh = ng.linalg.svd(x, full_matrices=False)
    return s**2, (u[..., :2] * s[..., None, :2]) @ vh[..., :2, :]


@pytest.mark.parametrize(
    "function",
    [ng.linalg.qr, projected, low_rank, lambda x: (ng.linalg.svdvals(x),),
     lambda x: (ng.linalg.eigvalsh(x), ng.linalg.cond(x))],
)  # fmt: skip
def test_tensors_and_their_gradients(library, function):
    values, found = made((2, 4, 4), "float64") + 4 * np.eye(4), []
    for device in ("cpu", "cuda"):
        x = ng.tensor(values, device=device, requires_grad=True)
        y = function(x)
        total = sum([(item * item * item).sum() for item in y])
        (g,) = ng.grad(total, x, create_graph=True)
        (gg,) = ng.grad((g * g).sum(), x)
        again = ng.jit(lambda x: tuple(function(x)))(x)
        found.append([v.detach().cpu().numpy() for v in (*y, g, gg, *again)])
    assert library.calls
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(other, one, 1e-8, 1e-8 * np.abs(one).max())


@pytest.mark.parametrize(
    "function", [ng.linalg.eigh, ng.linalg.eigvalsh, ng.linalg.svd, ng.linalg.svdvals]
)
def test_what_does_not_converge_is_the_error_of_the_processor(library, function):
    values = np.stack([np.eye(4), np.full((4, 4), np.nan)])
    with pytest.raises(ng.errors.MatrixError) as here:
        function(ng.tensor(values))
    with pytest.raises(ng.errors.MatrixError) as there:
        function(ng.tensor(values, device="cuda"))
    # Some say which matrix it is.
    assert str(here.value).partition(" at ")[0] == str(there.value).partition(" at ")[0]


def test_what_fails_on_the_device_alone_is_left_to_the_host(library, monkeypatch):
    """The library may give up where LAPACK finds the result."""
    eigen = Decompositions._eigen

    def failing(self, dtype, jobz, uplo, n, a, w, info):
        eigen(self, dtype, jobz, uplo, n, a, w, info)
        np.frombuffer((np.ctypeslib.ctypes.c_char * 4).from_address(info), "i4")[...] = n + 1

    monkeypatch.setattr(Decompositions, "_eigen", failing)
    x = hermitian((2, 4, 4), "float64")
    require_equal(pairs_of(lambda a: spectral.eigh(a, UPLO="L"), x), 1e-12)


def test_what_is_left_to_the_host(library):
    def is_of_host(function, *shape):
        (step,) = TARGET.bind(program_of(function, np.ones(shape))).steps
        return isinstance(step, HostCall)

    small = library_decomposition.MOST_OF_JACOBI > 0
    assert is_of_host(lambda a: least_squares.qr(a, mode="reduced"), few() + 1, 4, 4)
    assert is_of_host(lambda a: spectral.eigh(a, UPLO="L"), few() + 1, 4, 4) != small
    assert is_of_host(lambda a: singular_values.svdvals(a, hermitian=True), 4, 4)
    assert is_of_host(lambda a: singular_values.svdvals(a, hermitian=False), 2, 0, 4)


def test_settings_of_the_method_are_made_once(library):
    for _ in range(2):
        on_both(lambda a: spectral.eigh(a, UPLO="L"), hermitian((2, 4, 4), "float64"))
    is_small = library_decomposition.MOST_OF_JACOBI > 0
    assert library.calls == (
        ["dsyevj_batched_buffer_size", "dsyevj_batched"] * 2
        if is_small
        else ["dsyevd_buffer_size", "dsyevd", "dsyevd"] * 2
    )


def test_the_library_is_called_as_it_declares():
    bindings = pytest.importorskip("nvmath.bindings.cusolverDn")
    require_declared(bindings, Decompositions)
    for make in set(solver._JACOBI.values()):
        assert getattr(bindings, make).__doc__.startswith(f"{make}() -> intptr_t")
