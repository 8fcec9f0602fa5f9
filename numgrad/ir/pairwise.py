"""Reductions by halves: the order in which kernels join the elements of sums and extrema.

A leaf has 32 elements: its second half is joined to its first half, element by element, then the
second quarter to the first, until one element is left. A block has 32 leaves, whose results are
joined in the same order. Elements missing at the end are left out. Each step joins many elements at
once, in vectors. The functions below define the results bit by bit; targets have code of their own
in place of these functions.
"""

import functools

import numpy as np

LEAF = 32
BLOCK = 1024
LEAVES = BLOCK // LEAF


def halved_sum(x, start, stop):
    """Return the sum of ``x[start:stop]``, of at most `BLOCK` elements."""
    return _halved(np.add, x[start:stop])


def halved_max(x, start, stop):
    """Return the largest element of ``x[start:stop]``, or a NaN that is there; the slice must not
    be empty."""
    return _halved(np.maximum, x[start:stop])


def halved_min(x, start, stop):
    """Return the smallest element of ``x[start:stop]``, or a NaN that is there; the slice must not
    be empty."""
    return _halved(np.minimum, x[start:stop])


def sum_all(x, out):
    """Sum the elements of ``x``: each block by halves, the sums of blocks with compensation."""
    out[0] = _compensated(_blocks(x, BLOCK, halved_sum), out.dtype.type(0))


def max_all(x, out):
    """Find the largest element of ``x``, or a NaN."""
    out[0] = functools.reduce(larger, _blocks(x, BLOCK, halved_max))


def min_all(x, out):
    """Find the smallest element of ``x``, or a NaN."""
    out[0] = functools.reduce(smaller, _blocks(x, BLOCK, halved_min))


def sum_matrix(x, out):
    """Sum the elements of a matrix, in C order, as `sum_all` does."""
    sum_all(x.reshape(-1), out)


def max_matrix(x, out):
    """Find the largest element of a matrix, or a NaN, as `max_all` does."""
    max_all(x.reshape(-1), out)


def min_matrix(x, out):
    """Find the smallest element of a matrix, or a NaN, as `min_all` does."""
    min_all(x.reshape(-1), out)


def join_sums(parts, out):
    """Add up the sums of blocks, with compensation."""
    out[0] = _compensated(parts, out.dtype.type(0))


def join_maxima(parts, out):
    """Find the largest of the largest elements of blocks."""
    out[0] = functools.reduce(larger, parts)


def join_minima(parts, out):
    """Find the smallest of the smallest elements of blocks."""
    out[0] = functools.reduce(smaller, parts)


def sum_rows(x, out):
    """Sum the rows of a matrix; the sum of each column has the bits of `sum_all`."""
    for n in range(x.shape[1]):
        sum_all(x[:, n], out[n : n + 1])


def max_rows(x, out):
    """Find the largest element of each column, with the bits of `max_all`."""
    for n in range(x.shape[1]):
        max_all(x[:, n], out[n : n + 1])


def min_rows(x, out):
    """Find the smallest element of each column, with the bits of `min_all`."""
    for n in range(x.shape[1]):
        min_all(x[:, n], out[n : n + 1])


def sum_row_groups(x, out):
    """Sum the rows of all matrices of a stack, one after the other, as `sum_rows` does."""
    sum_rows(x.reshape(-1, x.shape[2]), out)


def max_row_groups(x, out):
    """Find the largest element of each column of all matrices of a stack."""
    max_rows(x.reshape(-1, x.shape[2]), out)


def min_row_groups(x, out):
    """Find the smallest element of each column of all matrices of a stack."""
    min_rows(x.reshape(-1, x.shape[2]), out)


def join_sum_rows(parts, out):
    """Add up sums of leaves for each column; ``parts`` has a row for each leaf.

    The leaves of a block are joined by halves, and blocks with compensation.
    """
    for n in range(parts.shape[1]):
        join_sums(_blocks(parts[:, n], LEAVES, halved_sum), out[n : n + 1])


def join_max_rows(parts, out):
    """Find the largest element of each column; ``parts`` has that of each leaf in a row."""
    for n in range(parts.shape[1]):
        join_maxima(_blocks(parts[:, n], LEAVES, halved_max), out[n : n + 1])


def join_min_rows(parts, out):
    """Find the smallest element of each column; ``parts`` has that of each leaf in a row."""
    for n in range(parts.shape[1]):
        join_minima(_blocks(parts[:, n], LEAVES, halved_min), out[n : n + 1])


REDUCE = {"sum": sum_all, "max": max_all, "min": min_all}
REDUCE_MATRIX = {"sum": sum_matrix, "max": max_matrix, "min": min_matrix}
JOIN = {"sum": join_sums, "max": join_maxima, "min": join_minima}
REDUCE_ROWS = {"sum": sum_rows, "max": max_rows, "min": min_rows}
REDUCE_ROW_GROUPS = {"sum": sum_row_groups, "max": max_row_groups, "min": min_row_groups}
JOIN_ROWS = {"sum": join_sum_rows, "max": join_max_rows, "min": join_min_rows}
"""The functions of each reduction, for which targets have code of their own."""

_TABLES = REDUCE, REDUCE_MATRIX, JOIN, REDUCE_ROWS, REDUCE_ROW_GROUPS, JOIN_ROWS
REPLACED = frozenset(function for table in _TABLES for function in table.values())


def lost(total, part, after):
    """Return the rounding error of ``after = total + part``."""
    back = after - total
    return (total - (after - back)) + (part - back)


def corrected(total, correction):
    """Return the compensated sum: without the correction if that is not finite."""
    if correction - correction == 0:
        return total + correction
    return total


def larger(a, b):
    """Return the larger of two numbers, or the NaN of the two."""
    return a if a > b or a != a else b


def smaller(a, b):
    """Return the smaller of two numbers, or the NaN of the two."""
    return a if a < b or a != a else b


def _blocks(x, size, halved):
    """Return the results of ``halved`` for each ``size`` elements of ``x``."""
    return [halved(x, start, start + size) for start in range(0, len(x), size)]


def _compensated(parts, zero):
    total = correction = zero
    for part in parts:
        after = total + part
        correction += lost(total, part, after)
        total = after
    return corrected(total, correction)


def _halved(join, values):
    """Join up to `BLOCK` values: those of each leaf by halves, then the results of leaves."""
    leaves = [values[n : n + LEAF].copy() for n in range(0, values.size, LEAF)]
    return _leaf(join, np.array([_leaf(join, leaf) for leaf in leaves], values.dtype))


def _leaf(join, values):
    """Join up to `LEAF` values by halves."""
    half = LEAF // 2
    while half:
        joined = values[half:]
        values = values[:half]
        values[: joined.size] = join(values[: joined.size], joined)
        half //= 2
    return values[0] if values.size else values.dtype.type(0)
