"""Kernels whose operands are columns of tables: rows of few elements are loaded and stored whole.

The elements of a column are strided. Copied to buffers and back, they took longer than most kernels
compute. So where operands are the columns of tables, as the kernel's spec expects, whole blocks of
elements are computed by a loop of its own, which moves the rows of a table between memory and
registers (`shuffles`). The last elements of a row, and operands that lie otherwise, are left to the
loop that serves any strides.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from llvmlite import ir

from numgrad.ir.kernel_spec import Table

from ..codegen.elementwise import ROWS_TYPE
from ..codegen.llvm_builder import Builder, counted_loop, table_word, word
from ..compile.intrinsics import INT64
from .loop import AHEAD, Operands, VectorLoop, write_lines
from .shuffles import Shuffles
from .value_numbering import Operand

_NEAR = 16
"""The bytes of a register that shuffles without a table of places keep together."""

_BLOCKS_TYPE = ir.FunctionType(ir.VoidType(), [INT64] * 2)


def emit_rows(loop: VectorLoop, tables: Sequence[Table], rows: ir.Function) -> None:
    """Emit the entry for several rows, as `ElementwiseKernel.emit_rows` does, for tables."""
    module = rows.module
    others = ir.Function(module, ROWS_TYPE, f"{rows.name}_any")
    others.linkage = "internal"
    others.attributes.add("noinline")
    loop.emit_rows(ir.IRBuilder(others.append_basic_block("entry")), others.args)
    blocks = ir.Function(module, _BLOCKS_TYPE, f"{rows.name}_blocks")
    blocks.linkage = "internal"
    blocks.attributes.add("noinline")
    _emit_blocks(loop, tables, blocks)
    _emit_choice(loop, tables, rows, blocks, others)


def _emit_choice(
    loop: VectorLoop, tables: Sequence[Table], rows: ir.Function, blocks: Any, others: Any
) -> None:
    """Emit the choice between whole blocks in place, and the loop for operands of any strides.

    Where blocks are computed in place, some last elements of each row are left to the other loop.
    """
    builder: Builder = ir.IRBuilder(rows.append_basic_block("entry"))
    ptrs, n, count, steps, status, row_steps = rows.args
    fits = _fits(loop, tables, builder, ptrs, steps, row_steps)
    fits = builder.and_(fits, builder.icmp_signed(">", n, word(loop.block)))
    with builder.if_else(fits) as (then, otherwise):
        with then:
            whole = builder.and_(builder.sub(n, word(1)), word(-loop.block))
            own = builder.ptrtoint(builder.alloca(ir.ArrayType(INT64, len(loop.memories))), INT64)
            with counted_loop(builder, count) as row:
                loop.move(builder, own, ptrs, row_steps, row)
                builder.call(blocks, [own, whole])
            loop.move(builder, own, ptrs, steps, whole, [not one for one in loop.scalars])
            rest = builder.sub(n, whole)
            builder.call(others, [own, rest, count, steps, status, row_steps])
            with builder.if_then(builder.icmp_signed(">", count, word(1))):
                loop.move(builder, ptrs, ptrs, row_steps, builder.sub(count, word(1)))
        with otherwise:
            builder.call(others, rows.args)
    builder.ret_void()


def _fits(loop: VectorLoop, tables: Sequence[Table], builder: Builder, *words: Any) -> Any:
    """Emit whether the columns of tables lie as expected, and other operands are contiguous.

    ``words`` has the tables of the operands' addresses, of their steps, and of their row steps.
    """
    ptrs, steps, row_steps = words
    sizes = [memory.itemsize for memory in loop.memories]
    moves = {k: sizes[k] for k in loop.moving}
    equal = []
    for table in tables:
        first, origin = table.columns[0]
        for k, place in table.columns:
            moves[k] = sizes[k] * table.width
            ahead = word((place - origin) * sizes[k])
            start = builder.add(table_word(builder, ptrs, first), ahead)
            equal.append((table_word(builder, ptrs, k), start))
            equal.append((table_word(builder, row_steps, k), table_word(builder, row_steps, first)))
    equal += [(table_word(builder, steps, k), word(step)) for k, step in moves.items()]
    fits = word(0)
    for a, b in equal:
        fits = builder.or_(fits, builder.xor(a, b))
    return builder.icmp_signed("==", fits, word(0))


def _emit_blocks(loop: VectorLoop, tables: Sequence[Table], function: ir.Function) -> None:
    """Emit the loop over whole blocks; its arguments are a table of addresses, and the elements."""
    builder: Builder = ir.IRBuilder(function.append_basic_block("entry"))
    places, count = function.args
    ours = {k for table in tables for k, _ in table.columns}
    found: list[Any] = [Columns(loop, number, table) for number, table in enumerate(tables)]
    found += [Operands(loop, [k]) for k in loop.moving if k not in ours]
    write_lines(builder, loop.numbers(places.get_reference()))
    write_lines(builder, loop.transfers.pointers("p", places.get_reference(), loop.moving))
    body, done = map(builder.append_basic_block, ("body", "done"))
    entry = builder.basic_block
    builder.branch(body)
    builder.position_at_end(body)
    index = builder.phi(INT64)
    index.add_incoming(word(0), entry)
    write_lines(builder, loop.body(index.get_reference(), found, loop.boundary(builder.module)))
    following = builder.add(index, word(loop.block), flags=("nuw", "nsw"))
    index.add_incoming(following, body)
    builder.cbranch(builder.icmp_signed("<", following, count), body, done)
    builder.position_at_end(done)
    builder.ret_void()


class Columns(Operands):
    """Operands that are columns of one table, as the body of a loop loads and stores them.

    Lines begin names with a letter for what they are about, and the number of the table.
    """

    def __init__(self, loop: VectorLoop, number: int, table: Table) -> None:
        ordered = sorted(table.columns, key=lambda column: column[1])
        super().__init__(loop, [k for k, _ in ordered])
        self.code, self.name, self.width = loop.code, f"%w{number}", table.width
        self.first, origin = ordered[0]
        self.places = [place - origin for _, place in ordered]
        self.kind = loop.transfers.stored[self.first]
        # A row ends with its last column: behind the last row there may be no memory.
        lanes = self.code.lanes
        elements = (lanes - 1) * self.width + self.places[-1] + 1
        self.parts = [range(at, min(at + lanes, elements)) for at in range(0, elements, lanes)]

    def load(self, index: str) -> Iterator[str]:
        """Yield lines that load a block of each column."""
        yield from self._row("l", index)
        for n in range(self.code.count):
            rows = []
            for number, part in enumerate(self.parts):
                name = f"{self.name}l{n}_{number}"
                yield self._pointer("l", n, number)
                yield f"{name} = {self.transfers.load_part(self.first, f'{name}p', part)}"
                rows.append(f"{self.code.vector(self.kind)} {name}")
            given = {p: self.code.name(k, n) for k, p in self._pairs()}
            yield from self._shuffles("l", n).columns(rows, self.width, given)

    def store(self, index: str, values: Mapping[int, Operand]) -> Iterator[str]:
        """Yield lines that store a block of each column; ``values`` has the columns by operand."""
        yield from self._row("s", index)
        for n in range(self.code.count):
            columns: list[str | None] = [None] * self.width
            for k, place in self._pairs():
                columns[place] = self.code.operand(values[k], self.kind, n)
            shuffles = self._shuffles("s", n)
            yield from shuffles.rows(columns)
            for number, part in enumerate(self.parts):
                there = [place for place in part if place % self.width in self.places]
                given = f"{self.code.vector(self.kind)} {shuffles.row_names(self.width)[number]}"
                yield self._pointer("s", n, number)
                at = f"{self.name}s{n}_{number}p"
                yield self.transfers.store_part(self.first, given, at, there)

    def prefetch(self, index: str) -> Iterator[str]:
        """Yield lines that prefetch rows of the table."""
        yield from self._row("f", index)
        elements, row = self.loop.block * self.width, f"{self.name}fq"
        yield from self.transfers.prefetch(row, self.first, "0", elements, AHEAD)

    def _pairs(self) -> Iterator[tuple[int, int]]:
        return zip(self.operands, self.places, strict=True)

    def _shuffles(self, use: str, n: int) -> Shuffles:
        lanes = self.code.lanes
        near = min(lanes, _NEAR // self.transfers.sizes[self.first])
        return Shuffles(self.code.vector(self.kind), lanes, near, f"{self.name}{use}{n}")

    def _row(self, use: str, index: str) -> Iterator[str]:
        """Yield the line that makes a pointer to the first row of a block."""
        row = f"[{self.width} x {self.kind}]"
        yield f"{self.name}{use}q = getelementptr {row}, ptr %p{self.first}, i64 {index}"

    def _pointer(self, use: str, n: int, number: int) -> str:
        """Return the line that makes a pointer to vector ``number`` of the rows of part ``n``."""
        first = (n * self.width + number) * self.code.lanes
        name = f"{self.name}{use}{n}_{number}p"
        return self.transfers.move(name, self.first, f"{self.name}{use}q", first)
