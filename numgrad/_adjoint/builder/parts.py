"""Arrays that are cut into parts, repeated along axes, and chosen from."""

import itertools
from collections.abc import Callable

import numpy as np

from ..ssa.ir import INTEGER, Value
from ..ssa.refusal import Refusal
from .building import Builder
from .things import Lazy, Static, Thing, is_array


class PartsOfArrays:
    """Reads calls of functions such as ``np.split`` and ``np.broadcast_to``."""

    b: Builder
    view: Callable[..., Value]
    array_of: Callable[..., Value]
    own_copy: Callable[[Thing], Value]
    stands_for: Callable[[Value, Value], None]

    # Parts

    def _call_array_split(
        self, ary: Thing, indices_or_sections: Thing, axis: Thing = None
    ) -> tuple[Value, ...]:
        array, place = self.b.array(ary), self._known_axis(axis)
        length = self.b.extent(array, place % (array.type.ndim or 1))
        cuts = self._cuts(indices_or_sections, length)
        before = [slice(None)] * (place % (array.type.ndim or 1))
        ends = itertools.pairwise(cuts)
        return tuple([self.view(array, [*before, slice(one, other, None)]) for one, other in ends])

    def _known_axis(self, axis: Thing) -> int:
        place = 0 if axis is None else self.b.number(axis).constant
        if not isinstance(place, int):
            raise Refusal("an axis must be known when the kernel is compiled")
        return place

    def _cuts(self, cuts: Thing, length: Value) -> list[Value]:
        """Return the places where an array is cut, from 0 to its length."""
        zero = self.b.constant(0)
        if isinstance(cuts, tuple):
            return [zero, *map(self.b.number, cuts), length]
        if is_array(cuts):
            raise Refusal("an array is split at a tuple of indices: np.split(x, (2, 5))")
        count = self.b.number(cuts).constant
        if not isinstance(count, int):
            raise Refusal("the number of parts must be known when the kernel is compiled")
        parts = self.b.constant(count)
        each = self.b.scalar("floordiv", length, parts)
        longer = self.b.scalar("mod", length, parts)
        found = [zero]
        for n in range(1, count):
            more = self.b.scalar("min", longer, self.b.constant(n), spelled="min", type=INTEGER)
            start = self.b.scalar("mul", each, self.b.constant(n))
            found.append(self.b.scalar("add", start, more))
        return [*found, length]

    def _call_split(
        self, ary: Thing, indices_or_sections: Thing, axis: Thing = None
    ) -> tuple[Value, ...]:
        return self._call_array_split(ary, indices_or_sections, axis)

    def _call_hsplit(self, ary: Thing, indices_or_sections: Thing) -> tuple[Value, ...]:
        axis = min((self.b.lazy(ary).type.ndim or 1) - 1, 1)
        return self._call_array_split(ary, indices_or_sections, self.b.constant(axis))

    def _call_vsplit(self, ary: Thing, indices_or_sections: Thing) -> tuple[Value, ...]:
        return self._call_array_split(ary, indices_or_sections)

    def _call_dsplit(self, ary: Thing, indices_or_sections: Thing) -> tuple[Value, ...]:
        return self._call_array_split(ary, indices_or_sections, self.b.constant(2))

    # Repeated elements

    def _call_broadcast_to(self, array: Thing, shape: Thing) -> Value:
        lengths = [self.b.number(n) for n in (shape if isinstance(shape, tuple) else (shape,))]
        if not is_array(array):
            number = self.b.number(array)
            return self.own_copy(Lazy(number.type.dtype, lengths, lambda index: number, []))
        return self._stretched(array, lengths)

    def _stretched(self, thing: Thing, lengths: list[Value]) -> Value:
        """Return a copy of an array, of a longer shape; neither may be written."""
        lazy = self.b.lazy(thing)
        if len(lazy.shape) > len(lengths):
            raise Refusal("an array is stretched to a shape of as many axes, or more")
        for own, given in zip(lazy.shape[::-1], lengths[::-1], strict=False):
            if own.constant != 1:
                self.b.check_equal(own, given, "lengths differ; stretch length 1 by [:, None]")
        at: Callable[[list[Value]], Value] = lambda index: self.b.element_of(lazy, index)  # noqa: E731
        made = self.own_copy(Lazy(lazy.type.dtype, lengths, at, lazy.reads))
        if isinstance(thing, Value):
            self.stands_for(made, thing)
        return made

    def _call_broadcast_arrays(self, *arrays: Thing) -> tuple[Value, ...]:
        things = [a if is_array(a) else self.array_of((a,)) for a in arrays]
        shape = self.b.broadcast([self.b.lazy(thing).shape for thing in things])
        return tuple([self._stretched(thing, shape) for thing in things])

    def _call_broadcast_shapes(self, *shapes: Thing) -> tuple[Value, ...]:
        several = [s if isinstance(s, tuple) else (s,) for s in shapes]
        return tuple(self.b.broadcast([[self.b.number(n) for n in shape] for shape in several]))

    def _call_sliding_window_view(
        self, x: Thing, window_shape: Thing, axis: Thing = None
    ) -> Value:
        array = self.b.array(x)
        shape, count = self.b.shape(array), array.type.ndim or 0
        windows = window_shape if isinstance(window_shape, tuple) else (window_shape,)
        sizes = [self.b.number(size) for size in windows]
        axes = self._axes(axis, count)
        if len(axes) != len(sizes):
            raise Refusal("a window has a length for each axis, or for each one that is given")
        one, lengths = self.b.constant(1), list(shape)
        for place, size in zip(axes, sizes, strict=True):
            less = self.b.scalar("sub", size, one)
            lengths[place] = self.b.scalar("sub", lengths[place], less)

        def at(index: list[Value]) -> Value:
            found = index[:count]
            for place, step in zip(axes, index[count:], strict=True):
                found[place] = self.b.scalar("add", found[place], step)
            return self.b.load(array, found)

        made = self.own_copy(Lazy(array.type.dtype, [*lengths, *sizes], at, [array]))
        if array is x:
            self.stands_for(made, array)
        return made

    def _axes(self, axis: Thing, count: int) -> list[int]:
        """Return the axes that an argument names; all of them for None."""
        if axis is None or (isinstance(axis, Static) and axis.value is None):
            return list(range(count))
        return [self._known_axis(n) % count for n in (axis if isinstance(axis, tuple) else (axis,))]

    # Elements of several arrays

    def _call_select(self, condlist: Thing, choicelist: Thing, default: Thing = None) -> Thing:
        if not isinstance(condlist, tuple) or not isinstance(choicelist, tuple):
            raise Refusal("np.select takes lists or tuples that are written out")
        if len(condlist) != len(choicelist):
            raise Refusal("np.select takes as many choices as conditions")
        rest: Thing = self.b.constant(0.0) if default is None else default
        dtype = self._dtype_of(choicelist)
        for condition, choice in list(zip(condlist, choicelist, strict=True))[::-1]:
            rest = self.b.elementwise(
                lambda *xs: self.b.scalar("select", *xs), (condition, choice, rest)
            )
        return self.b.computed(self.b.lazy(rest), dtype)

    def _dtype_of(self, choices: tuple) -> str:
        kinds = {self.b.lazy(choice).type.dtype for choice in choices}
        if len(kinds) != 1 or np.dtype(next(iter(kinds))).kind != "f":
            raise Refusal("np.select is understood of arrays of one dtype, of floats")
        return kinds.pop()

    def _call_iscomplexobj(self, thing: Thing) -> Value:
        return self.b.constant(False)

    def _call_isrealobj(self, thing: Thing) -> Value:
        return self.b.constant(True)

    def _call_isscalar(self, thing: Thing) -> Value:
        return self.b.constant(not is_array(thing) and not isinstance(thing, tuple))
