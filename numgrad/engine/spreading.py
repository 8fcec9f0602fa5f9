"""How far values spread: at how many places of theirs an element of what is made of them looks."""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from .expand import Leaf, Unit

_SAME = 0.01  # a difference in the numbers of reads that means nothing: the ends of an axis


class _Spread:
    """How often the elements of a value are read: in all, at each distance, and how often more
    than once. Equal ones of a program are one object."""

    __slots__ = ("again", "count", "reads")

    def __init__(self, size: int, looks: "Sequence[_Look]") -> None:
        self.reads = _merged([look.handed_on() for look in looks])
        self.count = sum(self.reads.values()) / max(size, 1)
        least = self.count - _SAME
        # Readers that are read as often themselves had better be stored.
        kept = [look.spread is not None and look.spread.count > least for look in looks]
        reads = self.reads
        if any(kept):
            pairs = zip(looks, kept, strict=True)
            reads = _merged([look.own() if stored else look.handed_on() for look, stored in pairs])
        self.again = sum(reads.values()) / max(size, 1) - 1


class _Look(NamedTuple):
    """A unit of ``size`` elements that reads a value at some distance.

    What is made of it reads the value as ``spread`` says, ``shift`` away; None where the unit reads
    at several distances.
    """

    distance: Hashable
    size: int
    shift: int
    spread: _Spread | None

    def own(self) -> Mapping[Hashable, int]:
        return {self.distance: self.size}

    def handed_on(self) -> Mapping[Hashable, int]:
        if self.spread is None:
            return self.own()
        return {_sum(self.shift, key): count for key, count in self.spread.reads.items()}


# A buffer, the distance at which a unit of it reads another one, and the size of the unit.
_Reader: TypeAlias = tuple[int, Hashable, int]


class Spreads:
    """How often readers look at each element of a value, if nothing in between is stored.

    A reader that looks at all that it reads at one place hands on how often it is read itself; one
    that looks at several places, such as the sum of shifted values, does not.

    Parameters
    ----------
    outputs : dict
        For each buffer the units that write it.
    """

    def __init__(self, outputs: Mapping[int, Sequence[Unit]]) -> None:
        self._sizes: dict[int, int] = {}
        self._readers: dict[int, list[_Reader]] = {}
        self._shifts: dict[int, int] = {}  # of what reads all that it is made of at one distance
        self._spreads: dict[int, _Spread] = {}
        self._known: dict[Hashable, _Spread] = {}
        for buffer, units in outputs.items():
            self._add(buffer, units)

    def _add(self, buffer: int, units: Sequence[Unit]) -> None:
        """Note what the units of a buffer read, and how far away."""
        found: set[Hashable] = set()
        for unit in units:
            for leaf in unit.inputs:
                distance = _distance(leaf, unit)
                self._readers.setdefault(leaf.buffer, []).append((buffer, distance, unit.size))
                if unit.size <= 1 or any(leaf.strides):
                    found.add(distance)
        self._sizes[buffer] = sum([unit.size for unit in units])
        if len(found) == 1:
            (shift,) = found
            if isinstance(shift, int):
                self._shifts[buffer] = shift

    def again(self, buffer: int) -> float:
        """Return how often more than once an element is read, once those values that are made of it
        and are read as often are stored."""
        todo = [buffer] if buffer not in self._spreads else []
        while todo:
            top = todo[-1]
            missing = self._missing(top) if top not in self._spreads else ()
            if missing:
                todo += missing
                continue
            todo.pop()
            if top not in self._spreads:
                self._spreads[top] = self._find(top)
        return self._spreads[buffer].again

    def _missing(self, buffer: int) -> Sequence[int]:
        """Return the readers that hand on how often they are read, where that is not known yet."""
        spreads, shifts = self._spreads, self._shifts
        readers = self._readers.get(buffer, ())
        return [reader for reader, _, _ in readers if reader in shifts and reader not in spreads]

    def _find(self, buffer: int) -> _Spread:
        shifts, spreads = self._shifts, self._spreads
        looks = [
            _Look(distance, size, shifts[reader], spreads[reader])
            if reader in shifts
            else _Look(distance, size, 0, None)
            for reader, distance, size in self._readers.get(buffer, ())
        ]
        key = (self._sizes[buffer], *looks)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = _Spread(self._sizes[buffer], looks)
        return known


def _merged(parts: Sequence[Mapping[Hashable, int]]) -> dict[Hashable, int]:
    """Return the largest number of reads at each distance."""
    reads: dict[Hashable, int] = {}
    for part in parts:
        for key, count in part.items():
            reads[key] = max(reads.get(key, 0), count)
    return reads


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
