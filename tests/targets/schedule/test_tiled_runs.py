"""Tiled runs: what runs together a tile of rows at a time, and what has to wait."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.lower import lower as programs
from numgrad.engine.lower import verify
from numgrad.engine.record.apply import deferring
from numgrad.ir import program as _program
from numgrad.targets.cpu.schedule import schedule, tiled_runs
from numgrad.targets.cpu.schedule.schedule import ELEMENTS, ONCE
from numgrad.targets.cpu.schedule.verify import check_schedule
from numgrad.targets.null import NullTarget

from ..schedule_tools import Machine

MATRIX = (4096, 64)


def planned(function, *shapes):
    """Schedule a function of arrays of ones; return the plan and its program."""
    given = [ng.tensor(np.ones(shape)) for shape in shapes]
    with deferring(True), ng.no_grad():
        results = function(*given)
    results = results if isinstance(results, tuple) else (results,)
    program = programs.lower(results, NullTarget())
    plan = schedule.schedule(program, Machine())
    verify.check_program(program)
    check_schedule(plan, program)
    return plan, program


def parts(function, *shapes):
    """Return the kind of each segment, its rows and the names of its instructions."""
    plan, _ = planned(function, *shapes)
    return [(s.kind, s.rows, [i.name for i in s.instructions]) for s in plan.segments]


def test_a_sum_ends_in_the_stretch_of_what_is_summed():
    count = MATRIX[0] * MATRIX[1]
    assert parts(lambda x: (x * x).sum(), MATRIX) == [
        (ELEMENTS, count, ["multiply", "sum"]), (ONCE, 1, ["sum"]),
    ]  # fmt: skip


def test_what_is_summed_never_leaves_the_tiles():
    plan, program = planned(lambda x: (x * x).sum(), MATRIX)
    product = plan.segments[0].instructions[0].buffers[-1]
    assert plan.slots[product] == schedule.ARENA
    assert plan.block_bytes < program.nbytes[product] // 100


def test_rows_vectors_columns_and_reductions_of_rows_share_a_stretch():
    def function(x, row, column):
        y = (x + row) * column
        return y / y.sum(1, keepdims=True)

    (found,) = parts(function, MATRIX, (64,), (4096, 1))
    assert found == (ELEMENTS, 4096, ["add", "multiply", "sum", "divide"])


def test_a_sum_over_rows_is_one_of_leaves():
    ((kind, rows, names), last) = parts(lambda x, y: (x * y).sum(0), MATRIX, MATRIX)
    assert (kind, rows, names) == (ELEMENTS, 4096, ["multiply", "sum"])
    assert last == (ONCE, 1, ["sum"])


def test_what_depends_on_a_sum_waits_and_the_rest_does_not():
    def function(x):
        y = ng.sin(x)
        return y / y.sum(), ng.cos(x)

    first, between, last = parts(function, MATRIX)
    assert first[2] == ["sin", "sum", "cos"]
    assert between[2] == ["sum"]
    assert last[2] == ["divide"]


def test_numbers_that_need_not_wait_come_first():
    names = [p[2] for p in parts(lambda x, s: ng.sin(x) * (s * s), (50_000,), ())]
    assert names == [["multiply"], ["sin", "multiply"]]


def test_elements_of_other_tiles_are_not_read():
    names = [p[2] for p in parts(lambda x: ng.sin(ng.cos(x)[::-1]), (50_000,))]
    assert names == [["cos"], ["sin"]]


def test_rows_of_other_tiles_are_not_read():
    names = [p[2] for p in parts(lambda x: ng.cos(x) * ng.sin(x)[:1], MATRIX)]
    assert names == [["cos", "sin"], ["multiply"]]


def test_parts_of_rows_may_be_read():
    ((kind, rows, names),) = parts(lambda x: ng.cos(x)[:, 1:] * ng.sin(x)[:, :-1], MATRIX)
    assert (kind, rows, names) == (ELEMENTS, 4096, ["cos", "sin", "multiply"])


def test_tiles_of_blocks_begin_with_blocks():
    plan, _ = planned(lambda x: (x * x).sum() + (x.sum(1) ** 2).sum(), (4096, 96))
    (segment,) = [s for s in plan.segments if s.kind == ELEMENTS]
    assert segment.rows == 4096
    assert segment.tile * 96 % 1024 == 0


def test_blocks_that_would_need_large_tiles_are_reduced_apart():
    names = [p[2] for p in parts(lambda x: (x / x.sum(1, keepdims=True)).sum(), (512, 1021))]
    assert names == [["sum", "divide"], ["sum"], ["sum"]]


def test_few_long_rows_are_shared_by_threads():
    ((kind, rows, _),) = parts(lambda x: x.sum(1), (4, 100_000))
    assert (kind, rows) == (ELEMENTS, 4)


def test_small_programs_have_no_stretches():
    assert [p[0] for p in parts(lambda x: ng.sin(x).sum(), (1000,))] == [ONCE]


def test_waiting_is_bounded():
    def function(x):
        for _ in range(300):
            x = ng.sin(x[::-1])
        return x

    _, program = planned(function, (40_000,))
    left = iter(program.instructions)
    before, stretch, waiting = tiled_runs._split(left, 1 << 15)
    assert not before
    assert stretch is not None
    assert len(waiting) <= tiled_runs.MOST_WAITING + len(stretch.instructions) + 1
    assert len(list(left)) + len(waiting) + len(stretch.instructions) == len(program.instructions)


@pytest.mark.parametrize("fuse", ["never", "now"])
@pytest.mark.parametrize("rows", [4096, 4099])
def test_values_and_gradients_are_those_of_small_programs(fuse, rows, monkeypatch):
    rng = np.random.default_rng(3)
    x, w = rng.normal(size=(rows, 24)), rng.normal(size=24)

    def loss(x, w):
        y = ng.tanh(x * w) - ng.logsumexp(x, 1, keepdims=True)
        return (y * y).mean() + ng.max(y) + ng.linalg.norm(x.sum(0))

    def computed():
        both = ng.jit(ng.func.value_and_grad(loss, (0, 1)), fuse=fuse)
        value, gradients = both(x, w)
        return [np.asarray(a) for a in (value, *gradients)]

    found = computed()
    with monkeypatch.context() as patch:
        patch.setattr(_program, "MANY_ELEMENTS", 1 << 30)
        ng.set_flags(fuse=ng.get_flags("fuse")["fuse"])
        expected = computed()
    ng.set_flags(fuse=ng.get_flags("fuse")["fuse"])
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
