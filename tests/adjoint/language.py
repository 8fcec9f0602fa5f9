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
def masks_choose_rows_of_a_part(x):
    table = np.outer(x, np.sin(x))
    s = 0.0
    for j in range(2):
        column = table[table[:, j] > 0.2, j]
        s += column.std() + np.sum(table[j, x > 0.5] ** 2)
    rows = table[x > 0.5, 1:3]
    out = table * x
    indices = np.array([0, 2])
    out[indices, 1] = x[indices] ** 3
    out[x > 0.6, 0] *= x[1]
    out[1, x > 0.5] = x[0]
    return s + np.sum(rows * rows) + np.sum(out * table)


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


@kernel
def lists_that_grow(x):
    out, total = [], 0.0
    for v in x:
        if v > 0.3:
            out.append(v * v)
        elif out:
            total += out.pop()
    doubled = np.array(out) * 2.0
    out[-1] += x[0]
    out.extend(x[:2])
    while len(out) > 1:
        total = 0.5 * total + out.pop() * out[0]
    return total + doubled[0] + sum(out) * max(out)


@kernel
def lists_of_tuples(x):
    pairs = []
    for i in range(x.size):
        for j in range(i):
            if abs(x[i] - x[j]) < 0.3:
                pairs.append((i, j, x[i] * x[j]))
    s = 0.0
    for _ in range(2):
        for i, j, w in pairs:
            s += w * (x[i] - x[j]) ** 2
    return s * len(pairs)


def _appended(kept, v):
    kept.append(v * v)
    kept.append(v + 1.0)


@kernel
def lists_bound_again(x):
    front, total = [0], 0.0
    other = [x[0]]
    while front:
        following, values = [], []
        for i in front:
            _appended(values, x[i])
            if i + 2 < x.size:
                following.append(i + 2)
            total += values[-1] * values[0]
        front = following
        more = [0.5]
        for v in other:
            more.append(v * total)
        other, more = more, other
    return total + other[1]


@kernel
def queue_with_a_counter(x):
    queue, i, s = [x[0]], 0, 0.0
    while i < len(queue):
        v = queue[i]
        i += 1
        if len(queue) < 9:
            queue.append(v * x[i])
            queue.append(v + x[i] ** 2)
        s += v * i
    return s


@kernel
def slices_backwards(x):
    part = x[3:0:-1] * x[:1:-1]
    rows = np.outer(x, x)[::-2, 4:1:-2]
    empty = x[1:3:-1]
    return part[0] * part[2] + x[-2::-2][1] ** 2 + np.sum(rows**2) + np.sum(empty) + x[9:-9:-3][1]


@kernel
def steps_that_are_accepted(x):
    y, t, h = np.array([1.0, 0.0]), 0.0, 0.1
    while t < 1.0:
        k = np.array([y[1], -x[0] * y[0] - x[1] * y[1]])
        half = y + 0.5 * h * k
        other = np.array([half[1], -x[0] * half[0] - x[1] * half[1]])
        if np.max(np.abs(other - k)) < 0.08:
            t += h
            y = y + h * other
            h = min(1.2 * h, 1.0 - t + 1e-9)
        else:
            h *= 0.5
    return y[0] + y[1]


@kernel
def sums_and_differences_of_more(x):
    m = np.outer(x, WEIGHTS)
    t = np.arange(0.0, 1.0, 0.3) * np.arange(x[0], x[0] + 3.5)
    return np.sum(t**2) + np.cumsum(m)[7] * np.diff(x, 2)[1] + np.sum(np.diff(x, n=1) ** 2)


@kernel
def rounded(x):
    return np.sum((x - np.round(x)) * np.round(x, 2)) + round(x[0], 1) * x[1]


@kernel
def order_of_elements(x):
    first, second = np.argsort(-x), x.argsort()
    return x[first[0]] ** 2 + np.sum(x[second] * WEIGHTS)


@kernel
def eigenvectors(x):
    w, v = np.linalg.eigh(np.outer(x, x) + np.diag(WEIGHTS))
    values = np.linalg.eigvalsh(np.outer(x, x) + np.diag(WEIGHTS))
    return np.sum(w * WEIGHTS) + np.sum(v[:, 0] ** 3) + v[1, 2] * w[0] + values[1]


@kernel
def singular_vectors(x):
    a = np.outer(x, WEIGHTS[:3]) * np.sin(np.outer(WEIGHTS, x[:3]))
    u, s, v = np.linalg.svd(a, False)
    left, t, _ = np.linalg.svd(a.T)
    return np.sum(u[:, 0] ** 3) * v[1, 2] + np.sum(s**2 * WEIGHTS[:3]) + t[1] * np.sum(left**3)


@kernel
def factors(x):
    a = np.sin(np.outer(x, WEIGHTS[:3] + x[1]) * np.outer(WEIGHTS, x[:3]))
    q, r = np.linalg.qr(a)
    wide, upper = np.linalg.qr(a.T.copy())
    return np.sum(q**3) + np.sum(r**3) + np.sum(wide**3) + np.sum(upper**3)


@kernel
def least_squares(x):
    a = np.sin(np.outer(x, WEIGHTS[:3] + x[1]) * np.outer(WEIGHTS, x[:3]))
    y, rest, rank, s = np.linalg.lstsq(a, x**2)
    z, _, _, _ = np.linalg.lstsq(a.T.copy(), np.outer(x[:3], x[:2]))
    return np.sum(y**3) + rest[0] * rank + np.sum(s) + np.sum(np.linalg.pinv(a) ** 3) + np.sum(z**3)


