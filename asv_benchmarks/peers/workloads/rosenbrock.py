"""W9: gradient of Rosenbrock's function, NumPy in and out: what a call costs."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..limit import kernel
from ..task import CAPTURED, Array, Call, Task, Workload


def rosenbrock(xp: Any, x: Any) -> Any:
    head, tail = x[:-1], x[1:]
    return xp.sum((1.0 - head) ** 2 + 100.0 * (tail - head**2) ** 2)


def task(size: int) -> Task:
    x = 1.0 + 0.3 * np.sin(np.arange(size) + 1.0)
    return Task(rosenbrock, (x,), numpy_in_out=True)


@kernel
def gradient(x):
    n = x.size
    g = np.empty(n)
    for i in range(1, n - 1):
        g[i] = 200.0 * (x[i] - x[i - 1] ** 2) - 2.0 * (1.0 - x[i])
        g[i] -= 400.0 * x[i] * (x[i + 1] - x[i] ** 2)
    g[0] = -2.0 * (1.0 - x[0]) - 400.0 * x[0] * (x[1] - x[0] ** 2)
    g[n - 1] = 200.0 * (x[n - 1] - x[n - 2] ** 2)
    return g


def hand_written(task: Task) -> Call:
    (x,) = task.arguments

    def call() -> Array:
        return gradient(x)

    return call


def workload(key: str, size: int) -> Workload:
    """The workload at one size; it is small enough to be its own quick version."""
    sized: Callable[[bool], Task] = lambda quick: task(size)  # noqa: E731
    return Workload(
        key=key,
        title=f"Rosenbrock, n = {size}, gradient, NumPy in and out",
        task=sized,
        hand_written=hand_written,
        systems=CAPTURED,
    )


WORKLOAD = workload("W9n5", 5)
WORKLOAD_LONG = workload("W9n1000", 1000)
