"""Programs on a device: a list of launches over places in memory.

What does not depend on the batch is launched first and once; everything else goes over rows and
elements together. Buffers share one block of memory by their liveness.
"""

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from ..._program import Instruction, Program, Shape, contiguous_strides
from ..._specs import FusedSpec, LibrarySpec, LoopSpec, ProductSpec, core_dimensions
from ..._target import Bound
from ..liveness import assign
from . import elementwise, loops, product
from .array import DeviceArray
from .elementwise import Walk

ALIGNMENT = 256
"""Bytes: what every access of a GPU likes to begin at."""

_WIDE = 1 << 31


class Place(NamedTuple):
    """Where an operand begins: in a block of memory, by its number, so many bytes behind its
    first."""

    slot: int
    offset: int


class Step(NamedTuple):
    """One launch.

    Attributes
    ----------
    kernel
        Of the target.
    count : int
        The elements, or blocks of threads, that it goes over.
    arguments : tuple
        Numbers; places of pointers; places of arrays with shape and strides behind.
    """

    kernel: Any
    count: int
    arguments: tuple[Any, ...]


class Loop(NamedTuple):
    """The loop of an instruction, rows included: sizes, and strides in bytes of each operand."""

    sizes: Shape
    strides: tuple[Shape, ...]

    @property
    def count(self) -> int:
        return prod(self.sizes)


class BoundProgram(Bound):
    """A program as a device runs it.

    Slot 0 is the block of memory of a run, slot 1 that of its constants; arguments and results
    follow.
    """

    __slots__ = ("_constants", "_kept", "_nbytes", "_target", "steps")

    def __init__(self, program: Program, target: Any) -> None:
        super().__init__(program)
        self._target = target
        self._kept: list[Any] = []
        instructions = [i for i in program.instructions if not i.rows]
        instructions += [i for i in program.instructions if i.rows and program.batch]
        places, self._nbytes = self._places(instructions)
        self.steps = [
            step for i in instructions for step in _steps(i, program, places, target)
        ]

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
            device = self._target.to_device(array)
            self._kept.append(device.memory)
            places[buffer] = Place(slot, device.offset)
        return places, top

    def run(self, arrays: Sequence[DeviceArray]) -> None:
        """Launch the kernels of the program, in order."""
        runtime = self._target.runtime
        memory = runtime.allocate(self._nbytes)
        blocks = [memory, *self._kept, *(array.memory for array in arrays)]
        moves = [*(0,) * (1 + len(self._kept)), *(array.offset for array in arrays)]
        for step in self.steps:
            given = [_resolved(a, blocks, moves) for a in step.arguments]
            runtime.launch(step.kernel, step.count, given)
        runtime.free(memory)


def _resolved(argument: Any, blocks: Sequence[Any], moves: Sequence[int]) -> Any:
    if type(argument) is Place:
        return blocks[argument.slot], argument.offset + moves[argument.slot]
    if type(argument) is tuple:
        place, *rest = argument
        return (*_resolved(place, blocks, moves), *rest)
    return argument


# Launches -----------------------------------------------------------------------------------------


def _steps(
    instruction: Instruction, program: Program, places: Sequence[Place], target: Any
) -> list[Step]:
    pattern = instruction.pattern
    spec = pattern.spec
    begins = [
        Place(places[b].slot, places[b].offset + offset)
        for b, offset in zip(instruction.buffers, instruction.offsets, strict=True)
    ]
    loop = _loop(instruction, program)
    if pattern.block:
        return [_of_blocks(pattern, begins, target)]
    if isinstance(spec, ProductSpec | LibrarySpec) and spec.name == "matmul":
        return [_of_product(pattern, loop, begins, target)]
    if isinstance(spec, LoopSpec) and any(core_dimensions(spec.signature)):
        return [_of_core(pattern, loop, begins, target)]
    if isinstance(spec, LoopSpec | FusedSpec) or pattern.elementwise:
        return [_of_elements(pattern, loop, begins, target)]
    raise target.unsupported(spec.name)


