"""Expressions of elementwise instructions: what an element is made of, down to memory.

An instruction that reads the result of another one can compute what it needs itself, from what
the other one reads, at the element where it needs it: through slices, shifts and broadcasts, as
long as each axis of the reader walks along one axis of the writer.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .graph import Shape
from .program import Instruction, Program, contiguous_strides


class Leaf(NamedTuple):
    """Elements in memory: a buffer, an offset, and strides along the loop of the reader."""

    buffer: int
    offset: int
    strides: Shape
    dtype: np.dtype
    rows: bool

    def box(self, axis: int, first: int, size: int) -> "Leaf":
        """Return the view of ``size`` elements along an axis, from position ``first`` on."""
        strides = self.strides
        offset = self.offset + first * strides[axis]
        if size == 1:
            strides = (*strides[:axis], 0, *strides[axis + 1 :])
        return Leaf(self.buffer, offset, strides, self.dtype, self.rows)


class Step(NamedTuple):
    """A scalar function of leaves and other steps, at one element of the reader's loop.

    ``number`` is that of the instruction it comes from; ``start`` the element of that
    instruction's loop, in C order, and ``moves`` how far each of the reader's axes moves in it.
    """

    spec: Any
    args: "tuple[Leaf | Step, ...]"
    number: int
    start: int
    moves: Shape
    size: int  # an upper bound of the number of steps in it


Term: TypeAlias = Leaf | Step


class Unit(NamedTuple):
    """An elementwise instruction, or a box of its loop; operands are inputs, then the output."""

    number: int
    spec: Any
    loop: Shape
    operands: tuple[Leaf, ...]
    start: int
    moves: Shape

    @property
    def output(self) -> Leaf:
        return self.operands[-1]

    def cut(self, axis: int, at: int) -> "tuple[Unit, Unit]":
        """Return the two parts of the loop before and from position ``at`` of an axis."""
        rest = self.loop[axis] - at
        return self._box(axis, 0, at), self._box(axis, at, rest)

    def _box(self, axis: int, first: int, size: int) -> "Unit":
        loop = (*self.loop[:axis], size, *self.loop[axis + 1 :])
        operands = tuple([x.box(axis, first, size) for x in self.operands])
        start = self.start + first * self.moves[axis]
        return Unit(self.number, self.spec, loop, operands, start, still(self.moves, loop))


def unit_of(program: Program, number: int, instruction: Instruction) -> Unit:
    """Return an elementwise instruction as a unit."""
    pattern = instruction.pattern
    loop = pattern.loop
    operands = []
    # The kernel's dtypes: to one of half precision its operands are words of bits.
    dtypes = (*pattern.spec.in_dtypes, *pattern.spec.out_dtypes)
    for index, offset, dtype, strides in zip(
        instruction.buffers, instruction.offsets, dtypes, pattern.strides, strict=True
    ):
        if 1 in loop:
            strides = still(strides, loop)
        operands.append(Leaf(index, offset, strides, dtype, program.rows[index]))
    moves = still(contiguous_strides(loop, 1), loop)
    return Unit(number, pattern.spec, loop, tuple(operands), 0, moves)


def still(strides: Shape, loop: Shape) -> Shape:
    """Return strides that are 0 along axes of size 1."""
    return tuple([s if n != 1 else 0 for s, n in zip(strides, loop, strict=True)])


class Where(NamedTuple):
    """Which element of a writer's loop each element of a reader's loop needs.

    ``first[c]`` is the position on the writer's axis c for the first element, ``axes[a]`` the
    writer's axis along which the reader's axis a walks, or -1.
    """

    first: Shape
    axes: Shape


def locate(writer: Unit, leaf: Leaf, loop: Shape) -> tuple[Where, Shape] | None:
    """Return where a reader's view begins in what a writer writes, and how far it stays inside
    along each axis; None where it begins elsewhere or walks in another way."""
    target = writer.output
    axes = []
    for stride in leaf.strides:
        if stride == 0:
            axes.append(-1)
        elif stride in target.strides:
            axes.append(target.strides.index(stride))
        else:
            return None
    rest = leaf.offset - target.offset
    if rest < 0:
        return None
    first = [0] * len(writer.loop)
    order = range(len(writer.loop))
    if not _descending(target.strides):
        order = sorted(order, key=lambda axis: -target.strides[axis])
    for axis in order:
        if target.strides[axis] > 0:
            first[axis], rest = divmod(rest, target.strides[axis])
            if first[axis] >= writer.loop[axis]:
                return None
    if rest:
        return None
    inside = [
        size if axis < 0 else min(size, writer.loop[axis] - first[axis])
        for axis, size in zip(axes, loop, strict=True)
    ]
    return Where(tuple(first), tuple(axes)), tuple(inside)


def _descending(strides: Shape) -> bool:
    return all(a >= b for a, b in pairwise(strides))


def moved(strides: Shape, where: Where) -> tuple[int, Shape]:
    """Return the offset and the strides, along the reader's loop, of a view along the writer's."""
    shift = 0
    for stride, at in zip(strides, where.first, strict=True):
        shift += stride * at
    return shift, tuple([strides[axis] if axis >= 0 else 0 for axis in where.axes])


def step_of(unit: Unit, args: Sequence[Term]) -> Step:
    """Return a unit as a step over its own loop."""
    size = 1 + sum([arg.size for arg in args if type(arg) is Step])
    return Step(unit.spec, tuple(args), unit.number, unit.start, unit.moves, size)


def shifted(term: Term, where: Where) -> Term:
    """Return a term over a writer's loop as one over the loop of its reader."""
    if not any(where.first) and where.axes == tuple(range(len(where.first))):
        return term
    return _shift(term, where, {})


def _shift(term: Term, where: Where, done: dict[int, Term]) -> Term:
    known = done.get(id(term))
    if known is not None:
        return known
    if type(term) is Leaf:
        offset, strides = moved(term.strides, where)
        result = Leaf(term.buffer, term.offset + offset, strides, term.dtype, term.rows)
    else:
        assert isinstance(term, Step)
        start, moves = moved(term.moves, where)
        args = tuple([_shift(arg, where, done) for arg in term.args])
        result = Step(term.spec, args, term.number, term.start + start, moves, term.size)
    done[id(term)] = result
    return result


def identity_of(step: Step) -> tuple[int, int, Shape]:
    """Return what two steps have in common that compute the same elements."""
    return (step.number, step.start, step.moves)


def contents(term: Term) -> tuple[dict[tuple[int, int, Shape], Step], list[Leaf]]:
    """Return all steps of a term, arguments first, and all leaves, each once."""
    steps: dict[tuple[int, int, Shape], Step] = {}
    leaves: dict[Leaf, None] = {}

    _visit(term, steps, leaves)
    return steps, list(leaves)


def _visit(
    term: Term, steps: dict[tuple[int, int, Shape], Step], leaves: dict[Leaf, None]
) -> None:
    if type(term) is Leaf:
        leaves.setdefault(term)
        return
    assert isinstance(term, Step)
    key = identity_of(term)
    if key not in steps:
        for arg in term.args:
            _visit(arg, steps, leaves)
        steps[key] = term
