"""Core functions of extrema: in the leaves and blocks of sums, so that they can be shared as sums
are, and the sign of a zero and the payload of a NaN depend on the order of the elements alone.
"""

import numpy as np

from .._declare import halving
from .._declare.halving import flat, halved_max, halved_min
from .row_kernels import LEAF, ONE, SCRATCH, STRIP, ZERO, halve_rows_of

BLOCK = np.uint64(halving.BLOCK)
LEAVES = BLOCK // LEAF


def larger(a, b):
    """Return the larger one, or the NaN among the two."""
    return a if a > b or a != a else b


def smaller(a, b):
    """Return the smaller one, or the NaN among the two."""
    return a if a < b or a != a else b


def contiguous_of(halved, better):
    """Return the function that searches a contiguous axis."""

    def search(x, out):
        n = np.uint64(x.size)
        found = halved(x, ZERO, BLOCK if n > BLOCK else n)
        for start in range(BLOCK, n, BLOCK):
            stop = start + BLOCK
            found = better(found, halved(x, start, stop if stop < n else n))
        out[0] = found

    return search


def joining_of(better):
    """Return the function that joins what was found in blocks."""

    def join(parts, out):
        found = parts[0]
        for i in range(ONE, np.uint64(parts.size)):
            found = better(found, parts[i])
        out[0] = found

    return join


def columns_of(better):
    """Return the function that searches the rows of a matrix."""
    search_rows, keep = halve_rows_of(better), keeping_of(better)

    def search(x, out):
        rows, columns = np.uint64(x.shape[0]), np.uint64(x.shape[1])
        most = STRIP if columns > STRIP else columns
        data, scratch = flat(x), np.empty(SCRATCH, out.dtype)
        found = np.empty(LEAVES * most, out.dtype)
        for first in range(ZERO, columns, STRIP):
            width = columns - first if columns - first < STRIP else STRIP
            for block in range(ZERO, rows, BLOCK):
                stop = block + BLOCK if block + BLOCK < rows else rows
                count = ZERO
                for start in range(block, stop, LEAF):
                    size = LEAF if start + LEAF < stop else stop - start
                    at = start * columns + first
                    search_rows(data, at, columns, size, width, scratch, found, count * width)
                    count += ONE
                if count > ONE:
                    search_rows(found, ZERO, width, count, width, scratch, found, ZERO)
                keep(found, block == ZERO, first, width, out)

    return search


def joining_leaves_of(better):
    """Return the function that joins what was found in leaves, a row of a matrix for each."""
    search_rows, keep = halve_rows_of(better), keeping_of(better)

    def join(parts, out):
        rows, columns = np.uint64(parts.shape[0]), np.uint64(parts.shape[1])
        data, scratch = flat(parts), np.empty(SCRATCH, out.dtype)
        found = np.empty(STRIP, out.dtype)
        for first in range(ZERO, columns, STRIP):
            width = columns - first if columns - first < STRIP else STRIP
            for start in range(ZERO, rows, LEAVES):
                count = LEAVES if start + LEAVES < rows else rows - start
                at = start * columns + first
                search_rows(data, at, columns, count, width, scratch, found, ZERO)
                keep(found, start == ZERO, first, width, out)

    return join


def keeping_of(better):
    """Return a function that keeps the best of the blocks of a strip."""

    def keep(found, is_first, first, width, out):
        for n in range(width):
            best = found[n]
            out[first + n] = best if is_first else better(out[first + n], best)

    return keep


largest_contiguous = contiguous_of(halved_max, larger)
largest_columns, join_largest_leaves = columns_of(larger), joining_leaves_of(larger)
join_largest = joining_of(larger)
smallest_contiguous = contiguous_of(halved_min, smaller)
smallest_columns, join_smallest_leaves = columns_of(smaller), joining_leaves_of(smaller)
join_smallest = joining_of(smaller)
