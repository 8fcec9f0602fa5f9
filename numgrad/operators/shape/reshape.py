"""Operators that only change the shape: views, counted from the right for a batch axis in front."""

from functools import partial
from math import prod
from operator import itemgetter, methodcaller

import numpy as np

from ..._declare import CannotViewError, view
from ...ir.broadcasting import MOST_AXES


@view
def expand_dims(x, *, axes):
    """Insert axes of size 1 at the negative positions ``axes`` of the result."""
    return np.expand_dims(x, axes)


@expand_dims.viewer
def expand_dims_viewer(spec, *, axes):
    ndim = len(spec.shape) + len(axes)
    return itemgetter(tuple(None if n - ndim in axes else slice(None) for n in range(ndim)))


@expand_dims.pullback
def expand_dims_pullback(context, g):
    return squeeze(g, axes=context.static["axes"])


@view
def squeeze(x, *, axes):
    """Remove the axes ``axes`` (negative) of size 1."""
    return np.squeeze(x, axes)


@squeeze.viewer
def squeeze_viewer(spec, *, axes):
    ndim = len(spec.shape)
    key = tuple(0 if n - ndim in axes else slice(None) for n in range(ndim))
    return itemgetter((..., *key))  # the ellipsis keeps an array an array


@squeeze.pullback
def squeeze_pullback(context, g):
    return expand_dims(g, axes=context.static["axes"])


@view
def permute_dims(x, *, axes):
    """Permute the last ``len(axes)`` axes; ``axes`` are negative numbers."""
    lead = x.ndim - len(axes)
    return x.transpose(*range(lead), *(x.ndim + a for a in axes))


@permute_dims.viewer
def permute_dims_viewer(spec, *, axes):
    ndim = len(spec.shape)
    order = (*range(ndim - len(axes)), *(ndim + a for a in axes))
    return methodcaller("transpose", order)


@permute_dims.pullback
def permute_dims_pullback(context, g):
    axes = context.static["axes"]
    n = len(axes)
    inverse = [0] * n
    for position, axis in enumerate(axes):
        inverse[axis + n] = position - n
    return permute_dims(g, axes=tuple(inverse))


@view
def reshape(x, *, ncore, shape):
    """Give the last ``ncore`` axes the shape ``shape``."""
    lead = x.shape[: x.ndim - ncore]
    try:
        return np.reshape(x, (*lead, *shape), copy=False)
    except ValueError:
        if prod(x.shape[x.ndim - ncore :]) != prod(shape) or len(lead) + len(shape) > MOST_AXES:
            raise
        raise CannotViewError from None


reshape.may_copy = True


@reshape.viewer
def reshape_viewer(spec, *, ncore, shape):
    result = (*spec.shape[: len(spec.shape) - ncore], *shape)
    general = partial(reshape.function, ncore=ncore, shape=shape)
    in_order = methodcaller("reshape", result)
    return lambda x: in_order(x) if x.flags.c_contiguous else general(x), in_order


@reshape.pullback
def reshape_pullback(context, g):
    ncore, shape = context.static["ncore"], context.static["shape"]
    before = context.input_specs[0].shape
    return reshape(g, ncore=len(shape), shape=before[len(before) - ncore :])


@view
def broadcast(x, *, sizes):
    """Repeat axes of size 1: ``sizes`` are the sizes of the last axes of the result."""
    lead = x.shape[: x.ndim - len(sizes)]
    return np.broadcast_to(x, (*lead, *sizes))


@broadcast.viewer
def broadcast_viewer(spec, *, sizes):
    lead = len(spec.shape) - len(sizes)
    result = (*spec.shape[:lead], *sizes)
    fixed = np.broadcast_to(np.empty(spec.shape, spec.dtype), result).strides
    general = partial(broadcast.function, sizes=sizes)
    if 0 in result:
        return general

    def repeated(x):
        view = np.ndarray(result, x.dtype, x, 0, fixed)
        view.flags.writeable = False
        return view

    return lambda x: repeated(x) if x.flags.c_contiguous else general(x), repeated


@broadcast.pullback
def broadcast_pullback(context, g):
    return g  # the engine sums a gradient over the axes that its input had with size 1


@view
def flip(x, *, axes):
    """Reverse the order of the elements along the negative ``axes``."""
    first = min(axes, default=0)
    steps = [slice(None, None, -1 if axis in axes else None) for axis in range(first, 0)]
    return x[(..., *steps)]


@flip.pullback
def flip_pullback(context, g):
    return flip(g, axes=context.static["axes"])


def broadcast_to(value, shape):
    """Repeat ``value`` along new leading axes and along those of size 1, as NumPy does."""
    if value.shape == shape:
        return value
    if len(value.shape) < len(shape):
        value = expand_dims(value, axes=tuple(range(-len(shape), -len(value.shape))))
    return broadcast(value, sizes=tuple(shape))
