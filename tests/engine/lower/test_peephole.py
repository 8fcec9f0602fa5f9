"""What is negated only to be added is subtracted, with the same bits."""

from collections import Counter

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare import registry
from numgrad.engine.lower.builder import Builder
from numgrad.engine.lower.lower import force, lower
from numgrad.engine.lower.peephole import Signs
from numgrad.engine.lower.template import Computed, Template, Templates
from numgrad.engine.record.apply import deferring, runtime
from numgrad.ir.program import Program
from numgrad.targets.cpu.schedule import bound_program
from numgrad.targets.null import NullTarget

SPECIAL = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan]
X, Y = (a.ravel() for a in np.meshgrid(SPECIAL, SPECIAL))


def lowered(function, *arrays):
    """Return the results of ``function`` computed as one program, and its instructions."""
    with ng.no_grad(), deferring(True):
        results = function(*map(ng.tensor, arrays))
        results = results if isinstance(results, tuple) else (results,)
        program = lower(results, runtime.target)
    force(results)
    return [r.array for r in results], Counter(i.name for i in program.instructions)


def check(function, *arrays, **expected):
    """Check the instructions of a program, and that its bits are those of one by one."""
    found, names = lowered(function, *arrays)
    assert names == expected
    single = function(*map(ng.tensor, arrays))
    for a, b in zip(found, single if isinstance(single, tuple) else (single,), strict=True):
        np.testing.assert_array_equal(a, b.numpy())
        np.testing.assert_array_equal(
            np.signbit(a.real)[~np.isnan(a)], np.signbit(b.numpy().real)[~np.isnan(a)]
        )


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_adding_a_negated_value_is_subtracting_it(dtype):
    x, y = X.astype(dtype), Y.astype(dtype)
    check(lambda x, y: x + -(y * x), x, y, multiply=1, subtract=1)
    check(lambda x, y: -(y * x) + x, x, y, multiply=1, subtract=1)
    check(lambda x, y: x - -(y * x), x, y, multiply=1, add=1)


def test_all_that_read_it_are_changed_through_views_too():
    def function(x, y):
        minus = -(x * y)
        return x[1:] + minus[1:], minus[::2] + y[::2], ng.roll(minus, 2) + x

    check(function, X, Y, multiply=1, subtract=4)


def test_a_negation_that_others_read_stays():
    check(lambda x, y: x + -(z := x * y) + ng.sin(-z), X, Y, multiply=1, negative=1, add=2, sin=1)
    check(lambda x, y: -(x * y) - x, X, Y, multiply=1, negative=1, subtract=1)


def test_a_negation_that_is_a_result_stays():
    def function(x, y):
        minus = -(x * y)
        return minus, x + minus

    check(function, X, Y, multiply=1, negative=1, add=1)


def test_of_two_negations_that_are_added_one_stays():
    check(lambda x, y: -(x * y) + -(x + y), X, Y, multiply=1, add=1, subtract=1, negative=1)
    check(lambda x, y: (m := -(x * y)) + m, X, Y, multiply=1, add=1, negative=1)


def test_integers_and_what_does_not_begin_with_its_buffer_keep_theirs():
    check(lambda x, y: x + -(x * y), np.arange(4), np.arange(4), multiply=1, negative=1, add=1)
    check(lambda x, y: y[1:] + -(x * y)[1:], X, Y, multiply=1, negative=1, add=1)


@pytest.mark.parametrize("overwritten", [True, False])
def test_what_is_overwritten_in_between_is_negated_before(overwritten):
    target, dtype = NullTarget(), np.dtype(float)
    builder = Builder()
    x, y, minus, total = [builder.new((4,), dtype, False) for _ in range(4)]
    sin, negative, add = [registry[name].spec(dtype) for name in ("sin", "negative", "add")]
    builder.emit(sin, [x], [y])
    builder.emit(negative, [y], [minus])
    if overwritten:
        builder.emit(sin, [x], [y])
    builder.emit(add, [x, minus], [total])
    known = Templates(target)
    program = Program()
    Template(builder, 1, [total], known).append_to(
        program, [program.new_buffer(32, False)], [0], None, Computed()
    )
    known.signs.simplify(program)
    expected = ["sin", "negative", "sin", "add"] if overwritten else ["sin", "subtract"]
    assert [i.pattern.spec.name for i in program.instructions] == expected


@pytest.mark.usefixtures("default_fusing")
def test_the_gradient_of_an_integrator_of_differences_negates_nothing(monkeypatch):
    programs = []
    original = bound_program.BoundProgram.__init__

    def noted(self, program, target):
        programs.append(program)
        original(self, program, target)

    def jacobian():
        x = ng.tensor(start, requires_grad=True)
        y = x
        for _ in range(3):
            y = y + 0.01 * ((ng.roll(y, -1) - ng.roll(y, 2)) * ng.roll(y, 1) - y)
        return ng.grad(y, x, np.eye(9), is_grads_batched=True)[0].numpy()

    start = np.linspace(7.0, 9.0, 9)
    monkeypatch.setattr(bound_program.BoundProgram, "__init__", noted)
    found = jacobian()
    assert all(i.name != "negative" for program in programs for i in program.instructions)
    monkeypatch.setattr(Signs, "simplify", lambda self, program: None)
    np.testing.assert_array_equal(found, jacobian())
    assert any(i.name == "negative" for program in programs for i in program.instructions)
