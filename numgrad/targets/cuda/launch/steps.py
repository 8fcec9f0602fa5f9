"""Steps of a bound program: launches of kernels, and calls of functions on the host.

A step names memory by slots, as the blocks of memory are known only at a run: a slot is an index
into the list of blocks that `run` gets.
"""

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ....ir.kernel_spec import core_dimensions
from ....ir.program import Instruction, Program, Shape
from ....ir.target import Failure
from ..compile.kernel import Word


class Place(NamedTuple):
    """Where an operand begins: the slot of a block of memory, and an offset in bytes."""

    slot: int
    offset: int


Blocks = Sequence[tuple[Any, int]]
"""For each slot a block of memory, and the offset in bytes at which the slot begins there."""


def _resolved(place: Place, blocks: Blocks) -> tuple[Any, int]:
    memory, first = blocks[place.slot]
    return memory, first + place.offset


class Launch(NamedTuple):
    """One launch of a kernel.

    Attributes
    ----------
    kernel
        A prepared kernel of the target.
    elements : int
        The number of elements, or of blocks of threads; without any, nothing is launched.
    arguments : tuple
        For each parameter of the kernel a number, the `Place` that a pointer points to, or a tuple
        of the place, the shape and the strides of an array.
    """

    kernel: Any
    elements: int
    arguments: tuple[Any, ...]

    @classmethod
    def of(cls, kernel: Any, elements: int, arguments: Sequence[Any], target: Any) -> "Launch":
        """Return the launch of a kernel, with numbers converted to the types that drivers take."""
        word = target.runtime.driver.word
        pairs = zip(kernel.parameters, arguments, strict=True)
        given = [word(p.bits, x) if type(p) is Word else x for p, x in pairs]
        return cls(kernel, elements, tuple(given))

    def run(self, runtime: Any, blocks: Blocks, stream: Any = None) -> Failure | None:
        """Launch the kernel on a stream, by default the current one; return None."""
        if not self.elements:
            return None
        stream = stream or runtime.current()
        given = self.given(blocks, stream)
        runtime.driver.launch(self.kernel, self.elements, given, stream.handle)
        return None

    def given(self, blocks: Blocks, stream: Any) -> list[Any]:
        """Return the arguments as the driver takes them, with blocks of memory in place of slots.

        The blocks note that the stream uses them.
        """
        found: list[Any] = []
        for argument in self.arguments:
            if type(argument) is Place:
                memory, first = blocks[argument.slot]
                argument = memory.used_by(stream), first + argument.offset
            elif type(argument) is tuple:
                (slot, offset), shape, strides = argument
                memory, first = blocks[slot]
                argument = memory.used_by(stream), first + offset, shape, strides
            found.append(argument)
        return found


class LaunchSequence(NamedTuple):
    """Several launches as one step, with a last slot of ``nbytes`` bytes for their own use.

    If a launch checks something, and sets the program's flag if the check fails, ``host`` returns a
    step for the same instruction on the host. It is run once the flag was found set, as only the
    host can say what failed.
    """

    nbytes: int
    launches: tuple[Launch, ...]
    host: "Callable[[], HostCall] | None" = None

    def run(self, runtime: Any, blocks: Blocks, stream: Any = None) -> Failure | None:
        """Launch the kernels in order on a stream, by default the current one; return None."""
        memory = runtime.allocate(self.nbytes, stream)
        try:
            for one in self.launches:
                one.run(runtime, [*blocks, (memory, 0)], stream)
        finally:
            memory.give_back()
        return None


class Loop(NamedTuple):
    """The axes that a kernel loops over, rows included: their sizes, and strides of each operand.

    Strides are in bytes. For ``turns`` see `Pattern`.
    """

    sizes: Shape
    strides: tuple[Shape, ...]
    turns: tuple[Shape, ...] = ()

    @property
    def elements(self) -> int:
        return prod(self.sizes)


def loop_of(instruction: Instruction, program: Program) -> Loop:
    """Return the loop of an instruction: the batch axis if it has rows, then the loop axes."""
    pattern = instruction.pattern
    axes: list[tuple[int, tuple[int, ...]]] = []
    turns: list[Shape] = []
    if pattern.rows:
        rows = [program.row_strides[b] for b in instruction.buffers]
        axes.append((program.batch or 0, tuple(rows)))
        turns.append((0,) * len(rows))
    for axis, size in enumerate(pattern.loop):
        axes.append((size, tuple([s[axis] for s in pattern.strides])))
        turns.append(tuple([s[axis] for s in pattern.turns]))
    return loop_over(axes, len(pattern.layouts), turns if pattern.turns else ())


