"""What outputs get by other names, through views and in functions that kernels call."""

import numpy as np
import pytest
from numba import njit

import numgrad as ng
from numgrad._errors import KernelError, OperatorError
from numgrad.targets.cpu.kernels.write_check import Writes

pytestmark = pytest.mark.device_sample

X = np.array([3.0, 2.0, 5.0])


@njit
def cleared(a):
    a[:] = 0.0


@njit
def added(a, i, value):
    a[i] += value


@njit
def added_below(a, i, value):
    added(a, i, value)


@njit
def added_in_turns(a, n, value):
    if n > 0:
        a[n - 1] += value
        added_in_turns(a, n - 1, value)
        added_in_turns(a, n - 2, value)


def in_a_function(x, out):
    for i in range(x.size):
        added(out, i, x[i])


def in_a_function_of_a_function(x, out):
    for i in range(x.size):
        added_below(out, i, x[i])


def in_one_that_calls_itself(x, out):
    added_in_turns(out, x.size, x[0])


def to_all_of_a_view(x, out):
    y = out[:]
    y += x


def to_elements_of_a_view(x, out):
    for i in range(x.size):
        y = out[i:]
        y[0] += x[i]


def by_another_name(x, out):
    y = out
    for i in range(x.size):
        y[i] = y[i] + x[i]


def by_a_number(x, out):
    for i in range(x.size):
        total = out[i]
        total += x[i]
        out[i] = total


def read_from_a_view(x, out):
    y = out[:]
    for i in range(x.size):
        out[i] = y[i] + x[i]


@pytest.mark.parametrize(
    "function",
    [
        in_a_function, in_a_function_of_a_function, in_one_that_calls_itself, to_all_of_a_view,
        to_elements_of_a_view, by_another_name, by_a_number, read_from_a_view,
    ],
)  # fmt: skip
def test_a_kernel_that_only_adds_to_its_output_is_refused(function):
    kernel = ng.operator("(n)->(n)")(njit(function))
    with pytest.raises(OperatorError, match="computes its output out from what the memory held"):
        kernel(X)


def after_it_was_cleared(x, out):
    cleared(out)
    for i in range(x.size):
        added(out, i, x[i])


def after_a_view_was_cleared(x, out):
    y = out[:]
    y[:] = 0.0
    y += x


def after_it_was_filled(x, out):
    out.fill(0.0)
    for i in range(x.size):
        added_below(out, i, x[i])


def by_one_of_two_names(x, out):
    y = out if x.size > 0 else np.zeros(x.size)
    for i in range(x.size):
        y[i] = x[i]


def by_a_name_that_moves(x, out):
    y = out
    for i in range(x.size):
        y[0] = x[i]
        y = y[1:]


@njit
def copied_to(x, *outputs):
    outputs[0][:] = x


@njit
def taken_in_turns(x, a, b, depth):
    if depth >= 0:
        a[:] = x
        taken_in_turns(x, b, a, depth - 1)


def in_a_function_of_any_number(x, out):
    copied_to(x, out)


@pytest.mark.parametrize(
    "function",
    [
        in_a_function_of_any_number, after_it_was_cleared, after_a_view_was_cleared,
        after_it_was_filled, by_one_of_two_names, by_a_name_that_moves,
    ],
)  # fmt: skip
def test_a_kernel_may_add_to_what_it_has_written(function):
    kernel = ng.operator("(n)->(n)")(njit(function))
    np.testing.assert_array_equal(kernel(X), X)


def test_an_update_of_a_view_of_an_input_is_said_to_be_one():
    @ng.operator("(n)->(n)")
    @njit
    def shifted(x, out):
        y = x[1:]
        y += 1.0
        out[:] = x

    with pytest.raises(OperatorError, match="the kernel writes its input x"):
        shifted(X)


def test_what_a_function_does_with_its_outputs_in_turns_is_found():
    @njit
    def function(x, a, b):
        taken_in_turns(x, a, b, 1)

    writes = Writes("both", function.py_func, ["x"], ["a", "b"])
    writes.check_outputs()


@njit
def copied_from(x, out, i):
    if i < x.size:
        out[i] = x[i]
        copied_from(x, out, i + 1)


def test_a_function_that_calls_itself_is_refused():
    """LLVM would end the process when it looks for it."""

    @ng.operator("(n)->(n)")
    @njit
    def recursive(x, out):
        copied_from(x, out, 0)

    with pytest.raises(KernelError, match="a function that calls itself is not linked"):
        recursive(np.arange(3.0))