def _loop(instruction: Instruction, program: Program) -> Loop:
    """Return the loop of an instruction: axes of size 1 are dropped, and those merged over which
    every operand goes without a gap."""
    pattern = instruction.pattern
    axes: list[tuple[int, tuple[int, ...]]] = []
    if pattern.rows:
        rows = [program.row_strides[b] for b in instruction.buffers]
        axes.append((program.batch or 0, tuple(rows)))
    for axis, size in enumerate(pattern.loop):
        axes.append((size, tuple([s[axis] for s in pattern.strides])))
    merged: list[tuple[int, tuple[int, ...]]] = []
    for size, along in axes:
        if size == 1:
            continue
        if merged and all(o == s * size for o, s in zip(merged[-1][1], along, strict=True)):
            merged[-1] = (merged[-1][0] * size, along)
        else:
            merged.append((size, along))
    sizes = tuple([size for size, _ in merged])
    strides = [tuple([along[k] for _, along in merged]) for k in range(len(pattern.layouts))]
    return Loop(sizes, tuple(strides))


def _of_elements(pattern: Any, loop: Loop, begins: Sequence[Place], target: Any) -> Step:
    sizes = [layout.dtype.itemsize for layout in pattern.layouts]
    is_flat = all(s in ((), (size,)) for s, size in zip(loop.strides, sizes, strict=True))
    walk = Walk(0 if is_flat else len(loop.sizes), loop.count >= _WIDE)
    arguments: list[Any] = [loop.count, *(() if is_flat else loop.sizes)]
    for place, strides, size in zip(begins, loop.strides, sizes, strict=True):
        arguments += [place, *(() if is_flat else [stride // size for stride in strides])]
    kernel = target.prepared(
        ("elementwise", pattern.spec.identity, walk),
        lambda: elementwise.elementwise(pattern.spec, walk),
    )
    return Step(kernel, loop.count, tuple(arguments))


def _at_least_one(loop: Loop) -> Loop:
    if loop.sizes:
        return loop
    return Loop((1,), tuple([(0,)] * len(loop.strides)))


def _of_core(pattern: Any, loop: Loop, begins: Sequence[Place], target: Any) -> Step:
    loop = _at_least_one(loop)
    spec = pattern.spec
    walk = Walk(len(loop.sizes), loop.count >= _WIDE)
    arguments: list[Any] = [loop.count, *loop.sizes]
    for place, strides, core in zip(begins, loop.strides, _cores(pattern), strict=True):
        arguments.append((place, (*loop.sizes, *core.sizes), (*strides, *core.strides[0])))
    kernel = target.prepared(
        ("core", spec.identity, walk), lambda: loops.of_core(spec, walk)
    )
    return Step(kernel, loop.count, tuple(arguments))


def _cores(pattern: Any) -> list[Loop]:
    """Return the core dimensions of each operand, as its kernel sees them."""
    spec, found = pattern.spec, []
    strides = list(pattern.core_strides)
    named = core_dimensions(spec.signature)
    for core, ndim, layout in zip(named, loops.ndims(spec), pattern.layouts, strict=True):
        if core:
            sizes = layout.shape[len(layout.shape) - len(core) :]
            own, strides = strides[: len(core)], strides[len(core) :]
            found.append(Loop(sizes, (tuple(own),)))
        else:
            found.append(Loop((1,) * ndim, ((layout.dtype.itemsize,) * ndim,)))
    return found


def _of_blocks(pattern: Any, begins: Sequence[Place], target: Any) -> Step:
    spec = pattern.spec
    count, blocks = pattern.core[0], -(-pattern.core[0] // pattern.block)
    arrays = [
        (place, layout.shape, layout.strides)
        for place, layout in zip(begins, pattern.layouts, strict=True)
    ]
    dtype = pattern.layouts[0].dtype  # of what lies in C order, whatever its shape
    arrays[0] = (begins[0], pattern.core, contiguous_strides(pattern.core, dtype.itemsize))
    kernel = target.prepared(("blocks", spec.identity), lambda: loops.of_blocks(spec))
    return Step(kernel, blocks, (blocks, count, *arrays))


def _of_product(pattern: Any, loop: Loop, begins: Sequence[Place], target: Any) -> Step:
    loop = _at_least_one(loop)
    size = pattern.spec.dtype.itemsize
    cores = [pattern.core_strides[2 * k : 2 * k + 2] for k in range(3)]
    rows, inner, cols = pattern.core
    arguments: list[Any] = [loop.count, rows, inner, cols, *loop.sizes]
    for place, strides, core in zip(begins, loop.strides, cores, strict=True):
        arguments += [place, *[stride // size for stride in (*strides, *core)]]
    axes, tile = len(loop.sizes), target.runtime.TILE
    kernel = target.prepared(
        ("product", pattern.spec.dtype, axes),
        lambda: product.product(pattern.spec.dtype, axes, tile),
    )
    count = loop.count * -(-rows // tile) * -(-cols // tile)
    return Step(kernel, count, tuple(arguments))

