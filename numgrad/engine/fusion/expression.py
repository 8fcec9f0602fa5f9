"""Expressions of elementwise instructions: scalar functions that compute one element each.

An instruction can compute its inputs itself, element by element, instead of reading the results of
other instructions. The inputs may be slices, shifts and broadcasts of these results, as long as
each axis of the reader's loop walks along one axis of the writer's loop.

A *term* is the expression of one element: a `Leaf`, which is an element in memory, or a `Step`, a
scalar function of other terms. A `Unit` is an elementwise instruction or a part of its loop. A
*ring* is an axis that a view reads from the middle to the end, and then on from the beginning.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from math import prod
from typing import Any, NamedTuple, TypeAlias, final

import numpy as np

from ...ir.program import Instruction, Pattern, Program, contiguous_strides
from ..graph.value import Shape

_new_tuple = tuple.__new__  # makes a Leaf in half the time that `Leaf` takes


@final
class Leaf(NamedTuple):
    """A view of elements in memory, along the loop of the reader.

    Attributes
    ----------
    buffer, offset : int
        The number of the buffer, and the offset in bytes of the element with index 0.
    strides : tuple of int
        The strides in bytes along the axes of the reader's loop.
    rows : bool
        Whether the buffer has rows.
    turns : tuple of int
        For each axis that is a ring the element with which the reader begins; after the last
        element the reader goes on with element 0. The ring is as long as the reader's loop along
        this axis. 0 for any other axis; the empty tuple stands for zeros.
    """

    buffer: int
    offset: int
    strides: Shape
    dtype: np.dtype
    rows: bool
    turns: Shape = ()

    @property
    def is_number(self) -> bool:
        """Whether the leaf is one element for the whole loop, and for all rows."""
        return not self.rows and not any(self.strides)

    def box(self, axis: int, first: int, size: int, length: int) -> "Leaf":
        """Return the view of ``size`` of the ``length`` elements along an axis, from ``first`` on.

        If this view reads the axis around its end, the part must not contain that end.
        """
        buffer, offset, strides, dtype, rows, turns = self
        if turns and turns[axis]:
            first = (first + turns[axis]) % length
            turns = without_turn(turns, axis)
        offset += first * strides[axis]
        if size == 1:
            strides = (*strides[:axis], 0, *strides[axis + 1 :])
        return _new_tuple(Leaf, (buffer, offset, strides, dtype, rows, turns))


def without_turn(turns: Shape, axis: int) -> Shape:
    """Return the ``turns`` of a `Leaf` with 0 along an axis; the empty tuple stands for zeros."""
    rest = (*turns[:axis], 0, *turns[axis + 1 :])
    return rest if any(rest) else ()


@final
class Step:
    """A scalar function of elements in memory and of other steps, over the loop of a reader.

    Attributes
    ----------
    spec : ElementwiseSpec
        The scalar function.
    args : tuple of Leaf or Step
    number : int
        The number of the instruction that the step comes from.
    start : int
        The element of that instruction, counted in C order, at the first position of the reader.
    moves : tuple of int
        How many elements of that instruction, in C order, the step moves on along each axis of the
        reader's loop.
    turns : tuple of int
        The element of a ring with which an axis begins, as in `Leaf`.
    key : int
        Equal for steps of equal ``number``, ``start``, ``moves`` and ``turns``; given by `Terms`.
    size : int
        An upper bound of the number of steps in the expression.
    """

    __slots__ = ("args", "key", "moves", "number", "size", "spec", "start", "turns")

    def __init__(
        self,
        spec: Any,
        args: "tuple[Leaf | Step, ...]",
        number: int,
        start: int,
        moves: Shape,
        turns: Shape,
        size: int,
    ) -> None:
        self.spec, self.args, self.number = spec, args, number
        self.start, self.moves, self.turns = start, moves, turns
        self.size, self.key = size, -1


Term: TypeAlias = Leaf | Step


class Unit:
    """An elementwise instruction, or a box (a part that is a range along each axis) of its loop.

    Attributes
    ----------
    spec : ElementwiseSpec
        The scalar function.
    loop : tuple of int
        The shape of the unit's loop.
    moves : tuple of int
        How many elements of the instruction's loop, in C order, each axis of the unit moves on.
    along : tuple of int
        The strides of the output in bytes. Along axes of one element they are kept here, while
        those in ``operands`` are 0.
    number : int
        The number of the instruction.
    start : int
        The unit's first element in the instruction's loop, in C order.
    operands : tuple of Leaf
        The inputs, then the output.
    """

    __slots__ = (
        "along", "inputs", "loop", "moves", "number", "operands", "output", "size", "spec", "start",
    )  # fmt: skip

    def __init__(
        self, spec: Any, loop: Shape, moves: Shape, along: Shape, number: int, start: int,
        operands: tuple[Leaf, ...],
    ) -> None:  # fmt: skip
        self.spec, self.loop, self.moves, self.along = spec, loop, moves, along
        self.number, self.start = number, start
        self.operands, self.inputs, self.output = operands, operands[:-1], operands[-1]
        self.size = prod(loop)

    def along_axes(self, axes: Shape) -> "Unit":
        """Return the unit over some axes of its loop; all other axes have one element."""

        def kept(values: Shape) -> Shape:
            return tuple([values[axis] for axis in axes])

        operands = tuple([leaf._replace(strides=kept(leaf.strides)) for leaf in self.operands])
        loop, moves, along = map(kept, (self.loop, self.moves, self.along))
        return Unit(self.spec, loop, moves, along, self.number, self.start, operands)

    def cut(self, axis: int, at: int) -> "list[Unit]":
        """Return the two parts of the unit before and from position ``at`` of an axis.

        If operands read the axis around its end (as a ring), the unit is cut where they come to
        that end instead.
        """
        edges = ring_ends(self.operands, axis, self.loop[axis])
        edges = [0, *(edges or [at]), self.loop[axis]]
        return [self.box(axis, low, high - low) for low, high in pairwise(edges)]

    def box(self, axis: int, first: int, size: int) -> "Unit":
        """Return the part of the unit with ``size`` elements along an axis, from ``first`` on."""
        length = self.loop[axis]
        loop = (*self.loop[:axis], size, *self.loop[axis + 1 :])
        operands = tuple([x.box(axis, first, size, length) for x in self.operands])
        start = self.start + first * self.moves[axis]
        moves = zero_single_axes(self.moves, loop)
        return Unit(self.spec, loop, moves, self.along, self.number, start, operands)


class UnitKind(NamedTuple):
    """The kernel spec, loop and views that all units of one elementwise pattern have in common.

    ``moves`` and ``along`` are those of `Unit`; ``views`` has the strides and the dtype of each
    operand.
    """

    spec: Any
    loop: Shape
    moves: Shape
    along: Shape
    views: tuple[tuple[Shape, np.dtype], ...]

    @classmethod
    def of(cls, pattern: Pattern) -> "UnitKind":
        """Return the kind of an elementwise pattern."""
        spec, loop = pattern.spec, pattern.loop
        # The kernel's dtypes: a kernel of half precision takes its operands as words of bits.
        dtypes = (*spec.in_dtypes, *spec.out_dtypes)
        strides = [zero_single_axes(along, loop) for along in pattern.strides]
        views = tuple(zip(strides, dtypes, strict=True))
        return cls(spec, loop, moves_of(loop), pattern.layouts[-1].strides, views)

    def unit(self, program: Program, number: int, instruction: Instruction) -> Unit:
        """Return the unit of an instruction of this kind."""
        rows = program.rows
        operands = [
            _new_tuple(Leaf, (buffer, offset, strides, dtype, rows[buffer], ()))
            for buffer, offset, (strides, dtype) in zip(
                instruction.buffers, instruction.offsets, self.views, strict=True
            )
        ]
        return Unit(self.spec, self.loop, self.moves, self.along, number, 0, tuple(operands))


def moves_of(loop: Shape) -> Shape:
    """Return the strides of a loop's axes in elements, in C order; 0 along axes of size 1."""
    return zero_single_axes(contiguous_strides(loop, 1), loop)


