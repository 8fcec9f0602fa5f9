"""What the first call of a graph never seen costs above its later ones, in a warm process."""

import time
from collections.abc import Callable
from dataclasses import replace
from statistics import median
from typing import Any

from . import systems
from .task import Task

GRAPHS = 5


def lengthened(function: Callable[..., Any], extra: int) -> Callable[..., Any]:
    """The function after so many multiplications by one of its first argument: another graph."""

    def longer(xp: Any, x: Any, *rest: Any) -> Any:
        for _ in range(extra):
            x = x * 1.0
        return function(xp, x, *rest)

    return longer


def new_graph_seconds(system: str, task: Task) -> float:
    """Median over graphs of the first call, preparation counted, minus the median of later ones."""
    return median(_excess(system, task, extra) for extra in range(1, GRAPHS + 1))


def _excess(system: str, task: Task, extra: int) -> float:
    begin = time.perf_counter()
    call = systems.prepare(system, replace(task, function=lengthened(task.function, extra)))
    call()
    first = time.perf_counter() - begin
    return first - median(_seconds(call) for _ in range(5))


def _seconds(call: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin
