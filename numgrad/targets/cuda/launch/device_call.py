"""Steps of a program that a function in Python gives to the device: loops over other programs."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ....ir.device_array import DeviceArray
from ....ir.program import Instruction, Shape
from .steps import Blocks, Loop, Place, cores_of


class DeviceCall(NamedTuple):
    """A step that calls a function with the operands of an instruction, as arrays of the device.

    The function runs on the host, and what it computes is work of a stream of the device. The
    function keeps none of the arrays. An exception of the function is raised with a note that says
    where the operation was recorded.

    Attributes
    ----------
    instruction : Instruction
    call : callable
        See ``on_device`` of `HostSpec`.
    arrays : tuple
        For each operand its place, and its shape, dtype and strides over loop axes and core
        dimensions.
    nin : int
        The number of inputs, which come first.
    target : CUDATarget
    """

    instruction: Instruction
    call: Callable[[Sequence[DeviceArray], Sequence[DeviceArray], Any], None]
    arrays: tuple[tuple[Place, Shape, np.dtype, Shape], ...]
    nin: int
    target: Any

    def run(self, runtime: Any, blocks: Blocks, stream: Any = None) -> None:
        """Call the function; its work belongs to a stream, by default the current one."""
        given = []
        for (slot, offset), shape, dtype, strides in self.arrays:
            memory, first = blocks[slot]
            given.append(DeviceArray(self.target, memory, first + offset, shape, dtype, strides))
        try:
            self.call(given[: self.nin], given[self.nin :], stream or runtime.current())
        except Exception as error:
            name, site = self.instruction.pattern.spec.name, self.instruction.site
            if site is not None and site.code is not None:
                error.add_note(f"in {name} (the operation recorded at {site})")
            raise


def device_call(
    instruction: Instruction, loop: Loop, begins: Sequence[Place], target: Any
) -> DeviceCall:
    """Return the step of an instruction whose kernel runs where the arrays of a device are.

    ``begins`` are the places of the operands.
    """
    pattern = instruction.pattern
    cores = cores_of(pattern, pattern.spec.signature, (0,) * len(pattern.layouts))
    arrays = [
        (place, (*loop.sizes, *core.sizes), layout.dtype, (*strides, *core.strides[0]))
        for place, strides, core, layout in zip(
            begins, loop.strides, cores, pattern.layouts, strict=True)
    ]  # fmt: skip
    return DeviceCall(instruction, pattern.spec.on_device, tuple(arrays), pattern.nin, target)


__all__ = ["DeviceCall", "device_call"]
