"""Loops that write arrays part by part, and gradients of arrays that are read so."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.lower import lower
from numgrad.testing import gradcheck
from tests.engine.rolling.rolling_tools import assert_same_bits
from tests.engine.rolling.rolling_tools import rolled as rolled
from tests.sampling import one_in

from .random_writes import random_writes

pytestmark = pytest.mark.short_ways
COUNT = 80
U = np.cos(np.arange(float(COUNT)))


def by_wholes(function, *arrays):
    """Return what a captured function gives where each part is written into a copy of the whole."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("overwriting_of", "scattered_sums_of"):
            patch.setattr(lower, name, lambda *args: None)
        return ng.jit(function, fuse="never")(*arrays)


def stored(p, count=COUNT):
    """The logistic map, each number kept in an array."""
    x = ng.zeros(count)
    x[0] = p[0]
    for t in range(1, count):
        x[t] = p[1] * x[t - 1] * (1 - x[t - 1])
    return x


def driven(u):
    """A number that another element of the array pushes at each turn."""
    x, total = 0.5, 0.0
    for t in range(len(u)):
        x = 0.9 * x + ng.sin(u[t])
        total = total + x * x
    return total


P = np.array([0.4, 3.3])


def test_an_array_that_is_stored_is_one_loop(rolled):
    rolled.check(stored, P, loops=1)
    (program,) = rolled.programs
    assert len(program.instructions) < 60
    assert_same_bits(ng.jit(stored)(P), by_wholes(stored, P))


@pytest.mark.parametrize("function", [lambda p: (stored(p) ** 2).sum(), driven])
def test_gradients_are_loops(rolled, function):
    x = P if function is not driven else U
    gradient = ng.func.grad(function)
    rolled.check(gradient, x, loops=2)
    (program,) = rolled.programs
    assert len(program.instructions) < 60
    assert_same_bits(ng.jit(gradient)(x), by_wholes(gradient, x))
    assert_same_bits(ng.jit(gradient)(x), gradient(x))


@pytest.mark.parametrize("function", [stored, ng.func.grad(driven)])
def test_instructions_are_as_many_as_turns(function, monkeypatch):
    counts = []
    made = lower.Lowering.append

    def noted(self, *args):
        counts[-1] += 1
        return made(self, *args)

    monkeypatch.setattr(lower.Lowering, "append", noted)
    for count in (20, 40):
        counts.append(0)
        x = np.ones(count) if function is not stored else P
        ng.jit(function if function is not stored else lambda p, n=count: stored(p, n))(x)
    assert counts[1] - counts[0] == 20


def test_zeros_have_the_signs_of_the_sum_of_whole_arrays():
    def f(u, v):
        return sum([v[t] * u[t % 7] for t in range(20)])

    u = np.ones(12)
    for v in (-np.zeros(20), np.where(np.arange(20) % 7, -0.0, 1.0)):
        gradient = ng.func.grad(f)
        assert_same_bits(ng.jit(gradient)(u, v), gradient(u, v))
        assert_same_bits(ng.jit(gradient)(u, v), by_wholes(gradient, u, v))


def test_an_array_that_is_read_as_a_whole_in_between():
    def f(p):
        x, sums = ng.zeros(30), []
        for t in range(30):
            x[t] = p[0] * t + p[1]
            if t % 12 == 11:
                sums.append(x.sum())
        return ng.stack([*sums, x.prod()])

    assert_same_bits(ng.jit(f)(P), by_wholes(f, P))
    assert_same_bits(ng.jit(f)(P), f(ng.tensor(P)).numpy())


def test_a_loop_that_writes_where_it_has_written_is_none(rolled):
    def f(p):
        x, y = ng.zeros(3), p[0]
        for _ in range(30):
            y = ng.sin(y)
            x[1] = y
            x[:2] = x[:2] * p[1]
        return x

    rolled.check(f, P)
    assert_same_bits(ng.jit(f)(P), by_wholes(f, P))


def test_gradients_are_those_of_differences():
    p = ng.tensor(P, requires_grad=True)
    assert gradcheck(ng.jit(lambda p: (stored(p, 12) ** 2).sum()), (p,))


@pytest.mark.parametrize("seed", one_in(6, range(24)))
def test_random_writes(rolled, seed):
    function, u = random_writes(np.random.default_rng(seed))
    for f in (function, ng.func.value_and_grad(function)):
        assert_same_bits(rolled.check(f, u), by_wholes(f, u))


@pytest.mark.parametrize("seed", one_in(2, range(24, 30)))
def test_second_derivatives_and_batches_of_random_writes(seed):
    function, u = random_writes(np.random.default_rng(seed))
    hessian = ng.func.hessian(function)
    assert_same_bits(ng.jit(hessian)(u), by_wholes(hessian, u))
    batch = np.stack([u, 1.1 * u])
    mapped = ng.func.vmap(ng.func.value_and_grad(function))
    assert_same_bits(ng.jit(mapped)(batch), by_wholes(mapped, batch))
