"""Numba intrinsics that kernels and the machine are written with: memory and calls by address.

Addresses are plain int64 values, so none of these touch reference counts or raise.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import types

if TYPE_CHECKING:

    def intrinsic(function: Callable[..., Any]) -> Callable[..., Any]:
        """Numba's decorator, which takes the first parameter, the typing context, away."""
        ...
else:
    from numba.extending import intrinsic

INT64 = ir.IntType(64)
KERNEL_TYPE = ir.FunctionType(ir.VoidType(), [INT64] * 5)
"""LLVM type of a kernel: ``void(ptrs, n, core_dims, steps, status)``, all int64."""

KERNEL_ARGS = (types.int64,) * 5
"""Numba argument types of a kernel."""


def scalar_type(dtype: Any) -> types.Type:
    """The Numba type that a dtype argument of an intrinsic stands for."""
    return getattr(dtype, "dtype", None) or dtype.instance_type


@intrinsic
def load(typingctx, address, dtype):
    """Read one scalar of ``dtype`` at ``address``."""
    scalar = scalar_type(dtype)

    def codegen(context, builder, signature, args):
        data = builder.inttoptr(args[0], context.get_data_type(scalar).as_pointer())
        return context.unpack_value(builder, scalar, data)

    return scalar(types.int64, dtype), codegen


@intrinsic
def store(typingctx, address, value):
    """Write ``value`` at ``address`` in its own dtype."""

    def codegen(context, builder, signature, args):
        data = builder.inttoptr(args[0], context.get_data_type(value).as_pointer())
        context.pack_value(builder, value, args[1], data)
        return context.get_dummy_value()

    return types.void(types.int64, value), codegen


@intrinsic
def store_at(typingctx, address, index, value):
    """Write ``value`` to place ``index`` of the array of its own dtype at ``address``."""

    def codegen(context, builder, signature, args):
        data = builder.inttoptr(args[0], context.get_data_type(value).as_pointer())
        context.pack_value(builder, value, args[2], builder.gep(data, [args[1]]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, value), codegen


@intrinsic
def load_word(typingctx, address, index):
    """Read the int64 number ``index`` of the table at ``address``."""

    def codegen(context, builder, signature, args):
        table = builder.inttoptr(args[0], INT64.as_pointer())
        return builder.load(builder.gep(table, [args[1]]))

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def store_word(typingctx, address, index, value):
    """Write the int64 number ``index`` of the table at ``address``."""

    def codegen(context, builder, signature, args):
        table = builder.inttoptr(args[0], INT64.as_pointer())
        builder.store(args[2], builder.gep(table, [args[1]]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@intrinsic
def call_kernel(typingctx, address, ptrs, n, core_dims, steps, status):
    """Call the kernel at ``address`` with the five arguments of the kernel ABI."""

    def codegen(context, builder, signature, args):
        function = builder.inttoptr(args[0], KERNEL_TYPE.as_pointer())
        builder.call(function, args[1:])
        return context.get_dummy_value()

    return types.void(*(types.int64,) * 6), codegen


@intrinsic
def call_rows(typingctx, address, ptrs, n, rows, steps, status, row_steps):
    """Call the entry for rows of the kernel at ``address``."""

    def codegen(context, builder, signature, args):
        kind = ir.FunctionType(ir.VoidType(), [INT64] * 6)
        builder.call(builder.inttoptr(args[0], kind.as_pointer()), args[1:])
        return context.get_dummy_value()

    return types.void(*(types.int64,) * 7), codegen


@intrinsic
def stack_words(typingctx, count):
    """Address of ``count`` (a literal) int64 words on the stack of the caller, not set yet."""
    if not isinstance(count, types.IntegerLiteral):
        return None

    def codegen(context, builder, signature, args):
        with builder.goto_entry_block():  # Numba's own way would fill it with zeros
            slot = builder.alloca(ir.ArrayType(INT64, count.literal_value))
        return builder.ptrtoint(slot, INT64)

    return types.int64(count), codegen
