"""Copy routines that elementwise kernels share: strided elements to and from contiguous buffers.

Kernels call them by name, so they are compiled once rather than inlined into every kernel, where
they would double the compile time.

A kernel describes itself by a table: the numbers of its inputs and of its operands, the bytes of a
buffer, and the size of an element of each operand, 0 for a scalar one. ``places`` is where a block
of each operand begins; after them comes the address of the buffers.
"""

from numba.core import types

from .intrinsics import load, load_word, store, store_at, store_word

BLOCK = 256
"""Elements of a buffer."""


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


def copy(buffer, address, step, count, itemsize):
    """Copy ``count`` elements, ``step`` bytes apart, to the buffer; one of step 0 is repeated."""
    if itemsize == 8:
        if step == 0:
            value = load(address, types.uint64)
            for i in range(count):
                store_at(buffer, i, value)
        else:
            for i in range(count):
                store(buffer + i * 8, load(address + i * step, types.uint64))
    elif itemsize == 4:
        if step == 0:
            word = load(address, types.uint32)
            for i in range(count):
                store_at(buffer, i, word)
        else:
            for i in range(count):
                store(buffer + i * 4, load(address + i * step, types.uint32))
    else:
        _copy_rare(buffer, itemsize, address, step, count, itemsize)


def _scatter(buffer, address, step, count, itemsize):
    """Copy ``count`` elements from the buffer to addresses ``step`` bytes apart."""
    if itemsize == 8:
        for i in range(count):
            store(address + i * step, load(buffer + i * 8, types.uint64))
    elif itemsize == 4:
        for i in range(count):
            store(address + i * step, load(buffer + i * 4, types.uint32))
    else:
        _copy_rare(address, step, buffer, itemsize, count, itemsize)


def gather(layout, places, ptrs, steps, start, count):
    """Fill the buffers of the inputs that need one; note where each operand's block begins."""
    nin, nops, slot = load_word(layout, 0), load_word(layout, 1), load_word(layout, 2)
    buffer = load_word(places, nops)
    for k in range(nops):
        itemsize, step = load_word(layout, 3 + k), load_word(steps, k)
        if itemsize == 0:
            step = 0
        address = load_word(ptrs, k) + start * step
        place = address if step == itemsize else buffer + k * slot
        store_word(places, k, place)
        if place != address and k < nin and (step != 0 or start == 0):
            copy(place, address, step, count, itemsize)


def scatter(layout, places, ptrs, steps, start, count):
    """Copy the buffers of the outputs that have one to their places."""
    for k in range(load_word(layout, 0), load_word(layout, 1)):
        itemsize, step = load_word(layout, 3 + k), load_word(steps, k)
        if step != itemsize:
            _scatter(load_word(places, k), load_word(ptrs, k) + start * step, step, count, itemsize)
