"""The driver of a GPU that is not there: memory is the host's, and kernels are compiled alone."""

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..._errors import DeviceError
from ...ir.device_array import DeviceArray
from ..cuda.compile.kernel import Kernel
from ..cuda.device.driver import THREADS_OF_PROCESSOR, Driver
from ..cuda.kernels.product import tiles

MEMORY = 1 << 40
"""The bytes of memory that the device reports."""


class Block:
    """A block of memory of the host.

    Attributes
    ----------
    data : ndarray of uint8
    """

    __slots__ = ("data",)

    def __init__(self, nbytes: int) -> None:
        self.data = np.zeros(nbytes, np.uint8)


class Event(NamedTuple):
    """What happened at a time in seconds."""

    seconds: float


class Queue:
    """A stream, whose work is done at once."""

    def __init__(self, number: int) -> None:
        self.number = number


class Compiled(NamedTuple):
    """A kernel that was compiled, and is launched by nobody."""

    kernel: Kernel

    @property
    def parameters(self) -> tuple[Any, ...]:
        """The parameters of the kernel."""
        return self.kernel.parameters


class AbsentGPU:
    """The driver of a GPU that is not there, with the methods of `Driver`.

    Parameters
    ----------
    capability : tuple of int
        The compute capability, such as (9, 0).
    processors : int
        The number of multiprocessors, on which the choice of some kernels depends.

    Attributes
    ----------
    compiled, found, unkept : int
        How many kernels were compiled into the cache on disk, how many were there, and how many no
        cache can keep, as they depend on an object that no other process can recognise.
    """

    REDUCING, NEIGHBOURS = Driver.REDUCING, Driver.NEIGHBOURS
    keeps_blocks = False
    tiles = staticmethod(tiles)
    blas = solver = fourier = launch_address = enter_each_time = None

    def __init__(self, capability: tuple[int, int], processors: int) -> None:
        self.capability, self.PROCESSORS = capability, processors
        self.RESIDENT = processors * THREADS_OF_PROCESSOR
        self._streams = 0
        self.default_stream = self.new_stream()
        self.compiled = self.found = self.unkept = 0

    def prepare(self, kernel: Kernel) -> Compiled:
        """Compile a kernel into the cache on disk, unless it is there."""
        from ..cuda.compile import cubins

        if cubins.key_of(kernel, self.capability) is None:
            self.unkept += 1
        elif cubins.kept(kernel, self.capability) is not None:
            self.found += 1
        else:
            cubins.cubin(kernel, self.capability)
            self.compiled += 1
        return Compiled(kernel)

    def launch(self, *_: Any) -> None:
        raise DeviceError("a GPU that is not there cannot launch a kernel")

    captured = launch_graph = launch

    def word(self, bits: int, value: int) -> int:
        return value

    # Streams and events

    def new_stream(self, priority: int = 0) -> Queue:
        self._streams += 1
        return Queue(self._streams)

    def external_stream(self, obj: Any) -> Queue:
        raise DeviceError("a GPU that is not there has no streams of other libraries")

    def address_of(self, queue: Queue) -> int:
        return queue.number

    def record(self, queue: Queue, timing: bool = False) -> Event:
        return Event(perf_counter())

    def wait(self, queue: Queue, event: Event) -> None:
        pass

    def synchronize(self, queue: Any) -> None:
        pass

    synchronize_event = synchronize

    def synchronize_device(self) -> None:
        pass

    def is_done(self, event: Event) -> bool:
        return True

    def milliseconds(self, begin: Event, end: Event) -> float:
        return 1e3 * (end.seconds - begin.seconds)

    # Memory

    def memory_info(self) -> tuple[int, int]:
        return MEMORY, MEMORY

    def empty_pinned(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        return np.empty(shape, dtype)

    def allocate(self, nbytes: int, queue: Queue) -> Block:
        return Block(nbytes)

    def free(self, block: Block, queue: Queue) -> None:
        pass

    def upload(self, block: Block, offset: int, array: np.ndarray, queue: Queue) -> None:
        data = array.reshape(-1).view(np.uint8)
        block.data[offset : offset + data.size] = data

    def download(self, block: Block, offset: int, nbytes: int, queue: Queue) -> np.ndarray:
        return block.data[offset : offset + nbytes].copy()

    def copy(
        self, to: Block, at: int, source: Block, begin: int, nbytes: int, queue: Queue
    ) -> None:
        to.data[at : at + nbytes] = source.data[begin : begin + nbytes].copy()


def on_host(array: Any) -> Any:
    """Return an array of the absent GPU as an array of NumPy in the same memory; any other object
    is returned itself."""
    if type(array) is not DeviceArray:
        return array
    if not array.size:
        return np.empty(array.shape, array.dtype)
    data: Any = array.memory.block.data
    return np.ndarray(array.shape, array.dtype, data, array.offset, array.strides)


__all__ = ["AbsentGPU", "on_host"]
