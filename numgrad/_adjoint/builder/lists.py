"""Lists that grow: arrays of the numbers of their elements, and an array with the length.

All arrays of lists are as long as the tape of integers. Where a list becomes longer, the derived
function asks for a longer one and is called again.
"""

from typing import NamedTuple

import numpy as np

from ..ssa.ir import INTEGER, Type, Value
from ..ssa.refusal import Refusal
from .bases import bases
from .building import Builder
from .things import Thing, is_array

_MOST_AXES = 3  # of the arrays of a list


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
        most = self.b.constant(1 + _MOST_AXES)  # the count, and the lengths of arrays
        length = self.b.alloc("int64", [most], "zeros", f"{name}_length")
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
        if is_array(element):
            self._append_array(grown, element)
            return
        count = self.count(grown)
        self.b.op("enough", [count, self._room()])
        for array, number in self.pairs(grown, element):
            self._settle(array, number)
            self.b.store(array, [count], number)
        more = self.b.scalar("add", count, self.b.constant(1))
        self.b.store(grown.length, self._zero, more)

    # Arrays of any lengths

    def storage(self, kind: Type, name: str) -> Value:
        """Return a vector with room for the elements of arrays of any lengths."""
        made = self.b.alloc(kind.dtype, [self._room()], "empty", name)
        self.b.program.storages.add(made)
        return made

    def beginning(self, storage: Value, shape: list[Value]) -> Value:
        """Return the first elements of a storage as an array of a shape."""
        size = self._product(shape)
        self.b.op("enough", [size, self._room()])
        return self._part(storage, self._zero[0], size, shape)

    def fill(self, storage: Value, array: Value) -> list[Value]:
        """Write an array to the beginning of a storage, and return the lengths of the array."""
        shape = self.b.shape(array)
        before, self.b.is_own = self.b.is_own, True
        self.b.assign(self.beginning(storage, shape), array)
        self.b.is_own = before
        return shape

    def _product(self, shape: list[Value]) -> Value:
        size = self.b.constant(1)
        for length in shape:
            size = self.b.scalar("mul", size, length)
        return size

    # Lists of arrays: all elements one after the other

    def _append_array(self, grown: Grown, element: Thing) -> None:
        """Append a copy of an array; the array must not be written afterwards."""
        array, count = self.b.array(element), self.count(grown)
        if array is element:
            self.b.program.by_value.append((bases(array), count, f"append {array.hint or 'it'}"))
        self._settle_array(grown.arrays, array.type)
        shape = self.b.shape(array)
        for axis, length in enumerate(shape):
            self._require_length(grown, axis, count, length)
        size = self._product(shape)
        start = self.b.scalar("mul", count, size)
        self.b.op("enough", [self.b.scalar("add", start, size), self._room()])
        part = self._part(grown.arrays, start, size, shape)
        before, self.b.is_own = self.b.is_own, True
        self.b.assign(part, array)
        self.b.is_own = before
        more = self.b.scalar("add", count, self.b.constant(1))
        self.b.store(grown.length, self._zero, more)

    def _settle_array(self, storage: Thing, kind: Type) -> None:
        """Note the type of the arrays of a list; refuse another one than that of the first."""
        program = self.b.program
        if isinstance(storage, Value) and storage in program.untyped:
            program.untyped.remove(storage)
            storage.type = Type(kind.dtype, 1, True)
            program.of_arrays[storage] = kind
        if program.of_arrays.get(storage) != kind or (kind.ndim or 0) > _MOST_AXES:
            raise Refusal("the elements of a list are numbers, or arrays of one dtype and rank")

    def _require_length(self, grown: Grown, axis: int, count: Value, length: Value) -> None:
        """Note the length of an axis of the first array, and require it of the others."""
        place = [self.b.constant(1 + axis)]
        is_first = self.b.scalar("eq", count, self._zero[0])
        known = self.b.scalar("select", is_first, length, self.b.load(grown.length, place))
        message = f"line {self.b.line}: the arrays of a list have several shapes"
        self.b.check_equal(length, known, message)
        self.b.store(grown.length, place, length)

    def _part(self, storage: Value, start: Value, size: Value, shape: list[Value]) -> Value:
        """Return the view of one array of a list."""
        flat = Type(storage.type.dtype, 1)
        part = self.b.op("view", [storage, start], flat, spec="+", extents=[size]).result
        if len(shape) == 1:
            return part
        kind = Type(flat.dtype, len(shape))
        return self.b.op("view", [part], kind, spec="reshape", extents=shape).result

    def _array(self, grown: Grown, place: Value) -> Value:
        """Return a copy of an array of a list, which must not be written."""
        kind = self.b.program.of_arrays.get(grown.arrays)
        if kind is None:
            raise Refusal("a list of arrays that a loop or a condition binds: use one list")
        axes = range(kind.ndim or 0)
        shape = [self.b.load(grown.length, [self.b.constant(1 + axis)]) for axis in axes]
        size = self._product(shape)
        part = self._part(grown.arrays, self.b.scalar("mul", place, size), size, shape)
        found = self.b.copy(part)
        self.b.program.by_value.append(({id(found)}, found, "append an element"))
        return found

    def pairs(self, grown: Grown, element: Thing) -> list[tuple[Value, Value]]:
        """Return the arrays of a list, each with the number of an element that belongs into it."""
        if not isinstance(grown.arrays, tuple):
            if grown.arrays.type.is_list:
                raise Refusal("the elements of a list are all numbers, or all arrays")
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
        if isinstance(grown.arrays, Value) and grown.arrays.type.is_list:
            return self._array(grown, place)
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
        if not isinstance(array, tuple) and array.type.is_list:
            raise Refusal("a list of arrays as one array: write its elements into one, by a loop")
        if isinstance(array, tuple):
            raise Refusal("a list of tuples as an array: append the numbers to several lists")
        if array in self.b.program.untyped:
            raise Refusal("a list is read before something is appended in the text: append first")
        extents = [self.count(grown)]
        kind = Type(array.type.dtype, 1)
        args = [array, self._zero[0]]
        return self.b.op("view", args, kind, spec="+", extents=extents).result
