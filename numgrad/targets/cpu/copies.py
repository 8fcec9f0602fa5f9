"""Copy routines that elementwise kernels share: strided elements to and from a contiguous buffer.

Kernels call them by name, so they are compiled once rather than inlined into every kernel, where
they would double the compile time.
"""

from functools import cache

import numpy as np
from llvmlite import binding as llvm
from numba.core import types
from numba.extending import register_jitable
from numba.np.numpy_support import carray

from . import loader
from .compiler import load_or_compile
from .intrinsics import load, pointer, store

GATHER, SCATTER = "numgrad_gather", "numgrad_scatter"


@register_jitable
def _copy_rare(target, target_step, source, source_step, count, itemsize):
    """Copy elements of 1, 2 or 16 bytes."""
    for _ in range(count):
        if itemsize == 16:
            store(target, load(source, types.uint64))
            store(target + 8, load(source + 8, types.uint64))
        elif itemsize == 2:
            store(target, load(source, types.uint16))
        else:
            store(target, load(source, types.uint8))
        target += target_step
        source += source_step


def gather(buffer, address, step, count, itemsize):
    """Copy ``count`` elements, ``step`` bytes apart, to the buffer; one of step 0 is repeated."""
    if itemsize == 8:
        if step == 0:
            target = carray(pointer(buffer, types.uint64), (count,))
            value = load(address, types.uint64)
            for i in range(np.uint64(count)):
                target[i] = value
        else:
            for i in range(count):
                store(buffer + i * 8, load(address + i * step, types.uint64))
    elif itemsize == 4:
        if step == 0:
            narrow = carray(pointer(buffer, types.uint32), (count,))
            word = load(address, types.uint32)
            for i in range(np.uint64(count)):
                narrow[i] = word
        else:
            for i in range(count):
                store(buffer + i * 4, load(address + i * step, types.uint32))
    else:
        _copy_rare(buffer, itemsize, address, step, count, itemsize)


def scatter(buffer, address, step, count, itemsize):
    """Copy ``count`` elements from the buffer to addresses ``step`` bytes apart."""
    if itemsize == 8:
        for i in range(count):
            store(address + i * step, load(buffer + i * 8, types.uint64))
    elif itemsize == 4:
        for i in range(count):
            store(address + i * step, load(buffer + i * 4, types.uint32))
    else:
        _copy_rare(address, step, buffer, itemsize, count, itemsize)


@cache
def provide() -> None:
    """Compile both routines and make them known to LLVM under their names."""
    for name, function in ((GATHER, gather), (SCATTER, scatter)):
        llvm.add_symbol(name, load_or_compile(function, (types.int64,) * 5))


loader.add_symbol_provider(provide)
