"""Terms of fusion: the expression of an element, shifted from its writer's loop to its reader's.

A `LoopMap` maps each element of a reader's loop to an element of the writer's loop. `LoopMaps`
finds this map once for all pairs of views that are equally far apart. `Terms` moves the writer's
expression (its term) by the map, and so makes it part of the reader's expression.
"""

from collections.abc import Callable, Collection, Sequence
from itertools import count, pairwise
from typing import Any, TypeAlias

from ..graph.value import Shape
from .expression import Leaf, Step, Term, Unit, ring_ends

# By how many bytes the start of a view moves, and the view's new strides and turns.
Move: TypeAlias = tuple[int, Shape, Shape]


class LoopMap:
    """The map from the elements of a reader's loop to those of a writer's loop.

    Attributes
    ----------
    first : tuple of int
        The index in the writer's loop of the reader's first element.
    axes : tuple of int
        For each axis of the reader the writer's axis along which it walks, or -1 for none.
    lengths : tuple of int
        The shape of the writer's loop.
    whole : tuple of bool
        For each axis of the writer whether the reader reads all of it, perhaps as a ring: from the
        middle to the end, and on from the beginning.
    same : bool
        Whether the map is the identity.
    moves : dict
        The answers of `moved`, by strides and turns.
    """

    __slots__ = ("axes", "first", "lengths", "moves", "same", "whole")

    def __init__(
        self, first: Shape, axes: Shape, lengths: Shape, whole: tuple[bool, ...], same: bool
    ) -> None:
        self.first, self.axes, self.lengths = first, axes, lengths
        self.whole, self.same = whole, same
        self.moves: dict[tuple[Shape, Shape], Move] = {}

    def moved(self, strides: Shape, turns: Shape) -> Move:
        """Return how a view along the writer's loop is to be changed to follow the reader's loop.

        ``strides`` and ``turns`` are those of the view along the writer's loop; see `Leaf`. The
        result has the bytes by which the start of the view moves, and the strides and turns of the
        view along the reader's loop.
        """
        known = self.moves.get((strides, turns))
        if known is None:
            known = self.moves[strides, turns] = self._moved(strides, turns)
        return known

    def _moved(self, strides: Shape, turns: Shape) -> Move:
        shift = 0
        turned = [0] * len(strides)
        for c, (stride, at, length) in enumerate(
            zip(strides, self.first, self.lengths, strict=True)
        ):
            place = (at + turns[c]) % length if turns else at
            if not self.whole[c]:
                shift += stride * place
            elif stride:
                turned[c] = place
        new = tuple([strides[c] if c >= 0 else 0 for c in self.axes])
        if not any(turned):
            return shift, new, ()
        return shift, new, tuple([turned[c] if c >= 0 else 0 for c in self.axes])


# The map of a view, and for each axis how many of its elements lie within the writer's loop.
Found: TypeAlias = tuple[LoopMap, Shape]


