"""Calls of derived adjoints with snapshots, within a given amount of memory."""

import math
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .derived import Derived
from .generation.snapshots import FITTED, MOST, ROOM, STEPS, STOP

_SLICE = 0.05  # seconds
_LEAST = 1.25  # by how much memory grows at least


def run_sparing(
    derived: Derived, flat: Sequence[Any], shadows: Sequence[Any], seeds: Sequence[Any],
    memory: int, function: Callable[..., Any] | None = None,
) -> Sequence[Any]:  # fmt: skip
    """Call a derived function with snapshots.

    The steps of a segment are fewer, or there is more memory, until the tape suffices for them.

    Parameters
    ----------
    derived : Derived
    flat, shadows, seeds : sequence
        Its arguments but for the tapes.
    memory : int
        The bytes that snapshots and tapes take, if that is enough.
    function : callable, optional
        What is called instead of the compiled function, such as the plain one.

    Returns
    -------
    sequence
        The cotangents of the numbers.
    """
    starts = [shadow.copy() for shadow in shadows]
    lengths = max(3 * memory // 64, 1), max(memory // 64, 1)
    control = np.array([memory // 2, 1 << 40, 0, 0, 0])
    while True:
        tapes = np.empty(lengths[0]), np.empty(lengths[1], np.int64)
        given = (*flat, *shadows, *seeds, *tapes, control)
        if function is not None:
            needed, integers, *numbers = function(*given)
        else:
            needed, integers, *numbers = _interruptibly(derived.compiled, given, control)
        if needed <= lengths[0] and integers <= lengths[1]:
            return numbers
        lengths = _enlarged(lengths, (needed, integers), control)
        for shadow, start in zip(shadows, starts, strict=True):
            shadow[...] = start


def _enlarged(
    lengths: tuple[int, int], needed: tuple[int, int], control: np.ndarray
) -> tuple[int, int]:
    """Return longer tapes, or the same ones with shorter segments."""
    steps, fitted = int(control[STEPS]), int(control[FITTED])
    control[STEPS] = 0
    if steps == 0 or fitted == 0:
        return max(needed[0], lengths[0]), max(needed[1], lengths[1])
    if steps <= control[MOST] and fitted < steps:
        control[MOST] = fitted
        return lengths
    factor = max(math.sqrt(1.1 * steps / fitted), _LEAST)
    control[ROOM] = int(factor * control[ROOM]) + 1
    grown = [
        int(factor * length) + 1 if need > length else length
        for need, length in zip(needed, lengths, strict=True)
    ]
    return grown[0], grown[1]


def _interruptibly(function: Any, given: Sequence[Any], control: np.ndarray) -> Any:
    """Call a compiled function in a thread, so that Ctrl-C stops the call."""
    if not hasattr(function, "py_func"):
        return function(*given)
    from numba import typeof

    function.compile(tuple(map(typeof, given)))
    if threading.current_thread() is not threading.main_thread():
        return function(*given)
    answers: list[Any] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            answers.append(function(*given))
        except BaseException as error:  # one that the loops raise
            errors.append(error)

    thread = threading.Thread(target=work, name="numgrad-adjoint")
    thread.start()
    try:
        while thread.is_alive():
            thread.join(_SLICE)
    except BaseException:  # not where it has ended: it may be called again
        control[STOP] = 1
        thread.join()
        raise
    if errors:
        raise errors[0]
    return answers[0]
