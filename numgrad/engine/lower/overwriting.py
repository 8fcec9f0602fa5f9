"""Many writes into parts of one array, as a series ``x[t] = y`` in a loop.

Each write is an expression of its own: the array before it with one part overwritten. A few parts
stay where they are (`builder.Builder.join`), many would be copied again and again. So what reads a
part as it was written reads the value that was written there; what reads a *window*, of several
parts side by side, reads their values joined; and an array that is read as a whole is one buffer,
which gets all parts that were written since it was last read so.
"""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from math import prod
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from ..fusion.boxes import Bounds, Box, Boxes, box_of, intersection, slices
from ..graph.runtime import runtime
from ..graph.value import Expr
from .builder import MOST_PARTS
from .parts import Filled, Source, Store


class Write(NamedTuple):
    """An expression that overwrites a box of an array, and the value that is written there."""

    expr: Expr
    box: Box
    value: Source


class _Window(NamedTuple):
    """Where a part of an array was written in several boxes side by side along an axis.

    Attributes
    ----------
    axis : int
    dropped : tuple of bool
        For each axis of the array whether what reads the part drops the axis.
    pieces : tuple of (tuple, tuple)
        For each box the slices (start, stop and step) that select its elements from the value that
        was written, and the axes that the value lacks.
    """

    axis: int
    dropped: tuple[bool, ...]
    pieces: tuple[tuple[tuple[tuple[int, int, int], ...], tuple[int, ...]], ...]

    def joined(self, builder: Any, operands: Sequence[Any]) -> Sequence[Any]:
        """Append the instructions that join the values of the boxes; return the part."""
        parts = []
        for operand, (key, missing) in zip(operands, self.pieces, strict=True):
            view = partial(_seen, key=(..., *[slice(*item) for item in key]), missing=missing)
            parts.append(builder.plain(operand).view(view))
        rows = any([part.buffer.rows for part in parts])  # noqa: C419  a list is faster
        whole = builder.copied(builder.join(self.axis - len(self.dropped), parts), rows)
        key = tuple([0 if drops else slice(None) for drops in self.dropped])
        return [whole.view(itemgetter((..., *key)))]


def _seen(array: np.ndarray, key: Any, missing: tuple[int, ...]) -> np.ndarray:
    """Return the elements of a key, with axes added: a view, for an array without axes as well."""
    return np.expand_dims(array[key], missing)


class _Array:
    """An array that is written part by part.

    Attributes
    ----------
    base : expression or value
        The array before the first write.
    writes : list of Write
    head : Expr
        The array after the last write.
    """

    __slots__ = ("_largest", "_parts", "_sizes", "base", "writes")

    def __init__(self, base: Source, shape: Sequence[int]) -> None:
        self.base, self.writes = base, list[Write]()
        self._largest = 0
        self._sizes: set[tuple[int, ...]] = set()
        self._parts: Boxes[Write] = Boxes(tuple([(0, size) for size in shape]))

    @property
    def head(self) -> Expr:
        return self.writes[-1].expr

    def add(self, write: Write) -> None:
        self.writes.append(write)
        self._sizes.add(write.box.sizes)
        self._largest = max(self._largest, prod(write.box.sizes))
        bounds = write.box.bounds
        for other in self._parts.take(bounds):
            if not _is_within(other.box, write.box):
                self._parts.add(other.box.bounds, other)
        self._parts.add(bounds, write)

    def may_have(self, source: Source, box: Box) -> bool:
        """Whether ``source`` is the array after the last write so far, and boxes of these sizes
        were written."""
        return self.head is source and box.sizes in self._sizes

    def latest(self, box: Box) -> Write | None:
        """Return the last write to a box or to a part of it."""
        return self._parts.latest(box.bounds)

    def window(self, box: Box) -> tuple[_Window, list[Source]] | None:
        """Return how the elements of a box were written in boxes side by side, and the values of
        these; None where they were written in another way."""
        if prod(box.sizes) > MOST_PARTS * self._largest:  # more boxes than may be joined
            return None
        writes = self._parts.touching(box.bounds)
        regions = [intersection(write.box.bounds, box.bounds) for write in writes]
        order = sorted(range(len(writes)), key=regions.__getitem__)
        axis = _axis_along([regions[n] for n in order], box.bounds)
        if axis is None or not all([_is_plain(write) for write in writes]):  # noqa: C419
            return None
        pieces = tuple([_piece(writes[n].box, regions[n]) for n in order])
        return _Window(axis, box.dropped, pieces), [writes[n].value for n in order]


