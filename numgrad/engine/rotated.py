"""Rotated copies: values that all rows share, as each of their readers walks through their rings.

A reader that begins elsewhere than at a cache line touches two lines for each vector. What it reads
anew for every row, such as a coefficient of a stencil, is copied once so that it begins at one.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any, TypeAlias

from .expand import Leaf
from .graph import Shape
from .program import Instruction, Pattern, Program, contiguous_strides, layout_of
from .record import runtime

# The stride, the length and the first element of each ring, the outermost first.
_Rings: TypeAlias = tuple[tuple[int, int, int], ...]


class Rotated:
    """The rotated copies of a program; their buffers are added to it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.buffers: set[int] = set()
        self._copies: dict[tuple[int, _Rings], int] = {}

    def view(self, leaf: Leaf, loop: Shape) -> Leaf:
        """Return a view of a value as one of its copy."""
        buffer = self._copies[leaf.buffer, _rings(leaf, loop)]
        return Leaf(buffer, leaf.offset, leaf.strides, leaf.dtype, leaf.rows)

    def copies(self, leaf: Leaf, loop: Shape) -> Iterator[Instruction]:
        """Yield the instructions that make the copy for a view, unless it has been made."""
        rings = _rings(leaf, loop)
        key = leaf.buffer, rings
        if key in self._copies:
            return
        nbytes = self.program.nbytes[leaf.buffer]
        self._copies[key] = copy = self.program.new_buffer(nbytes, False)
        shape, rest = [], nbytes
        for stride, length, _ in rings:
            shape += [rest // (length * stride), length]
            rest = stride
        shape.append(rest // leaf.dtype.itemsize)
        strides = contiguous_strides(tuple(shape), leaf.dtype.itemsize)
        # Of each ring, what comes before its end, and what comes after.
        parts = [((turn, 0, size - turn), (0, size - turn, turn)) for _, size, turn in rings]
        for box in product(*parts):
            loop_here, given, taken = [*shape], 0, 0
            for n, (source, target, count) in enumerate(box):
                loop_here[2 * n + 1] = count
                given += source * strides[2 * n + 1]
                taken += target * strides[2 * n + 1]
            axes = [a for a, size in enumerate(loop_here) if size > 1]
            walk = tuple([strides[a] for a in axes])
            counts = tuple([loop_here[a] for a in axes])
            yield copy_of(counts, (leaf.buffer, given, walk), (copy, taken, walk), leaf)


def _rings(leaf: Leaf, loop: Shape) -> _Rings:
    walks = zip(leaf.strides, loop, leaf.turns, strict=True)
    return tuple(sorted([walk for walk in walks if walk[2]], reverse=True))


def copy_of(loop: Shape, given: Any, taken: Any, like: Any) -> Instruction:
    """Return an instruction that copies; each operand is its buffer, offset and strides."""
    spec = runtime.roles["copy_spec"](like.dtype)
    strides = [given[2], taken[2]]
    layouts = tuple([layout_of(loop, along, like.dtype, like.rows) for along in strides])
    pattern = Pattern(spec, layouts, 1, loop, (), strides, (), "copy")
    return Instruction(pattern, (given[0], taken[0]), (given[1], taken[1]), None)
