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
from .interleaved import MOST_APART, VECTOR, pick, repeat, weave

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
            for i in range(_picked(buffer, address, step, count, 8), count):
                store(buffer + i * 8, load(address + i * step, types.uint64))
    elif itemsize == 4:
        if step == 0:
            word = load(address, types.uint32)
            for i in range(count):
                store_at(buffer, i, word)
        else:
            for i in range(_picked(buffer, address, step, count, 4), count):
                store(buffer + i * 4, load(address + i * step, types.uint32))
    else:
        _copy_rare(buffer, itemsize, address, step, count, itemsize)


def _picked(buffer, address, step, count, itemsize):
    """Copy whole vectors of elements that are two, three or four places apart, such as coordinates.

    Return how many elements are copied. The last one is not: memory may end with it, and a vector
    is picked from all that lies between its elements and the next one.
    """
    lanes = 8 if itemsize == 8 else 16
    if count <= lanes or step < 2 * itemsize or step > MOST_APART * itemsize:
        return 0
    vectors, every = (count - 1) // lanes, step // itemsize
    if every * itemsize != step:
        return 0
    pick(buffer, address, vectors, itemsize, every)
    return vectors * lanes


def _copy_strided(target, target_step, source, source_step, count, itemsize):
    if itemsize == 8:
        for i in range(count):
            store(target + i * target_step, load(source + i * source_step, types.uint64))
    elif itemsize == 4:
        for i in range(count):
            store(target + i * target_step, load(source + i * source_step, types.uint32))
    else:
        _copy_rare(target, target_step, source, source_step, count, itemsize)


def gather(layout, places, ptrs, steps, start, count, row_steps, rows, kept):
    """Copy the blocks of strided inputs to buffers, and write the address of each operand's block.

    The addresses go to ``places``: that of the block itself if it is contiguous, else of a buffer.
    ``start`` is the position of the block in its row. ``kept`` tells what buffers have already: 0,
    nothing; 1, all elements that all rows share, as a row is one block; 2, those alone that are one
    element for the whole row, unless the block is the first of its row.
    """
    nin, nops, slot = load_word(layout, 0), load_word(layout, 1), load_word(layout, 2)
    buffer = load_word(places, nops)
    for k in range(nops):
        itemsize, step = load_word(layout, 3 + k), load_word(steps, k)
        if itemsize == 0:
            step = 0
        row_step = load_word(row_steps, k)
        address = load_word(ptrs, k) + start * step
        if step == itemsize and (rows == 1 or row_step == count * itemsize):
            store_word(places, k, address)
            continue
        place = buffer + k * slot
        store_word(places, k, place)
        if k >= nin:
            continue
        if kept == 0 or (row_step != 0 if kept == 1 else step != 0 or start == 0):
            _gathered(place, address, step, count, row_step, rows, itemsize)


def _gathered(place, address, step, count, row_step, rows, itemsize):
    """Copy a block of one strided input to its buffer."""
    size = count * itemsize
    if rows > 1 and row_step == count * step:
        copy(place, address, step, count * rows, itemsize)
    elif step == 0 and (itemsize == 8 or itemsize == 4):
        first, behind = rows, 0
        while first > 0 and behind < VECTOR:  # rows that a vector may reach are filled one by one
            first, behind = first - 1, behind + size
        repeat(place, address, row_step, first, size, itemsize)
        for row in range(first, rows):
            copy(place + row * size, address + row * row_step, step, count, itemsize)
    elif rows > count:  # the longer loop is the inner one
        for i in range(count):
            at = address + i * step
            _copy_strided(place + i * itemsize, size, at, row_step, rows, itemsize)
    else:
        for row in range(rows):
            copy(place + row * size, address + row * row_step, step, count, itemsize)


def scatter(layout, places, ptrs, steps, start, count, row_steps, rows, kept):
    """Copy the blocks of strided outputs from their buffers to the outputs' own memory."""
    nops, slot = load_word(layout, 1), load_word(layout, 2)
    woven = 0
    for k in range(load_word(layout, 0), nops):
        itemsize, step = load_word(layout, 3 + k), load_word(steps, k)
        row_step = load_word(row_steps, k)
        if step == itemsize and (rows == 1 or row_step == count * itemsize):
            continue
        place, address = load_word(places, k), load_word(ptrs, k) + start * step
        length, times = count, rows
        if rows > 1 and row_step == count * step:
            length, times = count * rows, 1
        if woven == 0 and times == 1:
            woven = _neighbours(layout, ptrs, steps, row_steps, k, nops)
            weave(address, place, slot, length * itemsize // VECTOR, itemsize, woven)
        first = length * itemsize // VECTOR * (VECTOR // itemsize) if woven else 0
        woven = max(woven - 1, 0)
        _scattered(place, address, step, first, length, row_step, times, itemsize)


def _neighbours(layout, ptrs, steps, row_steps, k, nops):
    """Return how many outputs from ``k`` on write one array together, as coordinates of points.

    The elements of these outputs are side by side, and there is no other element between them. 0 is
    returned where there is no such array, or its vectors are not written whole.
    """
    itemsize, step = load_word(layout, 3 + k), load_word(steps, k)
    if step < 2 * itemsize or step > MOST_APART * itemsize or (itemsize != 4 and itemsize != 8):
        return 0
    every = step // itemsize
    if every * itemsize != step or k + every > nops:
        return 0
    for n in range(k + 1, k + every):
        if load_word(layout, 3 + n) != itemsize or load_word(steps, n) != step:
            return 0
        if load_word(ptrs, n) != load_word(ptrs, k) + (n - k) * itemsize:
            return 0
        if load_word(row_steps, n) != load_word(row_steps, k):
            return 0
    return every


def _scattered(place, address, step, first, count, row_step, rows, itemsize):
    """Copy the elements of one block from ``first`` on from their buffer to strided memory."""
    if rows > count:
        for i in range(count):
            at, size = address + i * step, count * itemsize
            _copy_strided(at, row_step, place + i * itemsize, size, rows, itemsize)
    else:
        for row in range(rows):
            at = address + row * row_step + first * step
            source = place + (row * count + first) * itemsize
            _copy_strided(at, step, source, itemsize, count - first, itemsize)
