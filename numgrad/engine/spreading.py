"""How far values spread: at how many places of theirs an element of what is made of them looks."""

from collections.abc import Collection, Hashable, Mapping, Sequence

from .expand import Leaf, Unit

_SAME = 0.01  # a difference in the numbers of reads that means nothing: the ends of an axis


class Spreads:
    """How often readers look at each element of a value, if nothing in between is stored.

    A reader that looks at all that it reads at one place hands on how often it is read itself; one
    that looks at several places, such as the sum of shifted values, does not.

    Parameters
    ----------
    readers : dict
        For each buffer the operands that read it, with the units that they belong to.
    outputs : dict
        For each buffer the units that write it.
    """

    def __init__(
        self,
        readers: Mapping[int, Sequence[tuple[Leaf, Unit, bool]]],
        outputs: Mapping[int, Sequence[Unit]],
    ) -> None:
        self._readers, self._outputs = readers, outputs
        self._reads: dict[int, dict[Hashable, int]] = {}
        self._shifts: dict[int, int | None] = {}
        self._following: dict[int, Collection[int]] = {}
        self._counts: dict[int, float] = {}
        self._again: dict[int, float] = {}

    def again(self, buffer: int) -> float:
        """Return how often more than once an element is read, once those values that are made of it
        and are read as often are stored."""
        known = self._again.get(buffer)
        if known is None:
            known = self._again[buffer] = self._find_again(buffer)
        return known

    def _find_again(self, buffer: int) -> float:
        count = self._count(buffer)
        stored = [r for r in self._handing_on(buffer) if self._count(r) > count - _SAME]
        if stored:
            count = self._per_element(buffer, self._own_reads(buffer, stored))
        return count - 1

    def _count(self, buffer: int) -> float:
        known = self._counts.get(buffer)
        if known is None:
            known = self._counts[buffer] = self._per_element(buffer, self._all_reads(buffer))
        return known

    def _per_element(self, buffer: int, reads: Mapping[Hashable, int]) -> float:
        size = sum([unit.size for unit in self._outputs[buffer]])
        return sum(reads.values()) / max(size, 1)

    def _handing_on(self, buffer: int) -> Collection[int]:
        known = self._following.get(buffer)
        if known is None:
            readers = {unit.output.buffer for _, unit, _ in self._readers.get(buffer, ())}
            known = [reader for reader in readers if self._shift(reader) is not None]
            self._following[buffer] = known
        return known

    def _all_reads(self, buffer: int) -> dict[Hashable, int]:
        """Return the number of elements that are read at each distance."""
        todo = [buffer]
        while todo:
            top = todo[-1]
            missing = [b for b in self._handing_on(top) if b not in self._reads]
            if missing and top not in self._reads:
                todo += missing
                continue
            todo.pop()
            if top not in self._reads:
                self._reads[top] = self._own_reads(top)
        return self._reads[buffer]

    def _own_reads(self, buffer: int, stored: Collection[int] = ()) -> dict[Hashable, int]:
        reads: dict[Hashable, int] = {}
        for leaf, unit, _ in self._readers.get(buffer, ()):
            reader = unit.output.buffer
            shift = self._shift(reader)
            if shift is None or reader in stored:
                here = {_distance(leaf, unit): unit.size}
            else:
                here = {_sum(shift, key): n for key, n in self._reads[reader].items()}
            for key, count in here.items():
                reads[key] = max(reads.get(key, 0), count)
        return reads

    def _shift(self, buffer: int) -> int | None:
        """Return the one distance at which a value reads all that it is made of, if it is one."""
        if buffer not in self._shifts:
            found: set[Hashable] = set()
            for unit in self._outputs[buffer]:
                several = unit.size > 1
                for leaf in unit.inputs:
                    if any(leaf.strides) or not several:
                        found.add(_distance(leaf, unit))
            shift = found.pop() if len(found) == 1 else None
            self._shifts[buffer] = shift if isinstance(shift, int) else None
        return self._shifts[buffer]


def _distance(leaf: Leaf, unit: Unit) -> Hashable:
    """Return how far a unit reads from where it writes, in bytes where both walk alike."""
    if leaf.strides == unit.output.strides:
        turned = sum([t * s for t, s in zip(leaf.turns, leaf.strides, strict=False)])
        return leaf.offset + turned - unit.output.offset
    return (unit.number, leaf.offset, leaf.strides, leaf.turns)


def _sum(shift: int, distance: Hashable) -> Hashable:
    return shift + distance if isinstance(distance, int) else (shift, distance)
