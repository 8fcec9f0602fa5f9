"""Measured runs of a program: the machine calls a function that times each instruction.

The block of a part has the address of the function that runs one instruction. A measured run has
blocks of its own, with the address of a function that also reads the clock: so ordinary runs need
not test a flag.
"""

import copy
import ctypes
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from ..compile import routines
from . import machine
from .scratch import (  # fmt: skip
    BLOCK_WORDS,
    CAPACITY,
    LOG,
    LOOPS,
    LOOPS_TIMED,
    TIMED_WORDS,
    TIMES,
    TIMES_STRIDE,
)

_EVENTS = 1 << 14  # the most events that a worker logs in a run; sums count all of them
_TimedBlock = ctypes.c_int64 * TIMED_WORDS


class Times(NamedTuple):
    """Times of a measured run, in seconds; begin and end by the clock of `time.perf_counter`.

    Attributes
    ----------
    seconds, calls : ndarray
        For each instruction, over all threads: its time, and the number of tiles that it ran on.
    events : ndarray
        Rows ``thread, instruction, first row, begin, end``, one for each logged call of an
        instruction on a tile.
    workers : int
        The most threads of any part.
    began, ended : float
        Begin and end of the run as a whole.
    """

    seconds: np.ndarray
    calls: np.ndarray
    events: np.ndarray
    workers: int
    began: float
    ended: float


class TimedRunner:
    """A runner that times the instructions of a program; `times` has those of the last run.

    ``count`` is the number of instructions.
    """

    def __init__(self, runner: machine.Runner, count: int) -> None:
        self._runner = copy.copy(runner)
        self._runner.parts = [_timed(part) for part in runner.parts]
        self._count = count
        self._log = 2 * count
        self._stride = self._log + 1 + 4 * _EVENTS
        self._lock = threading.Lock()  # the tables belong to one run at a time
        self._table = np.empty((0, self._stride), np.int64)
        self.times: Times | None = None

    def __call__(self, addresses: Sequence[int] = ()) -> machine.Stopped | None:
        """Run the program once, as the given runner does, and store its times."""
        workers = max((part.workers() for part in self._runner.parts), default=1)
        with self._lock:
            if len(self._table) < workers:
                self._table = np.empty((workers, self._stride), np.int64)
            table = self._table[:workers]
            table[:, : self._log + 1] = 0
            for part in self._runner.parts:
                part.block[TIMES] = table.ctypes.data
                part.block[TIMES_STRIDE] = 8 * self._stride
                part.block[LOG], part.block[CAPACITY] = 8 * self._log, _EVENTS
            tick, origin = _clock()(), time.perf_counter()
            failure = self._runner(addresses)
            self.times = self._read(table, tick, origin, time.perf_counter())
        return failure

    def _read(self, table: np.ndarray, tick: int, origin: float, ended: float) -> Times:
        """Return the times that the workers have noted in their tables, in seconds.

        ``tick`` and ``origin`` are one moment, by the clock of ticks and in seconds.
        """
        length = seconds_of_tick()
        sums = table[:, : self._log].sum(axis=0).reshape(self._count, 2)
        kept = []
        for worker, row in enumerate(table):
            count = int(row[self._log])
            events = row[self._log + 1 :][: 4 * count].reshape(count, 4)
            times = (events[:, 2:] - tick) * length + origin
            kept.append(np.column_stack((np.full(count, worker), events[:, :2], times)))
        events = np.concatenate(kept)
        return Times(sums[:, 0] * length, sums[:, 1], events, len(table), origin, ended)


def _timed(part: machine.EncodedSegment) -> machine.EncodedSegment:
    """Return a copy of a part whose program block has the address of the function that measures."""
    timed = copy.copy(part)
    timed.block = block = _TimedBlock(*part.block)
    block[LOOPS_TIMED] = part.block[LOOPS]
    block[LOOPS] = routines.address_of("machine.clock", "loops", returns=True)
    timed.block_address = ctypes.addressof(block)
    assert len(part.block) == BLOCK_WORDS
    return timed


@cache
def _clock() -> Callable[[], int]:
    """Return the clock of measured runs as a function of Python."""
    address = routines.address_of("machine.clock", "now", returns=True)
    return ctypes.CFUNCTYPE(ctypes.c_int64)(address)


@cache
def seconds_of_tick() -> float:
    """Return the length of a tick of the clock of measured runs, in seconds."""
    clock = _clock()
    clock()
    began, first = time.perf_counter(), clock()
    while time.perf_counter() - began < 0.02:
        pass
    ended, last = time.perf_counter(), clock()
    return (ended - began) / (last - first)
