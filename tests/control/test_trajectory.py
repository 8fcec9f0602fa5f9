"""States of a loop, the last first, within a number of snapshots and a number of runs."""

import tracemalloc
from math import comb

import numpy as np
import pytest

import numgrad as ng
from numgrad.control.trajectory import walk_back


def walked(length, most):
    """Return the steps in the order in which their states came, the most states that were kept at
    a time, and how many steps ran."""
    seen, kept, runs = [], {0}, [0]

    def advance(start, stop, state):
        assert state == start
        runs[0] += stop - start
        kept.add(stop)
        return stop

    def record(start, stop, state):
        assert state == start
        runs[0] += stop - start - 1
        return range(start, stop)

    highest = 0
    for start, _, states in walk_back(length, most, 0, advance, record):
        highest = max(highest, len({n for n in kept if n < start} | set(states)))
        seen += list(states)[::-1]
        kept = {n for n in kept if n < start}
    return seen, highest, runs[0]


def test_long_loops_are_walked_in_few_stretches():
    for length, most in ((1_000_000, 163_840), (20_000, 8_388), (1_000, 999)):
        stretches = list(walk_back(length, most, 0, lambda a, b, s: b, lambda a, b, s: [a]))
        assert len(stretches) < 3 * length / most + 50
        assert [s[1] for s in stretches[1:]] == [s[0] for s in stretches[:-1]]


@pytest.mark.parametrize("length", [0, 1, 2, 7, 100, 1000])
@pytest.mark.parametrize("most", [1, 2, 3, 10, 60, 1000])
def test_every_state_comes_once_and_few_are_kept(length, most):
    seen, highest, runs = walked(length, most)
    assert seen == list(range(length))[::-1]
    assert highest <= most + 1  # and the state from which the next step runs
    times = next(r for r in range(1000) if comb(most + r, most) >= length)
    assert runs <= times * length


def test_a_long_loop_stays_within_the_memory_that_is_granted():
    def loss(u, k):
        def step(u, _):
            return u + k * (ng.roll(u, 1) - 2 * u + ng.roll(u, -1)), None

        return (ng.scan(step, u, length=1500)[0] ** 2).sum()

    u, before = np.sin(np.arange(1000.0)), ng.get_flags("loop_memory")
    gradient = ng.func.grad(loss, (0, 1))
    expected = gradient(u, 0.1)
    ng.set_flags(loop_memory=2)
    try:
        gradient(u, 0.1)
        tracemalloc.start()
        found = gradient(u, 0.1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        ng.set_flags(**before)
    assert peak < 3 << 20
    for a, b in zip(found, expected, strict=True):
        assert np.array_equal(a, b)
