"""Where patterns repeat in a program."""

import numpy as np
import pytest

from numgrad.engine.rolling.periods import Run, runs

BODY = np.random.default_rng(0).integers(0, 9, 23)
OTHERS = np.arange(100, 140)  # each once


def test_a_repeated_stretch_is_one_run_with_its_period():
    names = np.concatenate([OTHERS, np.tile(BODY, 30), OTHERS + 50])
    assert runs(names, 4) == [Run(40, 40 + 30 * 23, 23)]


def test_stretches_with_bodies_of_their_own_are_runs_of_their_own():
    names = np.concatenate([np.tile(BODY, 30), OTHERS, np.tile(BODY[::-1], 20), [3, 3]])
    found = runs(names, 4)
    assert [(run.period, run.turns) for run in found] == [(23, 30), (23, 20)]


def test_the_loop_around_a_short_loop_is_the_run():
    body = np.concatenate([np.tile([1, 2, 3], 3), [4]])
    assert runs(np.tile(body, 40), 4) == [Run(0, 400, 10)]


def test_the_longer_inner_loop_is_the_run_where_the_outer_one_has_few_turns():
    body = np.concatenate([np.tile([1, 2, 3], 100), OTHERS])
    found = runs(np.tile(body, 3), 4)
    assert [(run.period, run.turns) for run in found] == [(3, 100)] * 3


@pytest.mark.parametrize("count", [0, 1, 3, 7, 8, 9])
def test_few_patterns_are_no_run(count):
    assert runs(np.zeros(count, np.int64), 10) == []


def test_a_short_period_is_found_beside_many_others():
    pair = np.tile([1, 2], 60)
    parts = [np.tile(BODY + 10 * n, 12) for n in range(2, 30)]
    found = runs(np.concatenate([pair, *parts]), 4)
    assert found[0] == Run(0, 120, 2)
    assert [run.period for run in found[1:]] == [23] * 28


def test_programs_without_loops_have_no_runs():
    names = np.random.default_rng(1).integers(0, 20, 5000)
    assert runs(names, 4) == []
