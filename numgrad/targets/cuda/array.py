"""Arrays on a device: which memory they are in, and where in it each element is."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided

from ..._program import contiguous_strides, is_contiguous


class DeviceArray:
    """A strided view of a block of device memory.

    Parameters
    ----------
    memory
        The block, as the runtime knows it.
    offset : int
        Of the first element, in bytes.
    shape, strides : tuple of int
        Strides in bytes, by default those of C order.
    dtype : dtype
    """

    __slots__ = ("dtype", "memory", "offset", "shape", "strides")

    def __init__(
        self,
        memory: Any,
        offset: int,
        shape: tuple[int, ...],
        dtype: np.dtype,
        strides: tuple[int, ...] | None = None,
    ) -> None:
        self.memory, self.offset, self.shape, self.dtype = memory, offset, shape, dtype
        self.strides = contiguous_strides(shape, dtype.itemsize) if strides is None else strides

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie in C order without gaps."""
        return is_contiguous(self.shape, self.strides, self.dtype.itemsize)

    def view(self, function: Callable[[np.ndarray], np.ndarray]) -> "DeviceArray":
        """Return the view that a NumPy function makes of an array that lies like this one; no
        element is read.

        Raises
        ------
        ValueError
            If the function has to copy.
        """
        dummy = as_strided(np.empty(1, self.dtype), self.shape, self.strides)
        result = function(dummy)
        if result.size and not np.may_share_memory(dummy, result):
            raise ValueError("the elements have to be copied first")
        offset = self.offset
        if result.size:
            began = dummy.__array_interface__["data"][0]
            offset += result.__array_interface__["data"][0] - began
        return DeviceArray(self.memory, offset, result.shape, result.dtype, result.strides)

    def __repr__(self) -> str:
        return f"<array of shape {self.shape} and {self.dtype} in {self.memory!r}>"


class _Bytes:
    """The memory between two addresses, in which an array lies."""

    def __init__(self, array: np.ndarray, low: int, high: int) -> None:
        self.array = array
        self.__array_interface__ = {
            "data": (low, True), "shape": (high - low,), "typestr": "|u1", "version": 3,
        }  # fmt: skip


def span(array: np.ndarray) -> tuple[np.ndarray, int]:
    """Return all bytes from the first to the last element of an array of the host, and where among
    them its element of index 0 begins."""
    if not array.size:
        return np.empty(0, np.uint8), 0
    low, high = map(int, byte_bounds(array))
    began = array.__array_interface__["data"][0]
    return np.asarray(_Bytes(array, low, high)), began - low
