"""Arrays on a device: which memory they are in, and where in it each element is.

They have what the engine asks of NumPy's: shape, dtype, strides, whether they lie in C order, whose
memory they are a part of. Elements are for the target alone.
"""

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided

from ._program import contiguous_strides, is_contiguous


class Flags(NamedTuple):
    """What is asked of an array's flags."""

    c_contiguous: bool
    writeable: bool = True


class DeviceArray:
    """A strided view of a block of device memory.

    Parameters
    ----------
    device : str
        Such as ``"cuda:0"``.
    memory
        The block, as the runtime knows it.
    offset : int
        Of the first element, in bytes.
    shape, strides : tuple of int
        Strides in bytes, by default those of C order.
    dtype : dtype
    base : DeviceArray, optional
        What this is a view of.
    """

    __slots__ = (
        "__weakref__", "base", "device", "dtype", "memory", "offset", "shape", "strides",
    )  # fmt: skip

    def __init__(
        self,
        device: str,
        memory: Any,
        offset: int,
        shape: tuple[int, ...],
        dtype: np.dtype,
        strides: tuple[int, ...] | None = None,
        base: "DeviceArray | None" = None,
    ) -> None:
        self.device, self.memory, self.base = device, memory, base
        self.offset, self.shape, self.dtype = offset, shape, dtype
        self.strides = contiguous_strides(shape, dtype.itemsize) if strides is None else strides

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return self.size * self.dtype.itemsize

    @property
    def flags(self) -> Flags:
        """Whether the elements lie in C order without gaps."""
        return Flags(is_contiguous(self.shape, self.strides, self.dtype.itemsize))

    def seen(self, function: Callable[[np.ndarray], np.ndarray]) -> "DeviceArray":
        """Return the view that a NumPy function makes of an array that lies like this one, of which
        there is but one element: the function must not read it, and raise where it would copy.
        """
        dummy = as_strided(np.empty(1, self.dtype), self.shape, self.strides)
        result = function(dummy)
        offset = self.offset
        if result.size:
            began = dummy.__array_interface__["data"][0]
            offset += result.__array_interface__["data"][0] - began
        base = self if self.base is None else self.base
        made = result.shape, result.dtype, result.strides
        return DeviceArray(self.device, self.memory, offset, *made, base)

    def reshape(self, *shape: Any) -> "DeviceArray":
        """Return a view of another shape, as NumPy's method does; never a copy.

        Raises
        ------
        ValueError
            If the elements do not lie so that there is one.
        """
        return self.seen(lambda array: array.reshape(*shape, copy=False))

    def view(self) -> "DeviceArray":
        """Return a view of all elements."""
        return self.seen(lambda array: array.view())

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(
            f"a tensor on {self.device} is no NumPy array: x.cpu() copies it to the processor, and "
            f"x.cpu().numpy() is its array there"
        )

    def __repr__(self) -> str:
        return f"<array of shape {self.shape} and {self.dtype} on {self.device}>"


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
