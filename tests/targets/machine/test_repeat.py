"""Repeated runs of a program against a loop in Python, and where they end."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.control.body import Body
from numgrad.targets.cpu.machine.repeat import SAMPLE, places_of

X = np.linspace(-1.0, 2.0, 40).reshape(10, 4)


def bound_of(function, *specs):
    """Return the bound program of a function of arrays of given shapes and dtypes."""
    return Body.of("test", function, specs).program().stages[0].plan.bound


@pytest.mark.parametrize("start", [0, 1, 4])
def test_places_of_arrays_that_move_and_that_take_turns(start):
    turns = [1000, 5000]
    rows = [[7, turns[t % 2], 300 + 24 * t, 900 - 8 * t] for t in range(20)]
    places = places_of(rows[start : start + SAMPLE], start)
    for t, row in enumerate(rows):
        np.testing.assert_array_equal(places.first[t % 2] + t * places.moves, row)


@pytest.mark.parametrize("backwards", [False, True])
def test_runs_move_along_arrays(backwards):
    spec = ((4,), np.dtype(float))
    bound = bound_of(lambda s, x: [s * 0.5 + x, s * x], spec, spec)
    xs = X[::-1] if backwards else X
    spare, ys = [np.zeros(4), np.full(4, np.nan)], np.zeros_like(X)
    done = bound.repeat(lambda t: [spare[t % 2], xs[t], spare[(t + 1) % 2], ys[t]], 0, len(xs))
    state = np.zeros(4)
    for x, y in zip(xs, ys, strict=True):
        np.testing.assert_array_equal(y, state * x)
        state = state * 0.5 + x
    assert done == len(xs)
    np.testing.assert_array_equal(spare[len(xs) % 2], state)


def test_runs_end_where_a_result_says_so():
    spec = ((), np.dtype(float))
    bound = bound_of(lambda s: [s + 1, s < 4], spec)
    spare, flag = [np.zeros(()), np.zeros(())], np.zeros(8, bool)

    def arrays_at(t):
        return [spare[t % 2], spare[(t + 1) % 2], flag[0, ...]]

    assert bound.repeat(arrays_at, 0, 100, flag) == 5
    assert float(spare[5 % 2]) == 5


def test_runs_end_before_the_one_that_fails():
    spec = ((3, 3), np.dtype(float))
    bound = bound_of(lambda a: [ng.linalg.cholesky(a)], spec)
    given, made = np.stack([np.eye(3)] * 9), np.zeros((9, 3, 3))
    given[6] = -1.0
    assert bound.repeat(lambda t: [given[t], made[t]], 0, 9) == 6
    np.testing.assert_array_equal(made[:6], given[:6])
    assert bound.repeat(lambda t: [given[t], made[t]], 7, 9) == 0  # too few to tell how they move
