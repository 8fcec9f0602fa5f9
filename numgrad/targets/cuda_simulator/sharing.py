"""Memory that the threads of a block share, in the simulator: it finds races.

Two threads that meet at an element, one of them to write it, have to wait for each other in between
(``cuda.syncthreads``). Whether they do is seen in whatever order the threads happen to run.
"""

import sys
import threading
from typing import Any

import numpy as np
from numba.cuda.simulator import kernel as kernel_module


class RaceError(RuntimeError):
    """Two threads meet at an element of shared memory with no barrier in between."""


class _Meeting:
    """Who reads and writes an element between two barriers.

    Attributes
    ----------
    moment : tuple of int
        The block, and how many barriers are behind its threads.
    """

    __slots__ = ("moment", "readers", "writer")

    def __init__(self, moment: tuple[int, int]) -> None:
        self.moment = moment
        self.readers: set[int] = set()
        self.writer: int | None = None


class _Array:
    """An array that knows who has met at each element."""

    __slots__ = ("_data", "_meetings")

    def __init__(self, shape: Any, dtype: Any) -> None:
        self._data = np.empty(shape, dtype)
        self._meetings: dict[Any, _Meeting] = {}

    def _meeting(self, index: Any, thread: Any) -> _Meeting:
        moment = thread.blockIdx.x, getattr(thread, "barriers", 0)
        found = self._meetings.get(index)
        if found is None or found.moment != moment:
            found = self._meetings[index] = _Meeting(moment)
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


def _require_order(meeting: _Meeting, index: Any, is_race: bool) -> None:
    if is_race:
        raise RaceError(
            f"threads of block {meeting.moment[0]} meet at element {index} of shared memory, one "
            f"to write it, with no barrier in between"
        )


class Shared:
    """What ``cuda.shared`` is in kernels: one array for each place in a kernel. Of the simulator's
    own each of two threads that come at once may get another."""

    @staticmethod
    def array(shape: Any, dtype: Any, alignment: int = 1) -> _Array:
        """Return the array of the line that asks for it."""
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
