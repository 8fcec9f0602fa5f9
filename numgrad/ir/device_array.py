"""Arrays on a device: a block of device memory, with the offset, shape and strides of a view.

A `DeviceArray` has the attributes of NumPy's arrays that the engine reads: shape, dtype, strides,
flags and base. Only the target reads and writes elements.
"""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided

from .program import contiguous_strides, extent, is_contiguous


class Flags:
    """The flags of a device array; as in NumPy, ``writeable`` can be set."""

    __slots__ = ("_array",)

    def __init__(self, array: "DeviceArray") -> None:
        self._array = array

    @property
    def c_contiguous(self) -> bool:
        """Whether the elements lie in C order without gaps."""
        return self._array.c_contiguous

    @property
    def writeable(self) -> bool:
        """Whether elements may be written."""
        return self._array.writeable

    @writeable.setter
    def writeable(self, writeable: bool) -> None:
        self._array.writeable = writeable


class DeviceArray:
    """A strided view of a block of device memory.

    Parameters
    ----------
    target
        The target of the device, which copies elements.
    memory
        The block of memory, as the device's runtime knows it.
    offset : int
        The offset of the first element, in bytes.
    shape, strides : tuple of int
        Strides are in bytes, by default those of C order.
    dtype : dtype
    base : DeviceArray, optional
        The array of which this is a view.
    writeable : bool
        Whether elements may be written: not if they are repeated, or belong to another library.

    Attributes
    ----------
    c_contiguous : bool
        Whether the elements lie in C order without gaps.
    """

    __slots__ = (
        "__weakref__", "base", "c_contiguous", "dtype", "memory", "offset", "shape", "strides",
        "target", "writeable",
    )  # fmt: skip

    def __init__(
        self,
        target: Any,
        memory: Any,
        offset: int,
        shape: tuple[int, ...],
        dtype: np.dtype,
        strides: tuple[int, ...] | None = None,
        base: "DeviceArray | None" = None,
        writeable: bool = True,
    ) -> None:
        self.target, self.memory, self.base, self.writeable = target, memory, base, writeable
        self.offset, self.shape, self.dtype = offset, shape, dtype
        if strides is None:
            self.strides, self.c_contiguous = contiguous_strides(shape, dtype.itemsize), True
        else:
            self.strides = strides
            self.c_contiguous = is_contiguous(shape, strides, dtype.itemsize)

    @property
    def device(self) -> str:
        """The name of the device, such as ``"cuda:0"``."""
        return self.target.name

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
        """The flags of the array: ``c_contiguous``, and ``writeable``, which can be set."""
        return Flags(self)

    def seen(
        self, function: Callable[[np.ndarray], np.ndarray], known: "dict[Any, Any] | None" = None
    ) -> "DeviceArray":
        """Return the view of this array that a NumPy function makes, such as a transposition.

        The function is applied to an array of the host with the same shape and strides, which has
        memory for one element alone. So the function must not read elements, and must raise where
        it would copy. ``known`` is a cache of the function's views, by shape, strides, dtype and
        writeability.
        """
        lies = self.shape, self.strides, self.dtype, self.writeable
        view = None if known is None else known.get(lies)
        if view is None:
            view = _view(function, *lies)
            if known is not None:
                known[lies] = view
        offset, shape, dtype, strides, writeable = view
        base = self if self.base is None else self.base
        begin = self.offset + offset
        return DeviceArray(self.target, self.memory, begin, shape, dtype, strides, base, writeable)

    def reshape(self, *shape: Any) -> "DeviceArray":
        """Return a view of another shape, as NumPy's method does; never a copy.

        Raises
        ------
        ValueError
            If the strides allow no such view.
        """
        return self.seen(lambda array: array.reshape(*shape, copy=False))

    def view(self) -> "DeviceArray":
        """Return a view of all elements."""
        return self.seen(lambda array: array.view())

    def __getitem__(self, key: Any) -> "DeviceArray":
        """Return the view at a key of integers and slices with ``...``."""
        return self.seen(lambda array: array[key])

    def spread(self, shape: tuple[int, ...]) -> "DeviceArray":
        """Return a view broadcast to the shape of a region, as NumPy does to write into the region.

        Leading axes of length 1 that the region lacks are left out.

        Raises
        ------
        ValueError
            If the elements do not fit.
        """
        extra = max(self.ndim - len(shape), 0)
        try:
            if prod(self.shape[:extra]) != 1:
                raise ValueError
            core = self.seen(lambda array: array[(*(0,) * extra, ...)])
            return core.seen(lambda array: np.broadcast_to(array, shape))
        except ValueError:
            raise ValueError(
                f"could not broadcast input array from shape {_text(self.shape)} into shape "
                f"{_text(shape)}"
            ) from None

    def bounds(self) -> tuple[int, int]:
        """Return the offsets in the memory at which the bytes of the elements begin and end."""
        if not self.size:
            return self.offset, self.offset
        low, high = extent(self.shape, self.strides)
        return self.offset + low, self.offset + high + self.dtype.itemsize

    def copy(self, order: str = "C") -> "DeviceArray":
        """Return a copy in memory of its own, in C order whatever ``order`` is."""
        return self.target.copy(self)

    def lasting_copy(self) -> "DeviceArray":
        """Return a copy in C order that work of any stream may read: streams other than the current
        one wait until the copy is made."""
        return self.target.lasting_copy(self)

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(
            f"a tensor on {self.device} is no NumPy array: x.cpu() copies it to the processor, and "
            f"x.cpu().numpy() is its array there"
        )

    def __repr__(self) -> str:
        return f"<array of shape {self.shape} and {self.dtype} on {self.device}>"


def _view(
    function: Callable[[np.ndarray], np.ndarray], shape: tuple[int, ...], strides: tuple[int, ...],
    dtype: np.dtype, writeable: bool,
) -> tuple[int, tuple[int, ...], np.dtype, tuple[int, ...], bool]:  # fmt: skip
    """Describe the view that a NumPy function makes of an array with this layout.

    The result has the view's offset in bytes from the element with index 0, its shape, dtype and
    strides, and whether the view can be written.
    """
    dummy = as_strided(np.empty(1, dtype), shape, strides, writeable=writeable)
    result = function(dummy)
    offset = 0
    if result.size:
        began = dummy.__array_interface__["data"][0]
        offset = result.__array_interface__["data"][0] - began
    return offset, result.shape, result.dtype, result.strides, result.flags.writeable


def _text(shape: tuple[int, ...]) -> str:
    """Return a shape as NumPy's errors show it."""
    return str(shape).replace(" ", "")


class _Bytes:
    """The bytes of the host between two addresses; keeps alive the array that lies there."""

    def __init__(self, array: np.ndarray, low: int, high: int) -> None:
        self.array = array
        self.__array_interface__ = {
            "data": (low, True), "shape": (high - low,), "typestr": "|u1", "version": 3,
        }  # fmt: skip


def span(array: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the memory of an array of the host as bytes, from the first to the last element.

    The second result is the position among these bytes of the element with index 0.
    """
    if not array.size:
        return np.empty(0, np.uint8), 0
    low, high = map(int, byte_bounds(array))
    began = array.__array_interface__["data"][0]
    return np.asarray(_Bytes(array, low, high)), began - low


def as_array(array: Any) -> Any:
    """Return an array of a device or of NumPy unchanged, and a scalar of NumPy as an array.

    NumPy's functions return scalars in place of arrays without axes.
    """
    return array if type(array) in _ARRAYS else np.asarray(array)


_ARRAYS = frozenset({np.ndarray, DeviceArray})
