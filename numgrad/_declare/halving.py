"""Reductions by halves: the order in which sums and extrema join up to `BLOCK` elements.

Of a leaf of 32 elements the second half is joined to the first one, element by element, then the
second quarter to the first, until one is left; in the same way one of a block is made of those of
its leaves. What a leaf or a block lacks is left out. Every step works on many elements at once,
which is what processors are made for; the functions below say what it comes to, and targets have
code of their own for them.
"""

import numpy as np

LEAF = 32
BLOCK = 1024


def halved_sum(x, start, stop):
    """Return the sum of ``x[start:stop]``, of at most `BLOCK` elements."""
    return _halved(np.add, x[start:stop])


def halved_max(x, start, stop):
    """Return the largest one of ``x[start:stop]``, or a NaN among them; not of none."""
    return _halved(np.maximum, x[start:stop])


def halved_min(x, start, stop):
    """Return the smallest one of ``x[start:stop]``, or a NaN among them; not of none."""
    return _halved(np.minimum, x[start:stop])


def flat(x):
    """Return the elements of a C-contiguous matrix as one row; no copy."""
    return x.reshape(x.size)


def _halved(join, values):
    leaves = [values[n : n + LEAF].copy() for n in range(0, values.size, LEAF)]
    return _leaf(join, np.array([_leaf(join, leaf) for leaf in leaves], values.dtype))


def _leaf(join, values):
    half = LEAF // 2
    while half:
        joined = values[half:]
        values = values[:half]
        values[: joined.size] = join(values[: joined.size], joined)
        half //= 2
    return values[0] if values.size else values.dtype.type(0)
