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
from ...engine.record.apply import other_modes
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


def plain_key(key: Any, ndim: int) -> tuple[tuple[Any, ...], int, int] | None:
    """Return the arrays and integers of a key if they stand side by side, with nothing but full
    slices around them; None for other keys.

    With them come the numbers of axes in front of those that they touch, and of these, for an array
    of ``ndim`` axes. The arrays are of integers or masks; those of several axes are in C order.
    """
    touched: list[Any] = []
    before = count = behind = 0
    dots, is_over = None, False
    for item in key if type(key) is tuple else (key,):
        kind = type(item)
        if kind is int or (kind is not slice and item is not ...):
            plain = item if kind is int else _plain_array(item)
            if plain is None or is_over:
                return None
            touched.append(plain)
            count += 1 if kind is int or plain.dtype.kind != "b" else plain.ndim
            continue
        is_over = bool(touched)
        if item is ... and dots is None:
            dots = is_over
        elif item is ... or item != WHOLE:
            return None
        elif is_over:
            behind += 1
        else:
            before += 1
    if before + count + behind > ndim or np.ndarray not in map(type, touched):
        return None
    return tuple(touched), ndim - count - behind if dots is False else before, count


def _plain_array(item: Any) -> np.ndarray | None:
    """Return an item that is an array of integers or a mask as an array; None for others, and for
    arrays whose order in memory the result would have."""
    array = plain_array(item, "iub")
    return None if array is None or not (array.ndim == 1 or array.flags.c_contiguous) else array


def of_plain_key(key: Any, x_shape: tuple[int, ...], caller: str) -> tuple[Any, ...] | None:
    """Return positions, and what `ArrayKey` has behind them, for a plain key; None for others, and
    where something is out of bounds."""
    plain = plain_key(key, len(x_shape))
    if plain is None:
        return None
    touched, lead, count = plain
    sizes = x_shape[lead : lead + count]
    tail = len(x_shape) - lead - count
    if prod(sizes) <= FEW:
        try:
            found = numbers_of(sizes)[touched]
        except IndexError:
            return None
        return Tensor(found.reshape(-1)), count, tail, found.shape
    if len(touched) == 1 and touched[0].dtype.kind == "b":
        if touched[0].shape != sizes:
            return None
        found = np.flatnonzero(touched[0])
        return Tensor(found), count, tail, found.shape
    return _of_many(touched, sizes, lead, tail, caller)


def _of_many(
    touched: tuple[Any, ...], sizes: tuple[int, ...], lead: int, tail: int, caller: str
) -> tuple[Any, ...] | None:
    """Return what `of_plain_key` does for arrays of integers alone, where there are more elements
    than tables are kept for."""
    if any([type(i) is int or i.dtype.kind == "b" for i in touched]):  # noqa: C419
        return None
    total: Any = None
    try:
        for n, index in enumerate(touched):
            at = _along(index, lead + n, sizes[n], prod(sizes[n + 1 :]), caller)
            total = at if total is None else total + at
    except (IndexError, ValueError):
        return None
    return Tensor(total.reshape(-1)), len(touched), tail, total.shape


def _along(index: np.ndarray, axis: int, size: int, step: int, caller: str) -> np.ndarray:
    """Return the positions for indices along one axis, whose neighbours are ``step`` elements
    apart."""
    if size <= FEW and index.size <= FEW:
        at = numbers_of((size,))[index]
        return at if step == 1 else at * step
    found = positions(Tensor(index.reshape(-1)), caller=caller, axis=axis, size=size, step=step)
    return found.array.reshape(index.shape)


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
    size, step = x_shape[axis], prod(x_shape[axis + 1 :])
    try:
        total = _along(index, axis, size, step, caller) + first
    except (IndexError, ValueError):
        return None
    return Tensor(total.reshape(-1)), total.shape


