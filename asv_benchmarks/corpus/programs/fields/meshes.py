"""Graphs, meshes, images and cameras: positions are gathered, projected and sampled."""

import numpy as np

from ...program import JACOBIAN, Family, alone

FAMILIES: list[Family] = []


@alone(
    FAMILIES,
    "page rank 100",
    size=100,
    tiny=5,
    inputs=lambda rng, n: (rng.uniform(size=(n, n)),),
)
def power(np, a):
    p = a / a.sum(0)
    x = np.ones(a.shape[0]) / a.shape[0]
    for _ in range(15):
        x = 0.85 * (p @ x) + 0.15 / a.shape[0]
    return (x * x).sum()


@alone(
    FAMILIES,
    "springs 400",
    size=400,
    tiny=5,
    inputs=lambda rng, n: (rng.standard_normal((n, 3)), np.arange(n - 1), np.arange(1, n)),
)
def energy(np, x, a, b):
    d = x[a] - x[b]
    length = np.sqrt((d * d).sum(1) + 1e-12)
    return ((length - 1.0) ** 2).sum()


@alone(
    FAMILIES,
    "triangles of a mesh",
    size=900,
    tiny=4,
    inputs=lambda rng, n: (rng.standard_normal((n, 2)), rng.integers(0, n, (2 * n, 3))),
)
def areas(np, x, t):
    a, b, c = x[t[:, 0]], x[t[:, 1]], x[t[:, 2]]
    u, v = b - a, c - a
    area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    return np.sqrt(area * area + 1e-3).sum()


@alone(
    FAMILIES,
    "neo-hookean elements",
    size=300,
    tiny=4,
    inputs=lambda rng, n: (np.stack([np.eye(2)] * n) + 0.1 * rng.standard_normal((n, 2, 2)),),
)
def strain(np, f):
    j = f[:, 0, 0] * f[:, 1, 1] - f[:, 0, 1] * f[:, 1, 0]
    i1 = np.einsum("nij,nij->n", f, f)
    volume = np.log(np.abs(j))
    return (0.5 * (i1 - 2) - volume + 0.5 * volume * volume).sum()


@alone(
    FAMILIES,
    "lennard jones with cutoff 60",
    size=60,
    tiny=4,
    inputs=lambda rng, n: (3 * rng.uniform(size=(n, 3)) * n ** (1 / 3),),
)
def cut(np, x):
    n = x.shape[0]
    d = x[:, None, :] - x[None, :, :]
    r2 = (d * d).sum(-1) + np.eye(n)
    s = 1 / r2**3
    e = 4 * (s * s - s)
    return np.where(r2 < 9.0, e, 0.0 * e).sum()


@alone(
    FAMILIES,
    "neighbour list 1000",
    size=1000,
    tiny=5,
    inputs=lambda rng, n: (
        rng.standard_normal((n, 3)),
        rng.integers(0, n, 10 * n),
        rng.integers(0, n, 10 * n),
    ),
)
def listed(np, x, i, j):
    d = x[i] - x[j]
    r2 = (d * d).sum(-1) + 0.5
    return (1 / r2**3 - 1 / r2).sum()


@alone(
    FAMILIES,
    "bilinear samples",
    size=1000,
    tiny=5,
    inputs=lambda rng, n: (
        rng.uniform(size=(n, 2)),
        rng.standard_normal((32, 32)),
        rng.integers(0, 31, n),
        rng.integers(0, 31, n),
    ),
    wrt=2,
)
def bilinear(np, w, image, a, b):
    u, v = w[:, 0], w[:, 1]
    above = image[a, b] * (1 - v) + image[a, b + 1] * v
    below = image[a + 1, b] * (1 - v) + image[a + 1, b + 1] * v
    return ((above * (1 - u) + below * u) ** 2).sum()


@alone(
    FAMILIES,
    "total variation 64",
    size=64,
    tiny=4,
    inputs=lambda rng, n: (rng.standard_normal((n, n)), rng.standard_normal((n, n))),
)
def denoise(np, u, f):
    dx, dy = u[1:, :-1] - u[:-1, :-1], u[:-1, 1:] - u[:-1, :-1]
    return np.sqrt(dx * dx + dy * dy + 1e-3).sum() + 0.5 * ((u - f) ** 2).sum()