class Overwriting:
    """The arrays of a program that are written in many parts.

    Attributes
    ----------
    sources : dict
        For each expression that reads a part as it was written the value there.
    unwritten : dict
        For each expression that reads a part that was not written the array before the writes.
    stores : dict
        For each expression of a write to an array that is read as a whole later, the `Filled`
        array and the write.
    windows : dict
        For each expression that reads parts side by side the `_Window` and the values there.
    without : set of Expr
        The expressions of writes that are not lowered one by one.
    """

    def __init__(self, exprs: Sequence[Expr], ends: Sequence[Source]) -> None:
        self._arrays: dict[Expr, _Array] = {}
        self._wholes: set[Expr] = set()
        found: dict[Expr, Source] = {}
        before: dict[Expr, Source] = {}
        joined: dict[Expr, Any] = {}
        for expr in exprs:
            self._note(expr, found, before, joined)
        for value in ends:
            self._note_whole(value)
        long = {id(a): a for a in self._arrays.values() if len(a.writes) > MOST_PARTS}
        self.sources, self.unwritten, self.windows = [
            {e: source for e, source in table.items() if id(self._arrays[e.inputs[0]]) in long}
            for table in (found, before, joined)
        ]
        self.stores: dict[Expr, tuple[Filled, Write]] = {}
        self.without: set[Expr] = set()
        for array in long.values():
            self._split(array)

    def _note(
        self, expr: Expr, found: dict[Expr, Source], before: dict[Expr, Source],
        joined: dict[Expr, Any],
    ) -> None:  # fmt: skip
        """Note what an expression writes and reads."""
        first = expr.inputs[0] if expr.inputs else None
        write = _write_of(expr)
        if write is not None:
            array = self._arrays.get(first) if type(first) is Expr else None
            if array is None or array.head is not first:
                self._note_whole(first)
                array = _Array(first, expr.specs[0].shape)
            array.add(write)
            self._arrays[expr] = array
            self._note_whole(write.value)
            return
        array = self._arrays.get(first) if type(first) is Expr else None
        box = None if array is None else _box_read(expr)
        if array is not None and box is not None and array.may_have(first, box):
            latest = array.latest(box)
            if latest is None:
                before[expr] = array.base
                return
            if latest.box.bounds == box.bounds and latest.value.spec == expr.specs[0]:
                found[expr] = latest.value
                return
        if array is not None and box is not None and array.head is first:
            window = array.window(box)
            if window is not None:
                joined[expr] = window
                return
        for source in expr.inputs:
            self._note_whole(source)

    def _note_whole(self, source: Source) -> None:
        """Note that a value is read as a whole."""
        expr = source if type(source) is Expr else source.expr if source.array is None else None
        if expr in self._arrays:
            self._wholes.add(expr)

    def _split(self, array: _Array) -> None:
        """Split the writes to an array where it is read as a whole."""
        before, since = array.base, list[Write]()
        for write in array.writes:
            since.append(write)
            if write.expr not in self._wholes:
                continue
            if len(since) > MOST_PARTS:
                filled = Filled(before, write.expr)
                self.stores.update({each.expr: (filled, each) for each in since})
            before, since = write.expr, []
        self.without.update([each.expr for each in since])  # only their parts are read

    def exprs(self) -> set[Expr]:
        """Return the expressions that read or make an array written in many parts."""
        return {*self.sources, *self.unwritten, *self.windows, *self.stores, *self.without}

    def lower(self, lowering: Any, expr: Expr) -> None:
        """Lower one of these expressions."""
        if expr in self.sources:
            lowering.known[expr] = lowering.place(self.sources[expr])
        elif expr in self.windows:
            window, values = self.windows[expr]
            places = [lowering.place(value) for value in values]
            made = lowering.append(window, places, window.joined, expr.site)
            lowering.known[expr] = made
        elif expr in self.unwritten:
            read = Expr(expr.operator, expr.static, (self.unwritten[expr],), expr.specs)
            read.site, read.kind = expr.site, expr.kind
            lowering.apply(read)
            lowering.known[expr] = lowering.known[read]
        elif expr in self.stores:
            filled, write = self.stores[expr]
            Store(filled, write.box, write.value, expr is filled.end).lower(lowering)


