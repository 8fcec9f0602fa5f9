"""Functions that make new arrays."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..ssa.ir import INTEGER, Value
from ..ssa.refusal import Refusal
from .building import Builder
from .promotion import promoted
from .things import Complex, Lazy, Static, Thing, is_array


class NewArrays:
    """Reads calls of functions that make arrays, such as ``np.zeros``."""

    b: Builder
    _call_ravel: Callable[[Thing], Value]
    view: Callable[..., Value]
    new_complex: Callable[..., Any]
    complex_array_of: Callable[..., Any]
    complex_write: Callable[..., None]
    _method_astype: Callable[..., Any]

    def _shape_of(self, thing: Thing) -> list[Value]:
        parts = thing if isinstance(thing, tuple) else (thing,)
        return [self.b.number(part) for part in parts]

    def _new(self, fill: str, shape: Thing, dtype: Thing) -> Any:
        name = dtype_name(dtype) if dtype is not None else "float64"
        if name.startswith("complex"):
            return self.new_complex(fill, self._shape_of(shape), name)
        return self.b.alloc(name, self._shape_of(shape), fill)

    def _call_zeros(self, shape: Thing, dtype: Thing = None) -> Thing:
        return self._new("zeros", shape, dtype)

    def _call_empty(self, shape: Thing, dtype: Thing = None) -> Thing:
        return self._new("empty", shape, dtype)

    def _call_ones(self, shape: Thing, dtype: Thing = None) -> Thing:
        return self._new("ones", shape, dtype)

    def _call_full(self, shape: Thing, value: Thing, dtype: Thing = None) -> Thing:
        if dtype is None:
            is_complex = isinstance(value, Complex)
            dtype = Static(np.complex128 if is_complex else self.b.number(value).type.dtype)
        return self._filled(self._new("empty", shape, dtype), value)

    def _filled(self, made: Thing, value: Thing) -> Thing:
        """Write a number to all elements of a new array, and return it."""
        if isinstance(made, Complex):
            self.complex_write(made, [], value, "")
        else:
            self.b.assign(made, value)
        return made

    def _like(self, fill: str, other: Thing, dtype: Thing) -> Any:
        lazy = self.b.lazy(other)
        name = dtype_name(dtype) if dtype is not None else lazy.type.dtype
        if name.startswith("complex"):
            return self.new_complex(fill, lazy.shape, name)
        return self.b.alloc(name, lazy.shape, fill)

    def _call_zeros_like(self, other: Thing, dtype: Thing = None) -> Thing:
        return self._like("zeros", other, dtype)

    def _call_empty_like(self, other: Thing, dtype: Thing = None) -> Thing:
        return self._like("empty", other, dtype)

    def _call_ones_like(self, other: Thing, dtype: Thing = None) -> Thing:
        return self._like("ones", other, dtype)

    def _call_full_like(self, other: Thing, value: Thing, dtype: Thing = None) -> Thing:
        return self._filled(self._like("empty", other, dtype), value)

    def _call_copy(self, thing: Thing) -> Thing:
        return self.b.computed(self.b.lazy(thing))

    def _call_arange(self, *args: Thing) -> Thing:
        numbers = [self.b.number(arg) for arg in args]
        start, stop, step = bounds_of(self.b, numbers)
        kind = "float64" if any(n.type.is_real for n in numbers) else "int64"
        count = self._steps(start, stop, step) if kind == "float64" else self.b.scalar("extent", start, stop, step)  # noqa: E501
        at: Callable[[list[Value]], Value] = lambda i: self.b.scalar(  # noqa: E731
            "add", start, self.b.scalar("mul", i[0], step)
        )
        return Lazy(kind, [count], at, [])

    def _steps(self, start: Value, stop: Value, step: Value) -> Value:
        """The length of a range of floats."""
        whole = self.b.scalar("truediv", self.b.scalar("sub", stop, start), step)
        count = self.b.scalar("floor_int", whole, spelled="math.ceil")
        return self.b.scalar("max", count, self.b.constant(0), spelled="max", type=INTEGER)

    def _call_linspace(self, start: Thing, stop: Thing, num: Thing = None) -> Thing:
        first, last = self.b.number(start), self.b.number(stop)
        count = self.b.number(num) if num is not None else self.b.constant(50)
        gaps = self.b.scalar("sub", count, self.b.constant(1))
        width = self.b.scalar("sub", last, first)

        def at(index: list[Value]) -> Value:
            share = self.b.scalar("truediv", self.b.scalar("mul", width, index[0]), gaps)
            return self.b.scalar("add", first, share)

        return Lazy("float64", [count], at, [])

    def _call_eye(self, n: Thing, dtype: Thing = None) -> Thing:
        made = self._new("zeros", (n, n), dtype)
        square, one = made.re if isinstance(made, Complex) else made, self.b.constant(1.0)
        self.b.for_each([self.b.number(n)], lambda i: self.b.store(square, [i[0], i[0]], one))
        return made

    def _call_array(self, thing: Thing, dtype: Thing = None) -> Thing:
        name = dtype_name(dtype) if dtype is not None else ""
        if is_array(thing) and name.startswith("complex"):
            return self._method_astype(thing, dtype)
        if is_array(thing):
            made = self.b.computed(self.b.lazy(thing), name)
            made.type = made.type._replace(is_list=False)
            return made
        return self.array_of(thing, name)

    def array_of(self, thing: Thing, dtype: str = "") -> Value:
        """Return a new array of the numbers of a tuple, which may be nested."""
        if not isinstance(thing, tuple):
            raise Refusal("an array of one number: write `np.array([x])`")
        leaves = list(_leaves(thing))
        if dtype.startswith("complex") or any(isinstance(leaf, Complex) for leaf in leaves):
            return self.complex_array_of(thing, dtype)
        numbers = [self.b.number(leaf) for leaf in leaves]
        lengths = _lengths(thing)
        made = self.b.alloc(
            dtype or promoted(numbers), [self.b.constant(length) for length in lengths]
        )
        for index, number in zip(np.ndindex(*lengths), numbers, strict=True):
            self.b.store(made, [self.b.constant(place) for place in index], number)
        return made

    # Arrays of others

    def _call_concatenate(self, things: Thing, axis: Thing = None) -> Thing:
        place = 0 if axis is None else self.b.number(axis).constant
        parts = [self.b.lazy(thing) for thing in _several(things)]
        ndim = parts[0].type.ndim or 0
        if place not in range(-ndim, ndim) or any(part.type.ndim != ndim for part in parts):
            raise Refusal("arrays of one number of axes are joined, along an axis that is known")
        return self._joined(parts, place % ndim)

    def _joined(self, parts: list[Lazy], axis: int) -> Value:
        """Return a new array of arrays one after the other along an axis."""
        length = parts[0].shape[axis]
        for part in parts[1:]:
            length = self.b.scalar("add", length, part.shape[axis])
            for n, (one, other) in enumerate(zip(part.shape, parts[0].shape, strict=True)):
                if n != axis:
                    self.b.check_equal(one, other, "the lengths of joined arrays differ")
        dtypes = [part.type.dtype for part in parts]
        shape = [*parts[0].shape[:axis], length, *parts[0].shape[axis + 1 :]]
        made = self.b.alloc(np.result_type(*map(np.dtype, dtypes)).name, shape)
        start = self.b.constant(0)
        for part in parts:
            self._fill_part(made, part, axis, start)
            start = self.b.scalar("add", start, part.shape[axis])
        return made

    def _fill_part(self, made: Value, part: Lazy, axis: int, start: Value) -> None:
        def each(index: list[Value]) -> None:
            place = self.b.scalar("add", index[axis], start)
            self.b.store(made, [*index[:axis], place, *index[axis + 1 :]], part.at(index))

        self.b.for_each(part.shape, each)

    def _call_append(self, array: Thing, values: Thing, axis: Thing = None) -> Thing:
        if axis is not None and not (isinstance(axis, Static) and axis.value is None):
            return self._call_concatenate((array, values), axis)
        first = self._call_ravel(array)
        last = self._call_ravel(values) if is_array(values) else self.array_of((values,))
        return self._joined([self.b.lazy(first), self.b.lazy(last)], 0)

    def _widened(self, thing: Thing, place: int) -> Lazy:
        """Return an array with one more axis, of length 1."""
        lazy = self.b.lazy(thing)
        shape = [*lazy.shape[:place], self.b.constant(1), *lazy.shape[place:]]
        at: Callable[[list[Value]], Value] = lambda i: lazy.at([*i[:place], *i[place + 1 :]])  # noqa: E731
        return Lazy(lazy.type.dtype, shape, at, lazy.reads)

    def _call_stack(self, things: Thing, axis: Thing = None) -> Thing:
        place = 0 if axis is None else self.b.number(axis).constant
        parts = [self.b.lazy(thing) for thing in _several(things)]
        count = (parts[0].type.ndim or 0) + 1
        if place not in range(-count, count):
            raise Refusal("arrays are stacked along an axis that is known")
        return self._joined([self._widened(part, place % count) for part in parts], place % count)

    def _call_vstack(self, things: Thing) -> Thing:
        parts = [self.b.lazy(thing) for thing in _several(things)]
        return self._joined([self._widened(p, 0) if p.type.ndim == 1 else p for p in parts], 0)

    def _call_hstack(self, things: Thing) -> Thing:
        parts = [self.b.lazy(thing) for thing in _several(things)]
        return self._joined(parts, 0 if parts[0].type.ndim == 1 else 1)

    def _call_column_stack(self, things: Thing) -> Thing:
        parts = [self.b.lazy(thing) for thing in _several(things)]
        return self._joined([self._widened(p, 1) if p.type.ndim == 1 else p for p in parts], 1)

    def _call_dstack(self, things: Thing) -> Thing:
        parts = [self.b.lazy(thing) for thing in _several(things)]
        planes = [self._widened(part, 0) if part.type.ndim == 1 else part for part in parts]
        return self._joined([self._widened(p, 2) if p.type.ndim == 2 else p for p in planes], 2)

    def _call_expand_dims(self, thing: Thing, axis: Thing) -> Thing:
        place, count = self.b.number(axis).constant, (self.b.lazy(thing).type.ndim or 0) + 1
        if place not in range(-count, count):
            raise Refusal("an axis must be known when the kernel is compiled")
        if isinstance(thing, Value):
            return self.view(thing, [*[slice(None)] * (place % count), None])
        return self._widened(thing, place % count)


def _lengths(thing: Thing) -> list[int]:
    """Return the shape of an array of nested tuples."""
    if not isinstance(thing, tuple):
        return []
    inner = [_lengths(part) for part in thing]
    if not inner or any(lengths != inner[0] for lengths in inner):
        raise Refusal("an array is made of rows of one length")
    return [len(thing), *inner[0]]


def _leaves(thing: Thing) -> Iterator[Thing]:
    """Yield what is in nested tuples, in order."""
    for part in thing if isinstance(thing, tuple) else ():
        yield from _leaves(part) if isinstance(part, tuple) else (part,)


def _several(things: Thing) -> tuple:
    if not isinstance(things, tuple) or not things:
        raise Refusal("arrays are joined that stand in a tuple")
    return things


def bounds_of(b: Builder, args: list[Value]) -> tuple[Value, Value, Value]:
    """Return the start, the end and the step of ``range``."""
    zero, one = b.constant(0), b.constant(1)
    start, stop, step = [(zero, *args, one), (*args, one), tuple(args)][len(args) - 1]
    return start, stop, step


def dtype_name(thing: Thing) -> str:
    if not isinstance(thing, Static):
        raise Refusal("a dtype must be known when the kernel is compiled")
    try:
        return np.dtype(numpy_type(thing.value)).name
    except TypeError:
        raise Refusal(f"{thing.value!r} is not understood as a dtype") from None


def numpy_type(kind: Any) -> Any:
    """Return the class of NumPy for a type of Numba, such as ``numba.float64``; anything else as it
    is."""
    if not type(kind).__module__.startswith("numba.core.types"):
        return kind
    return {"bool": np.bool_}.get(str(kind)) or getattr(np, str(kind), kind)
