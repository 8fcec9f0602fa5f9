"""Kernels of columns of tables: the bits of kernels that know of no tables, and no other memory."""

import ctypes
import dataclasses
import mmap
import sys

import numpy as np
import pytest

from numgrad.ir.kernel_spec import Table
from numgrad.targets.cpu.kernels.kernel import kernel

from ..fused_tools import add, assert_same_bits, fused_spec, less, multiply
from ..kernel_tools import F32, F64, call, call_rows, generated_code, spec_of

LENGTHS = [1, 7, 8, 9, 31, 32, 33, 64, 65, 100, 257, 700]
DTYPES = pytest.mark.parametrize("dtype", [F32, F64], ids=str)


def mixed(width, dtype, tables=True):
    """A spec whose inputs are all columns of a table, and a number; its outputs are a vector, and
    the columns of another table."""
    product, total = spec_of(multiply, *[dtype] * 3), spec_of(add, *[dtype] * 3)
    steps = [(product, (k, (k + 1) % width)) for k in range(width)]
    first = width + 1
    steps += [(total, (first + k, width)) for k in range(width)]
    outputs = (first + width, *range(first + width, first + 2 * width))
    spec = fused_spec(steps, (dtype,) * (width + 1), outputs, (*(False,) * width, True))
    places = [Table(width, tuple((k, k) for k in range(width)))]
    places += [Table(width, tuple((width + 2 + k, k) for k in range(width)))]
    return dataclasses.replace(spec, tables=tuple(places)) if tables else spec


def columns(table):
    return [table[:, k] for k in range(table.shape[1])]


def run(spec, given, number, results, n):
    """Call the kernel of a spec on arrays; the number is a scalar input."""
    vector, table = results
    arrays = [*given, number, vector, *columns(table)]
    assert call(kernel(spec), arrays, n, [array.strides[0] for array in arrays]) == 0


def made(width, n, dtype):
    rng = np.random.default_rng(width * n)
    table = rng.standard_normal((n, width)).astype(dtype)
    table.flat[:: 5 * width + 1] = -0.0
    return table


def results_of(width, n, dtype, rows=0):
    return np.full(n + rows, 99, dtype), np.full((n + rows, width), 99, dtype)


@DTYPES
@pytest.mark.parametrize("width", [2, 3, 4, 5, 6, 7, 8, 12, 16])
def test_tables_of_any_length_have_the_bits_of_separate_columns(width, dtype):
    number = np.full(1, 0.5, dtype)
    for n in LENGTHS:
        table = made(width, n, dtype)
        found, right = results_of(width, n, dtype, 1), results_of(width, n, dtype)
        run(mixed(width, dtype), columns(table), number, found, n)
        apart = [column.copy() for column in columns(table)]
        run(mixed(width, dtype, tables=False), apart, number, right, n)
        for one, other in zip(found, right, strict=True):
            assert_same_bits(one[:n], other)
            assert (one[n] == 99).all()


@DTYPES
def test_a_table_may_be_written_where_it_is_read(dtype):
    number = np.full(1, 0.5, dtype)
    for n in LENGTHS:
        table, right = made(3, n, dtype), results_of(3, n, dtype)
        run(mixed(3, dtype, tables=False), columns(table.copy()), number, right, n)
        vector = np.empty(n, dtype)
        run(mixed(3, dtype), columns(table), number, (vector, table), n)
        assert_same_bits(table, right[1])
        assert_same_bits(vector, right[0])


@pytest.mark.parametrize("lie", ["apart", "in other tables", "in another order", "in wider rows"])
def test_operands_that_lie_otherwise_than_the_spec_says(lie):
    n, number = 300, np.full(1, 0.5)
    table, right = made(3, n, F64), results_of(3, n, F64)
    given = [column.copy() for column in columns(table)]
    if lie == "in other tables":
        given = [np.stack([column] * 3, 1)[:, 0] for column in given]
    elif lie == "in another order":
        given = columns(np.stack(given[::-1], 1))[::-1]
    elif lie == "in wider rows":
        given = columns(np.stack([*given, *given], 1))[:3]
    found = results_of(3, n, F64)
    run(mixed(3, F64), given, number, found, n)
    run(mixed(3, F64, tables=False), columns(table), number, right, n)
    for one, other in zip(found, right, strict=True):
        assert_same_bits(one, other)


