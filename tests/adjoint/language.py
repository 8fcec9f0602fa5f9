"""Short kernels, one for each part of the language: each is compared with differences."""

import math
from collections import namedtuple

import numpy as np
from numba import njit, prange

WEIGHTS = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
FACTOR = 3.5
KERNELS = []


def kernel(function):
    KERNELS.append(function)
    return function


@kernel
def loops_over_arrays(x):
    s = 0.0
    for v in x:
        s += v * FACTOR
    for i, v in enumerate(x):
        s += v * v * WEIGHTS[i]
    for a, b in zip(x, x[1:]):  # noqa: B905, RUF007 (what Numba has)
        s += a * b
    return s


@kernel
def name_bound_again(x):
    y = x.copy()
    for _ in range(3):
        y = y + 0.5 * np.sin(y)
    return y.sum()


@kernel
def mask(x):
    y = x - 0.5
    y[y < 0] = 0.0
    return np.sum(y * y)


@kernel
def views_share(x):
    whole = x.copy()
    part = whole[1:4]
    part[0] = x[2] * part[2]
    part[:] = part * 2.0
    return np.sum(whole**2)


@kernel
def matrices(x):
    m = np.zeros((3, 2))
    m[0, :] = x[:2]
    m[1] = x[2:4]
    m[2, 0] = x[4]
    return np.sum((m.T @ m) ** 2) + np.outer(x, x).sum()


@kernel
def best_so_far(x):
    best = x[0]
    chosen = x.copy()
    for i in range(len(x)):
        if x[i] > best:
            best = x[i]
            chosen = x * best
    return best**2 + np.sum(chosen)


@kernel
def while_true(x):
    n, i, s = len(x), 0, 0.0
    while i < n:
        j = i
        while True:
            s += x[i] * x[j]
            j += 1
            if j >= n or s > 3:
                break
        i += 1
    return s


@kernel
def tuples(x):
    t = (x[0], x[1] * 2)
    for _ in range(3):
        t = (t[1] * x[2], t[0] + t[1])
    a, b = t
    return a * b


@kernel
def negative_index_wraps(x):
    y = x.copy()
    r = 0.0
    for i in range(-1, len(y) - 1):
        r += y[i] * y[i + 1]
        y[i] = r
    return r


@kernel
def raises(x):
    if x.ndim != 1 or len(x) < 2:
        raise ValueError("bad")
    assert x[0] < 1e3, "no"
    return np.mean(x) * np.var(x) + np.std(x)


@kernel
def numpy_functions(x):
    q = np.linspace(0.0, x[0], 5)
    y = np.where(x > 0.3, x * x, -x)
    z = np.clip(x, 0.2, 0.6) + np.maximum(x, 0.5) + np.abs(x - 0.4)
    place = np.searchsorted(WEIGHTS, x[0] * 3)
    return np.dot(q, x) + np.prod(x[:2]) + np.cumsum(x)[3] ** 2 + y.sum() * z.sum() + x[place]


@kernel
def parallel(x):
    s = 0.0
    for i in prange(len(x)):
        s += np.exp(x[i])
    return s


@kernel
def made_of_numbers(x):
    a = np.array([x[0], x[1], 2.0])
    b = np.array([[x[2], 1.0], [x[3], x[4]]])
    return np.sum(a) * np.sum(b[:, 0]) * b[1, 1]


@kernel
def arrays_of_an_iteration(x):
    s = 0.0
    for i in range(len(x)):
        row = np.zeros(3)
        for k in range(3):
            row[k] = x[i] * k
        row = row * row
        s += row[1] * row[2]
    return s


@kernel
def else_of_a_loop(x):
    s = 1.0
    for i in range(len(x)):
        if x[i] < 0.2:
            continue
        if x[i] > 5.0:
            break
        s += x[i] ** 1.5
    else:
        s *= 2
    return s


@kernel
def reversed_and_strided(x):
    y = x[::-1].copy()
    y[::2] = x[::2] * y[::2]
    y[-2:] = y[-2:] * y[0]
    return np.sum(y**2)


@njit
def halved(a, b=0.5, power=2):
    if a > 0.8:
        return a * b
    return a**power


@kernel
def callee_with_defaults(x):
    return halved(x[0]) + halved(x[1], 0.3) + halved(x[2], power=3) + math.hypot(x[3], x[4])


@kernel
def linear_algebra(x):
    a = np.eye(3) * 2.0
    a[0, 1] = a[1, 0] = x[1]
    a[2, 2] = 1.0 + x[0]
    lower = np.linalg.cholesky(a)
    return np.sum(np.linalg.solve(a, x[:3])) + np.sum(np.linalg.inv(a)) + np.log(lower[2, 2])


@kernel
def bits_and_integers(x):
    s = 0.0
    for i in range(len(x)):
        k = (i * 7 + 3) % len(x)
        if (i & 1) ^ (k >> 1 & 1):
            s += x[k] * (1 << i)
        else:
            s -= x[k] / (i + 1) + divmod(k, 2)[1]
    return s


@kernel
def slices_of_one_start(x):
    a = x[1:3].copy()
    b = x[1:4].copy()
    return np.sum(a**2) * np.sum(b)


@kernel
def functions_within(x):
    power = 3

    def term(t, scale=0.5):
        if t > 0.5:
            return t**power * scale
        return t * x[0]

    half = lambda t: 0.5 * t  # noqa: E731
    s = 0.0
    for v in x:
        s += term(v) + half(term(v, scale=v))
    return s


