"""Shared memory of the threads of a block, in the simulator; it finds races.

Between two accesses of different threads to an element, one of them a write, there must be a
barrier (``cuda.syncthreads``). A missing barrier is found in whatever order the threads run.
"""

import sys
import threading
from typing import Any

import numpy as np
from numba.cuda.simulator import kernel as kernel_module


class RaceError(RuntimeError):
    """Two threads meet at an element of shared memory with no barrier in between."""


class _ElementAccesses:
    """The threads that read and write an element between two barriers.

    Attributes
    ----------
    moment : tuple of int
        The block, and the number of barriers that its threads have passed.
    """

    __slots__ = ("moment", "readers", "writer")

    def __init__(self, moment: tuple[int, int]) -> None:
        self.moment = moment
        self.readers: set[int] = set()
        self.writer: int | None = None


class _Array:
    """An array that notes the threads that access each element."""

    __slots__ = ("_data", "_meetings")

    def __init__(self, shape: Any, dtype: Any) -> None:
        self._data = np.empty(shape, dtype)
        self._meetings: dict[Any, _ElementAccesses] = {}

    def _meeting(self, index: Any, thread: Any) -> _ElementAccesses:
        moment = thread.blockIdx.x, getattr(thread, "barriers", 0)
        found = self._meetings.get(index)
        if found is None or found.moment != moment:
            found = self._meetings[index] = _ElementAccesses(moment)
        return found

    def __getitem__(self, index: Any) -> Any:
        with _lock:
            thread: Any = threading.current_thread()
            meeting = self._meeting(index, thread)
            meeting.readers.add(id(thread))
            _require_order(meeting, index, meeting.writer not in (None, id(thread)))
            return self._data[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        with _lock:
            thread: Any = threading.current_thread()
            meeting = self._meeting(index, thread)
            others = {meeting.writer, *meeting.readers} - {None, id(thread)}
            meeting.writer = id(thread)
            _require_order(meeting, index, bool(others))
            self._data[index] = value


def _require_order(meeting: _ElementAccesses, index: Any, is_race: bool) -> None:
    if is_race:
        raise RaceError(
            f"threads of block {meeting.moment[0]} meet at element {index} of shared memory, one "
            f"to write it, with no barrier in between"
        )


class Shared:
    """The object called ``cuda.shared`` in kernels: one array for each line of a kernel.

    The simulator's own may return different arrays to two threads that ask at the same time.
    """

    @staticmethod
    def array(shape: Any, dtype: Any, alignment: int = 1) -> _Array:
        """Return the array of the calling line, made at its first call in a block."""
        known = vars(kernel_module._get_kernel_context()).setdefault("shared_arrays", {})
        line = sys._getframe(1).f_lineno
        with _lock:
            if line not in known:
                known[line] = _Array(shape, dtype)
            return known[line]


def syncthreads() -> None:
    """Wait for the other threads of the block."""
    thread: Any = threading.current_thread()
    thread.barriers = getattr(thread, "barriers", 0) + 1
    context: Any = kernel_module._get_kernel_context()
    context.syncthreads()


_lock = threading.Lock()
