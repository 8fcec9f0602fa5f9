"""Expressions of a loop are lowered turn by turn or at once: the program is the same."""

import importlib

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.lower.repetition import Repetition

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


def with_parameters(x):
    """Read the same elements in each turn."""
    state = x[0] * 1.0
    for _ in range(120):
        state = state + 0.1 * (x[1] * state * (1.0 - state / x[2]))
    return state


def by_moving_elements(x):
    """Read another element, another row and another window in each turn, up and down."""
    u = ng.concatenate([x] * 60)
    rows, state = u.reshape(60, 5), x[:3] * 1.0
    for t in range(50):
        state = 0.5 * state + ng.sin(u[t : t + 3] * rows[49 - t, 1]) + rows[t][1:4] * u[250 - 2 * t]
    return (state * state).sum()


def by_pieces(x):
    """Read a moving window of what lies in two pieces."""
    half = ng.concatenate([x] * 40) * 1.0
    joined = ng.concatenate([half, half * 2.0])
    state = x[:2] * 1.0
    for t in range(0, 380, 2):
        state = 0.9 * state + joined[t : t + 2] * 0.1
    return state.sum()


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize(
    "f",
    [
        chain, driven, looking_back, meeting_again, by_slices, with_parameters, by_moving_elements,
    ],
)  # fmt: skip
def test_turns_at_once_leave_the_program_of_single_expressions(f, order, compared):
    for _ in range(order):
        f = ng.func.grad(lambda x, f=f: f(x).sum())
    ng.jit(f, fuse="never")(np.linspace(0.1, 0.6, 5))
    assert compared.programs
    assert compared.at_once


@pytest.mark.parametrize("order", [0, 1])
def test_turns_that_read_other_pieces_are_told_apart(order, compared):
    f = ng.func.grad(by_pieces) if order else by_pieces
    ng.jit(f, fuse="never")(np.linspace(0.1, 0.6, 5))
    assert compared.programs


class Compared:
    """The programs that were lowered in both ways, and the repetitions lowered at once."""

    def __init__(self):
        self.programs, self.at_once = [], []


@pytest.fixture
def compared(monkeypatch):
    """Lower each program of a captured function in both ways, and compare them."""
    found, lower = Compared(), lowering.lower

    def both(*args, **options):
        program = lower(*args, **options)
        found.programs.append(program)
        with monkeypatch.context() as patch:
            patch.setattr(lowering, "FEWEST", 1 << 60)
            other = lower(*args, **options)
        assert str(program) == str(other)
        assert [i.site for i in program.instructions] == [i.site for i in other.instructions]
        assert (program.nbytes, program.results) == (other.nbytes, other.results)
        assert program.arrays.keys() == other.arrays.keys()
        return program

    append = Repetition.append
    monkeypatch.setattr(
        Repetition, "append", lambda self: (found.at_once.append(self), append(self))
    )
    monkeypatch.setattr(partition, "lower", both)
    return found
