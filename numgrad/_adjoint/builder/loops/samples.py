"""Functions of NumPy for samples and signals, as the loops that stand for them in kernels."""

import builtins
import math

import numpy as np

from ...ssa.conventions import slope
from ..given import given
from .rearranging import compress, flattened


def _numbers(x):
    """Return the elements that are not NaN."""
    flat = flattened(x)
    return compress(flat, flat == flat)


def nanmax(x):
    """Return the largest element that is not NaN."""
    return np.max(_numbers(x))


def nanmin(x):
    """Return the smallest element that is not NaN."""
    return np.min(_numbers(x))


def nanvar(x):
    """Return the variance of what is not NaN."""
    return np.var(_numbers(x))


def nanstd(x):
    """Return the standard deviation of what is not NaN."""
    return np.std(_numbers(x))


def nanmedian(x):
    """Return the median of what is not NaN."""
    return np.median(_numbers(x))


def nanpercentile(x, q):
    """Return what a share of the elements that are not NaN, of a hundred, is below."""
    return np.percentile(_numbers(x), q)


def nanquantile(x, q):
    """Return what a share of the elements that are not NaN is below."""
    return np.quantile(_numbers(x), q)


def percentile(x, q):
    """Return what a share of the elements, of a hundred, is below."""
    flat = flattened(x)
    return _between(flat, given(np.argsort, flat, "mergesort"), q / 100.0)


def quantile(x, q):
    """Return what a share of the elements is below."""
    flat = flattened(x)
    return _between(flat, given(np.argsort, flat, "mergesort"), q * 1.0)


def percentiles(x, q):
    """Return what several shares of the elements, of a hundred, are below."""
    flat = flattened(x)
    order = given(np.argsort, flat, "mergesort")
    made = np.empty(q.size)
    for i in range(q.size):
        made[i] = _between(flat, order, q[i] / 100.0)
    return made


def quantiles(x, q):
    """Return what several shares of the elements are below."""
    flat = flattened(x)
    order = given(np.argsort, flat, "mergesort")
    made = np.empty(q.size)
    for i in range(q.size):
        made[i] = _between(flat, order, q[i] * 1.0)
    return made


def _between(flat, order, share):
    """Return a number between two neighbours in the order."""
    place = share * (flat.size - 1)
    below = min(math.floor(place), max(flat.size - 2, 0))
    above = min(below + 1, flat.size - 1)
    rest = place - below
    return flat[order[below]] * (1.0 - rest) + flat[order[above]] * rest


def histogram(x, bins=10, range=None):  # noqa: A002 - as NumPy calls it
    """Return how many elements lie between edges, and the edges."""
    flat = flattened(x)
    low, high = (np.min(flat), np.max(flat)) if range is None else range
    return _histogram(flat, bins, float(low), float(high))


def histogram_at(x, bins, range=None):  # noqa: A002 - as NumPy calls it
    """Return how many elements lie between given edges, and the edges."""
    flat, last = flattened(x), bins.size - 1
    counts = np.zeros(last, dtype=np.int64)
    places = np.digitize(flat, bins)
    for i in builtins.range(flat.size):
        if places[i] > 0 and flat[i] <= bins[last]:
            counts[min(places[i], last) - 1] += 1
    return counts, bins


def _histogram(flat, bins, low, high):
    """Return how many elements lie between edges from one number to another, and the edges."""
    counts, first = given(np.histogram, flat, bins, (low, high))
    edges = np.empty(bins + 1)  # as many as the histogram gives
    for i in range(bins + 1):
        edges[i] = slope(first[i], low + (high - low) * i / bins)
    return counts, edges


def unique(x):
    """Return the different elements in order."""
    flat = flattened(x)
    order = given(np.argsort, flat, "mergesort")
    made = np.empty(flat.size, dtype=x.dtype)
    count = 0
    for i in range(flat.size):
        if i == 0 or flat[order[i]] != flat[order[i - 1]]:
            made[count] = flat[order[i]]
            count += 1
    return made[:count].copy()


def correlate(a, v, mode="valid"):
    """Return the correlation of two signals; where one of them is whole by default."""
    return np.convolve(a, v[::-1], mode)  # type: ignore[call-overload]


def _centred(x, axis):
    n = x.shape[axis]
    made = np.empty(x.shape)
    for i in range(x.shape[1 - axis]):
        total = 0.0
        for j in range(n):
            total += x[i, j] if axis == 1 else x[j, i]
        for j in range(n):
            if axis == 1:
                made[i, j] = x[i, j] - total / n
            else:
                made[j, i] = x[j, i] - total / n
    return made


def cov(m, y=None, rowvar=True, bias=False, ddof=None):
    """Return the covariances of variables, each a row; of one vector its variance."""
    x = _variables(m, y, rowvar)
    middle = _centred(x, 1)
    less = (0 if bias else 1) if ddof is None else ddof
    made = np.dot(middle, middle.T) / max(x.shape[1] - less, 0.0)
    return made[0, 0] if m.ndim == 1 and y is None else made


def corrcoef(x, y=None, rowvar=True):
    """Return the correlations of variables, each a row."""
    if x.ndim == 1 and y is None:
        return 1.0
    return _scaled(cov(x, y, rowvar))


def _variables(m, y, rowvar):
    """Return one or two samples as the rows of a matrix."""
    rows = _rows(m, rowvar)
    return rows if y is None else np.vstack((rows, _rows(y, rowvar)))


def _rows(m, rowvar):
    if m.ndim == 1:
        return m[None, :]
    return m if rowvar else m.T


def _scaled(c):
    made = np.empty(c.shape)
    for i in range(c.shape[0]):
        for j in range(c.shape[0]):
            made[i, j] = c[i, j] / (math.sqrt(c[i, i]) * math.sqrt(c[j, j]))
    return made


def vander(x, N=None):
    """Return the matrix of powers of the elements, the highest first."""
    columns = x.size if N is None else N
    made = np.empty((x.size, columns), dtype=x.dtype)
    for i in range(x.size):
        made[i, columns - 1] = 1.0
        for j in range(columns - 2, -1, -1):
            made[i, j] = made[i, j + 1] * x[i]
    return made


def digitize(x, bins, right=False):
    """Return the number of the bin of each element, between edges that ascend or descend."""
    made = np.empty(x.size, dtype=np.int64)
    ascends = bins[0] <= bins[bins.size - 1]
    for i in range(x.size):
        count = 0
        for j in range(bins.size):
            is_before = bins[j] < x[i] if right else bins[j] <= x[i]
            if is_before == ascends:
                count += 1
        made[i] = count
    return made


def searchsorted(a, v, side="left"):
    """Return the place of a number in a sorted vector, found by bisection."""
    low, high = 0, a.size
    while low < high:
        middle = (low + high) // 2
        is_before = a[middle] <= v if side == "right" else a[middle] < v
        if is_before:
            low = middle + 1
        else:
            high = middle
    return low


def all_searchsorted(a, v, side="left"):
    """Return the places of numbers in a sorted vector."""
    made = np.empty(v.size, dtype=np.int64)
    for place, value in enumerate(flattened(v)):
        made[place] = searchsorted(a, value, side)
    return made.reshape(v.shape)
