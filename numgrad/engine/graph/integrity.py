"""Check that the array of a value still has the shape and dtype of its spec.

A program reads buffers by address, and would read beyond the end of a smaller array. Python code
can give a value another array, or an object that is no array; no operation of numgrad does.
"""

from collections.abc import Sequence
from operator import attrgetter, eq
from typing import Any

import numpy as np

from ..._errors import InplaceError
from ...ir.device_array import DeviceArray
from .value import Shape, Value

_ARRAYS = np.ndarray, DeviceArray
_shape, _dtype = attrgetter("shape"), attrgetter("dtype")
_PLAIN = frozenset({np.ndarray, DeviceArray})


def require_unchanged(
    arrays: Sequence[Any], shapes: Sequence[Shape], dtypes: Sequence[np.dtype]
) -> None:
    """Raise an error unless all arrays have the given shapes and dtypes."""
    # No list of shapes: a pass over a long graph would keep so many new tuples at a time that the
    # garbage collector would look through all of them.
    if (
        len(arrays) == len(shapes)
        and _PLAIN.issuperset(map(type, arrays))
        and all(map(eq, map(_shape, arrays), shapes))
        and all(map(eq, map(_dtype, arrays), dtypes))
    ):
        return
    for array, shape, dtype in zip(arrays, shapes, dtypes, strict=True):
        if not isinstance(array, _ARRAYS) or (array.shape, array.dtype) != (shape, dtype):
            raise replaced_array_error(array, shape, dtype)


def require_own_arrays(values: Sequence[Value]) -> None:
    """Raise an error unless the array of each value has the shape and dtype of the value's spec."""
    for value in values:
        spec, array = value.spec, value.array
        shape, dtype = spec.shape, spec.dtype
        if (
            not isinstance(array, _ARRAYS)
            or array.dtype != dtype
            or (array.shape[1:] if spec.rows else array.shape) != shape
        ):
            raise replaced_array_error(array, shape, dtype)


def replaced_array_error(found: Any, shape: Shape, dtype: np.dtype) -> InplaceError:
    """Return the error for an object that has replaced the array of a value."""
    what = type(found).__name__
    if isinstance(found, _ARRAYS):
        what = f"an array of shape {found.shape} and {found.dtype}"
    return InplaceError(
        f"the array of a tensor of shape {tuple(shape)} and {dtype} has been replaced by {what}; "
        f"write its elements with t[...] = values, or make another tensor"
    )


__all__ = ["require_own_arrays", "require_unchanged"]
