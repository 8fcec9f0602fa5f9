"""Memory that an operand shares with an object of any kind: derivatives keep what it held."""

import array
import ctypes
from functools import partial

import numpy as np
import pytest
from scipy import sparse

import numgrad as ng
from numgrad._settings import settings

X = np.array([0.5, 1.0, 2.0])
M = np.array([1.0, 2.0, 3.0])
BEFORE = {"f": M, "i": np.array([2, 0, 0]), "b": np.array([True, False, True])}
AFTER = {"f": np.array([7.0, -1.0, 0.5]), "i": np.array([1, 1, 2]), "b": np.array([0, 1, 1], bool)}


class Derived(np.ndarray):
    pass


class Wrapped:
    """An object of another library: it hands out its own memory whatever it is asked for."""

    def __init__(self, elements):
        self.elements = elements

    def __array__(self, dtype=None, copy=None):
        return self.elements


class Described:
    """The same, by a description of where its memory is."""

    def __init__(self, elements):
        self.elements = elements
        self.__array_interface__ = elements.__array_interface__


def read_only(elements):
    view = elements[...]
    view.flags.writeable = False
    return view


def kinds(kind, tmp_path):
    """Yield operands of all kinds with an array that writes their memory."""

    def own(cls=np.ndarray):
        return BEFORE[kind].copy().view(cls)

    mapped = np.memmap(tmp_path / "file", BEFORE[kind].dtype, "w+", shape=(3,))
    mapped[:] = BEFORE[kind]
    yield mapped, mapped
    for cls in (np.ndarray, Derived, np.recarray):
        for seen_as in (lambda x: x, read_only, np.asarray):
            elements = own(cls)
            yield seen_as(elements), elements
    packed = bytearray(BEFORE[kind].tobytes())
    given = np.frombuffer(packed, BEFORE[kind].dtype)
    yield read_only(given), given
    for seen_as in (Wrapped, Described, memoryview, lambda x: memoryview(x).toreadonly()):
        elements = own()
        yield seen_as(elements), elements
    if kind == "f":
        listed = array.array("d", M)
        yield listed, np.frombuffer(listed)
        block = (ctypes.c_double * 3)(*M)
        yield block, np.ctypeslib.as_array(block)


def write(operand, after):
    operand[...] = after


def set_with(x, m):
    y = x * 1
    y[...] = ng.asarray(m)
    return y * x


FUNCTIONS = {
    "f": [
        ng.multiply, lambda x, m: ng.divide(m, x), ng.power, ng.maximum, ng.arctan2, ng.hypot,
        ng.matmul, ng.outer, ng.kron, ng.convolve, ng.special.xlogy, ng.polyval,
        lambda x, m: ng.where(x > 0.7, ng.multiply(x, m), m),
        lambda x, m: ng.clip(x * x, m, 10.0) * x,
        lambda x, m: ng.interp(m, np.array([0.0, 2.0, 4.0]), x),
        lambda x, m: ng.einsum("i,j->ij", x, m),
        lambda x, m: ng.average(x * x, weights=m, keepdims=True),
        lambda x, m: ng.concat([x, m]) ** 2,
        lambda x, m: ng.asarray(m) * x,
        lambda x, m: ng.array(m) * x,
        lambda x, m: ng.tensor(m) * x,
        lambda x, m: ng.asarray(m)[::-1] * x,
        lambda x, m: ng.reshape(m, (3, 1)) * x,
        lambda x, m: ng.stats.norm.logpdf(x, m),
        set_with,
    ],
    "i": [
        lambda x, m: ng.take(x * x, m),
        lambda x, m: ng.choose(m, [x, x * x, x**3]),
        lambda x, m: ng.repeat(x * x, m),
        lambda x, m: ng.bincount(m, weights=x * x),
    ],
    "b": [
        lambda x, m: ng.where(m, x * x, x),
        lambda x, m: ng.sum(x * x, where=m, keepdims=True),
        lambda x, m: ng.compress(m, x * x),
        lambda x, m: ng.select([m], [x * x], x),
    ],
}  # fmt: skip


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("kind", FUNCTIONS)
def test_derivatives_are_those_of_what_an_operand_was(kind, debug, tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "debug", debug)
    for function in FUNCTIONS[kind]:
        expected = derivatives(function, BEFORE[kind], lambda: None)
        for operand, memory in kinds(kind, tmp_path):
            found = derivatives(function, operand, partial(write, memory, AFTER[kind]))
            for part, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(part, other)


def derivatives(function, operand, change):
    """Return the gradient, those of a batch and the second derivative, all after a change."""
    x = ng.tensor(X, requires_grad=True)
    y = function(x, operand)
    seed = np.cos(np.arange(1.0, y.size + 1)).reshape(y.shape)
    change()
    (g,) = ng.grad(y, x, seed, create_graph=True)
    (rows,) = ng.grad(y, x, np.stack([seed, -2 * seed]), is_grads_batched=True, create_graph=True)
    recorded = [(part * part).sum() for part in (g, rows) if part.requires_grad]
    options = {"allow_unused": True, "retain_graph": True}
    seconds = [ng.grad(total, x, **options)[0] for total in recorded]
    return [np.asarray(part.detach()) for part in (g, rows, *seconds) if part is not None]


