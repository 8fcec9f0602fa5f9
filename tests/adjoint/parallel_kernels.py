"""Kernels with loops over ``prange``, as users write them."""

import numpy as np
from numba import njit, prange

parallel = njit(parallel=True)


@parallel
def attraction(x, m, k):
    """All pairs, summed in an inner loop."""
    e = 0.0
    for i in prange(x.shape[0]):
        for j in range(x.shape[0]):
            d = (x[i, 0] - x[j, 0]) ** 2 + (x[i, 1] - x[j, 1]) ** 2 + 0.1
            e += m[i] * m[j] / np.sqrt(d) * k
    return e


@parallel
def pairs_below(x, m, k):
    """Each pair once: later steps have less to do."""
    e = 0.0
    for i in prange(x.shape[0]):
        own = 0.0
        for j in range(i + 1, x.shape[0]):
            own += m[i] * m[j] * np.tanh(k * (x[i, 0] - x[j, 1]))
        e += own
    return e


@parallel
def heat_in_parallel(u0, k, steps):
    """A stencil of three points, within a loop over time that exchanges the arrays."""
    u, v = u0.copy(), u0.copy()
    for _ in range(steps):
        for i in prange(1, len(u) - 1):
            v[i] = u[i] + k * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        u, v = v, u
    return np.sum(u * u)


@parallel
def reaction(u0, k, steps):
    """A stencil in two axes, with a function that is kept on the tape."""
    u, v = u0.copy(), u0.copy()
    n, m = u.shape
    for _ in range(steps):
        for i in prange(1, n - 1):
            for j in range(1, m - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                v[i, j] = np.tanh(u[i, j] + k * (around - 4.0 * u[i, j]))
        u, v = v, u
    return np.sum(u * u)


@parallel
def gathered(x, picks, w):
    """Elements that integers name, several times."""
    s = 0.0
    for i in prange(len(picks)):
        s += np.exp(-x[picks[i]] * w[i])
    return s


@parallel
def scaled(x, k):
    """Own elements, a condition, and a number that all steps share."""
    y = np.empty(len(x))
    for i in prange(len(x)):
        t = x[i] * k
        if t > 0.2:
            t = np.sin(t) * x[0]
        y[i] = t + x[i] ** 3
    return y


@parallel
def orbits(x, r, steps):
    """Trajectories of equal lengths."""
    out = np.zeros(len(x))
    for i in prange(len(x)):
        a, b, c = x[i], 1.0, 1.05
        for _ in range(steps):
            da, db, dc = 10.0 * (b - a), a * (r - c) - b, a * b - 2.7 * c
            a, b, c = a + 0.01 * da, b + 0.01 * db, c + 0.01 * dc
        out[i] = a + b * c
    return out


@parallel
def roots(x):
    """Loops of lengths that are not known before, a branch, and two kinds of results."""
    out = np.zeros(len(x))
    s = 0.0
    for i in prange(len(x)):
        z = x[i] + 1.0
        while abs(z * z * z - x[i] - 2.0) > 1e-9:
            z = z - (z * z * z - x[i] - 2.0) / (3 * z * z)
        if z > 1.3:
            s += z
        out[i] = z * x[i]
    return out, s


@parallel
def waves(x, steps):
    """Tapes of other lengths for each step, within a loop over time."""
    e = 0.0
    for t in range(steps):
        for i in prange(len(x)):
            z = x[i] * (1 + 0.1 * t)
            for _ in range(1 + i % 3):
                z = np.tanh(z) + 0.1 * z * z
            e += z
    return e


@parallel
def rows_of(a, w):
    """Rows of a matrix as arrays, and an array that each step makes."""
    total = 0.0
    for i in prange(a.shape[0]):
        row = a[i]
        own = np.zeros(3)
        for j in range(len(row)):
            own[j % 3] += row[j] * w[j]
        total += own[0] * own[1] + np.sin(own[2])
    return total


def cases(size=11):
    """Return the kernels with their arguments."""
    draw = np.random.default_rng(3)
    points, masses = draw.normal(size=(size, 2)), draw.uniform(0.5, 1.0, size)
    return {
        attraction: [points, masses, 0.5],
        pairs_below: [points, masses, 0.5],
        heat_in_parallel: [draw.normal(size=size), 0.2, 5],
        reaction: [draw.normal(size=(size, 7)), 0.2, 3],
        gathered: [draw.normal(size=size), draw.integers(0, size, 3 * size), draw.normal(size=3 * size)],  # noqa: E501
        scaled: [draw.normal(size=size), 0.7],
        orbits: [draw.normal(size=size), 28.0, 20],
        roots: [draw.uniform(size=size)],
        waves: [draw.uniform(size=size), 4],
        rows_of: [draw.normal(size=(size, 5)), draw.normal(size=5)],
    }


# Loops that run on one thread -------------------------------------------------------------------


@parallel
def product_of(x):
    p = 1.0
    for i in prange(len(x)):
        p *= 1.0 + 0.1 * x[i]
    return p


@parallel
def last_one(x, places):
    y = np.zeros(len(x))
    for i in prange(len(x)):
        y[places[i]] = x[i] * x[i]
    return np.sum(y * y)


@parallel
def around(x):
    """Indices below 0: the first step reads the last element."""
    y = np.zeros(len(x))
    for i in prange(len(x)):
        y[i] = x[i] * x[i - 1]
        x[i - 1] = y[i]
    return np.sum(y)


@parallel
def in_place(x):
    for i in prange(1, len(x)):
        x[i] = np.sin(x[i - 1]) + x[i]
    return x[2]


@parallel
def until_full(x):
    """A sum that a step reads: Numba has other numbers there than a loop over range."""
    s = 0.0
    for i in prange(len(x)):
        if s < 1.0:
            s += x[i]
    return s


SERIAL = [
    (product_of, lambda x: [x]), (last_one, lambda x: [x, np.array([1, 1, 0, 2, 2, 3])]),
    (around, lambda x: [x]), (in_place, lambda x: [x]),
]  # fmt: skip
