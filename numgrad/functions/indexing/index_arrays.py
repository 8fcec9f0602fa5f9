"""Index expressions with arrays: the positions that they stand for, found by operators where a
captured function reads the arrays at each call, and where there are many elements.

A position is a sum: each index along its axis, times the elements that lie between two neighbours
there. What is known is summed up at once, the rest by what computes or records the operators.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...ir.broadcasting import broadcast_shapes
from ...operators.elementwise.arithmetic import add
from ...operators.shape import reshape as _shape
from ...operators.shape.index_positions import positions
from ..array.operands import as_tensor
from .keys import (
    FEW,
    WHOLE,
    ArrayKey,
    Items,
    adjacent,
    check_arrays,
    consumed,
    few_positions,
    is_array,
    is_index,
    is_unique,
    numbers_of,
    untouched,
)


def of_plain_key(key: Any, x_shape: tuple[int, ...], caller: str) -> tuple[Any, ...] | None:
    """Return positions, and what `ArrayKey` has behind them, for a key of arrays of integers behind
    full slices; None for others, and where something is out of bounds."""
    lead, arrays = _plain_arrays(key)
    stop = lead + len(arrays)
    if not arrays or stop > len(x_shape):
        return None
    sizes = x_shape[lead:stop]
    if prod(sizes) <= FEW:
        try:
            found = numbers_of(sizes)[arrays]
        except IndexError:
            return None
        return Tensor(found.reshape(-1)), len(arrays), len(x_shape) - stop, found.shape
    try:
        shape = broadcast_shapes(*[index.shape for index in arrays])
    except ValueError:
        return None
    total: Any = None
    for n, index in enumerate(arrays):
        whole = index if index.shape == shape else np.broadcast_to(index, shape)
        vector = Tensor(whole.reshape(-1))
        step = prod(sizes[n + 1 :])
        at = positions(vector, caller=caller, axis=lead + n, size=sizes[n], step=step)
        total = at.array if total is None else np.add(total, at.array, out=total)
    return Tensor(total), len(arrays), len(x_shape) - stop, shape


def of_indices_along(
    where: np.ndarray, x_shape: tuple[int, ...], axis: int, caller: str
) -> tuple[Tensor, tuple[int, ...]] | None:
    """Return the positions of the elements that an index array picks along one axis, as a vector,
    and the shape of the result: that of the index array, broadcast against the other axes.

    Return None where the general way has to be taken: without elements, where dtypes are others
    than integers, and where shapes do not fit.
    """
    index = plain_array(where)
    if index is None or not index.size or not prod(x_shape):
        return None
    lines = (*x_shape[:axis], 1, *x_shape[axis + 1 :])
    first = _first_of_lines(x_shape, axis) if prod(lines) <= FEW else _firsts(x_shape, axis)
    static = {"axis": axis, "size": x_shape[axis], "step": prod(x_shape[axis + 1 :])}
    at = positions(Tensor(index.reshape(-1)), caller=caller, **static).array.reshape(index.shape)
    try:
        total = at + first
    except ValueError:
        return None
    return Tensor(total.reshape(-1)), total.shape


def _firsts(shape: tuple[int, ...], axis: int) -> np.ndarray:
    """Return the position of the first element of each line along an axis of an array of a shape;
    the axis has size 1 in the result."""
    before, after = shape[:axis], shape[axis + 1 :]
    each = np.arange(prod(before)) * prod(shape[axis:])
    within = np.arange(prod(after)).reshape(after)
    return each.reshape(*before, *(1,) * (len(after) + 1)) + within


_first_of_lines = lru_cache(maxsize=256)(_firsts)


def _plain_arrays(key: Any) -> tuple[int, tuple[np.ndarray, ...]]:
    """Return the number of full slices and the arrays behind them; none if there is more."""
    if type(key) is not tuple:
        array = plain_array(key)
        return 0, () if array is None else (array,)
    lead = 0
    while lead < len(key) and type(key[lead]) is slice and key[lead] == WHOLE:
        lead += 1
    arrays = [array for array in map(plain_array, key[lead:]) if array is not None]
    return lead, tuple(arrays) if len(arrays) == len(key) - lead else ()


def plain_array(item: Any) -> np.ndarray | None:
    """Return an item of a key that is an array of integers, and has axes, as one; None for
    others."""
    array = item
    if type(item) is Tensor:
        array = item._on_host()
    elif type(item) is list and set(map(type, item)) == {int}:
        array = np.array(item)
    if type(array) is not np.ndarray or not array.ndim:
        return None
    return array if array.dtype.kind in "iu" and array.dtype.isnative else None


def positions_of(key: Items, shape: Sequence[int], caller: str) -> ArrayKey:
    """Return a key with positions, which are a tensor except where they come from a table.

    Parameters
    ----------
    caller : str
        What errors of the program call the function that was given the key.
    """
    items = key.items
    if not key.is_late:
        found = few_positions(items, shape)
        if found is not None:
            return found
        items = [as_tensor(i) if is_array(i) and i.dtype.kind != "b" else i for i in items]
    lead, tail = untouched(items)
    sizes = tuple(shape[lead : len(shape) - tail])
    places = _axes_of(items)
    _check(items, places, shape, caller)
    touched = items[lead : len(items) - tail]
    known = _known(touched, [n - lead for n in places], sizes)
    behind = _behind(touched, known.ndim)
    total: Any = Tensor(known) if known.any() or not places else None
    for axis, index in places.items():
        step = prod(sizes[axis - lead + 1 :])
        term = positions(index, caller=caller, axis=axis, size=shape[axis], step=step)
        if behind:
            term = _shape.expand_dims(term, axes=tuple(range(-behind, 0)))
        total = term if total is None else add(total, term)
    total = _shape.broadcast_to(total, known.shape)
    vector = _shape.reshape(total, ncore=known.ndim, shape=(known.size,))
    return ArrayKey(vector, len(sizes), tail, known.shape, is_unique(touched))


def _axes_of(items: Sequence[Any]) -> dict[int, Tensor]:
    """Return the tensors among the items by the axes along which they count."""
    found: dict[int, Tensor] = {}
    axis = 0
    for item in items:
        if isinstance(item, Tensor):
            found[axis] = item
        axis += consumed(item)
    return found


def _check(items: Sequence[Any], late: dict[int, Tensor], shape: Sequence[int], what: str) -> None:
    for axis, index in late.items():
        if index.size and not shape[axis]:
            raise IndexError(
                f"{what}: every index is out of bounds for axis {axis} with size 0, got indices of "
                f"shape {index.shape}"
            )
    none = np.zeros(0, np.intp)  # which is within all bounds
    check_arrays([none if isinstance(item, Tensor) else item for item in items], shape)


def _known(touched: Sequence[Any], late: Sequence[int], sizes: tuple[int, ...]) -> np.ndarray:
    """Return the positions as if all late indices were 0: the axes along which these count are as
    if they had one element."""
    numbers = np.zeros((1,) * len(sizes), np.int64)
    for axis, size in enumerate(sizes):
        if axis not in late:
            step = prod(sizes[axis + 1 :])
            along = np.arange(size) * step
            numbers = numbers + along.reshape((-1,) + (1,) * (len(sizes) - axis - 1))
    key = [np.zeros(i.shape, np.intp) if isinstance(i, Tensor) else i for i in touched]
    return np.asarray(numbers[tuple(key)])


def _behind(touched: Sequence[Any], ndim: int) -> int:
    """Return how many axes of the result stand behind those of the index arrays."""
    arrays = [n for n, item in enumerate(touched) if is_index(item)]
    if not adjacent(touched):  # NumPy puts them in front
        return ndim - max(_rank(touched[n]) for n in arrays)
    return len(touched) - arrays[-1] - 1


def _rank(item: Any) -> int:
    if isinstance(item, int):
        return 0
    return 1 if item.dtype.kind == "b" else item.ndim
