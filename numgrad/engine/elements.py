"""The elements of the user's arrays while a function is captured: they may not change meanwhile.

A replay reads an array where it lies, once for all its uses. So an array that the function itself
writes between two of them, a work array, would have its last elements in all of them.
"""

from typing import Any

import numpy as np

from .site import user_site


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
