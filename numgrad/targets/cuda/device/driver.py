# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
# pyright: reportOptionalMemberAccess=false
"""A GPU, by way of cuda.core: memory of the driver's pool, streams, events and launches.

The module was checked with cuda-core 1.2, whose types pyright does not know. A driver knows nothing
of arrays, tensors or programs. Its methods return at once and leave work to the GPU, unless they
say that they wait.
"""

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ....process.cached_attribute import lazy
from ..compile.kernel import Kernel, Parameter
from ..kernels.product import tiles
from .available import device_count, require
from .page_locked import empty_pinned, is_page_locked

THREADS = 256
"""The threads of a block, in kernels whose threads walk over elements one by one."""

_VERSION = 4000
"""The version of CUDA in which ``cuLaunchKernel`` got the form that is called."""

THREADS_OF_PROCESSOR = 2048
"""The most threads that a multiprocessor runs at once, on GPUs for computing."""

_WAVES = 16
"""The most blocks of threads for each multiprocessor: more than a multiprocessor runs at once, and
so few that each thread has several elements of a large array."""


class Prepared(NamedTuple):
    """A kernel that can be launched.

    Attributes
    ----------
    kernel : Kernel
    threads : int
        The threads of a block.
    elements : int
        The elements, or other units of work, that a block takes at a time.
    function
        The kernel as an object of cuda.core.
    """

    kernel: Kernel
    threads: int
    elements: int
    function: Any

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of the kernel."""
        return self.kernel.parameters


def prepared(kernel: Kernel, function: Any) -> Prepared:
    """Return a kernel ready for launches; ``function`` is its compiled code, of cuda.core."""
    per_block = THREADS if kernel.threads is None else 1
    return Prepared(kernel, kernel.threads or THREADS, per_block, function)


class Block(NamedTuple):
    """A block of device memory.

    Attributes
    ----------
    address : int
    owner
        The buffer of cuda.core that frees the memory, if it is numgrad's.
    """

    address: int
    owner: Any


class _Thread(threading.local):
    """The state of a thread of the host: whether this GPU was set as the thread's device."""

    is_here = False


