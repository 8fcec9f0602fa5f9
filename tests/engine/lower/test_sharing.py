"""Equal instructions of a program are one; the derivatives of quotients share what they can."""

from collections import Counter

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare import registry
from numgrad.engine.lower import template as templates
from numgrad.engine.lower.builder import Builder
from numgrad.engine.lower.lower import lower
from numgrad.engine.record.apply import deferring
from numgrad.targets.cpu.schedule import bound_program
from numgrad.targets.null import NullTarget

from ..program_tools import backward_program


def counts(function, *arrays):
    """Return how many instructions of each name compute what ``function`` returns."""
    with ng.no_grad(), deferring(True):
        results = function(*map(ng.tensor, arrays))
        results = results if isinstance(results, tuple) else (results,)
        program = lower(results, NullTarget())
    return Counter(i.name for i in program.instructions)


def gradient_counts(function, *arrays, batch=None):
    """Return how many instructions of each name, and whether with rows, a backward pass has."""
    variables = [ng.tensor(a, requires_grad=True) for a in arrays]
    y = function(*variables)
    seed = ng.tensor(np.ones((*([] if batch is None else [batch]), *y.shape)))
    program = backward_program(y, variables, seed, batch)
    return Counter((i.name, i.rows) for i in program.instructions)


X, Y, D = np.linspace(0.5, 2.0, 6), np.linspace(-1.0, 3.0, 6), np.linspace(1.5, 2.5, 6)


def test_equal_instructions_are_one():
    found = counts(lambda x, y: ng.sin(x) * y + ng.cos(ng.sin(x) * y), X, Y)
    assert found == {"sin": 1, "multiply": 1, "cos": 1, "add": 1}


def test_other_operators_operands_and_dtypes_are_others():
    assert counts(lambda x, y: ng.sin(x) + ng.sin(y) + ng.cos(x), X, Y)["sin"] == 2
    assert counts(lambda x, y: x * y + y * x, X, Y)["multiply"] == 2
    found = counts(lambda x: (ng.sin(x), ng.sin(x.astype(np.float32))), X)
    assert found["sin"] == 2


def test_views_are_the_same_where_they_begin_and_walk_alike():
    assert counts(lambda x: ng.sin(x[1:]) * ng.sin(x[:-1]), X)["sin"] == 2
    assert counts(lambda x: ng.sin(x[1:]) * ng.cos(ng.sin(x[1:])), X)["sin"] == 1
    assert counts(lambda x: ng.sin(x[::2]) * ng.sin(x[:3]), X)["sin"] == 2


def test_a_write_in_between_prevents_it():
    def function(x):
        y = x * 2.0
        before = ng.sin(y)
        y[1:3] = 5.0
        return before, ng.sin(y), y

    captured = ng.jit(function)(X)
    for a, b in zip(captured, function(ng.tensor(X)), strict=True):
        np.testing.assert_array_equal(np.asarray(a), b.numpy())
    assert not np.array_equal(np.asarray(captured[0]), np.asarray(captured[1]))


def test_what_reads_a_buffer_that_is_written_twice_is_not_shared():
    builder = Builder()
    dtype = np.dtype(float)
    x, y, total, first, second, third = [builder.new((4,), dtype, False) for _ in range(6)]
    sin, add = registry["sin"].spec(dtype), registry["add"].spec(dtype)
    builder.emit(sin, [x], [first])
    builder.emit(sin, [x], [total])
    builder.emit(sin, [total], [second])
    builder.emit(add, [total, y], [total])
    builder.emit(sin, [total], [third])
    builder.emit(sin, [x], [y])  # the buffer of an operand
    template = templates.Template(builder, 2, [second, third], templates.Templates(NullTarget()))
    assert [step.same > 0 for step in template.steps] == [True, *[False] * 5]


def test_what_is_written_in_pieces_is_written_again():
    def function(x, y):
        both = ng.concatenate([x, y])
        return ng.flip(ng.exp(both)), ng.exp(both) + 1.0

    captured = ng.jit(function)(X, Y)
    for a, b in zip(captured, function(ng.tensor(X), ng.tensor(Y)), strict=True):
        np.testing.assert_array_equal(np.asarray(a), b.numpy())


def test_equal_results_are_arrays_of_their_own():
    call = ng.jit(lambda x: (ng.sin(x), ng.sin(x), ng.sin(x).clone()))
    results = [np.asarray(r) for r in call(X)]
    for n, a in enumerate(results):
        np.testing.assert_array_equal(a, ng.sin(X).numpy())
        assert not any(np.shares_memory(a, b) for b in results[:n])


def test_a_function_of_a_user_is_called_each_time():
    @ng.elementwise
    def twice(x):
        return x + x

    assert counts(lambda x: twice(x) * twice(x), X)["twice"] == 2


