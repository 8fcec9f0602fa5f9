"""Streams of the simulator, with vector clocks that find races between streams.

The simulator runs kernels at once, one after the other, so a race would stay unnoticed. Each stream
counts its work, and its clock holds, for every other stream, the work that is over before its own.
A stream learns from events and from the host, which learns when it waits for a stream. Two accesses
to a byte, one of them a write, must be ordered by these clocks. A block of memory that is made or
given back counts as written.

Source: L. Lamport, "Time, clocks, and the ordering of events in a distributed system", 1978;
F. Mattern, "Virtual time and global states of distributed systems", 1989.
"""

import itertools
import threading
import weakref
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

Clock = dict[int, int]
"""For each stream, by number, the amount of its work that is over."""


class OrderError(RuntimeError):
    """Two streams use memory in an order that no event ensures."""


class Event(NamedTuple):
    """An event: the clock of work that is over when it happens, and its time."""

    clock: Clock
    seconds: float


def _learn(clock: Clock, other: Clock) -> None:
    for number, count in other.items():
        if clock.get(number, 0) < count:
            clock[number] = count


class Order:
    """The streams of a device, and the clocks of the host's threads."""

    def __init__(self) -> None:
        self._threads = threading.local()
        self._count = itertools.count(1)
        self.queues: weakref.WeakSet[Queue] = weakref.WeakSet()

    def add(self, queue: "Queue") -> int:
        """Add a stream; return its number."""
        self.queues.add(queue)
        return next(self._count)

    @property
    def host(self) -> Clock:
        """The clock of this thread: work that is known to be over."""
        return vars(self._threads).setdefault("clock", {})

    def observe(self, event: Event) -> None:
        """Wait on the host for an event."""
        _learn(self.host, event.clock)


class Queue:
    """A stream of the simulator.

    Attributes
    ----------
    number : int
    clock : dict
        The work of all streams that is over before the next work of this one.
    doing : str
        The name of its latest work.
    """

    def __init__(self, order: Order) -> None:
        self._order = order
        self.number = order.add(self)
        self.clock: Clock = {self.number: 0}
        self.doing = ""

    def work(self, doing: str) -> None:
        """Begin another piece of work, after all work known to the host to be over."""
        _learn(self.clock, self._order.host)
        self.clock[self.number] += 1
        self.doing = doing

    def record(self) -> Event:
        """Return an event that happens when all work of the stream so far is over."""
        return Event(dict(self.clock), perf_counter())

    def wait(self, event: Event) -> None:
        """Let further work of the stream begin after an event."""
        _learn(self.clock, event.clock)


class Accesses:
    """For each byte of a block the latest reads and writes of each stream.

    Parameters
    ----------
    nbytes : int
    """

    def __init__(self, nbytes: int) -> None:
        self._nbytes = nbytes
        self._times: dict[bool, dict[int, np.ndarray]] = {False: {}, True: {}}
        self._names: dict[int, str] = {}

    def read(self, where: Any, queue: Queue) -> None:
        """Note that bytes are read by the present work of a stream.

        Raises
        ------
        OrderError
            If another stream has written a byte, and may not be ready.
        """
        self._require_order(True, where, queue)
        self._note(False, where, queue)

    def write(self, where: Any, queue: Queue) -> None:
        """Note that bytes are written by the present work of a stream.

        Raises
        ------
        OrderError
            If another stream has read or written a byte, and may not be ready.
        """
        self._require_order(False, where, queue)
        self._require_order(True, where, queue)
        self._note(True, where, queue)

    def _note(self, is_write: bool, where: Any, queue: Queue) -> None:
        times = self._times[is_write].get(queue.number)
        if times is None:
            times = self._times[is_write][queue.number] = np.zeros(self._nbytes, np.int64)
        times[where] = queue.clock[queue.number]
        self._names[queue.number] = queue.doing

    def _require_order(self, is_write: bool, where: Any, queue: Queue) -> None:
        for number, times in self._times[is_write].items():
            if number != queue.number and np.any(times[where] > queue.clock.get(number, 0)):
                raise OrderError(
                    f"{queue.doing} on stream {queue.number} uses memory that stream {number} "
                    f"{'writes' if is_write else 'reads'} ({self._names[number]} was its latest "
                    f"work there), and does not wait for it; let it wait, with "
                    f"ng.cuda.current_stream().wait_stream(other)"
                )
