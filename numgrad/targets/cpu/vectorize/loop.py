"""The loop of a kernel whose body is written for whole vectors.

The body exists once, so that a kernel of hundreds of steps is compiled in milliseconds; it computes
a whole block of elements. Where the length of a row is not a multiple of the block, the block that
ends with the row, the tail, is computed first. The results of the tail go to the stack, and only at
the end to the outputs, because an output may be an input that is still to be read. A row shorter
than a block is copied to the stack, under a mask.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

from llvmlite import ir

from ..codegen.elementwise import ElementwiseKernel
from ..codegen.llvm_builder import Builder, counted_loop, table_word, word
from ..compile.intrinsics import INT64
from .load_store import Transfers
from .value_numbering import Operand
from .widen import Widening

# A kernel with at least so many operations for each operand prefetches, so many bytes ahead: it
# computes longer than memory takes to answer, and the processor looks no further than one block.
_OPERATIONS, AHEAD = 4, 512
# Operations of such a kernel stay in the order of `value_numbering`: LLVM's scheduler would save
# registers instead, and kernels of 300 operations took up to 1.17 times as long.
_LABEL = "llvm.codeview.annotation"


class VectorLoop(ElementwiseKernel):
    """Emits a kernel around a body of vector code.

    Parameters
    ----------
    context, in_types, out_types, scalars
        As for `ElementwiseKernel`.
    code : Widening
        The body.
    """

    def __init__(self, context, in_types, out_types, scalars, code: Widening) -> None:
        calls = any(node.name[0] == "@" for node in code.flow.nodes)
        operations = inf if calls else len(code.flow.order)
        super().__init__(context, in_types, out_types, scalars, operations=operations)
        self.code, self.transfers = code, Transfers(code)
        self.block = code.lanes * code.count
        self.moving = [k for k, one in enumerate(self.scalars) if not one]
        self.outputs = range(self.nin, len(self.scalars))
        self.is_slow = len(code.flow.order) >= _OPERATIONS * len(self.moving)
        self.whole = self.block if code.lanes > 1 and not self.is_slow else 0

    def declarations(self, module: ir.Module) -> str:
        """Return the declarations of functions that the code calls and the module lacks."""
        if self.is_slow:
            self.code.declarations.add("void", _LABEL, ["metadata"])
        return "\n".join(self.code.declarations.lines(module.globals))

    def _elements(self, builder: Builder, table, first, count, status) -> None:
        _Row(self, builder, table, count).emit()

    def boundary(self, module: ir.Module) -> tuple[str, ...]:
        """Return a line across which LLVM moves no operation of a slow kernel.

        The line is a label, which emits no instruction but ends a region of LLVM's scheduler.
        """
        if not self.is_slow:
            return ()
        node = module.add_metadata(["order"])
        return (f"call void @{_LABEL}(metadata {node.get_reference()})",)

    def numbers(self, table: str) -> Iterator[str]:
        """Yield the lines before a loop: loads of scalar inputs, and what depends on these alone.
        """
        numbers = [k for k, one in enumerate(self.scalars) if one]
        yield from self.transfers.pointers("s", table, numbers)
        for k in numbers:
            yield from self.transfers.load_number(k, f"%s{k}")
        for number in self.code.flow.once:
            yield from self.code.lines(number)

    def body(
        self, index: str, operands: Sequence["Operands"], fixed: Sequence[str]
    ) -> Iterator[str]:
        """Yield the lines that compute one block: inputs are loaded when they are first needed.

        Outputs are stored last. ``fixed`` has lines that follow each operation.
        """
        flow, nin = self.code.flow, self.nin
        for one in operands if self.is_slow else ():
            yield from one.prefetch(index)
        waiting = [one for one in operands if one.operands[0] < nin]
        needed = [(number, flow.nodes[number - nin].operands) for number in flow.order]
        for number, values in (*needed, (None, flow.outputs)):
            for one in [one for one in waiting if not {*one.operands}.isdisjoint(values)]:
                waiting.remove(one)
                yield from one.load(index)
            if number is not None:
                yield from self.code.lines(number)
                yield from fixed
        results = dict(zip(self.outputs, flow.outputs, strict=True))
        for one in operands:
            if one.operands[0] >= nin:
                yield from one.store(index, results)


class Operands:
    """Operands that the body of a loop loads or stores together: here a contiguous one."""

    def __init__(self, loop: VectorLoop, operands: Sequence[int]) -> None:
        self.loop, self.transfers = loop, loop.transfers
        self.operands = operands

    def load(self, index: str) -> Iterator[str]:
        """Yield lines that load a block from element ``index`` on."""
        (k,) = self.operands
        yield self.transfers.move(f"%a{k}", k, f"%p{k}", index)
        yield from self.transfers.load(k, f"%a{k}")

    def store(self, index: str, values: Mapping[int, Operand]) -> Iterator[str]:
        """Yield lines that store a block; ``values`` has the values of outputs by operand."""
        (k,) = self.operands
        yield self.transfers.move(f"%a{k}", k, f"%p{k}", index)
        yield from self.transfers.store(k, values[k], f"%a{k}")

    def prefetch(self, index: str) -> Iterator[str]:
        """Yield lines that prefetch what a later turn of the loop loads or stores."""
        (k,) = self.operands
        yield from self.transfers.prefetch(f"%p{k}", k, index, self.loop.block, AHEAD)


class _Row:
    """Emits the code for one row of ``count`` elements; ``table`` has the operands' addresses."""

    def __init__(self, loop: VectorLoop, builder: Builder, table: Any, count: Any) -> None:
        self.loop, self.code, self.transfers = loop, loop.code, loop.transfers
        self.builder, self.table, self.count = builder, table, count
        self.groups: dict[str, list[int]] = {}
        for k in (k for k in loop.moving if k < loop.nin):
            self.groups.setdefault(self.transfers.stored[k], []).append(k)
        names = ("long", "tail", "short", "turn", "again", "end", "save", "done")
        self.blocks = {name: builder.append_basic_block(name) for name in names}
        with builder.goto_entry_block():
            self.own = self._space()
        self._operands = [Operands(loop, [k]) for k in loop.moving]
        self._fixed = loop.boundary(builder.module)

    def _space(self) -> Any:
        """Reserve stack memory: a block for each array operand, and a table of pointers.

        The block of output ``k`` is called ``%h<k>``. Return the address of the table.
        """
        builder, outputs = self.builder, self.loop.outputs
        count = sum(map(len, self.groups.values()))
        table = builder.alloca(ir.ArrayType(INT64, len(self.loop.scalars)))
        block = ir.ArrayType(ir.IntType(8), self.transfers.slot)
        self.space = builder.alloca(ir.ArrayType(block, count + len(outputs)))
        self.space.align = 64
        self._write(self._slot(f"%h{k}", count + n) for n, k in enumerate(outputs))
        return builder.ptrtoint(table, INT64)

    def _slot(self, name: str, number: int | str) -> str:
        """Return the line that makes a pointer to block ``number`` on the stack.

        The blocks of inputs come before those of outputs.
        """
        kind = f"[{self.transfers.slot} x i8]"
        return f"{name} = getelementptr {kind}, ptr {_name(self.space)}, i64 {number}"

    def _write(self, lines: Iterable[str]) -> None:
        write_lines(self.builder, lines)

    def emit(self) -> None:
        """Emit the code of a row; predicted branches choose by the length of the row."""
        builder, blocks = self.builder, self.blocks
        self._write(self.loop.numbers(_name(self.table)))
        self.whole = builder.and_(self.count, word(-self.loop.block))
        self.last = builder.sub(self.count, word(self.loop.block))
        is_short = builder.icmp_signed("<", self.last, word(0))
        even = builder.icmp_signed("==", self.whole, self.count)
        builder.cbranch(is_short, blocks["short"], blocks["long"])
        self._in_block("long", lambda: builder.cbranch(even, blocks["turn"], blocks["tail"]))
        self._in_block("tail", self._tail)
        self._in_block("short", self._short)
        self._in_block("turn", self._turn)
        self._in_block("again", lambda: builder.branch(blocks["turn"]))
        self._in_block("end", lambda: builder.cbranch(even, blocks["done"], blocks["save"]))
        self._in_block("save", lambda: self._save(is_short))
        builder.position_at_end(blocks["done"])

    def _in_block(self, name: str, emit: Callable[[], object]) -> None:
        self.builder.position_at_end(self.blocks[name])
        emit()

    def _tail(self) -> None:
        """Emit what precedes the loop for the tail, a row's last block: results go to the stack."""
        back = _name(self.builder.sub(word(0), self.last))
        own, outputs = _name(self.own), self.loop.outputs
        self._write(self.transfers.move(f"%t{k}", k, f"%h{k}", back) for k in outputs)
        self._write(self.transfers.redirect("t", own, outputs))
        self.builder.branch(self.blocks["turn"])

    def _short(self) -> None:
        """Emit what precedes the loop for a row shorter than a block, computed on the stack.

        One loop copies all inputs of a type to the stack: less code to compile than a copy for each
        input.
        """
        builder = self.builder
        own, count = _name(self.own), _name(self.count)
        self._write(self.transfers.masks("c", count))
        first = 0
        for kind, operands in self.groups.items():
            numbers = self._constants(f"inputs_{kind}", operands)
            with counted_loop(builder, word(len(operands))) as index:
                slot, k = builder.add(index, word(first)), operands[0]
                at = builder.add(numbers, builder.mul(index, word(8)))
                number = _name(table_word(builder, at, 0))
                self._write([self._slot(f"%h{k}", _name(slot))])
                self._write(self.transfers.pick("c", k, _name(self.table), number))
                self._write(self.transfers.fill("c", k, f"%h{k}"))
                self._write(self.transfers.place(f"%h{k}", own, number))
            first += len(operands)
        self._write(self.transfers.redirect("h", own, self.loop.outputs))
        self.blocks["short"] = builder.basic_block
        builder.branch(self.blocks["turn"])

    def _constants(self, name: str, numbers: list[int]) -> ir.Constant:
        """Return the address of an array of constant numbers, which becomes part of the module."""
        kind = ir.ArrayType(INT64, len(numbers))
        made: Any = ir.GlobalVariable(self.builder.module, kind, name)
        made.initializer = ir.Constant(kind, numbers)
        made.global_constant, made.linkage = True, "internal"
        return self.builder.ptrtoint(made, INT64)

    def _turn(self) -> None:
        """Emit the loop over blocks, which serves a tail, a short row, and whole blocks alike.

        After a tail the program enters the loop again, for the whole blocks. The addresses of
        inputs and of outputs may be in different tables.
        """
        builder, size = self.builder, word(self.loop.block)
        turns = {
            "long": (self.table, self.table, word(0), self.count),
            "tail": (self.table, self.own, self.last, self.count),
            "short": (self.own, self.own, word(0), size),
            "again": (self.table, self.table, word(0), self.whole),
        }
        places, results, begin, limit = phis = [builder.phi(INT64) for _ in range(4)]
        for name, values in turns.items():
            for phi, value in zip(phis, values, strict=True):
                phi.add_incoming(value, self.blocks[name])
        inputs = [k for k in self.loop.moving if k < self.loop.nin]
        self._write(self.transfers.pointers("p", _name(places), inputs))
        self._write(self.transfers.pointers("p", _name(results), self.loop.outputs, "r"))
        body, after = map(builder.append_basic_block, ("body", "after"))
        builder.branch(body)
        builder.position_at_end(body)
        index = builder.phi(INT64)
        index.add_incoming(begin, self.blocks["turn"])
        self._write(self.loop.body(_name(index), self._operands, self._fixed))
        following = builder.add(index, size, flags=("nuw", "nsw"))
        index.add_incoming(following, body)
        builder.cbranch(builder.icmp_signed("<", following, limit), body, after)
        builder.position_at_end(after)
        was_tail = builder.icmp_signed(">", begin, word(0))
        builder.cbranch(was_tail, self.blocks["again"], self.blocks["end"])

    def _save(self, is_short: ir.Value) -> None:
        """Emit the copy of a tail's or a short row's results from the stack to the outputs."""
        builder = self.builder
        ahead = _name(builder.select(is_short, word(0), self.last))
        self._write(self.transfers.pointers("e", _name(self.table), self.loop.outputs))
        present = builder.select(is_short, self.count, word(self.loop.block))
        self._write(self.transfers.masks("d", _name(present)))
        for k in self.loop.outputs:
            self._write([self.transfers.move(f"%d{k}", k, f"%e{k}", ahead)])
            self._write(self.transfers.save("d", k, f"%h{k}"))
        builder.branch(self.blocks["done"])


def _name(value: Any) -> str:
    """Return the name that a value of the builder has in LLVM's text."""
    return value.get_reference()


def write_lines(builder: Builder, lines: Iterable[str]) -> None:
    """Write lines of text without branches at the end of the builder's block."""
    _Lines(builder, lines)


class _Lines(ir.Instruction):
    """Lines of text without branches, as one instruction of the builder."""

    def __init__(self, builder: Builder, lines: Iterable[str]) -> None:
        super().__init__(builder.block, ir.VoidType(), "", ())
        self.text = "\n  ".join(lines)
        place: Any = builder.comment("")  # the builder takes no instructions made by others
        instructions = builder.block.instructions
        instructions[instructions.index(place)] = self

    def descr(self, buf: list) -> None:
        """Append the lines to ``buf``, the text of the module."""
        buf.append(self.text)
