"""Reductions along axes."""

import numpy as np

from .._declare import reduction
from .shape import broadcast, expand_dims


@reduction(numpy=np.sum)
def sum(x, out):
    """Sum in blocks of 1024 elements, so that the bits do not depend on how the work is cut."""
    total = x.dtype.type(0)
    n = x.size
    for start in range(0, n, 1024):
        part = x.dtype.type(0)
        for i in range(start, min(start + 1024, n)):
            part += x[i]
        total += part
    out[0] = total


@sum.pullback
def sum_pullback(context, g):
    axes = context.static["axes"]
    if not axes:
        return g
    shape = context.input_specs[0].shape
    return broadcast(expand_dims(g, axes=axes), sizes=shape[axes[0] :])


def sum_to(value, shape):
    """Sum over the axes along which ``shape`` was broadcast to the shape of ``value``."""
    ndim = len(value.shape)
    lead = ndim - len(shape)
    axes = tuple(
        n - ndim for n in range(ndim) if n < lead or (shape[n - lead] == 1 and value.shape[n] != 1)
    )
    result = sum(value, axes=axes)
    kept = tuple(a for a in axes if a >= -len(shape))
    return expand_dims(result, axes=kept) if kept else result
