"""Expressions of elementwise instructions: what an element is made of, down to memory.

An instruction that reads the result of another one can compute what it needs itself, from what
the other one reads, at the element where it needs it: through slices, shifts and broadcasts, as
long as each axis of the reader walks along one axis of the writer.
"""

from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .graph import Shape
from .program import Instruction, Program, contiguous_strides

_MOST_KNOWN = 1 << 14


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
        strides, turns = self.strides, self.turns
        if turns and turns[axis]:
            first = (first + turns[axis]) % length
            turns = without_turn(turns, axis)
        offset = self.offset + first * strides[axis]
        if size == 1:
            strides = (*strides[:axis], 0, *strides[axis + 1 :])
        return Leaf(self.buffer, offset, strides, self.dtype, self.rows, turns)


def without_turn(turns: Shape, axis: int) -> Shape:
    """Return turns that are 0 along an axis; none at all are the empty tuple."""
    rest = (*turns[:axis], 0, *turns[axis + 1 :])
    return rest if any(rest) else ()


class Step(NamedTuple):
    """A scalar function of leaves and other steps, at one element of the reader's loop.

    ``number`` is that of the instruction it comes from; ``start`` the element of that
    instruction's loop, in C order, ``moves`` how far each of the reader's axes moves in it, and
    ``turns`` where in a ring each of them begins.
    """

    spec: Any
    args: "tuple[Leaf | Step, ...]"
    number: int
    start: int
    moves: Shape
    turns: Shape
    size: int  # an upper bound of the number of steps in it


Term: TypeAlias = Leaf | Step


class Unit(NamedTuple):
    """An elementwise instruction, or a box of its loop; operands are inputs, then the output.

    ``along`` are the strides of the output, those of axes of one element included.
    """

    number: int
    spec: Any
    loop: Shape
    operands: tuple[Leaf, ...]
    start: int
    moves: Shape
    along: Shape

    @property
    def output(self) -> Leaf:
        return self.operands[-1]

    def cut(self, axis: int, at: int) -> "list[Unit]":
        """Return the parts of the loop before and from position ``at`` of an axis; where it is a
        ring for an operand, those between the ends of rings instead."""
        edges = ring_ends(self.operands, axis, self.loop[axis])
        edges = [0, *(edges or [at]), self.loop[axis]]
        return [self.box(axis, low, high - low) for low, high in pairwise(edges)]

    def box(self, axis: int, first: int, size: int) -> "Unit":
        loop = (*self.loop[:axis], size, *self.loop[axis + 1 :])
        length = self.loop[axis]
        operands = tuple([x.box(axis, first, size, length) for x in self.operands])
        start = self.start + first * self.moves[axis]
        moves = still(self.moves, loop)
        return Unit(self.number, self.spec, loop, operands, start, moves, self.along)


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
    along = pattern.layouts[-1].strides
    return Unit(number, pattern.spec, loop, tuple(operands), 0, moves, along)


def still(strides: Shape, loop: Shape) -> Shape:
    """Return strides that are 0 along axes of size 1."""
    return tuple([s if n != 1 else 0 for s, n in zip(strides, loop, strict=True)])


def ring_ends(leaves: Sequence[Leaf], axis: int, length: int) -> list[int]:
    """Return where along an axis any of some views comes to the end of its ring."""
    return sorted({length - leaf.turns[axis] for leaf in leaves if leaf.turns and leaf.turns[axis]})


class Where(NamedTuple):
    """Which element of a writer's loop each element of a reader's loop needs.

    ``first[c]`` is the position on the writer's axis c for the first element, ``axes[a]`` the
    writer's axis along which the reader's axis a walks, or -1. ``lengths[c]`` is the size of the
    writer's axis c, and ``whole[c]`` whether the reader walks through all of it, as through a ring.
    ``same`` is whether each element of the one loop is that of the other.
    """

    first: Shape
    axes: Shape
    lengths: Shape
    whole: tuple[bool, ...]
    same: bool


def locate(
    writer: Unit,
    ends_of_rings: Callable[[], Sequence[Collection[int]]] | None,
    leaf: Leaf,
    loop: Shape,
) -> tuple[Where, Shape] | None:
    """Return where a reader's view begins in what a writer writes, and how far it stays inside
    along each axis; None where it begins elsewhere or walks in another way.

    ``ends_of_rings`` returns for each of the writer's axes where its own term comes to the end of a
    ring; only who walks through the whole axis can read across. None where there are no rings.
    """
    target = writer.output
    place = (
        leaf.strides, leaf.turns, leaf.offset - target.offset, loop,
        target.strides, writer.along, writer.loop,
    )  # fmt: skip
    found = _located(*place, ((),) * len(writer.loop))
    if found is None or ends_of_rings is None or all(found[0].whole):
        return found
    return _located(*place, tuple([tuple(ends) for ends in ends_of_rings()]))


