"""Loops that operators are, such as `ng.scan`, in programs: kernels that need no Python."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.lower import executable
from numgrad.engine.lower.verify import check_program
from numgrad.engine.rolling.given_loops import with_given_loops
from numgrad.ir.kernel_spec import HostSpec

from .rolling_tools import assert_same_bits, rolled  # noqa: F401  a fixture

pytestmark = pytest.mark.skipif(
    ng.get_flags("path")["path"] == "reference", reason="nothing is rolled on the reference path"
)

X = np.linspace(-0.9, 1.1, 21).reshape(7, 3)
START = np.array([0.1, -0.4, 0.7])


def step(c, x):
    c = c * 0.5 + ng.sin(x * c) - ng.stack([c[2], c[0], x[1]]) * 0.1
    return c, (c.sum() * x[0], c[::-1])


def loss(c, x, reverse=False):
    last, (totals, turned) = ng.scan(step, c, x, reverse=reverse)
    return (last * totals[2]).sum() + (turned * turned).sum()


def names(rolled):  # noqa: F811
    return [i.name for program in rolled.programs for i in program.instructions]


def calls(rolled):  # noqa: F811
    found = [i.pattern.spec for program in rolled.programs for i in program.instructions]
    return [spec for spec in found if isinstance(spec, HostSpec)]


@pytest.mark.parametrize("reverse", [False, True])
def test_values_gradients_and_batches(rolled, reverse):  # noqa: F811
    def f(c, x):
        return loss(c, x, reverse)

    rolled.check(f, START, X, loops=1)
    rolled.check(ng.func.value_and_grad(f, (0, 1)), START, X, loops=2)
    assert not calls(rolled)
    rolled.check(lambda c, x: ng.func.jvp(f, (c, x), (c * 0.3, x - 1)), START, X)
    rolled.check(ng.func.hessian(f), START, X)
    assert rolled.loops


def test_jacobians_are_those_of_single_rows(rolled):  # noqa: F811
    def f(c, x):
        return ng.scan(step, c, x)[1][1]

    found = rolled.check(ng.func.jacobian(f), START, X)
    assert rolled.loops
    assert_same_bits(found, ng.func.jacobian(f)(START, X))


def test_integers_booleans_and_one_step(rolled):  # noqa: F811
    def counts(c, x):
        y, n, above = c
        y = y * 0.7 + x
        return (y, n + (y > 0), above | (y > 1)), n

    def f(x):
        (y, n, above), seen = ng.scan(counts, (0.5, 0, False), x)
        return y, n, above, seen

    rolled.check(f, X[:, 0].copy(), loops=1)
    rolled.check(f, X[:1, 0].copy(), loops=1)


def test_results_that_nobody_reads_are_not_stored(rolled):  # noqa: F811
    rolled.check(lambda c, x: ng.scan(step, c, x)[0], START, X, loops=1)
    (loop,) = rolled.loops
    assert len(loop.buffers) - loop.pattern.nin == 1


def test_loops_of_no_steps_and_on_many_numbers_are_called(rolled):  # noqa: F811
    def wide(c, x):
        return c * 0.9 + ng.sin(x), None

    many = np.linspace(0.0, 1.0, 20_000).reshape(2, -1)
    for f, *args in (
        (lambda c, x: ng.scan(step, c, x[:0])[0], START, X),
        (lambda c, x: ng.scan(wide, c, x)[0], many[0], many),
    ):
        found = ng.jit(f, fuse="now")(*args)
        assert not rolled.loops
        assert_same_bits(found, ng.jit(f, fuse="never")(*args))


def test_loops_of_loops(rolled):  # noqa: F811
    def outer(c, x):
        inner, _ = ng.scan(lambda k, y: (k * 0.9 + ng.sin(y) * c, None), 0.3, x)
        return ng.tanh(c * 0.5 + inner), inner

    f = ng.func.value_and_grad(lambda x: ng.scan(outer, 0.2, x)[1].sum())
    found = ng.jit(f, fuse="now")(X)
    assert rolled.loops
    assert_same_bits(found, f(X))


def test_a_program_with_calls_is_valid_and_keeps_its_results():
    made = []
    bind = executable._bound

    def noted(program, target, before=None):
        made.append(program)
        return bind(program, target, before)

    executable._bound = noted
    try:
        expected = ng.jit(lambda c, x: loss(c, x), fuse="never")(START, X)
    finally:
        executable._bound = bind
    program = with_given_loops(made[0])
    check_program(program)
    assert [ref.layout for ref in program.results] == [ref.layout for ref in made[0].results]
    assert_same_bits(ng.jit(lambda c, x: loss(c, x), fuse="now")(START, X), expected)
