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

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise, repeat
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from ...ir.program import Instruction, Pieces, Ref
from ..graph.integrity import require_own_arrays
from ..graph.value import Expr
from ..rolling.periods import Run, runs
from .parts import Store

FEWEST_TURNS, FEWEST = 16, 400  # turns, and expressions in all, that are worth the search
_MULTIPLES = (1, 2, 3, 4, 6)  # periods of the kinds after which operands may repeat
_MOST_BEFORE = 8  # turns that a turn looks back
_MOST_MODELS = 6  # turns lowered beyond those that have to agree
_SLOT = 1 << 40  # what the number of an operand grows by for another output of its expression

_site = attrgetter("site")


class UnlikeError(Exception):
    """Raised where a turn would be lowered to other instructions than the turns before."""


class _Stretch(NamedTuple):
    """Turns whose operands move on by the same distances: the position of the first expression,
    the number of turns, the period, how many turns each looks back, and which expressions of a turn
    read or write a part that moves on."""

    first: int
    turns: int
    period: int
    back: int
    moving: list[int]


class _Model(NamedTuple):
    """How a turn was lowered.

    Attributes
    ----------
    form : tuple
        All that has to be equal in the next turn.
    numbers : ndarray
        The buffers of all operands, then those of shared instructions, then those of the places.
    offsets : ndarray
        The offsets there, in the same order.
    """

    form: tuple[Any, ...]
    numbers: np.ndarray
    offsets: np.ndarray


class _Span(NamedTuple):
    """Turns that were lowered at once: where the expressions begin and end, their period, the
    places of the first turn, and the distances by which each buffer of a place, and the offset
    there, move on."""

    first: int
    stop: int
    period: int
    places: list[Any]
    moves: list[list[tuple[int, int]]]


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
    """

    def __init__(self, items: Sequence[Any], kinds: Sequence[Any], begins: Sequence[int]) -> None:
        self._items, self._begins = items, np.array(begins, np.int64)
        numbers = {kind: n for n, kind in enumerate(dict.fromkeys(kinds))}
        numbers[None] = -1
        names = np.fromiter(map(numbers.__getitem__, kinds), np.int64, len(kinds))
        names = np.where(names < 0, -1 - np.arange(len(names)), names)
        self.runs = [r for r in runs(names, FEWEST_TURNS) if r.stop - r.first >= FEWEST]
        self._spans: list[_Span] = []
        self._values: list[Any] = []  # those with an array from outside, by number
        self._numbers: dict[Any, int] = {}
        if self.runs:
            self._number_operands()

    def _number_operands(self) -> None:
        index = self._index = {item: n for n, item in enumerate(self._items)}
        last = [item for item in self._items if type(item) is Store and item.is_last]
        index.update({store.array.end: index[store] for store in last})
        inputs = [item.inputs for item in self._items]
        found = [
            n if type(x) is Expr and (n := index.get(x)) is not None else self._number(x)
            for each in inputs for x in each
        ]  # fmt: skip
        self._sources = np.array(found, np.int64)
        self._starts = np.concatenate([[0], np.cumsum(list(map(len, inputs)))])
        arrays = np.maximum.accumulate(np.maximum(-self._sources, 0)) if found else self._sources
        self._seen = np.concatenate([[0], arrays])  # arrays among the operands before each one
        keys = [self._form(value) for value in self._values]
        forms = {key: n for n, key in enumerate(dict.fromkeys(keys))}
        self._forms = np.array([forms[key] for key in keys], np.int64)

    def _number(self, source: Any) -> int:
        """Return the number of an operand that is a value; negative for an array from outside."""
        if source.array is None:
            n = self._index.get(source.expr)
            if n is not None:
                return n + source.expr_slot * _SLOT
        array = _array_of(source)
        number = self._numbers.setdefault((id(array), source.rows), len(self._numbers))
        if number == len(self._values):
            self._values.append(source)
        return -1 - number

    @staticmethod
    def _form(value: Any) -> tuple[Any, ...]:
        array = _array_of(value)
        return type(array), array.shape, array.strides, array.dtype, value.rows

    def place_of(self, expr: Expr) -> Any:
        """Return the place of an expression that was lowered at once; None for another one."""
        n = self._index.get(expr) if self._spans else None
        for span in self._spans if n is not None else ():
            if span.first <= n < span.stop:
                turn, at = divmod(n - span.first, span.period)
                moves = iter(span.moves[at])
                return _moved(span.places[at], moves, turn)
        return None

    def lower(self, lowering: Any, apply: Callable[[Any], None], run: Run) -> int:
        """Lower the expressions of a run as far as they repeat; return the position that follows.

        What was not lowered before the run begins is lowered by the caller.
        """
        stretch = self._stretch(run)
        if stretch is None:
            return run.first
        items, period = self._items, stretch.period
        for item in items[run.first : stretch.first]:
            apply(item)
        models: list[_Model] = []
        at, stop = stretch.first, stretch.first + stretch.turns * period
        needed = stretch.back + 3
        while at < stop and len(models) < needed + _MOST_MODELS:
            models.append(self._model(lowering, apply, at, period))
            if not self._are_parts(lowering, at, stretch.moving):
                return at + period
            at += period
            moves = _moves(models[-needed:]) if at < stop and len(models) >= needed else None
            if moves is not None:
                _Repetition(self, lowering, stretch, models[-1], moves, at).append()
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
        begins = self._starts[run.first : run.first + count * period + 1 : period]
        table = self._sources[begins[0] : begins[-1]].reshape(count, -1)
        moves, middle = np.diff(table, axis=0), count // 2
        move = moves[middle - 1]
        new = np.diff(self._seen[begins])  # arrays that each turn is the first to read
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
        """Return which places are those of expressions that were lowered at once, in turns that
        ``move`` leads to; None where it leads to others."""
        for span in self._spans:
            if span.first <= middle < span.stop and move % span.period == 0:
                return (places >= span.first) & (places < span.stop)
        return None

    def _are_parts(self, lowering: Any, at: int, moving: Sequence[int]) -> bool:
        """Whether the place of each part that moves on follows from where the part begins."""
        items = [self._items[at + n] for n in moving]
        return all(type(item) is Store or lowering.part(item) is not None for item in items)

    def _model(self, lowering: Any, apply: Callable[[Any], None], at: int, period: int) -> _Model:
        """Lower a turn in the ordinary way, and note how."""
        program, computed = lowering.program, lowering.computed
        first, buffers = len(program.instructions), len(program.nbytes)
        negations = len(program.negations)
        notes = computed.notes = []
        owners: list[int] = []
        items = self._items[at : at + period]
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
            [_form_of(place) for place in places],
        )  # fmt: skip
        return _Model(form, *_numbers_of(made, notes, places))


def _numbers_of(
    made: Sequence[Instruction], notes: Sequence[Any], places: Sequence[Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the attributes ``numbers`` and ``offsets`` of a model."""
    numbers = [buffer for i in made for buffer in i.buffers]
    offsets = [offset for i in made for offset in i.offsets]
    for _, reads, there, known, _ in notes:
        numbers += [*reads, known]
        offsets += there
    leaves = [leaf for place in places for leaf in _leaves(place)]
    numbers += [leaf.buffer for leaf in leaves]
    offsets += [leaf.offset for leaf in leaves]
    return np.array(numbers, np.int64), np.array(offsets, np.int64)