@DTYPES
@pytest.mark.parametrize("places", [(0, 1), (1, 3), (2,), (3, 0, 1), (0, 4)])
def test_some_columns_of_a_table_and_no_other_element(places, dtype):
    width, product = 5, spec_of(multiply, *[dtype] * 3)
    steps = [(product, (k, k)) for k in range(len(places))]
    count = len(places)
    spec = fused_spec(steps, (dtype,) * count, range(count, 2 * count))
    tables = (
        Table(width, tuple(enumerate(places))),
        Table(width, tuple((count + n, place) for n, place in enumerate(places))),
    )
    spec = dataclasses.replace(spec, tables=tables)
    for n in LENGTHS:
        table, out = made(width, n, dtype), np.full((n, width), 99, dtype)
        arrays = [source[:, k] for source in (table, out) for k in places]
        assert call(kernel(spec), arrays, n, [table.strides[0]] * 2 * count) == 0
        right = np.full((n, width), 99, dtype)
        right[:, places] = table[:, places] ** 2
        assert_same_bits(out, right)


def test_several_rows_of_columns_with_their_own_distance():
    n, rows, number = 300, 3, np.full(1, 0.5)
    tables = np.stack([made(3, n + 10, F64) for _ in range(rows)])
    tables[1:] += 1.0
    vectors, outs = np.full((rows, n + 3), 99.0), np.full((rows, n + 5, 3), 99.0)
    arrays = [*columns(tables[0]), number, vectors[0], *columns(outs[0])]
    steps = [*[24] * 3, 0, 8, *[24] * 3]
    row_steps = [*[tables.strides[0]] * 3, 0, vectors.strides[0], *[outs.strides[0]] * 3]
    status, moved = call_rows(kernel(mixed(3, F64)), arrays, n, rows, steps, row_steps)
    assert status == 0
    assert moved == [2 * step for step in row_steps]
    for row in range(rows):
        right = results_of(3, n, F64)
        run(mixed(3, F64, tables=False), columns(tables[row]), number, right, n)
        assert_same_bits(vectors[row, :n], right[0])
        assert_same_bits(outs[row, :n], right[1])
    assert (vectors[:, n:] == 99).all()
    assert (outs[:, n:] == 99).all()


def test_a_kernel_with_a_branch_or_booleans_has_tables_as_well():
    compare = spec_of(less, F64, F64, np.dtype(bool))
    spec = fused_spec([(compare, (0, 1))], (F64, F64), (2,))
    spec = dataclasses.replace(spec, tables=(Table(2, ((0, 0), (1, 1))),))
    table, out = made(2, 300, F64), np.empty(300, bool)
    arrays = [*columns(table), out]
    assert call(kernel(spec), arrays, 300, [16, 16, 1]) == 0
    np.testing.assert_array_equal(out, table[:, 0] < table[:, 1])


def test_columns_are_moved_by_shuffles(monkeypatch):
    code, _ = generated_code(mixed(3, F64), monkeypatch)
    assert "shufflevector" in code
    assert "_blocks" in code


@pytest.mark.skipif(sys.platform != "linux", reason="protects a page as Linux does")
@pytest.mark.parametrize("places", [(0, 1), (0,), (1, 0)])
def test_no_memory_behind_the_last_column_is_read(places):
    width, product = 4, spec_of(multiply, *[F64] * 3)
    count = len(places)
    steps = [(product, (k, 0)) for k in range(count)]
    spec = fused_spec(steps, (F64,) * count, range(count, 2 * count))
    spec = dataclasses.replace(spec, tables=(Table(width, tuple(enumerate(places))),))
    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, 2 * page)
    numbers = np.frombuffer(memory, F64, page // 8)
    behind = ctypes.c_void_p(numbers.ctypes.data + page)
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mprotect(behind, ctypes.c_size_t(page), 0) == 0
    try:
        n = 65
        last = max(places)
        first = len(numbers) - (n - 1) * width - last - 1
        numbers[:] = np.arange(len(numbers))
        arrays = [numbers[first + place :: width] for place in places]
        outs = [np.empty(n) for _ in places]
        assert call(kernel(spec), [*arrays, *outs], n, [8 * width] * count + [8] * count) == 0
        for out, array in zip(outs, arrays, strict=True):
            np.testing.assert_array_equal(out, array[:n] * arrays[0][:n])
    finally:
        assert libc.mprotect(behind, ctypes.c_size_t(page), 3) == 0
