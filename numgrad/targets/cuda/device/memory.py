"""Blocks of device memory: the streams that use a block, and the time when it is given back.

A block belongs to the stream for which it was made. Work of other streams may still read it when
its last reference goes: the block is given back after their work, without the host waiting.
"""

import sys
from collections.abc import Callable
from typing import Any

from ....ir.streams import Stream
from ....process.fork_locks import fork_safe_lock


class Usage:
    """The bytes of a device's memory in use, now and at most."""

    def __init__(self) -> None:
        self.now = self.peak = 0
        self._lock = fork_safe_lock()

    def add(self, nbytes: int) -> None:
        """Count memory that was taken, or with a negative number given back."""
        with self._lock:
            self.now += nbytes
            if self.now > self.peak:
                self.peak = self.now

    def forget_peak(self) -> None:
        """Set the peak to the memory in use now."""
        with self._lock:
            self.peak = self.now


class Memory:
    """A block of device memory, given back with its last reference.

    Parameters
    ----------
    runtime
    block
        The block of the driver.
    nbytes : int
    stream : Stream
        The stream for which the block was made.
    owner : object, optional
        The owner of the memory, if it is not numgrad's.

    Attributes
    ----------
    users : set of Stream or None
        The other streams that have used it, if any.
    """

    __slots__ = ("__weakref__", "_runtime", "block", "nbytes", "owner", "stream", "users")

    def __init__(
        self, runtime: Any, block: Any, nbytes: int, stream: Stream, owner: Any = None
    ) -> None:
        self._runtime, self.block, self.nbytes = runtime, block, nbytes
        self.stream, self.owner = stream, owner
        self.users: set[Stream] | None = None

    def used_by(self, stream: Stream) -> Any:
        """Note that work of a stream uses the block, and return it.

        Raises
        ------
        RuntimeError
            If it was given back.
        """
        if self.block is None:
            raise RuntimeError("device memory is used after it was given back")
        if stream is not self.stream:
            self.users = self.users or set()
            self.users.add(stream)
        return self.block

    def give_back(self) -> None:
        """Give the block back after all work that uses it; memory of an owner is only released."""
        block, self.block = self.block, None
        if block is None:
            return
        for user in self.users or ():
            self.stream.wait_stream(user)
        if self.owner is None:
            self._runtime.driver.free(block, self.stream.handle)
            self._runtime.usage.add(-self.nbytes)
        self.owner = None

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_finalizing():  # a process that ends gives back all its memory
            self.give_back()

    def __repr__(self) -> str:
        size = "given back" if self.block is None else f"{self.nbytes} bytes"
        return f"<device memory, {size}>"
