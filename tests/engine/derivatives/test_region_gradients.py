"""Gradients of arrays that are written part by part: what they cost."""

import sys
from contextlib import contextmanager

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.derivatives import region_gradients
from numgrad.engine.fusion import boxes


def read_as_a_whole(x, count):
    y, total = ng.zeros(count + 3), 0.0
    y[:3] = x
    for n in range(count):
        y[n + 3] = y[n] * 0.9
        total = total + (y**2).sum()
    return total


def gauss_seidel(x, count):
    matrix = np.eye(count) * 4.0 + np.sin(np.arange(count**2)).reshape(count, count)
    y = ng.zeros(count)
    for n in range(count):
        y[n] = (x[n % 3] - matrix[n] @ y + matrix[n, n] * y[n]) / matrix[n, n]
    return (y * y).sum()


def read_now_and_then(x, count):
    y, total = ng.zeros(count + 3), 0.0
    y[:3] = x
    for n in range(count):
        y[n + 3] = y[n] * 0.9
        if n % 7 == 0:
            total = total + (y**2).sum()
    return total


def rows_in_turns(x, count):
    y = ng.zeros((count, 3))
    y[:] = x
    for k in range(count):
        for n in range(count):
            y[n] = y[n] * 0.9 + 0.01 * y[n, 0] * y[k]
    return y.sum()


def elements_in_turns(x, count):
    y = ng.zeros((count + 1, count + 1))
    y[:1] = x[0]
    y[:, :1] = x[1]
    for n in range(count):
        for k in range(count):
            y[n + 1, k + 1] = y[n, k] * 0.4 + y[n + 1, k] * 0.3 + y[n, k + 1] * x[2]
    return y[-1, -1]


@contextmanager
def counted():
    """Count the instructions of Python that run in the modules that look through parts."""
    files, steps = {boxes.__file__, region_gradients.__file__}, []

    def look(frame, event, arg):
        if frame.f_code.co_filename not in files:
            return None
        frame.f_trace_opcodes = True
        return count

    def count(frame, event, arg):
        steps.append(event)
        return count

    before = sys.gettrace()
    sys.settrace(look)
    try:
        yield steps
    finally:
        sys.settrace(before)


FUNCTIONS = [read_as_a_whole, gauss_seidel, read_now_and_then]
IN_TURNS = [rows_in_turns, elements_in_turns]


@pytest.mark.parametrize(
    ("function", "counts", "times"),
    [(f, (40, 80), 2) for f in FUNCTIONS] + [(f, (8, 16), 4) for f in IN_TURNS],
)
def test_the_work_of_a_pass_is_linear_in_the_writes(function, counts, times):
    work = []
    for count in counts:
        x = ng.tensor([0.5, 1.0, 2.0], requires_grad=True)
        y = function(x, count)
        with counted() as steps:
            (found,) = ng.grad(y, x)
        work.append(len(steps))
        for n, step in enumerate(1e-6 * np.eye(3)):
            near = [function(ng.tensor(x.detach().numpy() + d), count) for d in (step, -step)]
            assert found[n] == pytest.approx(float(near[0] - near[1]) / 2e-6, 1e-6)
    assert 0 < work[1] <= 1.25 * times * work[0]
