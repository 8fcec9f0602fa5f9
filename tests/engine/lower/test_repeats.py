"""Expressions of a loop are lowered turn by turn or at once: the program is the same."""

import importlib

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.lower import repeats

lowering = importlib.import_module("numgrad.engine.lower.lower")
partition = importlib.import_module("numgrad.func.tracing.partition")


def chain(x):
    for _ in range(300):
        x = ng.sin(x) * 1.01
    return x.sum()


def driven(x):
    total = x * 0.0
    for push in np.sin(np.arange(150.0)):
        x = x + 0.1 * (push - x * x)
        total = total + x
    return total.sum()


def looking_back(x):
    before, now = x, x * 0.5
    for _ in range(200):
        before, now = now, 0.3 * before - now * (before - 2.0)
    return now.sum()


def meeting_again(x):
    """Compute in a second loop, and once between the loops, what the first one has computed."""
    states = [x]
    for _ in range(150):
        states.append(ng.cos(states[-1]) * 0.9 + x)
    total = ng.exp(states[70])
    for state in states:
        total = total + ng.cos(state) * ng.exp(state)
    return total.sum()


def by_slices(x):
    for _ in range(60):
        inner = x[1:-1] + 0.1 * (x[2:] - 2 * x[1:-1] + x[:-2])
        x = ng.concatenate([x[:1], inner, x[-1:]])
    return (x * x).sum()


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("f", [chain, driven, looking_back, meeting_again, by_slices])
def test_turns_at_once_leave_the_program_of_single_expressions(f, order, monkeypatch):
    for _ in range(order):
        f = ng.func.grad(lambda x, f=f: f(x).sum())
    lower, made = lowering.lower, []

    def both(*args, **options):
        made.append(lower(*args, **options))
        with monkeypatch.context() as patch:
            patch.setattr(lowering, "FEWEST", 1 << 60)
            other = lower(*args, **options)
        program = made[-1]
        assert str(program) == str(other)
        assert [i.site for i in program.instructions] == [i.site for i in other.instructions]
        assert (program.nbytes, program.results) == (other.nbytes, other.results)
        assert program.arrays.keys() == other.arrays.keys()
        return program

    at_once = []
    append = repeats._Repetition.append
    monkeypatch.setattr(
        repeats._Repetition, "append", lambda self: (at_once.append(self), append(self))
    )
    monkeypatch.setattr(partition, "lower", both)
    ng.jit(f, fuse="never")(np.linspace(0.1, 0.6, 5))
    assert made
    assert at_once