@alone(
    FAMILIES,
    "blur separable 64",
    size=64,
    tiny=7,
    inputs=lambda rng, n: (rng.standard_normal((n, n)), rng.uniform(size=5)),
    wrt=2,
)
def blur(np, u, k):
    n = u.shape[0]
    a = sum(k[i] * u[i : n - 4 + i] for i in range(5))
    b = sum(k[i] * a[:, i : n - 4 + i] for i in range(5))
    return (b * b).sum()


@alone(
    FAMILIES,
    "structural similarity",
    size=64,
    tiny=9,
    inputs=lambda rng, n: (rng.uniform(size=(n, n)), rng.uniform(size=(n, n))),
)
def ssim(np, x, y):
    def box(u):
        c = np.cumsum(u, axis=0)
        a = c[7:] - c[:-7]
        c = np.cumsum(a, axis=1)
        return (c[:, 7:] - c[:, :-7]) / 49

    mx, my = box(x), box(y)
    vx, vy, vxy = box(x * x) - mx * mx, box(y * y) - my * my, box(x * y) - mx * my
    return (
        ((2 * mx * my + 1e-4) * (2 * vxy + 9e-4)) / ((mx * mx + my * my + 1e-4) * (vx + vy + 9e-4))
    ).mean()


@alone(
    FAMILIES,
    "robot arm, Jacobian",
    size=6,
    tiny=3,
    inputs=lambda rng, n: (rng.uniform(-1, 1, n),),
    derivative=JACOBIAN,
    rows=3,
)
def arm(np, q):
    m = None
    for i in range(q.shape[0]):
        c, s = np.cos(q[i]), np.sin(q[i])
        o, z = 0.0 * c, 0.0 * c + 1.0
        a = np.stack(
            [
                np.stack([c, -s, o, z]),
                np.stack([s, c, o, o]),
                np.stack([o, o, z, o]),
                np.stack([o, o, o, z]),
            ]
        )
        m = a if m is None else m @ a
    return m[:3, 3]


@alone(
    FAMILIES,
    "quaternions rotate 1000",
    size=1000,
    tiny=4,
    inputs=lambda rng, n: (
        rng.standard_normal(4),
        rng.standard_normal((n, 3)),
        rng.standard_normal((n, 3)),
    ),
)
def rotated(np, q, x, y):
    q = q / np.sqrt((q * q).sum())
    w, v = q[0], q[1:]
    t = 2 * np.cross(v + 0.0 * x, x)
    z = x + w * t + np.cross(v + 0.0 * x, t)
    return ((z - y) ** 2).sum()


@alone(
    FAMILIES,
    "camera projection 500",
    size=500,
    tiny=4,
    inputs=lambda rng, n: (
        0.1 * rng.standard_normal(6),
        rng.standard_normal((n, 3)) + np.array([0, 0, 5.0]),
        rng.standard_normal((n, 2)),
    ),
)
def project(np, p, x, y):
    o = 0.0 * p[0]
    k = np.stack(
        [np.stack([o, -p[2], p[1]]), np.stack([p[2], o, -p[0]]), np.stack([-p[1], p[0], o])]
    )
    z = x + x @ k.T + 0.5 * (x @ k.T) @ k.T + p[3:]
    uv = z[:, :2] / z[:, 2:]
    return ((uv - y) ** 2).sum()


@alone(
    FAMILIES,
    "ray marching, 8 steps",
    size=500,
    tiny=4,
    inputs=lambda rng, n: (np.array([0.1, 0.2, 3.0]), rng.standard_normal((n, 3))),
)
def march(np, c, d):
    d = d / np.sqrt((d * d).sum(1))[:, None]
    t = 0.0 * d[:, 0]
    for _ in range(8):
        x = t[:, None] * d - c
        s = np.sqrt((x * x).sum(1)) - 1.0
        t = t + np.minimum(s, 0.5 + 0.0 * s)
    return (t * t).sum()


@alone(
    FAMILIES,
    "sphere intersections",
    size=2000,
    tiny=4,
    inputs=lambda rng, n: (
        np.array([0.0, 0.1, 3.0, 1.0]),
        rng.standard_normal((n, 3)) + np.array([0, 0, 3.0]),
    ),
)
def hit(np, s, d):
    d = d / np.norm(d, axis=1)[:, None]
    b = d @ s[:3]
    q = b * b - (s[:3] * s[:3]).sum() + s[3] ** 2
    t = b - np.sqrt(np.where(q > 0, q, 1.0 + 0.0 * q))
    return np.where(q > 0, t, 0.0 * t).sum()
