"""Expressions of elementwise instructions: what an element is made of, down to memory.

An instruction that reads the result of another one can compute what it needs itself, from what
the other one reads, at the element where it needs it: through slices, shifts and broadcasts, as
long as each axis of the reader walks along one axis of the writer.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .graph import Shape
from .program import Instruction, Layout, Program, contiguous_strides


class Leaf(NamedTuple):
    """Elements in memory: a buffer, an offset, and strides along the loop of the reader."""

    buffer: int
    offset: int
    strides: Shape
    dtype: np.dtype
    rows: bool


class Step(NamedTuple):
    """A scalar function of leaves and other steps, at one element of the reader's loop."""

    spec: Any
    args: "tuple[Leaf | Step, ...]"
    number: int  # of the instruction that it comes from
    start: int  # the element of that instruction's loop, and how far the reader's axes move in it
    moves: Shape


Term: TypeAlias = Leaf | Step


class Writer(NamedTuple):
    """An elementwise instruction as the definition of (a part of) a buffer."""

    number: int
    instruction: Instruction
    offset: int
    strides: Shape
    loop: Shape


def writer_of(number: int, instruction: Instruction) -> Writer:
    """Return the definition that an instruction with one output is."""
    pattern = instruction.pattern
    return Writer(
        number, instruction, instruction.offsets[-1], pattern.strides[pattern.nin], pattern.loop
    )


class Where(NamedTuple):
    """Which element of a writer's loop each element of a reader's loop needs.

    ``first[c]`` is the position on the writer's axis c for the first element, ``axes[a]`` the
    writer's axis along which the reader's axis a walks, or -1.
    """

    first: Shape
    axes: Shape


def locate(writer: Writer, offset: int, strides: Shape, loop: Shape) -> Where | None:
    """Return where a reader's view lies in what a writer writes; None where it does not fit."""
    axes = []
    for stride, size in zip(strides, loop, strict=True):
        if stride == 0 or size == 1:
            axes.append(-1)
        elif stride in writer.strides:
            axes.append(writer.strides.index(stride))
        else:
            return None
    rest = offset - writer.offset
    if rest < 0:
        return None
    first = [0] * len(writer.loop)
    for axis in sorted(range(len(writer.loop)), key=lambda a: -writer.strides[a]):
        if writer.strides[axis] > 0 and writer.loop[axis] > 1:
            first[axis], rest = divmod(rest, writer.strides[axis])
    if rest:
        return None
    reach = list(first)
    for axis, size in zip(axes, loop, strict=True):
        if axis >= 0:
            reach[axis] += size - 1
    if len({a for a in axes if a >= 0}) != sum(a >= 0 for a in axes):
        return None
    inside = all(at < size for at, size in zip(reach, writer.loop, strict=True))
    return Where(tuple(first), tuple(axes)) if inside else None


def moved(strides: Shape, where: Where) -> tuple[int, Shape]:
    """Return the offset and the strides, along the reader's loop, of a view along the writer's."""
    shift = sum(s * at for s, at in zip(strides, where.first, strict=True))
    return shift, tuple([strides[axis] if axis >= 0 else 0 for axis in where.axes])


def leaf_of(program: Program, instruction: Instruction, place: int) -> Leaf:
    """Return operand ``place`` of an instruction as a leaf over its own loop."""
    pattern = instruction.pattern
    index = instruction.buffers[place]
    layout: Layout = pattern.layouts[place]
    loop_strides = pattern.strides[place]
    strides = tuple(
        [s if size != 1 else 0 for s, size in zip(loop_strides, pattern.loop, strict=True)]
    )
    return Leaf(index, instruction.offsets[place], strides, layout.dtype, program.rows[index])


def step_of(number: int, instruction: Instruction, args: Sequence[Term]) -> Step:
    """Return an instruction as a step over its own loop."""
    loop = instruction.pattern.loop
    dense = contiguous_strides(loop, 1)
    moves = tuple([s if n != 1 else 0 for s, n in zip(dense, loop, strict=True)])
    return Step(instruction.pattern.spec, tuple(args), number, 0, moves)


def shifted(term: Term, where: Where) -> Term:
    """Return a term over a writer's loop as one over the loop of its reader."""
    done: dict[int, Term] = {}

    def shift(term: Term) -> Term:
        known = done.get(id(term))
        if known is None:
            known = done[id(term)] = moved_term(term)
        return known

    def moved_term(term: Term) -> Term:
        if isinstance(term, Leaf):
            offset, strides = moved(term.strides, where)
            return Leaf(term.buffer, term.offset + offset, strides, term.dtype, term.rows)
        start, moves = moved(term.moves, where)
        args = tuple([shift(arg) for arg in term.args])
        return Step(term.spec, args, term.number, term.start + start, moves)

    return shift(term)


def identity_of(step: Step) -> tuple[int, int, Shape]:
    """Return what two steps have in common that compute the same elements."""
    return (step.number, step.start, step.moves)


def inlined(term: Term) -> dict[tuple[int, int, Shape], Step]:
    """Return all steps of a term, each once, arguments first."""
    found: dict[tuple[int, int, Shape], Step] = {}

    def visit(step: Step) -> None:
        key = identity_of(step)
        if key not in found:
            for arg in step.args:
                if isinstance(arg, Step):
                    visit(arg)
            found[key] = step

    if isinstance(term, Step):
        visit(term)
    return found


def leaves(terms: Sequence[Term]) -> list[Leaf]:
    """Return the leaves of terms, each once, in order."""
    found: dict[Leaf, None] = {}
    seen: set[tuple[int, int, Shape]] = set()

    def visit(term: Term) -> None:
        if isinstance(term, Leaf):
            found.setdefault(term)
        elif identity_of(term) not in seen:
            seen.add(identity_of(term))
            for arg in term.args:
                visit(arg)

    for term in terms:
        visit(term)
    return list(found)
