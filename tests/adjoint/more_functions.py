"""Short kernels for functions of NumPy that cut, widen and choose, for windows, sets of numbers,
polynomials, lists and recursion: each is compared with differences."""

import cmath
import heapq
import math

import numpy as np
from numba import njit
from numba.np import extensions
from numpy.lib.stride_tricks import sliding_window_view
from numpy.polynomial import polynomial, polyutils

KERNELS = []


def kernel(function):
    KERNELS.append(function)
    return function


@kernel
def parts_of_an_array(x):
    y = x * 1.0
    first, second = np.array_split(y, 2)
    first[0] = x[3] ** 2  # parts are views
    total = np.sum(y * x)
    for part in np.split(x, (1, 3)):
        total = total * np.sum(part) + part[0] ** 2
    rows = np.vsplit(np.outer(x[:2], x), 2)
    left, right = np.hsplit(np.outer(x, x[:2]), 2)
    return total + second[1] * np.sum(rows[0] * rows[1]) + np.sum(left * right[::-1])


@kernel
def third_axis(x):
    cube = np.dstack((np.outer(x, x), np.outer(x, x[::-1]) ** 2))
    moved = np.moveaxis(cube, 2, 0)
    near, far = np.dsplit(cube, 2)
    wide = np.atleast_3d(x)
    total = np.sum(near * far) + np.sum(moved[0] * moved[1].T) + wide[0, 2, 0] * wide[0, 1, 0]
    return total + np.sum(np.dstack((x, x**2))[0] ** 3)


@kernel
def stretched(x):
    wide = np.broadcast_to(x, (3, 5))
    column, row = np.broadcast_arrays(x[:3][:, None], x[2:])
    windows = sliding_window_view(x, 3)
    blocks = sliding_window_view(np.outer(x, x), (2, 3))
    n, m = np.broadcast_shapes((3, 1), (1, 4))
    total = np.sum(wide[2] * x) + np.sum(column**2 * row) + np.sum(windows[:, 0] * windows[:, 2])
    return total + blocks[1, 2, 0, 1] * n + np.sum(np.broadcast_to(x[0], (m,)) ** 2)


@kernel
def axis_of_a_view(x):
    y = x * 1.0
    row = np.expand_dims(y, 0)
    y[1] = x[0] * 5.0  # the row has it too
    row[0, 2] *= x[1]
    return np.sum(row**2) + y[2]


@kernel
def chosen_by_conditions(x):
    chosen = np.select([x < 0.5, x < 0.8], [x**2, x**3], 7.0)
    along = np.take_along_axis(np.outer(x, x)[:2], np.array([[0, 3, 3], [4, 1, 0]]), 1)
    return np.sum(chosen * x) + along[1, 2] ** 2 * np.sum(np.resize(x, (2, 4))[1] ** 2)


@kernel
def given_indices(x):
    a, (i, j) = np.outer(x, x**2), np.triu_indices(5, 1)
    rows, columns = np.tril_indices_from(a, -1)
    total = 0.0
    for k in range(i.size):
        total += a[i[k], j[k]] ** 2 + a[rows[k], columns[k]] * (k + 1)
    return total + np.sum(np.tri(5, 5, 1) * a) + np.sum(np.indices((5, 5))[1] * a)


@kernel
def windows_of_signals(x):
    w = np.hanning(5) + np.hamming(5) * np.blackman(5) + np.bartlett(5) + np.hanning(1)[0]
    return np.sum(x**2 * w) + np.sum(np.kaiser(7, 5.0 * x[0]) * np.arange(7.0))


@kernel
def angles_without_jumps(x):
    return np.sum(np.unwrap(x * 20.0) ** 2) + np.sum(np.unwrap(np.outer(x, x) * 9.0, period=4.0))


@kernel
def sets_of_numbers(x):
    half = x[1:4]
    total = np.union1d(half, x[:2])[2] ** 2 * np.intersect1d(x, half)[0]
    total += np.sum(np.setdiff1d(x, half) ** 2) + np.setxor1d(x, half)[1] ** 3
    padded = np.append(np.append(np.zeros(2), x), 0.0)
    return total + np.sum(x[np.isin(x, half)]) ** 2 + np.sum(np.trim_zeros(padded) ** 2)


@kernel
def places_in_order(x):
    with_nan = np.append(x, np.nan)
    total = x[np.nanargmax(with_nan)] ** 2 + x[np.nanargmin(with_nan)] ** 3
    total += np.nanpercentile(with_nan, 30.0) * np.nanquantile(with_nan, 0.4)
    return total + np.sum(np.repeat(x, np.array([1, 0, 2, 3, 1])) ** 2)


@kernel
def spaced(x):
    total = np.sum(np.geomspace(x[0], x[1], 4) ** 2) + np.sum(np.logspace(x[2], x[3], 3))
    total += np.diagflat(np.outer(x, x), 1)[2, 3] + np.sum(np.ediff1d(x, x[0] ** 2, x[1]) ** 2)
    return total + np.sum(np.append(np.outer(x, x), np.outer(x, x[1:]), axis=1)[1] ** 2)