@lru_cache(maxsize=_MOST_KNOWN)
def _located(
    strides: Shape,
    turned: Shape,
    offset: int,
    loop: Shape,
    target: Shape,
    along: Shape,
    lengths: Shape,
    ends: tuple[Shape, ...],
) -> tuple[Where, Shape] | None:
    """Return what `locate` does; the steps of an integrator ask the same again and again.

    The view has ``strides``, ``turned`` and an ``offset`` from where the writer begins, which has
    the strides ``target`` and ``along`` for a loop of ``lengths``.
    """
    axes = _axes_of(strides, target, along)
    turns = turned or (0,) * len(loop)
    offset += sum([t * s for t, s in zip(turns, strides, strict=True)])
    first = _position(target, offset, lengths) if axes is not None else None
    if axes is None or first is None:
        return None
    inside = list(loop)
    whole = [False] * len(lengths)
    for a, c in enumerate(axes):
        if c >= 0 and loop[a] == lengths[c] and first[c] == turns[a]:
            whole[c] = True
    for a, c in enumerate(axes):
        if c >= 0 and not whole[c]:
            edges = [lengths[c], *ends[c]]
            rest = min([edge - first[c] for edge in edges if edge > first[c]])
            inside[a] = min(loop[a] - turns[a], rest)
    same = axes == tuple(range(len(lengths))) and not any(first)
    same = same and all(w or not e for w, e in zip(whole, ends, strict=True))
    return Where(tuple(first), axes, lengths, tuple(whole), same), tuple(inside)


def _axes_of(strides: Shape, target: Shape, along: Shape) -> Shape | None:
    """Return the writer's axis along which each of the reader's walks, -1 where it stands."""
    axes = []
    for stride in strides:
        if stride == 0:
            axes.append(-1)
        elif stride in target:
            axes.append(target.index(stride))
        elif stride in along:  # an axis of one element, which the reader leaves at once
            axes.append(along.index(stride))
        else:
            return None
    return tuple(axes)


def _position(strides: Shape, rest: int, loop: Shape) -> list[int] | None:
    """Return the element of a loop that a writer stores at an offset, None if it is no one."""
    if rest < 0:
        return None
    first = [0] * len(loop)
    order = range(len(loop))
    if not _descending(strides):
        order = sorted(order, key=lambda axis: -strides[axis])
    for axis in order:
        if strides[axis] > 0:
            first[axis], rest = divmod(rest, strides[axis])
            if first[axis] >= loop[axis]:
                return None
    return None if rest else first


def _descending(strides: Shape) -> bool:
    return all(a >= b for a, b in pairwise(strides))


def moved(strides: Shape, turns: Shape, where: Where) -> tuple[int, Shape, Shape]:
    """Return the offset, the strides and the turns, along the reader's loop, of a view along the
    writer's."""
    shift = 0
    turned = [0] * len(strides)
    for c, (stride, at, length) in enumerate(zip(strides, where.first, where.lengths, strict=True)):
        place = (at + turns[c]) % length if turns else at
        if not where.whole[c]:
            shift += stride * place
        elif stride:
            turned[c] = place
    new = tuple([strides[c] if c >= 0 else 0 for c in where.axes])
    if not any(turned):
        return shift, new, ()
    return shift, new, tuple([turned[c] if c >= 0 else 0 for c in where.axes])


def step_of(unit: Unit, args: Sequence[Term]) -> Step:
    """Return a unit as a step over its own loop."""
    size = 1 + sum([arg.size for arg in args if type(arg) is Step])
    return Step(unit.spec, tuple(args), unit.number, unit.start, unit.moves, (), size)


class Shifts:
    """Terms over the loops of writers as terms over those of their readers, each made once.

    The terms that are shifted must live as long as this does.
    """

    def __init__(self) -> None:
        self._known: dict[Where, tuple[dict[int, Term], dict[Any, tuple[int, Shape, Shape]]]] = {}

    def __call__(self, term: Term, where: Where) -> Term:
        """Return a term over a writer's loop as one over the loop of its reader."""
        if where.same:
            return term
        known = self._known.get(where)
        if known is None:
            known = self._known[where] = ({}, {})
        return _shift(term, where, *known)


def _shift(
    term: Term, where: Where, done: dict[int, Term], moves: dict[Any, tuple[int, Shape, Shape]]
) -> Term:
    """Shift a term; ``done`` has the terms that are known, ``moves`` how views move."""
    known = done.get(id(term))
    if known is not None:
        return known
    view = (term.strides if type(term) is Leaf else term.moves, term.turns)  # type: ignore[union-attr]
    change = moves.get(view)
    if change is None:
        change = moves[view] = moved(*view, where)
    offset, strides, turns = change
    if type(term) is Leaf:
        offset += term.offset
        result: Term = Leaf(term.buffer, offset, strides, term.dtype, term.rows, turns)
    else:
        assert isinstance(term, Step)
        args = tuple([_shift(arg, where, done, moves) for arg in term.args])
        start = term.start + offset
        result = Step(term.spec, args, term.number, start, strides, turns, term.size)
    done[id(term)] = result
    return result


Key: TypeAlias = tuple[int, int, Shape, Shape]


def identity_of(step: Step) -> Key:
    """Return what two steps have in common that compute the same elements."""
    return (step.number, step.start, step.moves, step.turns)


def contents(term: Term) -> tuple[dict[Key, Step], list[Leaf]]:
    """Return all steps of a term, arguments first, and all leaves, each once."""
    steps: dict[Key, Step] = {}
    leaves: dict[Leaf, None] = {}

    _visit(term, steps, leaves)
    return steps, list(leaves)


def _visit(term: Term, steps: dict[Key, Step], leaves: dict[Leaf, None]) -> None:
    if type(term) is Leaf:
        leaves.setdefault(term)
        return
    assert isinstance(term, Step)
    key = identity_of(term)
    if key not in steps:
        for arg in term.args:
            _visit(arg, steps, leaves)
        steps[key] = term


def ends_of(leaves: Sequence[Leaf], loop: Shape) -> tuple[list[int], ...]:
    """Return for each axis where any of the views comes to the end of a ring."""
    if not any(leaf.turns for leaf in leaves):
        return ([],) * len(loop)
    return tuple([ring_ends(leaves, axis, size) for axis, size in enumerate(loop)])
