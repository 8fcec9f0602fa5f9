"""Streams of the simulator, with vector clocks that find races between streams.

The simulator runs kernels at once, one after the other, so a race would stay unnoticed. Therefore
each stream counts its pieces of work. The clock of a stream holds, for every stream, how many of
these pieces are certain to be over before its next piece begins. Such knowledge comes from the
events that a stream waits for, and from the host, whose clock advances when the host waits for a
stream. Two accesses to a byte, one of them a write, must be ordered by these clocks. To allocate or
to free a block of memory counts as a write.

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
"""For each stream, by number, how many pieces of its work are known to be over."""


class OrderError(RuntimeError):
    """Raised when two streams use memory and no event ensures which of them comes first."""


class Event(NamedTuple):
    """An event: the clock of all work that is over when the event happens, and its time."""

    clock: Clock
    seconds: float


def _learn(clock: Clock, other: Clock) -> None:
    for number, count in other.items():
        if clock.get(number, 0) < count:
            clock[number] = count


class Order:
    """The streams of a simulated device, and a clock for each thread of the host."""

    def __init__(self) -> None:
        self._threads = threading.local()
        self._count = itertools.count(1)
        self.queues: weakref.WeakSet[Queue] = weakref.WeakSet()

    def add(self, queue: "Queue") -> int:
        """Add a stream of the device, and return the number of the stream."""
        self.queues.add(queue)
        return next(self._count)

    @property
    def host(self) -> Clock:
        """The clock of the calling thread: the work that this thread knows to be over."""
        return vars(self._threads).setdefault("clock", {})

    def observe(self, event: Event) -> None:
        """Wait on the host for an event: the calling thread's clock learns what is over by then."""
        _learn(self.host, event.clock)


class Queue:
    """A stream of the simulator.

    Attributes
    ----------
    number : int
    clock : dict
        The work of each stream that is over before the next work of this stream begins.
    doing : str
        What the latest work of this stream does, for errors.
    """

    def __init__(self, order: Order) -> None:
        self._order = order
        self.number = order.add(self)
        self.clock: Clock = {self.number: 0}
        self.doing = ""

    def work(self, doing: str) -> None:
        """Begin another piece of work of the stream, which ``doing`` describes.

        All work that the host knows to be over comes before.
        """
        _learn(self.clock, self._order.host)
        self.clock[self.number] += 1
        self.doing = doing

    def record(self) -> Event:
        """Return an event that happens when all work of the stream so far is over."""
        return Event(dict(self.clock), perf_counter())

    def wait(self, event: Event) -> None:
        """Let work that the stream begins from now on come after an event."""
        _learn(self.clock, event.clock)


class Accesses:
    """For each byte of a block of memory, the latest read and the latest write of each stream.

    Parameters
    ----------
    nbytes : int
        The size of the block.
    """

    def __init__(self, nbytes: int) -> None:
        self._nbytes = nbytes
        self._times: dict[bool, dict[int, np.ndarray]] = {False: {}, True: {}}
        self._names: dict[int, str] = {}

    def read(self, where: Any, queue: Queue) -> None:
        """Note that the latest work of a stream reads the bytes with the indices ``where``.

        Raises
        ------
        OrderError
            If another stream has written one of the bytes, and that work may not be over.
        """
        self._require_order(True, where, queue)
        self._note(False, where, queue)

    def write(self, where: Any, queue: Queue) -> None:
        """Note that the latest work of a stream writes the bytes with the indices ``where``.

        Raises
        ------
        OrderError
            If another stream has read or written one of the bytes, and that work may not be over.
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