def of_late_indices_along(
    index: Tensor, x_shape: tuple[int, ...], axis: int, caller: str
) -> tuple[Tensor, tuple[int, ...]] | None:
    """Return what `of_indices_along` does for indices that are read later, by operators; None where
    the general way has to be taken."""
    lines = (*x_shape[:axis], 1, *x_shape[axis + 1 :])
    shape = _together([index.shape, lines])
    if shape is None or not index.size or not prod(x_shape) or prod(lines) > FEW:
        return None
    size, step = x_shape[axis], prod(x_shape[axis + 1 :])
    total = positions(index, caller=caller, axis=axis, size=size, step=step)
    if prod(lines) > 1:
        total = add(total, Tensor(_first_of_lines(x_shape, axis)))
    if len(shape) != 1:
        total = _shape.reshape(total, ncore=len(shape), shape=(prod(shape),))
    return total, shape


def _firsts(shape: tuple[int, ...], axis: int) -> np.ndarray:
    """Return the position of the first element of each line along an axis of an array of a shape;
    the axis has size 1 in the result."""
    before, after = shape[:axis], shape[axis + 1 :]
    each = np.arange(prod(before)) * prod(shape[axis:])
    within = np.arange(prod(after)).reshape(after)
    return each.reshape(*before, *(1,) * (len(after) + 1)) + within


_first_of_lines = lru_cache(maxsize=256)(_firsts)


def plain_array(item: Any, kinds: str = "iu") -> np.ndarray | None:
    """Return an item of a key that is an array of one of these kinds of dtypes, by default of
    integers, and has axes, as one; None for others."""
    array = item
    if type(item) is Tensor:
        array = item._on_host()
    elif type(item) is list and set(map(type, item)) == {int}:
        array = np.array(item)
    if type(array) is not np.ndarray or not array.ndim:
        return None
    return array if array.dtype.kind in kinds and array.dtype.isnative else None


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
        plain = None if other_modes else of_plain_key(tuple(items), tuple(shape), caller)
        if plain is not None:
            total, count, tail, wanted = plain
            return ArrayKey(total, count, tail, wanted, is_unique(items))
        items = [as_tensor(i) if is_array(i) and i.dtype.kind != "b" else i for i in items]
    lead, tail = untouched(items)
    sizes = tuple(shape[lead : len(shape) - tail])
    places = _axes_of(items)
    _check_late(places, shape, caller)
    touched = items[lead : len(items) - tail]
    total: Any = None
    late = len(touched) == len(places)  # nothing is known of any index
    wanted: Any = _together([x.shape for x in touched]) if late else None
    behind = 0
    if wanted is None:
        check_arrays([_NONE if isinstance(x, Tensor) else x for x in items], shape)
        known = _known(touched, [n - lead for n in places], sizes)
        wanted, behind = known.shape, _behind(touched, known.ndim)
        total = Tensor(known) if known.any() or not places else None
    for axis, index in places.items():
        step = prod(sizes[axis - lead + 1 :])
        term = positions(index, caller=caller, axis=axis, size=shape[axis], step=step)
        if behind:
            term = _shape.expand_dims(term, axes=tuple(range(-behind, 0)))
        total = term if total is None else add(total, term)
    if total.shape != wanted:
        total = _shape.broadcast_to(total, wanted)
    if len(wanted) != 1:
        total = _shape.reshape(total, ncore=len(wanted), shape=(prod(wanted),))
    return ArrayKey(total, len(sizes), tail, wanted, is_unique(touched))


def _together(shapes: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
    """Return the shape to which arrays of these shapes are broadcast, None if they do not fit."""
    try:
        return broadcast_shapes(*shapes)
    except ValueError:
        return None


def _axes_of(items: Sequence[Any]) -> dict[int, Tensor]:
    """Return the tensors among the items by the axes along which they count."""
    found: dict[int, Tensor] = {}
    axis = 0
    for item in items:
        if isinstance(item, Tensor):
            found[axis] = item
        axis += consumed(item)
    return found


def _check_late(late: dict[int, Tensor], shape: Sequence[int], what: str) -> None:
    for axis, index in late.items():
        if index.size and not shape[axis]:
            raise IndexError(
                f"{what}: every index is out of bounds for axis {axis} with size 0, got indices of "
                f"shape {index.shape}"
            )


_NONE = np.zeros(0, np.intp)
"""Indices that are within all bounds."""


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