def test_a_memmap_that_a_time_loop_updates(tmp_path):
    for operator in (np.multiply, ng.multiply, lambda a, b: a * b, lambda a, b: b * a):
        m = np.memmap(tmp_path / "rates", float, "w+", shape=(3,))
        m[:] = M
        x, total = ng.tensor(np.ones(3), requires_grad=True), 0
        for _ in range(3):
            total = total + operator(x, m).sum()
            m += 1
        np.testing.assert_array_equal(ng.grad(total, x)[0], [6.0, 9.0, 12.0])


@pytest.mark.parametrize("cls", [np.ndarray, Derived])
def test_seeds_of_a_recorded_pass_are_kept(cls):
    x = ng.tensor(X, requires_grad=True)
    for shape, options in [((3,), {}), ((2, 3), {"is_grads_batched": True})]:
        seed = np.broadcast_to(M, shape).copy().view(cls)
        (g,) = ng.grad(x**3, x, seed, create_graph=True, **options)
        seed[...] = 0
        (second,) = ng.grad(g.sum(), x)
        np.testing.assert_allclose(second, 6 * X * M * (len(shape) if options else 1), rtol=1e-15)


@pytest.mark.parametrize("cls", [np.ndarray, Derived, np.recarray])
def test_transforms_keep_what_they_were_given(cls):
    def changed(use):
        m = M.copy().view(cls)
        result = use(m)
        m[...] = 0
        return result

    F = ng.func
    np.testing.assert_array_equal(
        changed(lambda m: F.vjp(lambda t: t**3, m)[1])(X)[0], 3 * M**2 * X
    )
    np.testing.assert_array_equal(changed(lambda m: F.vjp(lambda t: t * m, X)[1])(X)[0], M * X)
    np.testing.assert_array_equal(changed(lambda m: F.vjp(lambda t: t, X)[1](m))[0], M)
    np.testing.assert_array_equal(changed(lambda m: F.grad(lambda t: (t * m).sum())(X)), M)
    np.testing.assert_array_equal(changed(lambda m: F.linearize(lambda t: t * m, X)[1])(X), M * X)
    np.testing.assert_array_equal(changed(lambda m: F.vmap(lambda t: t)(m)), M)


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_a_captured_function_reads_anew_what_it_closes_over(kind, tmp_path):
    for function in FUNCTIONS[kind][::5]:
        for operand, memory in kinds(kind, tmp_path):
            captured = ng.jit(lambda x, f=function, m=operand: f(x, m))
            for elements in (BEFORE[kind], AFTER[kind], BEFORE[kind]):
                memory[...] = elements
                expected = function(ng.tensor(X), elements)
                np.testing.assert_array_equal(captured(X), expected)


def test_the_derivative_of_a_captured_call_is_that_of_the_call():
    factors = M.copy().view(Derived)
    captured = ng.jit(lambda x: (x * factors, ng.asarray(factors)))
    x = ng.tensor(X, requires_grad=True)
    y, copied = captured(x)
    factors[...] = 0
    np.testing.assert_array_equal(ng.grad(y.sum(), x)[0], M)
    np.testing.assert_array_equal(copied, M)


@pytest.mark.parametrize("cls", [np.ndarray, Derived, np.recarray])
def test_arguments_of_a_captured_function_are_kept(cls):
    captured = ng.jit(lambda x, m: (x * m * x, m))
    x = ng.tensor(X, requires_grad=True)
    for _ in range(3):
        factors = M.copy().view(cls)
        y, copied = captured(x, factors)
        factors[...] = 0
        np.testing.assert_array_equal(ng.grad(y.sum(), x)[0], 2 * X * M)
        np.testing.assert_array_equal(copied, M)


def test_a_copy_is_one_of_an_object_too():
    elements = M.copy()
    t, copied = ng.tensor(Wrapped(elements)), ng.array(Wrapped(elements))
    shared = ng.asarray(Wrapped(elements))
    elements[...] = 0
    np.testing.assert_array_equal(t, M)
    np.testing.assert_array_equal(copied, M)
    np.testing.assert_array_equal(shared, np.zeros(3))


@pytest.mark.parametrize("cls", [np.ndarray, Derived])
def test_arguments_of_solvers_are_kept(cls):
    S = ng.interop.scipy
    x = ng.tensor(X, requires_grad=True)
    for solve in (
        lambda m: S.root(lambda u, p, m: u**3 * m - p, np.ones(3), args=(x, m)).x,
        lambda m: S.least_squares(lambda u, p, m: u**3 * m - p, np.ones(3), args=(x, m)).x,
        lambda m: S.solve_ivp(lambda t, y, p, m: -y * p * m, (0, 1), M, args=(x, m), t_eval=[1]).y,
    ):
        m = M.copy().view(cls)
        expected = ng.grad(solve(M).sum(), x)[0]
        found = solve(m)
        m[...] = 0.7
        np.testing.assert_allclose(ng.grad(found.sum(), x)[0], expected, rtol=1e-12)


def test_the_places_of_a_sparse_system_are_kept():
    matrix = sparse.csr_array(np.diag(M) + np.diag([1.0, 1.0], 1))
    data = ng.tensor(matrix.data, requires_grad=True)
    given = [matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)]
    y = ng.interop.scipy.spsolve((data, *given), X)
    expected = ng.grad(y.sum(), data, retain_graph=True)[0]
    for places in given:
        places[...] = 0
    np.testing.assert_array_equal(ng.grad(y.sum(), data)[0], expected)
