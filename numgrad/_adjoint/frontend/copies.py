"""Functions of NumPy that return an array itself or a copy of it, as `asarray` does: which of the
two a call returns, and which arrays must not be written afterwards."""

from collections.abc import Callable
from typing import Any

from ..builder.bases import bases
from ..builder.building import Builder
from ..builder.creation import dtype_name
from ..builder.things import Lazy, Thing, is_array
from ..builder.views import is_contiguous, root
from ..ssa.ir import Value
from ..ssa.refusal import Refusal


class Copies:
    """Reads calls of functions such as ``np.asarray``."""

    b: Builder
    transposed: Callable[[Value], Value]
    _call_array: Callable[..., Thing]
    _call_copy: Callable[..., Any]
    array_of: Callable[..., Value]
    view: Callable[..., Value]

    def _call_asarray(self, thing: Thing, dtype: Thing = None) -> Thing:
        is_same = isinstance(thing, Value) and thing.type.is_array and not thing.type.is_list
        if is_same and (dtype is None or dtype_name(dtype) == thing.type.dtype):
            return thing
        return self._call_array(thing, dtype)

    def _call_ascontiguousarray(self, thing: Thing) -> Thing:
        """A copy; of an array in one piece that is made here, the array itself."""
        if not isinstance(thing, Value):
            return self._call_copy(thing)
        base = root(thing)
        is_made = base is not None and base.op is not None
        if is_made and is_contiguous(thing):
            return thing
        made = self.own_copy(thing)
        if is_contiguous(thing):
            self.stands_for(made, thing)
        return made

    def _call_asfortranarray(self, thing: Thing) -> Thing:
        made = self.own_copy(thing)
        if isinstance(thing, Value):
            self.stands_for(made, thing)
        return made

    def own_copy(self, thing: Thing) -> Value:
        """A copy, whose stores are no writes of the user's."""
        before, self.b.is_own = self.b.is_own, True
        made = self._call_copy(thing)
        self.b.is_own = before
        return made

    def stands_for(self, made: Value, source: Value) -> None:
        """Note that a copy stands for what may be the array itself: neither may be written."""
        name = made.hint or source.hint or "the result"
        self.b.program.by_value.append(({id(made)} | bases(source), made, name))

    def _call_swapaxes(self, thing: Thing, one: Thing, other: Thing) -> Thing:
        axes = list(range(self.b.array(thing).type.ndim or 0))
        n, m = (self.b.number(axis).constant for axis in (one, other))
        if n is None or m is None:
            raise Refusal("the axes of np.swapaxes must be known when the kernel is compiled")
        axes[n], axes[m] = axes[m], axes[n]
        return self._call_transpose(thing, *map(self.b.constant, axes))

    def _call_atleast_1d(self, thing: Thing) -> Thing:
        return thing if is_array(thing) else self.array_of((thing,))

    def _call_atleast_2d(self, thing: Thing) -> Thing:
        array = self.b.array(self._call_atleast_1d(thing))
        return array if array.type.ndim != 1 else self.view(array, [None])

    def _call_atleast_3d(self, thing: Thing) -> Thing:
        array = self.b.array(self._call_atleast_2d(thing))
        return array if array.type.ndim != 2 else self.view(array, [slice(None), slice(None), None])

    def _call_moveaxis(self, thing: Thing, source: Thing, destination: Thing) -> Thing:
        count = self.b.array(thing).type.ndim or 0
        pairs = [t if isinstance(t, tuple) else (t,) for t in (source, destination)]
        first, last = ([self.b.number(axis).constant for axis in part] for part in pairs)
        if None in (*first, *last) or len(first) != len(last):
            raise Refusal("the axes of np.moveaxis must be known when the kernel is compiled")
        moved = dict(zip([n % count for n in last], [n % count for n in first], strict=True))
        rest = iter([n for n in range(count) if n not in moved.values()])
        axes = [moved[n] if n in moved else next(rest) for n in range(count)]
        return self._call_transpose(thing, *map(self.b.constant, axes))

    def _call_transpose(self, thing: Thing, *axes: Thing) -> Thing:
        array = self.b.array(thing)
        places = [self.b.number(axis).constant for axis in axes_of(axes)]
        if places in ([], list(range(array.type.ndim or 0))[::-1]):
            return self.transposed(array)
        if sorted(map(repr, places)) != sorted(map(repr, range(array.type.ndim or 0))):
            raise Refusal("the axes of np.transpose must be known when the kernel is compiled")
        shape = self.b.shape(array)
        lazy = Lazy(
            array.type.dtype, [shape[p] for p in places],
            lambda index: self.b.load(array, [index[places.index(n)] for n in range(len(places))]),
            [array],
        )  # fmt: skip
        made = self.own_copy(lazy)
        if array is thing:
            self.stands_for(made, array)
        return made


def axes_of(axes: tuple) -> tuple:
    """Return the axes of a call of ``transpose``, which may be several arguments or one tuple."""
    return axes[0] if len(axes) == 1 and isinstance(axes[0], tuple) else axes
