"""The simulator's shared memory of the threads of a block, which finds races.

Between two accesses of different threads to an element, one of them a write, there must be a
barrier (``cuda.syncthreads``). A missing barrier is found in whatever order the threads run.
"""

import sys
from typing import Any

import numpy as np
from numba.cuda.simulator import kernel as kernel_module

from .blocks import Block, SimulatedThread


class RaceError(RuntimeError):
    """Raised when two threads access an element of shared memory, and no barrier is in between."""


class _ElementAccesses:
    """The threads that have read and written an element of shared memory since the last barrier.

    Attributes
    ----------
    moment : tuple of int
        The number of the block, and the number of barriers that its threads have passed.
    """

    __slots__ = ("moment", "readers", "writer")

    def __init__(self, moment: tuple[int, int]) -> None:
        self.moment = moment
        self.readers: set[int] = set()
        self.writer: int | None = None


class _Array:
    """An array of shared memory that notes which threads access each element."""

    __slots__ = ("_data", "_meetings")

    def __init__(self, shape: Any, dtype: Any) -> None:
        self._data = np.empty(shape, dtype)
        self._meetings: dict[Any, _ElementAccesses] = {}

    def _meeting(self, index: Any, thread: SimulatedThread) -> _ElementAccesses:
        moment = thread.blockIdx.x, thread.barriers
        found = self._meetings.get(index)
        if found is None or found.moment != moment:
            found = self._meetings[index] = _ElementAccesses(moment)
        return found

    def __getitem__(self, index: Any) -> Any:
        thread = _block().running
        meeting, number = self._meeting(index, thread), thread.threadIdx.x
        meeting.readers.add(number)
        _require_order(meeting, index, meeting.writer not in (None, number))
        return self._data[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        thread = _block().running
        meeting, number = self._meeting(index, thread), thread.threadIdx.x
        others = {meeting.writer, *meeting.readers} - {None, number}
        meeting.writer = number
        _require_order(meeting, index, bool(others))
        self._data[index] = value


def _block() -> Block:
    return kernel_module._get_kernel_context().block  # type: ignore[union-attr]


def _require_order(meeting: _ElementAccesses, index: Any, is_race: bool) -> None:
    if is_race:
        raise RaceError(
            f"threads of block {meeting.moment[0]} meet at element {index} of shared memory, one "
            f"to write it, with no barrier in between"
        )


class Shared:
    """The object called ``cuda.shared`` in kernels.

    All threads of a block that call ``cuda.shared.array`` at one line of a kernel get one array.
    """

    @staticmethod
    def array(shape: Any, dtype: Any, alignment: int = 1) -> _Array:
        """Return the shared array of the calling line, made when a block's first thread calls."""
        known, caller = _block().shared, sys._getframe(1)
        line = caller.f_code.co_filename, caller.f_lineno
        if line not in known:
            known[line] = _Array(shape, dtype)
        return known[line]
