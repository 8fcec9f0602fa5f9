"""Guards on the elements of the user's arrays that a function uses while it is captured.

A replay reads the arrays that are operands anew. But masks, counts and bounds are read by Python,
only once, while the function is captured. So a replay needs guards on their elements
(`ReadArrays`).

A replay also reads an operand once for all its uses. So the capture is refused if the function
itself writes into such an array between two uses (`OperandCopies`).
"""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...ir.dtypes import NUMBERS
from ...process.reference_counts import OF_A_VARIABLE
from ..graph.callsite import user_site
from .apply import mode, other_modes, runtime


def guarded(data: Any) -> Any:
    """Return ``data``; if a function is being captured, note first that Python reads all arrays in
    ``data``."""
    if other_modes and mode.capture is not None:
        _note(data, mode.capture.root.arrays_read)
    return data


def _note(data: Any, into: "ReadArrays") -> None:
    if type(data) is int or type(data) is runtime.value:  # as most options are
        return
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
    """Return an array in the memory that an object exports to NumPy; None for an object that
    exports none.

    Arrays, memoryviews, an ``array.array``, ctypes arrays, and objects with ``__array__`` or
    ``__array_interface__`` export memory, into which the user may write. Tensors and numbers do not
    count.
    """
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


class ReadArrays:
    """The user's arrays whose elements Python has read, with copies of the elements at each
    read."""

    def __init__(self) -> None:
        self.arrays: dict[int, tuple[np.ndarray, list[bytearray]]] = {}

    def add(self, array: np.ndarray) -> None:
        """Note that an array is read: its present elements are kept beside those of earlier
        reads."""
        _, contents = self.arrays.setdefault(id(array), (array, []))
        now = bytearray(array.tobytes())
        if now not in contents:
            contents.append(now)

    def guards(self) -> list[Callable[[], bool]]:
        """Return guards, each of which tells whether an array has the same elements as at one of
        its reads.

        An array gets no guard if its memory is its own and nothing else refers to it, as nobody can
        write into such an array any more.
        """
        checks = []
        while self.arrays:
            array, contents = self.arrays.popitem()[1]
            if array.base is not None or sys.getrefcount(array) > OF_A_VARIABLE:
                holds = partial(has_elements, array, array.shape)
                checks += [partial(holds, content) for content in contents]
        return checks


def has_elements(array: np.ndarray, shape: tuple[int, ...], content: bytearray) -> bool:
    """Whether an array has this shape and these elements, compared as bytes."""
    present = array if array.flags.c_contiguous else np.ascontiguousarray(array)
    return array.shape == shape and content == present


class OperandCopies:
    """Copies of the user's arrays that a captured function computes with, made at their first use.

    Arrays are told apart by address, shape, strides and dtype.
    """

    def __init__(self) -> None:
        self._known: dict[Any, tuple[np.ndarray, np.ndarray, Any]] = {}

    def note(self, array: np.ndarray) -> str | None:
        """Note a use of an array; return the line of its first use if the array was written since,
        else None."""
        place = array.__array_interface__["data"][0], array.shape, array.strides, array.dtype
        known = self._known.get(place)
        if known is None:
            self._known[place] = array, _stored(array).copy(), user_site()
            return None
        return None if _is_alike(_stored(array), known[1]) else str(known[2])

    def written(self) -> tuple[np.ndarray, str] | None:
        """Return an array that was written since its first use, and the line of that use; None if
        no array was."""
        for array, copy, site in self._known.values():
            if not _is_alike(_stored(array), copy):
                return array, str(site)
        return None


def _stored(array: np.ndarray) -> np.ndarray:
    """Return the elements of an array without those that are repeated along an axis of stride 0:
    the zeros of a large gradient are a single number in memory."""
    if 0 not in array.strides or not array.size:
        return array
    return array[tuple([slice(0, 1) if step == 0 else slice(None) for step in array.strides])]


def _is_alike(array: np.ndarray, copy: np.ndarray) -> bool:
    """Whether an array has the shape and the bits of a copy; NaNs with the same bits are equal."""
    return array.shape == copy.shape and np.array_equal(_bytes(array), _bytes(copy))


def _bytes(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
