"""A GPU that is not there: memory is NumPy's, and kernels run in Numba's simulator of CUDA.

Numba simulates a whole process or none: the environment says ``NUMBA_ENABLE_CUDASIM=1`` before
Numba is imported. New memory holds NaN; what lies outside of a block of memory or was given back is
an error, and so is a race for shared memory; kernels run with few threads in several blocks.
"""

import sys
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import cuda
from numba.cuda.simulator import kernel as kernel_module

from ..._locks import fork_safe_lock
from ..binding import bind
from . import simulated_math
from .halved import core_names
from .kernel import Array, Function, Kernel, Pointer, Word
from .product import Tile
from .simulated_sharing import Shared, syncthreads

PROCESSORS = 3
"""What runs blocks of threads at once; see `factors.planned`."""

blas = None
"""No library multiplies matrices."""

REDUCING = 3
"""Threads that reduce a block of elements together: as they do not divide it, every thread meets
elements of others at every step."""

THREADS, BLOCKS = 3, 2
"""The grid of a kernel that goes over elements: so small that a thread has several."""

_POISON = 0xFF  # of which the bytes of a NaN are made


def tiles(dtype: np.dtype) -> tuple[Tile, Tile, Tile]:
    """Return tiles of a matrix that have every part of those of a GPU."""
    return (
        Tile(4, 4, 2, 2, 2, 4, terms=4), Tile(2, 2, 2, 1, 2, 4, terms=4),
        Tile(2, 2, 2, 2, 1, 4, terms=4),
    )  # fmt: skip


class Memory:
    """A block of device memory.

    Attributes
    ----------
    data : ndarray of uint8
    """

    __slots__ = ("data",)

    def __init__(self, nbytes: int) -> None:
        self.data: np.ndarray | None = np.full(nbytes, _POISON, np.uint8)

    def elements(self, dtype: np.dtype, offset: int) -> tuple[np.ndarray, int]:
        """Return all memory as elements, and the number of the one at an offset."""
        if self.data is None:
            raise RuntimeError("device memory is used after it was given back")
        first = offset % dtype.itemsize
        usable = (self.data.size - first) // dtype.itemsize * dtype.itemsize
        return self.data[first : first + usable].view(dtype), offset // dtype.itemsize

    def array(
        self, dtype: np.dtype, offset: int, shape: Sequence[int], strides: Sequence[int]
    ) -> np.ndarray:
        """Return elements as an array, after checking that they lie in the memory."""
        low, high = _reach(dtype, shape, strides)
        if self.data is None or offset + low < 0 or offset + high > self.data.size:
            raise IndexError(f"bytes {offset + low} to {offset + high} are outside of {self!r}")
        return np.ndarray(shape, dtype, self.data, offset, strides)  # type: ignore[call-overload]

    def __repr__(self) -> str:
        size = "given back" if self.data is None else f"{self.data.size} bytes"
        return f"<simulated device memory, {size}>"


def _reach(dtype: np.dtype, shape: Sequence[int], strides: Sequence[int]) -> tuple[int, int]:
    """Return where the first and behind the last byte of elements are."""
    if 0 in shape:
        return 0, 0
    ends = [(size - 1) * stride for size, stride in zip(shape, strides, strict=True)]
    return sum(min(e, 0) for e in ends), sum(max(e, 0) for e in ends) + dtype.itemsize


class _Elements:
    """A typed pointer: element 0 is where it points to."""

    __slots__ = ("_data", "_first")

    def __init__(self, memory: Memory, dtype: np.dtype, offset: int) -> None:
        self._data, self._first = memory.elements(dtype, offset)

    def _place(self, index: Any) -> int:
        place = self._first + int(index)
        if not 0 <= place < self._data.size:
            raise IndexError(f"element {index} is outside of the device memory")
        return place

    def __getitem__(self, index: Any) -> Any:
        return self._data[self._place(index)]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._data[self._place(index)] = value


