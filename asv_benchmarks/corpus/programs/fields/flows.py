"""Simulations in a few steps: reactions, waves, bodies and flows."""

import numpy as np

from ...program import Family, alone

FAMILIES: list[Family] = []


@alone(
    FAMILIES,
    "gray scott 48, 10 steps",
    size=48,
    tiny=4,
    inputs=lambda rng, n: (rng.uniform(size=(n, n)), rng.uniform(size=(n, n))),
    wrt=2,
)
def reaction(np, u, v):
    def step(state):
        u, v = state
        lu = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u
        lv = np.roll(v, 1, 0) + np.roll(v, -1, 0) + np.roll(v, 1, 1) + np.roll(v, -1, 1) - 4 * v
        r = u * v * v
        return u + 0.16 * lu - r + 0.04 * (1 - u), v + 0.08 * lv + r - 0.1 * v

    u, v = np.iterate(step, (u, v), 10)
    return (u * v).sum()


@alone(
    FAMILIES,
    "shallow water 40, 10 steps",
    size=40,
    tiny=4,
    inputs=lambda rng, n: (1 + 0.1 * rng.uniform(size=(n, n)),),
)
def shallow(np, h):
    def step(state):
        h, u, v = state
        u = u - 0.05 * (np.roll(h, -1, 0) - np.roll(h, 1, 0))
        v = v - 0.05 * (np.roll(h, -1, 1) - np.roll(h, 1, 1))
        h = h - 0.05 * (
            np.roll(h * u, -1, 0)
            - np.roll(h * u, 1, 0)
            + np.roll(h * v, -1, 1)
            - np.roll(h * v, 1, 1)
        )
        return h, u, v

    h = np.iterate(step, (h, 0.0 * h, 0.0 * h), 10)[0]
    return (h * h).sum()


@alone(
    FAMILIES,
    "lattice boltzmann 24, 5 steps",
    size=24,
    tiny=4,
    inputs=lambda rng, n: (0.1 + 0.01 * rng.uniform(size=(9, n, n)),),
)
def collide(np, f):
    ex, ey = [0, 1, 0, -1, 0, 1, -1, -1, 1], [0, 0, 1, 0, -1, 1, 1, -1, -1]
    w = [4 / 9] + [1 / 9] * 4 + [1 / 36] * 4

    def step(f):
        rho = f.sum(0)
        ux = sum(ex[q] * f[q] for q in range(9)) / rho
        uy = sum(ey[q] * f[q] for q in range(9)) / rho
        uu = ux * ux + uy * uy
        out = []
        for q in range(9):
            eu = ex[q] * ux + ey[q] * uy
            feq = w[q] * rho * (1 + 3 * eu + 4.5 * eu * eu - 1.5 * uu)
            out.append(np.roll(f[q] + 0.6 * (feq - f[q]), (ex[q], ey[q]), (0, 1)))
        return np.stack(out)

    f = np.iterate(step, f, 5)
    return (f * f).sum()


@alone(
    FAMILIES,
    "neural ode, 10 steps",
    size=10,
    tiny=2,
    inputs=lambda rng, n: (
        0.5 * rng.standard_normal((4, 32)),
        0.5 * rng.standard_normal((32, 4)),
        rng.standard_normal((16, 4)),
    ),
    wrt=3,
)
def ode(np, a, b, y):
    def f(y):
        return np.tanh(y @ a) @ b

    def step(y):
        k1 = f(y)
        k2 = f(y + 0.05 * k1)
        k3 = f(y + 0.05 * k2)
        k4 = f(y + 0.1 * k3)
        return y + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    y = np.iterate(step, y, 10)
    return (y * y).sum()


@alone(
    FAMILIES,
    "verlet three bodies, 50 steps",
    size=50,
    tiny=3,
    inputs=lambda rng, n: (
        rng.standard_normal((3, 2)),
        0.1 * rng.standard_normal((3, 2)),
        rng.uniform(1, 2, 3),
    ),
    wrt=3,
)
def bodies(np, x, v, m):
    def acc(x):
        d = x[None, :, :] - x[:, None, :]
        r2 = (d * d).sum(-1) + 0.1
        return (d * (m[None, :] / (r2 * np.sqrt(r2)))[:, :, None]).sum(1)

    def step(state):
        x, v, a = state
        x = x + 0.01 * v + 0.00005 * a
        b = acc(x)
        return x, v + 0.005 * (a + b), b

    x = np.iterate(step, (x, v, acc(x)), 50)[0]
    return (x * x).sum()


@alone(
    FAMILIES,
    "two pendulums by scalars, 100 steps",
    size=100,
    tiny=3,
    inputs=lambda rng, n: (rng.uniform(0.2, 1.0, 4),),
)
def double(np, y):
    def step(state):
        a, b, p, q = state
        c = np.cos(a - b)
        s = np.sin(a - b)
        den = 2 - c * c
        da = (p - q * c) / den
        db = (2 * q - p * c) / den
        dp = -da * db * s - 2 * np.sin(a)
        dq = da * db * s - np.sin(b)
        return a + 0.01 * da, b + 0.01 * db, p + 0.01 * dp, q + 0.01 * dq

    a, b, _, _ = np.iterate(step, (y[0], y[1], y[2], y[3]), 100)
    return a * a + b * b


@alone(
    FAMILIES,
    "spectral navier stokes 32, 3 steps",
    size=32,
    tiny=8,
    inputs=lambda rng, n: (
        rng.standard_normal((n, n)),
        np.fft.fftfreq(n, 1.0 / n),
        np.fft.rfftfreq(n, 1.0 / n),
    ),
)
def vortices(np, w, k, kr):
    kx, ky = k[:, None] + 0.0 * kr[None, :], 0.0 * k[:, None] + kr[None, :]
    k2 = kx * kx + ky * ky
    k2 = np.where(k2 == 0, 1.0 + 0.0 * k2, k2)
    for _ in range(3):
        wh = np.fft.rfft2(w)
        psi = wh / k2
        u, v = np.fft.irfft2(1j * ky * psi), np.fft.irfft2(-1j * kx * psi)
        wx, wy = np.fft.irfft2(1j * kx * wh), np.fft.irfft2(1j * ky * wh)
        w = w - 0.001 * (u * wx + v * wy)
    return (w * w).sum()
