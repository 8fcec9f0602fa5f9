"""The runtime of a device: memory, copies and streams, for any driver.

The driver is that of a GPU (`driver`) or the simulator's (`numgrad.targets.cuda_simulator`). What a
driver does not know is kept here: which streams use a block of memory, and the current stream.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....ir.program import extent, is_contiguous
from ....ir.streams import Stream
from ..compile.kernel import Kernel
from .memory import Memory, Usage
from .small_blocks import MOST, Row, SmallBlocks


class Runtime:
    """Memory, copies and the current stream of a device.

    Parameters
    ----------
    name : str
        Such as ``"cuda:0"``.
    driver : Driver or Simulator
    current : callable
        Returns the stream that the user has chosen in the calling thread, on whatever device, or
        None.

    Attributes
    ----------
    small : SmallBlocks or None
        The small blocks that are kept; None if the driver has to see each block given back.
    """

    def __init__(self, name: str, driver: Any, current: Callable[[], Stream | None]) -> None:
        self.name, self.driver = name, driver
        self.usage = Usage()
        self.small: Any = SmallBlocks(self.usage) if driver.keeps_blocks else None
        self._streams = 0
        self.default = Stream.of(self, driver.default_stream)
        self._chosen = current

    def next_number(self) -> int:
        """Return the number of a new stream of the device; the default stream has number 0."""
        self._streams += 1
        return self._streams - 1

    def current(self) -> Stream:
        """Return the stream of this device to which the calling thread gives work."""
        chosen = self._chosen()
        return self.default if chosen is None or chosen.device != self.name else chosen

    def external_stream(self, obj: Any) -> Stream:
        """Return another library's stream as one of this device."""
        return Stream.of(self, self.driver.external_stream(obj))

    def allocate(self, nbytes: int, stream: Stream | None = None) -> Memory:
        """Return a new block of device memory for a stream, by default the current one."""
        stream = stream or self.current()
        row = self.row(nbytes) if stream is self.default else None
        block = None if row is None else self.small.take(row)
        if block is None:
            block = self._new_block(nbytes if row is None else row.size, stream)
        memory = Memory(self, block, nbytes, stream)
        memory.row = row
        self.usage.add(nbytes)
        return memory

    def row(self, nbytes: int) -> Row | None:
        """Return the row of kept blocks from which the default stream gets so many bytes; None for
        bytes that come from the driver."""
        return self.small.row(nbytes) if self.small is not None and nbytes <= MOST else None

    def _new_block(self, nbytes: int, stream: Stream) -> Any:
        """Return a new block of the driver; if there is no memory left, that of kept blocks is
        given back first."""
        try:
            return self.driver.allocate(nbytes, stream.handle)
        except MemoryError:
            if not self.forget_blocks():
                raise
        return self.driver.allocate(nbytes, stream.handle)

    def forget_blocks(self) -> bool:
        """Give all kept blocks back to the driver; return whether there were any."""
        found = [] if self.small is None else self.small.taken_out()
        for block in found:
            self.driver.free(block, self.default.handle)
        return bool(found)

    def prepare(self, kernel: Kernel) -> Any:
        """Return a kernel, compiled and loaded, as the driver launches it."""
        return self.driver.prepare(kernel)

    def uploaded(self, array: np.ndarray) -> Memory:
        """Return memory of the current stream with a copy of an array of bytes of the host."""
        memory = self.allocate(array.nbytes)
        self.upload(memory, 0, array)
        return memory

    def constant(self, array: np.ndarray) -> Memory:
        """Return memory of the default stream with a copy of an array of bytes of the host.

        Other streams that use the memory wait until it is written.
        """
        memory = self.allocate(array.nbytes, self.default)
        self.driver.upload(memory.block, 0, array, self.default.handle)
        memory.ready = self.default.record_event()
        return memory

    def announce(self, memory: Memory) -> None:
        """Let other streams that use a block of memory wait for what its stream has written there
        so far."""
        if self._streams > 1:
            memory.ready = memory.stream.record_event()

    def upload(self, memory: Memory, offset: int, array: np.ndarray) -> None:
        """Copy an array of the host, in C order, to a block from byte ``offset`` on."""
        stream = self.current()
        self.driver.upload(memory.used_by(stream), offset, array, stream.handle)

    def read(
        self, memory: Memory, offset: int, dtype: np.dtype, shape: Sequence[int],
        strides: Sequence[int], stream: Stream | None = None,
    ) -> np.ndarray:  # fmt: skip
        """Wait for the work of a stream, and copy a strided array of a block to the host.

        ``offset`` and ``strides`` are in bytes; the result is in C order.
        """
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
        """Return a copy of the bytes of a block that the elements of a strided array span.

        The second result is the distance in bytes from the element at index 0 to the first of these
        bytes, negative if a stride is.
        """
        low, high = extent(tuple(shape), tuple(strides))
        nbytes = high - low + dtype.itemsize
        block = memory.used_by(stream)
        return self.driver.download(block, offset + low, nbytes, stream.handle), low

    def write(
        self, memory: Memory, offset: int, shape: Sequence[int], strides: Sequence[int],
        array: np.ndarray, stream: Stream | None = None,
    ) -> None:  # fmt: skip
        """Copy an array of the host to the elements of a strided array of a block.

        The bytes between these elements keep their values.
        """
        if 0 in shape:
            return
        stream = stream or self.current()
        found, low = np.ascontiguousarray(array), 0
        if not is_contiguous(tuple(shape), tuple(strides), array.itemsize):
            found, low = self._around(memory, offset, array.dtype, shape, strides, stream)
            there = np.ndarray(shape, array.dtype, found, -low, strides)  # type: ignore[call-overload]
            there[...] = array
        self.driver.upload(memory.used_by(stream), offset + low, found, stream.handle)
