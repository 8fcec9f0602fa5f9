"""LLVM code of reductions by halves of matrices of any strides, whose elements are in C order.

Some rows at a time are copied to a buffer in the first-level cache, or parts of a row, and blocks
are reduced there: a copy of the whole array would have to go through memory.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils

from numgrad.ir import pairwise

from .codegen import BlockReduction
from .combine import INT64, size_of, store
from .squares import MatrixCopy

ROOM = 1 << 16
"""Bytes of elements that are copied at once."""


class MatrixReduction:
    """Emits the reduction of all elements of a matrix.

    Parameters
    ----------
    builder : ir.IRBuilder
        The builder of the function that reduces.
    reduction : BlockReduction
        The reduction of a block.
    """

    def __init__(self, builder: ir.IRBuilder, reduction: BlockReduction) -> None:
        self.builder, self.reduction = builder, reduction
        self.itemsize = size_of(reduction.real) * reduction.parts
        self.most = ROOM // self.itemsize
        self.buffer = self._room((self.most + pairwise.BLOCK) * self.itemsize)
        kind = reduction.real_result()
        places = [cgutils.alloca_once(builder, kind) for _ in range(2)]
        self.total, self.loss = places
        self.filled, self.is_first = (cgutils.alloca_once(builder, INT64) for _ in range(2))
        size = size_of(reduction.real)
        self.copy = MatrixCopy(builder.module, reduction.real, reduction.parts, size).function()

    def emit(self, data: Any, rows: Any, columns: Any, down: Any, along: Any, out: Any) -> None:
        """Emit the reduction; ``data`` is an address, and the steps are in bytes."""
        builder, most = self.builder, INT64(self.most)
        builder.store(INT64(0), self.filled)
        builder.store(INT64(1), self.is_first)
        is_long = builder.icmp_signed(">=", columns, most)
        divisor = builder.select(builder.icmp_signed(">", columns, INT64(0)), columns, INT64(1))
        height = builder.select(is_long, INT64(1), builder.sdiv(most, divisor))
        width = builder.select(is_long, most, divisor)
        with cgutils.for_range_slice(builder, INT64(0), rows, height) as (row, _):
            beside = builder.add(data, builder.mul(row, down))
            count = _least(builder, builder.sub(rows, row), height)
            with cgutils.for_range_slice(builder, INT64(0), columns, width) as (column, _):
                part = _least(builder, builder.sub(columns, column), width)
                source = builder.add(beside, builder.mul(column, along))
                self._take(source, count, part, down, along)
        self._finish(out)

    def _take(self, source: Any, rows: Any, columns: Any, down: Any, along: Any) -> None:
        """Emit the copy of some rows behind what is in the buffer, and reduce whole blocks."""
        builder, block = self.builder, INT64(pairwise.BLOCK)
        before = builder.load(self.filled)
        builder.call(self.copy, [self._place(before), source, rows, columns, down, along])
        filled = builder.add(before, builder.mul(rows, columns))
        whole = builder.and_(filled, INT64(-pairwise.BLOCK))
        with cgutils.for_range_slice(builder, INT64(0), whole, block) as (start, _):
            self._add(start, block)
        rest = builder.sub(filled, whole)
        with builder.if_then(builder.icmp_signed(">", whole, INT64(0))):
            first, behind = (
                builder.inttoptr(self._place(n), self.reduction.real.as_pointer())
                for n in (INT64(0), whole)
            )
            cgutils.raw_memmove(builder, first, behind, rest, self.itemsize)
        builder.store(rest, self.filled)

    def _add(self, start: Any, count: Any) -> None:
        """Emit the reduction of a block, which is joined to those before."""
        builder, joining = self.builder, self.reduction.joining
        place = builder.inttoptr(self._place(start), self.reduction.real.as_pointer())
        part = builder.call(self.reduction.block(), [place, count])
        is_first = builder.icmp_signed("!=", builder.load(self.is_first), INT64(0))
        with builder.if_else(is_first) as (first, later):
            with first:
                self._put(joining.begin(builder, part))
            with later:
                self._put(
                    joining.add(builder, builder.load(self.total), builder.load(self.loss), part)
                )
        builder.store(INT64(0), self.is_first)

    def _finish(self, out: Any) -> None:
        """Emit the reduction of what is left in the buffer, and the store of the result."""
        builder = self.builder
        filled = builder.load(self.filled)
        none_yet = builder.icmp_signed("!=", builder.load(self.is_first), INT64(0))
        some = builder.icmp_signed(">", filled, INT64(0))
        with builder.if_then(builder.or_(some, none_yet)):
            self._add(INT64(0), filled)
        total, loss = builder.load(self.total), builder.load(self.loss)
        store(builder, self.reduction.joining.end(builder, total, loss), out)

    def _put(self, values: Any) -> None:
        for value, place in zip(values, (self.total, self.loss), strict=True):
            self.builder.store(value, place)

    def _place(self, number: Any) -> Any:
        return self.builder.add(self.buffer, self.builder.mul(number, INT64(self.itemsize)))

    def _room(self, size: int) -> Any:
        """Reserve bytes on the stack once; return their address."""
        with self.builder.goto_entry_block():
            room: Any = self.builder.alloca(ir.ArrayType(ir.IntType(8), size))
            room.align = 64
            return self.builder.ptrtoint(room, INT64)


def _least(builder: ir.IRBuilder, number: Any, most: Any) -> Any:
    return builder.select(builder.icmp_signed("<", number, most), number, most)
