"""One program of a profile: what it is, and the sums over its runs."""

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..targets.cpu.schedule.schedule import ARENA, BATCH, BLOCK, ONCE
from .costs import bytes_of, operations_of

_MOST_EVENTS = 200_000  # that are kept one by one of a program; sums have all of them


class Row(NamedTuple):
    """What an instruction took, over all runs and threads.

    Attributes
    ----------
    program, instruction : int
        Position in `Profile.programs`, and in the program.
    name : str
        Of the operator, or of the fused kernel.
    calls : int
        How often the kernel was run on a tile.
    seconds : float
        Summed over threads.
    nbytes : int
        Read and written, from whatever cache.
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
    """One instruction on one tile: times are those of `time.perf_counter`."""

    thread: int
    instruction: int
    row: int
    began: float
    ended: float


class Measured:
    """A program as it ran.

    Attributes
    ----------
    number : int
        Position in the profile.
    names : list of str
        The instructions, in the order in which they run.
    fused : bool
        Whether its elementwise instructions had been fused.
    batch : int or None
        Its rows.
    tiles : list of int
        Rows, or elements, of the tiles that its stretches were cut into; 1 where a stretch was not.
    threads : int
        The most that worked on it.
    runs : int
    seconds : float
        From the first instruction to the end, over all runs.
    spans : list of tuple
        Begin and end of each run.
    """

    def __init__(self, number: int, plan: Any, bound: Any) -> None:
        self.number = number
        self.bound = bound  # what is measured; keeps it, so that its id stays its own
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
        """Run the program once; say where a kernel raised."""
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
        """Memory for results and intermediates: of all threads, in the largest stretch."""
        arenas = [s.arena_bytes * self.workers(s) for s in self.segments]
        return self.result_bytes + self.bound.schedule.block_bytes + max(arenas, default=0)

    def workers(self, segment: Any) -> int:
        """Return how many threads a stretch was run by."""
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
        """Return what each instruction took."""
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
        """Return the memory in use while each instruction runs: results, what outlives stretches,
        and what is alive in the tiles of all threads."""
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
        """Return, for each place, which instructions use it from where to where, and its size."""
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
