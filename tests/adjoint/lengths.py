"""Kernels with arrays whose lengths change, heaps and stencils: each is differentiated."""

import heapq

import numpy as np
from numba import stencil
from numba.extending import register_jitable

KERNELS = []


def kernel(function):
    KERNELS.append(function)
    return function


@kernel
def binomial_tree(x):
    dt, n = 0.1, 7
    up = np.exp(0.3 * x[0] * np.sqrt(dt))
    p = (np.exp(0.03 * dt) - 1 / up) / (up - 1 / up)
    spot, strike = 1.3 * x[1], x[4]
    values = np.maximum(strike - spot * up ** np.arange(n, -n - 1, -2.0), 0.0)
    for i in range(n - 1, -1, -1):
        spots = spot * up ** np.arange(i, -i - 1, -2.0)
        values = p * values[:-1] + (1 - p) * values[1:]
        values = np.maximum(values, strike - spots)
    return values[0]


@kernel
def grows_by_append(x):
    out = np.zeros(1)
    for i in range(len(x)):
        out = np.append(out, x[i] * out[-1] + x[0])
    return np.sum(out * out)


@kernel
def elements_that_remain(x):
    y, s = x.copy(), 0.0
    for t in (0.3, 0.45, 0.6):
        y = y[y > t]
        s += np.sum(y * y)
    while len(y) > 0:
        s += y[0] * np.sum(y)
        y = y[1:]
    return s


