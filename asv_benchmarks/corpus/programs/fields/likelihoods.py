"""Prices of options, likelihoods and distances of distributions."""

import numpy as np

from ...program import Family, alone

FAMILIES: list[Family] = []


@alone(
    FAMILIES,
    "asian option 1000 paths of 50",
    size=1000,
    tiny=4,
    inputs=lambda rng, n: (np.array([1.0, 0.2, 0.05]), rng.standard_normal((n, 50))),
)
def asian(np, p, z):
    s0, vol, rate = p[0], p[1], p[2]
    dt = 1 / 50
    logs = np.cumsum((rate - 0.5 * vol * vol) * dt + vol * dt**0.5 * z, axis=1)
    s = s0 * np.exp(logs)
    return np.exp(-rate) * np.maximum(s.mean(1) - 1.0, 0.0).mean()


@alone(
    FAMILIES,
    "heston 1000 paths, 20 steps",
    size=1000,
    tiny=4,
    inputs=lambda rng, n: (
        np.array([1.0, 0.04, 1.5, 0.04, 0.3]),
        rng.standard_normal((20, 2, n)),
    ),
)
def heston(np, p, noise):
    def step(state, zw):
        s, v = state
        vp = np.maximum(v, 1e-8)
        r = np.sqrt(vp * 0.05)
        s = s * np.exp(-0.5 * vp * 0.05 + r * zw[0])
        return s, v + p[2] * (p[3] - vp) * 0.05 + p[4] * r * zw[1]

    still = 0.0 * noise[0, 0]
    s, _ = np.fold(step, (p[0] + still, p[1] + still), noise)
    return np.maximum(s - 1.0, 0.0).mean()


@alone(
    FAMILIES,
    "risk parity 80",
    size=80,
    tiny=4,
    inputs=lambda rng, n: (
        rng.uniform(0.5, 1, n),
        (lambda a: a @ a.T / n)(rng.standard_normal((n, n))),
    ),
)
def parity(np, w, c):
    x = w / w.sum()
    m = c @ x
    rc = x * m
    return ((rc - (x @ m) / w.shape[0]) ** 2).sum()


@alone(
    FAMILIES,
    "bond curve",
    size=200,
    tiny=5,
    inputs=lambda rng, n: (
        rng.uniform(0.01, 0.05, 6),
        np.sort(rng.uniform(0.1, 29, n)),
        np.array([0.0, 1.0, 2.0, 5.0, 10.0, 30.0]),
        np.searchsorted(
            np.array([0.0, 1.0, 2.0, 5.0, 10.0, 30.0]), np.sort(rng.uniform(0.1, 29, n))
        )
        - 1,
    ),
)
def curve(np, y, t, k, i):
    w = (t - k[i]) / (k[i + 1] - k[i])
    z = y[i] * (1 - w) + y[i + 1] * w
    return np.exp(-z * t).sum()


@alone(
    FAMILIES,
    "mixture of 3 normals 2000",
    size=2000,
    tiny=5,
    inputs=lambda rng, n: (
        rng.standard_normal(3),
        rng.uniform(0.5, 1, 3),
        rng.standard_normal(3),
        rng.standard_normal(n),
    ),
    wrt=3,
)
def mixture(np, m, s, w, x):
    z = (x[:, None] - m) / s
    lw = w - np.logsumexp(w, axis=0)
    return -np.logsumexp(lw - 0.5 * z * z - np.log(s), axis=1).sum()


@alone(
    FAMILIES,
    "student regression",
    size=500,
    tiny=5,
    inputs=lambda rng, n: (
        rng.standard_normal(10),
        np.array(0.3),
        rng.standard_normal((n, 10)),
        rng.standard_normal(n),
    ),
    wrt=2,
)
def student(np, b, s, x, y):
    z = (y - x @ b) * np.exp(-s)
    return (2.5 * np.log(1 + z * z / 4)).sum() + y.shape[0] * s


@alone(
    FAMILIES,
    "negative sampling",
    size=500,
    tiny=5,
    inputs=lambda rng, n: (
        rng.standard_normal((300, 20)),
        rng.integers(0, 300, n),
        rng.integers(0, 300, n),
        rng.integers(0, 300, (n, 4)),
    ),
)
def skipgram(np, e, a, b, c):
    pos = (e[a] * e[b]).sum(1)
    neg = np.einsum("nd,nkd->nk", e[a], e[c])
    return np.log(1 + np.exp(-pos)).sum() + np.log(1 + np.exp(neg)).sum()


