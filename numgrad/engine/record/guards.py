"""The elements of arrays from outside that a function uses while it is captured.

A captured function reads operands anew at each call. What Python has read of an array instead, as
masks, counts and bounds, holds as long as the array is as it was then (`Seen`). And a replay reads
an operand where it lies, once for all its uses: a work array that the function itself writes
between two of them would have its last elements in all of them (`Elements`).
"""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..._declare.dtypes import NUMBERS
from ..graph.callsite import user_site
from .apply import mode, runtime, unusual


def seen(data: Any) -> Any:
    """Return ``data``; while a function is captured, note that Python reads the elements of arrays
    that it is or has among its items."""
    if unusual and mode.capture is not None:
        _note(data, mode.capture.root.seen)
    return data


def _note(data: Any, into: "Seen") -> None:
    if isinstance(data, np.ndarray):
        into.add(data)
    elif isinstance(data, list | tuple):
        for item in data:
            _note(item, into)
    elif isinstance(data, dict):
        _note(list(data.values()), into)
    elif isinstance(data, slice):
        _note((data.start, data.stop, data.step), into)
    elif (array := exported(data)) is not None:
        into.add(array)


def exported(data: Any) -> np.ndarray | None:
    """Return an array of the memory of an object that NumPy reads as one, which somebody may write:
    an ``array.array``, a memoryview, a ctypes array, or what has ``__array__`` or
    ``__array_interface__``; None for all else."""
    if isinstance(data, np.ndarray):
        return data
    if isinstance(data, (*NUMBERS, str, bytes, runtime.value)) or data is None:
        return None
    if hasattr(data, "__array__") or hasattr(data, "__array_interface__"):
        return np.asarray(data)
    try:
        return np.asarray(memoryview(data))
    except TypeError:
        return None


class Seen:
    """Arrays with what was in them when they were seen."""

    def __init__(self) -> None:
        self.arrays: dict[int, tuple[np.ndarray, list[bytearray]]] = {}

    def add(self, array: np.ndarray) -> None:
        """Keep an array with its elements; it may be seen again after a write."""
        _, contents = self.arrays.setdefault(id(array), (array, []))
        now = bytearray(array.tobytes())
        if now not in contents:
            contents.append(now)

    def guards(self) -> list[Callable[[], bool]]:
        """Return what compares the arrays that somebody else can still write."""
        checks = []
        while self.arrays:
            array, contents = self.arrays.popitem()[1]
            if array.base is not None or sys.getrefcount(array) > _OURS:
                holds = partial(has_elements, array, array.shape)
                checks += [partial(holds, content) for content in contents]
        return checks


def _references() -> int:
    """Return how many references there are to what one variable has: the argument that asks for
    their number is one before Python 3.14, and is borrowed since."""
    thing = object()
    return sys.getrefcount(thing)


_OURS = _references()


def has_elements(array: np.ndarray, shape: tuple[int, ...], content: bytearray) -> bool:
    """Whether an array has a shape and these elements: they are compared as bytes."""
    present = array if array.flags.c_contiguous else np.ascontiguousarray(array)
    return array.shape == shape and content == present


class Elements:
    """Copies of arrays that a function that is captured computes with, as they were used first.

    Arrays are told apart by where and how they lie in memory.
    """

    def __init__(self) -> None:
        self._known: dict[Any, tuple[np.ndarray, np.ndarray, Any]] = {}

    def note(self, array: np.ndarray) -> str | None:
        """Note a use; return where the array was used before, if it was written since."""
        place = array.__array_interface__["data"][0], array.shape, array.strides, array.dtype
        known = self._known.get(place)
        if known is None:
            self._known[place] = array, array.copy(), user_site()
            return None
        return None if _is_alike(array, known[1]) else str(known[2])

    def written(self) -> tuple[np.ndarray, str] | None:
        """Return an array that is another one than when it was used, and where that was."""
        for array, copy, site in self._known.values():
            if not _is_alike(array, copy):
                return array, str(site)
        return None


def _is_alike(array: np.ndarray, copy: np.ndarray) -> bool:
    """Whether all bits are the same: a look at bytes takes no longer than reading them."""
    return array.shape == copy.shape and np.array_equal(_bytes(array), _bytes(copy))


def _bytes(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
