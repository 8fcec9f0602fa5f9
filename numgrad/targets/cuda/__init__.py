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
    from ...ir.recurrence import Loop
    from .compile.kernel import Kernel
    from .device.arrays import ArrayKernel
    from .device.runtime import Runtime
    from .program.bound_program import BoundProgram

__all__ = ["CUDATarget", "StandIn", "count", "unavailable"]


class StandIn:
    """Holds as ``current`` the driver that stands for an absent GPU; None where no driver does."""

    current: Any = None


def unavailable() -> str | None:
    """Return why no GPU can be used, in a sentence; None if one can."""
    if is_simulated() or StandIn.current is not None:
        return None
    from .device.available import why_not

    return why_not()


def count() -> int:
    """Return the number of devices; the simulator has one."""
    if is_simulated() or StandIn.current is not None:
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
    """Return None, which stands for the default stream, as the user has chosen no stream."""


def _no_array() -> None:
    """Return None, which stands for an array that has to be made in Python."""


_NUMBER = 16
"""The bytes of a scalar of the widest dtype, complex128. Copies of larger arrays are not kept."""


class CUDATarget:
    """A GPU as a target: programs become launches of kernels.

    Parameters
    ----------
    index : int
        The number of the GPU among those of the machine.
    current : callable
        Returns the stream that the user has chosen in the calling thread, or None.
    other_modes : dict, optional
        Is empty while no thread has chosen a stream.
    """

    num_threads = 1
    rolls = False
    reads_rings = True
    reads_tables = False

    def __init__(
        self,
        index: int = 0,
        current: Callable[[], Any] = _no_stream,
        other_modes: dict[Any, Any] | None = None,
    ) -> None:
        self.name, self._index, self._current = f"cuda:{index}", index, current
        self.other_modes = {} if other_modes is None else other_modes
        self._prepared: dict[Hashable, Any] = {}
        self._empty: dict[Hashable, Any] = Bounded(1024)  # False for what was met once
        self._constants: dict[Hashable, DeviceArray] = Bounded(1024)

    @lazy
    def runtime(self) -> "Runtime":
        """The memory, the streams and the launches of the GPU, or of Numba's simulator."""
        from .device.runtime import Runtime

        return Runtime(self.name, _driver(self._index), self._current)

    @property
    def default_stream(self) -> Any:
        """The stream of threads that have chosen none."""
        return self.runtime.default

    def kernel(self, spec: Any) -> "ArrayKernel":
        """Return the kernel of an elementwise spec, which is compiled when arrays are given to it.

        The text of the kernel depends on the layouts of these arrays.
        """
        from .device.arrays import ArrayKernel

        return ArrayKernel(spec, self)

    def can_fuse(self, spec: Any) -> bool:
        """Whether fusion may join the function of a spec with others.

        Functions that only the host can run stay apart.
        """
        from .launch.host_steps import needs_host

        return not needs_host(spec)

    def keeps_vectors(self, spec: Any) -> bool:
        """Return True: a thread of a GPU computes one element in any case."""
        return True

    def is_ready(self, spec: Any) -> bool:
        """Return True: programs may ask for the kernel of any spec at once."""
        return True

    def rerun(self, spec: Any) -> "Callable[[Sequence[np.ndarray]], dict[int, list[Any]]]":
        """Return what calls the function of a kernel again on given inputs, to raise its exception.

        The call is on the host, as are all calls of functions that can raise.
        """
        from ..cpu.kernels.rerun import rerun

        return rerun(spec)

    def prepared(self, key: Hashable, make: "Callable[[], Kernel]") -> Any:
        """Return the kernel that was prepared for launches under a key, at first from ``make()``.

        Equal keys share one kernel.
        """
        found = self._prepared.get(key)
        if found is None:
            found = self._prepared.setdefault(key, self.runtime.prepare(make()))
        return found

    def bind(self, program: "Program", before: Any = None) -> "BoundProgram":
        """Return a program that is ready to be run any number of times.

        If ``before`` is an earlier form of the program, the constants that this form has copied to
        the device are used again.
        """
        from .program.bound_program import BoundProgram

        return BoundProgram(program, self, before)

    def recorder(self, **plan: Any) -> Any:
        """Return a builtin function that records an operation; see `recorders.recorder`."""
        from ..cpu.python import recorders

        return recorders.recorder(**plan, target=self)

    def runner(
        self, loop: "Loop", arrays: Sequence[DeviceArray], moving: Sequence[bool],
        leads: Sequence[bool], count: int | None,
    ) -> Callable[[Sequence[DeviceArray]], None]:  # fmt: skip
        """Return a function that runs a loop as work of the current stream.

        The function takes arrays like ``arrays``, inputs and then results. Those in ``moving`` have
        elements for each step along their first axis. With ``count`` samples those in ``leads``
        have them along the next one.
        """
        from .program.loop_launch import of_arrays

        launch = of_arrays(loop, arrays, moving, leads, count, self)

        def run(given: Sequence[DeviceArray]) -> None:
            launch.run(self.runtime, [(array.memory, array.offset) for array in given])

        return run

    # Arrays -------------------------------------------------------------------------------------

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> DeviceArray:
        """Return an array in C order on the device whose elements are undefined."""
        make = self._empty.get((shape, dtype))
        made = make() if make else None
        if made is not None:
            return made
        if make is None or make is False:
            self._empty[shape, dtype] = False if make is None else self._empty_of(shape, dtype)
        array = DeviceArray(self, None, 0, shape, dtype)
        array.memory = self.runtime.allocate(array.nbytes)
        return array

    def _empty_of(self, shape: tuple[int, ...], dtype: np.dtype) -> Callable[[], Any]:
        """Return a function that makes arrays, for a shape and dtype that were met before.

        The function returns None where the array has to be made in Python.
        """
        from .launch.entry import empty_of

        return empty_of(self, shape, dtype) or _no_array

    def to_device(self, array: np.ndarray) -> DeviceArray:
        """Copy an array of the host to the device.

        The copy has the strides of the array: the bytes between the elements are copied too. The
        copy of a read-only array is read-only. Kernels count strides in elements. So an array whose
        strides are no multiples of the element's size, such as a field of records, is copied in C
        order.
        """
        return self._copied(array, self.runtime.uploaded)

    def _copied(self, array: np.ndarray, memory_of: Callable[[np.ndarray], Any]) -> DeviceArray:
        """Return a copy of an array of the host; ``memory_of`` copies the bytes."""
        if any(stride % array.itemsize for stride in array.strides):
            array = np.array(array, order="C")
        between, offset = span(array)
        made = array.shape, array.dtype, array.strides
        writeable = array.flags.writeable
        return DeviceArray(self, memory_of(between), offset, *made, writeable=writeable)

    def constant(self, array: np.ndarray) -> DeviceArray:
        """Return a copy on the device of an array of the host, for kernels of the current stream.

        Equal scalars share one copy, which the default stream makes.
        """
        if array.nbytes > _NUMBER:
            return self.to_device(array)
        key = array.dtype, array.shape, array.strides, array.tobytes()
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = self._copied(array, self.runtime.constant)
            found.writeable = False
        return found

    def copy(self, array: DeviceArray) -> DeviceArray:
        """Return a copy in C order of an array of the device, on the device."""
        from .device.arrays import copy_spec

        made = self.empty(array.shape, array.dtype)
        self.kernel(copy_spec(array.dtype)).ufunc(array, out=made)
        return made

    def lasting_copy(self, array: DeviceArray) -> DeviceArray:
        """Return a copy like `copy`, for which streams other than the current one wait."""
        made = self.copy(array)
        self.runtime.announce(made.memory)
        return made

    def to_host(self, array: DeviceArray) -> np.ndarray:
        """Wait for the work of the current stream, and copy an array of the device to the host."""
        low, high = array.bounds()
        if high - low > 2 * array.nbytes:  # most of the memory is between the elements
            array = self.copy(array)
        lies = array.shape, array.strides
        return self.runtime.read(array.memory, array.offset, array.dtype, *lies)
