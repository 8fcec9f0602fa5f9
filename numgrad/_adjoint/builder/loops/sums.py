"""Functions of NumPy that add and multiply, as the loops that stand for them in kernels."""

import math

import numpy as np

from ...ssa.conventions import held
from .rearranging import flattened


def trace(x):
    """Return the sum of the diagonal."""
    total = 0.0
    for i in range(min(x.shape[0], x.shape[1])):
        total += x[i, i]
    return total


def cumprod(x):
    """Return the cumulative products of all elements."""
    made = np.empty(x.size, dtype=x.dtype)
    product = 1.0
    for place, value in enumerate(flattened(x)):
        product *= value
        made[place] = product
    return made


def nancumsum(x):
    """Return the cumulative sums of all elements, without those that are NaN."""
    made = np.empty(x.size, dtype=x.dtype)
    total = 0.0
    for place, value in enumerate(flattened(x)):
        if not np.isnan(value):
            total += value
        made[place] = total
    return made


def nancumprod(x):
    """Return the cumulative products of all elements, without those that are NaN."""
    made = np.empty(x.size, dtype=x.dtype)
    product = 1.0
    for place, value in enumerate(flattened(x)):
        if not np.isnan(value):
            product *= value
        made[place] = product
    return made


def nanprod(x):
    """Return the product of the elements that are not NaN."""
    product = 1.0
    for value in flattened(x):
        if not np.isnan(value):
            product *= value
    return np.float32(product) if x.dtype == np.float32 else product


def nansum(x):
    """Return the sum of the elements that are not NaN."""
    total = 0.0
    for value in flattened(x):
        if not np.isnan(value):
            total += value
    return np.float32(total) if x.dtype == np.float32 else total


def average(a, axis=None, weights=None):
    """Return the mean of all elements, each with its weight."""
    if axis is not None:
        raise NotImplementedError("np.average is understood of all elements")
    return np.mean(a) if weights is None else np.sum(a * weights) / np.sum(weights)


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
    """Return the cross products of vectors, or of rows."""
    if a.ndim == 1 and b.ndim == 1:
        p, q = a[2] if a.size == 3 else 0.0, b[2] if b.size == 3 else 0.0
        return np.array([a[1] * q - p * b[1], p * b[0] - a[0] * q, a[0] * b[1] - a[1] * b[0]])
    if a.ndim > 2 or b.ndim > 2:
        raise NotImplementedError("np.cross is understood of vectors and of rows of matrices")
    made = np.empty((a.shape[0] if a.ndim == 2 else b.shape[0], 3), dtype=np.result_type(a, b))
    for i in range(made.shape[0]):
        made[i, :] = cross(a[i, :] if a.ndim == 2 else a, b[i, :] if b.ndim == 2 else b)
    return made


def cross2d(a, b):
    """Return the cross product of two vectors in a plane, a number."""
    if a.ndim != 1 or b.ndim != 1:
        raise NotImplementedError("cross2d is understood of two vectors: write a loop over rows")
    return a[0] * b[1] - a[1] * b[0]


def kron(a, b):
    """Return the Kronecker product of matrices; a vector is a row."""
    if a.ndim == 1 and b.ndim == 1:
        return np.outer(a, b).ravel()
    if a.ndim == 1:
        return kron(a.reshape((1, a.size)), b)
    if b.ndim == 1:
        return kron(a, b.reshape((1, b.size)))
    n, m = b.shape
    made = np.empty((a.shape[0] * n, a.shape[1] * m), dtype=np.result_type(a, b))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for k in range(n):
                for l in range(m):  # noqa: E741
                    made[i * n + k, j * m + l] = a[i, j] * b[k, l]
    return made


def convolve(a, v, mode="full"):
    """Return the convolution of vectors."""
    made = np.zeros(a.size + v.size - 1, dtype=np.result_type(a, v))
    for i in range(a.size):
        for j in range(v.size):
            made[i + j] += a[i] * v[j]
    if mode == "full":
        return made
    least, largest = min(a.size, v.size), max(a.size, v.size)
    first = (least - 1) // 2 if mode == "same" else least - 1
    count = largest if mode == "same" else largest - least + 1
    return made[first : first + count]


def weighted_bincount(x, weights, minlength=0):
    """Return sums of weights by integers."""
    size = minlength
    for i in range(x.size):
        size = max(size, x[i] + 1)
    made = np.zeros(size)
    for i in range(x.size):
        made[x[i]] += weights[i]
    return made


def bincount(x, minlength=0):
    """Return how often each natural number occurs."""
    size = minlength
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


def trapezoid_of_rows(y, x=None, dx=1.0):
    """Return the integral of each row by the trapezoidal rule."""
    if y.ndim != 2 or (x is not None and x.ndim != 1):
        raise NotImplementedError("np.trapezoid is understood of matrices over a vector")
    made = np.empty(y.shape[0])
    for i in range(y.shape[0]):
        made[i] = even_trapezoid(y[i, :], dx) if x is None else trapezoid(y[i, :], x)
    return made


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


def fmax(x, y):
    """Return the larger number, or the one that is not NaN."""
    if x != x:
        return y
    return x if y != y else max(x, y)


def fmin(x, y):
    """Return the smaller number, or the one that is not NaN."""
    if x != x:
        return y
    return x if y != y else min(x, y)


def nan_to_num(x, copy=True, nan=0.0):
    """Return a number, or what stands for NaN and infinite ones."""
    if x != x:
        return nan
    if x == np.inf:
        return 1.7976931348623157e308
    return -1.7976931348623157e308 if x == -np.inf else x


def float_power(x, y):
    """Return a power of floats."""
    return (x * 1.0) ** (y * 1.0)


def logical_xor(x, y):
    """Whether one of two conditions holds, and not both."""
    return (x != 0) != (y != 0)


def isposinf(x):
    """Whether a number is infinite and positive."""
    return x == np.inf


def isneginf(x):
    """Whether a number is infinite and negative."""
    return x == -np.inf


def gcd(x, y):
    """Return the greatest common divisor of integers."""
    a, b = abs(x), abs(y)
    while b != 0:
        a, b = b, a % b
    return a


def lcm(x, y):
    """Return the least common multiple of integers."""
    divisor = gcd(x, y)
    return abs(x) // divisor * abs(y) if divisor != 0 else 0


def frexp(x):
    """Return a number as one from 1/2 to 1 times a power of 2, and the exponent."""
    exponent = 0
    if held(x) != 0.0 and np.isfinite(held(x)):
        exponent = math.floor(math.log2(abs(held(x)))) + 1
        share = abs(math.ldexp(held(x), -exponent))  # the logarithm is rounded
        exponent += (share >= 1.0) - (share < 0.5)
    return math.ldexp(x, -exponent), exponent


def angle(x):
    """Return the angle of a real number."""
    return 0.0 if x >= 0.0 else math.pi
