"""Reuse of values: how often an element is read by the values computed from it, at any distance."""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from .expression import Leaf, Unit

_SAME = 0.01  # numbers of reads that differ by less are equal: the ends of an axis are read less
_MOST = 64  # distances that are told apart: so the time is linear in the length of a program

_Reads: TypeAlias = Mapping[Hashable, int]  # the number of elements read at each distance


class _Spread(NamedTuple):
    """How often the elements of a value are read if no value computed from it is stored.

    ``reads`` has the elements read at each distance, ``often`` the reads of an element in all. A
    value that reads its own inputs at one distance only, ``shift``, passes its reads on to them.
    """

    reads: _Reads
    often: float
    shift: int | None


def spreads(outputs: dict[int, list[Unit]]) -> dict[int, float]:
    """Return for each buffer how often beyond the first time an element is read, when the values
    computed from it that are read as often themselves are stored.

    A reader that reads its inputs at one distance passes on its own reads; a reader of several
    distances, such as a sum of shifted values, does not.

    Parameters
    ----------
    outputs : dict
        For each buffer the units that write it, in order.
    """
    readers: dict[int, list[tuple[int, Hashable, int]]] = {}
    for buffer, units in outputs.items():
        for unit in units:
            for leaf in unit.inputs:
                distance = _distance(leaf, unit)
                readers.setdefault(leaf.buffer, []).append((buffer, distance, unit.size))
    found: dict[int, _Spread] = {}
    again: dict[int, float] = {}
    for buffer, units in reversed(outputs.items()):
        size = max(sum([unit.size for unit in units]), 1)
        looks = [
            _reads_of({distance: count}, found.get(reader))
            for reader, distance, count in readers.get(buffer, ())
        ]
        reads, count = _counted([handed for handed, _, _ in looks], size)
        # Readers that are read as often as this value count as stored: storing them is better.
        least = count - _SAME
        rest = [own if often > least else handed for handed, own, often in looks]
        again[buffer] = _counted(rest, size)[1] - 1
        if len(reads) > _MOST:  # a long recurrence: its distances are merged into one
            reads = _merged(reads)
        found[buffer] = _Spread(reads, count, _shift(units))
    return again


def _reads_of(own: _Reads, reader: _Spread | None) -> tuple[_Reads, _Reads, float]:
    """Return the reads that a reader passes on from its own readers, its own reads, and how often
    it is read itself: 0 where it passes on nothing but its own reads."""
    if reader is None or reader.shift is None:
        return own, own, 0.0
    return {_sum(reader.shift, key): n for key, n in reader.reads.items()}, own, reader.often


def _counted(parts: Sequence[_Reads], size: int) -> tuple[_Reads, float]:
    """Return the largest number of reads at each distance, and their sum for one element."""
    reads: dict[Hashable, int] = {}
    for part in parts:
        for key, count in part.items():
            reads[key] = max(reads.get(key, 0), count)
    return reads, sum(reads.values()) / size


def _merged(reads: _Reads) -> _Reads:
    return {None: sum(reads.values())}


def _shift(units: Sequence[Unit]) -> int | None:
    """Return the one distance at which the units of a buffer read their inputs, None where there
    are several."""
    found = {
        _distance(leaf, unit)
        for unit in units
        for leaf in unit.inputs
        if unit.size <= 1 or any(leaf.strides)
    }
    (shift, *others) = found or (None,)
    return shift if not others and isinstance(shift, int) else None


def _distance(leaf: Leaf, unit: Unit) -> Hashable:
    """Return the distance from a unit's writes to its reads: bytes where the strides are equal,
    else a key of the view."""
    if leaf.strides == unit.output.strides:
        turned = 0
        if leaf.turns:
            turned = sum([t * s for t, s in zip(leaf.turns, leaf.strides, strict=True)])
        return leaf.offset + turned - unit.output.offset
    return (unit.number, leaf.offset, leaf.strides, leaf.turns)


def _sum(shift: int, distance: Hashable) -> Hashable:
    return shift + distance if isinstance(distance, int) else (shift, distance)
