"""Sums of arrays that are zero but for one part, as the gradient of an array that a loop reads
part by part.

Each term is added to the whole array, which takes a time that grows with the square of the number
of elements. Here the terms are added part by part, and the array is made once, of the parts. Parts
that overlap, as the windows `u[t:t+3]`, are cut into *cells*: two parts have a cell in common, or
no element of it.

Bits are those of the sum of whole arrays. There each element is added to zeros, before or after the
terms that it has itself. That changes one value alone: -0.0 becomes 0.0, and is never met again, as
a sum is -0.0 only where both of its terms are.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import chain, pairwise, product
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..fusion.boxes import Bounds, Box, Boxes, whole_of
from ..graph.runtime import runtime
from ..graph.value import Expr, Shape, Spec, spec_of
from .builder import MOST_PARTS
from .parts import Filled, Source, Store

_MOST_CELLS = 16
"""The most cells of a part in the mean: more take more instructions than they save."""


_Key: TypeAlias = tuple[tuple[int, int, int], ...]


class _Axis(NamedTuple):
    """The positions that a part has along an axis of the array."""

    start: int
    size: int
    step: int
    is_dropped: bool

    def ends(self) -> list[int]:
        """Return where the pieces of the axis begin and end that have to be cells of their own."""
        if self.step == 1:
            return [self.start, self.start + self.size]
        places = range(self.start, self.start + self.size * self.step, self.step)
        return [end for place in places for end in (place, place + 1)]

    def pieces(self, cuts: Sequence[int]) -> list[tuple[int, int, int]]:
        """Return the pieces between cuts of the axis: their bounds in the array, and where each
        begins among the positions of the part."""
        if self.step != 1:
            places = [self.start + n * self.step for n in range(self.size)]
            return [(place, place + 1, n) for n, place in enumerate(places)]
        first, last = (bisect_left(cuts, end) for end in self.ends())
        inner = cuts[first : last + 1]
        return [(low, high, low - self.start) for low, high in pairwise(inner)]


class _Part(NamedTuple):
    """An array of zeros, which a rule has, with a value at positions along each axis."""

    axes: tuple[_Axis, ...]
    value: Source
    zeros: Any

    def boxes(self, cuts: Sequence[Sequence[int]]) -> "list[tuple[Box, _Key | None]]":
        """Return the boxes of the part, given the cuts of each axis, and for each the slices of the
        value that is added there; None for the whole value."""
        dropped = tuple([axis.is_dropped for axis in self.axes])
        pieces = [axis.pieces(each) for axis, each in zip(self.axes, cuts, strict=True)]
        if all([len(each) == 1 for each in pieces]):  # noqa: C419  a list is faster
            return [(Box(tuple([(low, high) for ((low, high, _),) in pieces]), dropped), None)]
        return [self._box(each, dropped) for each in product(*pieces)]

    def is_columns(self, shape: Shape) -> bool:
        """Whether the part is a few columns, or some side by side, of an array with a shape."""
        *others, last = self.axes
        few = last.step == 1 or last.size <= _MOST_CELLS
        pairs = zip(others, shape[:-1], strict=True)
        return few and all([axis.size == size for axis, size in pairs])  # noqa: C419

    @staticmethod
    def _box(
        pieces: Sequence[tuple[int, int, int]], dropped: tuple[bool, ...]
    ) -> "tuple[Box, _Key]":
        bounds = tuple([(low, high) for low, high, _ in pieces])
        each = zip(pieces, dropped, strict=True)
        key = tuple([(at, at + high - low, 1) for (low, high, at), drops in each if not drops])
        return Box(bounds, dropped), key


class _Cell(NamedTuple):
    """A box of an array, and what is added there: the slices ``key`` of a value, None for all."""

    box: Box
    value: Source
    key: _Key | None

    @property
    def spec(self) -> Spec:
        """The spec of what is added."""
        if self.key is None:
            return self.value.spec
        spec = self.value.spec
        shape = tuple([stop - start for start, stop, _ in self.key])
        return spec_of(shape, spec.dtype, spec.rows, spec.device)


class _Sum:
    """A sum of parts, in the order in which they are added.

    Attributes
    ----------
    parts : list of (Expr, _Part)
        The parts. The first one has its own expression, others that which adds them.
    cells : list of list of _Cell
        The cells of each part.
    totals : dict
        The sums so far of the terms of each cell.
    last : dict
        The number of the last part of each cell.
    filled : Filled or None
        The array with the sums, once it is begun.
    is_covered : bool
        Whether the cells are all of the array.
    pure : dict
        The cells of the first part to which no zeros have been added so far.
    """

    __slots__ = ("cells", "filled", "is_covered", "last", "parts", "pure", "totals")

    def __init__(self, expr: Expr, part: _Part) -> None:
        self.parts = [(expr, part)]
        self.cells: list[list[_Cell]] = []
        self.totals: dict[Bounds, Source] = {}
        self.last: dict[Bounds, int] = {}
        self.filled: Filled | None = None
        self.is_covered = False
        self.pure: dict[Bounds, _Cell] = {}

    def cut(self) -> bool:
        """Cut the parts into cells; return whether adding part by part is expected to pay.

        There must be many parts, but few cells of each. Of columns there may be as few as two, if
        these are the whole array: then nothing is added to zeros, and no element is written twice.
        """
        is_short = len(self.parts) <= MOST_PARTS
        if is_short and not self._are_columns():
            return False
        # Most parts have their axes in common with many others: each list of axes is cut once.
        parts = {id(part.axes): part for _, part in self.parts}
        ends = {n: [axis.ends() for axis in part.axes] for n, part in parts.items()}
        boxes = {
            n: part.boxes([sorted(set(each)) for each in ends[n]]) for n, part in parts.items()
        }
        if not self._are_apart([box for each in boxes.values() for box, _ in each]):
            pairs = zip(*ends.values(), strict=True)
            together = [sorted(set(chain.from_iterable(axis))) for axis in pairs]
            boxes = {n: part.boxes(together) for n, part in parts.items()}
            if len({box.dropped for each in boxes.values() for box, _ in each}) > 1:
                return False
        self.cells = [
            [_Cell(box, part.value, key) for box, key in boxes[id(part.axes)]]
            for _, part in self.parts
        ]
        for n, cells in enumerate(self.cells):
            self.last.update([(cell.box.bounds, n) for cell in cells])
        count = sum(map(len, self.cells))
        whole = prod(self.parts[0][0].specs[0].shape)
        covered = sum([prod([high - low for low, high in bounds]) for bounds in self.last])
        self.is_covered = covered == whole
        return count <= _MOST_CELLS * len(self.cells) and (self.is_covered or not is_short)

    def _are_columns(self) -> bool:
        """Whether all parts differ along the last axis alone, of several axes."""
        shape = self.parts[0][0].specs[0].shape
        return len(shape) > 1 and all([part.is_columns(shape) for _, part in self.parts])  # noqa: C419

    def _are_apart(self, boxes: Sequence[Box]) -> bool:
        """Whether two boxes have the same elements, or none in common."""
        known: dict[Bounds, Box] = {}
        if any([known.setdefault(box.bounds, box) != box for box in boxes]):  # noqa: C419
            return False
        along = [spans for spans in zip(*known, strict=True) if len(set(spans)) > 1]
        if len(along) == 1:
            return all([one[1] <= other[0] for one, other in pairwise(sorted(along[0]))])  # noqa: C419
        found: Boxes[None] = Boxes(whole_of(self.parts[0][0].specs[0].shape).bounds)
        for bounds in known:
            if found.overlapping(bounds):
                return False
            found.add(bounds, None)
        return True


class _ByParts:
    """The expressions of a program, with others in the place of sums.

    Attributes
    ----------
    items : list of Expr or Store
        What is to be lowered, in order.
    """

    def __init__(self, exprs: Sequence[Expr], sums: Sequence[_Sum]) -> None:
        self.items: list[Any] = []
        self._zeros: dict[Any, Any] = {}
        places = {expr: (found, n) for found in sums for n, (expr, _) in enumerate(found.parts)}
        terms = {expr.inputs[1] for expr, (_, n) in places.items() if n}
        others = terms.union(places)
        before = 0
        for at in [n for n, expr in enumerate(exprs) if expr in others]:
            self.items += exprs[before:at]
            before, place = at + 1, places.get(exprs[at])
            if place is not None:
                self._append(exprs[at], *place)
        self.items += exprs[before:]

    def _append(self, expr: Expr, found: _Sum, n: int) -> None:
        """Append what adds part number ``n`` of a sum; ``expr`` is the expression that did so."""
        if n == 0:
            for cell in found.cells[0]:
                found.totals[cell.box.bounds] = self._term(expr, cell)
                found.pure[cell.box.bounds] = cell
            return
        if found.pure:
            self._add_zeros(expr, found, n)
        is_end = n == len(found.parts) - 1
        for cell in found.cells[n]:
            if cell.box.bounds not in found.totals:
                found.totals[cell.box.bounds] = self._zero(cell.spec)
            self._add(expr, found, cell, self._term(expr, cell))
            if is_end or cell.box.bounds not in found.pure:
                self._store(found, n, cell.box)

    def _add_zeros(self, expr: Expr, found: _Sum, n: int) -> None:
        """Append what adds zeros to the cells of the first part that part number ``n`` has not."""
        here = {cell.box.bounds for cell in found.cells[n]}
        for bounds in [bounds for bounds in found.pure if bounds not in here]:
            cell = found.pure.pop(bounds)
            self._add(expr, found, cell, self._zero(cell.spec))
            self._store(found, n - 1, cell.box)

    def _store(self, found: _Sum, n: int, box: Box) -> None:
        """Append the write of the sum of a cell if part number ``n`` is its last one, or later."""
        if found.last[box.bounds] > n:
            return
        if found.filled is None:
            end, zeros = found.parts[-1][0], found.parts[0][1].zeros
            if zeros.shape != end.shape:
                zeros = runtime.value(np.broadcast_to(zeros.array, end.shape))
            found.filled = Filled(zeros, end, found.is_covered)
        total = found.totals.pop(box.bounds)
        is_last = n == len(found.parts) - 1 and not found.totals
        self.items.append(Store(found.filled, box, total, is_last))

    def _term(self, expr: Expr, cell: _Cell) -> Source:
        """Return what a part adds to a cell, an expression or a value."""
        if cell.key is None:
            return cell.value
        static, index = {"key": cell.key}, runtime.roles.index
        return self._made(expr, index, static, (cell.value,), cell)

    def _add(self, expr: Expr, found: _Sum, cell: _Cell, term: Source) -> None:
        """Append what adds a term to the sum so far of a cell."""
        bounds = cell.box.bounds
        inputs = found.totals[bounds], term
        found.totals[bounds] = self._made(expr, runtime.roles.add, {}, inputs, cell)

    def _made(self, expr: Expr, operator: Any, static: Any, inputs: Any, cell: _Cell) -> Expr:
        """Append a new expression of what a cell gets, with the line of ``expr``; return it."""
        made = Expr(operator, static, inputs, (cell.spec,))
        made.site = expr.site
        self.items.append(made)
        return made

    def _zero(self, spec: Spec) -> Any:
        """Return a zero that is added to a value of a spec."""
        key = len(spec.shape), spec.dtype
        if key not in self._zeros:
            self._zeros[key] = runtime.value(np.zeros((1,) * len(spec.shape), spec.dtype))
        return self._zeros[key]


def scattered_sums_of(exprs: Sequence[Expr], ends: Sequence[Source]) -> list[Any] | None:
    """Return what is to be lowered for the expressions of a program: part by part, where sums have
    terms that are zero but for one part. None where there are no such sums."""
    into_zeros = [e for e in exprs if getattr(e.operator, "write_into_zeros", None) is not None]
    known: dict[Any, tuple[_Axis, ...] | None] = {}
    written = {expr: part for expr in into_zeros if (part := _part_of(expr, known)) is not None}
    if len(written) < 2:
        return None
    add = runtime.roles.add
    adds = [e for e in exprs if e.operator is add and e.inputs[1] in written]
    times = _times_read(exprs, ends, {*written, *adds})
    parts = {expr: part for expr, part in written.items() if times[expr] == 1}
    sums = [s for s in _sums(adds, parts, times) if s.cut()]
    return _ByParts(exprs, sums).items if sums else None


def _times_read(
    exprs: Sequence[Expr], ends: Sequence[Source], counted: Collection[Expr]
) -> Counter[Expr]:
    """Return how often each expression of ``counted`` is read."""
    read = [*chain.from_iterable([expr.inputs for expr in exprs]), *ends]
    sources = [value if type(value) is Expr else value.expr for value in read]
    return Counter(filter(counted.__contains__, sources))


def _sums(
    adds: Sequence[Expr], parts: Mapping[Expr, _Part], times: Mapping[Any, int]
) -> list[_Sum]:
    """Return the longest sums of parts, of which nothing else reads what is added up so far.

    ``adds`` are the expressions that add a part, or another array that is zero but for one part.
    """
    sums = dict[Expr, _Sum]()
    for expr in adds:
        part = parts.get(expr.inputs[1])
        if part is None:
            continue
        x = expr.inputs[0]
        found = sums.pop(x, None) if times[x] == 1 else None
        if found is None and x in parts:
            found = _Sum(x, parts[x])
        if found is not None and found.parts[0][0].specs == expr.specs:
            found.parts.append((expr, part))
            sums[expr] = found
    return list(sums.values())


def _part_of(expr: Expr, known: dict[Any, tuple[_Axis, ...] | None]) -> _Part | None:
    """Return the part that an expression writes into zeros; None where it is no box.

    ``known`` has the axes of parts by the rule and the spec of the value, and gets those of others.
    """
    zeros, key, position = expr.operator.write_into_zeros
    value, (spec,) = expr.inputs[position], expr.specs
    about = expr.operator, value.spec, spec
    if about in known:
        axes = known[about]
    else:
        axes = known[about] = _axes_between(zeros, key, value.spec, spec)
    return None if axes is None else _Part(axes, value, zeros)


def _axes_between(zeros: Any, key: Sequence[Any], part: Spec, whole: Spec) -> Any:
    """Return the axes of a part with a spec that a rule writes at a key into ``zeros``, an array of
    which the last axes are named by the key; None where the part is no box."""
    lead = len(whole.shape) - len(zeros.shape)
    axes = _axes_of(key, whole.shape) if whole.shape[lead:] == zeros.shape else None
    if axes is None or part.rows != whole.rows or part.dtype != whole.dtype:
        return None
    shape = tuple([axis.size for axis in axes if not axis.is_dropped])
    return axes if part.shape == shape else None


def _axes_of(key: Sequence[Any], shape: tuple[int, ...]) -> tuple[_Axis, ...] | None:
    """Return the positions along each axis that a key of integers and slices selects from the last
    axes of an array; None for a key with new axes, and for an empty selection."""
    lead = len(shape) - len(key)
    axes = [_Axis(0, size, 1, False) for size in shape[:lead]]
    for item, size in zip(key, shape[lead:], strict=False):
        if item is None:
            return None
        if isinstance(item, int):
            axes.append(_Axis(item % size, 1, 1, True))
            continue
        places = range(size)[slice(*item)]
        if not places:
            return None
        axes.append(_Axis(places.start, len(places), places.step if len(places) > 1 else 1, False))
    return tuple(axes)


__all__ = ["scattered_sums_of"]
