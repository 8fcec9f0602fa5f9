"""Reductions of long arrays: a block of threads for each block of elements, in shared memory.

The order is that of `numgrad._declare.halving`, so the bits are those of the processor: the second
half of a leaf is joined to its first, then the second quarter, until one element is left; in the
same way one of a block is made of those of its leaves.
"""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from ..._declare import halving
from ..._declare.halving import BLOCK, LEAF, LEAVES, larger, smaller
from .kernel import Function, Kernel, Pointer, Word

_TEXT = """
def kernel(n, count, x, out):
    values = cuda.shared.array(BLOCK, dtype)
    thread, threads = cuda.threadIdx.x, cuda.blockDim.x
    block = cuda.blockIdx.x
    while block < n:
        first = block * BLOCK
        size = min(BLOCK, count - first)
        i = thread
        while i < size:
            values[i] = x[first + i]
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
        if thread == 0:
            out[block] = values[0]
        cuda.syncthreads()
        block += cuda.gridDim.x
"""


def add(a: Any, b: Any) -> Any:
    """Return the sum."""
    return a + b


_JOINS = {"sum": add, "max": larger, "min": smaller}
_BY_FUNCTION = {halving.REDUCE[name]: join for name, join in _JOINS.items()}


def join_of(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return what joins two elements in the reduction that a core function calls; None for any
    other function."""
    called = [function.__globals__.get(name) for name in function.__code__.co_names]
    found = [_BY_FUNCTION[f] for f in called if isinstance(f, Hashable) and f in _BY_FUNCTION]
    return found[0] if len(found) == 1 else None


def of_blocks(name: str, join: Any, dtype: np.dtype, threads: int) -> Kernel:
    """Return the kernel that reduces blocks of contiguous elements, each to one."""
    parameters = (Word(), Word(), Pointer(dtype), Pointer(dtype))
    scope = {
        "BLOCK": BLOCK, "LEAF": LEAF, "LEAVES": LEAVES, "dtype": dtype,
        "join": Function(join, dtype=dtype),
    }  # fmt: skip
    return Kernel(name, _TEXT, parameters, scope, threads)
