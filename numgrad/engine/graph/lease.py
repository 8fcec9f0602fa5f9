"""Memory of the user's arrays in tensors: whether the program still has the array.

A tensor that is made of an array without a copy has the array's memory. What is written into the
tensor is seen through the array as well, but as numbers, without gradients.
"""

import sys
from types import FrameType
from typing import Any

import numpy as np

from ...process.reference_counts import has_exact_counts
from .callsite import release


class Lease:
    """Holds an array in place of all the arrays that have its memory in numgrad, so that all other
    references to it are the user's."""

    __slots__ = ("__array_interface__", "base", "is_shared")

    def __init__(self, array: np.ndarray, is_shared: bool) -> None:
        self.__array_interface__ = array.__array_interface__
        self.base = array
        self.is_shared = is_shared


def leased(array: np.ndarray, is_shared: bool = False) -> np.ndarray:
    """Return an array with the memory of one of the user's.

    Parameters
    ----------
    is_shared : bool
        Whether another library has the memory as well, whose references are not counted.
    """
    return np.asarray(Lease(array, is_shared))


def lease_of(array: Any) -> Lease | None:
    """Return what holds the user's array whose memory an array has; None where it is ours."""
    while (base := getattr(array, "base", None)) is not None:
        if type(base) is Lease:
            return base
        array = base
    return None


def is_seen(lease: Lease, frame: FrameType | None) -> bool:
    """Whether the program still has an array, by itself or through a view, but for a variable
    beside the tensor in the function that writes.

    Parameters
    ----------
    frame : FrameType
        The frame of the user that writes into the array.
    """
    is_unknown = lease.is_shared or not has_exact_counts()
    return is_unknown or (_is_held(lease) and not _is_beside(lease, frame))


def _is_held(lease: Lease) -> bool:
    """Whether the program refers to an array, or to an array of which that one is a view: each is
    referred to once by what is made of it."""
    array: Any = lease.base
    while array is not None:
        if sys.getrefcount(array) > _ALONE:
            return True
        array = getattr(array, "base", None)
    return False


_ALONE = 3
"""References to what nobody else has: of its holder, of the variable, and of the question."""


def _is_beside(lease: Lease, frame: FrameType | None) -> bool:
    """Whether all that has an array, which is no view, is a variable of a frame: who writes into
    the tensor there knows both."""
    is_single = sys.getrefcount(lease.base) == _ALONE and lease.base.base is None
    if not is_single or frame is None:
        return False
    found = any(value is lease.base for value in frame.f_locals.values())
    release(frame)
    return found
