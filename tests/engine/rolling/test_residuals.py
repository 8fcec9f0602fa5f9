"""Loops that read what earlier loops have computed."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.rolling import roll
from numgrad.errors import OperatorError

from .rolling_tools import assert_same_bits, rolled  # noqa: F401  a fixture

pytestmark = pytest.mark.skipif(
    ng.get_flags("path")["path"] == "reference", reason="nothing is rolled on the reference path"
)

START = np.array([0.1, -0.4, 0.7])
X = np.linspace(-0.9, 1.1, 40)


def functions(loop):
    return [spec.name for spec, _ in loop.pattern.spec.steps]


def scanned(step, c, x=X, **options):
    return ng.scan(lambda c, x: (step(c, x), c[0] * x), c, x, **options)


def swinging(c, x):
    return c * 0.9 + ng.exp(-c * c) * x


def total(c, **options):
    last, seen = scanned(swinging, c, **options)
    return (last * last).sum() + seen.sum()


@pytest.mark.parametrize("reverse", [False, True])
def test_the_reverse_reads_what_the_loop_has_computed(rolled, reverse):  # noqa: F811
    gradient = ng.func.value_and_grad(lambda c: total(c, reverse=reverse))
    rolled.check(gradient, START, loops=2)
    forward, backward = map(functions, rolled.loops)
    assert forward.count("exp") == 3
    assert "exp" not in backward


def test_tangents_and_higher_orders_have_the_same_bits(rolled):  # noqa: F811
    rolled.check(lambda c: ng.func.jvp(total, (c,), (c - 1,)), START)
    rolled.check(ng.func.hessian(total), START)
    rolled.check(ng.func.grad(lambda c: ng.func.grad(lambda c: total(c)[()])(c).sum()), START)


def test_rows_read_what_was_computed_once(rolled):  # noqa: F811
    def f(c):
        return scanned(swinging, c)[1]

    found = rolled.check(ng.func.jacrev(f), START, loops=2)
    forward, backward = rolled.loops
    assert backward.pattern.rows
    assert not forward.pattern.rows
    assert "exp" not in functions(backward)
    assert_same_bits(found, ng.func.jacrev(f)(START))


def test_samples_have_residuals_of_their_own(rolled):  # noqa: F811
    rows = np.linspace(-1, 1, 12).reshape(4, 3)
    found = rolled.check(ng.func.vmap(ng.func.grad(total)), rows)
    assert_same_bits(found, np.stack([ng.func.grad(total)(row) for row in rows]))


@pytest.fixture
def two_megabytes():
    before = ng.get_flags("loop_memory")
    ng.set_flags(loop_memory=2)
    yield
    ng.set_flags(**before)


def test_memory_that_is_not_granted_is_not_taken(rolled, two_megabytes):  # noqa: F811
    long = np.tile(X, 800)

    def gradient(c):
        return ng.func.grad(lambda c: total(c, x=long, checkpoint=None))(c)

    # The states take 0.77 MB, and what is read 0.26; the residuals 1.5.
    found = rolled.check(gradient, START)
    assert functions(rolled.loops[1]).count("exp") == 3
    ng.set_flags(loop_memory=4)
    assert_same_bits(rolled.check(gradient, START), found)
    assert "exp" not in functions(rolled.loops[1])


def test_an_array_that_was_written_meanwhile_is_another(rolled):  # noqa: F811
    def f(c, x):
        x = x * 1.0
        last, seen = ng.scan(lambda c, x: (c * ng.exp(x), c), c, x)
        x[3:] = 0.5
        again, _ = ng.scan(lambda c, x: (c + ng.exp(x[0]), None), last, ng.stack([x, seen], 1))
        return again

    rolled.check(f, np.array(0.3), X)
    rolled.check(ng.func.grad(f, (0, 1)), np.array(0.3), X)


def test_a_loop_of_fewer_turns_goes_with_some_of_them(rolled):  # noqa: F811
    def f(c, x):
        last, seen = ng.scan(lambda c, x: (c * 0.5 + ng.exp(x), c + ng.exp(x)), c, x)
        again, _ = ng.scan(lambda c, z: (c + ng.exp(z[0]) * z[1], None), last,
                           (x[5:30], seen[5:30]))  # fmt: skip
        return again

    rolled.check(f, np.array(0.3), X, loops=2)
    assert "exp" not in functions(rolled.loops[1])


@pytest.mark.parametrize("of", [
    lambda c: ng.abs(c) ** 1.5, lambda c: 1.5 ** c, ng.cbrt, lambda c: ng.hypot(c, 0.3),
])  # fmt: skip
def test_slopes_read_the_value_that_they_are_made_of(rolled, of):  # noqa: F811
    gradient = ng.func.grad(lambda c: scanned(lambda c, x: of(c) * 0.3 + x, c)[0].sum())
    rolled.check(gradient, START, loops=2)
    forward, backward = map(functions, rolled.loops)
    (name,) = {"pow", "cbrt", "hypot"} & {*forward}
    assert name not in backward
    assert {"base_slope", "exponent_slope", "cbrt_slope", "leg_share"}.isdisjoint(backward)


def test_the_loops_are_the_only_difference(rolled, monkeypatch):  # noqa: F811
    gradient = ng.func.grad(total)
    found = rolled.check(gradient, START)
    monkeypatch.setattr(roll, "with_residuals", lambda program: program)
    assert_same_bits(rolled.check(gradient, START), found)
    assert functions(rolled.loops[1]).count("exp") == 3


# Zeros that are added -----------------------------------------------------------------------------


def test_zeros_of_other_elements_are_not_added(rolled):  # noqa: F811
    def f(p):
        def step(c, x):
            return c * p[0] + p[1] * ng.sin(c * p[2]), None

        return ng.scan(step, p[0] * 0.3, X)[0]

    rolled.check(ng.func.grad(f), START, loops=2)
    assert functions(rolled.loops[1]).count("add") < 10  # 18 with zeros


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_zero_is_added_where_it_changes_a_bit(rolled, zero):  # noqa: F811
    def f(c, x):
        return ng.scan(lambda c, x: (c * x + zero, (c + zero, zero + x, x + 0.0 + zero)), c, x)

    rolled.check(f, np.array(-0.0), np.array([-0.0, 0.0, 1.0, -1.0] * 5), loops=1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_sum_of_negative_zeros_is_zero(rolled, dtype):  # noqa: F811
    def f(c):
        return ng.scan(lambda c, _: (c * 1, (c.sum(), -(-c).sum(), c[:1].sum())), c, length=20)

    def python(c):
        seen = []
        for _ in range(20):
            c = c * 1
            seen.append(c.sum())
        return ng.stack(seen)

    for run in (f, python):
        rolled.check(run, -np.zeros(4, dtype))
        assert rolled.loops


# What is the same at all turns --------------------------------------------------------------------


@ng.elementwise
def careful_root(x):
    if x < 0:
        raise ValueError("no root")
    return x**0.5


def test_what_all_turns_share_is_refused_by_loops_that_run(rolled):  # noqa: F811
    def f(c, p, count):
        return ng.scan(lambda c, _: (c + careful_root(p), None), c, length=count)[0]

    start, bad = np.array(0.3), np.array(-4.0)
    rolled.check(lambda c, p: f(c, p, 20), start, np.array(4.0))
    for way in (f, ng.jit(f, fuse="now", static_argnums=2)):
        assert float(way(start, bad, 0)) == 0.3
        with pytest.raises(OperatorError, match="no root"):
            way(start, bad, 20)