@kernel
def covariances(x):
    a = np.outer(x, x[:3]) + np.outer(x**2, x[2:])
    total = np.cov(a, rowvar=False)[0, 1] + np.cov(a[:3], bias=True)[0, 0] + np.cov(x) * 2.0
    return total + np.cov(x, x**2, ddof=0)[0, 1] + np.corrcoef(a, rowvar=False)[0, 1]


@kernel
def counts_between_edges(x):
    counts, edges = np.histogram(x, np.array([0.0, 0.5, 1.0]))
    per_row = np.count_nonzero(np.outer(x, x) > 0.3, axis=1)
    return np.sum(counts * edges[1:]) * x[0] + np.sum(per_row * x) + np.trapezoid(np.outer(x, x))[1]


@kernel
def coefficients(x):
    quotient, rest = polynomial.polydiv(x, x[:3])
    product = polynomial.polymul(x[:2], polynomial.polyadd(x, polynomial.polysub(x[:1], x)))
    total = np.sum(quotient**2) + rest[1] + np.sum(product**2)
    total += np.sum(polynomial.polyint(x, 2) ** 2) + polynomial.polyval(x[0], x)
    return total + np.sum(polynomial.polyval(x, x[:3])) + polyutils.trimseq(np.append(x, 0.0))[-1]


@kernel
def scalar_functions(x):
    m, e = math.frexp(x[0] * 5.0)
    total = m * e + np.sum(np.float_power(x, 2)) + np.sum(np.divmod(x * 5.0, 2.0)[1])
    total += np.sum(np.logical_xor(x > 0.3, x < 0.6) * x) + np.gcd(4, 6) * math.gcd(9, 6) * x[1]
    total += np.sum(np.conj(x) * np.isreal(x)) + np.sum(x * np.isposinf(x)) + np.lcm(4, 6) * x[2]
    return total + x[0].item() * np.sum(np.logical_and(x, x > 0.5) * x) + np.nextafter(x[0], 2.0)


@kernel
def complex_inverses(x):
    z = x[:3] * 2.0 - 1.0 + 1j * (x[2:] - 0.5)
    w = np.arcsin(z) + np.arccos(z) * np.arctan(z) + np.arcsinh(z) + np.arctanh(z) * np.arccosh(z)
    w = w + np.tan(z) * np.log10(z)
    r, t = cmath.polar(z[0])
    other = cmath.rect(r * 2.0, t)
    return np.sum(np.abs(w) ** 2) + w[1].imag + other.real * cmath.isfinite(z[0])


def add_and_insert(kept, v):
    kept += [v]
    kept.insert(0, v * 2.0)


@kernel
def methods_of_lists(x):
    kept = [x[0], x[1]]
    add_and_insert(kept, x[2] ** 2)
    kept += [x[3]]
    first, third = kept.pop(0), kept.pop(-2)
    kept.reverse()
    total = kept[0] * first + third**2
    kept.sort(reverse=True)
    kept.remove(kept[1])
    total += kept[0] * kept[1] ** 2 * len(kept) + heapq.nsmallest(2, kept)[1]
    pairs = [(x[0], 1)]
    pairs.append((x[1], 2))
    pairs.insert(1, (x[4], 3))
    for v, n in pairs:
        total += v**2 * n
    return total + sorted(x)[2] * heapq.nlargest(1, [v * v for v in x])[0]


@kernel
def numbers_one_by_one(x):
    total = 0.0
    for v in np.nditer(np.outer(x, x)):
        total = 0.9 * total + v.item() ** 2
    for v, w in np.nditer((x, x**2)):
        total += v[()] * w[()]
    first, parts = x[0], (x[2], *(x[3], x[4]))
    return total * first + parts[1] * parts[2]


@kernel
def products_of_rows(x):
    a, b = np.outer(x, x[:3]), np.outer(x[::-1], x[2:] ** 2)
    total = np.sum(np.cross(a, b) ** 2) + np.sum(np.cross(a, x[1:4])[:, 1]) ** 2
    out = np.zeros((5, 5))
    total += np.dot(a, b.T.copy(), out)[1, 2] * out[3, 4]
    return total * sum([x[0], x[1]], 1) ** 2


if hasattr(extensions, "cross2d"):  # with NumPy before 2.5
    cross2d = extensions.cross2d

    @kernel
    @njit
    def products_of_vectors_of_two(x):
        return np.cross(x[:2], x[2:])[0] ** 2 + cross2d(x[:2], x[3:])


@njit
def power(v, n):
    if n == 0:
        return 1.0
    if n % 2:
        return v * power(v, n - 1)
    half = power(v, n // 2)
    return half * half


@kernel
def recursion_to_a_known_depth(x):
    return power(x[0], 13) + power(x[1], 4) * ("a" in "bar")
