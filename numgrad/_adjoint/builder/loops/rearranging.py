"""Loops that stand for functions of NumPy that rearrange elements."""

import numpy as np

from ..given import given


def flattened(x):
    """Return all elements of an array as a vector that must not be written."""
    return x if x.ndim == 1 else x.flatten()


def compress(x, mask):
    """Return the elements where a mask is true."""
    flat, chosen = flattened(x), flattened(mask)
    count = 0
    for i in range(chosen.size):
        if chosen[i]:
            count += 1
    made = np.empty(count, dtype=x.dtype)
    place = 0
    for i in range(chosen.size):
        if chosen[i]:
            made[place] = flat[i]
            place += 1
    return made


def compress_rows(x, mask):
    """Return the rows where a mask is true."""
    count = 0
    for i in range(mask.size):
        if mask[i]:
            count += 1
    made = np.empty((count, x.shape[1]), dtype=x.dtype)
    place = 0
    for i in range(mask.size):
        if mask[i]:
            made[place, :] = x[i, :]
            place += 1
    return made


def place_vector(x, mask, values):
    """Write values, in order, to the elements of a vector where a mask is true."""
    place = 0
    for i in range(mask.size):
        if mask[i]:
            x[i] = values[place]
            place += 1


def place_matrix(x, mask, values):
    """Write values, in order, to the elements of a matrix where a mask is true."""
    place = 0
    for i in range(mask.shape[0]):
        for j in range(mask.shape[1]):
            if mask[i, j]:
                x[i, j] = values[place]
                place += 1


def flatnonzero(mask):
    """Return the indices where a mask is true."""
    flat = flattened(mask)
    count = 0
    for i in range(flat.size):
        if flat[i]:
            count += 1
    made = np.empty(count, dtype=np.int64)
    place = 0
    for i in range(flat.size):
        if flat[i]:
            made[place] = i
            place += 1
    return made


def nonzero(mask):
    """Return the index along each axis of the elements where a mask is true, in a tuple."""
    if mask.ndim == 1:
        return (flatnonzero(mask),)
    if mask.ndim != 2:
        raise NotImplementedError("np.nonzero is understood of up to two axes")
    chosen, n = flatnonzero(mask), mask.shape[1]
    rows, columns = np.empty(chosen.size, dtype=np.int64), np.empty(chosen.size, dtype=np.int64)
    for i in range(chosen.size):
        rows[i] = chosen[i] // n
        columns[i] = chosen[i] % n
    return rows, columns


def sort(x):
    """Return the elements in ascending order, along the last axis."""
    if x.ndim == 2:
        rows = np.empty_like(x)
        for i in range(x.shape[0]):
            rows[i, :] = sort(x[i, :])
        return rows
    order = given(np.argsort, x, "mergesort")
    made = np.empty(x.size, dtype=x.dtype)
    for i in range(x.size):
        made[i] = x[order[i]]
    return made


def median(x):
    """Return the median of all elements."""
    flat = flattened(x)
    order = given(np.argsort, flat, "mergesort")
    middle = flat.size // 2
    if flat.size % 2:
        return flat[order[middle]] * 1.0
    return 0.5 * (flat[order[middle - 1]] + flat[order[middle]])


def roll(x, shift):
    """Return the elements moved around cyclically, those of a matrix in the order of rows."""
    flat = flattened(x)
    n = flat.size
    made = np.empty(n, dtype=x.dtype)
    for i in range(n):
        made[(i + shift) % n] = flat[i]
    return made if x.ndim == 1 else made.reshape(x.shape)


def neighbours(x):
    """Return the differences of neighbouring elements."""
    made = np.empty(max(x.size - 1, 0), dtype=x.dtype)
    for i in range(x.size - 1):
        made[i] = x[i + 1] - x[i]
    return made


def diff(x, n=1):
    """Return the differences of neighbours along the last axis, or those of these differences."""
    if x.ndim == 2:
        made = x[:, 1:] - x[:, :-1]
        return made if n == 1 else diff(made, n - 1)
    return neighbours(x) if n == 1 else diff(neighbours(x), n - 1)


def diag(x, k=0):
    """Return the diagonal of a matrix, or the matrix with a vector as its diagonal."""
    row, column = max(-k, 0), max(k, 0)
    if x.ndim == 1:
        n = x.size + row + column
        square = np.zeros((n, n), dtype=x.dtype)
        for i in range(x.size):
            square[i + row, i + column] = x[i]
        return square
    count = max(min(x.shape[0] - row, x.shape[1] - column), 0)
    made = np.empty(count, dtype=x.dtype)
    for i in range(count):
        made[i] = x[i + row, i + column]
    return made


