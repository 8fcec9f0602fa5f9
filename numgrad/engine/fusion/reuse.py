"""Reuse of values: how often an element is read, by readers and by the readers of these.

A value that is not stored is computed again by each reader, and each time reads its own inputs. So
the reads of the value are passed on: they become reads of its inputs.

The reads of an element are told apart by their *distance*: the bytes from the element that the
reader writes to the one that is read. Several readers at the same distance count as one.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from .expression import Leaf, Unit

_SAME = 0.01  # numbers of reads closer than this are equal: the ends of an axis are read less
_MOST = 64  # distances of a value that are told apart, which keeps the time linear

_Reads: TypeAlias = Mapping[Hashable, int]  # the number of elements read at each distance


class _Spread(NamedTuple):
    """How often the elements of a value are read if no value computed from it is stored.

    Attributes
    ----------
    reads : dict
        The number of elements that are read at each distance.
    often : float
        The mean number of reads of an element.
    shift : int or None
        The distance at which the value reads its own inputs. None if there are several distances;
        then the reads of the value are not passed on to its inputs.
    """

    reads: _Reads
    often: float
    shift: int | None


def spreads(outputs: dict[int, list[Unit]]) -> dict[int, float]:
    """Return for each buffer the mean number of reads of an element beyond the first.

    A reader that reads all its inputs at one distance counts as not stored, and passes the reads of
    its own value on to the inputs. Two other sorts of readers count as stored, and pass on nothing:
    those that read at several distances, such as a sum of shifted values, and those that are read
    as often as the buffer, since storing such a reader is better than storing the buffer.

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
    """Return the reads of a value that one reader causes: if not stored, and if stored.

    A reader that is not stored passes on the reads of its own value (first result). A stored reader
    reads the value once for each of its own elements (``own``, which is the second result). The
    third result is the mean number of reads of the reader's elements; 0 if the reader passes on
    nothing.
    """
    if reader is None or reader.shift is None:
        return own, own, 0.0
    return {_sum(reader.shift, key): n for key, n in reader.reads.items()}, own, reader.often


def _counted(parts: Sequence[_Reads], size: int) -> tuple[_Reads, float]:
    """Combine the reads that several readers cause; return them, and their mean for an element.

    At each distance the largest number of reads among the readers counts. The mean is the sum of
    these numbers, divided by ``size``, the number of elements of the value.
    """
    reads: dict[Hashable, int] = {}
    for part in parts:
        for key, count in part.items():
            reads[key] = max(reads.get(key, 0), count)
    return reads, sum(reads.values()) / size


def _merged(reads: _Reads) -> _Reads:
    return {None: sum(reads.values())}


def _shift(units: Sequence[Unit]) -> int | None:
    """Return the one distance at which the units of a buffer read all their inputs, or None.

    Inputs that are a single number do not count.
    """
    found = {
        _distance(leaf, unit)
        for unit in units
        for leaf in unit.inputs
        if unit.size <= 1 or any(leaf.strides)
    }
    (shift, *others) = found or (None,)
    return shift if not others and isinstance(shift, int) else None


def _distance(leaf: Leaf, unit: Unit) -> Hashable:
    """Return the bytes from the element that a unit writes to the one that the unit reads.

    ``leaf`` is the view that is read. If its strides are not those of the output, the distance
    changes from element to element, and a key of the view is returned instead.
    """
    if leaf.strides == unit.output.strides:
        turned = 0
        if leaf.turns:
            turned = sum([t * s for t, s in zip(leaf.turns, leaf.strides, strict=True)])
        return leaf.offset + turned - unit.output.offset
    return (unit.number, leaf.offset, leaf.strides, leaf.turns)


def _sum(shift: int, distance: Hashable) -> Hashable:
    return shift + distance if isinstance(distance, int) else (shift, distance)
