"""Terms: what an element is made of, made where it is computed and shifted to who reads it."""

import itertools
from collections.abc import Sequence
from typing import TypeAlias

from .expand import Leaf, Step, Term, Unit, ring_ends
from .graph import Shape
from .places import Where

_new_tuple = tuple.__new__  # makes a Leaf in half the time that `Leaf` takes

# The first element of a step in the loop of its instruction, its moves and its turns.
_Place: TypeAlias = tuple[int, Shape, Shape]


class Terms:
    """The steps of a program.

    Parameters
    ----------
    count : int
        The number of instructions.
    has_rings : bool
        Whether any view walks through a ring. Where none does, steps with the same key are one
        object; else what they read may depend on the loop of who reads them.
    """

    def __init__(self, count: int, has_rings: bool) -> None:
        self._next_key = itertools.count().__next__
        self._has_rings = has_rings
        self._steps: list[dict[_Place, Step]] = [{} for _ in range(count)]
        self._shifted: dict[Where, dict[Step, Step]] = {}

    def forget(self, number: int) -> None:
        """Forget the steps of an instruction, whose arguments are others from now on."""
        self._steps[number] = {}

    def forget_shifts(self) -> None:
        """Forget which steps are others shifted, before any of these are forgotten."""
        self._shifted = {}

    def step(self, unit: Unit, args: Sequence[Term]) -> Step:
        """Return a unit as a step over its own loop."""
        size = 1
        for arg in args:
            if type(arg) is Step:
                size += arg.size
        form, start = unit.form, unit.start
        step = Step(form.spec, tuple(args), unit.number, start, form.moves, (), size)
        self._give_key(step, (start, form.moves, ()))
        return step

    def _give_key(self, step: Step, place: _Place) -> None:
        first = self._steps[step.number].setdefault(place, step)
        step.key = self._next_key() if first is step else first.key

    def shifted(self, step: Step, where: Where) -> Step:
        """Return a step over a writer's loop as one over the loop of its reader."""
        if where.same:
            return step
        done = self._shifted.get(where)
        if done is None:
            done = self._shifted[where] = {}
        return done.get(step) or self._shift(step, where, done)

    def _shift(self, step: Step, where: Where, done: dict[Step, Step]) -> Step:
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


def _moved(leaf: Leaf, where: Where) -> Leaf:
    """Return a view along a writer's loop as one along that of its reader."""
    buffer, offset, strides, dtype, rows, turns = leaf
    shift, strides, turns = where.moves.get((strides, turns)) or where.moved(strides, turns)
    return _new_tuple(Leaf, (buffer, offset + shift, strides, dtype, rows, turns))


def contents(step: Step) -> tuple[dict[int, Step], list[Leaf]]:
    """Return all steps of a term by their keys, arguments first, and all leaves, each once."""
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
    """Return for each axis where any of the views comes to the end of a ring."""
    if not any(leaf.turns for leaf in leaves):
        return ([],) * len(loop)
    return tuple([ring_ends(leaves, axis, size) for axis, size in enumerate(loop)])
