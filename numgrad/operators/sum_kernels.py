"""Core functions of sums: in blocks of fixed size, so that bits depend on the order alone.

Blocks and their leaves are reduced by halves, see `numgrad._declare.halving`, and blocks joined
with compensation (Knuth's TwoSum), so that the error is that of one block. Leaves and blocks may be
summed apart, wherever they are in a cache, and joined later. Indices are unsigned, which spares
the loops Python's negative indexing.
"""

import numpy as np

from .._declare import halving
from .._declare.halving import flat, halved_sum
from .row_kernels import LEAF, ONE, SCRATCH, STRIP, THREE, TWO, ZERO, halve_rows_of

BLOCK = np.uint64(halving.BLOCK)
LEAVES = BLOCK // LEAF


def plus(a, b):
    """Return the sum of two numbers."""
    return a + b


add_rows = halve_rows_of(plus)


def lost(total, part, after):
    """Return what rounding lost in ``after = total + part``."""
    back = after - total
    return (total - (after - back)) + (part - back)


def corrected(total, correction):
    """Return the compensated sum; the correction is NaN where the sum is not finite."""
    if correction - correction == 0:
        return total + correction
    return total


def sum_contiguous(x, out):
    """Sum a contiguous axis."""
    n = np.uint64(x.size)
    total = correction = out.dtype.type(0)
    for start in range(ZERO, n, BLOCK):
        stop = start + BLOCK
        part = halved_sum(x, start, stop if stop < n else n)
        after = total + part
        correction += lost(total, part, after)
        total = after
    out[0] = corrected(total, correction)


def join_blocks(parts, out):
    """Join the sums of blocks."""
    total = correction = out.dtype.type(0)
    for i in range(np.uint64(parts.size)):
        after = total + parts[i]
        correction += lost(total, parts[i], after)
        total = after
    out[0] = corrected(total, correction)


def sum_columns(x, out):
    """Sum the rows of a matrix, each column with the bits of `sum_contiguous`."""
    rows, columns = np.uint64(x.shape[0]), np.uint64(x.shape[1])
    most = STRIP if columns > STRIP else columns
    data, scratch = flat(x), np.empty(SCRATCH, out.dtype)
    sums, totals = np.empty(LEAVES * most, out.dtype), np.empty(THREE * STRIP, out.dtype)
    for first in range(ZERO, columns, STRIP):
        width = columns - first if columns - first < STRIP else STRIP
        clear(totals)
        for block in range(ZERO, rows, BLOCK):
            stop = block + BLOCK if block + BLOCK < rows else rows
            count = ZERO
            for start in range(block, stop, LEAF):
                size = LEAF if start + LEAF < stop else stop - start
                at = start * columns + first
                add_rows(data, at, columns, size, width, scratch, sums, count * width)
                count += ONE
            if count > ONE:
                add_rows(sums, ZERO, width, count, width, scratch, totals, ZERO)
                add_block(totals, totals, width)
            else:
                add_block(sums, totals, width)
        finish(totals, first, width, out)


def join_leaves(parts, out):
    """Join the sums of leaves, of which the matrix has a row for each."""
    rows, columns = np.uint64(parts.shape[0]), np.uint64(parts.shape[1])
    data, scratch = flat(parts), np.empty(SCRATCH, out.dtype)
    totals = np.empty(THREE * STRIP, out.dtype)
    for first in range(ZERO, columns, STRIP):
        width = columns - first if columns - first < STRIP else STRIP
        clear(totals)
        for start in range(ZERO, rows, LEAVES):
            count = LEAVES if start + LEAVES < rows else rows - start
            at = start * columns + first
            add_rows(data, at, columns, count, width, scratch, totals, ZERO)
            add_block(totals, totals, width)
        finish(totals, first, width, out)


# Where the totals of a strip begin, behind the sums of a block, and their corrections.
TOTAL, LOST = STRIP, TWO * STRIP


def clear(totals):
    """Begin with the sums of a strip."""
    for n in range(TOTAL, THREE * STRIP):
        totals[n] = 0


def add_block(parts, totals, width):
    """Add the sums of a block to the totals."""
    for n in range(width):
        total, part = totals[TOTAL + n], parts[n]
        after = total + part
        totals[LOST + n] += lost(total, part, after)
        totals[TOTAL + n] = after


def finish(totals, first, width, out):
    """Write the sums of a strip."""
    for n in range(width):
        out[first + n] = corrected(totals[TOTAL + n], totals[LOST + n])
