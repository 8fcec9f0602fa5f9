"""Stacks of what the turns of a loop have computed, such as a trajectory."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...functions.shape.joining import concat, stack
from ...functions.shape.reshaping import moveaxis
from .recorded import NOWHERE

_FEWEST = 8  # results of a loop in a row that are read as one array


class Stacked:
    """The operands of a stack, of which those from turns in a row are read as one array.

    Parameters
    ----------
    folder : Folder
    places : sequence of int
        The places of the operands.
    """

    def __init__(self, folder: Any, places: Sequence[int]) -> None:
        self._folder, self._places = folder, np.array(places, np.int64)
        recorded = folder.recorded
        self._sources = recorded.sources[self._places]
        self._slots, self._flows = recorded.slots[self._places], recorded.flows[self._places]

    def along(self, axis: int) -> Any:
        """Return the stack; ``axis`` is that of the operands, counted from behind."""
        parts = [self._part(begin, end, axis) for begin, end in self._ranges()]
        return concat(parts, axis=axis) if len(parts) > 1 else parts[0]

    def _ranges(self) -> Iterator[tuple[int, int]]:
        """Yield ranges of operands: those of one loop at turns of equal distance, and all others
        in between."""
        count, begin, single = len(self._places), 0, 0
        while begin < count:
            end = self._end_of_series(begin)
            if end - begin < _FEWEST:
                begin += 1
                continue
            if single < begin:
                yield single, begin
            yield begin, end
            begin = single = end
        if single < count:
            yield single, count

    def _end_of_series(self, begin: int) -> int:
        """Return the position behind the series of operands that begins at a position."""
        loop = self._folder.loop_at(int(self._sources[begin]))
        if loop is None:
            return begin
        sources = self._sources[begin:]
        steps = np.diff(sources)
        is_in = (sources >= loop.begin) & (sources < loop.stop)
        is_in &= ~np.isin(sources, self._folder.begun())
        is_in &= self._slots[begin:] == self._slots[begin]
        is_in &= np.sign(self._flows[begin:]) == np.sign(self._flows[begin])
        if len(steps):
            is_in[1:] &= (steps == steps[0]) & (steps % loop.period == 0) & (steps != 0)
        unlike = np.flatnonzero(~is_in)
        return begin + (int(unlike[0]) if len(unlike) else len(sources))

    def _part(self, begin: int, end: int, axis: int) -> Any:
        number = int(self._sources[begin])
        if end - begin < _FEWEST or self._end_of_series(begin) < end:
            operands = [self._folder.operand(int(place)) for place in self._places[begin:end]]
            return stack(operands, axis=axis)
        loop = self._folder.loop_at(number)
        whole = loop.series(self._sources[begin:end], int(self._slots[begin]))
        whole = whole.detached() if self._flows[begin] == NOWHERE else whole
        return moveaxis(whole, 0, axis) if whole.ndim > 1 else whole


__all__ = ["Stacked"]
