"""CUDA: the operators and programs of numgrad on a GPU, or in Numba's simulator of one.

To import the package, or to make a `CUDATarget`, imports neither CUDA nor Numba.
"""

import os
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.device_array import DeviceArray, span
from ...process.bounded_dict import Bounded
from ...process.cached_attribute import lazy

if TYPE_CHECKING:
    from ...ir.program import Program
    from .compile.kernel import Kernel
    from .device.arrays import ArrayKernel
    from .device.runtime import Runtime
    from .program.bound_program import BoundProgram

__all__ = ["CUDATarget", "count", "unavailable"]


def unavailable() -> str | None:
    """Return why there is no device, in a sentence; None if there is one."""
    if is_simulated():
        return None
    from .device.available import why_not

    return why_not()


def count() -> int:
    """Return the number of devices; the simulator has one."""
    if is_simulated():
        return 1
    from .device.available import device_count

    return device_count()


def is_simulated() -> bool:
    """Whether Numba simulates CUDA in this process."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"


def _driver(index: int) -> Any:
    if is_simulated():
        from ..cuda_simulator.driver import Simulator

        return Simulator()
    from .device.driver import Driver

    return Driver(index)


def _no_stream() -> None:
    """Return no stream: there is none but the default stream."""


_NUMBER = 16
"""Bytes of the largest number, complex128."""


class CUDATarget:
    """A GPU as a target: programs become launches of kernels."""

    num_threads = 1
    rolls = False

    def __init__(self, index: int = 0, current: Callable[[], Any] = _no_stream) -> None:
        self.name, self._index, self._current = f"cuda:{index}", index, current
        self._prepared: dict[Hashable, Any] = {}
        self._constants: dict[Hashable, tuple[DeviceArray, int, Any]] = Bounded(1024)

    @lazy
    def runtime(self) -> "Runtime":
        """Memory, streams and launches, of a GPU or of Numba's simulator."""
        from .device.runtime import Runtime

        return Runtime(self.name, _driver(self._index), self._current)

    @property
    def default_stream(self) -> Any:
        """The stream of threads that have chosen none."""
        return self.runtime.default

    def kernel(self, spec: Any) -> "ArrayKernel":
        """Return the kernel of an elementwise spec; its text depends on the operands' layouts."""
        from .device.arrays import ArrayKernel

        return ArrayKernel(spec, self)

    def can_fuse(self, spec: Any) -> bool:
        """Whether fusion may join the function of a spec with others: if it runs on the device."""
        from .launch.host_steps import needs_host

        return not needs_host(spec)

    def is_ready(self, spec: Any) -> bool:
        """Whether programs may ask for the kernel of a spec at once: always."""
        return True

    def rerun(self, spec: Any) -> "Callable[[Sequence[np.ndarray]], dict[int, list[Any]]]":
        """Return what calls a kernel's function on the host, so that it raises its exception.

        The host runs all functions that can raise.
        """
        from ..cpu.kernels.rerun import rerun

        return rerun(spec)

    def prepared(self, key: Hashable, make: "Callable[[], Kernel]") -> Any:
        """Return a kernel that can be launched, the same one for equal keys."""
        found = self._prepared.get(key)
        if found is None:
            found = self._prepared.setdefault(key, self.runtime.prepare(make()))
        return found

    def bind(self, program: "Program", before: Any = None) -> "BoundProgram":
        """Return a program ready to be run any number of times; its constants are not copied again
        where ``before`` is an earlier form of it."""
        from .program.bound_program import BoundProgram

        return BoundProgram(program, self, before)

    # Arrays -------------------------------------------------------------------------------------

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> DeviceArray:
        """Return an undefined array in C order."""
        array = DeviceArray(self, None, 0, shape, dtype)
        array.memory = self.runtime.allocate(array.nbytes)
        return array

    def to_device(self, array: np.ndarray) -> DeviceArray:
        """Copy an array of the host to the device.

        The copy has the same strides, with the memory between the elements, and stays read-only if
        the array is. An array whose strides are no multiples of the element's size, as a field of
        records, is copied in C order: kernels count in elements.
        """
        if any(stride % array.itemsize for stride in array.strides):
            array = np.array(array, order="C")
        between, offset = span(array)
        memory = self.runtime.allocate(between.nbytes)
        self.runtime.upload(memory, 0, between)
        made = array.shape, array.dtype, array.strides
        return DeviceArray(self, memory, offset, *made, writeable=array.flags.writeable)

    def constant(self, array: np.ndarray) -> DeviceArray:
        """Return a copy of an array of the host for kernels to read on the current stream.

        Copies of equal numbers are one array; a stream other than that of the copy waits for it.
        """
        if array.nbytes > _NUMBER:
            return self.to_device(array)
        key = array.dtype, array.shape, array.tobytes()
        found = self._constants.get(key)
        stream = self.runtime.current()
        if found is None:
            made = self.to_device(array)
            found = self._constants[key] = made, stream.number, stream.record_event()
        constant, number, ready = found
        if stream.number != number:
            stream.wait_event(ready)
        return constant

    def copy(self, array: DeviceArray) -> DeviceArray:
        """Return a copy in C order."""
        from .device.arrays import copy_spec

        made = self.empty(array.shape, array.dtype)
        self.kernel(copy_spec(array.dtype)).ufunc(array, out=made)
        return made

    def to_host(self, array: DeviceArray) -> np.ndarray:
        """Wait for the current stream, and copy an array to the host."""
        low, high = array.bounds()
        if high - low > 2 * array.nbytes:  # most of the memory is between the elements
            array = self.copy(array)
        lies = array.shape, array.strides
        return self.runtime.read(array.memory, array.offset, array.dtype, *lies)
