# pyright: basic, reportMissingImports=false
"""Page-locked memory of the host, which a GPU reads and writes directly."""

from typing import Any

import numpy as np


class _Pinned:
    """A buffer of page-locked memory; NumPy's arrays in this memory have the buffer as base."""

    def __init__(self, nbytes: int) -> None:
        from cuda.core import LegacyPinnedMemoryResource

        self.buffer = LegacyPinnedMemoryResource().allocate(max(nbytes, 1), stream=None)
        self.__array_interface__ = {
            "data": (int(self.buffer.handle), False), "shape": (nbytes,), "typestr": "|u1",
            "version": 3,
        }  # fmt: skip


def empty_pinned(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return a new array of the host in page-locked memory, with undefined elements."""
    nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    return np.asarray(_Pinned(nbytes)).view(dtype).reshape(shape)


def is_page_locked(array: Any) -> bool:
    """Whether an array of the host lies in memory that `empty_pinned` has made."""
    while array is not None and not isinstance(array, _Pinned):
        array = getattr(array, "base", None) if isinstance(array, np.ndarray) else (
            getattr(array, "array", None)  # `ir.device_array.span` wraps an array so
        )
    return array is not None
