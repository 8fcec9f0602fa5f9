"""The turns of a repeated stretch of expressions: which are alike, and what crosses from one to the
next.

A *column* is one operand of the repeated expressions, at all turns. Its source in the middle turn
is the one that the operand must have at all turns of a loop:

- *own*: a result of the same turn;
- *before*: a result of a fixed number of turns ago, which the loop carries;
- *same*: one value from outside;
- *moving*: another value at each turn, which the loop is given as elements of one array.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...engine.graph.runtime import runtime
from ...engine.rolling.periods import Run
from .moving_index import MovingIndex
from .recorded import CONSTANT, NotFoldableError, Recorded

MOST_BEFORE = 8  # turns that a loop looks back


class Source(NamedTuple):
    """Where an operand of the repeated expressions comes from.

    Attributes
    ----------
    kind : {"own", "before", "same", "moving"}
    place : int
        Of "own" and "before" the number of the expression within a turn, of the others the number
        of the column.
    slot : int
        Which result of that expression.
    turns : int
        Of "before" how many turns ago.
    """

    kind: str
    place: int
    slot: int = 0
    turns: int = 0


class Alike:
    """The turns of a run that one loop can replace.

    Attributes
    ----------
    first, stop : int
        The range of these turns.
    sources : list of Source
        The source of each column.
    places : ndarray
        The place of each operand among all operands: a row for each turn, a column for each operand
        of a turn.
    middle : int
        The turn with which others are compared.
    indices : dict
        For each place in a turn that has an index, the `MovingIndex` of all turns.
    """

    def __init__(self, recorded: Recorded, run: Run) -> None:
        self.recorded, self.run = recorded, run
        count = run.turns
        begin = int(recorded.starts[run.first])
        end = int(recorded.starts[run.first + run.period * count])
        self.places = np.arange(begin, end).reshape(count, -1)
        self.middle = count // 2
        self._turns = np.arange(count)
        self._is_alike = np.ones(count, bool)
        self.sources = [self._source(n) for n in range(self.places.shape[1])]
        self.indices = dict(self._indices())
        self.first, self.stop = span_around(self.middle, self._is_alike)

    def _indices(self) -> Iterator[tuple[int, MovingIndex]]:
        """Yield the expressions of a turn that are indices: their places, and all turns' keys."""
        run, exprs = self.run, self.recorded.exprs
        roles, count = runtime.roles, run.turns
        for place in range(run.period):
            column = exprs[run.first + place : run.first + count * run.period : run.period]
            if column[0].operator in (roles.index, roles.element):
                keys = [expr.static["key"] for expr in column]
                index = MovingIndex(keys, column[0].inputs[0].shape, self.middle)
                self._is_alike &= index.is_alike
                yield place, index

    def in_order(self) -> list[int]:
        """Return the places of the indices that move, in the order in which parts are to be taken.

        The parts are taken of one array, perhaps, whose cotangents are added in the opposite order:
        those of later turns first, and of later expressions in a turn.
        """
        moving = [(place, index) for place, index in self.indices.items() if index.move]
        return [place for place, _ in sorted(moving, key=lambda item: (item[1].rank, item[0]))]

    def _source(self, column: int) -> Source:
        recorded, run, middle = self.recorded, self.run, self.middle
        places = self.places[:, column]
        sources, flows = recorded.sources[places], recorded.flows[places]
        slots = recorded.slots[places]
        self._is_alike &= (slots == slots[middle]) & (np.sign(flows) == np.sign(flows[middle]))
        at, slot = int(sources[middle]), int(slots[middle])
        if run.first <= at < run.first + run.period * run.turns:
            turn, place = np.divmod(sources - run.first, run.period)
            ago = self._turns - turn
            turns = int(ago[middle])
            if turns > MOST_BEFORE:
                raise NotFoldableError
            self._is_alike &= (place == place[middle]) & (ago == turns) & (sources != CONSTANT)
            return Source("before" if turns else "own", int(place[middle]), slot, turns)
        if at == CONSTANT:
            return self._constant(column, places)
        if (sources == at).all():
            self._is_alike &= flows == flows[middle]
            return Source("same", column)
        return Source("moving", column)

    def _constant(self, column: int, places: np.ndarray) -> Source:
        """Return the source of an operand that has an array at each turn."""
        self._is_alike &= self.recorded.sources[places] == CONSTANT
        operands = self.recorded.operands
        arrays = [operands[n].array for n in places.tolist()]
        first = arrays[self.middle]
        if all([array is first for array in arrays]):  # noqa: C419  a list is faster
            return Source("same", column)
        return Source("moving", column)


def span_around(middle: int, is_alike: np.ndarray) -> tuple[int, int]:
    """Return the range of alike turns around the middle turn; (0, 0) if there are none."""
    unlike = np.flatnonzero(~is_alike)
    at = int(np.searchsorted(unlike, middle))
    if at < len(unlike) and unlike[at] == middle:
        return 0, 0
    first = int(unlike[at - 1]) + 1 if at else 0
    return first, int(unlike[at]) if at < len(unlike) else len(is_alike)


def with_fewest_carried(recorded: Recorded, run: Run) -> Run:
    """Return a run that begins less than a period later, where the fewest results are alive.

    A loop has to carry the results that are alive where a turn begins.
    """
    period = run.period
    begin = run.first + run.turns // 2 * period
    end = min(begin + 3 * period, run.stop)
    last: dict[int, int] = {}
    for at in range(begin, end):
        for source in recorded.sources[recorded.starts[at] : recorded.starts[at + 1]].tolist():
            if begin <= source < begin + period:
                last[source] = at
    alive = np.zeros(4 * period + 1, np.int64)
    for source, reader in last.items():
        alive[source - begin + 1] += 1
        alive[reader - begin + 1] -= 1
    crossing = np.cumsum(alive)[: 4 * period].reshape(4, period).sum(axis=0)
    return run._replace(first=run.first + int(np.argmin(crossing)))


def stacked(operands: Sequence[Any]) -> np.ndarray | None:
    """Return the arrays of operands as one array; None if their elements are all the same.

    Raise an error if the arrays are of several shapes.
    """
    arrays = [operand.array for operand in operands]
    whole = np.array(arrays)
    if whole.dtype != arrays[0].dtype or whole.shape != (len(arrays), *arrays[0].shape):
        raise NotFoldableError
    bits = np.ascontiguousarray(whole).reshape(len(arrays), -1).view(np.uint8)
    return None if (bits == bits[0]).all() else whole
