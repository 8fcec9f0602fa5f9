"""Seconds of the processor that first values and gradients of functions under `njit` take: the
figures of `njit.md`.

PYTHONPATH=. python docs/njit_first_calls.py

Each function is called in processes of its own: with a cache that knows no other function but a sum
of squares, with one that knows the other functions too, and once more with what that has left.
"""

import math
import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

import numgrad as ng
from numgrad import njit


@njit
def euler(p, steps):
    x, y = 1.0, 0.5
    total = 0.0
    for _ in range(steps):
        dx = p[0] * x - p[1] * x * y
        dy = p[2] * x * y - p[3] * y
        x += 0.01 * dx
        y += 0.01 * dy
        total += (x - 1.0) ** 2
    return total


@njit
def field(s, p):
    out = np.empty(3)
    out[0] = p[0] * (s[1] - s[0])
    out[1] = s[0] * (p[1] - s[2]) - s[1]
    out[2] = s[0] * s[1] - p[2] * s[2]
    return out


@njit
def rk4(s0, p, steps, dt):
    s = s0.copy()
    for _ in range(steps):
        k1 = field(s, p)
        k2 = field(s + 0.5 * dt * k1, p)
        k3 = field(s + 0.5 * dt * k2, p)
        k4 = field(s + dt * k3, p)
        s = s + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return np.sum(s * s)


@njit
def rk4_many(s0, p, steps, dt):
    s = s0.copy()
    total = 0.0
    for _ in range(steps):
        k1 = np.sin(s) * p + 0.1 * (np.roll(s, 1) - s)
        t = s + 0.5 * dt * k1
        k2 = np.sin(t) * p + 0.1 * (np.roll(t, 1) - t)
        t = s + 0.5 * dt * k2
        k3 = np.sin(t) * p + 0.1 * (np.roll(t, 1) - t)
        t = s + dt * k3
        k4 = np.sin(t) * p + 0.1 * (np.roll(t, 1) - t)
        s = s + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        total += np.mean(s ** 2)
    return total


@njit
def hodgkin(g, current, steps):
    v, m, h, n = -65.0, 0.05, 0.6, 0.32
    total = 0.0
    for k in range(steps):
        am = 0.1 * (v + 40.0) / (1.0 - math.exp(-(v + 40.0) / 10.0))
        bm = 4.0 * math.exp(-(v + 65.0) / 18.0)
        ah = 0.07 * math.exp(-(v + 65.0) / 20.0)
        bh = 1.0 / (1.0 + math.exp(-(v + 35.0) / 10.0))
        an = 0.01 * (v + 55.0) / (1.0 - math.exp(-(v + 55.0) / 10.0))
        bn = 0.125 * math.exp(-(v + 65.0) / 80.0)
        m += 0.01 * (am * (1.0 - m) - bm * m)
        h += 0.01 * (ah * (1.0 - h) - bh * h)
        n += 0.01 * (an * (1.0 - n) - bn * n)
        i_na = g[0] * m ** 3 * h * (v - 50.0)
        i_k = g[1] * n ** 4 * (v + 77.0)
        i_l = g[2] * (v + 54.387)
        v += 0.01 * (current[k] - i_na - i_k - i_l)
        total += v * v
    return total / steps


@njit
def stencil(u0, k, steps):
    u = u0.copy()
    n, m = u.shape
    for _ in range(steps):
        v = u.copy()
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                lap = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j]
                v[i, j] = u[i, j] + k[i, j] * lap + 0.01 * u[i, j] * (1.0 - u[i, j])
        u = v
    return np.sum(u ** 2)


@njit
def kalman(y, f, h, q, r):
    n = f.shape[0]
    x = np.zeros(n)
    p = np.eye(n)
    total = 0.0
    for t in range(y.shape[0]):
        x = f @ x
        p = f @ p @ f.T + q
        e = y[t] - h @ x
        s = h @ p @ h.T + r
        k = np.linalg.solve(s, h @ p).T
        x = x + k @ e
        p = p - k @ h @ p
        total += 0.5 * (e @ np.linalg.solve(s, e)) + 0.5 * np.log(np.linalg.det(s))
    return total


@njit
def particles(x0, v0, charge, steps):
    x, v = x0.copy(), v0.copy()
    n = len(x)
    f = np.zeros_like(x)
    total = 0.0
    for _ in range(steps):
        f[:] = 0.0
        for i in range(n):
            for j in range(i):
                dx = x[i, 0] - x[j, 0]
                dy = x[i, 1] - x[j, 1]
                r2 = dx * dx + dy * dy + 0.01
                if r2 > 9.0:
                    continue
                w = charge[i] * charge[j] / (r2 * math.sqrt(r2))
                f[i, 0] += w * dx
                f[i, 1] += w * dy
                f[j, 0] -= w * dx
                f[j, 1] -= w * dy
        for i in range(n):
            for d in range(2):
                v[i, d] += 0.01 * f[i, d]
                x[i, d] += 0.01 * v[i, d]
                while x[i, d] > 3.0:
                    x[i, d] -= 6.0
                    total += 0.001 * v[i, d] ** 2
                if x[i, d] < -3.0:
                    x[i, d] = -6.0 - x[i, d]
                    v[i, d] = -v[i, d]
    for i in range(n):
        total += 0.5 * (v[i, 0] ** 2 + v[i, 1] ** 2)
    return total


