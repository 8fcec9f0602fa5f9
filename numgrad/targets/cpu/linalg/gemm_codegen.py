"""LLVM code of the kernel that multiplies matrices; see `gemm`."""

from collections.abc import Sequence
from typing import Any

from llvmlite import binding as llvm
from llvmlite import ir

from ..codegen.llvm_builder import Builder, counted_loop, table_word, word
from ..codegen.object_files import code_of
from ..compile.compiler import Code
from ..compile.intrinsics import INT64, KERNEL_TYPE
from ..compile.optimize import internalise
from ..platform.target_machine import target_machine
from .gemm import BLOCK, MANY_ROWS, Geometry
from .gemm_blocks import REGISTERS, GemmFunctions

WIDE = 8
"""By how many registers of columns of B a single row of A is multiplied at a time.

So many sums are independent of one another; the columns are read in place.
"""


def product(geometry: Geometry, symbol: str) -> Code:
    """Compile the kernel of matrix products for the registers of ``geometry``, under the name
    ``symbol``."""
    module = ir.Module(symbol)
    module.triple = llvm.get_process_triple()
    kernel = ir.Function(module, KERNEL_TYPE, symbol)
    matrices = _Matrices(GemmFunctions(module, geometry)).emit()
    _emit_kernel(ir.IRBuilder(kernel.append_basic_block("entry")), kernel.args, matrices)
    parsed = llvm.parse_assembly(str(module))
    internalise(parsed.functions, [symbol])
    _optimise(parsed)
    return code_of(target_machine(), parsed, symbol)


def _optimise(module: llvm.ModuleRef) -> None:
    # Loops have their final form: unrolled, they would need more registers than there are.
    options = llvm.PipelineTuningOptions(speed_level=1)
    options.loop_unrolling = options.loop_vectorization = options.slp_vectorization = False
    builder = llvm.create_pass_builder(target_machine(), options)
    builder.getModulePassManager().run(module, builder)


def _emit_kernel(builder: Builder, args: Sequence[ir.Value], matrices: ir.Function) -> None:
    """Emit the body of the kernel: a loop over pairs of matrices that calls ``matrices`` for each.

    Pairs that share B are multiplied as one pair, if the rows of A and of C are evenly spaced
    across the loop.
    """
    ptrs, n, core, steps, _ = args
    m, k, columns = (table_word(builder, core, number) for number in range(3))
    a, b, c, step_a, step_b, step_c = (
        table_word(builder, table, number) for table in (ptrs, steps) for number in range(3)
    )
    am, ak, bk, bn, cm = (table_word(builder, steps, number) for number in range(3, 8))
    single = builder.icmp_signed("==", m, word(1))
    am, cm = builder.select(single, step_a, am), builder.select(single, step_c, cm)
    even = builder.icmp_signed("==", step_b, word(0))
    for step, stride in ((step_a, am), (step_c, cm)):
        even = builder.and_(even, builder.icmp_signed("==", step, builder.mul(m, stride)))
    rows = builder.select(even, builder.mul(m, n), m)
    with counted_loop(builder, builder.select(even, word(1), n)) as index:
        bases = (a, step_a), (b, step_b), (c, step_c)
        places = [_at(builder, base, (index, step)) for base, step in bases]
        builder.call(matrices, [*places, am, ak, bk, bn, cm, rows, k, columns])
    builder.ret_void()


