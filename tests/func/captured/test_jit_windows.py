"""Slices from one late integer to another in captured functions: one recording serves all that lie
within the axis; what NumPy clips, or counts from the end, has a recording of its own."""

import numpy as np
import pytest

import numgrad as ng
from tests.sampling import one_in

from ..written import (
    element_written,
    lowered,
    part_written,
    scaled,
    seen_between,
    written,
    written_later,
    written_twice,
    written_view,
    written_with_itself,
)

WINDOWS = {
    "a window": lambda x, i: x[i : i + 3] * 2.0,
    "a window of columns": lambda x, i: x[:, i : i + 3],
    "a batch": lambda x, i: x[2 * i : 2 * (i + 1)],
    "around it": lambda x, i: x[i - 1 : i + 2],
    "from the other end": lambda x, i: x[5 - i : 7 - i],
    "every second": lambda x, i: x[i : i + 4 : 2],
    "a part of it": lambda x, i: x[i : i + 4][1:, ::-1],
    "of a row": lambda x, i: x[2, i : i + 3],
    "of a late row": lambda x, i: x[i, i : i + 3],
    "a block": lambda x, i: x[i : i + 2, 2 * i - 2 : 2 * i + 1],
    "a block of a stack": lambda x, i: x[None][:, i : i + 2, i + 1 : i + 4],
    "a new axis": lambda x, i: x[i : i + 2, None],
    "an ellipsis": lambda x, i: x[..., i : i + 2],
    "written": lambda x, i: written(x, slice(i, i + 3), x[1:4] * i),
    "written in place": lambda x, i: scaled(x, i),
    "a column in place": lambda x, i: lowered(x, i),
    "differences": lambda x, i: x[i + 1 : i + 3] - x[i : i + 2],
}
OTHERS = {  # a recording for each integer
    "of no known length": lambda x, i: x[i:],
    "of another length": lambda x, i: x[i : 2 * i],
    "from the front": lambda x, i: x[: i + 1],
    "empty": lambda x, i: x[i : i - 1],
    "backwards": lambda x, i: x[i + 2 : i : -1],
    "backwards past the front": lambda x, i: x[i - 9 : i : -1],
    "apart from a number": lambda x, i: x[None][0, :, i : i + 2],
    "apart from each other": lambda x, i: x[i : i + 2, None, i : i + 2],
    "beside an array": lambda x, i: x[i : i + 2, [0, 1]],
    "beside a mask of no axes": lambda x, i: x[i : i + 2, True],
    "a view that is written": lambda x, i: written_view(x, i),
    "a view of an element that is written": lambda x, i: element_written(x, i),
    "a view seen unwritten": lambda x, i: seen_between(x, i),
    "a view written later": lambda x, i: written_later(x, i),
    "a view seen between two writes": lambda x, i: written_twice(x, slice(i, i + 2)),
    "a row seen between two writes": lambda x, i: written_twice(x, i),
    "a view written with what it views": lambda x, i: written_with_itself(x, slice(i, i + 2)),
    "a part of a view": lambda x, i: part_written(x, slice(i, i + 2)),
}


def matrix(shift=0.0):
    return np.linspace(-1.5, 2.5, 63).reshape(9, 7) + shift


@pytest.mark.parametrize("kind", one_in(3, [int, np.int64, np.int8]), ids=lambda k: k.__name__)
@pytest.mark.parametrize("name", [*WINDOWS, *OTHERS])
def test_results_are_those_of_the_function(name, kind):
    function = {**WINDOWS, **OTHERS}[name]
    captured = ng.jit(function)
    for i in (1, 2, 3, 2, 5, 6, 1, 0, -1, -8, 4, 8, 3, -3, 9, 12, 2):
        x = matrix(i)
        try:
            expected = function(ng.tensor(x), kind(i)).numpy()
        except (IndexError, ValueError) as error:
            with pytest.raises(type(error)):
                captured(x, kind(i))
        else:
            np.testing.assert_allclose(captured(x, kind(i)), expected, rtol=1e-14, strict=True)


@pytest.mark.parametrize("kind", [int, np.int64], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", [*WINDOWS, *OTHERS])
def test_what_lies_within_the_axis_is_recorded_once(name, kind):
    calls = []
    function = {**WINDOWS, **OTHERS}[name]
    captured = ng.jit(lambda x, i: calls.append(i) or function(x, i))
    for i in (1, 2):
        captured(matrix(), kind(i))
    before = len(calls)
    for i in (3, 1, 2, 3):
        captured(matrix(), kind(i))
    assert (len(calls) == before) == (name in WINDOWS)


@pytest.mark.parametrize("name", WINDOWS)
def test_derivatives_of_tensors_and_inside(name):
    function = WINDOWS[name]
    captured = ng.jit(function)
    inside = ng.jit(lambda x, i: ng.func.grad(lambda y: (function(y, i) ** 3).sum())(x))
    for i in (1, 2, 3, 0, 5, 6):
        x = ng.tensor(matrix(), requires_grad=True)
        try:
            expected = ng.grad((function(x, i) ** 3).sum(), x)[0]
        except (IndexError, ValueError):
            continue
        found = ng.grad((captured(x, i) ** 3).sum(), x)[0]
        np.testing.assert_allclose(found, expected, rtol=1e-13)
        np.testing.assert_allclose(inside(matrix(), i), expected, rtol=1e-13)


def test_the_first_window_may_lie_beyond_the_axis():
    calls = []
    captured = ng.jit(lambda x, i: calls.append(i) or x[i : i + 3])
    for i in (8, 7, 2, 8, 7, 3):
        np.testing.assert_array_equal(captured(matrix(), i), matrix()[i : i + 3])
    before = len(calls)
    for i in (5, 4, 8, 7, 6):
        np.testing.assert_array_equal(captured(matrix(), i), matrix()[i : i + 3])
    assert len(calls) == before


def test_each_of_two_windows_limits_its_integer():
    captured = ng.jit(lambda x, i, j: x[i : i + 3, j : j + 2] @ x[j : j + 2, i - 1 : i + 3])
    for i in (1, 2, 3, 6, 4, 8):
        for j in (0, 1, 5, 4, 6, 8, 2):
            x = matrix()
            try:
                expected = x[i : i + 3, j : j + 2] @ x[j : j + 2, i - 1 : i + 3]
            except ValueError:
                with pytest.raises(ValueError, match="matmul"):
                    captured(x, i, j)
            else:
                np.testing.assert_allclose(captured(x, i, j), expected, rtol=1e-13, strict=True)


@pytest.mark.parametrize("kind", [int, np.int64], ids=lambda kind: kind.__name__)
def test_a_window_that_is_cut_off_fixes_its_integer_alone(kind):
    calls = []
    captured = ng.jit(lambda x, i, n: calls.append((i, n)) or x[4 * i : 4 * i + 4].sum() * n)
    for n in range(1, 60):
        i = n % 3
        x = matrix(n)
        expected = x[4 * i : 4 * i + 4].sum() * n
        np.testing.assert_allclose(captured(x, kind(i), kind(n)), expected, rtol=1e-13)
    assert len(calls) <= 6


def test_what_is_cut_off_where_a_number_is_asked_for():
    def function(x, i, n):
        return x[i : i + 3] * (n if len(x[i : i + 3]) == 3 else float(n))

    captured = ng.jit(function)
    for n in range(1, 30):
        i = (1, 2, 7, 8, 5)[n % 5]
        expected = function(matrix(n), i, n)
        np.testing.assert_allclose(captured(matrix(n), i, n), expected, rtol=1e-13, strict=True)
