"""W9: an eager chain of 100 multiplications of arrays of size 1, forward and backward."""

from typing import Any

import numpy as np

from ..task import Array, Call, Task, Workload

LENGTH = 100


def chain(xp: Any, x: Any, factor: Any) -> Any:
    for _ in range(LENGTH):
        x = x * factor
    return x


def task(quick: bool) -> Task:
    return Task(chain, (np.array([1.5]), np.array([1.01])), wrt=1)


def hand_written(task: Task) -> Call:
    """The same operations in NumPy, one call each; the forward values are not needed again."""
    x, factor = task.arguments

    def call() -> tuple[Array, ...]:
        y = x
        for _ in range(LENGTH):
            y = y * factor
        g = np.ones_like(y)
        for _ in range(LENGTH):
            g = g * factor
        return (g,)

    return call


WORKLOAD = Workload(
    key="W9chain",
    title="Eager chain of 100 multiplications of size-1 arrays, forward and backward",
    task=task,
    hand_written=hand_written,
    systems=("numgrad eager", "torch eager", "autograd", "jax eager"),
)
