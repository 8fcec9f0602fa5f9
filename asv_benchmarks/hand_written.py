"""Adjoints of loops that are written by hand, beside those that are derived, and gradients in JAX.

PYTHONPATH=. python -m asv_benchmarks.hand_written
"""

import math
import time

import numpy as np
from numba import njit

import numgrad as ng
from numgrad._adjoint import derive, type_of
from numgrad._adjoint.kernel import run
from tests.adjoint.kernels import CASES, arguments

SIZES = {"nbody": 400, "heat": 1000, "bundle": 2000, "lstm": 1000}


@njit(error_model="numpy")
def nbody(p, m, gp, gm):
    n = p.shape[0]
    for i in range(n):
        gx = gy = gz = gmass = 0.0
        for j in range(i + 1, n):
            dx, dy, dz = p[i, 0] - p[j, 0], p[i, 1] - p[j, 1], p[i, 2] - p[j, 2]
            r2 = dx * dx + dy * dy + dz * dz + 1e-3
            near = 1.0 / math.sqrt(r2)
            gmass -= m[j] * near
            gm[j] -= m[i] * near
            c = m[i] * m[j] * near / r2
            gx += c * dx
            gy += c * dy
            gz += c * dz
            gp[j, 0] -= c * dx
            gp[j, 1] -= c * dy
            gp[j, 2] -= c * dz
        gp[i, 0] += gx
        gp[i, 1] += gy
        gp[i, 2] += gz
        gm[i] += gmass


@njit(error_model="numpy")
def heat(u0, k, steps, gu0, states):
    n = len(u0)
    states[0], states[1] = u0, u0
    for s in range(steps):
        u, v = states[s], states[s + 1]
        v[0], v[n - 1] = u0[0], u0[n - 1]
        for i in range(1, n - 1):
            v[i] = u[i] + k * (1.0 + u[i] * u[i]) * (u[i - 1] - 2.0 * u[i] + u[i + 1])
    g, h, flow = 2.0 * states[steps], np.zeros(n), np.zeros(n)
    gk = 0.0
    edges = np.zeros(2)
    for s in range(steps):
        u = states[max(steps - 1 - s, 0)]  # an index that may be negative keeps loops scalar
        edges[0] += g[0]
        edges[1] += g[n - 1]
        for i in range(1, n - 1):
            curve = u[i - 1] - 2.0 * u[i] + u[i + 1]
            flow[i] = g[i] * k * (1.0 + u[i] * u[i])
            h[i] = g[i] * (1.0 + 2.0 * k * u[i] * curve)
        for i in range(1, n - 1):
            gk += g[i] * (1.0 + u[i] * u[i]) * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        h[0], h[n - 1] = 0.0, 0.0
        edge_0, edge_1 = flow[1], flow[n - 2]
        for i in range(1, n - 1):
            g[i] = h[i] + flow[i - 1] - 2.0 * flow[i] + flow[i + 1]
        g[0], g[n - 1] = edge_0, edge_1
    gu0 += g
    gu0[0] += edges[0]
    gu0[n - 1] += edges[1]
    return gk


@njit(error_model="numpy")
def bundle(cams, points, ci, pi, feats, gcams, gpoints, gfeats):
    for k in range(len(ci)):
        cam, x, gcam, gx = cams[ci[k]], points[pi[k]], gcams[ci[k]], gpoints[pi[k]]
        r0, r1, r2 = cam[0], cam[1], cam[2]
        theta2 = r0 * r0 + r1 * r1 + r2 * r2
        theta = math.sqrt(theta2)
        inv = 1.0 / theta
        c, s = math.cos(theta), math.sin(theta)
        w0, w1, w2 = r0 * inv, r1 * inv, r2 * inv
        x0, x1, x2 = x[0], x[1], x[2]
        c0, c1, c2 = w1 * x2 - w2 * x1, w2 * x0 - w0 * x2, w0 * x1 - w1 * x0
        wx = w0 * x0 + w1 * x1 + w2 * x2
        t = wx * (1.0 - c)
        y0 = x0 * c + c0 * s + w0 * t + cam[3]
        y1 = x1 * c + c1 * s + w1 * t + cam[4]
        y2 = x2 * c + c2 * s + w2 * t + cam[5] + 5.0
        iz = 1.0 / y2
        u, v = y0 * iz, y1 * iz
        rr = u * u + v * v
        d = 1.0 + cam[7] * rr + cam[8] * rr * rr
        f = cam[6]
        eu, ev = f * d * u - feats[k, 0], f * d * v - feats[k, 1]
        gu_, gv_ = 2.0 * eu, 2.0 * ev
        gfeats[k, 0] -= gu_
        gfeats[k, 1] -= gv_
        gcam[6] += d * (gu_ * u + gv_ * v)
        gd = f * (gu_ * u + gv_ * v)
        gcam[7] += gd * rr
        gcam[8] += gd * rr * rr
        grr = gd * (cam[7] + 2.0 * cam[8] * rr)
        gu = gu_ * f * d + 2.0 * u * grr
        gv = gv_ * f * d + 2.0 * v * grr
        g0, g1 = gu * iz, gv * iz
        g2 = -(g0 * u + g1 * v)
        gcam[3] += g0
        gcam[4] += g1
        gcam[5] += g2
        gt = g0 * w0 + g1 * w1 + g2 * w2
        gwx = gt * (1.0 - c)
        gc = g0 * x0 + g1 * x1 + g2 * x2 - gt * wx
        gs = g0 * c0 + g1 * c1 + g2 * c2
        h0, h1, h2 = g0 * s, g1 * s, g2 * s
        gx[0] += g0 * c + w2 * h1 - w1 * h2 + gwx * w0
        gx[1] += g1 * c + w0 * h2 - w2 * h0 + gwx * w1
        gx[2] += g2 * c + w1 * h0 - w0 * h1 + gwx * w2
        gw0 = g0 * t + gwx * x0 + x1 * h2 - x2 * h1
        gw1 = g1 * t + gwx * x1 + x2 * h0 - x0 * h2
        gw2 = g2 * t + gwx * x2 + x0 * h1 - x1 * h0
        gtheta = c * gs - s * gc - inv * (gw0 * w0 + gw1 * w1 + gw2 * w2)
        gcam[0] += gw0 * inv + gtheta * w0
        gcam[1] += gw1 * inv + gtheta * w1
        gcam[2] += gw2 * inv + gtheta * w2


