"""How far values spread: at how many places of theirs an element of what is made of them looks."""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from .expression import Leaf, Unit

_SAME = 0.01  # a difference in the numbers of reads that means nothing: the ends of an axis
_MOST = 64  # distances that are told apart, so that time grows with the length of a program

_Reads: TypeAlias = Mapping[Hashable, int]  # how many elements are read at each distance


class _Spread(NamedTuple):
    """How often the elements of a value are read, if nothing in between is stored: at each
    distance, and in all. Who reads it at one place only, ``shift`` away, hands that on."""

    reads: _Reads
    often: float
    shift: int | None


def spreads(outputs: dict[int, list[Unit]]) -> dict[int, float]:
    """Return how often more than once an element of each buffer is read, once those values that are
    made of it and are read as often are stored.

    A reader that looks at all that it reads at one place hands on how often it is read itself; one
    that looks at several places, such as the sum of shifted values, does not.

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
            _look({distance: count}, found.get(reader))
            for reader, distance, count in readers.get(buffer, ())
        ]
        reads, count = _counted([handed for handed, _, _ in looks], size)
        # Readers that are read as often themselves had better be stored.
        least = count - _SAME
        rest = [own if often > least else handed for handed, own, often in looks]
        again[buffer] = _counted(rest, size)[1] - 1
        if len(reads) > _MOST:  # of a long recurrence: further ones are not told from these
            reads = _as_one(reads)
        found[buffer] = _Spread(reads, count, _shift(units))
    return again


def _look(own: _Reads, reader: _Spread | None) -> tuple[_Reads, _Reads, float]:
    """Return what a reader reads for those that read it, what it reads itself, and how often it is
    read if that counts."""
    if reader is None or reader.shift is None:
        return own, own, 0.0
    return {_sum(reader.shift, key): n for key, n in reader.reads.items()}, own, reader.often


def _counted(parts: Sequence[_Reads], size: int) -> tuple[_Reads, float]:
    """Return the largest number of reads at each distance, and how many come to an element."""
    reads: dict[Hashable, int] = {}
    for part in parts:
        for key, count in part.items():
            reads[key] = max(reads.get(key, 0), count)
    return reads, sum(reads.values()) / size


def _as_one(reads: _Reads) -> _Reads:
    return {None: sum(reads.values())}


def _shift(units: Sequence[Unit]) -> int | None:
    """Return the one distance at which the units of a buffer read what it is made of, None where
    there are several."""
    found = {
        _distance(leaf, unit)
        for unit in units
        for leaf in unit.inputs
        if unit.size <= 1 or any(leaf.strides)
    }
    (shift, *others) = found or (None,)
    return shift if not others and isinstance(shift, int) else None


def _distance(leaf: Leaf, unit: Unit) -> Hashable:
    """Return how far a unit reads from where it writes, in bytes where both walk alike."""
    if leaf.strides == unit.output.strides:
        turned = 0
        if leaf.turns:
            turned = sum([t * s for t, s in zip(leaf.turns, leaf.strides, strict=True)])
        return leaf.offset + turned - unit.output.offset
    return (unit.number, leaf.offset, leaf.strides, leaf.turns)


def _sum(shift: int, distance: Hashable) -> Hashable:
    return shift + distance if isinstance(distance, int) else (shift, distance)
