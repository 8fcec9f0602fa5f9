"""Lists that grow: arrays of the numbers of their elements, and an array with the length.

All arrays of lists are as long as the tape of integers. Where a list becomes longer, the derived
function asks for a longer one and is called again.
"""

from typing import NamedTuple

import numpy as np

from ..ssa.ir import INTEGER, Type, Value
from ..ssa.refusal import Refusal
from .building import Builder
from .things import Thing


class Grown:
    """A list that grows.

    Attributes
    ----------
    arrays : Value or tuple of Value
        The elements; of tuples, one array for each part.
    length : Value
        An array with one number.
    """

    def __init__(self, arrays: Thing, length: Value) -> None:
        self.arrays, self.length = arrays, length


class Parts(NamedTuple):
    """The arrays of a list, as a tuple: for names that loops and conditions bind."""

    arrays: Thing
    length: Value


def as_tuple(thing: Thing) -> Thing:
    """Return the parts of a list; anything else as it is."""
    return Parts(thing.arrays, thing.length) if isinstance(thing, Grown) else thing


def as_list(thing: Thing) -> Thing:
    """Return the list of parts; anything else as it is."""
    return Grown(*thing) if isinstance(thing, Parts) else thing


class Lists:
    """Appends what is done with lists that grow.

    Parameters
    ----------
    b : Builder
    """

    def __init__(self, b: Builder) -> None:
        self.b = b
        self._zero = [b.constant(0)]

    def new(self, size: int, name: str) -> Grown:
        """Return an empty list of numbers, or of tuples of a size (0 for numbers)."""
        room = self._room()
        made = [self.b.alloc("float64", [room], "empty", name) for _ in range(size or 1)]
        self.b.program.untyped.update(made)
        length = self.b.alloc("int64", [self.b.constant(1)], "zeros", f"{name}_length")
        return Grown(tuple(made) if size else made[0], length)

    def _room(self) -> Value:
        program = self.b.program
        if program.room is None:
            with self.b.inside(program.body):
                op = self.b.op("room", [], INTEGER)
            program.body.ops.remove(op)
            op.result.hint = "room"
            program.room = op.result
        return program.room

    def count(self, grown: Grown) -> Value:
        """Return the length of a list."""
        return self.b.load(grown.length, self._zero)

    def append(self, grown: Grown, element: Thing) -> None:
        """Append an element."""
        count = self.count(grown)
        self.b.op("enough", [count, self._room()])
        for array, number in self._pairs(grown, element):
            self._settle(array, number)
            self.b.store(array, [count], number)
        more = self.b.scalar("add", count, self.b.constant(1))
        self.b.store(grown.length, self._zero, more)

    def _pairs(self, grown: Grown, element: Thing) -> list[tuple[Value, Value]]:
        if not isinstance(grown.arrays, tuple):
            return [(grown.arrays, self.b.number(element))]
        if not isinstance(element, tuple) or len(element) != len(grown.arrays):
            raise Refusal("the elements of a list are all numbers, or all tuples of one length")
        return [(a, self.b.number(e)) for a, e in zip(grown.arrays, element, strict=True)]

    def _settle(self, array: Value, number: Value) -> None:
        """Give an array the type of the first number that is appended."""
        untyped = self.b.program.untyped
        if array in untyped:
            untyped.remove(array)
            array.type = Type(number.type.dtype, 1)
        elif not np.can_cast(number.type.dtype, array.type.dtype, "safe"):
            raise Refusal(
                f"{number.type.dtype} is appended to a list of {array.type.dtype}: begin with "
                f"numbers of the greater type"
            )

    def element(self, grown: Grown, place: Value) -> Thing:
        """Return an element, by its natural position."""
        arrays = grown.arrays if isinstance(grown.arrays, tuple) else (grown.arrays,)
        if any(array in self.b.program.untyped for array in arrays):
            raise Refusal("a list is read before something is appended in the text: append first")
        found = tuple(self.b.load(array, [place]) for array in arrays)
        return found if isinstance(grown.arrays, tuple) else found[0]

    def pop(self, grown: Grown) -> Thing:
        """Remove the last element, and return it."""
        last = self.b.scalar("sub", self.count(grown), self.b.constant(1))
        found = self.element(grown, last)
        self.b.store(grown.length, self._zero, last)
        return found

    def clear(self, grown: Grown) -> None:
        """Remove all elements."""
        self.b.store(grown.length, self._zero, self.b.constant(0))

    def filled(self, grown: Grown) -> Value:
        """Return the numbers of a list as a view of its array."""
        array = grown.arrays
        if isinstance(array, tuple):
            raise Refusal("a list of tuples as an array: append the numbers to several lists")
        if array in self.b.program.untyped:
            raise Refusal("a list is read before something is appended in the text: append first")
        extents = [self.count(grown)]
        kind = Type(array.type.dtype, 1)
        args = [array, self._zero[0]]
        return self.b.op("view", args, kind, spec="+", extents=extents).result