@alone(
    FAMILIES,
    "nmf 60 by 40",
    size=60,
    tiny=4,
    inputs=lambda rng, n: (
        rng.uniform(size=(n, 5)),
        rng.uniform(size=(5, 40)),
        rng.uniform(size=(n, 40)),
    ),
    wrt=2,
)
def kl(np, w, h, v):
    m = w @ h
    return (m - v * np.log(m)).sum()


@alone(
    FAMILIES,
    "matrix normal likelihood",
    size=12,
    tiny=3,
    inputs=lambda rng, n: (rng.standard_normal((n, n)), rng.standard_normal((50, n))),
)
def wishart(np, a, x):
    s = a @ a.T + np.eye(a.shape[0])
    factor = np.linalg.cholesky(s)
    z = np.linalg.solve(factor, x.T)
    return 0.5 * (z * z).sum() + 50 * np.log(factor.diagonal()).sum()


@alone(
    FAMILIES,
    "sliced wasserstein",
    size=200,
    tiny=5,
    inputs=lambda rng, n: (
        rng.standard_normal((n, 3)),
        rng.standard_normal((n, 3)),
        rng.standard_normal((3, 20)),
    ),
)
def sliced(np, x, y, p):
    total = 0.0
    for k in range(20):
        a, b = np.sort(x @ p[:, k]), np.sort(y @ p[:, k])
        total = total + ((a - b) ** 2).mean()
    return total


@alone(
    FAMILIES,
    "soft histogram",
    size=1000,
    tiny=5,
    inputs=lambda rng, n: (rng.uniform(0, 1, n), np.linspace(0, 1, 20)),
)
def histogram(np, x, c):
    w = np.softmax(-50 * (x[:, None] - c) ** 2, axis=1)
    p = w.mean(0)
    return (p * np.log(p)).sum()


@alone(
    FAMILIES,
    "kernel two sample test 100",
    size=100,
    tiny=4,
    inputs=lambda rng, n: (rng.standard_normal((n, 4)), rng.standard_normal((n, 4))),
)
def mmd(np, x, y):
    def k(a, b):
        return np.exp(
            -(((a * a).sum(1))[:, None] + (b * b).sum(1)[None, :] - 2 * a @ b.T) / 4
        ).mean()

    return k(x, x) - 2 * k(x, y) + k(y, y)


@alone(
    FAMILIES,
    "rational quadratic process 50",
    size=50,
    tiny=4,
    inputs=lambda rng, n: (
        np.array([0.1, 0.2, 0.3]),
        rng.standard_normal((n, 2)),
        rng.standard_normal(n),
    ),
)
def process(np, p, x, y):
    d = ((x[:, None, :] - x[None, :, :]) ** 2).sum(-1)
    k = np.exp(p[0]) * (1 + d * np.exp(p[1])) ** -1.5 + np.exp(p[2]) * np.eye(x.shape[0])
    return 0.5 * y @ np.linalg.solve(k, y) + 0.5 * np.linalg.slogdet(k)[1]


@alone(
    FAMILIES,
    "kalman 4 by 4, 30 steps",
    size=30,
    tiny=3,
    inputs=lambda rng, n: (0.3 * rng.standard_normal((4, 4)), rng.standard_normal((n, 2))),
)
def kalman(np, a, z):
    h = np.eye(4)[:2]

    def step(state, z):
        x, p, total = state
        x, p = a @ x, a @ p @ a.T + 0.1 * np.eye(4)
        e, s = z - h @ x, h @ p @ h.T + np.eye(2)
        g = np.linalg.solve(s, h @ p).T
        total = total + e @ np.linalg.solve(s, e) + np.linalg.slogdet(s)[1]
        return x + g @ e, p - g @ (h @ p), total

    return np.fold(step, (np.zeros(4), np.eye(4), 0.0), z)[2]


@alone(
    FAMILIES,
    "particle filter 200, 20 steps",
    size=200,
    tiny=4,
    inputs=lambda rng, n: (
        np.array([0.9, 0.5, 0.3]),
        rng.standard_normal((20, n)),
        rng.standard_normal(20),
    ),
)
def particles(np, p, z, y):
    x, total = 0.0 * z[0], 0.0
    for t in range(20):
        x = p[0] * x + p[1] * z[t]
        w = -0.5 * ((y[t] - x) * np.exp(-p[2])) ** 2 - p[2]
        total = total + np.logsumexp(w, axis=0)
    return total
