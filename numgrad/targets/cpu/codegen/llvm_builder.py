"""Pieces of LLVM code that all generators of kernels use: words, loops, scalars in memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from llvmlite import ir
from numba.core import types
from numba.core.base import BaseContext

from ..compile.intrinsics import INT64

Builder: TypeAlias = Any
"""An ``ir.IRBuilder``: no checker sees through the decorators that make its methods."""


def word(value: int) -> ir.Constant:
    """Return an int64 constant."""
    return ir.Constant(INT64, value)


class _Distinct(ir.MDValue):
    """A ``distinct`` metadata node, which loops and access groups must be."""

    def descr(self, buf: list) -> None:
        operands = ", ".join(operand.get_reference() for operand in self.operands)
        buf += (f"distinct !{{ {operands} }}", "\n")


def _distinct(module: ir.Module) -> _Distinct:
    return _Distinct(module, (), name=str(len(module.metadata)))


def independent_accesses(module: ir.Module, interleave: int = 0) -> tuple[ir.MDValue, ir.MDValue]:
    """Return two metadata nodes by which LLVM knows that a loop's iterations are independent.

    The first marks each access to memory, the second the loop. ``interleave`` is the number of
    vectors in an iteration of the vectorised loop; 0 lets LLVM choose.
    """
    group = _distinct(module)
    properties: list[tuple[str, Any]] = [("parallel_accesses", group)]
    if interleave:
        count = ir.Constant(ir.IntType(32), interleave)
        properties.append(("interleave.count", count))
    loop = _distinct(module)
    # LLVM recognises a loop's node by its reference to itself.
    loop.operands = (loop, *(_property(module, *item) for item in properties))
    return group, loop


def _property(module: ir.Module, name: str, value: Any) -> ir.MDValue:
    return module.add_metadata([ir.MetaDataString(module, f"llvm.loop.{name}"), value])


@contextmanager
def counted_loop(
    builder: Builder, count: ir.Value, loop_id: ir.MDValue | None = None
) -> Iterator[ir.Value]:
    """Emit ``for index in range(count)``; the ``with`` block emits the body."""
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
    """Emits loads and stores of scalars of one type.

    The parts of complex numbers are loaded and stored one by one, so that LLVM vectorises loops.
    """

    def __init__(self, context: BaseContext, dtype: types.Type) -> None:
        self.context = context
        self.dtype = dtype
        self.model = context.data_model_manager[dtype]
        self.data_type = context.get_data_type(dtype)
        self.itemsize = context.get_abi_sizeof(self.data_type)

    def read(self, builder: Builder, address: ir.Value, group: Any = None) -> ir.Value:
        """Emit the load of the scalar at ``address``, an LLVM pointer.

        ``group`` marks the access as one of `independent_accesses`.
        """
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
        """Emit the store of a scalar at ``address``, an LLVM pointer.

        ``group`` marks the access as one of `independent_accesses`.
        """
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


def table_word(builder: Builder, table: ir.Value, index: int) -> ir.Value:
    """Emit the load of the word (int64) at position ``index`` of the table at address ``table``."""
    pointer = builder.inttoptr(table, INT64.as_pointer())
    return builder.load(builder.gep(pointer, [word(index)]))


def table_words(builder: Builder, table: ir.Value, count: int) -> ir.Value:
    """Emit the load of the first ``count`` words of the table at address ``table``, as a vector."""
    pointer = builder.inttoptr(table, ir.VectorType(INT64, count).as_pointer())
    return builder.load(pointer, align=8)