class LoopMaps:
    """A cache of `LoopMap`: the steps of an integrator ask for the same map again and again.

    Equal maps are one object.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[Any, ...], Found | None] = {}
        self._wheres: dict[tuple[Any, ...], LoopMap] = {}

    def locate(
        self,
        writer: Unit,
        ends_of_rings: Callable[[], Sequence[Collection[int]]] | None,
        leaf: Leaf,
        loop: Shape,
    ) -> Found | None:
        """Return the map from a reader's loop to the loop of a writer, and where the map holds.

        The map holds from the start of the reader's loop until the view leaves the writer's output.
        The second result is the shape of this part of the reader's loop.

        Parameters
        ----------
        writer : Unit
        ends_of_rings : callable or None
            Returns for each of the writer's axes the positions where a view in the writer's term
            jumps from the end to the beginning (of a ring). Only a view of the whole axis can read
            across such a position. None in a program without rings.
        leaf : Leaf
            The view by which the reader reads the writer's output.
        loop : tuple of int
            The reader's loop.

        Returns
        -------
        Found or None
            None for a view that starts outside of the writer's output, or walks with a stride that
            no axis of the output has.
        """
        target = writer.output
        place = (
            leaf.strides, leaf.turns, leaf.offset - target.offset, loop,
            target.strides, writer.along, writer.loop,
        )  # fmt: skip
        found = self._answer(place)
        if found is None or ends_of_rings is None or all(found[0].whole):
            return found
        ends = tuple([tuple(ends) for ends in ends_of_rings()])
        return self._answer((*place, ends)) if any(ends) else found

    def _answer(self, place: tuple[Any, ...]) -> Found | None:
        try:
            return self._found[place]
        except KeyError:
            found = self._found[place] = self._located(*place)
            return found

    def _located(
        self,
        strides: Shape,
        turned: Shape,
        offset: int,
        loop: Shape,
        target: Shape,
        along: Shape,
        lengths: Shape,
        ends: tuple[Shape, ...] = (),
    ) -> Found | None:
        """Return the answer of `locate` for a view at a distance from the output of a writer.

        Parameters
        ----------
        strides, turned : tuple of int
            The strides and turns of the view; see `Leaf`.
        offset : int
            How many bytes after the output of the writer the view begins.
        loop : tuple of int
            The reader's loop.
        target, along : tuple of int
            The strides of the output; in ``target`` those of axes of one element are 0.
        lengths : tuple of int
            The writer's loop.
        ends : tuple of tuple of int
            For each axis of the writer the positions where a view in the writer's term jumps from
            the end of a ring to its beginning.
        """
        axes = _axes_of(strides, target, along)
        turns = turned or (0,) * len(loop)
        offset += sum([t * s for t, s in zip(turns, strides, strict=True)])
        first = _position(target, offset, lengths) if axes is not None else None
        if axes is None or first is None:
            return None
        ends = ends or ((),) * len(lengths)
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
        fields = (tuple(first), axes, lengths, tuple(whole), same)
        return self._wheres.setdefault(fields, LoopMap(*fields)), tuple(inside)


def _axes_of(strides: Shape, target: Shape, along: Shape) -> Shape | None:
    """Return for each stride of a reader's view the axis of the writer with the same stride.

    For stride 0 the axis is -1. None where the writer has no axis with the stride. ``target`` and
    ``along`` are the strides of the writer's output; in ``target`` those of axes of one element
    are 0.
    """
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
    """Return the index, in a writer's loop, of the element at an offset in the writer's output.

    ``strides`` are those of the output, and ``rest`` is the offset in bytes. None where the writer
    stores no element at the offset.
    """
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


_new_tuple = tuple.__new__  # makes a Leaf in half the time that `Leaf` takes

# The first element of a step in the loop of its instruction, its moves and its turns.
_Place: TypeAlias = tuple[int, Shape, Shape]


class Terms:
    """Makes the steps (scalar functions) of a program, and shifts them to the loops of readers.

    Parameters
    ----------
    instructions : int
        The number of instructions.
    has_rings : bool
        Whether any view walks through a ring. Without rings, steps with the same key are one
        object; with rings, the leaves of a step may depend on the loop of its reader.
    """

    def __init__(self, instructions: int, has_rings: bool) -> None:
        self._next_key = count().__next__
        self._has_rings = has_rings
        self._steps: list[dict[_Place, Step]] = [{} for _ in range(instructions)]
        self._shifted: dict[LoopMap, dict[Step, Step]] = {}
        self._squeezed: dict[Shape, LoopMap] = {}  # by the loop with axes of one element

    def forget(self, number: int) -> None:
        """Forget the steps of an instruction whose arguments change."""
        self._steps[number] = {}

    def forget_shifts(self) -> None:
        """Forget all shifted steps, before calls of `forget` drop steps that they were made of."""
        self._shifted = {}

    def step(self, unit: Unit, args: Sequence[Term]) -> Step:
        """Return the step of a unit: its scalar function, over its own loop, applied to `args`."""
        size = 1
        for arg in args:
            if type(arg) is Step:
                size += arg.size
        step = Step(unit.spec, tuple(args), unit.number, unit.start, unit.moves, (), size)
        self._give_key(step, (unit.start, unit.moves, ()))
        return step

    def _give_key(self, step: Step, place: _Place) -> None:
        first = self._steps[step.number].setdefault(place, step)
        step.key = self._next_key() if first is step else first.key

    def shifted(self, step: Step, where: LoopMap) -> Step:
        """Return the step that computes along a reader's loop what ``step`` does along a writer's.

        ``where`` maps the reader's loop to the writer's loop.
        """
        if where.same:
            return step
        done = self._shifted.get(where)
        if done is None:
            done = self._shifted[where] = {}
        return done.get(step) or self._shift(step, where, done)

    def without_single_axes(self, unit: Unit, term: Step) -> tuple[Unit, Step]:
        """Return a stored unit and its term over a loop that has no axes of one element.

        So a column of a matrix is computed in one kernel with vectors of the same length. In a
        program with rings both are returned as they are.
        """
        if self._has_rings or 1 not in unit.loop:
            return unit, term
        axes = tuple([axis for axis, size in enumerate(unit.loop) if size != 1])
        where = self._squeezed.get(unit.loop)
        if where is None:
            all_axes = len(unit.loop)
            where = LoopMap((0,) * all_axes, axes, unit.loop, (True,) * all_axes, False)
            self._squeezed[unit.loop] = where
        return unit.along_axes(axes), self.shifted(term, where)

    def _shift(self, step: Step, where: LoopMap, done: dict[Step, Step]) -> Step:
        offset, moves, turns = where.moved(step.moves, step.turns)
        place = step.start + offset, moves, turns
        result = None if self._has_rings else self._steps[step.number].get(place)
        if result is None:
            args = tuple([
                _moved(arg, where)
                if type(arg) is Leaf
                else done.get(arg) or self._shift(arg, where, done)
                for arg in step.args
            ])  # fmt: skip
            result = Step(step.spec, args, step.number, place[0], moves, turns, step.size)
            self._give_key(result, place)
        done[step] = result
        return result


def _moved(leaf: Leaf, where: LoopMap) -> Leaf:
    """Return the view that reads along a reader's loop what ``leaf`` reads along a writer's.

    ``where`` maps the reader's loop to the writer's loop.
    """
    buffer, offset, strides, dtype, rows, turns = leaf
    shift, strides, turns = where.moves.get((strides, turns)) or where.moved(strides, turns)
    return _new_tuple(Leaf, (buffer, offset + shift, strides, dtype, rows, turns))


def contents(step: Step) -> tuple[dict[int, Step], list[Leaf]]:
    """Return the scalar functions (steps) of an expression by their keys, arguments first.

    Return with them the views of memory (leaves) in the expression, each once.
    """
    steps: dict[int, Step] = {}
    leaves: dict[Leaf, None] = {}
    _visit(step, steps, leaves)
    return steps, list(leaves)


def _visit(step: Step, steps: dict[int, Step], leaves: dict[Leaf, None]) -> None:
    for arg in step.args:
        if type(arg) is Leaf:
            leaves[arg] = None
        elif arg.key not in steps:
            _visit(arg, steps, leaves)
    steps[step.key] = step


def ends_of(leaves: Sequence[Leaf], loop: Shape) -> tuple[list[int], ...]:
    """Return for each axis of a loop the positions where views jump from its end to its beginning.

    A view that jumps reads the axis as a ring.
    """
    if not any(leaf.turns for leaf in leaves):
        return ([],) * len(loop)
    return tuple([ring_ends(leaves, axis, size) for axis, size in enumerate(loop)])
