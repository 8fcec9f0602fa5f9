"""Addresses of the elements of arrays, for many arrays at a time.

``array.__array_interface__`` takes a microsecond or two, and a program has dozens of arguments. For
many arguments, therefore, NumPy reads the addresses from the array objects: one ``take`` from an
array that spans the whole memory reads all of them, and takes no longer.
"""

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import ClassVar

import numpy as np

from .object_layout import DATA, is_possible

_FEW = 16  # the most arrays that are read one by one
_word = ctypes.c_int64.from_address
_FIRST = 8  # nothing lies at address 0, and NumPy takes it for no memory at all


class _Memory:
    """The memory of the process, for NumPy to make an array of: all words from `_FIRST` on."""

    __array_interface__: ClassVar = {
        "data": (_FIRST, True), "shape": (1 << 45,), "typestr": "<i8", "version": 3,
    }  # fmt: skip


@cache
def _memory() -> np.ndarray | None:
    """Return all memory as an array; None where the memory layout of objects is not known."""
    return np.asarray(_Memory()) if is_possible() else None


def addresses(arrays: Sequence[np.ndarray]) -> list[int]:
    """Return the address of the first element of each array."""
    memory = _memory()
    if memory is None:
        return [array.__array_interface__["data"][0] for array in arrays]
    if len(arrays) <= _FEW:
        return [_word(id(array) + 8 * DATA).value for array in arrays]
    objects = np.fromiter(map(id, arrays), np.int64, len(arrays))
    return memory.take((objects - _FIRST) // 8 + DATA).tolist()