@njit
def sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x))


@njit(error_model="numpy")
def lstm(xs, w, b, h0, gxs, gw, gb, gh0, kept, sums):
    steps, m = xs.shape[0], h0.shape[0]
    h, c = h0.copy(), np.zeros(m)
    for t in range(steps):
        for i in range(m):
            f = sigmoid(xs[t, i] * w[0, i] + b[i])
            g = sigmoid(h[i] * w[1, i] + w[2, i])
            o = sigmoid(xs[t, i] * w[3, i] + w[4, i])
            a = math.tanh(h[i] * w[5, i] + w[6, i])
            row = kept[t, i]
            row[0], row[1], row[2], row[3], row[4], row[5] = h[i], c[i], f, g, o, a
            c[i] = c[i] * f + g * a
            row[6] = math.tanh(c[i])
            h[i] = o * row[6]
        z = 0.0
        for i in range(m):
            kept[t, i, 7] = math.exp(h[i] * w[7, i])
            z += kept[t, i, 7]
        sums[t] = z
    gh, gc = np.zeros(m), np.zeros(m)
    for t in range(steps - 1, -1, -1):
        share = -m / (2.0 + sums[t])
        for i in range(m):
            row = kept[t, i]
            h_old, c_old, f, g, o, a, tc, e = (
                row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7],
            )  # fmt: skip
            new, x = o * tc, xs[t, i]
            dh = gh[i] + x + share * e * w[7, i]
            gw[7, i] += share * e * new
            gx = new
            dc = gc[i] + dh * o * (1.0 - tc * tc)
            do = dh * tc * o * (1.0 - o)
            df = dc * c_old * f * (1.0 - f)
            dg = dc * a * g * (1.0 - g)
            da = dc * g * (1.0 - a * a)
            gc[i] = dc * f
            gh[i] = dg * w[1, i] + da * w[5, i]
            gw[0, i] += df * x
            gb[i] += df
            gw[1, i] += dg * h_old
            gw[2, i] += dg
            gw[3, i] += do * x
            gw[4, i] += do
            gw[5, i] += da * h_old
            gw[6, i] += da
            gxs[t, i] += gx + df * w[0, i] + do * w[3, i]
    gh0 += gh


def workspace(name, given):
    """Return what an adjoint by hand keeps values in."""
    if name == "heat":
        return [np.empty((given[2] + 1, len(given[0])))]
    if name == "lstm":
        return [np.empty((*given[0].shape, 8)), np.empty(len(given[0]))]
    return []


def best(call, seconds=0.02, repeats=9):
    """Return the least time of the processor that a call takes, in microseconds."""
    call()
    start = time.process_time()
    call()
    count = max(1, int(seconds / max(time.process_time() - start, 1e-6)))
    times = []
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(count):
            call()
        times.append((time.process_time() - start) / count)
    return min(times) * 1e6


def row(name, size):
    """Return a line of the table."""
    kernel, given = CASES[name][0], arguments(name, size)
    if name == "heat":
        given[2] = np.int64(200)
    derived = derive(kernel, [type_of(part) for part in given])
    own = {n: np.zeros_like(given[n]) for n in derived.shadows}
    shadows = {n: np.zeros_like(given[n]) for n in derived.shadows}
    extra, hand = workspace(name, given), globals()[name]
    hand(*given, *own.values(), *extra)
    run(derived, given, shadows, [1.0])
    for n, shadow in shadows.items():
        np.testing.assert_allclose(own[n], shadow, rtol=1e-7, atol=1e-9)
    primal = best(lambda: kernel(*given))
    written = best(lambda: hand(*given, *own.values(), *extra))
    found = best(lambda: run(derived, given, shadows, [1.0]))
    line = (
        f"| {name} | {size} | {primal:.0f} | {written:.0f} | {found:.0f} "
        f"| {found / primal:.1f} | {found / written:.2f} |"
    )
    return line + beside_jax(name, kernel, given)


def beside_jax(name, kernel, given):
    """Return the end of a line: the captured gradient, and that of JAX where it is installed."""
    floating = [n for n, part in enumerate(given) if np.asarray(part).dtype.kind == "f"]
    gradient = ng.jit(ng.func.grad(kernel, argnums=tuple(floating)))
    for _ in range(120):  # from the hundredth call on without Python
        found = gradient(*given)
    captured = best(lambda: gradient(*given))
    try:
        from . import written_in_jax
    except ImportError:
        return f" {captured:.0f} | | |"
    jax = written_in_jax.gradient(name, given)
    for one, other in zip(found, jax(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)
    peer = best(jax)
    return f" {captured:.0f} | {peer:.0f} | {captured / peer:.3f} |"


if __name__ == "__main__":
    print("| loops | size | value, us | by hand | derived | derived/value | derived/by hand "
          "| captured | JAX | captured/JAX |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|")
    for each, length in SIZES.items():
        print(row(each, length), flush=True)
