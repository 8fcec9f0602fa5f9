"""Copies of strided operands to and from the buffers of kernels: every element, and no other one.
"""

import ctypes
import mmap
import sys

import numpy as np
import pytest

from numgrad.targets.cpu.codegen.copy_loops import BLOCK
from numgrad.targets.cpu.kernels.kernel import kernel

from ..kernel_tools import C128, F32, F64, call, call_rows, spec_of

F16, I8 = np.dtype(np.int16), np.dtype(np.int8)
LENGTHS = [1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 100, BLOCK - 1, BLOCK, BLOCK + 1, 700]
DTYPES = pytest.mark.parametrize("dtype", [F32, F64, C128, F16, I8], ids=str)


def twice_and_more(x, y):
    return x + x, y, x - y


def three_of(dtype):
    return kernel(spec_of(twice_and_more, *[dtype] * 5, nout=3))


def expected(x, y):
    return x + x, y, x - y


def numbers(count, dtype):
    return (np.arange(count) * 7 % 100 - 50).astype(dtype)


@DTYPES
@pytest.mark.parametrize("every", [-3, -1, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("n", LENGTHS)
def test_elements_any_number_of_places_apart(n, every, dtype):
    size, step = dtype.itemsize, every * dtype.itemsize
    x, y = (numbers(n * abs(every) + k, dtype)[k:][::every][:n] for k in range(2))
    out = np.full((3, n * 5), 99, dtype)
    arrays = [x, y, *out]
    assert call(three_of(dtype), arrays, n, [step, step, 5 * size, 2 * size, size]) == 0
    for found, apart, right in zip(out, (5, 2, 1), expected(x, y), strict=True):
        np.testing.assert_array_equal(found[::apart][:n], right)
        rest = np.delete(found, np.arange(n) * apart)
        assert (rest == 99).all()


@DTYPES
@pytest.mark.parametrize("n", LENGTHS)
def test_outputs_that_are_coordinates_of_points(n, dtype):
    x, y = numbers(n, dtype), numbers(n + 1, dtype)[1:]
    step = 3 * dtype.itemsize
    points = np.full((n + 1, 3), 99, dtype)
    arrays = [x, y, *points[0].reshape(3, 1)]
    assert call(three_of(dtype), arrays, n, [*[dtype.itemsize] * 2, *[step] * 3]) == 0
    np.testing.assert_array_equal(points[:n], np.stack(expected(x, y), 1))
    assert (points[n] == 99).all()


@DTYPES
def test_outputs_in_another_order_or_with_gaps_are_no_points(dtype):
    n, size = 50, dtype.itemsize
    x, y = numbers(n, dtype), numbers(n + 1, dtype)[1:]
    for width, columns in ((3, (2, 1, 0)), (4, (0, 1, 2)), (4, (0, 1, 3)), (2, (0, 1, 2 * n))):
        memory = np.full(n * width + 2 * n, 99, dtype)
        arrays = [x, y, *(memory[column:] for column in columns)]
        assert call(three_of(dtype), arrays, n, [size, size, *[width * size] * 3]) == 0
        kept = np.ones(memory.size, bool)
        for column, right in zip(columns, expected(x, y), strict=True):
            at = column + np.arange(n) * width
            np.testing.assert_array_equal(memory[at], right)
            kept[at] = False
        assert (memory[kept] == 99).all()


@DTYPES
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 10, 15, 16, 17, 33, 64, 100, 128, 129, 300])
@pytest.mark.parametrize("rows", [1, 2, 3, 40])
def test_rows_with_repeated_and_shared_operands(n, rows, dtype):
    column, shared = numbers(rows, dtype), numbers(3 * n, dtype)[::3]
    size, step = dtype.itemsize, 3 * dtype.itemsize
    points = np.full((rows, n + 1, 3), 99, dtype)
    arrays = [column, shared, *points[0, 0].reshape(3, 1)]
    row = points.strides[0]
    status, _ = call_rows(
        three_of(dtype), arrays, n, rows, [0, step, *[step] * 3], [size, 0, *[row] * 3]
    )
    assert status == 0
    right = np.stack(np.broadcast_arrays(*expected(column[:, None], shared[None])), -1)
    np.testing.assert_array_equal(points[:, :n], right)
    assert (points[:, n] == 99).all()


@pytest.mark.skipif(sys.platform != "linux", reason="pages are protected by Linux's call")
@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("every", [2, 3, 4])
def test_nothing_is_read_behind_the_last_element(every, dtype):
    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, 2 * page)
    whole = np.frombuffer(memory, np.uint8)
    libc = ctypes.CDLL(None, use_errno=True)
    behind = ctypes.c_void_p(whole.ctypes.data + page)
    assert libc.mprotect(behind, ctypes.c_size_t(page), 0) == 0
    for n in (1, 8, 9, 16, 17, 32, 33, 64, 65):
        count = (n - 1) * every + 1
        x = whole[:page].view(dtype)[-count:]
        x[:] = numbers(count, dtype)
        out = np.empty((3, n), dtype)
        steps = [every * dtype.itemsize] * 2 + [dtype.itemsize] * 3
        assert call(three_of(dtype), [x, x, *out], n, steps) == 0
        np.testing.assert_array_equal(out, expected(x[::every], x[::every]))
    assert libc.mprotect(behind, ctypes.c_size_t(page), 3) == 0
