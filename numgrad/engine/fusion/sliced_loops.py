"""Elementwise instructions beside short reductions, slice by slice along the reduced axis.

A short reduction is written as additions of slices (`short_sums`), which loop over the elements of
one slice. An instruction over all elements of the array has another loop, and would need a kernel
of its own. Written as an instruction for each slice, it shares the kernel of the additions: the
norms of vectors and their gradient are computed in one pass.
"""

from collections.abc import Callable, Collection
from typing import Any

from ...ir.program import Instruction, Pattern, Program, layout_of
from ..graph.value import Shape
from .tables import LONG_COLUMN

MOST_STEPS, MOST_SLICES = 128, 32
"""The most instructions that are made for the slices of one shape, and the most slices of arrays
that these read and write. With more, a kernel does not have the operands of all slices, and
compiling takes longer than is saved."""

Axis = tuple[Shape, int]
"""The shape of a loop, and the axis along which it is cut."""


class Sliced:
    """A pattern cut along an axis of its loop.

    Attributes
    ----------
    count : int
        The number of slices.
    steps : tuple of int
        For each operand the distance in bytes between two slices.
    """

    def __init__(self, pattern: Pattern, axis: int) -> None:
        def without(shape: Shape) -> Shape:
            return (*shape[:axis], *shape[axis + 1 :])

        self.count = pattern.loop[axis]
        self.steps = tuple([strides[axis] for strides in pattern.strides])
        loop, strides = without(pattern.loop), [without(each) for each in pattern.strides]
        layouts = tuple(
            layout_of(loop, each, layout.dtype, layout.rows)
            for each, layout in zip(strides, pattern.layouts, strict=True)
        )
        self._pattern = Pattern(
            pattern.spec, layouts, pattern.nin, loop, (), strides, (), pattern.name
        )

    def instructions(self, instruction: Instruction) -> list[Instruction]:
        """Return an instruction for each slice of one with the pattern."""
        starts = instruction.offsets
        return [
            Instruction(
                self._pattern,
                instruction.buffers,
                tuple([at + n * step for at, step in zip(starts, self.steps, strict=True)]),
                instruction.site,
            )
            for n in range(self.count)
        ]


def sliced_patterns(
    program: Program, axes: Collection[Axis], joins: Callable[[Any], bool]
) -> dict[int, Sliced]:
    """Return the patterns that are cut into slices, by their `id`.

    Parameters
    ----------
    axes : collection of (shape, int)
        The shapes of reduced arrays, each with its reduced axis.
    joins : callable
        Says of a kernel spec whether the target can fuse its scalar function with others.
    """
    found: dict[int, Sliced] = {}
    for loop, axis in axes:
        if (*loop[:axis], *loop[axis + 1 :])[-1:] < (LONG_COLUMN,):
            continue  # short loops, each with other operands, take longer than one
        members = [
            i for i in program.instructions
            if i.pattern.loop == loop and i.pattern.fusible and joins(i.pattern.spec)
        ]  # fmt: skip
        if members and _are_few(program, members, axis):
            patterns = {id(i.pattern): i.pattern for i in members}
            found |= {key: Sliced(pattern, axis) for key, pattern in patterns.items()}
    return found


def _are_few(program: Program, members: list[Instruction], axis: int) -> bool:
    """Whether the slices of instructions, and of the arrays that a kernel of them reads and writes,
    are few enough for one kernel."""
    count = members[0].pattern.loop[axis]
    inside = {i.buffers[-1] for i in members} - {ref.buffer for ref in program.results}
    arrays = {
        (buffer, offset)
        for i in members
        for buffer, offset, strides in zip(i.buffers, i.offsets, i.pattern.strides, strict=True)
        if strides[axis] and buffer not in inside
    }
    return count * len(members) <= MOST_STEPS and count * len(arrays) <= MOST_SLICES