class _View:
    """An array parameter; Numba's simulator copies arrays of NumPy that it is given."""

    __slots__ = ("_array", "shape")

    def __init__(self, array: np.ndarray) -> None:
        self._array = array
        self.shape = array.shape

    def __getitem__(self, key: Any) -> Any:
        return self._array[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array[key] = value


def allocate(nbytes: int) -> Memory:
    """Return a block of device memory."""
    return Memory(nbytes)


def upload(memory: Memory, offset: int, array: np.ndarray) -> None:
    """Copy a host array in C order to device memory."""
    assert memory.data is not None
    memory.data[offset : offset + array.nbytes] = array.reshape(-1).view(np.uint8)


def free(memory: Memory) -> None:
    """Give a block of device memory back."""
    memory.data = None


def read(
    memory: Memory, offset: int, dtype: np.dtype, shape: Sequence[int], strides: Sequence[int]
) -> np.ndarray:
    """Copy elements to a new array of the host."""
    return memory.array(dtype, offset, shape, strides).copy()


def write(
    memory: Memory, offset: int, shape: Sequence[int], strides: Sequence[int], array: np.ndarray
) -> None:
    """Copy an array of the host to elements."""
    memory.array(array.dtype, offset, shape, strides)[...] = array


class Prepared(NamedTuple):
    """A kernel that can be launched."""

    kernel: Kernel
    function: Any


def prepare(kernel: Kernel) -> Prepared:
    """Make a kernel ready to be launched."""
    scope = {name: _bound(value) for name, value in kernel.scope.items()}
    scope |= {"cuda": _launched, "np": np}
    exec(compile(kernel.text, f"<kernel {kernel.name}>", "exec"), scope)
    return Prepared(kernel, cuda.jit(scope["kernel"]))


def _bound(value: Any) -> Any:
    if not isinstance(value, Function):
        return value
    function = getattr(value.function, "py_func", value.function)
    if value.dtype is None:
        return bind(function, simulated_math.scalar, is_complex=value.is_complex)
    return bind(function, core_names(simulated_math.real, value.dtype), wrap=_on_device)


class _Launched:
    """What ``cuda`` means in kernels: the simulator's stand-in for it, of the launch under way.

    The simulator itself would put that into the globals of each function while it runs, which
    threads of a kernel do to each other in the wrong order.
    """

    shared = Shared
    syncthreads = staticmethod(syncthreads)

    def __getattr__(self, name: str) -> Any:
        return getattr(kernel_module._get_kernel_context(), name)


_launched = _Launched()
_one_at_a_time = fork_safe_lock()  # Numba simulates one kernel at a time


def _on_device(function: Any) -> Any:
    """Let a function that names ``cuda`` mean the launch under way."""
    if "cuda" in function.__globals__:
        function.__globals__["cuda"] = _launched
    return function


def launch(prepared: Prepared, count: int, arguments: Sequence[Any]) -> None:
    """Run a kernel over so many elements. Pointers come as (memory, offset), arrays with shape and
    strides behind."""
    kernel = prepared.kernel
    given = [
        _argument(parameter, value)
        for parameter, value in zip(kernel.parameters, arguments, strict=True)
    ]
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of overflows and the like
        before = sys.getswitchinterval()
        sys.setswitchinterval(5e-5)  # threads that wait for each other are Python's
        try:
            prepared.function[BLOCKS, kernel.threads or THREADS](*given)
        finally:
            sys.setswitchinterval(before)


def _argument(parameter: Any, value: Any) -> Any:
    if isinstance(parameter, Word):
        return np.uint32(value) if parameter.bits == 32 else np.int64(value)
    if isinstance(parameter, Pointer):
        memory, offset = value
        return _Elements(memory, parameter.dtype, offset)
    assert isinstance(parameter, Array)
    memory, offset, shape, strides = value
    return _View(memory.array(parameter.dtype, offset, shape, strides))
