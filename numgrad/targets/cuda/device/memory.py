"""Blocks of device memory: which streams use a block, and when the block is freed.

A block belongs to the stream for which it was made. When the last reference to a block goes, work
of other streams may still read the block. So the block is freed after the work of these streams,
and the host does not wait for that.
"""

import sys
from collections.abc import Callable
from typing import Any

from ....ir.streams import Event, Stream
from ....process.fork_locks import fork_safe_lock


class Usage:
    """The bytes of a device's memory that are in use: now, and at the peak so far."""

    __slots__ = ("lock", "now", "peak")

    def __init__(self) -> None:
        self.now = self.peak = 0
        self.lock = fork_safe_lock()

    def add(self, nbytes: int) -> None:
        """Count bytes that were allocated, or freed if the number is negative."""
        with self.lock:
            self.now += nbytes
            if self.now > self.peak:
                self.peak = self.now

    def forget_peak(self) -> None:
        """Set the peak to the memory in use now."""
        with self.lock:
            self.peak = self.now


class Memory:
    """A block of device memory, which is freed when the last reference to this object goes.

    Parameters
    ----------
    runtime : Runtime
    block
        The driver's object for the memory.
    nbytes : int
    stream : Stream
        The stream for which the block was made.
    owner : object, optional
        The object of another library to which the memory belongs; None for numgrad's own memory.

    Attributes
    ----------
    users : set of Stream or None
        The streams other than ``stream`` that have used the block, if any.
    ready : Event or None
        The event for which other streams wait before they use the block, if ``stream`` writes it
        once.
    row : Row or None
        Where the block is kept when it is given back; None for blocks that the driver gets.
    """

    __slots__ = (
        "__weakref__", "_runtime", "block", "nbytes", "owner", "ready", "row", "stream",
        "users",
    )  # fmt: skip

    def __init__(
        self, runtime: Any, block: Any, nbytes: int, stream: Stream, owner: Any = None
    ) -> None:
        self._runtime, self.block, self.nbytes = runtime, block, nbytes
        self.stream, self.owner = stream, owner
        self.users: set[Stream] | None = None
        self.ready: Event | None = None
        self.row: Any = None

    def used_by(self, stream: Stream) -> Any:
        """Note that work of a stream uses the block, and return the driver's object for the block.

        Raises
        ------
        RuntimeError
            If the block was freed before.
        """
        if self.block is None:
            raise RuntimeError("device memory is used after it was given back")
        if stream is not self.stream:
            if self.ready is not None:
                stream.wait_event(self.ready)
            self.users = self.users or set()
            self.users.add(stream)
        return self.block

    def give_back(self) -> None:
        """Free the block after all work that uses it, without waiting.

        Memory of another library is not freed: only the reference to its owner is dropped.
        """
        block, self.block = self.block, None
        if block is None:
            return
        if self.users:
            for user in self.users:
                self.stream.wait_stream(user)
        if self.owner is None:
            row, runtime = self.row, self._runtime
            if row is None or not runtime.small.keep(row, block, self.nbytes):
                runtime.driver.free(block, self.stream.handle)
                runtime.usage.add(-self.nbytes)
        self.owner = None

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_finalizing():  # the driver frees all memory of a process that ends
            self.give_back()

    def __repr__(self) -> str:
        size = "given back" if self.block is None else f"{self.nbytes} bytes"
        return f"<device memory, {size}>"