def zero_single_axes(strides: Shape, loop: Shape) -> Shape:
    """Return strides with 0 along the axes of size 1."""
    return tuple([s if n != 1 else 0 for s, n in zip(strides, loop, strict=True)])


def ring_ends(leaves: Sequence[Leaf], axis: int, length: int) -> list[int]:
    """Return the positions along an axis at which views jump from its end to its beginning.

    A view that jumps reads the axis, of ``length`` elements, as a ring. The positions are counted
    from where the loop begins, in ascending order.
    """
    return sorted({length - leaf.turns[axis] for leaf in leaves if leaf.turns and leaf.turns[axis]})


def boxes(loop: Shape, leaves: Sequence[Leaf]) -> Iterator[tuple[Shape, Sequence[Leaf]]]:
    """Yield the parts of a loop in which no view jumps from the end of an axis to its beginning.

    A part is given by its shape, and the views of its elements.
    """
    if not any(leaf.turns for leaf in leaves):
        yield loop, leaves
        return
    cuts = [
        pairwise([0, *ring_ends(leaves, axis, size), size]) for axis, size in enumerate(loop)
    ]
    for box in product(*cuts):
        views = leaves
        for axis, (low, high) in enumerate(box):
            size = loop[axis]
            if high - low < size:
                views = [leaf.box(axis, low, high - low, size) for leaf in views]
        yield tuple([high - low for low, high in box]), views
