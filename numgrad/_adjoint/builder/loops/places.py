"""Functions of NumPy that make arrays of given elements, and indices, as the loops that stand for
them in kernels."""

import math

import numpy as np

from .rearranging import flattened


def repeat_each(a, repeats):
    """Return each element as often as an array says."""
    flat = flattened(a)
    if repeats.size == 1:
        return np.repeat(flat, repeats[0])
    count = 0
    for i in range(repeats.size):
        count += repeats[i]
    made = np.empty(count, dtype=a.dtype)
    place = 0
    for i in range(flat.size):
        for _ in range(repeats[i]):
            made[place] = flat[i]
            place += 1
    return made


def resize(a, new_shape):
    """Return an array of a shape with the elements again and again."""
    flat, made = flattened(a), np.zeros(new_shape, dtype=a.dtype)
    size = 1
    for length in made.shape:
        size *= length
    elements = np.zeros(size, dtype=a.dtype)
    if flat.size > 0:
        for i in range(size):
            elements[i] = flat[i % flat.size]
    return elements.reshape(made.shape)


def take_along_axis(arr, indices, axis):
    """Return the elements that indices choose in each line along an axis."""
    if axis is None:
        return flattened(arr)[indices]
    if arr.ndim == 1:
        return arr[indices]
    if arr.ndim != 2:
        raise NotImplementedError("np.take_along_axis is understood of up to two axes")
    along = axis % 2
    if indices.shape[1 - along] != arr.shape[1 - along]:
        raise ValueError("the lengths of arr and indices differ")
    made = np.empty(indices.shape, dtype=arr.dtype)
    for i in range(indices.shape[0]):
        for j in range(indices.shape[1]):
            made[i, j] = arr[indices[i, j], j] if along == 0 else arr[i, indices[i, j]]
    return made


def logspace(start, stop, num=50):
    """Return powers of ten whose exponents are evenly spaced."""
    return 10.0 ** np.linspace(start, stop, num)


def geomspace(start, stop, num=50):
    """Return numbers with one quotient, from one number to another."""
    sign = math.copysign(1.0, start)
    first, last = math.log10(sign * start), math.log10(sign * stop)
    made = sign * 10.0 ** np.linspace(first, last, num)
    if num > 0:
        made[0] = start
    if num > 1:
        made[num - 1] = stop
    return made


def tri(N, M=None, k=0):
    """Return a matrix of ones below its diagonal number ``k`` and on it."""
    made = np.zeros((N, N if M is None else M))
    for i in range(N):
        for j in range(max(min(i + k + 1, made.shape[1]), 0)):
            made[i, j] = 1.0
    return made


def tril_indices(n, k=0, m=None):
    """Return the indices of the elements of a matrix below a diagonal and on it."""
    return np.nonzero(tri(n, m, k))


def triu_indices(n, k=0, m=None):
    """Return the indices of the elements of a matrix above a diagonal and on it."""
    return np.nonzero(tri(n, m, k - 1) == 0.0)


def tril_indices_from(arr, k=0):
    """Return the indices of the elements below a diagonal of a matrix and on it."""
    return tril_indices(arr.shape[0], k, arr.shape[1])


def triu_indices_from(arr, k=0):
    """Return the indices of the elements above a diagonal of a matrix and on it."""
    return triu_indices(arr.shape[0], k, arr.shape[1])


def indices(dimensions):
    """Return the index along each axis of each element of a shape."""
    made = np.zeros((len(dimensions), *dimensions), dtype=np.int64)
    for place in np.ndindex(dimensions):
        for axis in (0, 1, 2, 3)[: len(dimensions)]:
            at = (axis, *place)
            made[at] = place[axis]
    return made


def diagflat(v, k=0):
    """Return the matrix with all elements of an array on a diagonal."""
    return np.diag(flattened(v), k)


def count_nonzero_along(a, axis):
    """Return how many elements along an axis are not zero."""
    return np.sum(a != 0, axis)
