"""The runtime of a device: memory, copies and streams, for any driver.

The driver is that of a GPU (`driver`) or the simulator's (`numgrad.targets.cuda_simulator`); it
knows neither the users of memory nor the current stream.
"""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import numpy as np

from ....ir.program import extent, is_contiguous
from ....ir.streams import Stream
from ..compile.kernel import Kernel
from .memory import Memory, Usage


class Runtime:
    """Memory, copies and the current stream of a device.

    Parameters
    ----------
    name : str
        Such as ``"cuda:0"``.
    driver
    current : callable
        Returns the stream that the user has chosen in this thread, of any device; None if none.
    """

    def __init__(self, name: str, driver: Any, current: Callable[[], Stream | None]) -> None:
        self.name, self.driver = name, driver
        self.usage = Usage()
        self.next_number = count().__next__
        self.default = Stream.of(self, driver.default_stream)
        self._chosen = current

    def current(self) -> Stream:
        """Return the stream to which this thread gives its work."""
        chosen = self._chosen()
        return self.default if chosen is None or chosen.device != self.name else chosen

    def external_stream(self, obj: Any) -> Stream:
        """Return another library's stream as one of this device."""
        return Stream.of(self, self.driver.external_stream(obj))

    def allocate(self, nbytes: int, stream: Stream | None = None) -> Memory:
        """Return a block of memory for a stream."""
        stream = stream or self.current()
        memory = Memory(self, self.driver.allocate(nbytes, stream.handle), nbytes, stream)
        self.usage.add(nbytes)
        return memory

    def prepare(self, kernel: Kernel) -> Any:
        """Make a kernel ready to be launched."""
        return self.driver.prepare(kernel)

    def upload(self, memory: Memory, offset: int, array: np.ndarray) -> None:
        """Copy a host array in C order to a place in memory."""
        stream = self.current()
        self.driver.upload(memory.used_by(stream), offset, array, stream.handle)

    def read(
        self, memory: Memory, offset: int, dtype: np.dtype, shape: Sequence[int],
        strides: Sequence[int], stream: Stream | None = None,
    ) -> np.ndarray:  # fmt: skip
        """Wait for a stream, and copy elements to a new array of the host."""
        if 0 in shape:
            return np.empty(shape, dtype)
        stream = stream or self.current()
        found, low = self._around(memory, offset, dtype, shape, strides, stream)
        array = np.ndarray(shape, dtype, found, -low, strides)  # type: ignore[call-overload]
        return array if array.flags.c_contiguous else array.copy()

    def _around(
        self, memory: Memory, offset: int, dtype: np.dtype, shape: Sequence[int],
        strides: Sequence[int], stream: Stream,
    ) -> tuple[np.ndarray, int]:  # fmt: skip
        """Return all bytes from the first to the last element, and the offset of the first.

        The offset counts from the element at index 0.
        """
        low, high = extent(tuple(shape), tuple(strides))
        nbytes = high - low + dtype.itemsize
        block = memory.used_by(stream)
        return self.driver.download(block, offset + low, nbytes, stream.handle), low

    def write(
        self, memory: Memory, offset: int, shape: Sequence[int], strides: Sequence[int],
        array: np.ndarray, stream: Stream | None = None,
    ) -> None:  # fmt: skip
        """Copy an array of the host to elements; the bytes between them stay."""
        if 0 in shape:
            return
        stream = stream or self.current()
        found, low = np.ascontiguousarray(array), 0
        if not is_contiguous(tuple(shape), tuple(strides), array.itemsize):
            found, low = self._around(memory, offset, array.dtype, shape, strides, stream)
            there = np.ndarray(shape, array.dtype, found, -low, strides)  # type: ignore[call-overload]
            there[...] = array
        self.driver.upload(memory.used_by(stream), offset + low, found, stream.handle)
