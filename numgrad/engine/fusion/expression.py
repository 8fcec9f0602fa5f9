"""Expressions of elementwise instructions: what an element is made of, down to memory.

An instruction that reads the result of another one can compute what it needs itself, from what
the other one reads, at the element where it needs it: through slices, shifts and broadcasts, as
long as each axis of the reader walks along one axis of the writer.
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
    """Elements in memory: a buffer, an offset, and strides along the loop of the reader.

    Along an axis of which ``turns`` is t, not 0, the reader walks through a ring: it begins with
    element t and goes on with the first one after the last; the ring is as long as its loop.
    """

    buffer: int
    offset: int
    strides: Shape
    dtype: np.dtype
    rows: bool
    turns: Shape = ()

    @property
    def is_number(self) -> bool:
        """Whether it is one element for the whole loop, whichever axis is the inner one."""
        return not self.rows and not any(self.strides)

    def box(self, axis: int, first: int, size: int, length: int) -> "Leaf":
        """Return the view of ``size`` elements along an axis, from position ``first`` on, of
        ``length`` ones; it must not contain the end of the ring."""
        buffer, offset, strides, dtype, rows, turns = self
        if turns and turns[axis]:
            first = (first + turns[axis]) % length
            turns = without_turn(turns, axis)
        offset += first * strides[axis]
        if size == 1:
            strides = (*strides[:axis], 0, *strides[axis + 1 :])
        return _new_tuple(Leaf, (buffer, offset, strides, dtype, rows, turns))


def without_turn(turns: Shape, axis: int) -> Shape:
    """Return turns that are 0 along an axis; none at all are the empty tuple."""
    rest = (*turns[:axis], 0, *turns[axis + 1 :])
    return rest if any(rest) else ()


@final
class Step:
    """A scalar function of leaves and other steps, at one element of the reader's loop.

    ``number`` is that of the instruction it comes from; ``start`` the element of that
    instruction's loop, in C order, ``moves`` how far each of the reader's axes moves in it, and
    ``turns`` where in a ring each of them begins. Steps that agree in these have the same ``key``,
    which `Terms` gives them. ``size`` is an upper bound of the number of steps in it.
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
    """An elementwise instruction, or a box of its loop.

    Attributes
    ----------
    spec : ElementwiseSpec
        The scalar function.
    moves : tuple of int
        How far each axis of the loop moves in that of the instruction.
    along : tuple of int
        The strides of the output, those of axes of one element included.
    number : int
        Of the instruction.
    start : int
        The element of the instruction's loop, in C order, that is the first one here.
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

    def cut(self, axis: int, at: int) -> "list[Unit]":
        """Return the parts of the loop before and from position ``at`` of an axis; where it is a
        ring for an operand, those between the ends of rings instead."""
        edges = ring_ends(self.operands, axis, self.loop[axis])
        edges = [0, *(edges or [at]), self.loop[axis]]
        return [self.box(axis, low, high - low) for low, high in pairwise(edges)]

    def box(self, axis: int, first: int, size: int) -> "Unit":
        """Return the part of so many elements along an axis."""
        length = self.loop[axis]
        loop = (*self.loop[:axis], size, *self.loop[axis + 1 :])
        operands = tuple([x.box(axis, first, size, length) for x in self.operands])
        start = self.start + first * self.moves[axis]
        moves = still(self.moves, loop)
        return Unit(self.spec, loop, moves, self.along, self.number, start, operands)


class Kind(NamedTuple):
    """What the units of one elementwise pattern have in common; ``views`` are strides and dtype of
    each operand."""

    spec: Any
    loop: Shape
    moves: Shape
    along: Shape
    views: tuple[tuple[Shape, np.dtype], ...]

    @classmethod
    def of(cls, pattern: Pattern) -> "Kind":
        """Return the kind of an elementwise pattern."""
        spec, loop = pattern.spec, pattern.loop
        # The kernel's dtypes: to one of half precision its operands are words of bits.
        dtypes = (*spec.in_dtypes, *spec.out_dtypes)
        strides = [still(along, loop) for along in pattern.strides]
        views = tuple(zip(strides, dtypes, strict=True))
        return cls(spec, loop, moves_of(loop), pattern.layouts[-1].strides, views)

    def unit(self, program: Program, number: int, instruction: Instruction) -> Unit:
        """Return an instruction of this kind as a unit."""
        rows = program.rows
        operands = [
            _new_tuple(Leaf, (buffer, offset, strides, dtype, rows[buffer], ()))
            for buffer, offset, (strides, dtype) in zip(
                instruction.buffers, instruction.offsets, self.views, strict=True
            )
        ]
        return Unit(self.spec, self.loop, self.moves, self.along, number, 0, tuple(operands))


def moves_of(loop: Shape) -> Shape:
    """Return how far each axis of a loop moves in the loop itself, in elements in C order."""
    return still(contiguous_strides(loop, 1), loop)


def still(strides: Shape, loop: Shape) -> Shape:
    """Return strides that are 0 along axes of size 1."""
    return tuple([s if n != 1 else 0 for s, n in zip(strides, loop, strict=True)])


def ring_ends(leaves: Sequence[Leaf], axis: int, length: int) -> list[int]:
    """Return where along an axis any of some views comes to the end of its ring."""
    return sorted({length - leaf.turns[axis] for leaf in leaves if leaf.turns and leaf.turns[axis]})


def boxes(loop: Shape, leaves: Sequence[Leaf]) -> Iterator[tuple[Shape, Sequence[Leaf]]]:
    """Yield the parts of a loop, with the views there, within which no ring comes to its end."""
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
