"""Index expressions with arrays whose elements a captured function reads at each call.

A position is a sum: each index along its axis, times the elements that lie between two neighbours
there. What is known is summed up when the function is recorded, the rest by the program.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from .._tensor import Tensor
from ..engine.record import at_site, user_site
from ..operators import positions as _positions
from ..operators import shape as _shape
from ..operators.elementwise import add
from .keys import ArrayKey, LateKey, adjacent, check_arrays, untouched


def resolve(key: LateKey, shape: Sequence[int], caller: str) -> ArrayKey:
    """Return a key with positions as a tensor; what is known to be out of bounds raises at once.

    Parameters
    ----------
    caller : str
        What errors of the program call the function that was given the key.
    """
    items = key.items
    lead, tail = untouched(items)
    sizes = tuple(shape[lead : len(shape) - tail])
    places = _axes_of(items)
    _check(items, places, shape, caller)
    touched = items[lead : len(items) - tail]
    known = _known(touched, [n - lead for n in places], sizes)
    behind = _behind(touched, known.ndim)
    total: Any = Tensor(known) if known.any() else None
    for axis, index in places.items():
        step = prod(sizes[axis - lead + 1 :])
        with at_site(user_site()):
            term = _positions.positions(
                index, caller=caller, axis=axis, size=shape[axis], step=step
            )
        if behind:
            term = _shape.expand_dims(term, axes=tuple(range(-behind, 0)))
        total = term if total is None else add(total, term)
    total = _shape.broadcast_to(total, known.shape)
    vector = _shape.reshape(total, ncore=known.ndim, shape=(known.size,))
    return ArrayKey(vector, len(sizes), tail, known.shape, False)


def _axes_of(items: Sequence[Any]) -> dict[int, Tensor]:
    """Return the tensors among the items by the axes along which they count."""
    found: dict[int, Tensor] = {}
    axis = 0
    for item in items:
        if isinstance(item, Tensor):
            found[axis] = item
        if item is not None:
            axis += item.ndim if isinstance(item, np.ndarray) and item.dtype.kind == "b" else 1
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
    arrays = [item for item in touched if isinstance(item, (int, np.ndarray, Tensor))]
    if not adjacent(touched):  # NumPy puts them in front
        return ndim - max(_rank(item) for item in arrays)
    last = max(n for n, item in enumerate(touched) if isinstance(item, (int, np.ndarray, Tensor)))
    return len(touched) - last - 1


def _rank(item: Any) -> int:
    if isinstance(item, int):
        return 0
    return 1 if item.dtype.kind == "b" else item.ndim
