"""Core functions of sums: fixed blocks and lanes, so that the bits depend on the order alone.

Within a block element ``i`` goes to lane ``i % 8``; the lanes are joined pairwise, then come the
elements that fill no row of lanes. The sums of blocks are joined in order with compensation
(Knuth's TwoSum), so that the error is that of one block. Indices are unsigned, which spares the
loops Python's negative indexing.
"""

import numpy as np

BLOCK = np.uint64(512)
LANES = np.uint64(8)
# Columns that are summed together: their lanes fit a first-level cache.
STRIP = np.uint64(128)
ZERO, ONE, TWO, THREE = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)
FOUR, FIVE, SIX, SEVEN = np.uint64(4), np.uint64(5), np.uint64(6), np.uint64(7)
TOTAL = LANES * STRIP


def block_sum(x, start, stop):
    """Return the sum of ``x[start:stop]``."""
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


def sum_columns(x, out):
    """Sum the rows of a matrix, each column with the bits of `sum_contiguous`.

    Strips of columns are summed together; the scratch holds their lanes, totals and corrections.
    """
    rows, columns = np.uint64(x.shape[0]), np.uint64(x.shape[1])
    scratch = np.empty((LANES + TWO) * STRIP, out.dtype)
    for first in range(ZERO, columns, STRIP):
        width = columns - first if columns - first < STRIP else STRIP
        for i in range(TOTAL, TOTAL + TWO * STRIP):
            scratch[i] = 0
        for start in range(ZERO, rows, BLOCK):
            stop = start + BLOCK if start + BLOCK < rows else rows
            block_sums(x, start, stop, first, width, scratch)
            for n in range(width):
                total, part = scratch[TOTAL + n], scratch[n]
                after = total + part
                scratch[TOTAL + STRIP + n] += lost(total, part, after)
                scratch[TOTAL + n] = after
        for n in range(width):
            out[first + n] = corrected(scratch[TOTAL + n], scratch[TOTAL + STRIP + n])


def block_sums(x, start, stop, first, width, lanes):
    """Sum the rows ``start:stop`` of a strip to its first lane, in the order of `block_sum`."""
    for i in range(LANES * STRIP):
        lanes[i] = 0
    rest = start + (stop - start) // LANES * LANES
    for i in range(start, stop + ONE):
        if i == rest:
            step = STRIP
            while step < LANES * STRIP:
                for lane in range(ZERO, LANES * STRIP, TWO * step):
                    for n in range(lane, lane + width):
                        lanes[n] += lanes[n + step]
                step *= TWO
        if i < stop:
            lane = i % LANES * STRIP if i < rest else ZERO
            for n in range(width):
                lanes[lane + n] += x[i, first + n]
