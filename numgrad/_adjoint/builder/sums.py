"""Functions of NumPy that add and multiply, as the loops that stand for them in kernels."""

import math

import numpy as np

from .rearranging import flattened


def trace(x):
    """Return the sum of the diagonal."""
    total = 0.0
    for i in range(min(x.shape[0], x.shape[1])):
        total += x[i, i]
    return total


def cumprod(x):
    """Return the cumulative products of a vector."""
    made = np.empty(x.size, dtype=x.dtype)
    product = 1.0
    for i in range(x.size):
        product *= x[i]
        made[i] = product
    return made


def nansum(x):
    """Return the sum of the elements that are not NaN."""
    total = 0.0
    for value in flattened(x):
        if not np.isnan(value):
            total += value
    return np.float32(total) if x.dtype == np.float32 else total


def nanmean(x):
    """Return the mean of the elements that are not NaN."""
    total, count = 0.0, 0
    for value in flattened(x):
        if not np.isnan(value):
            total += value
            count += 1
    return total / count


def ptp(x):
    """Return the largest element minus the smallest one."""
    return np.max(x) - np.min(x)


def cross(a, b):
    """Return the cross product of vectors in space."""
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError("one axis")
    return np.array(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


def kron(a, b):
    """Return the Kronecker product of matrices."""
    n, m = b.shape
    made = np.empty((a.shape[0] * n, a.shape[1] * m))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(n):
                for l in range(m):  # noqa: E741
                    made[i * n + k, j * m + l] = a[i, j] * b[k, l]
    return made


def convolve(a, v):
    """Return the full convolution of vectors."""
    made = np.zeros(a.size + v.size - 1)
    for i in range(a.size):
        for j in range(v.size):
            made[i + j] += a[i] * v[j]
    return made


def weighted_bincount(x, weights):
    """Return sums of weights by integers."""
    size = 0
    for i in range(x.size):
        size = max(size, x[i] + 1)
    made = np.zeros(size)
    for i in range(x.size):
        made[x[i]] += weights[i]
    return made


def bincount(x):
    """Return how often each natural number occurs."""
    size = 0
    for i in range(x.size):
        size = max(size, x[i] + 1)
    made = np.zeros(size, dtype=np.int64)
    for i in range(x.size):
        made[x[i]] += 1
    return made


def count_nonzero(x):
    """Return the number of elements that are not 0."""
    count = 0
    for value in flattened(x):
        if value != 0:
            count += 1
    return count


def trapezoid(y, x):
    """Return the integral over given points by the trapezoidal rule."""
    total = 0.0
    for i in range(y.size - 1):
        total += 0.5 * (x[i + 1] - x[i]) * (y[i + 1] + y[i])
    return total


def even_trapezoid(y, dx=1.0):
    """Return the integral over points at equal distances by the trapezoidal rule."""
    total = 0.0
    for i in range(y.size - 1):
        total += 0.5 * (y[i + 1] + y[i])
    return total * dx


def interp_number(x, xp, fp):
    """Return a number between given points, by lines; at a point, the line to its right."""
    n = xp.size
    if x < xp[0]:
        return fp[0]
    if x > xp[n - 1]:
        return fp[n - 1]
    low, high = 0, n - 1
    while high - low > 1:
        middle = (low + high) // 2
        if xp[middle] <= x:
            low = middle
        else:
            high = middle
    slope = (fp[low + 1] - fp[low]) / (xp[low + 1] - xp[low])
    return slope * (x - xp[low]) + fp[low]


def interp_array(x, xp, fp):
    """Return numbers between given points, by lines."""
    made = np.empty(x.size)
    for i in range(x.size):
        made[i] = interp_number(x[i], xp, fp)
    return made


def sinc(x):
    """Return the sine of pi x over pi x."""
    if x == 0.0:
        y = math.pi * x
        return 1.0 - y * y / 6.0
    return math.sin(math.pi * x) / (math.pi * x)