@kernel
def systems(x):
    a = np.outer(x, x) + np.diag(WEIGHTS)
    y, z = np.linalg.solve(a, x), np.linalg.solve(a, np.outer(x, x[:2]))
    return np.sum(y**3) + np.sum(z**3) + np.sum(np.linalg.inv(a) ** 3)


@kernel
def lists_and_floats_exchanged(x):
    old, new = np.zeros(3, dtype=np.int64), np.ones(3, dtype=np.int64)
    u, v = x.copy(), np.zeros_like(x)
    for k in range(3):
        for i in range(5):
            v[i] = u[(i + new[k]) % 5] * 0.9 + x[i] * u[i]
        old[:] = new + k
        u, v, old, new = v, u, new, old
    return np.sum(u**2)


@kernel
def samples(x):
    y = np.append(x, np.nan)
    counts, edges = np.histogram(x, 3)
    spread = np.nanmax(y) * np.nanmin(y) + np.nanstd(y) * np.nanvar(y) + np.nanmedian(y)
    shares = np.percentile(x, 31.0) + np.sum(np.quantile(x, WEIGHTS / 5.0))
    shares += np.average(x) * np.average(x, weights=x**2 + 1.0)
    together = np.cov(x, x**2)[0, 1] + np.corrcoef(np.vstack((x, np.sin(3 * x))))[0, 1]
    inside, limits = np.histogram(x, bins=2, range=(-9, x[0] + 9.0))
    between = np.sum(inside * limits[:-1]) * limits[1]
    return np.sum(counts * edges[1:]) + spread + shares + together + between


@kernel
def turned_and_repeated(x):
    m = np.outer(x, WEIGHTS)
    flat = np.repeat(x, 2) * np.flip(np.arange(10))
    found = np.unique(np.append(x, x[:2]))
    moved = np.roll(m, 3)[1, 0] * np.delete(x, np.array([0, -3]))[1]
    powers = np.vander(x[:2], 3) * np.eye(2, 3, 1) + np.identity(3)[:2] * moved
    more = np.correlate(x, x[:3])
    return (np.flipud(m)[0, 1] * np.fliplr(m)[1, 0] + flat.sum() + found[0] * found[4]
            + np.sum(powers**2) + np.sum(more**2))  # fmt: skip


@kernel
def same_array_or_a_copy(x):
    y = x.copy()
    same, whole = np.asarray(y), np.ascontiguousarray(y)
    same[0] = 2.0 * y[1]
    whole[2] = y[0] * y[3]
    cube = np.outer(x, x[:4]).reshape(5, 2, 2)
    turned = np.transpose(cube, (2, 0, 1))
    return np.sum(y**3) + np.sum(turned[1] * turned[0]) + np.transpose(cube[0])[0, 1]


@kernel
def chosen_along_an_axis(x):
    m = np.outer(x, x)
    p = np.argsort(x)
    q = m[p, :][:, p[1:]]
    m[p] = m * 2.0
    m[p[:2]] = x
    return np.sum(q[0] * q[1]) + m[2, p[1:3]].prod() + np.sum(m[1:, p] ** 2)


@kernel
def indices_of_shapes(x):
    s = 0.0
    for i, j in np.ndindex(2, 3):
        s += x[i] * x[j] * (i + 1)
    for place, v in np.ndenumerate(np.outer(x, WEIGHTS)):
        s += v * v * place[0] - place[1]
    return s


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
    return np.linalg.eigvals(np.outer(x, x)).real.sum()


def counts_in_list(x):
    kept = []
    for v in x:
        kept.append(v)
    return kept[0] * kept.count(x[0])


def list_of_a_loop(x):
    for v in x:
        kept = []
        kept.append(v)
    return kept[0]


def list_of_two_types(x):
    kept = [0]
    kept.append(x[0])
    return kept[1]


def copy_that_may_be_the_array(x):
    y = np.ascontiguousarray(x)
    y[0] = 2.0
    return np.sum(x * y)


def changes_what_it_runs_over(x):
    queue = [x[0]]
    s = 0.0
    for v in queue:
        if len(queue) < 4:
            queue.append(v * x[1])
        s += v
    return s


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


def keeps_what_it_writes(x):
    y = x.copy()
    kept = [y]
    y[0] = 2.0
    kept.append(y)
    return kept[0][0] * x[1]


def counts_by_key(x):
    sums = {}
    sums[1] = x[0]
    return sums[1]


def turns_three_axes(x):
    return np.sum(np.triu(x.reshape(1, 1, -1)))


def takes_a_list(x):
    return np.sum(np.take(x, [1, 0]))


REFUSED = [
    (takes_a_list, "write np.array"),
    (keeps_what_it_writes, "write `.copy()` where it is appended"),
    (counts_by_key, "number the keys"),
    (turns_three_axes, "an array of 3 axes"),
    (overlapping, "write the loop"),
    (recursive, "recursion whose depth is not known"),
    (tries, "`try`"),
    (eigenvalues, "np.linalg.eigvals"),
    (counts_in_list, "use an array, and count what it holds"),
    (list_of_a_loop, "is a list that is only made in a loop"),
    (list_of_two_types, "begin with numbers of the greater type"),
    (copy_that_may_be_the_array, "begin with a copy"),
    (changes_what_it_runs_over, "while i < len(queue)"),
    (adds_lists, "a list in arithmetic"),
    (changed_since, "hand it over"),
    (draws, "give the draws as an argument"),
]
