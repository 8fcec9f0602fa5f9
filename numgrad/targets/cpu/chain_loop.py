"""The kernel that runs chains: it prepares what their code works with; see `chains`.

Its only core dimension is the address of the words of the chain: a head, the numbers of the
operands in memory, those of the operands that are one number, and the bits of constants.
"""

from llvmlite import ir
from numba.core import types

from .assembler import TABLE_BYTES, TABLE_OPERANDS, TABLE_SPACE, step_bytes
from .chains import MOST_MOVING, MOST_NUMBERS, MOST_SLOTS
from .copies import copy
from .intrinsics import INT64, intrinsic, load_word, stack_words, store_word
from .links import vector_bytes
from .words import (
    CHAIN_CODE,
    CHAIN_CONSTANTS,
    CHAIN_HEAD,
    CHAIN_ITEMSIZE,
    CHAIN_MOVING,
    CHAIN_NIN,
    CHAIN_NUMBERS,
    CHAIN_SLOTS,
    CHAIN_STEP,
)

_VECTOR, _STEP = vector_bytes(), step_bytes()
_TABLE = TABLE_OPERANDS + MOST_MOVING
_SPACE = (MOST_NUMBERS * _VECTOR + (MOST_SLOTS + MOST_MOVING) * _STEP) // 8 + 8


@intrinsic
def _call_code(typingctx, code, table):
    """Call the code of a chain."""

    def codegen(context, builder, signature, args):
        kind = ir.FunctionType(ir.VoidType(), [INT64])
        builder.call(builder.inttoptr(args[0], kind.as_pointer()), [args[1]])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


def run(ptrs, n, core_dims, steps, status):
    """Run a chain; the kernel ABI."""
    table = stack_words(_TABLE)
    space = (stack_words(_SPACE) + 63) & -64
    words = load_word(core_dims, 0)
    moving, given = load_word(words, CHAIN_MOVING), load_word(words, CHAIN_NUMBERS)
    constants, slots = load_word(words, CHAIN_CONSTANTS), load_word(words, CHAIN_SLOTS)
    step, itemsize = load_word(words, CHAIN_STEP), load_word(words, CHAIN_ITEMSIZE)
    moved = words + 8 * CHAIN_HEAD
    numbers = moved + 8 * moving
    bits = numbers + 8 * given
    lanes = _VECTOR // itemsize
    for k in range(given):
        number = load_word(ptrs, load_word(numbers, k))
        copy(space + k * _VECTOR, number, 0, lanes, itemsize)
    for k in range(constants):
        copy(space + (given + k) * _VECTOR, bits + 8 * k, 0, lanes, itemsize)
    store_word(table, TABLE_SPACE, space)
    for m in range(moving):
        store_word(table, TABLE_OPERANDS + m, load_word(ptrs, load_word(moved, m)))
    whole = n * itemsize // step * step
    if whole > 0:
        store_word(table, TABLE_BYTES, whole)
        _call_code(load_word(words, CHAIN_CODE), table)
    rest = (n * itemsize - whole) // itemsize
    if rest > 0:
        # The last elements pass through blocks on the stack.
        store_word(table, TABLE_BYTES, step)
        blocks = space + (given + constants) * _VECTOR + slots * step
        for m in range(moving):
            k = load_word(moved, m)
            store_word(table, TABLE_OPERANDS + m, blocks + m * step)
            if k < load_word(words, CHAIN_NIN):
                copy(blocks + m * step, load_word(ptrs, k) + whole, itemsize, rest, itemsize)
        _call_code(load_word(words, CHAIN_CODE), table)
        for m in range(moving):
            k = load_word(moved, m)
            if k >= load_word(words, CHAIN_NIN):
                copy(load_word(ptrs, k) + whole, blocks + m * step, itemsize, rest, itemsize)
