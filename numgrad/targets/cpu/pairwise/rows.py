"""LLVM code of reductions by halves of the rows of a matrix: many columns at a time.

Columns are taken in strips, so narrow that the results of a block's leaves fit a cache. The 32 rows
of a leaf are joined in registers, one vector of columns after the other; narrow contiguous rows are
joined as one long row instead. The loops over strips and blocks are written in LLVM code too: in
Python, Numba took a second to compile them.
"""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils

from numgrad.ir import pairwise

from .combine import INT64, JoinOperation, among_first, load, size_of, store

LEAF = pairwise.LEAF
WIDTH = 64  # bytes of a vector of columns
STRIP = 256
NARROW = 64  # matrices with fewer columns may have their leaves joined as long rows
HALVES = (16, 8, 4, 2, 1)
FEW = (4, 16)  # numbers of rows up to which there is code without a loop


class RowReduction:
    """Emits the functions that reduce the rows of a matrix of one type.

    Parameters
    ----------
    builder : ir.IRBuilder
        The builder of the function that calls the emitted ones.
    name : str
        The reduction: ``sum``, ``max`` or ``min``.
    real : ir.Type
        The real type of an element; a complex column counts as two.
    joining : JoinOperation
        How rows are joined.
    """

    def __init__(
        self, builder: ir.IRBuilder, name: str, real: ir.Type, joining: JoinOperation
    ) -> None:
        self.builder, self.real, self.joining = builder, real, joining
        self.join = joining.join
        self.lanes = WIDTH // size_of(real)
        self.kind = ir.VectorType(real, self.lanes)
        self.none = ir.Constant(self.kind, [joining.neutral] * self.lanes)
        self.prefix = f"numgrad_rows_{name}_{real}_"

    def function(self, name: str, kinds: str, emit: Any) -> ir.Function:
        """Return the function ``name`` of the module, emitted if it is new.

        ``kinds`` has a letter for each parameter: ``p`` for a pointer, any other for a number.
        ``emit(builder, *parameters)`` writes the body.
        """
        module = self.builder.module
        found = module.globals.get(self.prefix + name)
        if found is None:
            pointer = self.real.as_pointer()
            parameters = [pointer if kind == "p" else INT64 for kind in kinds]
            kind = ir.FunctionType(ir.VoidType(), parameters)
            found = ir.Function(module, kind, self.prefix + name)
            found.linkage = "linkonce_odr"
            found.attributes.add("noinline")
            builder = ir.IRBuilder(found.append_basic_block("entry"))
            emit(builder, *found.args)
            builder.ret_void()
        return found

    def walk(self, size: int) -> ir.Function:
        """Return the function ``(data, rows, columns, out)`` that reduces all rows to one.

        Blocks of ``size`` rows are reduced by halves, and their results are joined one after the
        other.
        """

        def emit(builder: ir.IRBuilder, data: Any, rows: Any, columns: Any, out: Any) -> None:
            parts, *states = [self._room(builder, STRIP) for _ in range(3)]
            leaves = self._room(builder, LEAF * STRIP)
            with builder.if_then(builder.icmp_signed("==", rows, INT64(0)), likely=False):
                cgutils.memset(builder, out, builder.mul(columns, INT64(size_of(self.real))), 0)
                builder.ret_void()
            several = builder.icmp_signed(">", rows, INT64(size))
            with cgutils.for_range_slice(builder, INT64(0), columns, INT64(STRIP)) as (first, _):
                width = _least(builder, builder.sub(columns, first), STRIP)
                strip = builder.gep(data, [first])
                most = _least(builder, rows, size)
                self._block(builder, strip, columns, most, width, leaves, states[0])
                self._each(builder, width, self.joining.begin, states[:1], states)
                with builder.if_then(several):
                    blocks = cgutils.for_range_slice(builder, INT64(size), rows, INT64(size))
                    with blocks as (start, _):
                        count = _least(builder, builder.sub(rows, start), size)
                        block = builder.gep(strip, [builder.mul(start, columns)])
                        self._block(builder, block, columns, count, width, leaves, parts)
                        self._each(builder, width, self.joining.add, [*states, parts], states)
                    self._each(builder, width, self.joining.end, states, states[:1])
                cgutils.raw_memcpy(
                    builder, builder.gep(out, [first]), states[0], width, size_of(self.real)
                )

        return self.function(f"walk{size}", "pnnp", emit)

    def _block(
        self, builder: ir.IRBuilder, data: Any, step: Any, count: Any, width: Any, leaves: Any,
        out: Any,
    ) -> None:  # fmt: skip
        """Emit the reduction of a block of ``count`` rows: each leaf, then the leaves' results.

        Rows are ``step`` elements apart; ``width`` columns are reduced. The memory ``leaves`` is
        for the results of the leaves.
        """
        leaf = self.function("leaf", "pnnnp", self._leaf)
        is_leaf = builder.icmp_signed("<=", count, INT64(LEAF))
        with builder.if_else(is_leaf) as (one, several):
            with one:
                builder.call(leaf, [data, step, count, width, out])
            with several:
                lead = builder.and_(builder.add(width, INT64(self.lanes - 1)), INT64(-self.lanes))
                numbers = cgutils.for_range_slice(builder, INT64(0), count, INT64(LEAF))
                with numbers as (start, number):
                    rows = _least(builder, builder.sub(count, start), LEAF)
                    source = builder.gep(data, [builder.mul(start, step)])
                    place = builder.gep(leaves, [builder.mul(number, lead)])
                    builder.call(leaf, [source, step, rows, width, place])
                number = builder.sdiv(builder.add(count, INT64(LEAF - 1)), INT64(LEAF))
                builder.call(leaf, [leaves, lead, number, lead, out])

    def _leaf(
        self, builder: ir.IRBuilder, data: Any, step: Any, count: Any, width: Any, out: Any
    ) -> None:
        """Emit the reduction of up to 32 rows; ``out`` has room for whole vectors."""
        scratch = self._room(builder, HALVES[0] * NARROW + LEAF)
        is_full = builder.icmp_signed("==", count, INT64(LEAF))
        narrow = builder.icmp_signed("<", width, INT64(NARROW))
        rest = builder.icmp_signed("!=", builder.and_(width, INT64(self.lanes - 1)), INT64(0))
        beside = builder.and_(builder.icmp_signed("==", step, width), builder.and_(narrow, rest))
        with builder.if_then(builder.and_(is_full, beside)):
            self._long_row(builder, data, width, scratch, out)
            builder.ret_void()
        whole = builder.and_(width, INT64(-self.lanes))
        start: Any = builder.select(is_full, whole, INT64(0))
        with self._vectors(builder, start) as (n, _):
            rows = [builder.mul(step, INT64(row)) for row in range(LEAF)]
            self._store(builder, self._tree(builder, builder.gep(data, [n]), rows), out, n)
        for most in FEW:
            start = self._few(builder, most, data, step, count, start, whole, out)
        with cgutils.for_range_slice(builder, start, width, INT64(self.lanes)) as (n, _):
            mask = among_first(builder, builder.sub(width, n), range(self.lanes))
            with cgutils.for_range(builder, count) as row:
                place = builder.gep(data, [builder.add(builder.mul(row.index, step), n)])
                value = load(builder, place, self.kind, mask, self.none)
                self._store(builder, value, scratch, self._at(builder, row.index))
            self._halve(builder, scratch, count)
            self._store(builder, self._load(builder, scratch, INT64(0)), out, n)

    def _few(
        self, builder: ir.IRBuilder, most: int, data: Any, step: Any, count: Any, start: Any,
        stop: Any, out: Any,
    ) -> ir.Value:  # fmt: skip
        """Join up to ``most`` rows, in columns ``start`` to ``stop``; return the next column to do.

        If ``count`` is larger at run time, nothing is done. For a missing row the first row is
        loaded, and replaced by the neutral number.
        """
        fits = builder.icmp_signed("<=", count, INT64(most))
        stop = builder.select(fits, stop, start)
        numbers = [builder.icmp_signed("<", INT64(row), count) for row in range(most)]
        rows = [
            builder.select(there, builder.mul(step, INT64(row)), INT64(0))
            for row, there in enumerate(numbers)
        ]
        with cgutils.for_range_slice(builder, start, stop, INT64(self.lanes)) as (n, _):
            joined = self._tree(builder, builder.gep(data, [n]), rows, numbers)
            self._store(builder, joined, out, n)
        return stop

    def _tree(
        self, builder: ir.IRBuilder, data: Any, rows: Sequence[Any], there: Any = None
    ) -> ir.Value:
        """Join vectors of some rows in a tree; ``rows`` has distances of the rows from ``data``.

        ``there`` tells which rows exist; None stands for all. The tree joins rows as a leaf's
        elements are joined: the second half to the first half, and so on.
        """
        if len(rows) > 1:
            parts = [
                self._tree(builder, data, rows[n::2], there and there[n::2]) for n in range(2)
            ]
            return self.join(builder, *parts)
        value = self._load(builder, data, rows[0])
        if there is None:
            return value
        return builder.select(there[0], value, self.none)

    def _long_row(self, builder: ir.IRBuilder, data: Any, width: Any, scratch: Any, out: Any):
        """Join 32 contiguous rows as one long row: its second half to its first, five times."""
        source = data
        for half in HALVES:
            size = builder.mul(width, INT64(half))
            with self._vectors(builder, size) as (n, _):
                a = self._load(builder, source, n)
                b = self._load(builder, source, builder.add(n, size))
                self._store(builder, self.join(builder, a, b), scratch, n)
            source = scratch
        with self._vectors(builder, width) as (n, _):
            self._store(builder, self._load(builder, scratch, n), out, n)

    def _halve(self, builder: ir.IRBuilder, scratch: Any, count: Any) -> None:
        """Join ``count`` vectors by halves in place; the result is in place of the first."""
        for half in HALVES:
            more = builder.sub(count, INT64(half))  # below 0 there is no iteration
            with cgutils.for_range(builder, more) as loop:
                at = self._at(builder, loop.index)
                a = self._load(builder, scratch, at)
                b = self._load(builder, scratch, builder.add(at, INT64(half * self.lanes)))
                self._store(builder, self.join(builder, a, b), scratch, at)
            count = _least(builder, count, half)

    def _room(self, builder: ir.IRBuilder, count: int) -> Any:
        """Reserve ``count`` elements on the stack once: in the entry block, outside of any loop."""
        with builder.goto_entry_block():
            room = builder.alloca(ir.ArrayType(self.real, count))
            return builder.bitcast(room, self.real.as_pointer())

    def _each(
        self, builder: ir.IRBuilder, width: Any, function: Any, given: Sequence[Any],
        results: Sequence[Any],
    ) -> None:  # fmt: skip
        """Apply a function to vectors of the rows ``given``, and store what it returns in
        ``results``."""
        with self._vectors(builder, width) as (n, _):
            found = function(builder, *[self._load(builder, row, n) for row in given])
            values = found if type(found) is tuple else (found,)
            for value, row in zip(values, results, strict=True):
                self._store(builder, value, row, n)

    def _vectors(self, builder: ir.IRBuilder, width: Any) -> Any:
        """Return a loop over ``width`` columns, a vector of columns at a time."""
        return cgutils.for_range_slice(builder, INT64(0), width, INT64(self.lanes))

    def _at(self, builder: ir.IRBuilder, number: Any) -> Any:
        return builder.mul(number, INT64(self.lanes))

    def _load(self, builder: ir.IRBuilder, data: Any, place: Any) -> ir.Value:
        return load(builder, builder.gep(data, [place]), self.kind)

    def _store(self, builder: ir.IRBuilder, value: Any, data: Any, place: Any) -> None:
        store(builder, value, builder.gep(data, [place]))


def _least(builder: ir.IRBuilder, number: Any, most: int) -> Any:
    is_less = builder.icmp_signed("<", number, INT64(most))
    return builder.select(is_less, number, INT64(most))
