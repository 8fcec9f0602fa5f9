"""NumPy: values only, and the meaning of the names that libraries spell differently."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.special

from ..program import Problem


def put(array: Any, key: Any, value: Any) -> Any:
    """Write elements and return the array: JAX has only ``array.at[key].set(value)``."""
    array[key] = value
    return array


def accumulate(array: Any, key: Any, value: Any) -> Any:
    """Add to elements and return the array."""
    array[key] += value
    return array


def add_at(array: Any, key: Any, value: Any) -> Any:
    """Add to elements, once for each time that a position occurs, and return the array."""
    np.add.at(array, key, value)
    return array


def running_maximum(x: Any) -> Any:
    """Return the largest elements so far, along the first axis."""
    return np.maximum.accumulate(x, axis=0)


def scale(array: Any, key: Any, value: Any) -> Any:
    """Multiply elements and return the array."""
    array[key] *= value
    return array


def iterate(step: Callable[[Any], Any], state: Any, count: int) -> Any:
    """Return the state after ``count`` steps: a loop, or JAX's scan."""
    for _ in range(count):
        state = step(state)
    return state


def fold(step: Callable[[Any, Any], Any], state: Any, xs: Any) -> Any:
    """Return the state after a step with each of ``xs[0]``, ``xs[1]``, ...: a loop, or a scan."""
    for i in range(len(xs)):
        state = step(state, xs[i])
    return state


def fold_items(step: Callable[[Any, Any], Any], state: Any, xs: Any) -> Any:
    """Return the same by iterating."""
    for x in xs:
        state = step(state, x)
    return state


def collect(step: Callable[[Any, Any], Any], state: Any, xs: Any) -> list[Any]:
    """Return the list of all states, which ``np.stack`` makes an array of."""
    states = []
    for i in range(len(xs)):
        state = step(state, xs[i])
        states.append(state)
    return states


LOOPS = {
    "put": put, "accumulate": accumulate, "scale": scale, "iterate": iterate, "fold": fold,
    "fold_items": fold_items, "collect": collect,
}  # fmt: skip


def softmax(x: Any, axis: int) -> Any:
    return scipy.special.softmax(x, axis=axis)


def norm(x: Any, axis: int | None = None) -> Any:
    return np.linalg.norm(x, axis=axis)


def namespace() -> Any:
    """NumPy's names with those of ours that it lacks."""
    names = {name: getattr(np, name) for name in np.__all__}
    return SimpleNamespace(
        **{**names, **LOOPS, "copy": np.copy, "logsumexp": scipy.special.logsumexp},
        erf=scipy.special.erf,
        softmax=softmax,
        norm=norm,
        add_at=add_at,
        running_maximum=running_maximum,
    )


def value(problem: Problem, variables: Sequence[Any] | None = None, k: int = 0) -> np.ndarray:
    """Return what the text computes with NumPy."""
    given = problem.variables if variables is None else variables
    text = problem.program.of("numpy")
    return np.asarray(text(namespace(), *given, *problem.constants_at(k)))
