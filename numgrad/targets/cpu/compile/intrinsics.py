"""Numba intrinsics that kernels and the machine are written with: memory and calls by address.

Addresses are plain int64 values, so no intrinsic touches reference counts or raises.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import cgutils, types

if TYPE_CHECKING:

    def intrinsic(function: Callable[..., Any]) -> Callable[..., Any]:
        """Stand in for Numba's decorator when a type checker reads this module.

        The decorator removes the first parameter of a function, the typing context.
        """
        ...
else:
    from numba.extending import intrinsic


def named_intrinsic(name: str, typing: Callable[..., Any]) -> Any:
    """Return the intrinsic that a typing function defines, with a name for Numba's errors."""
    typing.__name__ = typing.__qualname__ = name
    return intrinsic(typing)


INT64 = ir.IntType(64)
KERNEL_TYPE = ir.FunctionType(ir.VoidType(), [INT64] * 5)
"""LLVM type of a kernel: ``void(ptrs, n, core_dims, steps, status)``, all int64."""

KERNEL_ARGS = (types.int64,) * 5
"""Numba argument types of a kernel."""


@intrinsic
def load(typingctx, address, dtype):
    """Read one scalar of ``dtype`` at ``address``."""
    scalar = getattr(dtype, "dtype", None) or dtype.instance_type

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

    return types.void(types.int64, value), codegen


@intrinsic
def store_at(typingctx, address, index, value):
    """Write ``value`` at position ``index`` of the array at ``address``, which has the same dtype.
    """

    def codegen(context, builder, signature, args):
        data = builder.inttoptr(args[0], context.get_data_type(value).as_pointer())
        context.pack_value(builder, value, args[2], builder.gep(data, [args[1]]))

    return types.void(types.int64, types.int64, value), codegen


@intrinsic
def load_word(typingctx, address, index):
    """Read the word (int64) at position ``index`` of the table at ``address``."""

    def codegen(context, builder, signature, args):
        table = builder.inttoptr(args[0], INT64.as_pointer())
        return builder.load(builder.gep(table, [args[1]]))

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def store_word(typingctx, address, index, value):
    """Write the word (int64) at position ``index`` of the table at ``address``."""

    def codegen(context, builder, signature, args):
        table = builder.inttoptr(args[0], INT64.as_pointer())
        builder.store(args[2], builder.gep(table, [args[1]]))

    return types.void(types.int64, types.int64, types.int64), codegen


@intrinsic
def call_function(typingctx, address, words):
    """Call the function at ``address`` with a tuple of words (int64); return its result, a word.

    The word is undefined after a call of a kernel, which returns nothing.
    """

    def codegen(context, builder, signature, args):
        values = cgutils.unpack_tuple(builder, args[1])
        kind = ir.FunctionType(INT64, [INT64] * len(values)).as_pointer()
        return builder.call(builder.inttoptr(args[0], kind), values)

    return types.int64(types.int64, words), codegen


@intrinsic
def stack_words(typingctx, count):
    """Return the address of ``count`` (a literal) undefined int64 words on the caller's stack."""
    if not isinstance(count, types.IntegerLiteral):
        return None

    def codegen(context, builder, signature, args):
        with builder.goto_entry_block():  # Numba's own way would fill it with zeros
            slot = builder.alloca(ir.ArrayType(INT64, count.literal_value))
        return builder.ptrtoint(slot, INT64)

    return types.int64(count), codegen
