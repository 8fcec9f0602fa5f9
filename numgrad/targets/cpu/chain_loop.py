"""The kernel that runs chains, a block of elements after the other; see `chains`.

Its only core dimension is the address of the words of the chain: a head, the numbers of the
operands that move from block to block, and the forms with their places in the table.
"""

from llvmlite import ir
from numba.core import types

from .copies import copy
from .intrinsics import INT64, intrinsic, load_word, stack_words, store_word
from .vectors import MOST_MOVING, MOST_OPERANDS, MOST_OWN, REGISTERS, block_bytes
from .words import (
    CHAIN_BLOCK,
    CHAIN_HEAD,
    CHAIN_ITEMSIZE,
    CHAIN_MOVING,
    CHAIN_NIN,
    CHAIN_NOPS,
    CHAIN_OWN,
)

_BLOCK = block_bytes()
_LINE = 64
# Blocks that are on their way from memory while one is computed.
_AHEAD = 2
_TABLE = 1 + MOST_OPERANDS + MOST_OWN
_SPACE = (MOST_OWN + MOST_MOVING) * block_bytes() // 8 + 8


@intrinsic
def _call_form(typingctx, form, table):
    """Call the form whose address is at `form`; what is in the registers does not matter."""

    def codegen(context, builder, signature, args):
        vector = ir.VectorType(ir.DoubleType(), block_bytes() // REGISTERS // 8)
        kind = ir.FunctionType(ir.VoidType(), [INT64, INT64, *[vector] * REGISTERS])
        unset = [ir.Constant(vector, ir.Undefined)] * REGISTERS
        address = builder.load(builder.inttoptr(args[0], INT64.as_pointer()))
        builder.call(builder.inttoptr(address, kind.as_pointer()), [*args, *unset])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def _prefetch(typingctx, address, nbytes):
    """Ask for the cache lines of so many bytes (a literal)."""
    if not isinstance(nbytes, types.IntegerLiteral):
        return None

    def codegen(context, builder, signature, args):
        pointer, int32 = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, int32, int32, int32])
        function = builder.module.declare_intrinsic("llvm.prefetch.p0", (), kind)
        hints = [int32(0), int32(3), int32(1)]  # for reading, into all levels, data
        for line in range(0, nbytes.literal_value, _LINE):
            place = builder.add(args[0], INT64(line))
            builder.call(function, [builder.inttoptr(place, pointer), *hints])
        return context.get_dummy_value()

    return types.void(types.int64, nbytes), codegen


def run(ptrs, n, core_dims, steps, status):
    """Run a chain; the kernel ABI."""
    table = stack_words(_TABLE)
    space = (stack_words(_SPACE) + 63) & -64
    words = load_word(core_dims, 0)
    nops, moving = load_word(words, CHAIN_NOPS), load_word(words, CHAIN_MOVING)
    own, nbytes = load_word(words, CHAIN_OWN), load_word(words, CHAIN_BLOCK)
    itemsize = load_word(words, CHAIN_ITEMSIZE)
    moved = words + 8 * CHAIN_HEAD
    form = moved + 8 * moving
    store_word(table, 0, status)
    for k in range(nops):
        store_word(table, 1 + k, load_word(ptrs, k))
    for k in range(own):
        store_word(table, 1 + nops + k, space + k * nbytes)
    count = nbytes // itemsize
    for _ in range(n // count):
        _call_form(form, table)
        for m in range(moving):
            k = 1 + load_word(moved, m)
            place = load_word(table, k) + nbytes
            store_word(table, k, place)
            _prefetch(place + _AHEAD * _BLOCK, _BLOCK)
    rest = n % count
    if rest > 0:
        # The last elements pass through blocks on the stack.
        for m in range(moving):
            k = load_word(moved, m)
            place, block = load_word(table, 1 + k), space + (own + m) * nbytes
            store_word(table, 1 + k, block)
            store_word(ptrs, k, place)
            if k < load_word(words, CHAIN_NIN):
                copy(block, place, itemsize, rest, itemsize)
        _call_form(form, table)
        for m in range(moving):
            k = load_word(moved, m)
            if k >= load_word(words, CHAIN_NIN):
                copy(load_word(ptrs, k), load_word(table, 1 + k), itemsize, rest, itemsize)
            store_word(ptrs, k, load_word(ptrs, k) - (n - rest) * itemsize)
