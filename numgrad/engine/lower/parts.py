"""Parts of arrays that a program reads, or writes one by one.

Parts that differ only in where they begin have one *form*: so a loop over the parts of an array is
known as the repetition of one turn.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

from ...ir.program import Layout, Ref, contiguous_strides, layout_of
from ..fusion.boxes import Box
from ..graph.value import Expr

Source: TypeAlias = Any  # an expression or a value


def form_of(expr: Expr) -> tuple[Any, int]:
    """Return the form of the part that an index reads, and the position in the array, counted in C
    order, of the first element of the part."""
    return expr.operator.by_position[0](expr.inputs, expr.static)  # type: ignore[no-any-return]


def form_kind(expr: Expr) -> tuple[tuple[Any, ...], int]:
    """Return what is equal for indices that differ in the array and in where they begin alone, and
    where they begin."""
    form, first = form_of(expr)
    return (expr.operator, form, expr.inputs[0].spec, expr.specs), first


class Filled:
    """An array that is made part by part, in a buffer of its own.

    Parameters
    ----------
    before : expression or value
        The array with elements for all that is not written.
    end : Expr
        The expression of the array with all parts.
    is_covered : bool
        Whether the parts are all of the array, so that nothing remains of ``before``.
    """

    __slots__ = ("_before", "_is_covered", "_layouts", "_strides", "end", "whole")

    def __init__(self, before: Source, end: Expr, is_covered: bool = False) -> None:
        self._before, self.end, self._is_covered = before, end, is_covered
        self.whole: Any = None
        (spec,) = end.specs
        self._strides = contiguous_strides(spec.shape, spec.dtype.itemsize)
        self._layouts: dict[Any, Any] = {}

    def begin(self, lowering: Any) -> Ref:
        """Return the place of the array; at first append the copy of what is not written."""
        if self.whole is None:
            (spec,) = self.end.specs
            if self._is_covered:
                self.whole = lowering.new(spec)
            else:
                self.whole = lowering.copy(lowering.place(self._before), spec.rows, self.end.site)
        return self.whole

    def region(self, box: Box) -> tuple[int, Layout]:
        """Return where a box begins in the array, in bytes, and the layout of the box there."""
        sizes, dropped = box.sizes, box.dropped
        begin = sum([low * step for (low, _), step in zip(box.bounds, self._strides, strict=True)])
        layout = self._layouts.get((sizes, dropped))
        if layout is None:
            (spec,) = self.end.specs
            shape = tuple([size for size, drops in zip(sizes, dropped, strict=True) if not drops])
            pairs = zip(self._strides, dropped, strict=True)
            strides = tuple([step for step, drops in pairs if not drops])
            layout = layout_of(shape, strides, spec.dtype, spec.rows)
            self._layouts[sizes, dropped] = layout
        return begin, layout


class Store:
    """The write of a value into a box of an array that is made part by part.

    A store is lowered as expressions are, and stands among them.

    Parameters
    ----------
    array : Filled
    box : Box
    value : expression or value
    is_last : bool
        Whether the array has all parts with this one.

    Attributes
    ----------
    begin : int
        Where the box begins in the array, in bytes.
    """

    __slots__ = ("_layout", "array", "begin", "inputs", "is_last")

    def __init__(self, array: Filled, box: Box, value: Source, is_last: bool) -> None:
        self.array, self.inputs, self.is_last = array, (value,), is_last
        self.begin, self._layout = array.region(box)

    @property
    def site(self) -> Any:
        return self.array.end.site

    @property
    def kind(self) -> Any:
        """What is equal for writes that differ in the value and in where they write alone; None for
        the last write."""
        return None if self.is_last else (self.array, self._layout)

    def lower(self, lowering: Any) -> None:
        """Append the instruction of the write to a program."""
        whole = self.array.begin(lowering)
        region = Ref(whole.buffer, self.begin, self._layout)
        places = [lowering.place(self.inputs[0]), region]
        lowering.known[self] = lowering.append("store", places, _copy_over, self.site)
        if self.is_last:
            lowering.known[self.array.end] = whole


def _copy_over(builder: Any, operands: Sequence[Any]) -> Sequence[Any]:
    value, region = operands
    builder.copy(value, region)
    return [region]


__all__ = ["Filled", "Source", "Store", "form_kind", "form_of"]
