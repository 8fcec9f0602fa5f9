"""LLVM code that transposes square blocks of elements in registers, and copies matrices with it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from llvmlite import ir
from numba.core import cgutils

from .combine import INT32, INT64

Builder: TypeAlias = Any
"""An ``ir.IRBuilder``: no checker sees through the decorators that make its methods."""

VECTOR = 64
"""The bytes of a row of a square block."""


def transposed(builder: Builder, rows: Sequence[ir.Value], parts: int = 1) -> Sequence[ir.Value]:
    """Emit the transposition of a square block; return its rows, each as a register.

    An element is ``parts`` numbers that stay together. Each step exchanges pairs of smaller blocks
    across the diagonal: single elements first, then blocks of 2 by 2, 4 by 4, and so on.
    """
    rows, size = list(rows), len(rows)
    distance = 1
    while distance < size:
        for upper in range(size):
            if upper & distance:
                continue
            lower = upper + distance
            first, second = rows[upper], rows[lower]
            kept = [j ^ distance | size if j & distance else j for j in range(size)]
            rows[upper] = builder.shuffle_vector(first, second, _numbers(kept, parts))
            kept = [j | size if j & distance else j ^ distance for j in range(size)]
            rows[lower] = builder.shuffle_vector(first, second, _numbers(kept, parts))
        distance *= 2
    return rows


def _numbers(elements: Sequence[int], parts: int) -> Any:
    """Return the places of the numbers of some elements, as a shuffle takes them."""
    numbers = [element * parts + part for element in elements for part in range(parts)]
    return ir.Constant(ir.VectorType(INT32, len(numbers)), numbers)


@contextmanager
def overlapping(builder: Builder, count: ir.Value, lanes: int) -> Iterator[ir.Value]:
    """Emit a loop over ``count`` elements, ``lanes`` at a time; yield the first of each turn.

    The last turn begins so early that all its elements are there, and does some a second time.
    There must be as many elements as lanes, or none.
    """
    last = builder.sub(count, INT64(lanes))
    with cgutils.for_range_slice(builder, INT64(0), count, INT64(lanes)) as (start, _):
        yield builder.select(builder.icmp_signed("<", start, last), start, last)


class MatrixCopy:
    """Emits functions that copy a matrix of any strides to rows that follow one another.

    Parameters
    ----------
    module : Module
        The module to which functions are added.
    real : ir.Type
        The type of a number.
    parts : int
        How many numbers an element has: 2 if it is complex, else 1.
    size : int
        The bytes of a number.
    """

    def __init__(self, module: ir.Module, real: ir.Type, parts: int, size: int) -> None:
        self.module, self.real, self.parts = module, real, parts
        self.itemsize = size * parts
        self.lanes = VECTOR // self.itemsize
        self.row = ir.VectorType(real, self.lanes * parts)
        self.element = ir.VectorType(real, parts)

    def function(self) -> ir.Function:
        """Return the function ``(target, source, rows, columns, row_step, column_step)``.

        All parameters are words; the steps are in bytes.
        """
        name = f"numgrad_copy_matrix_{self.real}_{self.parts}"
        found = self.module.globals.get(name)
        if found is None:
            kind = ir.FunctionType(ir.VoidType(), [INT64] * 6)
            found = ir.Function(self.module, kind, name)
            found.linkage = "linkonce_odr"
            found.attributes.add("noinline")
            builder: Builder = ir.IRBuilder(found.append_basic_block("entry"))
            self._emit(builder, *found.args)
            builder.ret_void()
        return found

    def _emit(self, builder: Builder, target, source, rows, columns, down, along) -> None:
        """Emit the copy: of whole rows, by square blocks, or one element after the other."""
        item, lanes = INT64(self.itemsize), INT64(self.lanes)
        fits = builder.icmp_signed(">=", columns, lanes)
        by_rows = builder.and_(builder.icmp_signed("==", along, item), fits)
        with builder.if_then(by_rows):
            self._by_rows(builder, target, source, rows, columns, down)
            builder.ret_void()
        by_squares = builder.and_(builder.icmp_signed("==", down, item), fits)
        by_squares = builder.and_(by_squares, builder.icmp_signed(">=", rows, lanes))
        with builder.if_then(by_squares):
            self._by_squares(builder, target, source, rows, columns, along)
            builder.ret_void()
        self._by_elements(builder, target, source, rows, columns, down, along)

    def _by_rows(self, builder: Builder, target, source, rows, columns, down) -> None:
        """Emit the copy of rows whose elements follow one another, a vector at a time."""
        pitch = builder.mul(columns, INT64(self.itemsize))
        with cgutils.for_range(builder, rows) as row:
            at = builder.add(source, builder.mul(row.index, down))
            to = builder.add(target, builder.mul(row.index, pitch))
            with overlapping(builder, columns, self.lanes) as start:
                place = builder.mul(start, INT64(self.itemsize))
                value = self._load(builder, builder.add(at, place), self.row)
                self._store(builder, value, builder.add(to, place))

    def _by_squares(self, builder: Builder, target, source, rows, columns, along) -> None:
        """Emit the copy of columns whose elements follow one another, a square block at a time."""
        item = INT64(self.itemsize)
        pitch = builder.mul(columns, item)
        with overlapping(builder, rows, self.lanes) as first:
            down = builder.add(source, builder.mul(first, item))
            to = builder.add(target, builder.mul(first, pitch))
            with overlapping(builder, columns, self.lanes) as start:
                places = [builder.add(start, INT64(n)) for n in range(self.lanes)]
                block = [
                    self._load(builder, builder.add(down, builder.mul(n, along)), self.row)
                    for n in places
                ]
                at = builder.add(to, builder.mul(start, item))
                for value in transposed(builder, block, self.parts):
                    self._store(builder, value, at)
                    at = builder.add(at, pitch)

    def _by_elements(self, builder: Builder, target, source, rows, columns, down, along) -> None:
        """Emit the copy of one element after the other."""
        pitch = builder.mul(columns, INT64(self.itemsize))
        with cgutils.for_range(builder, rows) as row:
            at = builder.add(source, builder.mul(row.index, down))
            to = builder.add(target, builder.mul(row.index, pitch))
            with cgutils.for_range(builder, columns) as column:
                place = builder.add(at, builder.mul(column.index, along))
                value = self._load(builder, place, self.element)
                self._store(
                    builder, value, builder.add(to, builder.mul(column.index, INT64(self.itemsize)))
                )

    def _load(self, builder: Builder, place: ir.Value, kind: ir.Type) -> ir.Value:
        value: Any = builder.load(builder.inttoptr(place, kind.as_pointer()))
        value.align = self.itemsize // self.parts
        return value

    def _store(self, builder: Builder, value: Any, place: ir.Value) -> None:
        stored: Any = builder.store(value, builder.inttoptr(place, value.type.as_pointer()))
        stored.align = self.itemsize // self.parts
