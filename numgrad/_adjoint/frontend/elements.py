"""Attributes, elements and slices of arrays and tuples."""

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from ..builder.building import Builder
from ..builder.lists import Grown
from ..builder.loops import rearranging
from ..builder.things import Complex, Lazy, Static, Thing, described, is_array
from ..builder.views import is_contiguous
from ..ssa.ir import INTEGER, Type, Value
from ..ssa.ranges import affine, is_at_most, is_natural
from ..ssa.refusal import Refusal


class Elements:
    """Reads attributes, and subscripts of arrays and tuples."""

    b: Builder
    value: Callable[[ast.expr], Thing]
    number: Callable[[ast.expr], Value]
    known: Callable[[Any, str], Thing]
    inlined: Callable[..., Value]
    current: ast.AST
    complex_attribute: Callable[..., Thing]
    complex_element: Callable[..., Thing]
    array_of: Callable[..., Value]
    list_element: Callable[..., Thing]
    constants: Callable[[Any, np.ndarray, str], Value]
    _call_ravel: Callable[[Thing], Value]

    def _attribute(self, node: ast.Attribute) -> Thing:
        thing = self.value(node.value)
        if isinstance(thing, Static):
            try:
                return self.known(getattr(thing.value, node.attr), node.attr)
            except AttributeError:
                raise Refusal(f"`{node.attr}` is not an attribute of it") from None
        if isinstance(thing, Complex):
            return self.complex_attribute(thing, node.attr)
        if isinstance(thing, Value) and not thing.type.is_array and node.attr in ("real", "imag"):
            return thing if node.attr == "real" else self.b.constant(0.0)
        if node.attr in getattr(thing, "_fields", ()):
            return getattr(thing, node.attr)
        if not is_array(thing) or thing.type.is_list:
            raise Refusal(f"the attribute `{node.attr}` is not understood")
        return self._array_attribute(thing, node.attr)

    def _array_attribute(self, thing: Thing, name: str) -> Thing:
        shape = thing.shape if isinstance(thing, Lazy) else self.b.shape(thing)
        if name == "shape":
            return tuple(shape)
        if name == "ndim":
            return self.b.constant(len(shape))
        if name == "dtype":
            return Static(np.dtype(thing.type.dtype))
        if name == "size":
            return self.product(shape)
        if name == "T":
            return self.transposed(self.b.array(thing))
        if name == "flat":
            return self._flat(self.b.array(thing))
        if name in ("real", "imag"):
            return thing if name == "real" else self.b.alloc(thing.type.dtype, shape, "zeros")
        raise Refusal(f"the attribute `{name}` of arrays is not understood")

    def _flat(self, array: Value) -> Thing:
        """Return all elements as a vector, which cannot be written where it is a copy."""
        flat = self._call_ravel(array)
        return flat if is_contiguous(array) else self.b.lazy(flat)

    def product(self, numbers: list[Value]) -> Value:
        """Return the product of integers."""
        result = self.b.constant(1)
        for number in numbers:
            result = number if result.constant == 1 else self.b.scalar("mul", result, number)
        return result

    def transposed(self, array: Value) -> Value:
        """Return a view with the axes reversed."""
        if (array.type.ndim or 0) < 2:
            return array
        extents = self.b.shape(array)[::-1]
        return self.b.op("view", [array], array.type, spec="T", extents=extents).result

    def _subscript(self, node: ast.Subscript) -> Thing:
        thing = self.value(node.value)
        if isinstance(thing, Grown):
            return self.list_element(thing, node.slice)
        if isinstance(thing, tuple):
            return self._tuple_element(thing, node.slice)
        if isinstance(thing, Complex):
            return self.complex_element(thing, self.indices(node.slice))
        if isinstance(thing, Lazy):
            thing = self.b.computed(thing)
        if isinstance(thing, Value) and not thing.type.is_array and self.indices(node.slice) == []:
            return thing
        if not isinstance(thing, Value) or not thing.type.is_array:
            raise Refusal(f"elements of {described(thing)} are not understood")
        return self.element(thing, self.indices(node.slice))

    def _tuple_element(self, thing: tuple, node: ast.expr) -> Thing:
        if isinstance(node, ast.Slice):
            parts = [
                None if p is None else self.number(p).constant
                for p in (node.lower, node.upper, node.step)
            ]
            return thing[slice(*parts)]
        position = self.number(node)
        if position.constant is None:
            return self.b.load(self._array_of_tuple(thing), [position])
        return thing[position.constant]

    def _array_of_tuple(self, thing: tuple) -> Value:
        """Return an array of the numbers of a tuple, for an index that is known only when the
        kernel runs."""
        numbers = [self.b.number(part) for part in thing]
        known = [number.constant for number in numbers]
        if None in known:
            return self.array_of(thing)
        array = np.array(known)
        key = ("tuple", array.dtype.name, tuple(known))
        return self.constants(key, array, "table")

    def indices(self, node: ast.expr) -> list[Any]:
        """Evaluate a subscript: numbers, slices, None, arrays."""
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        found: list[Any] = []
        for part in parts:
            if isinstance(part, ast.Slice):
                ends = (part.lower, part.upper, part.step)
                found.append(slice(*[None if end is None else self._end(end) for end in ends]))
                continue
            thing = self.value(part)
            if isinstance(thing, tuple):
                found.extend(thing)
            elif isinstance(thing, Static) and thing.value in (None, Ellipsis):
                found.append(thing.value)
            else:
                found.append(thing)
        return found

    def _end(self, node: ast.expr) -> Value | None:
        thing = self.value(node)
        return None if isinstance(thing, Static) and thing.value is None else self.b.number(thing)

    def element(self, array: Value, index: list[Any]) -> Thing:
        """Return an element or a part of an array."""
        if any(is_array(part) for part in index if isinstance(part, (Value, Lazy))):
            return self._gathered(array, index)
        if _is_element(array, index):
            return self.b.load(array, index)
        part = self.view(array, index)
        return self.b.copy(part) if array.type.is_list else part  # a part of a list is a new list

    def _gathered(self, array: Value, index: list[Any]) -> Lazy:
        if len(index) != 1:
            return self._gathered_along(array, index)
        chosen = self.b.lazy(index[0])
        if chosen.type.dtype == "bool":
            return self.b.lazy(self._masked(array, self.b.array(chosen)))
        count = len(chosen.shape)

        def at(position: list[Value]) -> Value:
            return self.b.load(array, [chosen.at(position[:count]), *position[count:]])

        shape = chosen.shape + self.b.shape(array)[1:]
        return Lazy(array.type.dtype, shape, at, [array, *chosen.reads])

    def _gathered_along(self, array: Value, index: list[Any]) -> Lazy:
        """The part that an array of indices chooses along one axis, of a view."""
        parts = self._padded(array, index)
        places = [n for n, p in enumerate(parts) if isinstance(p, (Value, Lazy)) and is_array(p)]
        others = [n for n, p in enumerate(parts) if not isinstance(p, slice) and n not in places]
        is_apart = any(isinstance(p, slice) for n in others for p in parts[min(n, places[0]) : max(n, places[0])])  # noqa: E501
        chosen = self.b.lazy(parts[places[0]])
        axis = places[0] - sum(n < places[0] for n in others)
        is_mask = chosen.type.dtype == "bool"
        is_of_rows = axis == 0 and chosen.type.ndim == 1
        if len(places) > 1 or is_apart or None in parts or (is_mask and not is_of_rows):
            raise Refusal("a part that several arrays choose is not understood: write the loop")
        part = self.view(array, [slice(None) if n in places else p for n, p in enumerate(parts)])
        if is_mask:
            return self.b.lazy(self._masked(part, self.b.array(chosen)))
        count = len(chosen.shape)
        lengths = self.b.shape(part)

        def at(position: list[Value]) -> Value:
            place = chosen.at(position[axis : axis + count])
            return self.b.load(part, [*position[:axis], place, *position[axis + count :]])

        shape = [*lengths[:axis], *chosen.shape, *lengths[axis + 1 :]]
        return Lazy(array.type.dtype, shape, at, [array, *chosen.reads])

    def rows_chosen(self, array: Value, index: list[Any]) -> tuple[Value, list[Any]]:
        """Return a view and the mask, or array of indices, that chooses among its rows."""
        parts = self._padded(array, index)
        chosen = [n for n, p in enumerate(parts) if isinstance(p, (Value, Lazy)) and is_array(p)]
        rest = [slice(None) if n in chosen else part for n, part in enumerate(parts)]
        is_first = all(not isinstance(part, slice) for part in parts[: chosen[0]])
        if len(chosen) > 1 or None in parts or not is_first or parts[chosen[0]].type.ndim > 1:
            raise Refusal("a store that several arrays choose is not understood: write the loop")
        return self.view(array, rest), [parts[chosen[0]]]

    def _masked(self, array: Value, mask: Value) -> Value:
        """Return the elements that a mask chooses."""
        if mask.type.ndim == array.type.ndim:
            return self.inlined(self.current, rearranging.compress, [array, mask], {})
        if mask.type.ndim == 1 and array.type.ndim == 2:
            return self.inlined(self.current, rearranging.compress_rows, [array, mask], {})
        if mask.type.ndim == 1:
            places = self.inlined(self.current, rearranging.flatnonzero, [mask], {})
            return self.b.computed(self._gathered(array, [places]))
        raise Refusal("a mask of fewer axes than the array is not understood: write the loop")

    def view(self, array: Value, index: list[Any]) -> Value:
        """Return the view that indices and slices take of an array."""
        spec, args, extents = "", [], []
        array, parts = self._turned(array, self._padded(array, index))
        for position, part in enumerate(parts):
            axis = position - spec.count("n")
            letter, values, extent = self._axis(array, axis, part)
            spec += letter
            args += values
            extents += extent
        kind = Type(array.type.dtype, len(extents), array.type.is_list)
        return self.b.op("view", [array, *args], kind, spec=spec, extents=extents).result

    def _padded(self, array: Value, index: list[Any]) -> list[Any]:
        taken = len([part for part in index if part is not None and part is not Ellipsis])
        missing = (array.type.ndim or 0) - taken
        if missing < 0:
            raise Refusal("there are more indices than axes")
        rest = [slice(None)] * missing
        if Ellipsis in [part for part in index if part is Ellipsis]:
            place = next(n for n, part in enumerate(index) if part is Ellipsis)
            return index[:place] + rest + index[place + 1 :]
        return index + rest

    def _turned(self, array: Value, parts: list[Any]) -> tuple[Value, list[Any]]:
        """Take slices with negative steps: those that follow from the rest have none."""
        axis = -1
        for place, part in enumerate(parts):
            axis += part is not None
            if not isinstance(part, slice) or part.step is None:
                continue
            step, has_ends = part.step.constant, (part.start, part.stop) != (None, None)
            if isinstance(step, int) and step < 0 and (step < -1 or has_ends):
                array = self._backwards(array, axis, part, step)
                parts = [*parts[:place], slice(None), *parts[place + 1 :]]
        return array, parts

    def _backwards(self, array: Value, axis: int, part: slice, step: int) -> Value:
        """The view of a slice with a negative step: of what it covers, turned around."""
        b, length = self.b, self.b.extent(array, axis)
        last = b.scalar("sub", length, b.constant(1))
        start = last if part.start is None else self._from_behind(part.start, length, last)
        before = b.constant(-1)
        stop = before if part.stop is None else self._from_behind(part.stop, length, last)
        count = b.scalar("extent", start, stop, b.constant(step))
        gaps = b.scalar("mul", b.scalar("sub", count, b.constant(1)), b.constant(-step))
        low = self._at_least_zero(b.scalar("sub", start, gaps))
        covered = self._at_least_zero(b.scalar("add", gaps, b.constant(1)))
        array = self._along(array, axis, "+", [low], covered)
        array = self._along(array, axis, "r", [], covered)
        if step == -1:
            return array
        return self._along(array, axis, "%", [b.constant(0), b.constant(-step)], count)

    def _from_behind(self, end: Value, length: Value, last: Value) -> Value:
        """An end of a slice with a negative step, within -1 and the last position."""
        end = end if is_natural(end) else self._wrapped(end, length)
        least = self.b.constant(-1)
        end = self.b.scalar("max", end, least, spelled="max", type=INTEGER)
        return self.b.scalar("min", end, last, spelled="min", type=INTEGER)

    def _along(
        self, array: Value, axis: int, letter: str, values: list[Value], extent: Value
    ) -> Value:
        """A view that takes a part along one axis."""
        shape = self.b.shape(array)
        extents = [*shape[:axis], extent, *shape[axis + 1 :]]
        spec = ":" * axis + letter + ":" * (len(shape) - axis - 1)
        args = [array, *values]
        return self.b.op("view", args, array.type, spec=spec, extents=extents).result

    def _axis(self, array: Value, axis: int, part: Any) -> tuple[str, list[Value], list[Value]]:
        """Return the letter, the values and the length of an axis of a view; `base_element` says
        what the letters mean."""
        if part is None:
            return "n", [], [self.b.constant(1)]
        if not isinstance(part, slice):
            return "i", [self.b.number(part)], []
        length = self.b.extent(array, axis)
        if part == slice(None):
            return ":", [], [length]
        step = part.step if part.step is not None else self.b.constant(1)
        start, stop = part.start, part.stop
        if start is None and stop is None and step.constant == -1:
            return "r", [], [length]
        if not isinstance(step.constant, int) or step.constant < 1:
            raise Refusal("a slice whose step is not known and may be negative: write the loop")
        start = self.b.constant(0) if start is None else start
        if not is_natural(start):
            start = self._at_least_zero(self._wrapped(start, length))
        extent = self._sliced(length, start, stop)
        if step.constant == 1:
            return "+", [start], [extent]
        extent = self.b.scalar("extent", self.b.constant(0), extent, step)
        return "%", [start, step], [extent]

    def _sliced(self, length: Value, start: Value, stop: Value | None) -> Value:
        """Return the length of a slice that begins at a natural number."""
        end = length
        if stop is not None and isinstance(stop.constant, int) and stop.constant < 0:
            end = self.b.scalar("add", length, stop)
        elif stop is not None:
            if not is_natural(stop):
                stop = self._wrapped(stop, length)
            end = stop
            if not is_at_most(stop, length):
                end = self.b.scalar("min", stop, length, spelled="min", type=INTEGER)
        taken = end if start.constant == 0 else self._minus(end, start)
        return length if taken is length else self._at_least_zero(taken)

    def _at_least_zero(self, number: Value) -> Value:
        return self.b.scalar("max", number, self.b.constant(0), spelled="max", type=INTEGER)

    def _minus(self, end: Value, start: Value) -> Value:
        (base, most), (other, least) = affine(end), affine(start)
        if base is other:
            return self.b.constant(most - least)
        op = end.op
        if (
            op is not None
            and op.name == "add"
            and op.args[1].constant is not None
            and start.constant is not None
        ):
            return self.b.scalar(
                "add", op.args[0], self.b.constant(op.args[1].constant - start.constant)
            )
        if start.constant is not None:
            return self.b.scalar("add", end, self.b.constant(-start.constant))
        return self.b.scalar("sub", end, start)

    def _wrapped(self, stop: Value, length: Value) -> Value:
        """Return the end of a slice; a negative end counts from the end of the axis."""
        negative = self.b.scalar("lt", stop, self.b.constant(0))
        return self.b.scalar("select", negative, self.b.scalar("add", stop, length), stop)


def _is_element(array: Value, index: list[Any]) -> bool:
    return len(index) == array.type.ndim and all(isinstance(part, Value) for part in index)