@njit
def likelihood(r, omega, alpha, beta, mu):
    h = np.var(r)
    total = 0.0
    out = np.empty(len(r))
    for t in range(len(r)):
        e = r[t] - mu
        total += 0.5 * (math.log(2.0 * math.pi) + math.log(h) + e * e / h)
        out[t] = total
        h = omega + alpha * e * e + beta * h
    return out[-1] + np.mean(out)


@njit
def dozen(x, w):
    z = (x - np.mean(x)) / np.std(x)
    a = np.cumsum(z * w)
    b = np.where(a > 0.0, np.tanh(a), 0.1 * a)
    c = np.clip(b, -0.9, 0.9)
    d = np.diff(c)
    e = np.convolve(d, np.array([0.25, 0.5, 0.25]))
    f = np.sort(e)
    g = np.interp(np.linspace(0.0, 1.0, 8), np.linspace(-1.0, 1.0, len(f)), f)
    m = np.outer(g, g) + np.eye(len(g))
    i = np.linalg.solve(m, g)
    return np.sum(i * g) + np.median(f) + np.max(c) + np.prod(1.0 + 0.01 * g) + np.linalg.norm(z)


@njit
def mlp(x, w1, b1, w2, b2, y):
    total = 0.0
    for n in range(x.shape[0]):
        h = np.tanh(w1 @ x[n] + b1)
        o = w2 @ h + b2
        p = np.exp(o - np.max(o))
        p = p / np.sum(p)
        total -= np.log(p[y[n]])
    return total / x.shape[0]

def cases():
    d = np.random.default_rng(0)
    n = d.normal
    return {
        "euler": (euler, [np.array([1.1, 0.4, 0.1, 0.4]), 1000]),
        "rk4": (rk4, [np.array([1.0, 2.0, 3.0]), np.array([10.0, 28.0, 2.6]), 100, 0.01]),
        "rk4_many": (rk4_many, [n(size=50), n(size=50), 50, 0.05]),
        "hodgkin": (hodgkin, [np.array([120.0, 36.0, 0.3]), np.full(1000, 10.0), 1000]),
        "stencil": (stencil, [n(size=(40, 40)), 0.1 * d.uniform(size=(40, 40)), 20]),
        "kalman": (kalman, [n(size=(50, 2)), np.eye(4) + 0.05 * n(size=(4, 4)), n(size=(2, 4)),
                            0.1 * np.eye(4), 0.5 * np.eye(2)]),
        "particles": (particles, [d.uniform(-3, 3, (20, 2)), n(size=(20, 2)),
                                  d.uniform(0.5, 1, 20), 50]),
        "likelihood": (likelihood, [0.1 * n(size=1000), 0.001, 0.1, 0.8, 0.0]),
        "dozen": (dozen, [n(size=40), d.uniform(0.5, 1.0, 40)]),
        "mlp": (mlp, [n(size=(30, 5)), n(size=(8, 5)), n(size=8), n(size=(3, 8)), n(size=3),
                      d.integers(0, 3, 30)]),
    }  # fmt: skip


@njit
def squares(x, k):
    total = 0.0
    for i in range(len(x)):
        total += k * x[i] ** 2
    return total


def called(function, given):
    """Return the seconds that a value and a gradient take."""
    floats = tuple(n for n, part in enumerate(given) if np.asarray(part).dtype.kind == "f")
    start = time.process_time()
    function(*given)
    ng.func.value_and_grad(function, argnums=floats)(*given)
    return time.process_time() - start


def one(name):
    """Call a function in this process, after the sum of squares."""
    called(squares, [np.ones(3), 1.0])
    print(called(*cases()[name]) if name in cases() else 0.0)


def in_process(name, folder):
    """Return what `one` prints in a process of its own with a cache in a folder."""
    environment = {**os.environ, "NUMGRAD_CACHE_DIR": folder}
    command = [sys.executable, __file__, name]
    found = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return float(found.stdout)


def table():
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        empty, known = f"{folder}/empty", f"{folder}/known"
        in_process("none", empty)
        first = {}
        for name in cases():
            own = shutil.copytree(empty, f"{folder}/{name}")
            first[name] = in_process(name, own)
        for name in cases():
            shutil.copytree(empty, known)
            for other in cases():
                if other != name:
                    shutil.copytree(f"{folder}/{other}", known, dirs_exist_ok=True)
            times = [first[name], in_process(name, known), in_process(name, known)]
            print(f"| {name} | " + " | ".join(f"{t:.2f}" for t in times) + " |", flush=True)
            shutil.rmtree(known)


if __name__ == "__main__":
    one(sys.argv[1]) if sys.argv[1:] else table()
