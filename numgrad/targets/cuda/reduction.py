"""Reductions of many elements: a block of threads for each block of elements, in shared memory.

The order is that of `numgrad._declare.halving`, so the bits are those of the processor: the second
half of a leaf is joined to its first, then the second quarter, until one element is left; in the
same way one of a block is made of those of its leaves; blocks are joined one after the other, sums
with compensation.
"""

import dis
from collections.abc import Callable
from textwrap import indent
from typing import Any

import numpy as np

from ..._declare import halving
from ..._declare.halving import BLOCK, LEAF, LEAVES, larger, lost, smaller, sum_all
from .elementwise import Walk, indices
from .kernel import Array, Function, Kernel, Pointer, Word

_HALVED = """
i = thread
while i < size:
    values[i] = source[first + i]
    i += threads
cuda.syncthreads()
half = LEAF // 2
while half > 0:
    i = thread
    while i < LEAVES * half:
        at = i // half * LEAF + i % half
        if at + half < size:
            values[at] = join(values[at], values[at + half])
        i += threads
    cuda.syncthreads()
    half //= 2
half = LEAVES // 2
while half > 0:
    i = thread
    while i < half:
        if (i + half) * LEAF < size:
            values[i * LEAF] = join(values[i * LEAF], values[(i + half) * LEAF])
        i += threads
    cuda.syncthreads()
    half //= 2
"""

_BLOCKS = """
def kernel(n, count, source, out):
    values = cuda.shared.array(BLOCK, dtype)
    thread, threads = cuda.threadIdx.x, cuda.blockDim.x
    block = cuda.blockIdx.x
    while block < n:
        first = block * BLOCK
        size = min(BLOCK, count - first)
{halved}
        if thread == 0:
            out[block] = values[0]
        block += cuda.gridDim.x
"""

_ROWS = """
def kernel({parameters}):
    values = cuda.shared.array(BLOCK, dtype)
    thread, threads = cuda.threadIdx.x, cuda.blockDim.x
    row = cuda.blockIdx.x
    while row < n:
        i = row
{indices}
        source = x[{place}]
        total = correction = zero
        first = 0
        while first < source.size:
            size = min(BLOCK, source.size - first)
{halved}
            if first == 0:
                total = values[0]
            else:
                after = fold(total, values[0])
                correction += loss(total, values[0], after)
                total = after
            cuda.syncthreads()
            first += BLOCK
        if thread == 0:
            out[{place}, 0] = finish(total, correction)
        row += cuda.gridDim.x
"""


def add(a: Any, b: Any) -> Any:
    """Return the sum."""
    return a + b


def _no_loss(total: Any, part: Any, after: Any) -> Any:
    return part - part


def _without(total: Any, correction: Any) -> Any:
    return total


_JOINS = {"sum": add, "max": larger, "min": smaller}
_BY_FUNCTION: dict[Any, Any] = {halving.REDUCE[name]: join for name, join in _JOINS.items()}


def join_of(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return what joins two elements, of a core function that does nothing but call a reduction;
    None for any other."""
    function = getattr(function, "py_func", function)
    if _opnames(function) != _opnames(_only_calls):
        return None
    (name,) = function.__code__.co_names
    return _BY_FUNCTION.get(function.__globals__.get(name))


def _only_calls(x: Any, out: Any) -> None:
    sum_all(x, out)


def _opnames(function: Callable[..., Any]) -> list[str]:
    return [instruction.opname for instruction in dis.get_instructions(function)]


def of_blocks(name: str, join: Any, dtype: np.dtype, threads: int) -> Kernel:
    """Return the kernel that reduces blocks of contiguous elements, each to one."""
    parameters = (Word(), Word(), Pointer(dtype), Pointer(dtype))
    text = _BLOCKS.format(halved=indent(_HALVED, " " * 8))
    return Kernel(name, text, parameters, _scope(join, dtype), threads)


def of_rows(name: str, join: Any, dtype: np.dtype, axes: int, threads: int) -> Kernel:
    """Return the kernel that reduces the last axis of an array whose others make the loop."""
    sizes = [f"n{axis}" for axis in range(axes)]
    text = _ROWS.format(
        parameters=", ".join(["n", *sizes, "x", "out"]),
        indices=indent("\n".join(indices(Walk(axes, True))), " " * 8),
        place=", ".join(f"i{axis}" for axis in range(axes)),
        halved=indent(_HALVED, " " * 12),
    )
    is_sum = join is add
    scope = _scope(join, dtype) | {
        "fold": Function(join, dtype=dtype), "zero": dtype.type(0), "index_type": int,
        "loss": Function(lost if is_sum else _no_loss, dtype=dtype),
        "finish": Function(halving.corrected if is_sum else _without, dtype=dtype),
    }  # fmt: skip
    out = Array(dtype, axes + 1, is_written=True)
    parameters = (*[Word()] * (1 + axes), Array(dtype, axes + 1), out)
    return Kernel(name, text, parameters, scope, threads)


def _scope(join: Any, dtype: np.dtype) -> dict[str, Any]:
    return {
        "BLOCK": BLOCK, "LEAF": LEAF, "LEAVES": LEAVES, "dtype": dtype,
        "join": Function(join, dtype=dtype),
    }  # fmt: skip
