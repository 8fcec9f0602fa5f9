"""The driver of a simulated GPU: memory is NumPy's, and kernels run in Numba's simulator of CUDA.

Numba simulates CUDA for the whole process: ``NUMBA_ENABLE_CUDASIM=1`` must be set before Numba is
imported. New memory holds NaN. The simulator raises an error for an access outside of a block of
memory or to a block that was freed, for a race of threads in shared memory, and for a race of
streams in a block of memory. Kernels run with few threads in several blocks.
"""

import warnings
from collections.abc import Sequence
from functools import partial
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
from numba import cuda
from numba.cuda.simulator import kernel as kernel_module

from ..._errors import DeviceError
from ...process.fork_locks import fork_safe_lock
from ..binding import bind
from ..cuda.compile.kernel import Array, Function, Kernel, Number, Pointer, Word
from ..cuda.kernels.pairwise import core_names
from ..cuda.kernels.product import Tile
from . import scalar_math
from .blocks import grid
from .order import Accesses, Event, Order, Queue
from .sharing import Shared

PROCESSORS = 3
"""The number of multiprocessors that the simulated GPU is said to have; see `tiles.planned`."""

REDUCING = 5
"""The threads that add up parts of sums together: two that add, two that add rounding errors, and
one that does the rest; see `kernels.reduction.of_parts`. Kernels of warps have 32 threads."""

RESIDENT, NEIGHBOURS = 2, 2
"""The threads that the simulated GPU is said to run at once, and how many of them are to read
neighbours: so few that small loops go by rows."""

THREADS, BLOCKS = 3, 2
"""The threads of a block and the blocks of a launch, in kernels that walk over elements: so few
that a thread has several elements."""

_POISON = 0xFF  # all bytes of a NaN


class Block:
    """A block of simulated device memory.

    Attributes
    ----------
    data : ndarray of uint8, or None
        The bytes; None once the block was freed.
    accesses : Accesses
        The streams that have read and written each byte.
    """

    __slots__ = ("accesses", "data")

    def __init__(self, nbytes: int) -> None:
        self.data: np.ndarray | None = np.full(nbytes, _POISON, np.uint8)
        self.accesses = Accesses(nbytes)

    def elements(self, dtype: np.dtype, offset: int) -> tuple[np.ndarray, int]:
        """Return the block as an array of a dtype, and the index there of the element at an offset.

        The array begins at the first byte that is whole elements away from the offset.
        """
        if self.data is None:
            raise RuntimeError("device memory is used after it was given back")
        first = offset % dtype.itemsize
        usable = (self.data.size - first) // dtype.itemsize * dtype.itemsize
        return self.data[first : first + usable].view(dtype), offset // dtype.itemsize

    def array(
        self, dtype: np.dtype, offset: int, shape: Sequence[int], strides: Sequence[int]
    ) -> np.ndarray:
        """Return a strided array of the block, after a check that all elements lie in the block."""
        self._require_inside(dtype, offset, shape, strides)
        return np.ndarray(shape, dtype, self.data, offset, strides)  # type: ignore[call-overload]

    def touched(
        self, dtype: np.dtype, offset: int, shape: Sequence[int], strides: Sequence[int]
    ) -> np.ndarray:
        """Return a mask over the bytes of the block: true where an element of a strided array lies.
        """
        assert self.data is not None
        mask = np.zeros(self.data.size, bool)
        if 0 not in shape:
            shape, strides = (*shape, dtype.itemsize), (*strides, 1)
            np.ndarray(shape, bool, mask, offset, strides)[...] = True  # type: ignore[call-overload]
        return mask

    def _require_inside(
        self, dtype: np.dtype, offset: int, shape: Sequence[int], strides: Sequence[int]
    ) -> None:
        low, high = _reach(dtype, shape, strides)
        if self.data is None or offset + low < 0 or offset + high > self.data.size:
            raise IndexError(f"bytes {offset + low} to {offset + high} are outside of {self!r}")

    def __repr__(self) -> str:
        size = "given back" if self.data is None else f"{self.data.size} bytes"
        return f"<simulated device memory, {size}>"


def _reach(dtype: np.dtype, shape: Sequence[int], strides: Sequence[int]) -> tuple[int, int]:
    """Return the first byte that the elements of an array span, and the end, as offsets.

    The offsets count from the element at index 0, so the first is negative if a stride is.
    """
    if 0 in shape:
        return 0, 0
    ends = [(size - 1) * stride for size, stride in zip(shape, strides, strict=True)]
    return sum(min(e, 0) for e in ends), sum(max(e, 0) for e in ends) + dtype.itemsize


