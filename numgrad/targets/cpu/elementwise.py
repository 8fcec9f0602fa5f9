"""LLVM code of elementwise kernels: one loop around an inlined scalar function.

The loop works on blocks. An operand that is contiguous is used in place; any other one (strided,
reversed, or a single broadcast element) passes through a small buffer on the stack. So there is ONE
loop over elements: LLVM vectorises it, compiles it once, and an element gets the same bits whatever
the strides are. The loop is marked as having independent iterations, which holds for disjoint
operands and for outputs that are exactly an input, so no run-time alias checks are needed.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

from llvmlite import ir
from numba.core import types
from numba.core.base import BaseContext

from .copies import GATHER, SCATTER
from .intrinsics import INT64

BLOCK = 256
Builder: TypeAlias = Any
"""An ``ir.IRBuilder``: no checker sees through the decorators that make its methods."""

COPY_TYPE = ir.FunctionType(ir.VoidType(), [INT64] * 5)


def word(value: int) -> ir.Constant:
    """An int64 constant."""
    return ir.Constant(INT64, value)


class _Distinct(ir.MDValue):
    """A ``distinct`` metadata node, which loops and access groups must be."""

    def descr(self, buf: list) -> None:
        operands = ", ".join(operand.get_reference() for operand in self.operands)
        buf += (f"distinct !{{ {operands} }}", "\n")


def _distinct(module: ir.Module, operands: Sequence[Any] = ()) -> _Distinct:
    return _Distinct(module, operands, name=str(len(module.metadata)))


def _loop_id(module: ir.Module, *properties: Sequence[Any]) -> _Distinct:
    nodes = [module.add_metadata(list(item)) for item in properties]
    loop = _distinct(module)
    loop.operands = (loop, *nodes)  # LLVM recognises a loop's node by its reference to itself
    return loop


def _string(module: ir.Module, text: str) -> ir.MetaDataString:
    return ir.MetaDataString(module, text)


@contextmanager
def counted_loop(
    builder: Builder, count: ir.Value, loop_id: ir.MDValue | None = None
) -> Iterator[ir.Value]:
    """Emit ``for index in range(count)``; the body is what the ``with`` block emits."""
    entry = builder.basic_block
    body = builder.append_basic_block("body")
    done = builder.append_basic_block("done")
    builder.cbranch(builder.icmp_signed(">", count, word(0)), body, done)
    builder.position_at_end(body)
    index = builder.phi(INT64)
    index.add_incoming(word(0), entry)
    yield index
    following = builder.add(index, word(1), flags=("nuw", "nsw"))
    index.add_incoming(following, builder.basic_block)
    back = builder.cbranch(builder.icmp_signed("<", following, count), body, done)
    if loop_id is not None:
        back.set_metadata("llvm.loop", loop_id)
    builder.position_at_end(done)


class Memory:
    """Reads and writes scalars of one type; complex ones part by part, so that loops vectorise."""

    def __init__(self, context: BaseContext, dtype: types.Type) -> None:
        self.context = context
        self.dtype = dtype
        self.model = context.data_model_manager[dtype]
        self.data_type = context.get_data_type(dtype)
        self.itemsize = context.get_abi_sizeof(self.data_type)

    def read(self, builder: Builder, address: ir.Value, group: Any = None) -> ir.Value:
        """Load the scalar at ``address`` (an ``LLVM`` pointer to the data type)."""
        if not isinstance(self.dtype, types.Complex):
            raw = builder.load(address)
            _mark(raw, group)
            return self.model.from_data(builder, raw)
        value = ir.Constant(self.data_type, ir.Undefined)
        for part in range(2):
            raw = builder.load(self._part(builder, address, part))
            _mark(raw, group)
            value = builder.insert_value(value, raw, part)
        return value

    def write(
        self, builder: Builder, value: ir.Value, address: ir.Value, group: Any = None
    ) -> None:
        """Store the scalar ``value`` at ``address``."""
        if not isinstance(self.dtype, types.Complex):
            _mark(builder.store(self.model.as_data(builder, value), address), group)
            return
        for part in range(2):
            raw = builder.extract_value(value, part)
            _mark(builder.store(raw, self._part(builder, address, part)), group)

    def _part(self, builder: Builder, address: ir.Value, part: int) -> ir.Value:
        return builder.gep(address, [ir.Constant(ir.IntType(32), index) for index in (0, part)])


def _mark(instruction: ir.Instruction, group: Any) -> None:
    if group is not None:
        instruction.set_metadata("llvm.access.group", group)


class Operand(NamedTuple):
    """One operand of the loop: its memory, base address, step, and buffer on the stack."""

    memory: Memory
    base: ir.Value
    step: ir.Value
    direct: ir.Value
    buffer: ir.Value

    def address(self, builder: Builder, index: ir.Value) -> ir.Value:
        """Address of element ``index``."""
        return builder.add(self.base, builder.mul(index, self.step))

    def pointer(self, builder: Builder, address: ir.Value) -> ir.Value:
        """Pointer to the operand's elements at ``address``."""
        return builder.inttoptr(address, self.memory.data_type.as_pointer())