class _Matrices:
    """Emits the function that multiplies two matrices.

    `GemmFunctions` says what the letters in signatures mean.
    """

    def __init__(self, parts: GemmFunctions) -> None:
        self.parts = parts
        self.heights = [parts.geometry.rows]
        self.heights += [n for n in (8, 4, 2, 1) if n < parts.geometry.rows]
        self.panels = [self._panel(registers) for registers in range(1, REGISTERS + 1)]
        self.wide, self.single_row = parts.micro(1, WIDE), parts.single_row()
        self.copies = parts.copy_rows(), parts.copy_columns()

    def _panel(self, registers: int) -> ir.Function:
        """Add ``f(a, am, ak, b, bk, c, cm, rows, terms, columns, more)``: a panel of the product.

        A panel has all rows, but only so many columns as fit into ``registers`` registers. The rows
        of B are contiguous, and there is one block of terms.
        """
        micros = [self.parts.micro(height, registers) for height in self.heights]
        builder, args = self.parts.function(f"panel{registers}", 11)
        a, am, ak, b, bk, c, cm, rows, terms, columns, more = args

        def call(micro: ir.Function, row: ir.Value) -> None:
            at, to = _at(builder, a, (row, am)), _at(builder, c, (row, cm))
            builder.call(micro, [at, am, ak, b, bk, to, cm, terms, columns, more])

        height = word(self.heights[0])
        count = builder.sdiv(rows, height)
        with counted_loop(builder, count) as number:
            call(micros[0], builder.mul(number, height))
        done = builder.mul(count, height)
        for size, micro in zip(self.heights[1:], micros[1:], strict=True):
            fits = builder.icmp_signed("<=", builder.add(done, word(size)), rows)
            before = builder.basic_block
            with builder.if_then(fits):
                call(micro, done)
                after = builder.add(done, word(size))
                inside = builder.basic_block
            following = builder.phi(INT64)
            following.add_incoming(done, before)
            following.add_incoming(after, inside)
            done = following
        builder.ret_void()
        return builder.function

    def emit(self) -> ir.Function:
        """Add ``f(a, b, c, am, ak, bk, bn, cm, rows, terms, columns)``, which writes the whole
        product."""
        builder, args = self.parts.function("matrices", 11)
        a, b, c, am, ak, bk, bn, cm, rows, terms, columns = args
        space = builder.alloca(ir.ArrayType(self.parts.scalar, BLOCK * self.parts.columns))
        space.align = 64
        copy = builder.ptrtoint(space, INT64)
        # Without terms there is one empty block, which writes zeros.
        none = builder.icmp_signed("==", terms, word(0))
        blocks = builder.select(none, word(1), _ceiling(builder, terms, BLOCK))
        with counted_loop(builder, _ceiling(builder, rows, MANY_ROWS)) as stretch:
            row, height = _part(builder, rows, stretch, MANY_ROWS)
            to = _at(builder, c, (row, cm))
            with counted_loop(builder, blocks) as block:
                term, inner = _part(builder, terms, block, BLOCK)
                left = _at(builder, a, (row, am), (term, ak)), am, ak
                right = _at(builder, b, (term, bk)), bk, bn
                sizes = height, inner, columns
                self._emit_block(builder, left, right, (to, cm), sizes, block, copy)
        builder.ret_void()
        return builder.function

    def _emit_block(
        self, builder: Builder, left: Any, right: Any, to: Any, sizes: Any, more: Any, copy: Any
    ) -> None:
        """Emit the product for one block of terms, a panel of columns at a time.

        ``left`` and ``right`` have the address and strides of A and B, ``to`` the address and row
        stride of C, and ``sizes`` the numbers of rows, terms and columns. ``more`` is 0 for the
        first block of terms; ``copy`` is memory for columns of B.
        """
        (b, bk, bn), (c, cm), (rows, terms, columns) = right, to, sizes
        item = word(self.parts.itemsize)
        done = self._emit_single_row(builder, left, right, to, sizes, more)
        rest = builder.sub(columns, done)
        with counted_loop(builder, _ceiling(builder, rest, self.parts.columns)) as panel:
            column, width = _part(builder, rest, panel, self.parts.columns)
            column = builder.add(column, done)
            matrix = _at(builder, b, (column, bn)), bk, bn, terms, width
            side = self._side_by_side(builder, matrix, copy)
            at = _at(builder, c, (column, item))
            self._call_panel(builder, [*left, *side, at, cm, rows, terms, width, more], width)

    def _emit_single_row(
        self, builder: Builder, left: Any, right: Any, to: Any, sizes: Any, more: Any
    ) -> ir.Value:
        """Emit the product for an A of a single row; return how many columns of C are finished.

        Columns that do not fill whole registers are left. At run time the number is 0 if A has more
        rows, or if neither the rows nor the columns of B are contiguous.
        """
        (a, _, ak), (b, bk, bn), (c, cm), (rows, terms, columns) = left, right, to, sizes
        item = word(self.parts.itemsize)
        one = builder.icmp_signed("==", rows, word(1))
        by_rows = builder.and_(one, builder.icmp_signed("==", bn, item))
        by_columns = builder.and_(one, builder.icmp_signed("==", bk, item))
        by_columns = builder.and_(by_columns, builder.not_(by_rows))
        done = word(0)
        for chosen, registers in ((by_rows, WIDE), (by_columns, REGISTERS)):
            width = word(registers * self.parts.lanes)
            count = builder.select(chosen, builder.sdiv(columns, width), word(0))
            with counted_loop(builder, count) as number:
                column = builder.mul(number, width)
                at, to_row = _at(builder, b, (column, bn)), _at(builder, c, (column, item))
                if registers == WIDE:
                    given = [*left, at, bk, to_row, cm, terms, width, more]
                    builder.call(self.wide, given)
                else:
                    builder.call(self.single_row, [a, ak, at, bn, to_row, terms, more])
            done = builder.add(done, builder.mul(count, width))
        return done

    def _side_by_side(
        self, builder: Builder, matrix: Sequence[ir.Value], copy: ir.Value
    ) -> list[ir.Value]:
        """Emit a copy of some columns of B, if needed; return the columns' address and row stride.

        The columns are used in place if their rows are contiguous, and are copied otherwise. Code
        loads only whole registers, so columns that do not fill the registers are copied too.
        """
        right, bk, bn, _, width = matrix
        contiguous = builder.icmp_signed("==", bn, word(self.parts.itemsize))
        full = builder.icmp_signed("==", width, word(self.parts.columns))
        in_place = builder.and_(contiguous, full)
        names = ("copy_it", "by_rows", "by_columns", "multiply")
        copy_it, by_rows, by_columns, multiply = map(builder.append_basic_block, names)
        entry = builder.basic_block
        builder.cbranch(in_place, multiply, copy_it)
        builder.position_at_end(copy_it)
        builder.cbranch(contiguous, by_rows, by_columns)
        for block, function in zip((by_rows, by_columns), self.copies, strict=True):
            builder.position_at_end(block)
            builder.call(function, [*matrix, copy])
            builder.branch(multiply)
        builder.position_at_end(multiply)
        results = []
        distance = word(self.parts.columns * self.parts.itemsize)
        for there, copied in ((right, copy), (bk, distance)):
            value = builder.phi(INT64)
            value.add_incoming(there, entry)
            value.add_incoming(copied, by_rows)
            value.add_incoming(copied, by_columns)
            results.append(value)
        return results

    def _call_panel(self, builder: Builder, given: Sequence[ir.Value], width: ir.Value) -> None:
        """Emit a call of the narrowest panel that has room for ``width`` columns."""
        narrow = builder.icmp_signed("<=", width, word(self.parts.lanes))
        with builder.if_else(narrow) as (then, otherwise):
            with then:
                builder.call(self.panels[0], given)
            with otherwise:
                builder.call(self.panels[1], given)


def _at(builder: Builder, base: ir.Value, *steps: tuple[ir.Value, ir.Value]) -> ir.Value:
    """Return the address ``base`` plus ``number * stride`` for each of the steps."""
    for number, stride in steps:
        base = builder.add(base, builder.mul(number, stride))
    return base


def _ceiling(builder: Builder, value: ir.Value, size: int) -> ir.Value:
    return builder.sdiv(builder.add(value, word(size - 1)), word(size))


def _part(
    builder: Builder, total: ir.Value, number: ir.Value, size: int
) -> tuple[ir.Value, ir.Value]:
    """Return the start and the size of part ``number`` of ``total``, cut into parts of ``size``.

    The last part may be smaller.
    """
    start = builder.mul(number, word(size))
    rest = builder.sub(total, start)
    short = builder.icmp_signed("<", rest, word(size))
    return start, builder.select(short, rest, word(size))