class _Repetition:
    """Turns that are lowered at once, after the model."""

    def __init__(
        self, repeats: Repeats, lowering: Any, stretch: _Stretch, model: _Model,
        moves: tuple[np.ndarray, np.ndarray], at: int,
    ) -> None:  # fmt: skip
        self._repeats, self._lowering, self._model = repeats, lowering, model
        self._period, self._at = stretch.period, at
        self._stop = stretch.first + stretch.turns * stretch.period
        self._count = (self._stop - at) // stretch.period
        self._moves = moves
        steps = np.arange(1, self._count + 1)
        self._columns = iter((model.numbers[:, None] + moves[0][:, None] * steps).tolist())
        self._offsets = iter(zip(model.offsets.tolist(), moves[1].tolist(), strict=True))

    def append(self) -> None:
        """Append the instructions of the turns to the program."""
        program, count = self._lowering.program, self._count
        steps, owners, negations, nbytes, rows, row_strides, notes, _ = self._model.form
        self._note_span()
        first = len(program.instructions)
        block: list[Any] = [None] * (len(steps) * count)
        items = self._repeats._items
        for n, ((pattern, operands), owner) in enumerate(zip(steps, owners, strict=True)):
            buffers = zip(*islice(self._columns, operands), strict=True)
            sites = map(_site, items[self._at + owner : self._stop : self._period])
            offsets = self._next_offsets(operands)
            block[n :: len(steps)] = map(Instruction, repeat(pattern), buffers, offsets, sites)
        program.instructions += block
        for place in range(first, first + len(block), max(len(steps), 1)) if negations else ():
            program.negations += [place + n for n in negations]
        self._append_arrays(len(nbytes))
        program.nbytes += nbytes * count
        program.rows += rows * count
        program.row_strides += row_strides * count
        self._share(notes)

    def _next_offsets(self, operands: int) -> Iterable[tuple[int, ...]]:
        """Return for each turn the offsets of the next operands."""
        each = list(islice(self._offsets, operands))
        if not any([move for _, move in each]):  # noqa: C419  a list is faster
            return repeat(tuple([offset for offset, _ in each]), self._count)
        turns = range(1, self._count + 1)
        return list(zip(*[[offset + move * n for n in turns] for offset, move in each], strict=True))

    def _note_span(self) -> None:
        """Keep the places of the expressions: those of the model and of the turns after it."""
        first = self._at - self._period
        places = [self._lowering.known[item] for item in self._repeats._items[first : self._at]]
        counts = [len(list(_leaves(place))) for place in places]
        last = [moves[len(moves) - sum(counts) :].tolist() for moves in self._moves]
        moves = iter(list(zip(*last, strict=True)))
        each = [list(islice(moves, n)) for n in counts]
        self._repeats._spans.append(_Span(first, self._stop, self._period, places, each))

    def _append_arrays(self, buffers: int) -> None:
        """Make buffers of the arrays from outside that each turn is the first to read.

        ``buffers`` is the number of buffers of a turn.
        """
        repeats, lowering = self._repeats, self._lowering
        starts, seen = repeats._starts, repeats._seen
        first = int(seen[starts[self._at - self._period]])
        count = int(seen[starts[self._at]]) - first
        for n in range(first, first + count):
            model = repeats._values[n]
            ref = lowering.constant(_array_of(model), model.rows)
            for turn in range(1, self._count + 1):
                value = repeats._values[n + turn * count]
                array = _array_of(value)
                if value.array is not None:
                    require_own_arrays((value,))
                if id(array) in lowering.inputs:
                    raise UnlikeError
                made = Ref(ref.buffer + turn * buffers, 0, ref.layout)
                lowering.program.arrays[made.buffer] = array
                lowering._constants[id(array), value.rows] = made

    def _share(self, notes: Sequence[tuple[int, int, int, bool]]) -> None:
        """Look up the instructions among the common subexpressions, as the ordinary way does."""
        computed, later = self._lowering.computed, []
        for same, count, operands, is_shared in notes:
            columns = list(islice(self._columns, count))
            keys: list[Any] = list(zip(*columns, strict=True)) if count > 1 else columns[0]
            offsets = list(self._next_offsets(operands))
            if any(map(any, offsets if offsets[0] is not offsets[-1] else offsets[:1])):
                keys = [(key, o) if any(o) else key for key, o in zip(keys, offsets, strict=True)]
            buffers = next(self._columns)
            if is_shared:
                later.append((computed[same], keys, buffers))
            elif list(map(computed[same].setdefault, keys, buffers)) != buffers:
                raise UnlikeError
        for known, keys, buffers in later:
            if list(map(known.get, keys)) != buffers:
                raise UnlikeError


