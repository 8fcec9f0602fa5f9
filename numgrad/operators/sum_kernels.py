"""Core functions of sums: in blocks of fixed size, so that bits depend on the order alone.

Blocks and their leaves are reduced by halves, see `numgrad._declare.halving`, and blocks joined
with compensation (Knuth's TwoSum), so that the error is that of one block. Leaves and blocks may be
summed apart, wherever they are in a cache, and joined later.
"""

from .._declare.halving import join_sum_rows, join_sums, sum_all, sum_rows


def sum_contiguous(x, out):
    """Sum a contiguous axis."""
    sum_all(x, out)


def join_blocks(parts, out):
    """Join the sums of blocks."""
    join_sums(parts, out)


def sum_columns(x, out):
    """Sum the rows of a matrix, each column with the bits of `sum_contiguous`."""
    sum_rows(x, out)


def join_leaves(parts, out):
    """Join the sums of leaves, of which the matrix has a row for each."""
    join_sum_rows(parts, out)
