"""Gradients of arrays that are written part by part: what they cost."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine import parts


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


@pytest.mark.parametrize("function", [read_as_a_whole, gauss_seidel, read_now_and_then])
def test_the_work_of_a_pass_is_linear_in_the_writes(function, monkeypatch):
    compared, common = [], parts._common
    monkeypatch.setattr(parts, "_common", lambda a, b: compared.append(1) or common(a, b))
    work = []
    for count in (40, 80):
        compared.clear()
        x = ng.tensor([0.5, 1.0, 2.0], requires_grad=True)
        (found,) = ng.grad(function(x, count), x)
        work.append(len(compared))
        for n, step in enumerate(1e-6 * np.eye(3)):
            near = [function(ng.tensor(x.detach().numpy() + d), count) for d in (step, -step)]
            assert found[n] == pytest.approx(float(near[0] - near[1]) / 2e-6, 1e-6)
    assert work[1] <= 2.5 * work[0]
