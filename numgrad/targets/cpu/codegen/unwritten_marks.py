"""Marks that show which outputs a user's kernel wrote: a NaN that no computation makes.

The outputs are filled with the mark before a call. An element that has the mark after the call was
not written, or was computed from an unwritten element: arithmetic passes on the payload of a NaN.
"""

import numpy as np
from llvmlite import ir

from .llvm_builder import counted_loop

_BITS = {32: 0x7FC6E677, 64: 0x7FF86E756D677264}


def mark(bitwidth: int) -> ir.Constant:
    """Return the mark of a float of ``bitwidth`` bits, as an integer."""
    return ir.Constant(ir.IntType(bitwidth), _BITS[bitwidth])


def fill(builder: ir.IRBuilder, address: ir.Value, count: ir.Value, value: ir.Constant) -> None:
    """Emit a loop that writes ``value`` to ``count`` words at ``address``."""
    pointer = builder.inttoptr(address, value.type.as_pointer())
    with counted_loop(builder, count) as index:
        builder.store(value, builder.gep(pointer, [index]))


def found(
    builder: ir.IRBuilder, flag: ir.Value, address: ir.Value, count: ir.Value, value: ir.Constant
) -> ir.Value:
    """Emit a loop that tests whether one of the ``count`` words at ``address`` is ``value``.

    ``flag`` points to a bit on the stack, in which the loop keeps its answer.
    """
    pointer = builder.inttoptr(address, value.type.as_pointer())
    builder.store(ir.Constant(ir.IntType(1), 0), flag)
    with counted_loop(builder, count) as index:
        same = builder.icmp_unsigned("==", builder.load(builder.gep(pointer, [index])), value)
        with builder.if_then(same, likely=False):
            builder.store(ir.Constant(ir.IntType(1), 1), flag)
    return builder.load(flag)


def marked(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return an array of marks; an array of integers, which have no NaN, is zero."""
    array = np.zeros(shape, dtype)
    if dtype.kind in "fc":
        words = _words(array)
        words[...] = _BITS[8 * words.itemsize]
    return array


def where(array: np.ndarray) -> list[tuple[int, ...]]:
    """Return the indices of the elements that hold a mark."""
    if array.dtype.kind not in "fc":
        return []
    words = _words(array)
    parts = array.itemsize // words.itemsize
    hits = (words == _BITS[8 * words.itemsize]).reshape(*array.shape, parts).any(-1)
    return [tuple(int(i) for i in index) for index in np.argwhere(hits)]


def _words(array: np.ndarray) -> np.ndarray:
    size = np.finfo(array.dtype).dtype.itemsize
    return array.reshape(-1).view(f"u{size}")
