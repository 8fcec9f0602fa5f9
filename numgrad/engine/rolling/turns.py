"""The operands of a run as tables, a row for each turn; and what the columns have in common.

A *column* is one operand of the repeated instructions, at all turns. For a loop, the operands of a
column must have a common source, which is one of these:

- *own*: a value that the same turn writes;
- *before*: a value that was written a fixed number of turns before;
- *series*: places in a series, the buffer in which an earlier loop has written a value of all its
  turns side by side; the place moves on by a fixed number from turn to turn;
- *same*: one buffer; the offset moves on by a fixed number of bytes, which may be 0;
- *table*: an array from outside, another one at each turn;
- *filled*: a buffer that the loop does not read, of which each turn writes another part.

A turn is *alike* if each of its operands has the source that the operand has in the middle turn.
One loop can replace turns in a row that are alike.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...ir.program import Instruction
from .operands import Operands
from .periods import Run

MOST_BEFORE = 8
"""The most turns that a loop looks back: values of so many turns are carried."""


class Source(NamedTuple):
    """Where one operand of the repeated instructions comes from at each turn.

    Attributes
    ----------
    kind : {"own", "before", "series", "same", "table", "filled"}
        See the docstring of this module.
    buffer : int
        Of "own" and "before" the number of the value in the body, of "series" the number of the
        series, of "same" the buffer, of "table" the number of the operand itself (the column).
    place : int
        Of "before" how many turns ago the value was written; of "series" the place in the series
        at the middle turn.
    move : int
        How far the operand moves on at each turn: bytes, or places in a series.
    """

    kind: str
    buffer: int
    place: int = 0
    move: int = 0


class Unlike(Exception):  # noqa: N818  no error of a user
    """Raised for repeated instructions that no loop can replace."""


class Turns:
    """Compares the turns of a run: the operands of repeated instructions, at each repetition.

    Attributes
    ----------
    buffers, offsets : ndarray
        The buffer and the offset of each operand: a row for each turn, a column for each operand.
    middle : int
        The turn with which others are compared.
    sources : list of Source
        Where the operand of each column comes from.
    values : dict
        The values of the body: the buffers that a turn writes. The number of such a value is that
        of the first column that writes it; the dict maps the number to itself, in order.
    filled : dict
        For each buffer that the turns write part by part, the columns that write it.
    first, stop : int
        The range of turns that are alike, so that one loop can replace them.
    """

    def __init__(self, operands: Operands, run: Run) -> None:
        starts, count = operands.starts, run.turns
        begin, end = starts[run.first], starts[run.first + run.period * count]
        self._operands, self.run = operands, run
        self.buffers = operands.buffers[begin:end].reshape(count, -1)
        self.offsets = operands.offsets[begin:end].reshape(count, -1)
        width = self.buffers.shape[1]
        self._is_input = operands.is_input[begin : begin + width].tolist()
        self.middle = count // 2
        self._rows = np.arange(count)
        self._alike = np.ones(count, bool)
        self.values: dict[int, int] = {}
        self.filled: dict[int, list[int]] = {}
        self.sources: list[Any] = [None] * width
        self._value, self._turn = operands.value, operands.value_turn
        try:
            self._find_written()
            self._find_read()
        finally:
            self._value[self.buffers] = -1
        self.first, self.stop = self._span()

    def _find_written(self) -> None:
        """Find the values of the body, the buffers that a turn writes.

        A turn that writes other values than the middle turn, or at other offsets, is marked as not
        alike.
        """
        operands, known = self._operands, {}
        columns = [n for n, is_input in enumerate(self._is_input) if not is_input]
        for column in columns:
            buffers = self.buffers[:, column]
            if buffers[self.middle] == buffers[self.middle - 1]:
                self._find_filled(column)
                continue
            value = known.setdefault(int(buffers[self.middle]), column)
            if value == column:
                self.values[column] = column
            else:
                self._alike &= buffers == self.buffers[:, value]
        times = dict.fromkeys(self.values, 0)
        for column in columns:
            if self.sources[column] is not None:
                continue
            value = known[int(self.buffers[self.middle, column])]
            times[value] += 1
            self.sources[column] = Source("own", value)
            self._require_still(column)
        for value, count in times.items():
            buffers = self.buffers[:, value]
            self._alike &= operands.writes[buffers] == count
            self._value[buffers], self._turn[buffers] = value, self._rows

    def _find_filled(self, column: int) -> None:
        """Note a buffer of which each turn writes another part."""
        buffer = int(self.buffers[self.middle, column])
        is_read = (self.buffers[:, self._is_input] == buffer).any()
        if is_read:
            raise Unlike
        self._alike &= self.buffers[:, column] == buffer
        place, move = self._along(self.offsets[:, column])
        self.filled.setdefault(buffer, []).append(column)
        self.sources[column] = Source("filled", buffer, place, move)

    def _require_still(self, column: int) -> None:
        """Mark each turn as not alike in which an operand has another offset than in the middle
        turn."""
        offsets = self.offsets[:, column]
        self._alike &= offsets == offsets[self.middle]

    def _find_read(self) -> None:
        for column, is_input in enumerate(self._is_input):
            if is_input:
                self.sources[column] = self._source(column)

    def _source(self, column: int) -> Source:
        """Return the source of an input in the middle turn; ``column`` is the input's column.

        A turn in which the input comes from another source is marked as not alike.
        """
        operands, buffers, middle = self._operands, self.buffers[:, column], self.middle
        value = self._value[buffers]
        if value[middle] >= 0:
            before = self._rows - self._turn[buffers]
            place = int(before[middle])
            self._alike &= (value == value[middle]) & (before == place)
            self._require_still(column)
            if not 0 <= place <= MOST_BEFORE:
                raise Unlike
            number = int(value[middle])
            return Source("before", number, place) if place else Source("own", number)
        series = operands.series[buffers]
        if series[middle] >= 0 and (buffers != buffers[middle]).any():
            self._alike &= series == series[middle]
            self._require_still(column)
            place, move = self._along(operands.turn[buffers])
            return Source("series", int(series[middle]), place, move)
        same = buffers == buffers[middle]
        if not same.all() and operands.is_array[buffers].all():
            return Source("table", column)
        self._alike &= same
        _, move = self._along(self.offsets[:, column])
        return Source("same", int(buffers[middle]), 0, move)

    def _along(self, numbers: np.ndarray) -> tuple[int, int]:
        """Return the number of the middle turn, and by how much it has grown since the turn before.

        ``numbers`` has a number for each turn. A turn whose number does not lie on the straight
        line through these two is marked as not alike.
        """
        middle = self.middle
        move = numbers[middle] - numbers[middle - 1]
        self._alike &= numbers == numbers[middle] + move * (self._rows - middle)
        return int(numbers[middle]), int(move)

    def _span(self) -> tuple[int, int]:
        """Return the range of alike turns around the middle turn; (0, 0) if there are none."""
        unlike = np.flatnonzero(~self._alike)
        at = int(np.searchsorted(unlike, self.middle))
        if at < len(unlike) and unlike[at] == self.middle:
            return 0, 0
        first = int(unlike[at - 1]) + 1 if at else 0
        return first, int(unlike[at]) if at < len(unlike) else len(self._rows)


def with_fewest_carried(instructions: Sequence[Instruction], run: Run) -> Run:
    """Return a run that begins less than a period later, where the fewest values are alive.

    A loop has to carry the values that are alive where a turn begins. A run that was found by its
    patterns may begin in the middle of what a user's loop repeats, where many values are alive. A
    value that stays alive for several periods counts once for each period.
    """
    period = run.period
    begin = run.first + run.turns // 2 * period
    end = min(begin + 3 * period, run.stop)
    written: dict[int, int] = {}
    last: dict[int, int] = {}
    alive = np.zeros(4 * period + 1, np.int64)
    for at, instruction in enumerate(instructions[begin:end]):
        buffers, nin = instruction.buffers, instruction.pattern.nin
        for buffer in buffers[:nin]:
            if at - written.get(buffer, -end) <= 2 * period:
                last[buffer] = at
        for buffer in buffers[nin:]:
            since = written.setdefault(buffer, at) if at < period else written.get(buffer, at)
            alive[since + 1] += period  # no turn may begin between writes of parts
            alive[at + 1] -= period
    for buffer, at in last.items():
        alive[written[buffer] + 1] += 1
        alive[at + 1] -= 1
    crossing = np.cumsum(alive)[: 4 * period].reshape(4, period).sum(axis=0)
    return run._replace(first=run.first + int(np.argmin(crossing)))
