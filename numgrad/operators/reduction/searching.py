"""Reductions without a derivative: truth, counts, and positions of extrema."""

from math import prod

import numpy as np

from ..._declare import reduction


@reduction(numpy=np.any, result=bool, exact=True, differentiable=False)
def any(x, out):
    """Whether any element is not zero."""
    found = False
    for i in range(x.size):
        found |= x[i] != 0
    out[0] = found


@reduction(numpy=np.all, result=bool, exact=True, differentiable=False)
def all(x, out):
    """Whether no element is zero."""
    missing = False
    for i in range(x.size):
        missing |= x[i] == 0
    out[0] = not missing


@reduction(numpy=np.count_nonzero, result=np.int64, exact=True, differentiable=False)
def count_nonzero(x, out):
    """The number of elements that are not zero."""
    count = 0
    for i in range(x.size):
        count += x[i] != 0
    out[0] = count


def of_position(function):
    """Declare a reduction to what the method ``argmax`` or ``argmin`` of arrays finds; of several
    axes that is the position in their C order."""

    def place(array, axis):
        lead = array.ndim - len(axis)
        if tuple(axis) != tuple(range(-len(axis), 0)):
            array = np.moveaxis(array, axis, range(lead, array.ndim))
        if len(axis) != 1:
            array = array.reshape(*array.shape[:lead], prod(array.shape[lead:]))
        return function(array, -1)

    return reduction(
        numpy=place, result=np.int64, complex=False, empty=False, exact=True, differentiable=False
    )


@of_position(np.ndarray.argmax)
def argmax(x, out):
    """The position of the first largest element, or of the first NaN."""
    at = 0
    for i in range(x.size):
        if x[at] == x[at] and (x[i] > x[at] or x[i] != x[i]):
            at = i
    out[0] = at


@of_position(np.ndarray.argmin)
def argmin(x, out):
    """The position of the first smallest element, or of the first NaN."""
    at = 0
    for i in range(x.size):
        if x[at] == x[at] and (x[i] < x[at] or x[i] != x[i]):
            at = i
    out[0] = at