A = np.random.default_rng(0).standard_normal((5, 5)) + 5 * np.eye(5)
WHOLE = {
    "a factor and its solution": lambda a: ng.linalg.solve(a, a[0]),
    "a triangle": lambda a: ng.linalg.cholesky(a @ a.T),
    "several results": lambda a: ng.linalg.eigh(a)[1] @ ng.linalg.eigh(a)[0],
    "products": lambda a: ng.einsum("ij,jk->ik", a, a) @ a[:, 0],
    "sums": lambda a: a / ng.sum(a, axis=0) + ng.max(a),
    "sorted elements": lambda a: ng.sort(a) - ng.median(a),
    "running sums": lambda a: ng.cumsum(a, axis=-1),
    "transforms": lambda a: ng.fft.fft(a).imag,
    "what a matrix decides": lambda a: ng.linalg.slogdet(a)[1] + ng.linalg.det(a),
}


@pytest.mark.parametrize("name", WHOLE)
def test_equal_instructions_of_whole_arrays_are_one(name):
    function = WHOLE[name]
    one = counts(lambda a: ng.exp(function(a)), A)
    assert counts(lambda a: (ng.exp(function(a)), ng.sin(function(a))), A) == one + Counter(["sin"])

    def twice(a):
        return ng.exp(function(a)) * function(a), ng.func.grad(lambda a: function(a).sum())(a)

    for found, expected in zip(ng.jit(twice)(A), twice(A), strict=True):
        np.testing.assert_array_equal(found, np.asarray(expected))


def test_indices_are_checked_once_and_the_first_line_is_blamed():
    def function(x, i):
        first = x[i]
        return first * ng.sin(x)[i]

    captured, i = ng.jit(function), np.array([1, -1])
    np.testing.assert_allclose(captured(X, i), X[i] * np.sin(X)[i], 1e-15)
    line = function.__code__.co_firstlineno + 1
    with pytest.raises(IndexError, match=rf"index 6 is out of bounds .*test_sharing.py:{line} in"):
        captured(X, np.array([1, 6]))


def test_other_static_parameters_and_parts_are_others():
    assert counts(lambda a: a.sum(axis=0) + a.sum(axis=1), A)["sum"] == 2
    assert counts(lambda a: ng.sum(a[:, 1:], axis=1) + ng.sum(a[:, :-1], axis=1), A)["sum"] == 2
    assert counts(lambda a: a @ a[0] + a @ a[1] + a.T @ a[0], A)["matmul"] == 3
    found = counts(lambda a: ng.fft.fft(a, 4).real + ng.fft.fft(a, 4, norm="ortho").real, A)
    assert found["rfft"] == 2


def test_a_kernel_of_a_user_is_called_each_time():
    @ng.operator("(n)->(n)")
    def doubled(x, out):
        for i in range(x.size):
            out[i] = 2 * x[i]

    assert counts(lambda x: doubled(x) * doubled(x), X)["doubled"] == 2


@pytest.mark.parametrize("kept", [1, 2, 5])
def test_templates_that_are_forgotten_in_between_do_no_harm(monkeypatch, kept):
    def function(x, y):
        for _ in range(3):
            x = ng.sin(x / y) * ng.cos(x[::-1] / y) + ng.exp(-ng.sin(x / y))
        return x.sum()

    expected = ng.func.grad(function, argnums=(0, 1))(ng.tensor(X), ng.tensor(D))
    monkeypatch.setattr(templates, "_KEPT", kept)
    ng.set_flags()  # all templates are forgotten
    found = ng.jit(ng.func.grad(function, argnums=(0, 1)))(X, D)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(a), b.numpy())


# Quotients ----------------------------------------------------------------------------------------


def quotients(x, y, d):
    return x / d + ng.sin(y / d) * ng.cos(x * y / d)


@pytest.mark.parametrize("batch", [None, 3])
def test_the_gradients_of_quotients_by_one_denominator_divide_once(batch):
    found = gradient_counts(quotients, X, Y, D, batch=batch)
    divisions = {key: n for key, n in found.items() if key[0] in ("divide", "reciprocal")}
    assert divisions == {("reciprocal", False): 1}
    assert found["quotient_slope", False] == 3


def test_a_row_takes_one_multiplication_for_each_gradient_of_a_quotient():
    found = gradient_counts(lambda x, d: x / d, X, D, batch=3)
    assert {key: n for key, n in found.items() if key[1]} == {("multiply", True): 2}


@pytest.mark.usefixtures("default_fusing")
def test_a_captured_gradient_divides_once_beyond_its_quotients(monkeypatch):
    programs = []
    original = bound_program.BoundProgram.__init__

    def noted(self, program, target):
        programs.append(program)
        original(self, program, target)

    monkeypatch.setattr(bound_program.BoundProgram, "__init__", noted)
    gradient = ng.func.grad(lambda *args: quotients(*args).sum(), argnums=(0, 1, 2))
    ng.jit(gradient)(X, Y, D)
    found = Counter(i.name for program in programs for i in program.instructions)
    assert found["divide"] == 3
    assert found["reciprocal"] == 1
