"""The builder of structured SSA: scalar operations, memory, loops over arrays."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..ssa.ir import INTEGER, Op, Program, Region, Type, Value
from ..ssa.refusal import Refusal
from .bases import carried_from, may_share
from .promotion import folded, is_integer, result_dtype
from .things import Lazy, Poison, Static, Thing, described, is_array
from .views import base_element, same_view


class Builder:
    """Appends operations to the regions of a program.

    Parameters
    ----------
    program : Program
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.region = program.body
        self.line = 0
        self.hint = ""
        self.is_own = False  # whether stores are those of a copy into a buffer
        self.shapes: dict[Value, list[Value]] = {}  # of the arguments
        self._constants: dict[tuple[type, Any], Value] = {}

    @contextlib.contextmanager
    def inside(self, region: Region) -> Iterator[None]:
        """Append operations to another region within a block."""
        outer, self.region = self.region, region
        try:
            yield
        finally:
            self.region = outer

    def op(self, name: str, args: Sequence[Value], result: Type | None = None, **info: Any) -> Op:
        """Append an operation with at most one result."""
        made = Op(name, list(args), self.region, self.line, **info)
        if result is not None:
            made.results.append(Value(result, self.region, made, self.hint))
        self.region.ops.append(made)
        return made

    # Numbers

    def constant(self, number: Any) -> Value:
        """Return the value of a known number."""
        if isinstance(number, np.generic):
            number = number.item()
        key = (type(number), repr(number))
        if key not in self._constants:
            made = Value(Type(np.dtype(type(number)).name), self.program.body)
            made.constant = number
            self._constants[key] = made
        return self._constants[key]

    def zero(self, type: Type) -> Value:  # noqa: A002
        """Return the zero of a type, for a name before its first assignment."""
        return self.constant(np.dtype(type.dtype).type(0))

    def scalar(self, name: str, *args: Value, spelled: str = "", type: Type | None = None) -> Value:  # noqa: A002
        """Append a scalar operation; an operation of known integers is computed at once."""
        if (known := folded(name, args)) is not None:
            return self.constant(known)
        if name in ("add", "sub") and args[1].constant == 0 and is_integer(args[0], args[1]):
            return args[0]
        if name in ("add", "mul") and args[0].constant == (name == "mul") and is_integer(*args):
            return args[1]
        result = type or Type(result_dtype(name, args))
        return self.op(name, args, result, spelled=spelled).result

    # Arrays

    def shape(self, array: Value) -> list[Value]:
        """Return the lengths of an array."""
        return [self.extent(array, axis) for axis in range(array.type.ndim or 0)]

    def extent(self, array: Value, axis: int) -> Value:
        """Return the length of an axis."""
        known = set(self._known_extents(array, axis))
        if len(known) == 1:
            return known.pop()
        made = self.op("shape", [array], INTEGER, axis=axis).result
        made.hint = "n"
        return made

    def extents(self, array: Value, axis: int) -> list[Value]:
        """Return the lengths that an axis may have: one for each array that a carried array may be.
        """
        return self._known_extents(array, axis) or [self.extent(array, axis)]

    def _known_extents(self, array: Value, axis: int) -> list[Value]:
        op = array.op
        if op is not None and "extents" in op.info:
            return [op.info["extents"][axis]]
        if array in self.shapes:
            return [self.shapes[array][axis]]
        begun = [init for init in carried_from(array) if init.type.ndim == array.type.ndim]
        return [extent for init in begun for extent in self._known_extents(init, axis)]

    def load(self, array: Value, index: Sequence[Value]) -> Value:
        """Return an element."""
        array, index = base_element(self.scalar, self.constant, array, list(index))
        return self.op("load", [array, *index], Type(array.type.dtype)).result

    def store(
        self, array: Value, index: Sequence[Value], value: Value, accumulate: str = ""
    ) -> None:
        """Write an element, or add to it (``accumulate`` is ``"+"`` or ``"-"``)."""
        array, index = base_element(self.scalar, self.constant, array, list(index))
        name = "accum" if accumulate else "store"
        self.op(name, [array, *index, value], sign=accumulate, own=self.is_own)

    def alloc(
        self, dtype: str, shape: Sequence[Value], fill: str = "empty", hint: str = ""
    ) -> Value:
        """Return a new array."""
        op = self.op("alloc", shape, Type(dtype, len(shape)), fill=fill, extents=list(shape))
        op.result.hint = hint or self.hint
        return op.result

    def copy(self, source: Value, hint: str = "") -> Value:
        """Return a new array with the elements of another one."""
        op = self.op("copy", [source], source.type, extents=self.shape(source))
        op.result.hint = hint or self.hint
        return op.result

    def listed(self, array: Value) -> Value:
        """Return an array as one that stands for a list."""
        array.type = array.type._replace(is_list=True)
        return array

    def check_equal(self, one: Value, other: Value, message: str) -> None:
        """Make the kernel raise a ValueError where two lengths differ."""
        if one is other or (one.constant is not None and one.constant == other.constant):
            return
        self.op("check", [one, other], message=message)

    # Loops over arrays

    def loop(
        self, stop: Value, inits: Sequence[Value], body: Callable[..., Sequence[Value]]
    ) -> list[Value]:
        """Append a loop from 0 to ``stop``; ``body(index, *phis)`` returns the values that an
        iteration yields."""
        zero, one = self.constant(0), self.constant(1)
        made = Op("loop", [zero, stop, one, *inits], self.region, self.line, kind="for")
        region = Region(made)
        made.regions.append(region)
        region.index = Value(INTEGER, region, None, "i")
        region.phis = [Value(init.type, region, None, self.hint) for init in inits]
        with self.inside(region):
            region.yields = list(body(region.index, *region.phis))
        for phi, given in zip(region.phis, region.yields, strict=True):
            phi.type = given.type
        made.results = [Value(phi.type, self.region, made, phi.hint) for phi in region.phis]
        self.region.ops.append(made)
        return made.results

    def for_each(self, shape: Sequence[Value], body: Callable[[list[Value]], None]) -> None:
        """Append nested loops over all indices of a shape."""

        def level(index: list[Value]) -> None:
            if len(index) == len(shape):
                body(index)
                return

            def inner(i: Value) -> list[Value]:
                level([*index, i])
                return []

            self.loop(shape[len(index)], [], inner)

        level([])

    def fold(
        self, shape: Sequence[Value], inits: Sequence[Value], body: Callable[..., Sequence[Value]]
    ) -> list[Value]:
        """Append nested loops that carry values; ``body(index, *carried)`` returns the next ones."""  # noqa: E501

        def level(index: list[Value], carried: Sequence[Value]) -> Sequence[Value]:
            if len(index) == len(shape):
                return body(index, *carried)
            return self.loop(shape[len(index)], carried, lambda i, *phis: level([*index, i], phis))

        return list(level([], inits))

    # Array expressions

    def lazy(self, thing: Thing) -> Lazy:
        """Return an array or an expression as an expression whose elements are computed later."""
        if isinstance(thing, Lazy):
            return thing
        if isinstance(thing, Value) and thing.type.is_array:
            at: Callable[[list[Value]], Value] = lambda index: self.load(thing, index)  # noqa: E731
            made = Lazy(thing.type.dtype, self.shape(thing), at, [thing])
            made.source = thing
            return made
        raise Refusal("an array is expected here")

    def elementwise(
        self, function: Callable[..., Value], things: Sequence[Thing], is_fused: bool = False
    ) -> Thing:
        """Apply a function of numbers to numbers, arrays and expressions, which are parts of one
        expression if the function is fused with theirs."""
        if not any(is_array(thing) for thing in things):
            return function(*[self.number(thing) for thing in things])
        if any(thing.type.is_list for thing in things if isinstance(thing, Value)):
            raise Refusal("a list in arithmetic: make an array of it, np.array(...)")
        parts = [self.lazy(t) if is_array(t) else self.number(t) for t in things]
        if is_fused:
            parts = [(isinstance(part, Lazy) and part.inside) or part for part in parts]
        lazies = [part for part in parts if isinstance(part, Lazy)]
        shape = self.broadcast([part.shape for part in lazies])

        def at(index: list[Value]) -> Value:
            return function(*[self.element_of(part, index) for part in parts])

        dtype = self.trial(lambda: at([self.constant(0)] * len(shape))).type.dtype
        return Lazy(dtype, shape, at, [array for part in lazies for array in part.reads])

    def element_of(self, part: Lazy | Value, index: list[Value]) -> Value:
        """Return a number, or the element of an expression; axes of length 1 are repeated."""
        if isinstance(part, Value):
            return part
        own = index[len(index) - len(part.shape) :]
        stretched = [
            self.constant(0) if extent.constant == 1 else i
            for i, extent in zip(own, part.shape, strict=True)
        ]
        return part.at(stretched)

    def trial(self, function: Callable[[], Value]) -> Value:
        """Call a function to learn the type of its result; the operations that it appends are
        thrown away."""
        with self.inside(Region(self.region.owner)):
            return function()

    def broadcast(self, shapes: Sequence[list[Value]]) -> list[Value]:
        """Return the shape of an expression; the kernel checks at run time that lengths agree."""
        ndim = max(len(shape) for shape in shapes)
        result: list[Value] = []
        for axis in range(-ndim, 0):
            lengths = [shape[axis] for shape in shapes if len(shape) >= -axis]
            longer = [n for n in lengths if n.constant != 1] or lengths[:1]
            for other in longer[1:]:
                self.check_equal(longer[0], other, "lengths differ; stretch length 1 by [:, None]")
            result.append(longer[0])
        return result

    def number(self, thing: Thing) -> Value:
        """Return the number that a thing stands for; refuse a thing that stands for none."""
        if isinstance(thing, Value) and not thing.type.is_array:
            return thing
        if isinstance(thing, Value) and thing.type.ndim == 0:
            return self.load(thing, [])
        if isinstance(thing, Static) and isinstance(
            thing.value, (bool, int, float, complex, np.generic)
        ):
            return self.constant(thing.value)
        if isinstance(thing, Poison):
            raise Refusal(thing.reason)
        raise Refusal(f"a number is expected, not {described(thing)}")

    def array(self, thing: Thing) -> Value:
        """Return an array; the elements of an expression are computed into a new array."""
        if isinstance(thing, Value) and thing.type.is_array:
            return thing
        if isinstance(thing, Lazy):
            return self.computed(thing)
        raise Refusal(f"an array is expected, not {described(thing)}")

    def computed(self, lazy: Lazy, dtype: str = "", hint: str = "") -> Value:
        """Compute an array expression into a new array."""
        source = lazy.source
        if source is not None and lazy.shape and dtype in ("", source.type.dtype):
            return self.copy(source, hint)
        made = self.alloc(dtype or lazy.type.dtype, lazy.shape, hint=hint)
        self.for_each(lazy.shape, lambda index: self.store(made, index, lazy.at(index)))
        return made

    def assign(self, target: Value, value: Thing, accumulate: str = "") -> None:
        """Write an array or a number into the elements of an array, or add it to them."""
        shape = self.shape(target)
        if not is_array(value):
            number = self.number(value)
            self.for_each(shape, lambda index: self.store(target, index, number, accumulate))
            return
        lazy = self.lazy(value)
        if len(lazy.shape) > len(shape):
            raise Refusal("the value has more axes than what it is written to")
        self._require_written(shape, lazy)
        if any(self.overlaps(target, array) for array in lazy.reads):
            if accumulate and isinstance(value, Value):
                raise Refusal(
                    "the augmented slice may overlap what is added to it: NumPy and Numba disagree "
                    "on its value; write the loop"
                )
            lazy = self.lazy(self.computed(lazy))
        self.for_each(
            shape, lambda index: self.store(target, index, self.element_of(lazy, index), accumulate)
        )

    def copy_into(self, buffer: Value, array: Value, message: str) -> None:
        """Copy an array into a buffer, for a name that is bound to another array."""
        for n, m in zip(self.shape(buffer), self.shape(array), strict=True):
            self.check_equal(n, m, message)
        before, self.is_own = self.is_own, True
        self.assign(buffer, array)
        self.is_own = before

    def _require_written(self, shape: list[Value], lazy: Lazy) -> None:
        for extent, given in zip(shape[len(shape) - len(lazy.shape) :], lazy.shape, strict=True):
            if given.constant != 1:
                self.check_equal(extent, given, "the lengths of a slice and its value differ")

    def overlaps(self, target: Value, array: Value) -> bool:
        """Whether an assignment may write elements of an array before it has read them."""
        same_elements = same_view(array, target)
        return not same_elements and may_share(array, target)
