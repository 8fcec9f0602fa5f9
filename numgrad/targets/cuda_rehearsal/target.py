"""A GPU that is not there as a target: what programs need is compiled, and the processor computes.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...ir.device_array import DeviceArray
from ...ir.kernel_spec import HostSpec
from ...ir.program import Instruction, Program
from ...ir.recurrence import Loop
from ..cuda import CUDATarget
from ..cuda.device.runtime import Runtime
from ..cuda.launch.steps import Place, loop_over
from ..cuda.program import loop_launch
from ..cuda.program.lowering import of_elements
from . import loops
from .driver import AbsentGPU, on_host


class RehearsalTarget(CUDATarget):
    """A GPU that is not there.

    Parameters
    ----------
    driver : AbsentGPU
    processor
        The target that computes.
    current, other_modes
        As for `CUDATarget`.
    """

    def __init__(
        self, driver: AbsentGPU, processor: Any, current: Callable[[], Any],
        other_modes: dict[Any, Any],
    ) -> None:  # fmt: skip
        super().__init__(0, current, other_modes)
        self._processor = processor
        self.__dict__["runtime"] = Runtime(self.name, driver, current)

    def kernel(self, spec: Any) -> Any:
        return RehearsedKernel(spec, self, self._processor.kernel(spec))

    def runner(
        self, loop: Loop, arrays: Sequence[DeviceArray], moving: Sequence[bool],
        leads: Sequence[bool], count: int | None,
    ) -> Callable[[Sequence[DeviceArray]], None]:  # fmt: skip
        loop_launch.of_arrays(loop, arrays, moving, leads, count, self)
        return lambda given: loops.run(loop, list(map(on_host, given)), moving, leads, count)

    def bound_here(self, program: Program) -> Any:
        """Return a program of this device bound to the processor, which computes it in the memory
        of the device."""
        found = copy.copy(program)
        found.arrays = {n: on_host(array) for n, array in program.arrays.items()}
        found.instructions = [self._here(one) for one in program.instructions]
        return self._processor.bind(found)

    def _here(self, instruction: Instruction) -> Instruction:
        """Return an instruction that calls functions for arrays of this device with such arrays."""
        spec = instruction.pattern.spec
        if not isinstance(spec, HostSpec) or spec.on_device is None:
            return instruction
        pattern = copy.copy(instruction.pattern)
        pattern.spec = replace(
            spec, function=self._of_host(spec), on_device=None, native=None, into=None
        )
        pattern.kernel, pattern.codes = None, {}
        return Instruction(pattern, instruction.buffers, instruction.offsets, instruction.site)

    def _of_host(self, spec: HostSpec) -> Callable[..., Any]:
        """Return the function of a spec for arrays of this device as one for arrays of the host."""

        def call(*arrays: np.ndarray) -> Any:
            given = [self.to_device(np.array(array, order="C")) for array in arrays]
            found = spec.function(*given)
            return tuple(map(on_host, found)) if isinstance(found, tuple) else on_host(found)

        return call


class RehearsedKernel(NamedTuple):
    """The kernel of an elementwise spec, which is compiled for the device and computed here.

    Attributes
    ----------
    spec : ElementwiseSpec
    target : RehearsalTarget
    here
        The kernel of the processor.
    """

    spec: Any
    target: RehearsalTarget
    here: Any

    def ufunc(self, *arrays: Any, out: DeviceArray) -> None:
        """Compute all elements of ``out``, which may be a view of any strides."""
        given = [on_host(array) for array in arrays]
        if out.size:
            operands = [*[np.broadcast_to(array, out.shape) for array in given], out]
            strides = zip(*[array.strides for array in operands], strict=True)
            loop = loop_over(list(zip(out.shape, strides, strict=True)), len(operands))
            begins = [Place(slot, 0) for slot in range(len(operands))]
            of_elements(self.spec, loop, begins, self.target)
        on_host(out)[...] = self.here.ufunc(*given)


__all__ = ["RehearsalTarget", "RehearsedKernel"]
