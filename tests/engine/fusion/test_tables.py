"""Columns of tables: kernels know of them, gradients are written as whole rows, and instructions
over all elements of a table share the kernels of its columns."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.fusion import policy
from numgrad.engine.fusion.assemble import fuse
from numgrad.engine.fusion.sliced_loops import MOST_SLICES, MOST_STEPS
from numgrad.engine.fusion.tables import LONG_COLUMN, MOST_COLUMNS
from numgrad.ir.kernel_spec import Table

from .fuse_tools import fused, program_of

LONG = 400


def tables(instructions):
    return [i.pattern.spec.tables for i in instructions if hasattr(i.pattern.spec, "tables")]


def kernels(program):
    """The fused instructions over many elements."""
    return [i for i in program.instructions if "fused" in i.name and i.pattern.work >= LONG]


def gradient(function):
    return ng.func.grad(function)


@pytest.fixture
def gradient_programs(monkeypatch):
    """A function that returns the program of a gradient and the fused one, of which the bits are
    the same."""

    def programs(function, shape):
        seen = []

        def spy(program, *options):
            seen.append((program, fuse(program, *options)))
            return seen[-1][1]

        monkeypatch.setattr(policy, "fuse", spy)
        x = np.random.default_rng(2).standard_normal(shape)
        one, other = (ng.jit(gradient(function), fuse=way)(x) for way in ("never", "now"))
        np.testing.assert_array_equal(one, other)
        return seen[-1]

    return programs


def norms(x):
    total = x[:, 0] ** 2
    for k in range(1, x.shape[1]):
        total = total + x[:, k] ** 2
    return ng.sqrt(total).sum()


def test_columns_that_a_kernel_reads_are_one_table():
    (found,) = tables(fused(lambda x: x[:, 0] * x[:, 2] + x[:, 1], (LONG, 4)))
    assert found == (Table(4, ((0, 0), (1, 2), (2, 1))),)


def test_a_kernel_of_a_single_step_knows_of_its_table():
    (found,) = tables(fused(lambda x: x[:, 0] * x[:, 2], (LONG, 4)))
    assert found == (Table(4, ((0, 0), (1, 2))),)


def test_columns_of_several_arrays_are_several_tables():
    (found,) = tables(fused(lambda x, y: x[:, 0] * y[:, 1] + x[:, 1], (LONG, 2), (LONG, 3)))
    assert found == (Table(2, ((0, 0), (2, 1))), Table(3, ((1, 1),)))


def test_other_rows_of_a_table_are_another_table():
    (found,) = tables(fused(lambda x: x[1:, 0] * x[:-1, 1] - x[1:, 1], (LONG, 2)))
    assert found == (Table(2, ((0, 0), (2, 1))), Table(2, ((1, 1),)))


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x: x[:, 0] * x[:, 2] + 1.0, (LONG, MOST_COLUMNS + 1)),
        (lambda x: x[:, 0] * x[:, 2] + 1.0, (LONG_COLUMN - 1, 3)),
        (lambda x: x[::-1, 0] * x[::-1, 2] + 1.0, (LONG, 3)),
        (lambda x: x[:LONG, 0] * x.reshape(-1)[::40][:LONG] + 1.0, (50 * LONG, 3)),
    ],
    ids=["wide", "short", "backwards", "beside another stride"],
)
def test_what_is_no_table(function, shape):
    assert not any(tables(fused(function, shape)))


@pytest.mark.parametrize("width", [2, 3, 5, 8, 12, 16])
def test_norms_of_columns_and_their_gradient_are_one_kernel_of_two_tables(
    gradient_programs, width
):
    _, program = gradient_programs(norms, (LONG, width))
    (one,) = kernels(program)
    (read, written) = one.pattern.spec.tables
    assert {read.width, written.width} == {width}
    assert sorted(place for _, place in written.columns) == [*range(width)]


@pytest.mark.parametrize("width", [2, 4, 9, 12])
def test_columns_that_are_all_of_a_table_are_not_added_to_zeros(gradient_programs, width):
    program, _ = gradient_programs(norms, (LONG, width))
    (result,) = program.results
    written = [i for i in program.instructions if i.buffers[-1] == result.buffer]
    assert sum(i.pattern.layouts[-1].nbytes for i in written) == program.nbytes[result.buffer]
    adds = [i for i in program.instructions if i.name == "add"]
    assert len(adds) <= 3 * width


def test_columns_that_are_not_all_of_a_table_leave_zeros():
    x = np.random.default_rng(3).standard_normal((LONG, 4))

    def some(x):
        return (x[:, 1] * x[:, 3] + x[:, 1:3].sum(axis=1)).sum()

    one, other = (ng.jit(gradient(some), fuse=fuse)(x) for fuse in ("never", "now"))
    right = np.zeros_like(x)
    right[:, 1], right[:, 2], right[:, 3] = x[:, 3] + 1, 1, x[:, 1]
    np.testing.assert_allclose(one, right, rtol=1e-15)
    np.testing.assert_array_equal(one, other)


def test_negative_zeros_in_the_gradient_of_columns_become_zeros():
    x = np.full((LONG, 3), -0.0)
    found = ng.jit(gradient(lambda x: (x[:, 0] ** 2 + x[:, 1] ** 2 + x[:, 2] ** 2).sum()))(x)
    assert not np.signbit(found).any()


@pytest.mark.parametrize("axis", [0, 1])
def test_lengths_of_vectors_and_their_gradient_are_one_kernel(gradient_programs, axis):
    shape = (LONG, 6) if axis else (6, LONG)
    _, program = gradient_programs(lambda x: ng.sqrt((x * x).sum(axis=axis)).sum(), shape)
    assert len(kernels(program)) == 1


def test_a_softmax_and_its_gradient_are_two_kernels(gradient_programs):
    def loss(x):
        e = ng.exp(x - x.max(axis=1, keepdims=True))
        return ((e / e.sum(axis=1, keepdims=True)) ** 2).sum()

    _, program = gradient_programs(loss, (LONG, 4))
    assert len(kernels(program)) <= 2


def test_a_target_that_reads_no_tables_gets_none():
    def both(x):
        y = x[:, 0] * x[:, 2] + x[:, 1]
        return y, x * ng.sqrt((x * x).sum(axis=1, keepdims=True))

    program = program_of(both, (LONG, 4))
    found = fuse(program, reads_tables=False).instructions
    assert not any(tables(found))
    assert (LONG, 4) in [i.pattern.loop for i in found]
    assert any(tables(fuse(program).instructions))


def test_short_loops_are_not_sliced():
    def both(x):
        return x * ng.sqrt((x * x).sum(axis=1, keepdims=True))

    for size, loops in ((LONG_COLUMN, [(LONG_COLUMN,)]), (100, [(100,), (100, 4)])):
        assert sorted({i.pattern.loop for i in fused(both, (size, 4))}) == loops


def test_long_programs_are_not_sliced():
    width = 8

    def chain(x):
        y = x
        for n in range(MOST_STEPS // width + 1):
            y = ng.sin(y) * (n + 1.0)
        return y, y.sum(axis=1)

    assert (LONG, width) in [i.pattern.loop for i in fused(chain, (LONG, width))]


def test_programs_of_many_tables_are_not_sliced():
    count = MOST_SLICES // 8 + 1

    def combined(*arrays):
        total = sum(arrays[1:], arrays[0]) * 2.0
        return total, total.sum(axis=1)

    loops = [i.pattern.loop for i in fused(combined, *[(LONG, 8)] * count)]
    assert (LONG, 8) in loops


def test_a_cheap_value_of_an_argument_is_computed_again_beside_a_sum():
    def both(x):
        ties = ng.astype(x == x.max(axis=0), x.dtype)
        return ties * (1.0 / ties.sum(axis=0))

    instructions = fused(both, (LONG, 40))
    (last,) = [i for i in instructions if i.buffers[-1] == max(i.buffers[-1] for i in instructions)]
    program = program_of(both, (LONG, 40))
    (argument,) = program.arguments
    assert argument in last.buffers[: last.pattern.nin]


def test_an_expensive_value_is_read_as_it_is_stored_for_a_sum():
    def both(x):
        waves = ng.exp(x)
        return waves * (1.0 / waves.sum(axis=0))

    instructions = fused(both, (LONG, 40))
    assert sum("exp" in i.name for i in instructions) == 1
