"""Sets of numbers, and places of the smallest and largest, as the loops that stand for them."""

import numpy as np

from ..given import given
from .rearranging import compress, flattened


def partition(a, kth):
    """Return the elements with the one number ``kth`` at its place, along the last axis."""
    if a.ndim == 2:
        rows = np.empty_like(a)
        for i in range(a.shape[0]):
            rows[i, :] = partition(a[i, :], kth)
        return rows
    order = given(np.argpartition, a, kth)
    made = np.empty(a.size, dtype=a.dtype)
    for i in range(a.size):
        made[i] = a[order[i]]
    return made


def union1d(ar1, ar2):
    """Return the numbers of two arrays, each once."""
    return np.unique(np.append(ar1, ar2))


def intersect1d(ar1, ar2, assume_unique=False):
    """Return the numbers that two arrays have in common."""
    own = np.unique(ar1)
    return compress(own, isin(own, ar2))


def setdiff1d(ar1, ar2, assume_unique=False):
    """Return the numbers of the first array that are not in the second."""
    own = flattened(ar1) if assume_unique else np.unique(ar1)
    return compress(own, isin(own, ar2, False, True))


def setxor1d(ar1, ar2, assume_unique=False):
    """Return the numbers that only one of two arrays has."""
    first, second = setdiff1d(ar1, ar2), setdiff1d(ar2, ar1)
    return np.sort(np.append(first, second))


def isin(element, test_elements, assume_unique=False, invert=False):
    """Return for each element whether an array has it."""
    flat, among = flattened(element), flattened(test_elements)
    made = np.full(flat.size, invert)
    for i in range(flat.size):
        for j in range(among.size):
            if flat[i] == among[j]:
                made[i] = not invert
    return made if element.ndim == 1 else made.reshape(element.shape)


def trim_zeros(filt, trim="fb"):
    """Return a vector without the zeros at its ends."""
    first, last = 0, filt.size
    if "f" in trim or "F" in trim:
        while first < last and filt[first] == 0:
            first += 1
    if "b" in trim or "B" in trim:
        while last > first and filt[last - 1] == 0:
            last -= 1
    return filt[first:last]


def nanargmax(a):
    """Return the place of the largest element that is not NaN."""
    flat = flattened(a)
    place = -1
    for i in range(flat.size):
        if flat[i] == flat[i] and (place < 0 or flat[i] > flat[place]):
            place = i
    return place


def nanargmin(a):
    """Return the place of the smallest element that is not NaN."""
    flat = flattened(a)
    place = -1
    for i in range(flat.size):
        if flat[i] == flat[i] and (place < 0 or flat[i] < flat[place]):
            place = i
    return place
