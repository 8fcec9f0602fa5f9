"""Tensors in the memory of a user's array: whether the user's program still refers to the array.

A tensor that is made of an array without a copy uses the array's memory. A write into the tensor
changes the array's elements, too, but no gradient flows from what the program computes of the
array.
"""

import sys
from types import FrameType
from typing import Any

import numpy as np

from ...process.reference_counts import OF_A_VARIABLE, has_exact_counts, is_borrowed
from .callsite import release


class Lease:
    """The only object of numgrad that refers to a user's array whose memory tensors use.

    The arrays of these tensors have the lease as their base, so every other reference to the user's
    array is the user's. ``is_shared`` says that another library uses the memory, too.
    """

    __slots__ = ("__array_interface__", "base", "is_shared")

    def __init__(self, array: np.ndarray, is_shared: bool) -> None:
        self.__array_interface__ = array.__array_interface__
        self.base = array
        self.is_shared = is_shared


def leased(array: np.ndarray, is_shared: bool = False) -> np.ndarray:
    """Return a new array in the memory of a user's array, with a `Lease` as its base.

    Parameters
    ----------
    is_shared : bool
        Whether another library uses the memory, too: its references cannot be counted.
    """
    return np.asarray(Lease(array, is_shared))


def lease_of(array: Any) -> Lease | None:
    """Return the lease of the memory that an array uses; None if the memory is no user's array."""
    while (base := getattr(array, "base", None)) is not None:
        if type(base) is Lease:
            return base
        array = base
    return None


def is_seen(lease: Lease, frame: FrameType | None) -> bool:
    """Whether the user's program may still read the memory of a lease through an array or a view.

    One reference does not count: a variable of the function that writes into the tensor, as its
    author sees the array beside the tensor.

    Parameters
    ----------
    frame : FrameType or None
        The user's frame that writes into the tensor.
    """
    is_unknown = lease.is_shared or not has_exact_counts()
    return is_unknown or (_is_held(lease) and not _is_beside(lease, frame))


def _is_held(lease: Lease) -> bool:
    """Whether the program refers to the array of a lease, or, if that array is a view, to an array
    that it views.

    The lease refers once to its array, and each view once to the array that it views. Any further
    reference is the program's.
    """
    array: Any = lease.base
    while array is not None:
        if sys.getrefcount(array) > _ALONE:
            return True
        array = getattr(array, "base", None)
    return False


_ALONE = OF_A_VARIABLE + 1
"""The reference count of an array to which one object refers, while a variable does so, too."""


def _is_beside(lease: Lease, frame: FrameType | None) -> bool:
    """Whether the program's only reference to the array of a lease is a variable of ``frame``.

    For an array that is a view the result is False: the program may know the viewed array
    elsewhere.
    """
    array = lease.base
    is_single = sys.getrefcount(array) == _ALONE + 1 and array.base is None
    if not is_single or frame is None or is_borrowed(array, frame):
        return False
    found = any(value is lease.base for value in frame.f_locals.values())
    release(frame)
    return found
