"""The order in which the axes of an array lie in memory, on which views by reshape depend.

Results of NumPy's elementwise functions have the memory order of the operands ('K'), other results
have C order. The order depends on the strides of the operands alone, so NumPy itself is asked for
the order, with arrays of at most two elements along each axis.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .program import Shape, contiguous_strides, is_contiguous

Strides = Shape | None
"""Strides in bytes, None in C order."""


def standing_in(shape: Shape, dtype: np.dtype, strides: Strides = None) -> np.ndarray:
    """Return an array of this shape and these strides that has memory for one element alone.

    NumPy can make views of the array, but its elements must not be read or written.
    """
    if strides is None:
        strides = contiguous_strides(shape, dtype.itemsize)
    return np.asarray(_Standing(shape, dtype, strides))


_MEMORY = np.zeros(2)
_PLACE = _MEMORY.__array_interface__["data"][0], False


class _Standing:
    """An object with an ``__array_interface__``, of which NumPy makes an array without elements.

    NumPy does so in a part of the time of `as_strided`.
    """

    __slots__ = ("__array_interface__",)

    def __init__(self, shape: Shape, dtype: np.dtype, strides: Shape) -> None:
        self.__array_interface__ = {
            "data": _PLACE, "shape": shape, "strides": strides, "typestr": dtype.str, "version": 3,
        }  # fmt: skip


def strides_of(array: Any) -> Strides:
    """Return the strides of an array, None in C order."""
    return None if array.flags.c_contiguous else array.strides


def in_miniature(shape: Shape, strides: Strides) -> np.ndarray:
    """Return a small array in the memory order of an array of this shape and these strides.

    The small array has at most two elements along each axis, which can be read.
    """
    sizes = tuple([min(size, 2) for size in shape])
    if strides is None:
        return np.zeros(sizes, np.int8)
    ranks = {step: n for n, step in enumerate(sorted({abs(s) for s in strides} - {0}))}
    steps = [1 << ranks[abs(step)] if step else 0 for step in strides]
    return np.ndarray(sizes, np.int8, np.zeros(1 << len(shape), np.int8), 0, steps)


def kept(operands: Sequence[np.ndarray]) -> np.ndarray:
    """Return an array in the memory order ('K') of the result of an elementwise function.

    The function is applied to arrays with the memory orders of ``operands``.
    """
    flags: Any = [["readonly"]] * len(operands) + [["writeonly", "allocate"]]
    types = [None] * len(operands) + [np.int8]
    with np.nditer(
        [*operands, None],
        ["zerosize_ok"],
        flags,
        types,
        order="K",  # type: ignore[arg-type]
    ) as walk:
        return walk.operands[-1]


def as_kept(operands: Sequence[np.ndarray], static: Any) -> list[np.ndarray]:
    """Return, for each output of an elementwise operator, an array in its memory order.

    There is one output. Such operators have this function as ``memory_order``.
    """
    return [kept(operands)]


@lru_cache(4096)
def axes_in_memory(strides: Shape) -> tuple[int, ...]:
    """Return the axes of an array with these strides in memory order, the innermost last."""
    return tuple(sorted(range(len(strides)), key=lambda axis: -abs(strides[axis])))


def strides_like(miniature: np.ndarray, shape: Shape, itemsize: int) -> Strides:
    """Return the strides of a new array of this shape in the memory order of a small array.

    None stands for C order, which an array of another rank than the small one gets.
    """
    if len(shape) != miniature.ndim:
        return None
    strides, step = [0] * len(shape), itemsize
    for axis in reversed(axes_in_memory(miniature.strides)):
        strides[axis] = step
        step *= max(shape[axis], 1)
    return None if is_contiguous(shape, tuple(strides), itemsize) else tuple(strides)


@lru_cache(4096)
def strides_of_copy(shape: Shape, strides: Strides, itemsize: int) -> Strides:
    """Return the strides of a copy, in the same memory order, of an array with these strides.

    None stands for C order.
    """
    return strides_like(in_miniature(shape, strides), shape, itemsize)


def laid_like(array: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return an array, or a copy of it, in the memory order of another array.

    If the other array has another rank, return the array unchanged.
    """
    if array.ndim != other.ndim:
        return array
    return laid_along_axes(array, axes_in_memory(other.strides))


def empty_laid_like(shape: Shape, dtype: np.dtype, other: np.ndarray) -> np.ndarray:
    """Return a new array of a shape in the memory order of another array of the same rank."""
    if other.flags.c_contiguous:
        return np.empty(shape, dtype)
    axes = axes_in_memory(other.strides)
    return np.empty([shape[axis] for axis in axes], dtype).transpose(np.argsort(axes))


def laid_along_axes(array: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    """Return an array, or a copy of it, whose axes lie in memory in a certain order.

    ``axes`` lists the axes in that order, the innermost last.
    """
    turned = array.transpose(axes)
    return array if turned.flags.c_contiguous else turned.copy().transpose(np.argsort(axes))
