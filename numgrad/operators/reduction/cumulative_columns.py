"""Cumulative sums, products and extrema along the columns of matrices.

Each function goes along all columns at once, in vectors, and gives each of them the bits of the
function of the same name in `cumulative`.
"""

import numpy as np

ONE = np.uint64(1)  # unsigned, which spares Python's negative indexing


def cumulative_sum(x, out):
    """Sums of the elements so far."""
    for j in range(x.shape[1]):
        out[0, j] = out.dtype.type(0) + x[0, j]
    for i in range(ONE, np.uint64(x.shape[0])):
        for j in range(x.shape[1]):
            out[i, j] = out[i - ONE, j] + x[i, j]


def cumulative_sum_reversed(x, out):
    """Sums of the elements from each one on."""
    last = np.uint64(x.shape[0]) - ONE
    for j in range(x.shape[1]):
        out[last, j] = out.dtype.type(0) + x[last, j]
    for k in range(ONE, last + ONE):
        i = last - k
        for j in range(x.shape[1]):
            out[i, j] = out[i + ONE, j] + x[i, j]


def recurrence(a, b, out):
    """The solution of ``h[i] = a[i] h[i-1] + b[i]``."""
    for j in range(b.shape[1]):
        out[0, j] = b[0, j]
    for i in range(ONE, np.uint64(b.shape[0])):
        for j in range(b.shape[1]):
            out[i, j] = a[i, j] * out[i - ONE, j] + b[i, j]


def recurrence_reversed(a, b, out):
    """The solution of ``h[i] = a[i+1] h[i+1] + b[i]``."""
    last = np.uint64(b.shape[0]) - ONE
    for j in range(b.shape[1]):
        out[last, j] = b[last, j]
    for k in range(ONE, last + ONE):
        i = last - k
        for j in range(b.shape[1]):
            out[i, j] = a[i + ONE, j] * out[i + ONE, j] + b[i, j]


def cumulative_prod(x, out):
    """Products of the elements so far."""
    for j in range(x.shape[1]):
        out[0, j] = x[0, j]
    for i in range(ONE, np.uint64(x.shape[0])):
        for j in range(x.shape[1]):
            out[i, j] = out[i - ONE, j] * x[i, j]


def products_before(x, out):
    """Products of the elements before each one."""
    for j in range(x.shape[1]):
        out[0, j] = 1
    for i in range(ONE, np.uint64(x.shape[0])):
        for j in range(x.shape[1]):
            out[i, j] = out[i - ONE, j] * x[i - ONE, j]


def running_max(x, out):
    """The largest of the elements so far; NaN from the first NaN on."""
    for j in range(x.shape[1]):
        out[0, j] = x[0, j]
    for i in range(ONE, np.uint64(x.shape[0])):
        for j in range(x.shape[1]):
            here, before = x[i, j], out[i - ONE, j]
            out[i, j] = here if here > before or here != here else before


def running_min(x, out):
    """The smallest of the elements so far; NaN from the first NaN on."""
    for j in range(x.shape[1]):
        out[0, j] = x[0, j]
    for i in range(ONE, np.uint64(x.shape[0])):
        for j in range(x.shape[1]):
            here, before = x[i, j], out[i - ONE, j]
            out[i, j] = here if here < before or here != here else before


def restarting_sum(a, b, out):
    """The solution of ``h[i] = a[i] h[i-1] + b[i]``, where a factor 0 begins a new sum."""
    for j in range(b.shape[1]):
        out[0, j] = b[0, j]
    for i in range(ONE, np.uint64(b.shape[0])):
        for j in range(b.shape[1]):
            factor = a[i, j]
            total = factor * out[i - ONE, j] + b[i, j]
            out[i, j] = b[i, j] if factor == 0 else total


def restarting_sum_reversed(a, b, out):
    """The solution of ``h[i] = a[i+1] h[i+1] + b[i]``, where a factor 0 begins a new sum."""
    last = np.uint64(b.shape[0]) - ONE
    for j in range(b.shape[1]):
        out[last, j] = b[last, j]
    for k in range(ONE, last + ONE):
        i = last - k
        for j in range(b.shape[1]):
            factor = a[i + ONE, j]
            total = factor * out[i + ONE, j] + b[i, j]
            out[i, j] = b[i, j] if factor == 0 else total
