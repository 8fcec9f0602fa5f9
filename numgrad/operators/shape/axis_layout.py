"""Bringing axes to the end and back, for operators whose kernels work along the last axis."""

from math import prod

from .reshape import permute_dims, reshape


def axes_last(value, axes):
    """Return ``value`` with the negative, ascending ``axes`` merged to one axis, the last."""
    order = _order(axes)
    if order != tuple(sorted(order)):
        value = permute_dims(value, axes=order)
    if len(axes) == 1:
        return value
    shape = value.shape
    return reshape(value, ncore=len(axes), shape=(prod(shape[len(shape) - len(axes) :]),))


def axes_restored(value, axes, shape):
    """Undo `axes_last` for a value that had the shape ``shape``, leading axes aside."""
    if len(axes) != 1:
        value = reshape(value, ncore=1, shape=tuple(shape[len(shape) + a] for a in axes))
    order = _order(axes)
    if order == tuple(sorted(order)):
        return value
    inverse = tuple(order.index(a) - len(order) for a in range(-len(order), 0))
    return permute_dims(value, axes=inverse)


def _order(axes):
    """Return the last axes in the order that brings ``axes`` to the end."""
    return (*(a for a in range(axes[0], 0) if a not in axes), *axes)