@kernel
def masks_choose(x):
    y = x.copy()
    y[y > 0.5] = x[x > 0.5] ** 2
    y[y < 0.4] *= 3.0
    places = np.nonzero(x > 0.3)[0]
    m = np.outer(x, x)
    return np.sum(y[x > 0.3]) * len(places) + np.sum(m[m > 0.3]) + np.sum(m[x > 0.5] ** 2)


@kernel
def shapes(x):
    m = np.outer(x, x).reshape(-1)
    n = x[:4].copy().reshape(2, 2)
    n[1] *= 2.0
    assert n.shape == (2, 2)
    assert n.shape != x.shape
    return np.sum(m.ravel() ** 2) + n.ravel()[2] * n[0, 1] + np.reshape(m, (5, 5))[1, 2]


@kernel
def rearranged(x):
    order = np.argsort(x, kind="mergesort")
    y = np.sort(x) * np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    d = np.diag(x) + np.triu(np.outer(x, x), 1) + np.tril(np.outer(x, y))
    return y.sum() + x[order[1]] * np.median(x) + np.sum(np.roll(x, 2) * np.diff(y)[1]) + d[1, 2] * d[3, 0] + np.ptp(x)  # noqa: E501


@kernel
def norms_and_determinants(x):
    a = np.eye(3) * 2.0
    a[0, 1], a[1, 0] = x[1], x[3]
    a[2, 2] = 1.0 + x[0]
    sign, log = np.linalg.slogdet(a)
    ones = np.linalg.norm(x, 1) + np.linalg.norm(x, np.inf)
    both = np.cross(x[:3], x[2:]).sum() * np.trace(np.kron(a, a))
    return np.linalg.norm(x) + np.linalg.norm(a) * ones + np.linalg.det(a) * sign * log + both


@kernel
def sums_and_lines(x):
    counts = np.bincount(np.array([0, 1, 1, 3, 0]), weights=x)
    lines = np.interp(x[0], np.array([0.0, 0.5, 1.0]), x[1:4]) + np.interp(x, np.linspace(0, 1, 5), x).sum()  # noqa: E501
    return np.convolve(x, x[:2])[1] * np.cumprod(x)[3] + counts[1] * lines + np.nansum(x)


@kernel
def gamma_functions(x):
    return math.lgamma(x[0]) + math.gamma(x[1] + 1) + np.logaddexp(x[2], x[3]) * math.erf(x[4])


@kernel
def condition_chooses_an_array(x):
    n = 0
    for k in range(3):
        if x[k] > 0.5:
            y = x[1:] * x[0]
            n += len(y)
        else:
            y = x[: len(x) - 1].copy()
        x = x * 0.5 + np.sum(y * y)
    return np.sum(x) * n


@kernel
def names_as_flags_were_called(x):
    broken_1, returned_, result_ = x[0], x[1], x[2]
    s = 0.0
    for v in x:
        if v > 0.9 and s > 1.0:
            break
        s += v * broken_1
        if s > 100.0:
            return returned_
    return s * broken_1 + returned_ * result_


Pair = namedtuple("Pair", ["first", "second"])


@kernel
def tuples_with_names(x):
    p = Pair(x[0], second=x[1] * 2.0)
    for _ in range(2):
        p = Pair(p.second * x[2], p.first)
    weights = (1, 2.0, 3)
    s = 0.0
    for i in range(3):
        s += weights[i] * x[i] * (p[1], x[3], p.first)[i]
    return s + p.first * p.second


@kernel
def lists_of_numbers(x):
    acc = [0.0, 0.0, 0.0]
    for i in range(len(x)):
        acc[i % 3] += x[i] ** 2
    squares = [v * v for v in x]
    part = acc[1:]
    part[0] = 5.0 * x[0]
    twice = np.array([a * 2 for a in squares]) + np.array(acc)[0]
    fill = [x[1]] * 4
    fill[2] = acc[1]
    return acc[0] * acc[1] * part[0] + sum(squares) * twice[2] + sum(fill) * len(fill)


@kernel
def joined(x):
    y = np.concatenate((x[:3], x[1:4] * 2.0))
    z = np.append(y, x[0])
    a, b = np.vstack((x, x * x)), np.column_stack((x, y[:5]))
    c = np.stack((x[:2], x[2:4]), axis=1)
    wide = np.expand_dims(x, 0) + np.hstack((a, a))[:1, :5]
    return np.sum(z**2) + np.sum(a @ b) * c[0, 1] + np.sum(wide**2)


# Refused: what they do, and words of the message.


def overlapping(x):
    x[1:] += x[:-1]
    return x.sum()


def recursive(x):
    return recursive(x)


def tries(x):
    try:
        return x[0]
    except IndexError:
        return 0.0


def shares(x):
    y = x
    for _ in range(3):
        y = y + 1.0
        x[0] = 2.0
    return np.sum(y)


def eigenvalues(x):
    return np.linalg.eigvalsh(np.outer(x, x)).sum()


def grows(x):
    kept = []
    for v in x:
        kept.append(v)
    return kept[0]


def adds_lists(x):
    a = [x[0], x[1]]
    b = a + [x[2]]
    return b[0]


def changed_since(x):
    k = 2.0

    def scaled(t):
        return k * t

    k = x[0]
    return scaled(x[1])


@njit
def draws(x):
    return x[0] * np.random.normal()  # noqa: NPY002


REFUSED = [
    (overlapping, "write the loop"),
    (recursive, "recursion"),
    (tries, "`try`"),
    (eigenvalues, "np.linalg.eigvalsh"),
    (grows, "make an array of the greatest length"),
    (adds_lists, "a list in arithmetic"),
    (changed_since, "hand it over"),
    (draws, "give the draws as an argument"),
]