class Driver:
    """The driver of a GPU: its memory, streams and events, and launches of kernels.

    Parameters
    ----------
    index : int
        The number of the GPU.
    """

    REDUCING = 256
    NEIGHBOURS = 32  # the threads of a warp
    keeps_blocks = True
    tiles = staticmethod(tiles)

    def __init__(self, index: int) -> None:
        from cuda.core import Device, launch

        self._device, self._launch = Device(index), launch
        self._is_one_of_many = device_count() > 1
        self._thread = _Thread()
        self._enter()
        major, minor = self._device.compute_capability
        self.capability = (int(major), int(minor))
        self.PROCESSORS = self._device.properties.multiprocessor_count
        self.RESIDENT = self.PROCESSORS * THREADS_OF_PROCESSOR
        self._most = _WAVES * self.PROCESSORS
        self.default_stream = self._device.default_stream
        self._pool = self._device.memory_resource

    def _enter(self) -> None:
        """Set the GPU as the device of the calling thread, which may have used another GPU since.
        """
        if not self._thread.is_here or self._is_one_of_many:
            self._device.set_current()
            self._thread.is_here = True

    @property
    def enter_each_time(self) -> Callable[[], None] | None:
        """What a thread has to call before each launch; None if the first one is enough, as there
        is one GPU."""
        return self._enter if self._is_one_of_many else None

    @lazy
    def blas(self) -> Any:
        """The calls of cuBLAS, which multiply matrices; None if cuBLAS is not installed."""
        from ..libraries.blas import found

        self._enter()
        return found(self._resolved)

    @lazy
    def solver(self) -> Any:
        """The calls that factorize large matrices; None if cuSOLVER cannot be loaded."""
        from ..libraries.solver import found

        self._enter()
        return found(self._resolved)

    @lazy
    def fourier(self) -> Any:
        """The calls that compute Fourier transforms; None if cuFFT cannot be loaded."""
        from ..libraries.fourier import found

        self._enter()
        return found(self._resolved)

    def _resolved(self, pointers: Sequence[Any], stream: Any) -> tuple[list[int], int]:
        """Return pointers and a stream as libraries take them: by their addresses."""
        addresses = [block.address + offset for block, offset in pointers]
        return addresses, self.address_of(stream)

    # Streams and events -----------------------------------------------------------------------

    def new_stream(self, priority: int = 0) -> Any:
        """Return a new stream, whose work does not wait for the work of the default stream."""
        from cuda.core import StreamOptions

        self._enter()
        return self._device.create_stream(options=StreamOptions(priority=priority))

    def external_stream(self, obj: Any) -> Any:
        """Return another library's stream as one of cuda.core.

        ``obj`` is the address of a stream, or an object with ``__cuda_stream__`` or
        ``cuda_stream``.
        """
        self._enter()
        address = obj if isinstance(obj, int) else getattr(obj, "cuda_stream", None)
        if address is not None and not hasattr(obj, "__cuda_stream__"):
            obj = _Address(address)
        return self._device.create_stream(obj)

    def address_of(self, stream: Any) -> int:
        """Return the address of the driver's stream, a ``CUstream``."""
        return int(stream.handle)

    def record(self, stream: Any, timing: bool = False) -> Any:
        """Return an event that happens when the work given to a stream so far is done.

        With ``timing`` the event keeps its time; see `milliseconds`.
        """
        self._enter()  # each GPU has a default stream of the same address
        if not timing:
            return stream.record()
        from cuda.core import EventOptions

        return stream.record(options=EventOptions(timing_enabled=True))

    def wait(self, stream: Any, event: Any) -> None:
        """Let work that is given to a stream from now on wait for an event."""
        self._enter()
        stream.wait(event)

    def synchronize(self, stream: Any) -> None:
        """Wait on the host until all work of a stream is done."""
        self._enter()
        stream.sync()

    def synchronize_event(self, event: Any) -> None:
        """Wait on the host until an event has happened."""
        event.sync()

    def synchronize_device(self) -> None:
        """Wait on the host until the work of all streams of the GPU is done."""
        from cuda.bindings import driver

        self._enter()
        require(driver.cuCtxSynchronize(), "wait for the GPU")

    def is_done(self, event: Any) -> bool:
        """Whether an event has happened."""
        return event.is_done

    def milliseconds(self, begin: Any, end: Any) -> float:
        """Return the time between two events, which were recorded with timing."""
        return end - begin

    # Memory -----------------------------------------------------------------------------------

    def memory_info(self) -> tuple[int, int]:
        """Return the free and the total memory of the GPU, in bytes."""
        from cuda.bindings import driver

        self._enter()
        free, total = require(driver.cuMemGetInfo(), "say how much memory there is")
        return free, total

    def allocate(self, nbytes: int, stream: Any) -> Any:
        """Return a new block of device memory for a stream, whose later work may use the block.

        Raises
        ------
        MemoryError
            If the GPU has too little memory left.
        """
        self._enter()
        try:
            buffer = self._pool.allocate(max(nbytes, 1), stream=stream)
        except Exception as error:
            if "OUT_OF_MEMORY" not in str(error):
                raise
            free, total = self.memory_info()
            raise MemoryError(
                f"the GPU has no {nbytes} bytes left for a tensor or a program: {free} of {total} "
                f"are free"
            ) from error
        return Block(int(buffer.handle), buffer)

    def empty_pinned(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Return a new array of the host in page-locked memory, with undefined elements."""
        self._enter()
        return empty_pinned(shape, dtype)

    def free(self, block: Any, stream: Any) -> None:
        """Free a block once the work given to a stream so far is done, without waiting for it."""
        self._enter()
        block.owner.close(stream)

    def upload(self, block: Any, offset: int, array: np.ndarray, stream: Any) -> None:
        """Copy an array in C order to a block; the caller may change the array afterwards.

        The driver reads memory that is not page-locked before the call returns. For page-locked
        memory the method waits until the copy is done.
        """
        if array.nbytes:
            self._enter()
            source = _buffer(array.ctypes.data, array.nbytes, array)
            _part(block, offset, array.nbytes).copy_from(source, stream=stream)
            if is_page_locked(array):
                stream.sync()

    def download(self, block: Any, offset: int, nbytes: int, stream: Any) -> np.ndarray:
        """Wait for the work of a stream, and return a copy on the host of bytes of a block."""
        self._enter()
        found = np.empty(nbytes, np.uint8)
        if nbytes:
            target = _buffer(found.ctypes.data, nbytes, found)
            _part(block, offset, nbytes).copy_to(target, stream=stream)
            stream.sync()
        return found

    def copy(
        self, to: Block, at: int, source: Block, begin: int, nbytes: int, stream: Any
    ) -> None:
        """Copy ``nbytes`` bytes from ``begin`` in block ``source`` to ``at`` in block ``to``."""
        if nbytes:
            self._enter()
            _part(to, at, nbytes).copy_from(_part(source, begin, nbytes), stream=stream)

    # Kernels ----------------------------------------------------------------------------------

    def prepare(self, kernel: Kernel) -> Prepared:
        """Return a kernel that can be launched, compiled or read from the disk cache, and loaded.
        """
        from ..compile.cubins import loaded

        self._enter()
        return prepared(kernel, loaded(kernel, self.capability))

    def word(self, bits: int, value: int) -> Any:
        """Return an integer in the type in which `launch` takes a parameter of so many bits.

        The reason is that cuda.core passes an ``int`` as 64 bits.
        """
        return np.uint32(value) if bits == 32 else int(value)

    def captured(self, launches: Sequence[tuple[Prepared, int, Sequence[Any]]]) -> Any:
        """Return a CUDA graph of launches in this order; each is the arguments of `launch`."""
        self._enter()
        builder = self._device.create_graph_builder().begin_building()
        for launch in launches:
            self.launch(*launch, builder)
        return builder.end_building().complete()

    def launch_graph(self, graph: Any, stream: Any) -> None:
        """Launch all kernels of a CUDA graph on a stream, by one call."""
        self._enter()
        graph.launch(stream)

    def launch(
        self, prepared: Prepared, count: int, arguments: Sequence[Any], stream: Any
    ) -> None:
        """Launch a kernel on a stream, over ``count`` elements or other units of work.

        An argument is a number, a pair of a block and an offset, or an array: a block, an offset,
        a shape and strides in bytes.
        """
        self._enter()
        words: list[Any] = []
        for n, value in enumerate(arguments):
            if type(value) is not tuple:
                words.append(value)
            elif len(value) == 2:
                words.append(value[0].address + value[1])
            else:
                block, offset, shape, strides = value
                before, after = array_words(prepared.parameters[n].dtype.itemsize, shape, strides)
                words += (*before, block.address + offset, *after)
        self._launch(stream, _shape(*self.grid(prepared, count)), prepared.function, *words)

    def grid(self, prepared: Prepared, count: int) -> tuple[int, int]:
        """Return the blocks of a launch over so many units of work, and the threads of a block."""
        return min(-(-count // prepared.elements), self._most), prepared.threads

    @lazy
    def launch_address(self) -> int:
        """The address of the driver's ``cuLaunchKernel``."""
        from cuda.bindings import driver

        found = driver.cuGetProcAddress(b"cuLaunchKernel", _VERSION, 0)
        return int(require(found, "find cuLaunchKernel")[0])

    def function_address(self, prepared: Prepared) -> int:
        """Return the address of a kernel's function, as ``cuLaunchKernel`` takes it."""
        from cuda.bindings import driver

        self._enter()
        kernel = driver.CUkernel(int(prepared.function.handle))
        (function,) = require(driver.cuKernelGetFunction(kernel), "find a kernel")
        return int(function)


class _Address:
    """The address of another library's stream, as an object with ``__cuda_stream__``."""

    def __init__(self, address: int) -> None:
        self._address = address

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._address


@lru_cache(1024)
def _shape(blocks: int, threads: int) -> Any:
    from cuda.core import LaunchConfig

    return LaunchConfig(grid=blocks, block=threads)


def _buffer(address: int, nbytes: int, owner: Any) -> Any:
    from cuda.core import Buffer

    return Buffer.from_handle(address, nbytes, owner=owner)


def _part(block: Block, offset: int, nbytes: int) -> Any:
    return _buffer(block.address + offset, nbytes, block.owner)


@lru_cache(4096)
def array_words(
    itemsize: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the arguments that stand for an array in kernels of Numba, except its address.

    The first tuple goes in front of the address: no owner, no parent, the number of elements and
    the size of one. The second tuple goes behind: the shape, and the strides in bytes.
    """
    return (0, 0, prod(shape), itemsize), (*map(int, shape), *map(int, strides))
