"""Boxes: regions of a value between bounds along its axes, and a search for overlapping ones."""

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, Generic, NamedTuple, TypeVar

Bounds = tuple[tuple[int, int], ...]


class Box(NamedTuple):
    """A region of an array: start and stop along each axis, and which axes are dropped.

    As in NumPy, an axis is dropped where the key that selects the region has an integer.
    """

    bounds: Bounds
    dropped: tuple[bool, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        return sizes_of(self.bounds)


def whole_of(shape: Sequence[int]) -> Box:
    """Return the box of the whole array."""
    return Box(tuple([(0, size) for size in shape]), (False,) * len(shape))


def box_of(key: Sequence[Any], shape: Sequence[int]) -> Box | None:
    """Return the box that a key of integers and slices selects from the last axes of an array.

    A slice is a tuple of start, stop and step. None for a key with new axes or steps other than 1,
    and for an empty selection.
    """
    lead = len(shape) - len(key)
    bounds = [(0, size) for size in shape[:lead]]
    dropped = [False] * lead
    for item, size in zip(key, shape[lead:], strict=False):
        if isinstance(item, int):
            start, stop, step = item % size, item % size + 1, 1
        elif item is None:
            return None
        else:
            start, stop, step = slice(*item).indices(size)
        if step != 1 or stop <= start:
            return None
        bounds.append((start, stop))
        dropped.append(isinstance(item, int))
    return Box(tuple(bounds), tuple(dropped))


def sizes_of(bounds: Bounds) -> tuple[int, ...]:
    return tuple([stop - start for start, stop in bounds])


def intersection(a: Bounds, b: Bounds) -> Bounds:
    """Return the intersection of two regions that overlap."""
    return tuple([(max(p[0], q[0]), min(p[1], q[1])) for p, q in zip(a, b, strict=True)])


def difference(outer: Bounds, inner: Bounds) -> list[Bounds]:
    """Return disjoint regions that cover `outer` without `inner`."""
    found = []
    for axis, ((low, high), (start, stop)) in enumerate(zip(outer, inner, strict=True)):
        before, after = inner[:axis], outer[axis + 1 :]
        sides = [(low, start), (stop, high)]
        found += [(*before, side, *after) for side in sides if side[0] < side[1]]
    return found


def slices(bounds: Bounds, within: Bounds) -> tuple[tuple[int, int, int], ...]:
    """Return the slices that select the region `bounds` from an array of the region `within` alone.

    Both regions are given by positions in the whole array. A slice is a tuple of start, stop and
    step.
    """
    pairs = zip(bounds, within, strict=True)
    return tuple([(start - first, stop - first, 1) for (start, stop), (first, _) in pairs])


T = TypeVar("T")


class Boxes(Generic[T]):
    """A collection of things, each with a region of an array, that finds overlapping regions.

    For all regions of equal sizes there is a table of the positions where they start. A region that
    overlaps a given one starts in a small range of positions. The positions of this range are
    looked up in the table; or the table is searched, if it has fewer entries than the range.

    Parameters
    ----------
    within : Bounds
        The region that contains all others.
    """

    __slots__ = ("_by_sizes", "_count", "_things", "_within")

    def __init__(self, within: Bounds) -> None:
        self._within, self._count = within, 0
        self._things: dict[int, tuple[Bounds, T]] = {}
        self._by_sizes: dict[tuple[int, ...], dict[tuple[int, ...], list[int]]] = {}

    def __bool__(self) -> bool:
        return bool(self._things)

    def __len__(self) -> int:
        return len(self._things)

    def __iter__(self) -> Iterator[T]:
        return iter([thing for _, thing in self._things.values()])

    def add(self, bounds: Bounds, thing: T) -> None:
        group = self._by_sizes.setdefault(sizes_of(bounds), {})
        group.setdefault(tuple([start for start, _ in bounds]), []).append(self._count)
        self._things[self._count] = (bounds, thing)
        self._count += 1

    def overlapping(self, bounds: Bounds) -> list[int]:
        """Return the numbers of the things whose regions overlap `bounds`, in ascending order.

        Things are numbered in the order of insertion.
        """
        found = []
        for sizes, group in self._by_sizes.items():
            edges = zip(sizes, bounds, self._within, strict=True)
            places = [
                range(max(start - size + 1, first), min(stop, last - size + 1))
                for size, (start, stop), (first, last) in edges
            ]
            for starts in _looked_up(places, group):
                found += group.get(starts, ())
        return sorted(found)

    def take(self, bounds: Bounds) -> list[T]:
        """Remove and return the things whose regions overlap `bounds`, the oldest first."""
        return [self._removed(number) for number in self.overlapping(bounds)]

    def latest(self, bounds: Bounds) -> T | None:
        """Return the latest addition whose region overlaps `bounds`; None where there is none."""
        numbers = self.overlapping(bounds)
        return self._things[numbers[-1]][1] if numbers else None

    def touching(self, bounds: Bounds) -> list[T]:
        """Return the things whose regions overlap `bounds`, the oldest first."""
        return [self._things[number][1] for number in self.overlapping(bounds)]

    def _removed(self, number: int) -> T:
        bounds, thing = self._things.pop(number)
        sizes, starts = sizes_of(bounds), tuple([start for start, _ in bounds])
        group = self._by_sizes[sizes]
        group[starts].remove(number)
        if not group[starts]:
            del group[starts]
            if not group:
                del self._by_sizes[sizes]
        return thing


def _looked_up(places: Sequence[range], group: dict[tuple[int, ...], Any]) -> Any:
    """Return the positions in ``places`` that may be keys of the table ``group``.

    ``places`` has a range of positions for each axis. Return all positions in these ranges, or only
    the keys among them if the table is smaller.
    """
    if math.prod([len(r) for r in places]) <= len(group):
        return product(*places)
    return [
        starts
        for starts in group
        if all([start in r for start, r in zip(starts, places, strict=True)])  # noqa: C419
    ]


__all__ = [
    "Bounds",
    "Box",
    "Boxes",
    "box_of",
    "difference",
    "intersection",
    "sizes_of",
    "slices",
    "whole_of",
]  # fmt: skip
