"""LLVM code of the parts of a product: blocks of the result in registers, and copies of columns."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from llvmlite import ir

from ..codegen.llvm_builder import Builder, counted_loop, word
from ..compile.intrinsics import INT64
from ..pairwise.squares import transposed
from .gemm import Geometry

_VOID = ir.VoidType()
_INDEX = ir.IntType(32)
REGISTERS = 2
"""How many registers of columns a block of the result is wide."""


class GemmFunctions:
    """Adds the internal functions of a matrix product ``C = A B`` to an LLVM module.

    In the signatures ``a``, ``b`` and ``c`` are addresses, and ``am``, ``ak``, ``bk``, ``bn`` and
    ``cm`` strides in bytes: ``am`` from one row of A to the next, ``ak`` from one column of A to
    the next, and so on. ``terms`` is how many columns of A, and rows of B, are multiplied.

    Parameters
    ----------
    module : Module
        The module to which functions are added.
    geometry : Geometry
        The registers for which functions are made.
    """

    def __init__(self, module: ir.Module, geometry: Geometry) -> None:
        self.module, self.geometry = module, geometry
        self.itemsize, self.lanes = geometry.dtype.itemsize, geometry.lanes
        self.columns = REGISTERS * self.lanes
        self.scalar = ir.DoubleType() if self.itemsize == 8 else ir.FloatType()
        self.vector = ir.VectorType(self.scalar, self.lanes)
        self.mask = ir.VectorType(ir.IntType(1), self.lanes)

    def function(self, name: str, count: int) -> tuple[Builder, Sequence[ir.Value]]:
        """Add a function of ``count`` words; return a builder in its first block, and its
        arguments."""
        kind = ir.FunctionType(_VOID, [INT64] * count)
        function = ir.Function(self.module, kind, name)
        function.linkage = "internal"
        function.attributes.add("noinline")
        return ir.IRBuilder(function.append_basic_block("entry")), function.args

    # Blocks of the result in registers --------------------------------------------------------

    def micro(self, rows: int, registers: int) -> ir.Function:
        """Add ``f(a, am, ak, b, bk, c, cm, terms, columns, more)``: one block of the result.

        The block has ``rows`` rows and up to ``registers`` registers of columns, and its sums stay
        in registers. If ``more`` is 0 the sums are stored to ``c``; otherwise they are added to
        what is there.
        """
        builder, args = self.function(f"rows{rows}_registers{registers}", 10)
        a, am, ak, b, bk, c, cm, terms, columns, more = args
        sums = self._sums(builder, rows, registers, (a, am, ak, b, bk, terms))
        places = [
            [self._at(builder, c, (cm, row), number) for number in range(registers)]
            for row in range(rows)
        ]
        again = builder.icmp_signed("!=", more, word(0))
        full = builder.icmp_signed("==", columns, word(registers * self.lanes))
        with builder.if_else(full) as branches:
            for branch, masked in zip(branches, (False, True), strict=True):
                with branch:
                    for n in range(registers):
                        mask = self._first(builder, columns, n) if masked else None
                        for row in range(rows):
                            self._write(builder, sums[row][n], places[row][n], again, mask)
        builder.ret_void()
        return builder.function

    def _write(
        self, builder: Builder, value: ir.Value, place: ir.Value, again: ir.Value, mask: Any = None
    ) -> None:
        """Emit the store of ``value``; if ``again`` is true at run time, add what is there."""
        before = self.load(builder, place, mask)
        total = builder.fadd(before, value)
        self.store(builder, builder.select(again, total, value), place, mask)

    def _sums(
        self, builder: Builder, rows: int, registers: int, args: Sequence[ir.Value]
    ) -> list[list[ir.Value]]:
        """Emit the loop over terms; return the registers of sums, one list for each row of the
        block."""
        a, am, ak, b, bk, terms = args
        entry = builder.basic_block
        body, done = map(builder.append_basic_block, ("terms", "done"))
        zero = ir.Constant(self.vector, [0.0] * self.lanes)
        builder.cbranch(builder.icmp_signed(">", terms, word(0)), body, done)
        builder.position_at_end(body)
        left, at, row_of_b = builder.phi(INT64), builder.phi(INT64), builder.phi(INT64)
        sums = [[builder.phi(self.vector) for _ in range(registers)] for _ in range(rows)]
        places = [self._at(builder, row_of_b, None, number) for number in range(registers)]
        factors = [self.load(builder, place) for place in places]
        following = []
        for row in range(rows):
            place = builder.add(at, builder.mul(am, word(row)))
            factor = self._repeated(builder, place)
            following.append(
                [
                    self._multiply_add(builder, factor, factors[n], sums[row][n])
                    for n in range(registers)
                ]
            )
        steps = ((left, terms, word(-1)), (at, a, ak), (row_of_b, b, bk))
        for phi, start, step in steps:
            phi.add_incoming(start, entry)
            phi.add_incoming(builder.add(phi, step), body)
        ended = builder.icmp_signed("<=", left, word(1))
        builder.cbranch(ended, done, body)
        results = []
        builder.position_at_end(done)
        for row in range(rows):
            results.append([])
            for n in range(registers):
                sums[row][n].add_incoming(zero, entry)
                sums[row][n].add_incoming(following[row][n], body)
                result = builder.phi(self.vector)
                result.add_incoming(zero, entry)
                result.add_incoming(following[row][n], body)
                results[row].append(result)
        return results

    def _multiply_add(self, builder: Builder, x: ir.Value, y: ir.Value, z: ir.Value) -> ir.Value:
        if not self.geometry.fused:
            return builder.fadd(z, builder.fmul(x, y))
        kind = ir.FunctionType(self.vector, [self.vector] * 3)
        return builder.call(self._intrinsic("llvm.fma", kind), [x, y, z])

    def _intrinsic(self, name: str, kind: ir.FunctionType, suffix: str = "") -> ir.Function:
        name = f"{name}.v{self.lanes}f{8 * self.itemsize}{suffix}"
        known = self.module.globals.get(name)
        return known or ir.Function(self.module, kind, name)

    def _at(
        self, builder: Builder, base: ir.Value, row: tuple[ir.Value, int] | None, number: int
    ) -> ir.Value:
        """Return the address of register ``number`` of a row of the matrix at ``base``.

        ``row`` has the stride and the number of the row; None stands for the first row.
        """
        if row is not None:
            base = builder.add(base, builder.mul(row[0], word(row[1])))
        return builder.add(base, word(number * self.lanes * self.itemsize))

    def _repeated(self, builder: Builder, place: ir.Value) -> ir.Value:
        """Return a register with the number at ``place`` in all lanes."""
        one = self._one(builder, place)
        undefined = ir.Constant(self.vector, ir.Undefined)
        alone = builder.insert_element(undefined, one, ir.Constant(_INDEX, 0))
        return builder.shuffle_vector(alone, undefined, _indices([0] * self.lanes))

    # Registers in memory ----------------------------------------------------------------------

    def load(self, builder: Builder, place: ir.Value, mask: ir.Value | None = None) -> ir.Value:
        """Emit the load of a register; lanes where ``mask`` is false are zeros, not read."""
        pointer = builder.inttoptr(place, self.vector.as_pointer())
        if mask is None:
            return builder.load(pointer, align=self.itemsize)
        kind = ir.FunctionType(self.vector, [pointer.type, _INDEX, self.mask, self.vector])
        zero = ir.Constant(self.vector, [0.0] * self.lanes)
        function = self._intrinsic("llvm.masked.load", kind, ".p0")
        return builder.call(function, [pointer, ir.Constant(_INDEX, self.itemsize), mask, zero])

    def store(
        self, builder: Builder, value: ir.Value, place: ir.Value, mask: ir.Value | None = None
    ) -> None:
        """Emit the store of a register, or only of the lanes where ``mask`` is true."""
        pointer = builder.inttoptr(place, self.vector.as_pointer())
        if mask is None:
            builder.store(value, pointer, align=self.itemsize)
            return
        kind = ir.FunctionType(_VOID, [self.vector, pointer.type, _INDEX, self.mask])
        function = self._intrinsic("llvm.masked.store", kind, ".p0")
        builder.call(function, [value, pointer, ir.Constant(_INDEX, self.itemsize), mask])

    def _first(self, builder: Builder, columns: ir.Value, number: int) -> ir.Value:
        """Return the mask of the lanes of register ``number`` whose column is below ``columns``."""
        words = ir.VectorType(INT64, self.lanes)
        undefined = ir.Constant(words, ir.Undefined)
        alone = builder.insert_element(undefined, columns, ir.Constant(_INDEX, 0))
        repeated = builder.shuffle_vector(alone, undefined, _indices([0] * self.lanes))
        numbers = [word(number * self.lanes + lane) for lane in range(self.lanes)]
        return builder.icmp_signed("<", ir.Constant(words, numbers), repeated)

    # Columns side by side ---------------------------------------------------------------------

    def copy_rows(self) -> ir.Function:
        """Add ``f(b, bk, bn, terms, columns, copy)``, which copies columns of B, row by row.

        The rows of B are contiguous.
        """
        builder, (b, bk, _, terms, columns, copy) = self.function("copy_rows", 6)
        masks = [self._first(builder, columns, number) for number in range(REGISTERS)]
        with counted_loop(builder, terms) as term:
            row = builder.add(b, builder.mul(bk, term))
            target = builder.add(copy, builder.mul(term, word(self.columns * self.itemsize)))
            for number, mask in enumerate(masks):
                value = self.load(builder, self._at(builder, row, None, number), mask)
                self.store(builder, value, self._at(builder, target, None, number))
        builder.ret_void()
        return builder.function

    def copy_columns(self) -> ir.Function:
        """Add ``f(b, bk, bn, terms, columns, copy)``, which copies columns of B with any strides.

        Where the elements of a column are contiguous, square blocks are transposed in registers;
        what is left is copied element by element. The copy always fills two registers of columns:
        places beyond the last column get copies of that column, which nobody reads.
        """
        builder, (b, bk, bn, terms, columns, copy) = self.function("copy_columns", 6)
        contiguous = builder.icmp_signed("==", bk, word(self.itemsize))
        squares = builder.select(contiguous, builder.sdiv(terms, word(self.lanes)), word(0))
        last = builder.sub(columns, word(1))
        sources = []
        for column in range(self.columns):
            beyond = builder.icmp_signed(">", word(column), last)
            number = builder.select(beyond, last, word(column))
            sources.append(builder.add(b, builder.mul(bn, number)))
        width = self.columns * self.itemsize
        with counted_loop(builder, squares) as square:
            target = builder.add(copy, builder.mul(square, word(self.lanes * width)))
            for number, values in enumerate(self._square(builder, sources, square)):
                for term, value in enumerate(values):
                    place = builder.add(target, word(term * width))
                    self.store(builder, value, self._at(builder, place, None, number))
        done = builder.mul(squares, word(self.lanes))
        pointer = self.scalar.as_pointer()
        with counted_loop(builder, builder.sub(terms, done)) as rest:
            term = builder.add(done, rest)
            target = builder.add(copy, builder.mul(term, word(width)))
            for column, source in enumerate(sources):
                value = self._one(builder, builder.add(source, builder.mul(term, bk)))
                place = builder.add(target, word(column * self.itemsize))
                builder.store(value, builder.inttoptr(place, pointer), align=self.itemsize)
        builder.ret_void()
        return builder.function

    def single_row(self) -> ir.Function:
        """Add ``f(a, ak, b, bn, c, terms, more)``: two registers of one row of the product.

        The elements of each column of B are contiguous. B is loaded in square blocks, which are
        transposed in registers.
        """
        builder, (a, ak, b, bn, c, terms, more) = self.function("single_row", 7)
        sources = [builder.add(b, builder.mul(bn, word(n))) for n in range(self.columns)]
        zero = ir.Constant(self.vector, [0.0] * self.lanes)
        before: list[Any] = [zero] * REGISTERS
        squares = builder.sdiv(terms, word(self.lanes))

        def add_squares(square: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
            at = builder.add(a, builder.mul(builder.mul(square, word(self.lanes)), ak))
            places = [builder.add(at, builder.mul(ak, word(n))) for n in range(self.lanes)]
            factors = [self._repeated(builder, place) for place in places]
            for number, values in enumerate(self._square(builder, sources, square)):
                for factor, value in zip(factors, values, strict=True):
                    sums[number] = self._multiply_add(builder, factor, value, sums[number])
            return sums

        def add_one(rest: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
            term = builder.add(builder.mul(squares, word(self.lanes)), rest)
            factor = self._repeated(builder, builder.add(a, builder.mul(term, ak)))
            along = builder.mul(term, word(self.itemsize))
            for number in range(REGISTERS):
                value: Any = ir.Constant(self.vector, ir.Undefined)
                for lane in range(self.lanes):
                    place = builder.add(sources[number * self.lanes + lane], along)
                    one = self._one(builder, place)
                    value = builder.insert_element(value, one, ir.Constant(_INDEX, lane))
                sums[number] = self._multiply_add(builder, factor, value, sums[number])
            return sums

        sums = self._accumulated(builder, squares, before, add_squares)
        rest = builder.sub(terms, builder.mul(squares, word(self.lanes)))
        sums = self._accumulated(builder, rest, sums, add_one)
        again = builder.icmp_signed("!=", more, word(0))
        for number, value in enumerate(sums):
            self._write(builder, value, self._at(builder, c, None, number), again)
        builder.ret_void()
        return builder.function

    def _accumulated(
        self,
        builder: Builder,
        count: ir.Value,
        before: Sequence[ir.Value],
        add: Callable[[ir.Value, list[ir.Value]], list[ir.Value]],
    ) -> list[ir.Value]:
        """Emit ``count`` iterations of a loop that adds to registers; return the final registers.

        The registers begin with the values ``before``. ``add(index, values)`` emits one iteration,
        and returns the new values of the registers.
        """
        kept = [builder.alloca(self.vector) for _ in before]  # LLVM makes registers of them
        for slot, value in zip(kept, before, strict=True):
            builder.store(value, slot)
        with counted_loop(builder, count) as index:
            sums = add(index, [builder.load(slot) for slot in kept])
            for slot, value in zip(kept, sums, strict=True):
                builder.store(value, slot)
        return [builder.load(slot) for slot in kept]

    def _square(
        self, builder: Builder, sources: Sequence[ir.Value], square: ir.Value
    ) -> Iterator[Sequence[ir.Value]]:
        """Emit loads of square blocks of B; yield the rows of each block as registers.

        ``sources`` has the addresses of columns. A block has as many columns, and as many rows, as
        a register has lanes; blocks lie side by side until all columns are read. ``square`` says
        how many blocks lie above these blocks in B. The elements of a column are contiguous: each
        column of a block is loaded as a register, and then the block is transposed.
        """
        along = builder.mul(square, word(self.lanes * self.itemsize))
        for first in range(0, len(sources), self.lanes):
            group = sources[first : first + self.lanes]
            yield transposed(
                builder, [self.load(builder, builder.add(source, along)) for source in group]
            )

    def _one(self, builder: Builder, place: ir.Value) -> ir.Value:
        """Emit the load of a single number at ``place``."""
        return builder.load(builder.inttoptr(place, self.scalar.as_pointer()), align=self.itemsize)


def _indices(numbers: Sequence[int]) -> Any:
    return ir.Constant(ir.VectorType(_INDEX, len(numbers)), list(numbers))
