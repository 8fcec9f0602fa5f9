"""Sums over edges, elements, neighbours and observations, which are found by positions."""

import numpy as np

from ...program import Family, alone

FAMILIES: list[Family] = []


@alone(
    FAMILIES,
    "message passing 500 nodes of 8",
    size=500,
    tiny=5,
    inputs=lambda rng, n: (
        rng.standard_normal((n, 8)),
        0.3 * rng.standard_normal((8, 8)),
        rng.integers(0, n, 5 * n),
        rng.integers(0, n, 5 * n),
    ),
    wrt=2,
)
def messages(np, h, w, source, target):
    for _ in range(3):
        sums = np.add_at(np.zeros(h.shape), target, np.tanh(h @ w)[source])
        h = 0.5 * h + 0.5 * sums
    return (h * h).sum()


@alone(
    FAMILIES,
    "graph attention 1000 nodes",
    size=1000,
    tiny=5,
    inputs=lambda rng, n: (
        rng.standard_normal((n, 8)),
        rng.standard_normal(8),
        rng.standard_normal(8),
        rng.integers(0, n, 4 * n),
        rng.integers(0, n, 4 * n),
    ),
    wrt=3,
)
def shares(np, h, a, b, source, target):
    e = (h @ a)[source] + (h @ b)[target]
    w = np.exp(np.where(e > 0, e, 0.2 * e))
    w = w / np.add_at(np.zeros(h.shape[0]), target, w)[target]
    return (w * w).sum()


@alone(
    FAMILIES,
    "laplacian of a graph, 2000 nodes",
    size=2000,
    tiny=5,
    inputs=lambda rng, n: (
        rng.standard_normal((n, 3)),
        rng.integers(0, n, 8 * n),
        rng.integers(0, n, 8 * n),
        rng.uniform(0.1, 1, 8 * n),
    ),
)
def edges(np, x, i, j, w):
    d = x[i] - x[j]
    return 0.5 * (w * (d * d).sum(axis=1)).sum()


@alone(
    FAMILIES,
    "a bar of 200 finite elements",
    size=200,
    tiny=4,
    inputs=lambda rng, n: (rng.uniform(0.1, 1, n), rng.uniform(0.1, 1, n + 1)),
)
def stiffness_added_at_pairs(np, k, f):
    i, n = np.arange(k.shape[0]), k.shape[0] + 1
    m = np.accumulate(np.zeros((n, n)), (i, i), k)
    m = np.accumulate(m, (i + 1, i + 1), k)
    m = np.accumulate(m, (i, i + 1), -k)
    m = np.accumulate(m, (i + 1, i), -k)
    return f @ np.linalg.solve(m + np.eye(n), f)


@alone(
    FAMILIES,
    "stiffness of 160 triangles",
    size=80,
    tiny=6,
    inputs=lambda rng, n: (
        rng.standard_normal(2 * n),
        rng.integers(0, n, (2 * n, 3)),
        rng.standard_normal((n, 2)),
    ),
)
def elements(np, e, t, x):
    p, n = x[t], x.shape[0]
    sides = [p[:, 1] - p[:, 2], p[:, 2] - p[:, 0], p[:, 0] - p[:, 1]]
    b = np.stack([side[:, 1] for side in sides], axis=1)
    c = np.stack([side[:, 0] for side in sides], axis=1)
    k = b[:, :, None] * b[:, None, :] + c[:, :, None] * c[:, None, :]
    k = np.exp(e)[:, None, None] * k
    m = np.add_at(np.zeros((n, n)), (t[:, :, None], t[:, None, :]), k)
    return np.linalg.slogdet(m + np.eye(n))[1]


@alone(
    FAMILIES,
    "density of 1500 smoothed particles",
    size=1500,
    tiny=5,
    inputs=lambda rng, n: (rng.standard_normal((n, 2)), rng.integers(0, n, (n, 12))),
)
def neighbours(np, x, near):
    d = x[:, None, :] - x[near]
    q = np.sqrt((d * d).sum(-1) + 1e-8)
    inner, outer = 1 - 1.5 * q**2 + 0.75 * q**3, 0.25 * (2 - q) ** 3
    rho = np.where(q < 1, inner, np.where(q < 2, outer, 0.0)).sum(1)
    return ((rho - 2.0) ** 2).sum()


@alone(
    FAMILIES,
    "bundle adjustment, 20 cameras",
    size=200,
    tiny=4,
    inputs=lambda rng, n: (
        0.1 * rng.standard_normal((20, 6)),
        rng.standard_normal((n, 3)) + np.array([0, 0, 6.0]),
        rng.integers(0, 20, 6 * n),
        rng.integers(0, n, 6 * n),
        rng.standard_normal((6 * n, 2)),
    ),
    wrt=2,
)
def observed(np, cameras, points, i, j, seen):
    c, p = cameras[i], points[j]
    y = p + np.cross(c[:, :3], p) + c[:, 3:]
    uv = y[:, :2] / y[:, 2:3]
    e = uv * (1 + 0.1 * (uv * uv).sum(1, keepdims=True)) - seen
    return np.sqrt(1 + (e * e).sum(1)).sum()


@alone(
    FAMILIES,
    "a cubic B-spline, 2000 points",
    size=2000,
    tiny=5,
    inputs=lambda rng, n: (
        rng.standard_normal((30, 2)),
        rng.integers(0, 27, n),
        rng.uniform(size=n),
    ),
)
def curve(np, c, i, t):
    b = [(1 - t) ** 3, 3 * t**3 - 6 * t**2 + 4, -3 * t**3 + 3 * t**2 + 3 * t + 1, t**3]
    p = sum(b[k][:, None] * c[i + k] for k in range(4)) / 6
    return (p * p).sum()


@alone(
    FAMILIES,
    "tomography, 30 angles",
    size=40,
    tiny=4,
    inputs=lambda rng, n: (
        rng.uniform(size=(n, n)),
        rng.integers(0, n, (30, n, n)),
        rng.integers(0, n, (30, n, n)),
        rng.uniform(size=(30, n)),
    ),
)
def rays(np, u, i, j, y):
    p = u[i, j].mean(axis=2)
    return ((p - y) ** 2).sum() + 0.1 * np.abs(u[1:] - u[:-1]).sum()
