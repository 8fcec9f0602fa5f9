"""Chains of probabilities, attention and layers of networks."""

import numpy as np

from ...program import Family, alone

FAMILIES: list[Family] = []


@alone(
    FAMILIES,
    "hmm forward 100 by 8",
    size=100,
    tiny=5,
    inputs=lambda rng, n: (rng.standard_normal((8, 8)), rng.standard_normal((n, 8))),
    wrt=2,
)
def scan_logsumexp(np, a, e):
    a = a - np.logsumexp(a, axis=1, keepdims=True)
    s = np.fold(lambda s, e: np.logsumexp(s[:, None] + a, axis=0) + e, e[0], e[1:])
    return np.logsumexp(s, axis=0)


@alone(
    FAMILIES,
    "hmm probabilities 100 by 8",
    size=100,
    tiny=5,
    inputs=lambda rng, n: (rng.uniform(0.1, 1, (8, 8)), rng.uniform(0.1, 1, (n, 8))),
    wrt=2,
)
def scaled(np, a, e):
    a = a / a.sum(1)[:, None]

    def step(state, e):
        s = (state[0] @ a) * e
        return s / s.sum(), state[1] + np.log(s.sum())

    return np.fold(step, (e[0], 0.0), e[1:])[1]


@alone(
    FAMILIES,
    "crf 30 by 5",
    size=30,
    tiny=4,
    inputs=lambda rng, n: (
        rng.standard_normal((5, 5)),
        rng.standard_normal((n, 5)),
        rng.integers(0, 5, n),
    ),
    wrt=2,
)
def score(np, a, e, y):
    s = np.fold(lambda s, e: np.logsumexp(s[:, None] + a + e[None, :], axis=0), e[0], e[1:])
    gold = e[np.arange(len(e)), y].sum() + a[y[:-1], y[1:]].sum()
    return np.logsumexp(s, axis=0) - gold


@alone(
    FAMILIES,
    "soft dtw 25",
    size=25,
    tiny=4,
    inputs=lambda rng, n: (rng.standard_normal(n), rng.standard_normal(n)),
    wrt=2,
    without={"jax": "unrolled, it takes a minute to compile"},
)
def antidiagonals(np, x, y):
    d = (x[:, None] - y[None, :]) ** 2
    n = x.shape[0]
    before, last = None, d[0, 0].reshape(1)
    for k in range(1, 2 * n - 1):
        lo, hi = max(0, k - n + 1), min(k, n - 1)
        i = np.arange(lo, hi + 1)
        cost = d[i, k - i]
        plo = max(0, k - 1 - n + 1)
        big = np.full((1,), 1e3)
        padded = np.concatenate([big, last, big])
        up = padded[lo - plo : lo - plo + hi - lo + 1]
        left = padded[lo - plo + 1 : lo - plo + 1 + hi - lo + 1]
        terms = [up, left]
        if before is not None:
            pplo = max(0, k - 2 - n + 1)
            pb = np.concatenate([big, before, big])
            terms.append(pb[lo - pplo : lo - pplo + hi - lo + 1])
        else:
            terms.append(np.full((hi - lo + 1,), 1e3))
        m = -np.logsumexp(-np.stack(terms), axis=0)
        before, last = last, cost + m
    return last.sum()


@alone(
    FAMILIES,
    "cox 500",
    size=500,
    tiny=6,
    inputs=lambda rng, n: (
        rng.standard_normal(6),
        rng.standard_normal((n, 6)),
        (rng.uniform(size=n) < 0.6).astype(float),
    ),
)
def likelihood(np, b, x, d):
    z = x @ b
    risk = np.log(np.cumsum(np.exp(z)))
    return -((z - risk) * d).sum()


@alone(
    FAMILIES,
    "beliefs on a chain 60",
    size=60,
    tiny=5,
    inputs=lambda rng, n: (
        rng.standard_normal(n),
        rng.standard_normal(n - 1),
        np.array([[1.0, -1.0], [-1.0, 1.0]]),
    ),
    wrt=2,
)
def messages(np, h, j, s):
    m, u = np.zeros(2), s[0]
    for t in range(len(j)):
        m = np.logsumexp((m + h[t] * u)[:, None] + j[t] * s, axis=0)
    return np.logsumexp(m + h[-1] * u, axis=0)


@alone(
    FAMILIES,
    "attention 64 by 32",
    size=64,
    tiny=4,
    inputs=lambda rng, n: (
        rng.standard_normal((n, 32)),
        0.2 * rng.standard_normal((32, 32)),
        0.2 * rng.standard_normal((32, 32)),
        0.2 * rng.standard_normal((32, 32)),
    ),
    wrt=4,
)
def one_head(np, x, q, k, v):
    w = np.softmax((x @ q) @ (x @ k).T / 5.6, axis=-1)
    return ((w @ (x @ v)) ** 2).sum()


