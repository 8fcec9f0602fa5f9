"""Scratch memory of the machine: aligned, reused from run to run, never used by two runs at once.

Compiled code and Python find each quantity by the number of its word in a table.
"""

import ctypes
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

# Words of the program block, constant from run to run.
BLOCK_WORDS = 14
CODE, STARTS, FIRST, LAST, ROWS, TILE, TILES = range(7)
STRIDE, POINTERS, ODOMETER, ARENA, LOOPS, WORK, BUDGET = range(7, BLOCK_WORDS)
# More words of the block in a measured run: the function to time, the table of times of the first
# worker and the distance to the next worker's, where a table's log of events begins, and how many
# events the log holds.
TIMED_WORDS = BLOCK_WORDS + 5
LOOPS_TIMED, TIMES, TIMES_STRIDE, LOG, CAPACITY = range(BLOCK_WORDS, TIMED_WORDS)
# Words of the space that a run borrows. The counter and the flags, which workers write, are each
# on a cache line of its own.
BLOCK, MODE, WORKERS, BASES, NEXT, FAILED, UNFINISHED, STATES = 0, 1, 2, 3, 8, 16, 24, 32
# The slot of the table of base addresses that stands for the worker's own arena.
ARENA_SLOT = 0
# Words of a worker's state, at the head of its part of the space.
SPACE, ITS_TILE, ITS_ROW, ITS_INSTRUCTION, STATUS = range(5)
STATE_WORDS = 8

START_ALONE, START, RESUME = range(3)

ALIGNMENT = 64
_KEPT = 8
_FALLBACK_L2 = 1 << 20

_free: list["ScratchSpace"] = []
_shared: dict[int, "ScratchSpace"] = {}


class ScratchSpace:
    """Memory of one run: a header that Python and the workers share, then a part for each worker.

    The memory begins at a cache line. The header begins as zeros, the rest undefined.
    """

    __slots__ = ("address", "as_argument", "first_state", "header", "nbytes", "owner", "words")

    def __init__(self, nbytes: int) -> None:
        self.owner = np.empty(nbytes + ALIGNMENT, np.uint8)
        start = -self.owner.ctypes.data % ALIGNMENT
        self.nbytes = nbytes
        self.address = self.owner.ctypes.data + start
        self.words = self.owner[start : start + nbytes // 8 * 8].view(np.int64)
        self.words[:STATES] = 0
        self.words[STATES + SPACE] = self.address
        # A ctypes call takes 0.3 us less if it need not convert its argument.
        self.header = (ctypes.c_int64 * STATES).from_address(self.address)
        self.as_argument = ctypes.c_int64(self.address)
        self.first_state = ctypes.c_int64(self.address + 8 * STATES)


def borrow(nbytes: int) -> ScratchSpace:
    """Return a space of at least ``nbytes``: that of an earlier run if large enough, else new."""
    try:
        space = _free.pop()  # atomic: two threads never get the same space
    except IndexError:
        return ScratchSpace(nbytes)
    return space if space.nbytes >= nbytes else ScratchSpace(nbytes)


def give_back(space: ScratchSpace) -> None:
    """Keep a space for a later run, unless enough are kept already."""
    if len(_free) < _KEPT:
        _free.append(space)


def shared(nbytes: int) -> ScratchSpace:
    """Return the space for runs of at most ``nbytes``, rounded up to a power of two, that hold the
    GIL all the time: no two of them run at once."""
    size = 1 << (nbytes - 1).bit_length()
    return _shared.get(size) or _shared.setdefault(size, ScratchSpace(size))


def release() -> None:
    """Free all scratch memory that no run uses and no entry keeps."""
    _free.clear()
    _shared.clear()


def aligned(nbytes: int) -> int:
    """Round a size up to whole cache lines."""
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


@cache
def l2_bytes() -> int:
    """Return the size of one core's second-level cache in bytes; 1 MiB if the system does not say.
    """
    for probe in (_sysfs_l2, _sysconf_l2):
        found = _quietly(probe)
        if found > 0:
            return found
    return _FALLBACK_L2


def _quietly(probe: Callable[[], int]) -> int:
    """Return what a probe of the system returns; 0 if it raises."""
    try:
        return probe()
    except (OSError, ValueError, AttributeError):
        return 0


def _sysfs_l2() -> int:
    """Return the size of the second-level cache of CPU 0 in bytes, as Linux gives it; 0 if it gives
    none."""
    for folder in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        if (folder / "level").read_text().strip() == "2":
            return _parse_size((folder / "size").read_text().strip())
    return 0


def _parse_size(text: str) -> int:
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    unit = units.get(text[-1:], 0)
    return int(text[:-1]) * unit if unit else int(text)


def _sysconf_l2() -> int:
    return os.sysconf("SC_LEVEL2_CACHE_SIZE")
