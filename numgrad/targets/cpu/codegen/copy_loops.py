"""Copy routines that elementwise kernels share: strided elements to and from contiguous buffers.

Kernels call them by name, so they are compiled once rather than inlined into every kernel, where
they would double the compile time.

A kernel passes two tables of int64 words. ``layout`` has the number of inputs, the number of
operands, the bytes of one buffer, and for each operand the bytes of an element, 0 for a scalar
operand. ``places`` has for each operand the address of its current block, and then the address of
the buffers. A block is a part of one row, or ``rows`` whole rows, which are contiguous in the
buffers.
"""

from numba.core import types

from ..compile.intrinsics import load, load_word, store, store_at, store_word

BLOCK = 256
"""The number of elements of a buffer."""


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
    """Copy ``count`` elements, ``step`` bytes apart, to a contiguous buffer.

    With step 0 the buffer is filled with one element.
    """
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


def _copy_strided(target, target_step, source, source_step, count, itemsize):
    if itemsize == 8:
        for i in range(count):
            store(target + i * target_step, load(source + i * source_step, types.uint64))
    elif itemsize == 4:
        for i in range(count):
            store(target + i * target_step, load(source + i * source_step, types.uint32))
    else:
        _copy_rare(target, target_step, source, source_step, count, itemsize)


def gather(layout, places, ptrs, steps, start, count, row_steps, rows, is_first):
    """Copy the blocks of strided inputs to buffers, and write the address of each operand's block.

    The addresses go to ``places``: that of the block itself if it is contiguous, else of a buffer.
    Elements that all rows share are copied with the first block only, for which ``is_first`` is
    true. ``start`` is the position of the block in its row.
    """
    nin, nops, slot = load_word(layout, 0), load_word(layout, 1), load_word(layout, 2)
    buffer = load_word(places, nops)
    for k in range(nops):
        itemsize, step = load_word(layout, 3 + k), load_word(steps, k)
        if itemsize == 0:
            step = 0
        size, row_step = count * itemsize, load_word(row_steps, k)
        address = load_word(ptrs, k) + start * step
        if step == itemsize and (rows == 1 or row_step == size):
            store_word(places, k, address)
            continue
        place = buffer + k * slot
        store_word(places, k, place)
        if k < nin and (is_first or (row_step != 0 if rows > 1 else step != 0 or start == 0)):
            if rows > count:  # the longer loop is the inner one
                for i in range(count):
                    at = address + i * step
                    _copy_strided(place + i * itemsize, size, at, row_step, rows, itemsize)
            else:
                for row in range(rows):
                    copy(place + row * size, address + row * row_step, step, count, itemsize)


def scatter(layout, places, ptrs, steps, start, count, row_steps, rows, is_first):
    """Copy the blocks of strided outputs from their buffers to the outputs' own memory."""
    for k in range(load_word(layout, 0), load_word(layout, 1)):
        itemsize, step = load_word(layout, 3 + k), load_word(steps, k)
        size, row_step = count * itemsize, load_word(row_steps, k)
        if step != itemsize or (rows > 1 and row_step != size):
            place, address = load_word(places, k), load_word(ptrs, k) + start * step
            if rows > count:
                for i in range(count):
                    at = address + i * step
                    _copy_strided(at, row_step, place + i * itemsize, size, rows, itemsize)
            else:
                for row in range(rows):
                    at = address + row * row_step
                    _copy_strided(at, step, place + row * size, itemsize, count, itemsize)