class _Elements:
    """A typed pointer that kernels get, which notes the elements that are read and written."""

    __slots__ = ("_data", "_first", "read", "written")

    def __init__(self, block: Block, dtype: np.dtype, offset: int) -> None:
        self._data, self._first = block.elements(dtype, offset)
        self.read, self.written = bytearray(self._data.size), bytearray(self._data.size)

    def _place(self, index: Any) -> int:
        place = self._first + int(index)
        if not 0 <= place < self._data.size:
            raise IndexError(f"element {index} is outside of the device memory")
        return place

    def __getitem__(self, index: Any) -> Any:
        place = self._place(index)
        self.read[place] = 1
        return self._data[place]

    def __setitem__(self, index: Any, value: Any) -> None:
        place = self._place(index)
        self.written[place] = 1
        self._data[place] = value


class _View:
    """An array that kernels get: a wrapper, as Numba's simulator would copy an array of NumPy."""

    __slots__ = ("_array", "shape")

    def __init__(self, array: np.ndarray) -> None:
        self._array = array
        self.shape = array.shape

    def __getitem__(self, key: Any) -> Any:
        return self._array[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array[key] = value


class Prepared(NamedTuple):
    """A kernel, and its text as a function of Python, ready to be launched."""

    kernel: Kernel
    function: Any

    @property
    def parameters(self) -> tuple[Any, ...]:
        """The parameters of the kernel."""
        return self.kernel.parameters


def _bound(value: Any) -> Any:
    if not isinstance(value, Function):
        return value
    function = getattr(value.function, "py_func", value.function)
    if value.dtype is None:
        return bind(function, scalar_math.scalar, is_complex=value.is_complex)
    names = core_names(scalar_math.real, value.dtype)
    return bind(function, names._replace(functions={**names.functions, cuda: _launched}))


class _Launched:
    """The object called ``cuda`` in kernels, which hands attributes of the running launch on.

    Without this object, Numba's simulator would put each launch into the globals of the kernel's
    functions while they run, and threads would restore these globals in the wrong order.
    """

    shared = Shared

    def __getattr__(self, name: str) -> Any:
        return getattr(kernel_module._get_kernel_context(), name)


_launched = _Launched()
_one_at_a_time = fork_safe_lock()  # Numba simulates one kernel at a time


class Simulator:
    """The driver of a simulated GPU, with the methods of `targets.cuda.device.driver.Driver`."""

    REDUCING, PROCESSORS = REDUCING, PROCESSORS
    RESIDENT, NEIGHBOURS = RESIDENT, NEIGHBOURS
    keeps_blocks = False  # what is used after it was given back is seen
    blas = solver = fourier = launch_address = enter_each_time = None

    def __init__(self) -> None:
        self._order = Order()
        self.default_stream = self.new_stream()

    def tiles(self, dtype: np.dtype) -> tuple[Tile, ...]:
        return (
            Tile(4, 4, 2, 2, 2, 4, terms=4), Tile(2, 2, 2, 1, 2, 4, terms=4),
            Tile(2, 2, 2, 2, 1, 4, terms=4),
        )  # fmt: skip

    def new_stream(self, priority: int = 0) -> Queue:
        return Queue(self._order)

    def address_of(self, queue: Queue) -> int:
        return queue.number

    def record(self, queue: Queue, timing: bool = False) -> Event:
        return queue.record()

    def wait(self, queue: Queue, event: Event) -> None:
        queue.wait(event)

    def synchronize(self, queue: Queue) -> None:
        self._order.observe(queue.record())

    def empty_pinned(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        raise DeviceError("the simulator has no page-locked memory: np.empty does as well")

    def synchronize_device(self) -> None:
        for queue in self._order.queues:
            self.synchronize(queue)

    def external_stream(self, obj: Any) -> Queue:
        raise DeviceError(
            f"the simulator has no streams of others, got {type(obj).__name__}: make one by "
            f"ng.cuda.Stream()"
        )

    def synchronize_event(self, event: Event) -> None:
        self._order.observe(event)

    def is_done(self, event: Event) -> bool:
        return True

    def milliseconds(self, begin: Event, end: Event) -> float:
        return 1e3 * (end.seconds - begin.seconds)

    def memory_info(self) -> tuple[int, int]:
        return MEMORY, MEMORY

    def allocate(self, nbytes: int, queue: Queue) -> Block:
        block = Block(nbytes)
        queue.work("the making of memory")
        block.accesses.write(..., queue)
        return block

    def free(self, block: Block, queue: Queue) -> None:
        queue.work("the giving back of memory")
        block.accesses.write(..., queue)
        block.data = None

    def upload(self, block: Block, offset: int, array: np.ndarray, queue: Queue) -> None:
        data = array.reshape(-1).view(np.uint8)
        block.array(data.dtype, offset, data.shape, data.strides)[...] = data
        queue.work("a copy to the device")
        block.accesses.write(slice(offset, offset + data.size), queue)

    def download(self, block: Block, offset: int, nbytes: int, queue: Queue) -> np.ndarray:
        found = block.array(np.dtype(np.uint8), offset, (nbytes,), (1,)).copy()
        queue.work("a copy to the host")
        block.accesses.read(slice(offset, offset + nbytes), queue)
        self.synchronize(queue)
        return found

    def word(self, bits: int, value: int) -> Any:
        return np.uint32(value) if bits == 32 else np.int64(value)

    def copy(
        self, to: Block, at: int, source: Block, begin: int, nbytes: int, queue: Queue
    ) -> None:
        byte = np.dtype(np.uint8)
        found = source.array(byte, begin, (nbytes,), (1,))
        to.array(byte, at, (nbytes,), (1,))[...] = found
        queue.work("a copy on the device")
        source.accesses.read(slice(begin, begin + nbytes), queue)
        to.accesses.write(slice(at, at + nbytes), queue)

    def captured(self, launches: Sequence[tuple[Any, int, Sequence[Any]]]) -> Any:
        return launches

    def launch_graph(self, graph: Any, queue: Queue) -> None:
        for prepared, count, arguments in graph:
            self.launch(prepared, count, arguments, queue)

    def prepare(self, kernel: Kernel) -> Prepared:
        scope = {name: _bound(value) for name, value in kernel.scope.items()}
        scope |= {"cuda": _launched, "np": np}
        exec(compile(kernel.text, f"<kernel {kernel.name}>", "exec"), scope)
        return Prepared(kernel, scope["kernel"])

    def launch(
        self, prepared: Prepared, count: int, arguments: Sequence[Any], queue: Queue
    ) -> None:
        pairs = list(zip(prepared.kernel.parameters, arguments, strict=True))
        given = [_argument(parameter, value) for parameter, value in pairs]
        _simulate(prepared, given)
        queue.work(f"kernel {prepared.kernel.name}")
        for (parameter, value), argument in zip(pairs, given, strict=True):
            _note(parameter, value, argument, queue)


MEMORY = 1 << 30
"""The bytes of memory that the simulated device reports."""


def _simulate(prepared: Prepared, given: Sequence[Any]) -> None:
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of overflows and the like
        launch = grid(BLOCKS, prepared.kernel.threads or THREADS)
        launch.run(partial(prepared.function, *given), is_reversed=next(_backwards))


_backwards = cycle((False, True))


def _argument(parameter: Any, value: Any) -> Any:
    if isinstance(parameter, Word | Number):
        return value
    if isinstance(parameter, Pointer):
        block, offset = value
        return _Elements(block, parameter.dtype, offset)
    assert isinstance(parameter, Array)
    block, offset, shape, strides = value
    return _View(block.array(parameter.dtype, offset, shape, strides))


def _note(parameter: Any, value: Any, argument: Any, queue: Queue) -> None:
    """Note the accesses of a kernel to a parameter in its block of memory.

    A pointer knows which elements were accessed. Of an array all elements count as accessed.
    """
    if isinstance(parameter, Pointer):
        block, offset = value
        first, size = offset % parameter.dtype.itemsize, parameter.dtype.itemsize
        for marks, note in (
            (argument.read, block.accesses.read), (argument.written, block.accesses.write),
        ):  # fmt: skip
            if 1 in marks:
                note(_bytes_of(marks, first, size), queue)
    elif isinstance(parameter, Array):
        block, offset, shape, strides = value
        mask = block.touched(parameter.dtype, offset, shape, strides)
        note = block.accesses.write if parameter.is_written else block.accesses.read
        note(mask, queue)


def _bytes_of(marks: bytearray, first: int, size: int) -> Any:
    """Return the indices of the bytes of marked elements, as a slice if the bytes are contiguous.

    ``marks`` has a 1 for each marked element; the elements have ``size`` bytes and begin at byte
    ``first``.
    """
    begin, end = marks.find(1), marks.rfind(1) + 1
    if marks.count(1) == end - begin:
        return slice(first + begin * size, first + end * size)
    return np.flatnonzero(np.repeat(np.frombuffer(marks, bool), size)) + first