def overwriting_of(exprs: Sequence[Expr], ends: Sequence[Source]) -> Overwriting | None:
    """Return the arrays of a program that are written in many parts; None where there are none.

    Parameters
    ----------
    exprs : sequence of Expr
        All that is computed, in order.
    ends : sequence
        The results.
    """
    put = runtime.roles.put_view
    count = sum([expr.operator is put for expr in exprs])
    if count <= MOST_PARTS:
        return None
    made = Overwriting(exprs, ends)
    return made if made.without or made.stores else None


def _write_of(expr: Expr) -> Write | None:
    """Return the write of a box that an expression is; None for others."""
    if expr.operator is not runtime.roles.put_view:
        return None
    x, v = expr.inputs
    (spec,) = expr.specs
    chain = expr.static["chain"]
    if x.spec != spec or v.spec.rows != spec.rows or v.spec.dtype != spec.dtype:
        return None
    if len(chain) != 1 or chain[0][0] is not runtime.roles.index:
        return None
    box = selected(dict(chain[0][1])["key"], spec.shape)
    if box is None or len(v.spec.shape) != len(spec.shape) - sum(box.dropped):
        return None
    return Write(expr, box, v)


def _box_read(expr: Expr) -> Box | None:
    """Return the box that an expression reads; None for others."""
    if expr.operator not in (runtime.roles.index, runtime.roles.element):
        return None
    return selected(expr.static["key"], expr.inputs[0].spec.shape)


def selected(key: tuple[Any, ...], shape: tuple[int, ...]) -> Box | None:
    """Return the box that a key selects; None for a key with new axes or steps."""
    return None if None in key else box_of(key, shape)


def _axis_along(regions: Sequence[Bounds], bounds: Bounds) -> int | None:
    """Return the axis along which regions lie side by side and fill ``bounds``; None if they do
    not."""
    if not regions:
        return None
    apart = [n for n, whole in enumerate(bounds) if any([r[n] != whole for r in regions])]  # noqa: C419
    axis = apart[0] if apart else 0
    spans = [region[axis] for region in regions]
    joined = spans[0][0], spans[-1][1]
    ends_meet = all([one[1] == other[0] for one, other in pairwise(spans)])  # noqa: C419
    return axis if len(apart) <= 1 and joined == bounds[axis] and ends_meet else None


def _is_plain(write: Write) -> bool:
    """Whether the value that was written has the very shape of its box."""
    sizes = zip(write.box.sizes, write.box.dropped, strict=True)
    return write.value.spec.shape == tuple([size for size, drops in sizes if not drops])


def _piece(box: Box, region: Bounds) -> tuple[tuple[tuple[int, int, int], ...], tuple[int, ...]]:
    """Return the slices that select a region from the value of a box, and the axes that the value
    lacks."""
    each = zip(slices(region, box.bounds), box.dropped, strict=True)
    selected = tuple([item for item, drops in each if not drops])
    return selected, tuple([n for n, drops in enumerate(box.dropped) if drops])


def _is_within(one: Box, other: Box) -> bool:
    pairs = zip(one.bounds, other.bounds, strict=True)
    return all([low >= start and high <= stop for (low, high), (start, stop) in pairs])  # noqa: C419

