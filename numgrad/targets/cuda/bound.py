"""Programs on a device: a list of launches over places in memory.

What does not depend on the batch is launched first and once; everything else goes over rows and
elements together. Buffers share one block of memory by their liveness.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._device_array import DeviceArray
from ..._program import Instruction, Program
from ..._target import Bound, Failure
from ..liveness import assign
from .gathering import cleared
from .lowering import lowered
from .steps import Place

_FLAG = np.dtype(np.int64)
ALIGNMENT = 256
"""Bytes: what every access of a GPU likes to begin at."""


class BoundProgram(Bound):
    """A program as a device runs it.

    Slot 0 is the block of memory of a run; constants, arguments and results follow.
    """

    __slots__ = ("_flag", "_kept", "_nbytes", "_target", "steps")

    def __init__(self, program: Program, target: Any) -> None:
        super().__init__(program)
        self._target = target
        self._kept: list[Any] = []
        instructions = [i for i in program.instructions if not i.rows]
        instructions += [i for i in program.instructions if i.rows and program.batch]
        places, self._nbytes = self._places(instructions)
        flag = Place(0, -(-self._nbytes // ALIGNMENT) * ALIGNMENT)
        self.steps = [lowered(i, program, [*places, flag], target) for i in instructions]
        self._flag = None
        if any(getattr(step, "host", None) for step in self.steps):
            self._flag, self._nbytes = flag, flag.offset + _FLAG.itemsize
            self.steps.insert(0, cleared(flag, target))

    def _places(self, instructions: Sequence[Instruction]) -> tuple[list[Place], int]:
        program = self.program
        outside = [*program.arguments, *(ref.buffer for ref in program.results)]
        sizes = [
            nbytes * (program.batch or 0) if rows else nbytes
            for nbytes, rows in zip(program.nbytes, program.rows, strict=True)
        ]
        offsets = [-1] * len(sizes)
        for buffer in (*outside, *program.arrays):
            offsets[buffer] = 0
        top = assign(instructions, sizes, offsets, ALIGNMENT)
        places = [Place(0, offset) for offset in offsets]
        for slot, buffer in enumerate(outside, 1 + len(program.arrays)):
            places[buffer] = Place(slot, 0)
        for slot, (buffer, array) in enumerate(program.arrays.items(), 1):
            if not isinstance(array, DeviceArray):
                array = self._target.to_device(array)
            self._kept.append(array.memory)
            places[buffer] = Place(slot, array.offset)
        return places, top

    def run(self, arrays: Sequence[DeviceArray]) -> Failure | None:
        """Launch the kernels of the program, in order."""
        runtime = self._target.runtime
        memory = runtime.allocate(self._nbytes)
        blocks = [(memory, 0), *((block, 0) for block in self._kept)]
        try:
            for array in arrays:
                if not isinstance(array, DeviceArray):
                    array = self._target.to_device(array)
                blocks.append((array.memory, array.offset))
            failure = self._launch(blocks)
            if self._flag is not None and runtime.read(memory, self._flag.offset, _FLAG, (), ()):
                return self._launch(blocks, on_host=True)
            return failure
        finally:
            runtime.free(memory)

    def _launch(self, blocks: Sequence[Any], on_host: bool = False) -> Failure | None:
        """Run the steps until one fails; ``on_host`` has the host do what is checked, and say what
        is wrong."""
        for step in self.steps:
            host = getattr(step, "host", None)
            if on_host and host is not None:
                step = host()
            failure = step.run(self._target.runtime, blocks)
            if failure is not None:
                return failure
        return None
