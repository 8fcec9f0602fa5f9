"""Repeated expressions: the turns of a loop of the user are lowered all at once.

`rolling.periods` finds where the kinds of expressions repeat; each repetition is a *turn*. Of each
operand there is a number that says what is read: another expression, or an array. An index, or a
write to a part of an array, has a number that says where the part begins. Where all these numbers
move on by the same distance from turn to turn, a turn is lowered to the instructions of the turn
before, with buffers and offsets that move on as well. A few turns are lowered in the ordinary way
(the *models*), and their numbers compared; those of later turns are computed by NumPy. The program
is the very same: that no instruction of these turns is a common subexpression, or that it is one
with the expected buffer, is looked up for each of them, as in the ordinary way. If one look-up
finds anything else, `UnlikeError` is raised, and the program is lowered anew in the ordinary way.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..graph.value import Expr
from ..rolling.periods import Run, runs
from .parts import Store
from .repetition import (
    Model,
    Repetition,
    Span,
    array_of,
    form_of_place,
    moved,
    moves_of,
    numbers_of,
)

FEWEST_TURNS, FEWEST = 16, 400  # turns, and expressions in all, that are worth the search
_MULTIPLES = (1, 2, 3, 4, 6)  # periods of the kinds after which operands may repeat
_MOST_BEFORE = 8  # turns that a turn looks back
_MOST_MODELS = 6  # turns lowered beyond those that have to agree
_SLOT = 1 << 40  # what the number of an operand grows by for another output of its expression


class _Stretch(NamedTuple):
    """Turns whose operands move on by the same distances: the position of the first expression,
    the number of turns, the period, how many turns each looks back, and which expressions of a turn
    read or write a part that moves on."""

    first: int
    turns: int
    period: int
    back: int
    moving: list[int]


class Repeats:
    """The repeated expressions of a program.

    Parameters
    ----------
    items : sequence
        The expressions in order, and what else is lowered among them.
    kinds : sequence
        The kind of each, None for what is never lowered with others at once.
    begins : sequence of int
        Where the part begins that each reads or writes, 0 for others.

    Attributes
    ----------
    runs : list of Run
        Where kinds repeat.
    spans : list of Span
        The turns that were lowered at once.
    values : list of Value
        The operands that are arrays from outside, in the order in which they are first read.
    starts : ndarray
        How many operands there are before those of each expression.
    seen : ndarray
        How many of the values there are before each operand.
    """

    def __init__(self, items: Sequence[Any], kinds: Sequence[Any], begins: Sequence[int]) -> None:
        self.items, self._begins = items, np.array(begins, np.int64)
        numbers = {kind: n for n, kind in enumerate(dict.fromkeys(kinds))}
        numbers[None] = -1
        names = np.fromiter(map(numbers.__getitem__, kinds), np.int64, len(kinds))
        names = np.where(names < 0, -1 - np.arange(len(names)), names)
        self.runs = [r for r in runs(names, FEWEST_TURNS) if r.stop - r.first >= FEWEST]
        self.spans: list[Span] = []
        self.values: list[Any] = []  # those with an array from outside, by number
        self._numbers: dict[Any, int] = {}
        if self.runs:
            self._number_operands()

    def _number_operands(self) -> None:
        index = self._index = {item: n for n, item in enumerate(self.items)}
        last = [item for item in self.items if type(item) is Store and item.is_last]
        index.update({store.array.end: index[store] for store in last})
        inputs = [item.inputs for item in self.items]
        found = [
            n if type(x) is Expr and (n := index.get(x)) is not None else self._number(x)
            for each in inputs for x in each
        ]  # fmt: skip
        self._sources = np.array(found, np.int64)
        self.starts = np.concatenate([[0], np.cumsum(list(map(len, inputs)))])
        arrays = np.maximum.accumulate(np.maximum(-self._sources, 0)) if found else self._sources
        self.seen = np.concatenate([[0], arrays])  # arrays among the operands before each one
        keys = [self._form(value) for value in self.values]
        forms = {key: n for n, key in enumerate(dict.fromkeys(keys))}
        self._forms = np.array([forms[key] for key in keys], np.int64)

    def _number(self, source: Any) -> int:
        """Return the number of an operand that is a value; negative for an array from outside."""
        if source.array is None:
            n = self._index.get(source.expr)
            if n is not None:
                return n + source.expr_slot * _SLOT
        array = array_of(source)
        number = self._numbers.setdefault((id(array), source.rows), len(self._numbers))
        if number == len(self.values):
            self.values.append(source)
        return -1 - number

    @staticmethod
    def _form(value: Any) -> tuple[Any, ...]:
        array = array_of(value)
        return type(array), array.shape, array.strides, array.dtype, value.rows

    def place_of(self, expr: Expr) -> Any:
        """Return the place of an expression that was lowered at once; None for another one."""
        n = self._index.get(expr) if self.spans else None
        if n is None:
            return None
        for span in self.spans:
            if span.first <= n < span.stop:
                turn, at = divmod(n - span.first, span.period)
                moves = iter(span.moves[at])
                return moved(span.places[at], moves, turn)
        return None

    def lower(self, lowering: Any, apply: Callable[[Any], None], run: Run) -> int:
        """Lower the expressions of a run as far as they repeat; return the position that follows.

        What was not lowered before the run begins is lowered by the caller.
        """
        stretch = self._stretch(run)
        if stretch is None:
            return run.first
        items, period = self.items, stretch.period
        for item in items[run.first : stretch.first]:
            apply(item)
        models: list[Model] = []
        at, stop = stretch.first, stretch.first + stretch.turns * period
        needed = stretch.back + 3
        while at < stop and len(models) < needed + _MOST_MODELS:
            models.append(self._model(lowering, apply, at, period))
            if not self._are_parts(lowering, at, stretch.moving):
                return at + period
            at += period
            moves = moves_of(models[-needed:]) if at < stop and len(models) >= needed else None
            if moves is not None:
                Repetition(self, lowering, stretch, models[-1], moves, at).append()
                return stop
        return at

    def _stretch(self, run: Run) -> _Stretch | None:
        """Return the most turns of a run whose operands move on by the same distances."""
        found = []
        for times in _MULTIPLES:
            period = run.period * times
            if (run.stop - run.first) // period < FEWEST_TURNS:
                break
            stretch = self._stretch_of(run._replace(period=period))
            if stretch is not None and stretch.turns >= FEWEST_TURNS:
                found.append(stretch)
                if stretch.turns * period * 2 > run.stop - run.first:
                    break
        return max(found, key=lambda each: each.turns * each.period, default=None)

    def _stretch_of(self, run: Run) -> _Stretch | None:
        count, period = run.turns, run.period
        begins = self.starts[run.first : run.first + count * period + 1 : period]
        table = self._sources[begins[0] : begins[-1]].reshape(count, -1)
        moves, middle = np.diff(table, axis=0), count // 2
        move = moves[middle - 1]
        new = np.diff(self.seen[begins])  # arrays that each turn is the first to read
        alike = (moves == move).all(axis=1) & (new[1:] == new[middle]) & (new[:-1] == new[middle])
        parts = np.diff(self._begins[run.first :][: count * period].reshape(count, -1), axis=0)
        alike &= (parts == parts[middle - 1]).all(axis=1)
        back = 0
        for column in np.flatnonzero(move).tolist():
            found = self._alike_in(run, table[:, column], int(move[column]), int(new[middle]))
            if found is None:
                return None
            alike &= found[0]
            back = max(back, found[1])
        if back > _MOST_BEFORE or not alike[middle - 1]:
            return None
        first, last = _around(alike, middle - 1)
        moving = np.flatnonzero(parts[middle - 1]).tolist()
        return _Stretch(run.first + first * period, last - first + 1, period, back, moving)

    def _alike_in(
        self, run: Run, places: np.ndarray, move: int, new: int
    ) -> tuple[np.ndarray, int] | None:
        """Return whether an operand of each turn moves on to that of the next, and how many turns
        it looks back; None where operands never do.

        Parameters
        ----------
        places : ndarray
            The number of the operand in each turn.
        move : int
            By how much the number grows.
        new : int
            How many arrays each turn is the first to read.
        """
        middle = len(places) // 2
        if places[middle] < 0:
            if move != -new:
                return None
            inside = places < 0
            forms = self._forms[np.where(inside, -1 - places, 0)]
            return inside[1:] & inside[:-1] & (forms[1:] == forms[:-1]), 0
        places = places & (_SLOT - 1)
        back, place = 0, int(places[middle])
        if place >= run.first:
            if move != run.period:
                return None
            back = middle - (place - run.first) // run.period
            inside = places >= run.first
        else:
            found = self._inside(places, place, move)
            if found is None:
                return None
            inside = found
        return inside[1:] & inside[:-1], back

    def _inside(self, places: np.ndarray, middle: int, move: int) -> np.ndarray | None:
        """Return which places belong to the turns that were lowered at once and hold ``middle``.

        The result is None if no such turns hold ``middle``, or if ``move`` is no whole number of
        turns.
        """
        for span in self.spans:
            if span.first <= middle < span.stop and move % span.period == 0:
                return (places >= span.first) & (places < span.stop)
        return None

    def _are_parts(self, lowering: Any, at: int, moving: Sequence[int]) -> bool:
        """Whether the place of each part that moves on follows from where the part begins."""
        items = [self.items[at + n] for n in moving]
        return all(type(item) is Store or lowering.part(item) is not None for item in items)

    def _model(self, lowering: Any, apply: Callable[[Any], None], at: int, period: int) -> Model:
        """Lower a turn in the ordinary way, and note how."""
        program, computed = lowering.program, lowering.computed
        first, buffers = len(program.instructions), len(program.nbytes)
        negations = len(program.negations)
        notes = computed.notes = []
        owners: list[int] = []
        items = self.items[at : at + period]
        for n, item in enumerate(items):
            apply(item)
            owners += [n] * (len(program.instructions) - first - len(owners))
        computed.notes = None
        made = program.instructions[first:]
        places = [lowering.known[item] for item in items]
        form = (
            [(i.pattern, len(i.buffers)) for i in made], owners,
            [n - first for n in program.negations[negations:]],
            program.nbytes[buffers:], program.rows[buffers:], program.row_strides[buffers:],
            [(same, len(reads), len(offsets), shared) for same, reads, offsets, _, shared in notes],
            [form_of_place(place) for place in places],
        )  # fmt: skip
        return Model(form, *numbers_of(made, notes, places))


def _around(alike: np.ndarray, middle: int) -> tuple[int, int]:
    """Return the first and the last turn of the longest stretch around the middle in which each
    turn is like the next."""
    unlike = np.flatnonzero(~alike)
    n = int(np.searchsorted(unlike, middle))
    first = int(unlike[n - 1]) + 1 if n else 0
    return first, int(unlike[n]) if n < len(unlike) else len(alike)


__all__ = ["FEWEST", "Repeats"]
