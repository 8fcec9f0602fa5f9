"""LLVM code of elementwise kernels: one loop around inlined scalar functions.

The loop works on blocks. An operand that is contiguous is used in place; any other one (strided,
reversed, or a single broadcast element) passes through a small buffer on the stack. So there is ONE
loop over elements: LLVM vectorises it, compiles it once, and an element gets the same bits whatever
the strides are. The loop is marked as having independent iterations, so LLVM adds no alias checks
at run time. The mark is true if an output shares no memory with an input, or has exactly its memory
and layout.

Around the loop over elements is a loop over rows, the next outer loop dimension: going on to
another row costs far less than another call. So a kernel has two entries: one for a single row, by
the kernel ABI, and one for several rows. Short rows are computed together, as many as fit into the
buffers.

Copies, which do not depend on the operator, are routines that all kernels share (`copy_loops`), so
the code to be compiled grows with the operator, and hardly with the number of operands.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import inf
from typing import Any

from llvmlite import ir

from ..compile.intrinsics import INT64
from ..compile.routines import GATHER, SCATTER
from .copy_loops import BLOCK
from .llvm_builder import (
    Builder,
    Memory,
    counted_loop,
    independent_accesses,
    table_word,
    table_words,
    word,
)

ROWS_TYPE = ir.FunctionType(ir.VoidType(), [INT64] * 6)
"""LLVM type of the entry for rows: ``void(ptrs, n, rows, steps, status, row_steps)``."""

_BIT = ir.IntType(1)

_COPY_TYPE = ir.FunctionType(ir.VoidType(), [INT64] * 9)

# The most elements of a row that is computed together with others, in buffers; and those of a light
# function, where a row in place takes as long as copies of so many elements.
_SHORT, _SHORT_OF_LIGHT = 32, 5

_EVEN = 8  # so many rows of any length are whole vectors

_VECTOR = 8  # elements of eight bytes in a register

# A copy of an operand to a buffer takes as long as so many operations of an element would take that
# are computed one by one, behind the last whole vector of a row.
_OPERATIONS_OF_COPY = 2


class ElementwiseKernel(ABC):
    """Emits an elementwise kernel: subclasses emit the loop over contiguous elements.

    Parameters
    ----------
    context
        Numba's target context.
    in_types, out_types
        Numba types of the operands.
    scalars : sequence of bool
        For each input, whether it is a scalar input: one element, whatever its step, which is read
        before the loop.
    is_light : bool
        Whether the function takes no longer than a copy of its operands to buffers.
    operations : float
        How many operations compute an element. Infinite if elements behind the last whole vector of
        a row cost much more than others.
    """

    whole = 0
    """A power of two: a row of a multiple of so many elements has none behind its last vector, and
    takes less time than copies of its operands. 0 if there is no such number."""

    def __init__(
        self, context, in_types, out_types, scalars: Sequence[bool], is_light: bool = False,
        operations: float = inf,
    ) -> None:  # fmt: skip
        self.is_light = is_light
        self.memories = [Memory(context, dtype) for dtype in (*in_types, *out_types)]
        self.nin = len(in_types)
        self.scalars = [*scalars, *(False for _ in out_types)]
        moving = self.scalars.count(False)
        least = _OPERATIONS_OF_COPY * operations / moving if moving else inf
        self.least = int(min(max(least, _VECTOR), _SHORT))

    @abstractmethod
    def _elements(self, builder: Builder, table, first, count, status) -> None:
        """Emit the loop over ``count`` elements, at least one, of contiguous operands.

        ``table`` is the address of a table that has the address of each operand. ``first`` is the
        index of the first element; a function that raises reports the index of its element.
        """

    def emit_row(self, builder: Builder, args: Sequence[ir.Value], rows: ir.Function) -> None:
        """Emit the entry by the kernel ABI, which calls the other entry, ``rows``, with one row."""
        ptrs, n, _, steps, status = args
        builder.call(rows, [ptrs, n, word(1), steps, status, steps], tail=True)
        builder.ret_void()

    def emit_rows(self, builder: Builder, args: Sequence[ir.Value]) -> None:
        """Emit the entry for several rows.

        The entry leaves the addresses in ``ptrs`` at the last row. If an element raises, the index
        that is reported counts the elements of all rows.

        Rows after the first have their addresses in a table of the entry's own, word by word: loads
        of single words wait long for a vector of them that was stored just before.
        """
        ptrs, n, rows, steps, _, row_steps = args
        own = self._own_table(builder)
        copies = _Copies(builder, self.memories, self.scalars, self.nin)
        names = ("row", "end_of_row", "further", "last", "exit")
        begin, end, further, last, leave = map(builder.append_basic_block, names)
        nothing = (builder.icmp_signed("<=", length, word(0)) for length in (n, rows))
        with builder.if_then(builder.or_(*nothing)):
            builder.branch(leave)
        numbers = self._has_numbers(builder, row_steps)
        in_place = self._in_place(builder, n, rows, steps, row_steps, numbers)
        most = self._together(builder, n, builder.or_(in_place, numbers))
        stay = self._stay(builder, n, rows, most, steps, row_steps)
        before = builder.basic_block
        builder.branch(begin)

        builder.position_at_end(begin)
        row, places = builder.phi(INT64), builder.phi(INT64)
        row.add_incoming(word(0), before)
        places.add_incoming(ptrs, before)
        places.add_incoming(own, further)
        rest = builder.sub(rows, row)
        count = builder.select(builder.icmp_signed("<", rest, most), rest, most)
        self._rows(
            builder, (places, *args[1:]), builder.mul(row, n), count, (in_place, stay, most),
            copies, end,
        )  # fmt: skip

        builder.position_at_end(end)
        following = builder.add(row, count, flags=("nuw", "nsw"))
        row.add_incoming(following, further)
        builder.cbranch(builder.icmp_signed("<", following, rows), further, last)

        builder.position_at_end(further)
        self.move(builder, own, ptrs, row_steps, following)
        builder.branch(begin)

        builder.position_at_end(last)
        with builder.if_then(builder.icmp_signed(">", rows, word(1))):
            self.move(builder, ptrs, ptrs, row_steps, builder.sub(rows, word(1)))
        builder.branch(leave)

        builder.position_at_end(leave)
        builder.ret_void()

    def _together(self, builder: Builder, n, alone: ir.Value) -> ir.Value:
        """Emit how many rows form a group that is computed together.

        A group has 1 row if rows are long or if ``alone`` is true, and otherwise as many rows as
        fit into a block, if possible so many that no elements are left behind the last vector.
        """
        entry = builder.basic_block
        short = builder.icmp_signed("<=", n, word(BLOCK // 2))
        with builder.if_then(builder.and_(short, builder.not_(alone))):
            fitting = builder.udiv(word(BLOCK), n)
            even = builder.and_(fitting, word(-_EVEN))
            fitting = builder.select(builder.icmp_signed(">", even, word(0)), even, fitting)
            several = builder.basic_block
        count = builder.phi(INT64)
        count.add_incoming(word(1), entry)
        count.add_incoming(fitting, several)
        return count

    def move(
        self, builder: Builder, table: Any, ptrs: Any, steps: Any, count: Any,
        which: Sequence[bool] = (),
    ) -> None:  # fmt: skip
        """Emit code that puts into a table the addresses in ``ptrs``, each ``count`` of its steps
        further, of all operands or of those for which ``which`` is true."""
        place = builder.inttoptr(table, INT64.as_pointer())
        for k in range(len(self.memories)):
            address = table_word(builder, ptrs, k)
            if not which or which[k]:
                ahead = builder.mul(table_word(builder, steps, k), count)
                address = builder.add(address, ahead)
            builder.store(address, builder.gep(place, [word(k)]))

    def _own_table(self, builder: Builder) -> ir.Value:
        """Emit a table for the addresses of operands, on the stack; return its address."""
        space = builder.alloca(ir.ArrayType(INT64, len(self.memories)))
        return builder.ptrtoint(space, INT64)

    def _in_place(self, builder: Builder, n, rows, steps, row_steps, numbers) -> ir.Value:
        """Emit whether rows are computed one by one in the operands' own memory, without buffers.

        All operands must be contiguous along the row. Even then several short rows pass through
        buffers, where they are computed together, if few operands have to be copied for that, or if
        elements behind the last vector of a row cost more than copies. If ``numbers`` is true,
        rows do not: a scalar input that differs between rows allows only one row at a time.
        """
        sizes = [memory.itemsize for memory in self.memories]
        moving = [not scalar for scalar in self.scalars]
        dense = builder.or_(
            _are(builder, steps, sizes, moving), builder.icmp_signed("<=", n, word(1))
        )
        alone = builder.or_(numbers, builder.icmp_signed("<=", rows, word(1)))
        least = _SHORT_OF_LIGHT + 1 if self.is_light else self.least
        pays = builder.icmp_signed(">=", n, word(least))
        if self.whole:
            behind = builder.and_(n, word(self.whole - 1))
            pays = builder.or_(pays, builder.icmp_signed("==", behind, word(0)))
        pays = builder.and_(pays, self._copies_rows(builder, n, row_steps))
        pays = builder.or_(pays, builder.icmp_signed(">", n, word(_SHORT)))
        return builder.and_(dense, builder.or_(alone, pays))

    def _copies_rows(self, builder: Builder, n, row_steps) -> ir.Value:
        """Emit whether a buffer of several rows has to be filled, or emptied, row by row.

        Operands need no copies whose rows follow one another, and those that all rows share are
        copied once.
        """
        following, shared = self._following_and_shared(builder, n, row_steps)
        free = builder.or_(builder.or_(following, shared), self._flags(self.scalars))
        return builder.not_(self._all(builder, free))

    def _stay(self, builder: Builder, n, rows, most, steps, row_steps) -> ir.Value:
        """Emit whether there are several groups of ``most`` rows that need no copies after the
        first: other than for `_copies_rows`, also along the rows.
        """
        entry = builder.basic_block
        grouped = builder.icmp_signed(">", most, word(1))
        several = builder.and_(grouped, builder.icmp_signed(">", rows, most))
        with builder.if_then(several):
            following, shared = self._following_and_shared(builder, n, row_steps)
            given = table_words(builder, steps, len(self.memories))
            dense = builder.icmp_signed("==", given, self._sizes())
            free = builder.or_(builder.and_(following, dense), shared)
            stays = self._all(builder, builder.or_(free, self._flags(self.scalars)))
            looked = builder.basic_block
        found = builder.phi(_BIT)
        found.add_incoming(ir.Constant(_BIT, 0), entry)
        found.add_incoming(stays, looked)
        return found

    def _following_and_shared(
        self, builder: Builder, n, row_steps
    ) -> tuple[ir.Value, ir.Value]:
        """Emit vectors that tell for each operand whether its rows follow one another, and whether
        the operand is an input that all rows share."""
        sizes = self._sizes()
        given: Any = table_words(builder, row_steps, len(self.memories))
        following = builder.icmp_signed(
            "==", given, builder.mul(sizes, _splat(builder, n, sizes.type.count))
        )
        shared = builder.icmp_signed("==", given, ir.Constant(given.type, None))
        inputs = [k < self.nin for k in range(len(self.memories))]
        return following, builder.and_(shared, self._flags(inputs))

    def _sizes(self) -> Any:
        """Return the sizes of elements as a vector of words."""
        sizes = [memory.itemsize for memory in self.memories]
        return ir.Constant(ir.VectorType(INT64, len(sizes)), sizes)

    @staticmethod
    def _flags(truths: Sequence[bool]) -> ir.Constant:
        return ir.Constant(ir.VectorType(_BIT, len(truths)), [int(x) for x in truths])

    @staticmethod
    def _all(builder: Builder, flags: Any) -> ir.Value:
        """Emit whether all flags of a vector are true."""
        reduce_and = builder.module.declare_intrinsic(
            f"llvm.vector.reduce.and.v{flags.type.count}i1",
            fnty=ir.FunctionType(_BIT, [flags.type]),
        )
        return builder.call(reduce_and, [flags])

    def _has_numbers(self, builder: Builder, row_steps: ir.Value) -> ir.Value:
        """Emit whether a scalar input has a row stride, so that its number differs between rows.
        """
        if not any(self.scalars):
            return ir.Constant(_BIT, 0)
        return builder.not_(_are(builder, row_steps, [0] * len(self.scalars), self.scalars))

    def _rows(self, builder, args, first, rows, how, copies: "_Copies", end) -> None:
        """Emit the computation of ``rows`` rows, which goes on at the basic block ``end``.

        A single row is computed in place if the first of ``how`` is true; otherwise blocks are
        gathered to buffers, computed there, and scattered. If the second is true, buffers stay as
        the first rows have filled them; the third is the number of rows before these. Branches
        rather than selections tell the cases apart: a predicted branch costs a short row nothing.
        ``first`` is the index of the first element.
        """
        ptrs, n, _, steps, status, row_steps = args
        in_place, stay, most = how
        names = ("buffered", "compute", "scatter")
        buffered, compute, scatter = map(builder.append_basic_block, names)
        entry = builder.basic_block
        builder.cbranch(in_place, compute, buffered)

        builder.position_at_end(buffered)
        start = builder.phi(INT64)
        start.add_incoming(word(0), entry)
        rest = builder.sub(n, start)
        short = builder.icmp_signed("<", rest, word(BLOCK))
        part = builder.select(short, rest, word(BLOCK))
        is_first = builder.icmp_signed("==", builder.add(first, start), word(0))
        is_block = builder.icmp_signed("<=", n, word(BLOCK))
        later = builder.select(is_block, word(1), word(2))
        block = part, row_steps, rows, builder.select(is_first, word(0), later)
        is_later = builder.icmp_signed(">", first, word(0))
        with builder.if_else(builder.and_(stay, is_later)) as (filled, empty):
            with filled:
                copies.go_on(builder, row_steps, most)
            with empty:
                copies.call(builder, GATHER, ptrs, steps, start, *block)
        elements = builder.mul(part, rows)
        ready = builder.basic_block
        builder.branch(compute)

        builder.position_at_end(compute)
        index, count, table, length = (builder.phi(INT64) for _ in range(4))
        for value, whole, block in (
            (index, word(0), start), (count, n, elements), (table, ptrs, copies.places),
            (length, n, part),
        ):  # fmt: skip
            value.add_incoming(whole, entry)
            value.add_incoming(block, ready)
        self._elements(builder, table, builder.add(first, index), count, status)
        builder.cbranch(in_place, end, scatter)

        builder.position_at_end(scatter)
        with builder.if_then(builder.not_(stay)):
            copies.call(builder, SCATTER, ptrs, steps, index, length, row_steps, rows, word(0))
        following = builder.add(index, word(BLOCK))
        start.add_incoming(following, builder.basic_block)
        builder.cbranch(builder.icmp_signed("<", following, n), buffered, end)


def _are(
    builder: Builder, table: ir.Value, wanted: Sequence[int], which: Sequence[bool]
) -> ir.Value:
    """Emit whether the words of a table have the wanted values, wherever ``which`` is true."""
    kind = ir.VectorType(INT64, len(wanted))
    numbers = ir.Constant(kind, [word(number) for number in wanted])
    chosen = ir.Constant(kind, [word(-1 if choose else 0) for choose in which])
    given = table_words(builder, table, len(wanted))
    difference = builder.and_(builder.xor(given, numbers), chosen)
    reduce_or = builder.module.declare_intrinsic(
        f"llvm.vector.reduce.or.v{len(wanted)}i64", fnty=ir.FunctionType(INT64, [kind])
    )
    return builder.icmp_signed("==", builder.call(reduce_or, [difference]), word(0))


def _splat(builder: Builder, value: ir.Value, count: int) -> ir.Value:
    """Emit a vector of ``count`` words that all have the same value."""
    kind = ir.VectorType(INT64, count)
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, word(0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), count), None))


class ElementwiseLoop(ElementwiseKernel):
    """Emits a kernel that is a loop around scalar functions.

    Parameters
    ----------
    context, in_types, out_types, scalars, is_light, operations
        As for `ElementwiseKernel`.
    compute
        ``compute(builder, values, index, status)`` emits the scalar functions and returns the
        results; a function that raises reports ``index``.
    interleave : int
        The number of vectors in an iteration of the vectorised loop; 0 lets LLVM choose.
    """

    def __init__(
        self, context, in_types, out_types, compute, scalars: Sequence[bool], interleave: int = 0,
        is_light: bool = False, operations: float = inf,
    ) -> None:  # fmt: skip
        super().__init__(context, in_types, out_types, scalars, is_light, operations)
        self.compute = compute
        self.interleave = interleave

    def _elements(self, builder: Builder, table, first, count, status) -> None:
        operands = []
        for k, memory in enumerate(self.memories):
            kind = memory.data_type.as_pointer()
            operands.append((memory, builder.inttoptr(table_word(builder, table, k), kind)))
        inputs = list(zip(operands[: self.nin], self.scalars, strict=False))
        known = [memory.read(builder, at) if scalar else None for (memory, at), scalar in inputs]
        group, loop_id = independent_accesses(builder.module, self.interleave)
        with counted_loop(builder, count, loop_id) as index:
            values = [
                memory.read(builder, builder.gep(at, [index]), group) if value is None else value
                for value, ((memory, at), _) in zip(known, inputs, strict=True)
            ]
            results = self.compute(builder, values, builder.add(first, index), status)
            for (memory, at), result in zip(operands[self.nin :], results, strict=True):
                memory.write(builder, result, builder.gep(at, [index]), group)


class _Copies:
    """A kernel's buffers, and its calls of the routines that copy to and from them.

    Parameters
    ----------
    builder
        Stands in the entry block of the kernel.
    memories, scalars : sequences
        For each operand its `Memory`, and whether it is a scalar input, which needs no buffer.
    nin : int
        Number of inputs.
    """

    def __init__(
        self, builder: Builder, memories: Sequence[Memory], scalars: Sequence[bool], nin: int
    ) -> None:
        self.moving = [not scalar for scalar in scalars]
        count = len(memories)
        slot = BLOCK * max(memory.itemsize for memory in memories)
        buffer = builder.alloca(ir.ArrayType(ir.IntType(8), slot * count))
        buffer.align = 64
        pairs = zip(memories, scalars, strict=True)
        layout = [nin, count, slot, *(0 if one else memory.itemsize for memory, one in pairs)]
        table = ir.ArrayType(INT64, len(layout))
        constant: Any = ir.GlobalVariable(builder.module, table, "layout")
        constant.initializer = ir.Constant(table, layout)
        constant.global_constant, constant.linkage = True, "internal"
        self.layout = builder.ptrtoint(constant, INT64)
        space = builder.alloca(ir.ArrayType(INT64, count + 1))
        self.places = builder.ptrtoint(space, INT64)
        builder.store(builder.ptrtoint(buffer, INT64), builder.gep(space, [word(0), word(count)]))

    def go_on(self, builder: Builder, row_steps: Any, rows: Any) -> None:
        """Emit code that moves the operands' addresses on by some rows, other than in buffers."""
        table = builder.inttoptr(self.places, INT64.as_pointer())
        for k, moves in enumerate(self.moving):
            if moves:
                ahead = builder.mul(table_word(builder, row_steps, k), rows)
                place = builder.gep(table, [word(k)])
                builder.store(builder.add(builder.load(place), ahead), place)

    def call(self, builder: Builder, name: str, *args: ir.Value) -> None:
        """Emit a call of the copy routine ``name``, `gather` or `scatter`.

        The arguments are ``ptrs, steps, start, count, row_steps, rows, kept``.
        """
        known = builder.module.globals.get(name)
        function = known or ir.Function(builder.module, _COPY_TYPE, name)
        builder.call(function, [self.layout, self.places, *args])
