"""Sums at positions, in the order of what is added, so that they are deterministic.

Up to `LEAF` terms of a sum are added one by one, as in a leaf of other sums. Where a position may
come more often, single precision is summed in double, and in double precision what rounding takes
from each sum is summed beside it (Neumaier 1974): a sum of ten million terms is as exact as one of
ten. That takes memory for the sums, and more time where it does not fit into a cache, so it is
known first whether a position does come more often.
"""

import numpy as np

from ...ir.pairwise import LEAF

SPREAD, SIXTY_FOUR = np.uint64(0x9E3779B97F4A7C15), 64
"""An odd number, close to 2**64 over the golden ratio (Knuth, volume 3, 6.4)."""

HIGHEST, BLOCK = np.uint8(128), 1024
FIRST_COUNT = np.uint8(127 - LEAF)
"""What a counter is at first: after more than `LEAF` positions it has the highest bit."""


def scatter_core(g, index, out):
    """Add the rows of ``g`` up, of integers or of few terms. Rows of a few elements have loops
    without another one inside."""
    width = out.shape[1]
    for i in range(out.shape[0]):
        for j in range(width):
            out[i, j] = 0
    if width == 1:
        for i in range(index.size):
            out[np.uint64(index[i]), 0] += g[i, 0]
    elif width == 2:
        for i in range(index.size):
            row = np.uint64(index[i])
            out[row, 0] += g[i, 0]
            out[row, 1] += g[i, 1]
    elif width == 3:
        for i in range(index.size):
            row = np.uint64(index[i])
            out[row, 0] += g[i, 0]
            out[row, 1] += g[i, 1]
            out[row, 2] += g[i, 2]
    else:
        for i in range(index.size):
            row = np.uint64(index[i])
            for j in range(width):
                out[row, j] += g[i, j]


def scatter_single_core(g, index, out):
    """Add real numbers of single precision up."""
    if is_crowded(index, out.shape[0]):
        add_into(g, index, np.zeros(out.shape), out)
    else:
        scatter_core(g, index, out)


def scatter_complex_core(g, index, out):
    """Add complex numbers of single precision up."""
    if is_crowded(index, out.shape[0]):
        add_into(g, index, np.zeros(out.shape, np.complex128), out)
    else:
        scatter_core(g, index, out)


def add_into(g, index, sums, out):
    """Add the rows of ``g`` up in ``sums``, which are 0 at first, and round these."""
    if out.shape[1] == 1:
        for i in range(index.size):
            sums[np.uint64(index[i]), 0] += g[i, 0]
    else:
        for i in range(index.size):
            row = np.uint64(index[i])
            for j in range(out.shape[1]):
                sums[row, j] += g[i, j]
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = sums[i, j]


def scatter_double_core(g, index, out):
    """Add numbers of double precision up."""
    if not is_crowded(index, out.shape[0]):
        scatter_core(g, index, out)
        return
    rests = np.zeros_like(out)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0
    if out.shape[1] == 1:
        for i in range(index.size):
            row = np.uint64(index[i])
            total, term = out[row, 0], g[i, 0]
            new = total + term
            moved = new - total
            rests[row, 0] += (total - (new - moved)) + (term - moved)
            out[row, 0] = new
    else:
        for i in range(index.size):
            row = np.uint64(index[i])
            for j in range(out.shape[1]):
                total, term = out[row, j], g[i, j]
                new = total + term
                moved = new - total
                rests[row, j] += (total - (new - moved)) + (term - moved)
                out[row, j] = new
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            rest = rests[i, j]
            if rest == rest:  # beside an infinite sum it is no number
                out[i, j] += rest


def is_crowded(index, size):
    """Whether one of ``size`` positions may come more than `LEAF` times.

    Each position has a counter; where positions are few beside their range, they share counters,
    eight of them each on average, if all come once. That a shared counter is more than full where
    none of its positions is may happen, but hardly does.
    """
    if index.size <= LEAF:
        return False
    if index.size > LEAF * size:
        return True
    return is_full(index, size) if size <= 8 * index.size else is_full_if_shared(index)


def is_full(index, size):
    """Whether one of ``size`` positions comes more than `LEAF` times. A counter gets its highest
    bit then; the bits of a block of positions are looked at together."""
    counts = np.full(size, FIRST_COUNT, np.uint8)
    for start in range(0, index.size, BLOCK):
        bits = np.uint8(0)
        for i in range(start, min(start + BLOCK, index.size)):
            row = np.uint64(index[i])
            count = np.uint8(counts[row] + np.uint8(1))
            counts[row] = count
            bits |= count
        if bits & HIGHEST:
            return True
    return False


def is_full_if_shared(index):
    """Whether positions that share a counter come more than `LEAF` times."""
    bits = 2
    while 8 << bits < index.size:
        bits += 1
    counts = np.zeros(1 << bits, np.uint8)
    shift = np.uint64(SIXTY_FOUR - bits)
    for i in range(index.size):
        counter = (np.uint64(index[i]) * SPREAD) >> shift
        count = counts[counter] + 1
        counts[counter] = count
        if count > LEAF:
            return True
    return False


SCATTERS = {"f4": scatter_single_core, "c8": scatter_complex_core, "f8": scatter_double_core,
            "c16": scatter_double_core}  # fmt: skip
"""By dtype, where it is not `scatter_core`."""
