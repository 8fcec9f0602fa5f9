"""Indices whose integers move from turn to turn by a constant, such as ``x[t]``."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...functions.shape.reshaping import moveaxis
from .recorded import NotFoldableError


class MovingIndex:
    """The index of one expression at all turns: a key with at most one integer that moves.

    Parameters
    ----------
    keys : sequence of tuple
        The static key at each turn: integers, slices as tuples, and None, for the last axes.
    shape : tuple of int
        The shape of what is indexed.
    middle : int
        The turn with which others are compared.

    Attributes
    ----------
    is_alike : ndarray of bool
        For each turn whether the integers lie on a straight line through those of the middle turn.
    move : int
        How far the integer moves at each turn, 0 for an index that stays.
    """

    def __init__(
        self, keys: Sequence[tuple[Any, ...]], shape: tuple[int, ...], middle: int
    ) -> None:
        self._key, self._middle = keys[middle], middle
        self._items = [n for n, item in enumerate(self._key) if type(item) is int]
        self._axes = _axes_of(self._key, len(shape))
        self.move, self._moving = 0, -1
        count = len(keys)
        if keys.count(self._key) == count:
            self.is_alike = np.ones(count, bool)
            return
        sizes = [shape[self._axes[n]] for n in self._items]
        items = self._items
        places = np.array([[key[n] for n in items] for key in keys], np.int64).reshape(count, -1)
        places %= np.array(sizes, np.int64)
        moves = places[middle] - places[middle - 1]
        line = places[middle] + moves * (np.arange(count) - middle)[:, None]
        self.is_alike = (places == line).all(axis=1)
        (some,) = np.nonzero(moves)
        if len(some) > 1:
            raise NotFoldableError
        if len(some):
            self._moving, self.move = items[int(some[0])], int(moves[some[0]])
            self._place = int(places[middle, some[0]])

    @property
    def rank(self) -> int:
        """A number that is greater for indices that read an element in later turns."""
        return -self._place if self.move > 0 else self._place

    def elements(self, base: Any, first: int, stop: int) -> Any:
        """Return the parts of ``base`` that a range of turns reads, along a first axis."""
        axis = self._axes[self._moving]
        begin = self._place + self.move * (first - self._middle)
        end = begin + self.move * (stop - first)
        key = [slice(None)] * axis + [slice(begin, None if end < 0 else end, self.move)]
        part = base[tuple(key)]
        return moveaxis(part, axis, 0) if axis else part

    def rest(self, part: Any) -> Any:
        """Return what the index takes of the part that belongs to a turn."""
        key = [slice(*item) if type(item) is tuple else item for item in self._key]
        del key[self._moving]
        if all([item == slice(None) for item in key]):  # noqa: C419  a list is faster
            return part
        return part[(..., *key)]


def _axes_of(key: tuple[Any, ...], rank: int) -> dict[int, int]:
    """Return the axis of the indexed array for each item of a key that is not None."""
    items = [n for n, item in enumerate(key) if item is not None]
    return {n: rank - len(items) + k for k, n in enumerate(items)}