def operands(
    builder: Builder, memories: Sequence[Memory], args: Sequence[ir.Value]
) -> list[Operand]:
    """Read the operand table of the kernel ABI."""
    ptrs, n, _, steps, _ = args
    single = builder.icmp_signed("<=", n, word(1))
    result = []
    for index, memory in enumerate(memories):
        buffer = builder.alloca(ir.ArrayType(memory.data_type, BLOCK))
        buffer.align = 64
        step = table_word(builder, steps, index)
        unit = builder.icmp_signed("==", step, word(memory.itemsize))
        direct = builder.or_(unit, single)
        base = table_word(builder, ptrs, index)
        result.append(Operand(memory, base, step, direct, builder.ptrtoint(buffer, INT64)))
    return result


def table_word(builder: Builder, table: ir.Value, index: int) -> ir.Value:
    """Load int64 number ``index`` of the table at address ``table``."""
    pointer = builder.inttoptr(table, INT64.as_pointer())
    return builder.load(builder.gep(pointer, [word(index)]))


def _join(builder: Builder, value: Any, block, other: ir.Value, other_block) -> ir.Value:
    result = builder.phi(value.type)
    result.add_incoming(value, block)
    result.add_incoming(other, other_block)
    return result


class ElementwiseLoop:
    """Emits the body of an elementwise kernel.

    Parameters
    ----------
    context
        Numba's target context.
    in_types, out_types
        Numba types of the operands.
    call
        ``call(builder, values, index, status)`` emits the scalar function and returns its results;
        where it raises, it reports ``index`` and returns from the kernel.
    """

    def __init__(self, context, in_types, out_types, call) -> None:
        self.inputs = [Memory(context, dtype) for dtype in in_types]
        self.outputs = [Memory(context, dtype) for dtype in out_types]
        self.call = call

    def emit(self, builder: Builder, args: Sequence[ir.Value]) -> None:
        """Emit the whole kernel: one block in place, or blocks gathered, computed and scattered.

        Branches, not selections, tell the cases apart: predicted, they cost a short loop nothing.
        """
        n, status = args[1], args[4]
        table = operands(builder, self.inputs + self.outputs, args)
        in_place = table[0].direct
        for operand in table[1:]:
            in_place = builder.and_(in_place, operand.direct)
        names = ("blocks", "in_place", "buffered", "compute", "scatter", "exit")
        blocks, direct, buffered, compute, scatter, leave = map(builder.append_basic_block, names)
        entry = builder.basic_block
        builder.branch(blocks)

        builder.position_at_end(blocks)
        start = builder.phi(INT64)
        start.add_incoming(word(0), entry)
        builder.cbranch(in_place, direct, buffered)

        builder.position_at_end(direct)
        whole = [n, *(operand.pointer(builder, operand.base) for operand in table)]
        builder.branch(compute)

        builder.position_at_end(buffered)
        part = self._gather_all(builder, table, start, n)
        gathered = builder.basic_block
        builder.branch(compute)

        builder.position_at_end(compute)
        count, *pointers = (
            _join(builder, value, direct, other, gathered)
            for value, other in zip(whole, part, strict=True)
        )
        self._compute(builder, pointers, start, count, status)
        builder.cbranch(in_place, leave, scatter)

        builder.position_at_end(scatter)
        for operand in table[len(self.inputs) :]:
            with builder.if_then(builder.not_(operand.direct)):
                self._copy(builder, SCATTER, operand, start, count)
        following = builder.add(start, word(BLOCK))
        start.add_incoming(following, builder.basic_block)
        builder.cbranch(builder.icmp_signed("<", following, n), blocks, leave)

        builder.position_at_end(leave)
        builder.ret_void()

    def _gather_all(self, builder, table, start, n) -> list[ir.Value]:
        """Fill the buffers of a block; returns its length and a pointer for each operand."""
        rest = builder.sub(n, start)
        short = builder.icmp_signed("<", rest, word(BLOCK))
        count = builder.select(short, rest, word(BLOCK))
        first = builder.icmp_signed("==", start, word(0))
        for operand in table[: len(self.inputs)]:
            stale = builder.or_(first, builder.icmp_signed("!=", operand.step, word(0)))
            with builder.if_then(builder.and_(builder.not_(operand.direct), stale)):
                self._copy(builder, GATHER, operand, start, count)
        pointers = []
        for operand in table:
            own = operand.address(builder, start)
            chosen = builder.select(operand.direct, own, operand.buffer)
            pointers.append(operand.pointer(builder, chosen))
        return [count, *pointers]

    def _copy(self, builder, name: str, operand: Operand, start, count) -> None:
        """Call one of the shared copy routines."""
        function = builder.module.globals.get(name) or ir.Function(builder.module, COPY_TYPE, name)
        address = operand.address(builder, start)
        itemsize = word(operand.memory.itemsize)
        builder.call(function, [operand.buffer, address, operand.step, count, itemsize])

    def _compute(self, builder, pointers, start, count, status) -> None:
        module = builder.module
        sources, targets = pointers[: len(self.inputs)], pointers[len(self.inputs) :]
        group = _distinct(module)
        loop_id = _loop_id(module, (_string(module, "llvm.loop.parallel_accesses"), group))
        with counted_loop(builder, count, loop_id) as index:
            values = [
                memory.read(builder, builder.gep(source, [index]), group)
                for memory, source in zip(self.inputs, sources, strict=True)
            ]
            results = self.call(builder, values, builder.add(start, index), status)
            for memory, target, result in zip(self.outputs, targets, results, strict=True):
                memory.write(builder, result, builder.gep(target, [index]), group)
