"""Sums of arrays that are zero but for one part, as the gradient of an array that a loop reads
element by element.

Each term is added to the whole array, which takes a time that grows with the square of the number
of elements. Here the terms are added part by part, and the array is made once, of the parts.

Bits are those of the sum of whole arrays. There each element is added to zeros, before or after the
terms that it has itself. That changes one value alone: -0.0 becomes 0.0, and is never met again, as
a sum is -0.0 only where both of its terms are.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ..fusion.boxes import Bounds, Box, Boxes, whole_of
from ..graph.runtime import runtime
from ..graph.value import Expr, Spec
from .builder import MOST_PARTS
from .overwriting import Filled, Source, selected


class _Part(NamedTuple):
    """An array of zeros, which a rule has, with a value in a box."""

    box: Box
    value: Source
    zeros: Any


class _Sum:
    """A sum of parts, in the order in which they are added.

    Attributes
    ----------
    parts : list of (Expr, _Part)
        The parts. The first one has its own expression, others that which adds them.
    totals : dict
        The sums so far of the terms of each box.
    last : dict
        The number of the last part of each box.
    filled : Filled or None
        The array with the sums, once it is begun.
    is_first_alone : bool
        Whether all terms so far are those of the first box, to which no zeros have been added.
    """

    __slots__ = ("filled", "is_first_alone", "last", "parts", "totals")

    def __init__(self, expr: Expr, part: _Part) -> None:
        self.parts = [(expr, part)]
        self.totals: dict[Bounds, Source] = {}
        self.last: dict[Bounds, int] = {}
        self.filled: Filled | None = None
        self.is_first_alone = True

    def is_apart(self) -> bool:
        """Whether two parts are of the same elements, or have none in common."""
        boxes: dict[Bounds, Box] = {}
        found: Boxes[None] = Boxes(whole_of(self.parts[0][0].specs[0].shape).bounds)
        for _, part in self.parts:
            bounds = part.box.bounds
            if boxes.setdefault(bounds, part.box) != part.box:
                return False
            if len(boxes) > len(found):
                if found.overlapping(bounds):
                    return False
                found.add(bounds, None)
        return True


class ScatteredSums:
    """The sums of a program whose terms are zero but for one part."""

    def __init__(self, sums: Sequence[_Sum]) -> None:
        self._places: dict[Expr, tuple[_Sum, int]] = {}
        self._terms: set[Expr] = set()
        self._zeros: dict[Any, Any] = {}
        for found in sums:
            for n, (expr, part) in enumerate(found.parts):
                self._places[expr] = found, n
                found.last[part.box.bounds] = n
                if n:
                    self._terms.add(expr.inputs[1])

    def exprs(self) -> set[Expr]:
        """Return the expressions that are a part of such a sum."""
        return {*self._places, *self._terms}

    def lower(self, lowering: Any, expr: Expr) -> None:
        """Lower one of these expressions."""
        if expr not in self._places:
            return
        found, n = self._places[expr]
        first, part = found.parts[0][1], found.parts[n][1]
        if n == 0:
            found.totals[first.box.bounds] = first.value
            return
        if found.is_first_alone and part.box != first.box:
            found.is_first_alone = False
            self._add(lowering, expr, found, first, self._zero(first.value.spec))
            self._store(lowering, found, n - 1, first.box)
        found.totals.setdefault(part.box.bounds, self._zero(part.value.spec))
        self._add(lowering, expr, found, part, part.value)
        is_end = n == len(found.parts) - 1
        if is_end or not found.is_first_alone:
            self._store(lowering, found, n, part.box)
        if is_end:
            assert found.filled is not None, "the last part is stored"
            lowering.known[expr] = found.filled.whole

    def _store(self, lowering: Any, found: _Sum, n: int, box: Box) -> None:
        """Write the sum of a box into the array if part number ``n`` is its last one, or later."""
        if found.last[box.bounds] > n:
            return
        if found.filled is None:
            found.filled = Filled(found.parts[0][1].zeros, found.parts[-1][0])
        found.filled.store(lowering, box, found.totals.pop(box.bounds))

    def _add(self, lowering: Any, expr: Expr, found: _Sum, part: _Part, term: Source) -> None:
        """Add a term to the sum so far of the box of a part."""
        bounds = part.box.bounds
        made = Expr(expr.operator, {}, (found.totals[bounds], term), (part.value.spec,))
        made.site = expr.site
        lowering.apply(made)
        found.totals[bounds] = made

    def _zero(self, spec: Spec) -> Any:
        """Return a zero that is added to a value of a spec."""
        key = len(spec.shape), spec.dtype
        if key not in self._zeros:
            self._zeros[key] = runtime.value(np.zeros((1,) * len(spec.shape), spec.dtype))
        return self._zeros[key]


def scattered_sums_of(exprs: Sequence[Expr], ends: Sequence[Source]) -> ScatteredSums | None:
    """Return the sums of a program whose terms are zero but for one part; None where there are
    none."""
    into_zeros = [e for e in exprs if getattr(e.operator, "write_into_zeros", None) is not None]
    written = [(expr, part) for expr in into_zeros if (part := _part_of(expr)) is not None]
    if len(written) <= MOST_PARTS:
        return None
    read = chain(chain.from_iterable([expr.inputs for expr in exprs]), ends)
    times = Counter([source if type(source) is Expr else source.expr for source in read])
    parts = {expr: part for expr, part in written if times[expr] == 1}
    sums = [s for s in _sums(exprs, parts, times) if len(s.parts) > MOST_PARTS and s.is_apart()]
    return ScatteredSums(sums) if sums else None


def _sums(
    exprs: Sequence[Expr], parts: Mapping[Expr, _Part], times: Mapping[Any, int]
) -> list[_Sum]:
    """Return the longest sums of parts, of which nothing else reads what is added up so far."""
    add, sums = runtime.roles.add, dict[Expr, _Sum]()
    for expr in exprs:
        part = parts.get(expr.inputs[1]) if expr.operator is add else None
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


def _part_of(expr: Expr) -> _Part | None:
    """Return the part that an expression writes into zeros; None where it is no box."""
    zeros, key, position = expr.operator.write_into_zeros
    value, (spec,) = expr.inputs[position], expr.specs
    box = selected(key, spec.shape) if zeros.shape == spec.shape else None
    if box is None or value.spec.rows != spec.rows or value.spec.dtype != spec.dtype:
        return None
    sizes = zip(box.sizes, box.dropped, strict=True)
    shape = tuple([size for size, is_dropped in sizes if not is_dropped])
    return _Part(box, value, zeros) if value.spec.shape == shape else None


__all__ = ["ScatteredSums", "scattered_sums_of"]