@alone(
    FAMILIES,
    "attention 4 heads of 32 tokens",
    size=32,
    tiny=4,
    inputs=lambda rng, n: (rng.standard_normal((2, n, 32)), 0.2 * rng.standard_normal((32, 96))),
    wrt=2,
)
def heads(np, x, w):
    b, n, d = x.shape
    qkv = (x @ w).reshape(b, n, 3, 4, 8)
    q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
    s = np.einsum("bqhd,bkhd->bhqk", q, k) / 2.8
    o = np.einsum("bhqk,bkhd->bqhd", np.softmax(s, axis=-1), v).reshape(b, n, d)
    return (o * x).sum()


@alone(
    FAMILIES,
    "causal attention by where",
    size=48,
    tiny=4,
    inputs=lambda rng, n: (
        rng.standard_normal((n, 16)),
        rng.standard_normal((n, 16)),
        rng.standard_normal((n, 16)),
        np.tril(np.ones((n, n))) > 0,
    ),
    wrt=3,
)
def masked(np, q, k, v, mask):
    s = np.where(mask > 0, q @ k.T / 4.0, -1e9 * np.ones(q.shape[0]))
    return (np.softmax(s, axis=-1) @ v).sum()


@alone(
    FAMILIES,
    "gru 40 tokens of 16",
    size=40,
    tiny=3,
    inputs=lambda rng, n: (0.2 * rng.standard_normal((32, 48)), rng.standard_normal((n, 16))),
    wrt=2,
)
def gates(np, w, x):
    def step(h, x):
        a, b = x @ w[:16], h @ w[16:]
        z = 1 / (1 + np.exp(-(a[:16] + b[:16])))
        g = 1 / (1 + np.exp(-(a[16:32] + b[16:32])))
        c = np.tanh(a[32:] + g * b[32:])
        return (1 - z) * h + z * c

    h = np.fold(step, np.zeros(16), x)
    return (h * h).sum()


@alone(
    FAMILIES,
    "convolution 3 by 3 by slices",
    size=32,
    tiny=5,
    inputs=lambda rng, n: (rng.standard_normal((n, n)), rng.standard_normal((4, 3, 3))),
    wrt=2,
)
def sums_of_slices(np, x, w):
    n = x.shape[0]
    total = 0.0
    for i in range(3):
        for j in range(3):
            total = total + w[:, i, j][:, None, None] * x[i : n - 2 + i, j : n - 2 + j]
    return (np.maximum(total, 0.0) ** 2).sum()


@alone(
    FAMILIES,
    "pooling",
    size=64,
    tiny=4,
    inputs=lambda rng, n: (rng.standard_normal((8, n, n)),),
)
def maxima(np, x):
    c, n, m = x.shape
    return (np.max(np.max(x.reshape(c, n // 2, 2, m // 2, 2), axis=4), axis=2) ** 2).sum()


@alone(
    FAMILIES,
    "batch norm 128 by 64",
    size=128,
    tiny=4,
    inputs=lambda rng, n: (
        rng.standard_normal((n, 64)),
        rng.standard_normal(64),
        rng.standard_normal(64),
    ),
    wrt=3,
)
def normal(np, x, g, b):
    m = x.mean(0)
    v = ((x - m) ** 2).mean(0)
    return (np.tanh((x - m) / np.sqrt(v + 1e-5) * g + b) ** 2).sum()


@alone(
    FAMILIES,
    "embedding bag",
    size=300,
    tiny=5,
    inputs=lambda rng, n: (rng.standard_normal((200, 16)), rng.integers(0, 200, (n, 5))),
)
def bag(np, e, i):
    return (np.tanh(e[i].mean(1)) ** 2).sum()


@alone(
    FAMILIES,
    "contrastive 64",
    size=64,
    tiny=4,
    inputs=lambda rng, n: (rng.standard_normal((n, 32)), rng.standard_normal((n, 32))),
    wrt=2,
)
def info(np, a, b):
    a = a / np.sqrt((a * a).sum(1))[:, None]
    b = b / np.sqrt((b * b).sum(1))[:, None]
    s = a @ b.T / 0.1
    n = a.shape[0]
    i = np.arange(n)
    return (np.logsumexp(s, axis=1) - s[i, i]).mean()


@alone(
    FAMILIES,
    "triplets",
    size=2000,
    tiny=5,
    inputs=lambda rng, n: (
        rng.standard_normal((100, 8)),
        rng.integers(0, 100, n),
        rng.integers(0, 100, n),
        rng.integers(0, 100, n),
    ),
)
def hinge(np, x, a, p, q):
    dp = ((x[a] - x[p]) ** 2).sum(1)
    dq = ((x[a] - x[q]) ** 2).sum(1)
    return np.maximum(dp - dq + 1.0, 0.0).sum()


@alone(
    FAMILIES,
    "pairwise ranking 150",
    size=150,
    tiny=4,
    inputs=lambda rng, n: (rng.standard_normal(n), rng.standard_normal(n)),
)
def pairs(np, s, y):
    d = s[:, None] - s[None, :]
    return (np.log(1 + np.exp(-d)) * (y[:, None] > y[None, :])).sum()
