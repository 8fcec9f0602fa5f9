"""Loops that read windows, columns and strided parts of arrays, or write them, are rolled."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.lower import lower
from numgrad.func.tracing import partition
from numgrad.testing import gradcheck
from tests.engine.rolling.rolling_tools import assert_same_bits
from tests.engine.rolling.rolling_tools import rolled as rolled
from tests.sampling import one_in

from .random_windows import random_windows
from .test_written_parts import by_wholes

pytestmark = pytest.mark.short_ways
COUNT = 60
WEIGHTS = np.array([0.2, 0.3, 0.4])
RNG = np.random.default_rng(0)


def window(u, count=COUNT):
    """Average over a window that moves on by one element."""
    x = 0.5
    for t in range(count):
        x = 0.9 * x + (u[t : t + 3] * WEIGHTS).sum()
    return x


def centred(u, count=COUNT):
    """Read an element with its neighbours, whose squares are added."""
    x, cost = u[:3], 0.0
    for t in range(1, count):
        x = 0.5 * x + u[t - 1 : t + 2]
        cost = cost + (x * x).sum()
    return cost


def column(m, count=COUNT):
    x, cost = m[:, 0], 0.0
    for t in range(1, count):
        x = 0.9 * x + 0.1 * m[:, t]
        cost = cost + (x * x).sum()
    return cost


def part_of_a_row(m, count=COUNT):
    m = m.T
    x, cost = m[0, :2], 0.0
    for t in range(1, count):
        x = 0.9 * x + ng.sin(m[t, :2])
        cost = cost + (x * x).sum()
    return cost


def every_second(u, count=COUNT):
    x, cost = u[:6:2], 0.0
    for t in range(1, count):
        x = 0.9 * x + u[2 * t : 2 * t + 6 : 2]
        cost = cost + (x * x).sum()
    return cost


def from_the_end(u, count=COUNT):
    x = 0.5
    for t in range(count, 0, -1):
        x = 0.9 * x + (u[t + 2 : t - 1 : -1] * WEIGHTS).sum()
    return x


def filtered(u, count=COUNT):
    """Write what a window gives, and read windows of what was written."""
    y = ng.zeros(count)
    y[:3] = u[:3]
    for t in range(3, count):
        y[t] = (y[t - 3 : t] * WEIGHTS).sum() + 0.1 * u[t]
    return (y * y).sum()


def columns_written(u, count=COUNT):
    x = ng.zeros((3, count))
    x[:, 0] = u[:3]
    for t in range(1, count):
        x[:, t] = 0.9 * x[:, t - 1] * u[:3]
    return (x * x).sum()


MATRIX = RNG.standard_normal((3, COUNT))
LINE = RNG.standard_normal(3 * COUNT)
LOOPS = {
    window: LINE, centred: LINE, column: MATRIX, part_of_a_row: MATRIX, every_second: LINE,
    from_the_end: LINE, filtered: LINE, columns_written: LINE,
}  # fmt: skip
NAMES = [function.__name__ for function in LOOPS]


@pytest.mark.parametrize("function", LOOPS, ids=NAMES)
def test_loops_and_those_of_gradients_are_rolled(rolled, function):
    x = LOOPS[function]
    for f, loops in ((function, 1), (ng.func.value_and_grad(function), 2)):
        rolled.check(f, x, loops=loops)
        (program,) = rolled.programs
        assert len(program.instructions) < 100
        assert_same_bits(ng.jit(f)(x), by_wholes(f, x))


@pytest.mark.parametrize("function", LOOPS, ids=NAMES)
def test_gradients_are_those_of_differences(function):
    x = ng.tensor(LOOPS[function][..., :30], requires_grad=True)
    assert gradcheck(ng.jit(lambda x: function(x, 10)), (x,))


@pytest.mark.parametrize("function", [window, column, every_second, filtered, columns_written])
def test_instructions_are_as_many_as_turns(function, monkeypatch):
    counts = []
    made = lower.lower

    def noted(*args, **options):
        program = made(*args, **options)
        counts.append(sum([i.pattern.work for i in program.instructions]))
        return program

    monkeypatch.setattr(partition, "lower", noted)
    x = np.ones((3, 200) if function is column else 600)
    for count in (40, 60, 80):
        ng.jit(ng.func.grad(lambda x, n=count: function(x, n)), fuse="never")(x)
    assert counts[2] - counts[1] == counts[1] - counts[0]


def test_an_element_that_all_windows_read_keeps_the_sign_of_zero():
    def f(u, v):
        return sum([(u[t % 3 : 4] * v[t]).sum() for t in range(14)])

    u = np.ones(6)
    for v in (-np.zeros(14), np.where(np.arange(14) % 3, -0.0, 1.0)):
        gradient = ng.func.grad(f)
        assert_same_bits(ng.jit(gradient)(u, v), gradient(u, v))
        assert_same_bits(ng.jit(gradient)(u, v), by_wholes(gradient, u, v))


@pytest.mark.parametrize("seed", one_in(6, range(24)))
def test_random_windows(rolled, seed):
    function, u = random_windows(np.random.default_rng(seed), 30)
    for f in (function, ng.func.value_and_grad(function)):
        assert_same_bits(rolled.check(f, u), by_wholes(f, u))


@pytest.mark.parametrize("seed", one_in(4, [25, 24, 26, 27]))
def test_long_random_windows(seed):
    function, u = random_windows(np.random.default_rng(seed), 300 if seed % 2 else 900)
    for f in (function, ng.func.value_and_grad(function)):
        assert_same_bits(ng.jit(f, fuse="now")(u), by_wholes(f, u))


@pytest.mark.parametrize("seed", one_in(2, range(28, 32)))
def test_second_derivatives_and_batches_of_random_windows(seed):
    function, u = random_windows(np.random.default_rng(seed), 14)
    hessian = ng.func.hessian(function)
    assert_same_bits(ng.jit(hessian)(u), by_wholes(hessian, u))
    batch = np.stack([u, 1.1 * u])
    mapped = ng.func.vmap(ng.func.value_and_grad(function))
    assert_same_bits(ng.jit(mapped)(batch), by_wholes(mapped, batch))
