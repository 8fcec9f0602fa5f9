"""W1: Jacobian of a perceptron 256 - tanh 256 - tanh 256 - 256 at one input, 256 cotangents."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import prange

from ..limit import OneBlasThread, kernel, parallel
from ..task import RECORDED, Array, Call, Task, Workload

TILE = 128  # rows of a product; shorter ones cost time, taller ones leave a core idle


def network(xp: Any, x: Any, first: Any, second: Any, third: Any) -> Any:
    """Written with x as a row, so that every product is one of matrices."""
    hidden = xp.tanh(x @ first)
    return xp.tanh(hidden @ second) @ third


def task(quick: bool, dtype: Any = np.float64) -> Task:
    size = 16 if quick else 256
    rng = np.random.default_rng(1)
    weights = rng.standard_normal((3, size, size)) / np.sqrt(size)
    x = rng.standard_normal((1, size)).astype(dtype)
    rows = np.eye(size, dtype=dtype).reshape(size, 1, size)
    return Task(network, (x, *weights.astype(dtype)), cotangents=rows)


@kernel
def scale(rows, slope):
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            rows[i, j] *= slope[j]


@parallel
def all_rows(rows, third, second, first, slope2, slope1, out, tile):
    m, n = rows.shape
    for t in prange((m + tile - 1) // tile):
        a, b = t * tile, min(m, (t + 1) * tile)
        g, h = np.empty((b - a, n), rows.dtype), np.empty((b - a, n), rows.dtype)
        np.dot(rows[a:b], third, g)
        scale(g, slope2)
        np.dot(g, second, h)
        scale(h, slope1)
        np.dot(h, first, out[a:b])


def hand_written(task: Task) -> Call:
    one_thread = OneBlasThread()
    x, first, second, third = task.arguments
    assert task.cotangents is not None
    rows = task.cotangents[:, 0]
    turned = [np.ascontiguousarray(w.T) for w in (third, second, first)]

    def call() -> tuple[Array, ...]:
        out = np.empty_like(rows)
        with one_thread:  # idle threads of OpenBLAS would spin on the other core
            hidden1 = np.tanh(x[0] @ first)
            hidden2 = np.tanh(hidden1 @ second)
            slopes = (1 - hidden2 * hidden2, 1 - hidden1 * hidden1)
            all_rows(rows, *turned, *slopes, out, min(TILE, max(1, len(rows) // 2)))
        return (out[:, None],)

    return call


def workload(key: str, title: str, dtype: Any, tolerance: float) -> Workload:
    """The workload in one dtype."""
    sized: Callable[[bool], Task] = lambda quick: task(quick, dtype)  # noqa: E731
    return Workload(
        key=key,
        title=title,
        task=sized,
        hand_written=hand_written,
        systems=RECORDED,
        tolerance=tolerance,
    )


TITLE = "Jacobian of a perceptron 256 - tanh 256 - tanh 256 - 256"
WORKLOAD = workload("W1", TITLE, np.float64, 1e-9)
# Three products of 256 terms each: rounding of float32 with room for the order of summation.
WORKLOAD_FLOAT32 = workload("W1f32", f"{TITLE}, float32", np.float32, 2e-5)
