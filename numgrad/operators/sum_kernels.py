"""Core functions of sums: fixed leaves and blocks, so that the bits depend on the order alone.

Within a leaf element ``i`` goes to lane ``i % 8``; the lanes are joined pairwise, then come the
elements that fill no row of lanes. The sums of the leaves of a block are added in order, and those
of blocks with compensation (Knuth's TwoSum), so that the error is that of one block. Leaves and
blocks may be summed apart, wherever they are in a cache, and joined later. Indices are unsigned,
which spares the loops Python's negative indexing.
"""

import numpy as np

LEAF = np.uint64(32)
BLOCK = np.uint64(1024)
LANES = np.uint64(8)
# Columns that are summed together: their lanes fit a first-level cache.
STRIP = np.uint64(128)
ZERO, ONE, TWO, THREE = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)
FOUR, FIVE, SIX, SEVEN = np.uint64(4), np.uint64(5), np.uint64(6), np.uint64(7)
# Where the totals of a strip begin in its scratch, the corrections, and the sums of a block.
TOTALS, LOST, PARTS = LANES * STRIP, (LANES + ONE) * STRIP, (LANES + TWO) * STRIP


def leaf_sum(x, start, stop):
    """Return the sum of the leaf ``x[start:stop]``."""
    a = b = c = d = e = f = g = h = x.dtype.type(0)
    rest = start + (stop - start) // LANES * LANES
    for i in range(start, rest, LANES):
        a += x[i]
        b += x[i + ONE]
        c += x[i + TWO]
        d += x[i + THREE]
        e += x[i + FOUR]
        f += x[i + FIVE]
        g += x[i + SIX]
        h += x[i + SEVEN]
    part = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for i in range(rest, stop):
        part += x[i]
    return part


def block_sum(x, start, stop):
    """Return the sum of ``x[start:stop]``."""
    total = x.dtype.type(0)
    for i in range(start, stop, LEAF):
        total += leaf_sum(x, i, i + LEAF if i + LEAF < stop else stop)
    return total


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
        part = out.dtype.type(block_sum(x, start, stop if stop < n else n))
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
    """Sum the rows of a matrix, each column with the bits of `sum_contiguous`.

    Strips of columns are summed together; the scratch holds their lanes, totals, corrections and
    the sums of a block.
    """
    rows, columns = np.uint64(x.shape[0]), np.uint64(x.shape[1])
    scratch = np.empty(PARTS + STRIP, out.dtype)
    for first in range(ZERO, columns, STRIP):
        width = columns - first if columns - first < STRIP else STRIP
        for i in range(TOTALS, PARTS + STRIP):
            scratch[i] = 0
        for start in range(ZERO, rows, LEAF):
            leaf_sums(x, start, rows, first, width, scratch)
            for n in range(width):
                scratch[PARTS + n] += scratch[n]
            if (start + LEAF) % BLOCK == ZERO or start + LEAF >= rows:
                add_blocks(scratch, width)
        for n in range(width):
            out[first + n] = corrected(scratch[TOTALS + n], scratch[LOST + n])


def join_leaves(parts, out):
    """Join the sums of leaves, of which the matrix has a row for each."""
    rows, columns = np.uint64(parts.shape[0]), np.uint64(parts.shape[1])
    scratch = np.empty(PARTS + STRIP, out.dtype)
    for first in range(ZERO, columns, STRIP):
        width = columns - first if columns - first < STRIP else STRIP
        for i in range(TOTALS, PARTS + STRIP):
            scratch[i] = 0
        for leaf in range(ZERO, rows):
            for n in range(width):
                scratch[PARTS + n] += parts[leaf, first + n]
            if (leaf + ONE) * LEAF % BLOCK == ZERO or leaf + ONE == rows:
                add_blocks(scratch, width)
        for n in range(width):
            out[first + n] = corrected(scratch[TOTALS + n], scratch[LOST + n])


def add_blocks(scratch, width):
    """Add the sums of a block to the totals of a strip, and begin with the next one."""
    for n in range(width):
        total, part = scratch[TOTALS + n], scratch[PARTS + n]
        after = total + part
        scratch[LOST + n] += lost(total, part, after)
        scratch[TOTALS + n] = after
        scratch[PARTS + n] = 0


def leaf_sums(x, start, rows, first, width, lanes):
    """Sum a leaf of rows of a strip to its first lane, in the order of `leaf_sum`."""
    stop = start + LEAF if start + LEAF < rows else rows
    rest = start + (stop - start) // LANES * LANES
    for i in range(rest - start, LANES):  # lanes that get no element
        for n in range(width):
            lanes[i * STRIP + n] = 0
    for i in range(start, rest):
        at = i % LANES * STRIP
        if i < start + LANES:
            for n in range(width):
                lanes[at + n] = x[i, first + n]
        else:
            for n in range(width):
                lanes[at + n] += x[i, first + n]
    for n in range(width):
        low = (lanes[n] + lanes[n + STRIP]) + (lanes[n + TWO * STRIP] + lanes[n + THREE * STRIP])
        m = n + FOUR * STRIP
        high = (lanes[m] + lanes[m + STRIP]) + (lanes[m + TWO * STRIP] + lanes[m + THREE * STRIP])
        lanes[n] = low + high
    for i in range(rest, stop):
        for n in range(width):
            lanes[n] += x[i, first + n]
