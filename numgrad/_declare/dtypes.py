"""The dtypes that tensors can have, and the conversion of arrays to these dtypes."""

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy import asarray

from .._errors import DtypeError


def require_floating(dtype: np.dtype) -> None:
    """Raise unless tensors of ``dtype`` can require grad."""
    if dtype.kind not in "fc":
        raise DtypeError(
            f"only tensors of floating point and complex dtype can require grad, got {dtype}; "
            f"write for "
            f"example ng.tensor(data, dtype=float)"
        )


def require_numbers(dtype: np.dtype) -> None:
    """Raise unless ``dtype`` is numeric or boolean."""
    if dtype.kind not in "biufc" or dtype.itemsize > 16 or dtype.char in "gG":
        raise DtypeError(
            f"tensors hold booleans, integers, floats and complex numbers, not {dtype}"
        )


def native(dtype: Any) -> np.dtype:
    """Return a dtype in the byte order of the machine.

    The result is NumPy's own object for that dtype: entries recognise a dtype by its address.
    """
    found = np.dtype(dtype)
    return np.dtype(found.type) if found.kind in "biufc" else found


def numbers(array: np.ndarray, data: Any = None) -> np.ndarray:
    """Return an array that kernels can read: the same array, or a copy in the machine's byte order.

    Raises
    ------
    DtypeError
        Unless the dtype is numeric or boolean; for objects the message names one that is no number.
    """
    if array.dtype == object:
        raise _no_numbers(array, data)
    require_numbers(array.dtype)
    return array if array.dtype.isnative else array.astype(native(array.dtype))


def read(data: Any) -> Any:
    """Return the array of an object with ``__array__``; any other object is returned as it is.

    The caller copies the array: some objects return their own memory even if a copy is asked for.
    """
    return asarray(data) if hasattr(data, "__array__") else data


def _no_numbers(array: np.ndarray, data: Any) -> DtypeError:
    """Return the error for an array of objects, with what to write instead."""
    instead = "an array of objects is NumPy's own: import numpy, and write numpy.array(...)"
    if not array.ndim and isinstance(data, Iterable):  # for NumPy it is a single object
        instead = "write list(...) of it"
    found = [type(x) for x in array.flat if not isinstance(x, (int, float, complex))]
    what = f"{found[0].__name__} is no number: " if found else ""
    return DtypeError(
        f"{what}tensors hold booleans, integers, floats and complex numbers, not object; {instead}"
    )


def is_masked(data: Any) -> bool:
    """Whether an object is a masked array.

    ``numpy.ma`` is not imported for the answer, as the import takes time: before it there is no
    masked array, nor while another thread imports the module.
    """
    masked = getattr(sys.modules.get("numpy.ma"), "MaskedArray", None)
    return masked is not None and isinstance(data, masked)


def require_plain(data: Any) -> None:
    """Raise for a masked array, whose mask a tensor would lose, and for a matrix, whose ``*``
    differs from a tensor's."""
    if isinstance(data, np.matrix):
        raise DtypeError(
            "a numpy.matrix is no tensor, whose * multiplies element by element: convert it with "
            "numpy.asarray(matrix), and write @ for products of matrices"
        )
    if is_masked(data):
        raise DtypeError(
            "a masked array is no tensor: choose values for what is masked with "
            "array.filled(value), or keep the mask apart and use ng.where"
        )