@kernel
def halved_again_and_again(x):
    v = x
    while len(v) > 1:
        w = np.empty((len(v) + 1) // 2)
        for i in range(len(w)):
            w[i] = v[2 * i] * v[2 * i + 1] if 2 * i + 1 < len(v) else v[2 * i]
        v = w
    return v[0]


@kernel
def corners_are_cut(x):
    p = np.outer(x, x[:2]) + np.outer(np.sin(4 * x), x[2:4])
    for _ in range(2):
        m = p.shape[0]
        q = np.empty((2 * m, 2))
        for i in range(m):
            q[2 * i] = 0.75 * p[i] + 0.25 * p[(i + 1) % m]
            q[2 * i + 1] = 0.25 * p[i] + 0.75 * p[(i + 1) % m]
        p = q
    blocks = np.outer(x, p[0]).reshape(5, 1, 2)
    return np.sum(p[1:] * p[:-1] ** 2) + np.sum(blocks[x > 0.5] ** 3)


@kernel
def names_exchange_parts(x):
    a, b = x.copy(), 2.0 * x
    z = x + 1j * x[::-1]
    for _ in range(3):
        a, b = b[1:], a[1:] * x[0]
        z = z[:-1] * z[1:]
    return np.sum(a) * b[0] + abs(z[0]) ** 2


@kernel
def read_after_the_loop(x):
    for k in range(3):
        p = np.zeros(len(x) + 1)
        for i in range(len(x)):
            p[i + 1] = p[i] + np.sin(x[i] * (k + 1))
            if i > 2:
                late = x[i - 2 :] * p[i]
        pairs = np.outer(p, p)
    return p[-1] * pairs[1, 2] + np.sum(late)


@kernel
def condition_chooses_lengths(x):
    a = x * 2.0
    for k in range(4):
        if k % 2:
            a = np.append(a, x[k])
        elif np.sum(a) > 1.0:
            a = a[2:] * x[0]
    if x[1] < 0.5:
        b = x[x > 0.5]
    else:
        b = x[:2]
    if x[0] > 0.0:
        c = x[2:] * a[0]
    return np.sum(a) * b[0] + np.sum(b) * c[-1]


@register_jitable
def pushed(heap, item):
    heap.append(item)
    at = len(heap) - 1
    while at > 0 and heap[at] < heap[(at - 1) // 2]:
        heap[at], heap[(at - 1) // 2] = heap[(at - 1) // 2], heap[at]
        at = (at - 1) // 2


@kernel
def heaps(x):
    own = [(x[0], 0)]
    for i in range(1, len(x)):
        pushed(own, (x[i] * x[i - 1], i))
    s, first = 0.0, own[0]
    left = [v * (i + 1) for v, i in own]
    heapq.heapify(left)
    heapq.heappush(left, x[3] ** 2)
    s += heapq.heapreplace(left, x[1] + x[2]) * x[0] + heapq.heappushpop(left, x[4])
    queue = [(x[0] ** 2, 0)]
    for i in range(1, len(x)):
        heapq.heappush(queue, (x[i] ** 2, i))
    while queue:
        v, i = heapq.heappop(queue)
        s = 0.5 * s + v * (i + 1)
    return s + first[0] * heapq.heappop(left)


@kernel
def tuples_in_order(x):
    s = 0.0
    pairs = [(v, v * v) for v in x]
    pairs.append((x[0], x[1]))
    pairs[1] = (pairs[0][1], pairs[2][0] * 2.0)
    for i in range(1, len(x)):
        if (x[i - 1], i) < (x[i], 2) or (i, x[i]) >= (3, 0.5):
            s += x[i] ** 2 * pairs[i][1]
        if (1, 2, i) > (1, 2) and not (i, 1) <= (1, 1):
            s += x[i] * pairs[i][0]
    return s


@kernel
def numbers_as_conditions(x):
    s = 0.0
    for i in range(len(x)):
        n = i % 3
        if n and x[i] > 0.3:
            s += x[i] ** 2
        if (i & 1) or n:
            s += x[i] ** 3
        s += ((n and 5) + ((x[i] > 0.5 and n) or 7)) * x[i] * (x[i] or 2.0)
        while n and i and not n & 4:
            s *= 1.0 + 0.1 * x[n]
            n -= 1
    return s


@kernel
def methods_of_arrays(x):
    y, s = x.copy(), 0.0
    y.sort()
    for i in range(len(y)):
        s += i * y[i] ** 2
    z = (x + 2j * x[::-1]).astype(np.complex128)
    s += np.sum(x.take(np.array([1, 2]))) * x[0] + np.sum(x.repeat(2) ** 2) + x.cumprod()[2]
    return s + x.conj()[1] ** 3 + np.sum(x[(x > 0.5).nonzero()[0]]) + abs(z[1]) ** 2


@stencil
def mean_of_neighbours(a):
    return 0.25 * (a[-1, 0] + a[1, 0] + a[0, -1] + a[0, 1]) - a[0, 0]


@stencil(cval=0.7, neighborhood=((-2, 1),), standard_indexing=("w",))
def weighted(a, w, c):
    total = 0.0
    for i in range(-2, 2):
        if a[i] > 0.4:
            total += w[i + 2] * a[i] * c
    return total


@kernel
def stencils(x):
    u = np.outer(x, x)
    for _ in range(2):
        u = u + x[0] * mean_of_neighbours(u)
    return np.sum(u**2) + np.sum(weighted(x, x, x[1]) ** 2)


# Refused: what they do, and words of the message.


def shortened_and_written(x):
    y = x.copy()
    z = y
    for _ in range(2):
        y = y[1:]
        z[3] = 7.0
    return np.sum(y)


def defaults_after_a_star(x, a=1.0, *, b=2.0):
    return x[0] * a * b


def strided_by_hand(x):
    return np.sum(np.lib.stride_tricks.as_strided(x, (3,), (8,)))


def method_of_bits(x):
    return x.view(np.int64)[0] * x[0]


@stencil
def of_any_index(a, n):
    return a[n]


def stencil_without_neighbourhood(x):
    return np.sum(of_any_index(x, 1))


REFUSED = [
    (shortened_and_written, "also written in place"),
    (defaults_after_a_star, "leave the `*` out"),
    (strided_by_hand, "as_strided` is not understood: write its loop"),
    (method_of_bits, "the method `view` of arrays is not understood: write its loop"),
    (stencil_without_neighbourhood, "needs `neighborhood`"),
]