def tril(x, k=0):
    """Return a matrix with zeros above its diagonal number ``k``."""
    made = np.zeros(x.shape, dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(min(i + k + 1, x.shape[1])):
            made[i, j] = x[i, j]
    return made


def triu(x, k=0):
    """Return a matrix with zeros below its diagonal number ``k``."""
    made = np.zeros(x.shape, dtype=x.dtype)
    for i in range(x.shape[0]):
        for j in range(max(i + k, 0), x.shape[1]):
            made[i, j] = x[i, j]
    return made


def fill_diagonal(x, value):
    """Write a value to the diagonal of a matrix."""
    if x.ndim != 2:
        raise NotImplementedError("np.fill_diagonal is understood of matrices")
    for i in range(min(x.shape[0], x.shape[1])):
        x[i, i] = value


def flip(x):
    """Return the elements backwards, along all axes."""
    if x.ndim == 1:
        return x[::-1]
    if x.ndim == 2:
        return x[::-1, ::-1]
    if x.ndim == 3:
        return x[::-1, ::-1, ::-1]
    raise NotImplementedError("np.flip is understood of up to three axes")


def flipud(x):
    """Return rows from the last to the first."""
    return x[::-1]


def fliplr(x):
    """Return columns from the last to the first."""
    return x[:, ::-1]


def repeat(x, repeats):
    """Return each element several times."""
    flat = flattened(x)
    made = np.empty(flat.size * repeats, dtype=x.dtype)
    for i in range(flat.size):
        for j in range(repeats):
            made[i * repeats + j] = flat[i]
    return made


def eye(N, M=None, k=0):
    """Return a matrix with ones on a diagonal."""
    m = N if M is None else M
    made = np.zeros((N, m))
    for i in range(N):
        if 0 <= i + k < m:
            made[i, i + k] = 1.0
    return made


def identity(n):
    """Return the matrix with ones on the diagonal."""
    return eye(n, n)


def take(x, indices):
    """Return the elements of all of an array at given places."""
    return flattened(x)[indices]


def argwhere(mask):
    """Return the indices of the elements where a mask is true, one in each row."""
    found = nonzero(mask)
    made = np.empty((found[0].size, mask.ndim), dtype=np.int64)
    for i in range(found[0].size):
        made[i, 0] = found[0][i]
        if mask.ndim == 2:
            made[i, 1] = found[1][i]  # type: ignore[misc]
    return made


def delete(x, place):
    """Return a vector without one element."""
    n = x.size
    at = place if place >= 0 else place + n
    made = np.empty(n - 1, dtype=x.dtype)
    for i in range(n - 1):
        made[i] = x[i] if i < at else x[i + 1]
    return made


def delete_several(x, places):
    """Return the elements but those at several places."""
    flat = flattened(x)
    stays = np.full(flat.size, True)
    for place in places:
        stays[place] = False
    return compress(flat, stays)


def ediff1d(ary, to_end=None, to_begin=None):
    """Return the differences of neighbours among all elements, between others."""
    made = neighbours(flattened(ary))
    if to_begin is not None:
        made = np.append(np.atleast_1d(to_begin), made)
    if to_end is not None:
        made = np.append(made, np.atleast_1d(to_end))
    return made


def isclose(a, b, rtol=1e-05, atol=1e-08):
    """Whether numbers differ by little."""
    return np.abs(a - b) <= atol + rtol * np.abs(b)


def allclose(a, b, rtol=1e-05, atol=1e-08):
    """Whether all numbers differ by little."""
    return np.all(isclose(a, b, rtol, atol))


def rot90(m, k=1):
    """Return a matrix turned by right angles."""
    if k % 4 == 0:
        return m[:]
    if k % 4 == 1:
        return m.T[::-1]
    if k % 4 == 2:
        return m[::-1, ::-1]
    return m.T[:, ::-1]


def extract(condition, x):
    """Return the elements where a condition holds."""
    return compress(x, condition)


def array_equal(a, b):
    """Whether two arrays have one shape and the same elements."""
    if a.ndim != b.ndim or a.shape != b.shape:
        return False
    return np.all(a == b)
