"""Turns that are lowered at once, with the buffers and offsets of the turn before moved on."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise, repeat
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from ...ir.program import Instruction, Pieces, Ref
from ..graph.integrity import require_own_arrays

_site = attrgetter("site")


class UnlikeError(Exception):
    """Raised where a turn would be lowered to other instructions than the turns before."""


class Model(NamedTuple):
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


class Span(NamedTuple):
    """Turns that were lowered at once: where the expressions begin and end, their period, the
    places of the first turn, and the distances by which each buffer of a place, and the offset
    there, move on."""

    first: int
    stop: int
    period: int
    places: list[Any]
    moves: list[list[tuple[int, int]]]


class Repetition:
    """Turns that are lowered at once, after the last model.

    Parameters
    ----------
    repeats : Repeats
        The repeated expressions of the program.
    lowering : Lowering
    stretch
        The turns: the position of the first expression, their number, and the expressions of each.
    model : Model
        How the turn before was lowered.
    moves : pair of ndarray
        By how much the numbers and the offsets of the model move on.
    at : int
        The position of the first expression after those of the model.
    """

    def __init__(
        self, repeats: Any, lowering: Any, stretch: Any, model: Model,
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
        items = self._repeats.items
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
        columns = [[offset + move * n for n in turns] for offset, move in each]
        return list(zip(*columns, strict=True))

    def _note_span(self) -> None:
        """Keep the places of the expressions: those of the model and of the turns after it."""
        first = self._at - self._period
        places = [self._lowering.known[item] for item in self._repeats.items[first : self._at]]
        counts = [len(list(_leaves(place))) for place in places]
        last = [moves[len(moves) - sum(counts) :].tolist() for moves in self._moves]
        moves = iter(list(zip(*last, strict=True)))
        each = [list(islice(moves, n)) for n in counts]
        self._repeats.spans.append(Span(first, self._stop, self._period, places, each))

    def _append_arrays(self, buffers: int) -> None:
        """Make buffers of the arrays from outside that each turn is the first to read.

        ``buffers`` is the number of buffers of a turn.
        """
        repeats, lowering = self._repeats, self._lowering
        starts, seen = repeats.starts, repeats.seen
        first = int(seen[starts[self._at - self._period]])
        count = int(seen[starts[self._at]]) - first
        for n in range(first, first + count):
            model = repeats.values[n]
            ref = lowering.constant(array_of(model), model.rows)
            for turn in range(1, self._count + 1):
                value = repeats.values[n + turn * count]
                array = array_of(value)
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


def numbers_of(
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


def moves_of(models: Sequence[Model]) -> tuple[np.ndarray, np.ndarray] | None:
    """Return by how much the buffers and the offsets move on from each model to the next; None
    where the models differ in anything else, or the distances do."""
    if any([one.form != other.form for one, other in pairwise(models)]):  # noqa: C419
        return None
    moves = [other.numbers - one.numbers for one, other in pairwise(models)]
    shifts = [other.offsets - one.offsets for one, other in pairwise(models)]
    both = [*pairwise(moves), *pairwise(shifts)]
    is_same = all([np.array_equal(one, other) for one, other in both])  # noqa: C419
    return (moves[-1], shifts[-1]) if is_same else None


def array_of(value: Any) -> Any:
    return value.array if value.array is not None else value.expr.result(value.expr_slot)


def _leaves(place: Any) -> Iterator[Ref]:
    if type(place) is Ref:
        yield place
    elif type(place) is Pieces:
        yield from place.leaves
    else:
        for each in place:
            yield from _leaves(each)


def form_of_place(place: Any) -> Any:
    """Return all of a place but its buffers and the offsets there."""
    if type(place) is Ref:
        return place.layout
    if type(place) is Pieces:
        return place.key, len(place.leaves)
    return [form_of_place(each) for each in place]


def moved(place: Any, moves: Iterator[tuple[int, int]], turn: int) -> Any:
    """Return a place some turns later; ``moves`` are those of its buffers and offsets."""
    if type(place) is Ref:
        buffer, offset = next(moves)
        return Ref(place.buffer + turn * buffer, place.offset + turn * offset, place.layout)
    if type(place) is Pieces:
        return Pieces(place.key, tuple([moved(leaf, moves, turn) for leaf in place.leaves]))
    return [moved(each, moves, turn) for each in place]


__all__ = [
    "Model",
    "Repetition",
    "Span",
    "UnlikeError",
    "array_of",
    "form_of_place",
    "moved",
    "moves_of",
    "numbers_of",
]
