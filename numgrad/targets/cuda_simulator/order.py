"""Streams of the simulator: kernels run at once, one after the other, so nothing is ever done too
early; whether a GPU might do it too early is found out by clocks.

Each stream counts its work, and knows up to which work of the others it comes later: a vector
clock. It learns from events, and from the host, which learns when it waits for a stream. Two
accesses to a byte, one of them to write it, have to be ordered by that. A block of memory that is
made or given back counts as written.

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
"""For each stream, by its number, how much of its work is over."""


class OrderError(RuntimeError):
    """Two streams use memory in an order that nothing ensures."""


class Event(NamedTuple):
    """What is over when an event happens."""

    clock: Clock
    seconds: float


def _learn(clock: Clock, other: Clock) -> None:
    for number, count in other.items():
        if clock.get(number, 0) < count:
            clock[number] = count


class Order:
    """What the streams of a device and the threads of the host know of each other."""

    def __init__(self) -> None:
        self._threads = threading.local()
        self._count = itertools.count(1)
        self.queues: weakref.WeakSet[Queue] = weakref.WeakSet()

    def add(self, queue: "Queue") -> int:
        """Return the number of another stream."""
        self.queues.add(queue)
        return next(self._count)

    @property
    def host(self) -> Clock:
        """What is over, as this thread knows."""
        return vars(self._threads).setdefault("clock", {})

    def observe(self, event: Event) -> None:
        """Wait on the host."""
        _learn(self.host, event.clock)


class Queue:
    """A stream of the simulator.

    Attributes
    ----------
    number : int
    clock : dict
        What is over before its next work begins.
    doing : str
        Its latest work.
    """

    def __init__(self, order: Order) -> None:
        self._order = order
        self.number = order.add(self)
        self.clock: Clock = {self.number: 0}
        self.doing = ""

    def work(self, doing: str) -> None:
        """Begin another piece of work, which the host asks for."""
        _learn(self.clock, self._order.host)
        self.clock[self.number] += 1
        self.doing = doing

    def record(self) -> Event:
        """Return the moment at which all its work so far is over."""
        return Event(dict(self.clock), perf_counter())

    def wait(self, event: Event) -> None:
        """Begin what comes after an event."""
        _learn(self.clock, event.clock)


class Accesses:
    """Which streams have read and written each byte of a block, and when.

    Parameters
    ----------
    nbytes : int
    """

    def __init__(self, nbytes: int) -> None:
        self._nbytes = nbytes
        self._times: dict[bool, dict[int, np.ndarray]] = {False: {}, True: {}}
        self._names: dict[int, str] = {}

    def read(self, where: Any, queue: Queue) -> None:
        """Note that bytes are read by the work that a stream does now.

        Raises
        ------
        OrderError
            If another stream has written one of them, and may not be ready.
        """
        self._require_order(True, where, queue)
        self._note(False, where, queue)

    def write(self, where: Any, queue: Queue) -> None:
        """Note that bytes are written by the work that a stream does now.

        Raises
        ------
        OrderError
            If another stream has read or written one of them, and may not be ready.
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
