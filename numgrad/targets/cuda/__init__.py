"""CUDA: the operators and programs of numgrad on a GPU, or in Numba's simulator of one.

Nothing here imports CUDA or Numba when it is imported, or when a `CUDATarget` is made.
"""

import os
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._lazy import lazy

if TYPE_CHECKING:
    from ..._program import Program
    from .array import DeviceArray
    from .bound import BoundProgram
    from .kernel import Kernel

__all__ = ["CUDATarget"]


class CUDATarget:
    """What the engine needs of a device: programs that are launches of kernels."""

    name = "cuda"
    num_threads = 1

    def __init__(self) -> None:
        self._prepared: dict[Hashable, Any] = {}

    @lazy
    def runtime(self) -> Any:
        """Memory and launches: of Numba's simulator where the environment asks for it."""
        if os.environ.get("NUMBA_ENABLE_CUDASIM") == "1":
            from . import simulator

            return simulator
        raise RuntimeError("there is no GPU that numgrad can use")

    def kernel(self, spec: Any) -> Any:
        """Return the spec: which kernel it becomes depends on how its operands lie."""
        return spec

    def is_ready(self, spec: Any) -> bool:
        """Whether a kernel needs no compiling."""
        return True

    def prepared(self, key: Hashable, make: "Callable[[], Kernel]") -> Any:
        """Return a kernel that can be launched, the same one for equal keys."""
        found = self._prepared.get(key)
        if found is None:
            found = self._prepared.setdefault(key, self.runtime.prepare(make()))
        return found

    def bind(self, program: "Program") -> "BoundProgram":
        """Return a program ready to be run any number of times."""
        from .bound import BoundProgram

        return BoundProgram(program, self)

    # Arrays -------------------------------------------------------------------------------------

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> "DeviceArray":
        """Return an undefined array in C order."""
        from .array import DeviceArray

        array = DeviceArray(None, 0, shape, dtype)
        array.memory = self.runtime.allocate(array.nbytes)
        return array

    def to_device(self, array: np.ndarray) -> "DeviceArray":
        """Copy an array of the host; its elements lie as they did, with what is between them."""
        from .array import DeviceArray, span

        between, offset = span(array)
        memory = self.runtime.allocate(between.nbytes)
        self.runtime.upload(memory, 0, between)
        return DeviceArray(memory, offset, array.shape, array.dtype, array.strides)

    def to_host(self, array: "DeviceArray") -> np.ndarray:
        """Copy an array in C order to the host."""
        result = np.empty(array.shape, array.dtype)
        self.runtime.download(array.memory, array.offset, result)
        return result
