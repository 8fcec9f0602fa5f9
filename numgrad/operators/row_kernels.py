"""Rows of a matrix joined by halves, each column in the order of `numgrad._declare.halving`.

Matrices are given as all their elements in a row, the first one's place and the distance of rows.
"""

import numpy as np

from .._declare import halving

LEAF = np.uint64(halving.LEAF)
# Columns that are reduced together: what is left of their rows fits a first-level cache.
STRIP = np.uint64(256)
ZERO, ONE, TWO, THREE, EIGHT = (np.uint64(n) for n in (0, 1, 2, 3, 8))
HALF = LEAF // TWO
SCRATCH = HALF * STRIP


def halve_rows_of(join):
    """Return a function that joins a leaf of rows, or what it has, by ``join(a, b)``."""

    def halve_rows(x, start, step, count, width, scratch, out, place):
        """Join ``count`` rows of ``x``, of which parts begin at ``start``, to ``out``.

        It is one function because Numba optimises each on its own, and once more in its callers.
        """
        half = EIGHT
        left = half if half < count else count
        if count == LEAF:  # as one long row where nothing lies between two of them
            rows, length = (ONE, EIGHT * width) if step == width else (EIGHT, width)
            for row in range(rows):
                a, at = start + row * step, row * width
                b, c, d = a + EIGHT * step, a + TWO * EIGHT * step, a + THREE * EIGHT * step
                for n in range(length):
                    scratch[at + n] = join(join(x[a + n], x[c + n]), join(x[b + n], x[d + n]))
        else:
            half = LEAF // TWO
            while half >= count and half > ONE:
                half //= TWO
            left = half if half < count else count
            for row in range(count):
                for n in range(width):
                    at, value = row * width + n, x[start + row * step + n]
                    if row < left:
                        scratch[at] = value
                    else:
                        scratch[at - half * width] = join(scratch[at - half * width], value)
        while half > ONE:
            half //= TWO
            behind = half * width
            for n in range((left - half) * width if left > half else ZERO):
                scratch[n] = join(scratch[n], scratch[n + behind])
            left = half if half < left else left
        for n in range(width):
            out[place + n] = scratch[n] if count else out.dtype.type(0)

    return halve_rows
