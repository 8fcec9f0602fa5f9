"""A program of a profile: its instructions, and sums over its runs."""

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..targets.cpu.schedule.schedule import ARENA, BATCH, BLOCK, ONCE
from .costs import bytes_of, operations_of

_MOST_EVENTS = 200_000  # single events that are kept for a program; sums have all of them


class Row(NamedTuple):
    """The time, bytes and operations of an instruction, over all runs and threads.

    Attributes
    ----------
    program, instruction : int
        Position in `Profile.programs`, and in the program.
    name : str
        The name of the operator, or of the fused kernel.
    calls : int
        The number of runs of the kernel on a tile.
    seconds : float
        Summed over threads.
    nbytes : int
        Bytes read and written, in any cache or in memory.
    operations : float
        An estimate of the floating-point operations.
    """

    program: int
    instruction: int
    name: str
    calls: int
    seconds: float
    nbytes: int
    operations: float


class Event(NamedTuple):
    """One run of an instruction on one tile; times are those of `time.perf_counter`."""

    thread: int
    instruction: int
    row: int
    began: float
    ended: float


class Measured:
    """A program, and measurements of its runs.

    Attributes
    ----------
    number : int
        Position in the profile.
    names : list of str
        The names of the instructions, in the order in which they run.
    fused : bool
        Whether its elementwise instructions had been fused.
    batch : int or None
        The number of rows.
    tiles : list of int
        Rows, or elements, of the tiles of each segment; 1 for a segment without tiles.
    threads : int
        The greatest number of threads of a run.
    runs : int
    seconds : float
        Time from the first instruction to the end, over all runs.
    spans : list of tuple
        Begin and end of each run.
    """

    def __init__(self, number: int, plan: Any, bound: Any) -> None:
        self.number = number
        self.bound = bound  # kept alive, so that its id is not used again
        schedule = bound.schedule
        self.segments = schedule.segments
        self.instructions = [i for segment in self.segments for i in segment.instructions]
        self.names = [i.name for i in self.instructions]
        self.batch: int | None = bound.program.batch
        self.fused = bound.program is not plan.program
        self.tiles = [1 if s.kind == ONCE else min(s.tile, s.rows) for s in self.segments]
        self.result_bytes = sum(int(np.prod(s)) * d.itemsize for s, d in plan.specs)
        self.threads = 1
        self.runs, self.seconds = 0, 0.0
        self.times = np.zeros(len(self.names))
        self.calls = np.zeros(len(self.names), np.int64)
        self.spans: list[tuple[float, float]] = []
        self._events: list[np.ndarray] = []
        self._room = _MOST_EVENTS
        self._runner = plan.target.timed(bound.runner, len(self.names))
        self._lock = threading.Lock()

    def run(self, arrays: Sequence[np.ndarray]) -> Any:
        """Run the program once; return where a kernel raised."""
        with self._lock:
            failure = self.bound.run(arrays, self._runner)
            self._add(self._runner.times)
        return failure

    def _add(self, times: Any) -> None:
        self.runs += 1
        self.seconds += times.ended - times.began
        self.times += times.seconds
        self.calls += times.calls
        self.threads = max(self.threads, times.workers)
        self.spans.append((times.began, times.ended))
        self._events.append(times.events[: self._room].copy())
        self._room -= len(self._events[-1])

    @property
    def peak_bytes(self) -> int:
        """Memory for results and intermediate values: of all threads, in the largest segment."""
        arenas = [s.arena_bytes * self.workers(s) for s in self.segments]
        return self.result_bytes + self.bound.schedule.block_bytes + max(arenas, default=0)

    def workers(self, segment: Any) -> int:
        """Return the number of threads that run a segment."""
        return self.threads if segment.parallel else 1

    @property
    def busy(self) -> float:
        """The share of the threads' time that instructions take; the rest is waiting, handing out
        tiles, and starting threads."""
        return float(self.times.sum()) / (self.seconds * self.threads) if self.seconds else 0.0

    def events(self) -> list[Event]:
        """Return the single events that were kept."""
        return [
            Event(int(e[0]), int(e[1]), int(e[2]), float(e[3]), float(e[4]))
            for events in self._events
            for e in events
        ]

    def rows(self) -> list[Row]:
        """Return a row for each instruction."""
        batch = self.batch or 1
        return [
            Row(
                self.number, n, self.names[n], int(self.calls[n]), float(self.times[n]),
                bytes_of(instruction, batch) * self.runs,
                operations_of(instruction, batch) * self.runs,
            )
            for n, instruction in enumerate(self.instructions)
        ]  # fmt: skip

    def live_bytes(self) -> np.ndarray:
        """Return the memory in use while each instruction runs: results, buffers that outlive a
        segment, and live buffers of the tiles of all threads."""
        change = np.zeros(len(self.names) + 1, np.int64)
        for spans in self._lifetimes().values():
            end = -1
            for first, last, size in sorted(spans):
                if last > end:
                    change[max(first, end + 1)] += size
                    change[last + 1] -= size
                    end = last
        return np.cumsum(change)[:-1] + self.result_bytes

    def _lifetimes(self) -> dict[Any, list[tuple[int, int, int]]]:
        """Return, for each place in memory, the first and last instruction of each buffer there,
        and its size."""
        schedule, program = self.bound.schedule, self.bound.program
        first: dict[int, int] = {}
        last: dict[int, int] = {}
        home: dict[int, Any] = {}
        number = 0
        for segment in self.segments:
            for instruction in segment.instructions:
                for index in instruction.buffers:
                    first.setdefault(index, number)
                    body = segment.kind == BATCH and schedule.slots[index] != ARENA
                    last[index] = len(self.names) - 1 if body else number
                    home[index] = segment
                number += 1
        places: dict[Any, list[tuple[int, int, int]]] = {}
        for index, start in first.items():
            slot = schedule.slots[index]
            size = self._size(program, index, slot, home[index])
            place = (slot, id(home[index]) if slot == ARENA else 0, schedule.offsets[index])
            if slot in (ARENA, BLOCK):
                places.setdefault(place, []).append((start, last[index], size))
        return places

    def _size(self, program: Any, index: int, slot: int, segment: Any) -> int:
        nbytes = program.nbytes[index]
        if slot != ARENA:
            return nbytes
        each = nbytes if segment.kind == BATCH else nbytes // max(segment.rows, 1)
        return each * segment.tile * self.workers(segment)
