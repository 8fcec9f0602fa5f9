"""Axis arguments as NumPy takes them, turned into what operators take: negative and ascending."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.lib import array_utils

from ..._tensor import Tensor
from ...engine.graph.value import View
from ...engine.record.guards import guarded
from ...engine.record.options import Steps
from ...operators.shape.reshape import expand_dims, permute_dims, reshape
from .argument_checks import integer, integers

Axis = int | Sequence[int] | None


def normalize_axis_index(axis: Any, ndim: int) -> int:
    """Return one axis as a number that is not negative."""
    return array_utils.normalize_axis_index(integer(axis, "axis"), ndim)


def normalize_axis_tuple(axis: Any, ndim: int, *options: Any, **named: Any) -> tuple[int, ...]:
    """Return one or several axes as numbers that are not negative."""
    try:
        return array_utils.normalize_axis_tuple(guarded(axis), ndim, *options, **named)
    except TypeError:
        integers(axis, "axis")  # it says what is wrong
        raise


def negative_axes(axis: Axis, ndim: int) -> tuple[int, ...]:
    """Return ``axis`` (``None`` is all of them) as negative numbers in ascending order."""
    if axis is None:
        return tuple(range(-ndim, 0))
    return tuple(sorted(a - ndim for a in normalize_axis_tuple(axis, ndim)))


def reduced_axes(axis: Axis, ndim: int) -> tuple[int, ...]:
    """Return ``axis`` of a reduction as `negative_axes` does; a number has an axis to reduce, as in
    NumPy: ``sum(3.0, axis=0)``."""
    return () if not ndim and guarded(axis) in (0, -1) else negative_axes(axis, ndim)


def negative_axis(axis: int, ndim: int) -> int:
    """Return one axis as a negative number."""
    return normalize_axis_index(axis, ndim) - ndim


def reduce_axes(reduction: Any, x: Tensor, axis: Axis, keepdims: bool) -> Tensor:
    """Apply a reduction operator along ``axis``."""
    return own_array(reducer(reduction).call(x, axis, kept(keepdims)), keepdims)


def own_array(y: Tensor, keepdims: Any) -> Tensor:
    """Return a reduction that can be written if its axes stay: it is an array then, whose only view
    is no value that anybody has."""
    if keepdims and type(y._view) is View and y._view.base.is_scalar:
        y._view.base._view = None
    return y


def kept(keepdims: Any) -> bool:
    """Return whether reduced axes stay. An array is no answer."""
    if keepdims is None or isinstance(keepdims, (bool, np.bool, int, np.integer)):
        return bool(keepdims)
    raise TypeError(f"keepdims must be True or False, got {type(keepdims).__name__}")


@cache
def reducer(reduction: Any) -> Steps:
    """Return the function ``(x, axis, keepdims)`` of a reduction operator."""

    def resolve(x: Tensor, axis: Axis, keepdims: bool) -> list[tuple[Any, dict[str, Any]]]:
        axes = reduced_axes(axis, x.ndim)
        reduced = (reduction, {"axes": axes})
        return [reduced, (expand_dims, {"axes": axes})] if kept(keepdims) and axes else [reduced]

    return Steps(resolve)


def along_axis(function: Callable[[Tensor], Tensor], x: Tensor, axis: int | None) -> Tensor:
    """Apply a function of the last axis along ``axis``; ``None`` flattens first."""
    if axis is None:
        return function(reshape(x, ncore=x.ndim, shape=(x.size,)))
    axis = negative_axis(axis, x.ndim)
    if axis == -1:
        return function(x)
    to, back = exchanged(axis)
    return permute_dims(function(permute_dims(x, axes=to)), axes=back)


def exchanged(axis: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the permutation that puts a negative axis last, and the one that puts it back."""
    return (*range(axis + 1, 0), axis), (-1, *range(axis, -1))


def number_of_elements(x: Tensor, axis: Axis) -> int:
    """Return how many elements are reduced to one."""
    count = 1
    for a in negative_axes(axis, x.ndim):
        count *= x.shape[a]
    return count
