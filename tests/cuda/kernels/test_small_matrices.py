"""Factorizations of small matrices on the device, and their systems, beside those of LAPACK."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.operators.linalg import factorization as operators
from numgrad.targets.cuda.launch.steps import HostCall
from numgrad.targets.cuda.program import factorization_launch

from ..programs import TARGET, on_both, program_of, require_equal

RNG = np.random.default_rng(21)
DTYPES = ["float32", "float64", "complex64", "complex128"]
KINDS = [(size, dtype) for size in (1, 2, 5) for dtype in DTYPES]
KINDS += [(8, "float64"), (17, "complex64"), (32, "float32")]


def matrices(shape, dtype):
    """Return matrices that have to be solved with exchanges of rows."""
    found = RNG.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        found = found + 1j * RNG.standard_normal(shape)
    return found.astype(dtype)


def positive(x):
    size = x.shape[-1]
    return (x @ x.conj().swapaxes(-1, -2) + size * np.eye(size)).astype(x.dtype)


def steps_of(function, *arrays):
    return TARGET.bind(program_of(function, *arrays)).steps


def require_near(function, *arrays):
    assert not any(isinstance(step, HostCall) for step in steps_of(function, *arrays))
    require_equal(on_both(function, *arrays), 3e-4 if arrays[0].dtype.char in "fF" else 1e-11)


def system(adjoint, x, b):
    lu, pivots = operators.lu_factor(x)
    return lu, pivots, operators.lu_solve(x, lu, pivots, b, adjoint=adjoint)


@pytest.mark.parametrize(("size", "dtype"), KINDS)
def test_factors_and_pivots_are_those_of_elimination(size, dtype):
    require_near(operators.lu_factor, matrices((3, size, size), dtype))


@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize(("size", "dtype"), KINDS)
def test_systems_are_solved_from_their_factors(size, dtype, adjoint):
    x = matrices((2, size, size), dtype) + np.eye(size, dtype=dtype)[::-1] * size
    for columns in (1, size, 2 * size + 1 if size < 9 else 2):
        b = matrices((2, size, columns), dtype)
        require_near(lambda a, c: system(adjoint, a, c), x, b)
    require_near(lambda a, c: system(adjoint, a, c), x[0], b)  # systems that share their matrix


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_triangles_are_solved(dtype, adjoint, lower):
    for size in (1, 4, 7):
        x = matrices((3, size, size), dtype) + 2 * size * np.eye(size, dtype=dtype)
        for columns in (1, 3, 2 * size + 1):
            b = matrices((3, size, columns), dtype)
            require_near(
                lambda a, c: operators.solve_triangular(a, c, lower=lower, adjoint=adjoint), x, b
            )


@pytest.mark.parametrize(("size", "dtype"), KINDS)
def test_factors_of_positive_matrices(size, dtype):
    x = positive(matrices((3, size, size), dtype))
    x += np.triu(np.full_like(x, np.nan), 1)  # of which the lower triangle alone is read
    require_near(operators.cholesky, x)


@pytest.mark.parametrize("size", [2, 6])
def test_matrices_may_lie_in_any_way(size):
    x = positive(matrices((4, 3, size, size), "float64"))
    turned = x.transpose(1, 0, 3, 2)[:, ::2]
    repeated = np.broadcast_to(x[:1], x.shape)
    for lies in (x, turned, repeated, x[::-1]):
        require_near(operators.cholesky, lies)
        require_near(operators.lu_factor, lies)
        b = matrices((*lies.shape[:2], 3, size), "float64").swapaxes(-1, -2)
        require_near(lambda a, c: system(False, a, c), lies, b)


def test_empty_and_large_matrices_are_left_to_the_host():
    for shape in ((2, 0, 0), (33, 33)):
        steps = steps_of(operators.lu_factor, np.ones(shape) + np.eye(shape[-1]))
        assert [type(step) for step in steps] == [HostCall]
    x = np.ones((0, 3, 3))
    require_near(operators.lu_factor, x)


def test_more_matrices_than_32_bits_number_are_numbered_in_64(monkeypatch):
    monkeypatch.setattr(factorization_launch, "WIDE", 2)
    x = positive(matrices((3, 4, 4), "float64"))
    require_near(operators.cholesky, x)
    require_near(lambda a, c: system(False, a, c), x, x)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_teams_of_threads_share_a_block(size, monkeypatch):
    monkeypatch.setattr(TARGET, "_prepared", {})
    monkeypatch.setattr(TARGET.runtime.driver, "REDUCING", 8)
    for count in (1, 2, 9):
        x = positive(matrices((count, size, size), "complex128"))
        (step,) = steps_of(operators.cholesky, x)
        assert step.launches[0].elements == -(-count // (8 // size))
        require_near(operators.cholesky, x)
        for adjoint in (False, True):
            b = matrices((count, size, 2 * size + 1), "complex128")
            require_near(lambda a, c, adjoint=adjoint: system(adjoint, a, c), x, b)


# As users meet it ---------------------------------------------------------------------------------

FUNCTIONS = {
    "det": ng.linalg.det,
    "inv": ng.linalg.inv,
    "slogdet": lambda x: ng.linalg.slogdet(x)[1],
    "solve": lambda x: ng.linalg.solve(x, x[..., :1] + 1.0),
    "cholesky": lambda x: ng.linalg.cholesky(x + x.mT + 20.0 * np.eye(x.shape[-1])),
    "assume_a": lambda x: ng.linalg.inv(x) @ ng.linalg.solve(x.mT, x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("size", [3, 5])
def test_values_and_derivatives_are_those_of_the_processor(name, size):
    values = matrices((4, size, size), "float64") + 2 * np.eye(size)
    found = []
    for device in ("cpu", "cuda"):
        x = ng.tensor(values, device=device, requires_grad=True)
        y = FUNCTIONS[name](x)
        seeds = ng.tensor(np.random.default_rng(3).standard_normal((2, *y.shape)), device=device)
        (g,) = ng.grad(y, x, seeds, is_grads_batched=True, retain_graph=True)
        (first,) = ng.grad((y * y * y).sum(), x, create_graph=True)
        (second,) = ng.grad((first * first).sum(), x)
        mapped = ng.jit(ng.func.vmap(FUNCTIONS[name]))(x.detach())
        found.append([v.detach().cpu().numpy() for v in (y, g, first, second, mapped)])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(other, one, 1e-8, 1e-8 * np.abs(one).max())


SINGULAR = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])
FAILING = {
    "inv": (ng.linalg.inv, SINGULAR),
    "solve": (lambda x: ng.linalg.solve(x, x[..., :1]), SINGULAR),
    "triangular": (lambda x: ng.linalg.solve_triangular(x, x, lower=True), np.tril(SINGULAR, -1)),
    "cholesky": (ng.linalg.cholesky, -np.eye(3)),
}


@pytest.mark.parametrize("name", FAILING)
def test_errors_are_those_of_the_processor(name):
    function, bad = FAILING[name]
    values = np.stack([np.eye(3), bad, np.eye(3)])
    said = []
    for device in ("cpu", "cuda"):
        for call in (function, ng.jit(function)):
            with pytest.raises(ng.errors.MatrixError) as raised:
                call(ng.tensor(values, device=device)).cpu()
            said.append(str(raised.value))
    for one, other in zip(said[:2], said[2:], strict=True):
        assert other.startswith(one.split(" at ")[0].split(" (")[0])  # and then says where


@pytest.mark.parametrize("name", FAILING)
def test_nan_are_no_failures(name):
    values = np.stack([np.eye(3), np.full((3, 3), np.nan)])
    function = FAILING[name][0]
    expected, found = [
        function(ng.tensor(values, device=device)).cpu().numpy() for device in ("cpu", "cuda")
    ]
    np.testing.assert_allclose(found, expected)


def test_what_fails_by_rounding_on_the_device_alone_is_computed_by_the_host(monkeypatch):
    """The flag says that LAPACK might fail; if it does not, its results are taken."""
    x = np.eye(3)
    x[2, 2] = 0.0
    monkeypatch.setattr(HostCall, "run", _as_if_regular)
    found = ng.linalg.cholesky(ng.tensor(x, device="cuda"))
    np.testing.assert_array_equal(found.cpu().numpy(), np.full((3, 3), 7.0))


def _as_if_regular(self, runtime, blocks, stream=None):
    place, shape, strides = self.arrays[-1]
    memory, first = blocks[place.slot]
    runtime.write(memory, first + place.offset, shape, strides, np.full(shape, 7.0), stream)


def test_singular_matrices_have_determinants_and_gradients():
    values = np.stack([np.eye(4), np.zeros((4, 4)), np.diag([1.0, 2.0, 0.0, 3.0])])
    found = []
    for device in ("cpu", "cuda"):
        x = ng.tensor(values, device=device, requires_grad=True)
        y = ng.linalg.det(x)
        (g,) = ng.grad(y.sum(), x)
        found.append((y.detach().cpu().numpy(), g.cpu().numpy()))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(other, one, 1e-12, 1e-12)