def _around(alike: np.ndarray, middle: int) -> tuple[int, int]:
    """Return the first and the last turn of the longest stretch around the middle in which each
    turn is like the next."""
    unlike = np.flatnonzero(~alike)
    n = int(np.searchsorted(unlike, middle))
    first = int(unlike[n - 1]) + 1 if n else 0
    return first, int(unlike[n]) if n < len(unlike) else len(alike)


def _moves(models: Sequence[_Model]) -> tuple[np.ndarray, np.ndarray] | None:
    """Return by how much the buffers and the offsets move on from each model to the next; None
    where the models differ in anything else, or the distances do."""
    if any([one.form != other.form for one, other in pairwise(models)]):  # noqa: C419
        return None
    moves = [other.numbers - one.numbers for one, other in pairwise(models)]
    shifts = [other.offsets - one.offsets for one, other in pairwise(models)]
    both = [*pairwise(moves), *pairwise(shifts)]
    is_same = all([np.array_equal(one, other) for one, other in both])  # noqa: C419
    return (moves[-1], shifts[-1]) if is_same else None


def _array_of(value: Any) -> Any:
    return value.array if value.array is not None else value.expr.result(value.expr_slot)


def _leaves(place: Any) -> Iterator[Ref]:
    if type(place) is Ref:
        yield place
    elif type(place) is Pieces:
        yield from place.leaves
    else:
        for each in place:
            yield from _leaves(each)


def _form_of(place: Any) -> Any:
    """Return all of a place but its buffers and the offsets there."""
    if type(place) is Ref:
        return place.layout
    if type(place) is Pieces:
        return place.key, len(place.leaves)
    return [_form_of(each) for each in place]


def _moved(place: Any, moves: Iterator[tuple[int, int]], turn: int) -> Any:
    """Return a place some turns later; ``moves`` are those of its buffers and offsets."""
    if type(place) is Ref:
        buffer, offset = next(moves)
        return Ref(place.buffer + turn * buffer, place.offset + turn * offset, place.layout)
    if type(place) is Pieces:
        return Pieces(place.key, tuple([_moved(leaf, moves, turn) for leaf in place.leaves]))
    return [_moved(each, moves, turn) for each in place]


__all__ = ["FEWEST", "Repeats", "UnlikeError"]
