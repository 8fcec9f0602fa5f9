"""Test functions of optimisers, and sums of physics and chemistry."""

import numpy as np

from ...program import HESSIAN, HVP, Family, alone

FAMILIES: list[Family] = []


@alone(
    FAMILIES,
    "rosenbrock of 1000, hvp",
    size=1000,
    tiny=4,
    inputs=lambda rng, n: (rng.standard_normal(n),),
    derivative=HVP,
)
def valley(np, x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


@alone(
    FAMILIES,
    "rastrigin of 10000",
    size=10000,
    tiny=4,
    inputs=lambda rng, n: (rng.standard_normal(n),),
)
def rastrigin(np, x):
    return (x * x - 10 * np.cos(2 * 3.141592653589793 * x)).sum()


@alone(
    FAMILIES,
    "ackley of 100",
    size=100,
    tiny=4,
    inputs=lambda rng, n: (rng.standard_normal(n),),
)
def ackley(np, x):
    return -20 * np.exp(-0.2 * np.sqrt((x * x).mean())) - np.exp(np.cos(6.28 * x).mean())


@alone(
    FAMILIES,
    "logistic, Hessian of 10",
    size=200,
    tiny=4,
    inputs=lambda rng, n: (
        rng.standard_normal(10),
        rng.standard_normal((n, 10)),
        rng.integers(0, 2, n).astype(float),
    ),
    derivative=HESSIAN,
)
def logistic(np, w, x, y):
    z = x @ w
    return (np.log(1 + np.exp(-np.abs(z))) + np.maximum(z, 0.0) - y * z).sum()


@alone(
    FAMILIES,
    "network, hvp",
    size=50,
    tiny=4,
    inputs=lambda rng, n: (
        0.3 * rng.standard_normal((10, 20)),
        0.3 * rng.standard_normal(20),
        rng.standard_normal((n, 10)),
    ),
    wrt=2,
    derivative=HVP,
)
def network(np, a, b, x):
    return ((np.tanh(x @ a) @ b) ** 2).sum()


@alone(
    FAMILIES,
    "tensor train",
    size=8,
    tiny=3,
    inputs=lambda rng, n: (rng.standard_normal((n, 4, 3, 4)), rng.integers(0, 3, (20, n))),
)
def train(np, g, i):
    v = g[0][:, i[:, 0], :][0]
    for k in range(1, g.shape[0]):
        v = np.einsum("na,anb->nb", v, g[k][:, i[:, k], :])
    return (v[:, 0] ** 2).sum()


@alone(
    FAMILIES,
    "hartree fock energy 8",
    size=8,
    tiny=3,
    inputs=lambda rng, n: (
        rng.standard_normal((n, n)),
        rng.standard_normal((n, n, n, n)),
        rng.standard_normal((n, n)),
    ),
)
def fock(np, c, g, h):
    d = c[:, :4] @ c[:, :4].T
    j = np.einsum("pqrs,rs->pq", g, d)
    k = np.einsum("prqs,rs->pq", g, d)
    return (d * (h + j - 0.5 * k)).sum()


@alone(
    FAMILIES,
    "tight binding 30",
    size=30,
    tiny=4,
    inputs=lambda rng, n: (rng.uniform(0.5, 1.5, n - 1), rng.standard_normal(n)),
    wrt=2,
)
def bands(np, t, e):
    n = e.shape[0]
    h = np.accumulate(
        np.accumulate(np.zeros((n, n)), (np.arange(n - 1), np.arange(1, n)), t),
        (np.arange(1, n), np.arange(n - 1)),
        t,
    )
    h = np.accumulate(h, (np.arange(n), np.arange(n)), e)
    return np.linalg.eigvalsh(h)[: n // 2].sum()


@alone(
    FAMILIES,
    "matrix exponential by squaring",
    size=16,
    tiny=3,
    inputs=lambda rng, n: (0.1 * rng.standard_normal((n, n)),),
)
def squaring(np, a):
    m = np.eye(a.shape[0]) + a / 256 + 0.5 * (a / 256) @ (a / 256)
    for _ in range(8):
        m = m @ m
    return (m * m).sum()


@alone(
    FAMILIES,
    "clenshaw chebyshev 2000 points",
    size=2000,
    tiny=4,
    inputs=lambda rng, n: (rng.standard_normal(12), rng.uniform(-1, 1, n)),
    wrt=2,
)
def clenshaw(np, c, x):
    b1, b2 = 0.0 * x, 0.0 * x
    for k in range(11, 0, -1):
        b1, b2 = c[k] + 2 * x * b1 - b2, b1
    return ((c[0] + x * b1 - b2) ** 2).sum()


@alone(
    FAMILIES,
    "planck integral",
    size=200,
    tiny=5,
    inputs=lambda rng, n: (np.array(1.3), np.linspace(0.01, 20, n)),
)
def planck(np, t, x):
    f = x**3 / (np.exp(x / t) - 1)
    return (0.5 * (f[1:] + f[:-1]) * (x[1:] - x[:-1])).sum()


@alone(
    FAMILIES,
    "b-spline curve",
    size=400,
    tiny=5,
    inputs=lambda rng, n: (
        rng.standard_normal((20, 2)),
        rng.integers(0, 17, n),
        rng.uniform(size=n),
    ),
)
def spline(np, c, i, t):
    b = (
        np.stack([(1 - t) ** 3, 3 * t**3 - 6 * t**2 + 4, -3 * t**3 + 3 * t**2 + 3 * t + 1, t**3])
        / 6
    )
    p = sum(b[k][:, None] * c[i + k] for k in range(4))
    return (p * p).sum()


@alone(
    FAMILIES,
    "ising mean field 30",
    size=30,
    tiny=4,
    inputs=lambda rng, n: (0.1 * rng.standard_normal((n, n)), rng.standard_normal(n)),
    wrt=2,
)
def mean_field(np, j, h):
    m = 0.0 * h
    for _ in range(20):
        m = 0.5 * m + 0.5 * np.tanh(j @ m + h)
    return m @ h


@alone(
    FAMILIES,
    "discounted returns",
    size=500,
    tiny=5,
    inputs=lambda rng, n: (rng.standard_normal(n), np.array(0.97)),
    wrt=2,
)
def returns(np, r, g):
    w = np.cumprod(g + 0.0 * r, 0)
    return (w * r).sum()


@alone(
    FAMILIES,
    "power spectrum",
    size=1024,
    tiny=8,
    inputs=lambda rng, n: (rng.standard_normal(n), np.hanning(n)),
)
def spectrum(np, x, w):
    f = np.fft.rfft(x * w)
    p = f.real**2 + f.imag**2
    return np.log(p + 1e-3).sum()


@alone(
    FAMILIES,
    "phase retrieval 32",
    size=32,
    tiny=4,
    inputs=lambda rng, n: (rng.standard_normal((n, n)), rng.uniform(size=(n, n))),
)
def phases(np, x, y):
    f = np.fft.fft2(x)
    return ((np.abs(f) - y) ** 2).sum()


@alone(
    FAMILIES,
    "autocorrelation by slices",
    size=300,
    tiny=30,
    inputs=lambda rng, n: (rng.standard_normal(n),),
)
def lags(np, x):
    x = x - x.mean()
    n = x.shape[0]
    return sum(((x[k:] * x[: n - k]).sum() / n) ** 2 for k in range(1, 20))


@alone(
    FAMILIES,
    "beam by scalars",
    size=60,
    tiny=5,
    inputs=lambda rng, n: (rng.uniform(1, 2, n),),
    without={"jax": "unrolled, it takes a minute to compile"},
)
def thomas(np, k):
    n = k.shape[0]
    c, d = [], []
    for i in range(n):
        b = 2.0 + k[i]
        m = b if i == 0 else b + c[-1]
        c.append(-1.0 / m)
        d.append((1.0 if i == 0 else 1.0 + d[-1]) / m)
    x = d[-1]
    total = x
    for i in range(n - 2, -1, -1):
        x = d[i] - c[i] * x
        total = total + x
    return total