def loop_over(
    axes: Sequence[tuple[int, tuple[int, ...]]], operands: int, turns: Sequence[Shape] = ()
) -> Loop:
    """Return the loop over axes, each given by its size and the strides of all operands.

    Axes of size 1 are dropped. Neighbouring axes are merged into one if a single stride walks over
    both in each operand, and none begins within them; ``turns`` has for each axis those of all
    operands.
    """
    merged: list[tuple[int, tuple[int, ...]]] = []
    begins: list[Shape] = []
    for number, (size, along) in enumerate(axes):
        if size == 1:
            continue
        here = turns[number] if turns else ()
        are_whole = not any(here) and not (begins and any(begins[-1]))
        if (
            merged
            and are_whole
            and all(o == s * size for o, s in zip(merged[-1][1], along, strict=True))
        ):
            merged[-1] = (merged[-1][0] * size, along)
        else:
            merged.append((size, along))
            begins.append(here)
    sizes = tuple([size for size, _ in merged])
    strides = tuple([tuple([along[k] for _, along in merged]) for k in range(operands)])
    if not turns:
        return Loop(sizes, strides)
    return Loop(sizes, strides, tuple([tuple([b[k] for b in begins]) for k in range(operands)]))


def cores_of(pattern: Any, signature: str, ndims: Sequence[int]) -> list[Loop]:
    """Return for each operand its core dimensions, as a loop over this operand alone.

    An operand without core dimensions gets as many axes of size 1 as ``ndims`` has for it, the
    number of axes that its kernel expects.
    """
    found = []
    strides = list(pattern.core_strides)
    named = core_dimensions(signature)
    for core, ndim, layout in zip(named, ndims, pattern.layouts, strict=True):
        if core:
            sizes = layout.shape[len(layout.shape) - len(core) :]
            own, strides = strides[: len(core)], strides[len(core) :]
            found.append(Loop(sizes, (tuple(own),)))
        else:
            found.append(Loop((1,) * ndim, ((layout.dtype.itemsize,) * ndim,)))
    return found


class HostCall(NamedTuple):
    """A step that runs an instruction on the host: operands are copied there, and results back.

    Attributes
    ----------
    instruction : Instruction
    call : callable
        Takes arrays of the host, returns results and a status; see `Kernel.call` of the CPU.
    arrays : tuple
        For each operand its place, and its shape and strides over loop axes and core dimensions.
    axes : int
        The number of loop axes.
    each : int
        The number of elements of the loop in one row of the batch.
    """

    instruction: Instruction
    call: Callable[..., tuple[Any, int]]
    arrays: tuple[tuple[Place, Shape, Shape], ...]
    axes: int
    each: int

    def run(self, runtime: Any, blocks: Blocks, stream: Any = None) -> Failure | None:
        """Copy the inputs to the host, call the function, and copy the results to the device.

        The result is the failure if the function raised an exception, else None.
        """
        pattern = self.instruction.pattern
        given = [
            runtime.read(*_resolved(place, blocks), layout.dtype, shape, strides, stream)
            for (place, shape, strides), layout in zip(self.arrays, pattern.layouts, strict=True)
        ]
        inputs, outputs = given[: pattern.nin], self.arrays[pattern.nin :]
        results, status = self.call(*inputs)
        if status:
            return self._failure(status - 1, inputs)
        results = results if isinstance(results, tuple) else (results,)
        for (place, shape, strides), result in zip(outputs, results, strict=True):
            given = np.asarray(result)
            runtime.write(*_resolved(place, blocks), shape, strides, given, stream)
        return None

    def _failure(self, index: int, inputs: Sequence[np.ndarray]) -> Failure:
        pattern = self.instruction.pattern
        place = np.unravel_index(index, self.arrays[0][1][: self.axes])
        row, within = divmod(index, self.each) if pattern.rows else (0, index)
        copies = partial(_elements, inputs, place)
        return Failure(self.instruction, row, within, copies)


def _elements(inputs: Sequence[np.ndarray], place: tuple[Any, ...]) -> list[np.ndarray]:
    return [x[place].copy() for x in inputs]
