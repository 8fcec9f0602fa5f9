"""Elementwise kernels over several axes: strides that are known, and several rows a thread."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.targets.cuda.kernels import elementwise
from numgrad.targets.cuda.program import lowering

from ..programs import TARGET, on_both, program_of, require_equal

RNG = np.random.default_rng(11)


def kernels(function, *arrays):
    """Return the kernels of a function of arrays on the device."""
    steps = TARGET.bind(program_of(function, *arrays)).steps
    return [step.kernel.kernel for step in steps]


def by_rows(function, *arrays):
    return ["rows" in kernel.text.partition(":")[0] for kernel in kernels(function, *arrays)]


@pytest.mark.parametrize("rows", [3, 4, 5, 8, 9, 14])
@pytest.mark.parametrize("cols", [2, 7])
def test_rows_that_a_thread_takes_need_not_divide_an_axis(rows, cols):
    row, column = RNG.standard_normal(cols), RNG.standard_normal((rows, 1))
    full = RNG.standard_normal((rows, cols))
    assert by_rows(lambda a, b: a * b, row, column) == [rows >= elementwise.ROWS]
    require_equal(on_both(lambda a, b, x: (a * b, x - a, b - x, x.T * b.T), row, column, full))


def test_threads_take_elements_along_the_axis_that_most_operands_do_not_change_along():
    x, y = RNG.standard_normal((6, 1, 7)), RNG.standard_normal((5, 7))
    (kernel,) = kernels(lambda a, b: a * b, x, y)
    assert "row = index_type(i1 * 4)" in kernel.text or "row = index_type(i0 * 4)" in kernel.text
    require_equal(on_both(lambda a, b: (a * b, b - a[::-1]), x, y))


@pytest.mark.parametrize("dtype", ["bool", "int8", "float32", "complex64"])
def test_all_dtypes_go_by_rows(dtype):
    row, column = (10 * RNG.standard_normal((1, 9))).astype(dtype), np.ones((10, 1), dtype)
    assert by_rows(lambda a, b: a + b, row, column) == [True]
    require_equal(on_both(lambda a, b: (a + b, a == b, ng.where(a == b, a, b)), row, column))


@pytest.mark.parametrize("function", [lambda a, b: a * b, lambda a, b: ng.arctan2(a, b)])
def test_functions_of_many_operations_are_not_written_out_for_each_row(function):
    """Each way has whole groups of rows, and others."""
    row, column = RNG.standard_normal(9), RNG.standard_normal((11, 1))
    require_equal(on_both(function, row, column), 1e-15)


def test_long_fused_functions_go_by_rows():
    def function(a, b):
        for _ in range(elementwise._LINES // 2 + 2):
            a = a * b - b
        return a

    row, column = RNG.standard_normal(5), RNG.standard_normal((6, 1))
    require_equal(on_both(function, row, column, fused=True))


def test_strides_of_0_and_1_are_no_parameters():
    x, row = RNG.standard_normal((4, 9))[:, :8], RNG.standard_normal(8)
    (kernel,) = kernels(lambda a, b: a * b, x, row)
    listed = kernel.text.partition("(")[2].partition(")")[0].split(", ")
    assert listed == ["n", "n0", "n1", "x0", "x0_0", "x1", "out0", "out0_0", "rows"]
    require_equal(on_both(lambda a, b: a * b, x, row))


def test_elements_that_32_bits_do_not_place_are_placed_by_64():
    x = RNG.standard_normal((6, 9))
    for view, bits in ((x[:, ::2], 32), (x[::-1, ::2], 64)):  # a negative stride needs a sign
        (kernel,) = kernels(lambda a: a * a, view)
        assert {p.bits for p in kernel.parameters if hasattr(p, "bits")} == {32, bits}
        require_equal(on_both(lambda a: a * a, view))


def test_places_beyond_32_bits_are_placed_by_64(monkeypatch):
    monkeypatch.setattr(lowering, "_WIDE", 50)
    x = RNG.standard_normal((6, 20))[:, ::4]
    (kernel,) = kernels(lambda a: a * a, x)  # 30 elements, which lie further apart
    assert {p.bits for p in kernel.parameters if hasattr(p, "bits")} == {32, 64}
    require_equal(on_both(lambda a: (a * a, a * a[0]), x))


def test_small_loops_have_a_thread_for_each_element(monkeypatch):
    monkeypatch.setattr(TARGET.runtime.driver, "RESIDENT", 1000, raising=False)
    row, column = RNG.standard_normal(9), RNG.standard_normal((11, 1))
    assert by_rows(lambda a, b: a * b, row, column) == [False]
    require_equal(on_both(lambda a, b: a * b, row, column))
