"""LLVM code of reductions by halves of the rows of a matrix: many columns at a time.

Columns are taken in strips, so narrow that the results of a block's leaves fit a cache. The 32 rows
of a leaf are joined in registers, one vector of columns after the other. Rows of less than a vector
are joined so, too; contiguous rows of a few vectors that end within one are joined as one long row.
The loops over strips and blocks are written in LLVM code as well: in Python, Numba took a second to
compile them.
"""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils

from numgrad.ir import pairwise

from .combine import INT64, JoinOperation, among_first, load, size_of, store
from .squares import overlapping

LEAF = pairwise.LEAF
WIDTH = 64  # bytes of a vector of columns
STRIP = 256
NARROW = 64  # matrices with fewer columns may have their leaves joined as long rows
HALVES = (16, 8, 4, 2, 1)
FEW = (4, 16, LEAF)  # numbers of rows up to which there is code without a loop


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
        """Return the function ``(data, step, outer, inner, rows, columns, out)`` that reduces all
        rows to one.

        Groups of ``inner`` rows that are ``step`` numbers apart are ``outer`` numbers apart. Blocks
        of ``size`` rows are reduced by halves, and their results are joined one after the other.
        """

        def emit(builder: ir.IRBuilder, data: Any, *args: Any) -> None:
            *layout, rows, columns, out = args
            parts, *states = [self._room(builder, STRIP) for _ in range(3)]
            leaves = self._room(builder, LEAF * STRIP)
            with builder.if_then(builder.icmp_signed("==", rows, INT64(0)), likely=False):
                cgutils.memset(builder, out, builder.mul(columns, INT64(size_of(self.real))), 0)
                builder.ret_void()
            places = RowPlaces(builder, layout, rows)
            several = builder.icmp_signed(">", rows, INT64(size))
            with cgutils.for_range_slice(builder, INT64(0), columns, INT64(STRIP)) as (first, _):
                width = _least(builder, builder.sub(columns, first), STRIP)
                strip = builder.gep(data, [first])
                most = _least(builder, rows, size)
                self._block(builder, strip, places, INT64(0), most, width, leaves, states[0])
                self._each(builder, width, self.joining.begin, states[:1], states)
                with builder.if_then(several):
                    blocks = cgutils.for_range_slice(builder, INT64(size), rows, INT64(size))
                    with blocks as (start, _):
                        count = _least(builder, builder.sub(rows, start), size)
                        self._block(builder, strip, places, start, count, width, leaves, parts)
                        self._each(builder, width, self.joining.add, [*states, parts], states)
                    self._each(builder, width, self.joining.end, states, states[:1])
                cgutils.raw_memcpy(
                    builder, builder.gep(out, [first]), states[0], width, size_of(self.real)
                )

        return self.function(f"walk{size}", "pnnnnnp", emit)

    def _block(
        self, builder: ir.IRBuilder, data: Any, places: "RowPlaces", first: Any, count: Any,
        width: Any, leaves: Any, out: Any,
    ) -> None:  # fmt: skip
        """Emit the reduction of a block of ``count`` rows from row ``first`` on: each leaf, then
        the leaves' results.

        ``width`` columns are reduced. The memory ``leaves`` is for the results of the leaves.
        """
        leaf = self.function("leaf", "pnnnnp", self._leaf)
        is_leaf = builder.icmp_signed("<=", count, INT64(LEAF))
        with builder.if_else(is_leaf) as (one, several):
            with one:
                source = builder.gep(data, [places.go_to(builder, first)])
                builder.call(leaf, [source, places.table, places.step, count, width, out])
            with several:
                lead = builder.and_(builder.add(width, INT64(self.lanes - 1)), INT64(-self.lanes))
                numbers = cgutils.for_range_slice(builder, INT64(0), count, INT64(LEAF))
                with numbers as (start, number):
                    rows = _least(builder, builder.sub(count, start), LEAF)
                    row = builder.add(first, start)
                    source = builder.gep(data, [places.go_to(builder, row)])
                    place = builder.gep(leaves, [builder.mul(number, lead)])
                    builder.call(leaf, [source, places.table, places.step, rows, width, place])
                number = builder.sdiv(builder.add(count, INT64(LEAF - 1)), INT64(LEAF))
                beside = RowPlaces(builder, (lead, lead, number), number)
                builder.call(leaf, [leaves, beside.table, lead, number, width, out])

    def _leaf(
        self, builder: ir.IRBuilder, data: Any, table: Any, step: Any, count: Any, width: Any,
        out: Any,
    ) -> None:  # fmt: skip
        """Emit the reduction of up to 32 rows; ``out`` has room for whole vectors.

        ``table`` has the distances of the rows from ``data``. If the rows are evenly spaced,
        ``step`` is the distance of two, else a negative number.
        """
        scratch = self._room(builder, HALVES[0] * NARROW + LEAF)
        is_full = builder.icmp_signed("==", count, INT64(LEAF))
        is_wide = builder.icmp_signed(">=", width, INT64(self.lanes))
        with builder.if_then(builder.and_(is_full, builder.not_(is_wide))):
            for lanes in (self.lanes // 2, self.lanes):
                with builder.if_then(builder.icmp_signed("<=", width, INT64(lanes))):
                    self._narrow(builder, data, table, width, lanes, out)
                    builder.ret_void()
        narrow = builder.icmp_signed("<", width, INT64(NARROW))
        rest = builder.icmp_signed("!=", builder.and_(width, INT64(self.lanes - 1)), INT64(0))
        beside = builder.and_(builder.icmp_signed("==", step, width), builder.and_(narrow, rest))
        with builder.if_then(builder.and_(is_full, beside)):
            self._long_row(builder, data, width, scratch, out)
            builder.ret_void()
        whole = builder.select(is_wide, width, INT64(0))
        start: Any = builder.select(is_full, whole, INT64(0))
        with overlapping(builder, start, self.lanes) as n:
            rows: Any = [_distance(builder, table, INT64(row)) for row in range(LEAF)]
            self._store(builder, self._tree(builder, builder.gep(data, [n]), rows), out, n)
        for most in FEW:
            start = self._few(builder, most, data, table, count, start, whole, out)
        with cgutils.for_range_slice(builder, start, width, INT64(self.lanes)) as (n, _):
            mask = among_first(builder, builder.sub(width, n), range(self.lanes))
            with cgutils.for_range(builder, count) as row:
                there = _distance(builder, table, row.index)
                place = builder.gep(data, [builder.add(there, n)])
                value = load(builder, place, self.kind, mask, self.none)
                self._store(builder, value, scratch, self._at(builder, row.index))
            self._halve(builder, scratch, count)
            self._store(builder, self._load(builder, scratch, INT64(0)), out, n)

    def _narrow(
        self, builder: ir.IRBuilder, data: Any, table: Any, width: Any, lanes: int, out: Any
    ) -> None:
        """Join 32 rows of up to ``lanes`` numbers, each of which is a vector."""
        rows: Any = [_distance(builder, table, INT64(row)) for row in range(LEAF)]
        mask = among_first(builder, width, range(lanes))
        self._store(builder, self._tree(builder, data, rows, mask=mask), out, INT64(0))

    def _few(
        self, builder: ir.IRBuilder, most: int, data: Any, table: Any, count: Any, start: Any,
        stop: Any, out: Any,
    ) -> ir.Value:  # fmt: skip
        """Join up to ``most`` rows, in columns ``start`` to ``stop``; return the next column to do.

        If ``count`` is larger at run time, nothing is done. For a missing row the first row is
        loaded, and replaced by the neutral number.
        """
        fits = builder.icmp_signed("<=", count, INT64(most))
        stop = builder.select(fits, stop, start)
        numbers = [builder.icmp_signed("<", INT64(row), count) for row in range(most)]
        columns: Any = builder.sub(stop, start)
        with overlapping(builder, columns, self.lanes) as n:
            rows: list[Any] = [
                builder.select(there, _distance(builder, table, INT64(row)), INT64(0))
                for row, there in enumerate(numbers)
            ]
            joined = self._tree(builder, builder.gep(data, [n]), rows, numbers)
            self._store(builder, joined, out, n)
        return stop

    def _tree(
        self, builder: ir.IRBuilder, data: Any, rows: Sequence[Any], there: Any = None,
        mask: Any = None,
    ) -> ir.Value:  # fmt: skip
        """Join vectors of some rows in a tree; ``rows`` has distances of the rows from ``data``.

        ``there`` tells which rows exist; None stands for all. Numbers outside of ``mask`` are not
        read. The tree joins rows as a leaf's elements are joined: the second half to the first
        half, and so on.
        """
        if len(rows) > 1:
            parts = [
                self._tree(builder, data, rows[n::2], there and there[n::2], mask) for n in range(2)
            ]
            return self.join(builder, *parts)
        place = builder.gep(data, [rows[0]])
        if mask is not None:
            none = ir.Constant(ir.VectorType(self.real, mask.type.count), [0.0] * mask.type.count)
            return load(builder, place, none.type, mask, none)
        value = load(builder, place, self.kind)
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


class RowPlaces:
    """Emits where the rows of a leaf are: a table of distances from the first of them.

    Parameters
    ----------
    builder : ir.IRBuilder
        The builder of the function that reduces rows.
    layout : sequence of ir.Value
        The distance between two rows, that between two groups of rows, and the rows of a group.
    rows : ir.Value
        The number of rows.

    Attributes
    ----------
    table : ir.Value
        The address of the table.
    step : ir.Value
        The distance between two rows; a negative number if there are several groups.
    """

    def __init__(self, builder: ir.IRBuilder, layout: Sequence[Any], rows: Any) -> None:
        step, self._outer, self._inner = layout
        self._own_step = step
        with builder.goto_entry_block():
            table: Any = builder.alloca(ir.ArrayType(INT64, LEAF))
            self._first = builder.alloca(INT64)
        self._start = builder.bitcast(table, INT64.as_pointer())
        self.table = builder.ptrtoint(table, INT64)
        self._even = builder.icmp_signed(">=", self._inner, rows)
        self.step = builder.select(self._even, step, INT64(-1))
        kind = ir.VectorType(INT64, LEAF)
        one: Any = builder.insert_element(ir.Constant(kind, ir.Undefined), step, INT64(0))
        none = ir.Constant(ir.VectorType(ir.IntType(32), LEAF), None)
        steps = builder.shuffle_vector(one, one, none)
        table.align = WIDTH
        distances = builder.mul(steps, ir.Constant(kind, list(range(LEAF))))
        stored: Any = builder.store(distances, builder.bitcast(table, kind.as_pointer()))
        stored.align = WIDTH

    def go_to(self, builder: ir.IRBuilder, row: Any) -> Any:
        """Emit the table for the leaf that begins with this row; return where the row is."""
        builder.store(builder.mul(row, self._own_step), self._first)
        with builder.if_then(builder.not_(self._even), likely=False):
            self._fill(builder, row)
        return builder.load(self._first)

    def _fill(self, builder: ir.IRBuilder, row: Any) -> None:
        """Emit the table for the leaf that begins with this row."""
        group, within = builder.sdiv(row, self._inner), builder.srem(row, self._inner)
        places = [builder.mul(group, self._outer), builder.mul(within, self._own_step)]
        first = builder.add(places[0], places[1])
        builder.store(first, self._first)
        slots = [cgutils.alloca_once(builder, INT64) for _ in range(3)]
        for slot, value in zip(slots, (places[0], first, within), strict=True):
            builder.store(value, slot)
        whole: Any = INT64(LEAF)
        with cgutils.for_range(builder, whole) as loop:
            start, place, number = (builder.load(slot) for slot in slots)
            builder.store(builder.sub(place, first), builder.gep(self._start, [loop.index]))
            number = builder.add(number, INT64(1))
            ended = builder.icmp_signed("==", number, self._inner)
            start = builder.select(ended, builder.add(start, self._outer), start)
            place = builder.select(ended, start, builder.add(place, self._own_step))
            number = builder.select(ended, INT64(0), number)
            for slot, value in zip(slots, (start, place, number), strict=True):
                builder.store(value, slot)


def _distance(builder: ir.IRBuilder, table: Any, row: Any) -> Any:
    """Emit the load of the distance of a row from a table of `RowPlaces`."""
    return builder.load(builder.gep(builder.inttoptr(table, INT64.as_pointer()), [row]))


def _least(builder: ir.IRBuilder, number: Any, most: int) -> Any:
    is_less = builder.icmp_signed("<", number, INT64(most))
    return builder.select(is_less, number, INT64(most))
