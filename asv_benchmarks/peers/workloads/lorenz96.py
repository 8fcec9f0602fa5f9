"""W2: Jacobian of the flow of Lorenz (1996), ``x_i' = (x_{i+1} - x_{i-2}) x_{i-1} - x_i + F``.

Ten Runge-Kutta steps of 512 variables on a ring; 512 cotangents, the rows of the identity.
"""

from typing import Any

import numpy as np
from numba import prange, uint64

from ..limit import kernel, parallel
from ..task import RECORDED, Array, Call, Task, Workload

DT = 0.01
FORCING = 8.0
STEPS = 10
HALO = uint64(8)  # a cache line of doubles, so that rows stay aligned


def slope(xp: Any, x: Any) -> Any:
    return (xp.roll(x, -1) - xp.roll(x, 2)) * xp.roll(x, 1) - x + FORCING


def step(xp: Any, x: Any) -> Any:
    """One classical Runge-Kutta step."""
    k1 = slope(xp, x)
    k2 = slope(xp, x + 0.5 * DT * k1)
    k3 = slope(xp, x + 0.5 * DT * k2)
    k4 = slope(xp, x + DT * k3)
    return x + DT / 6.0 * (k1 + 2.0 * (k2 + k3) + k4)


def flow(xp: Any, x: Any) -> Any:
    """The state after all steps."""
    for _ in range(STEPS):
        x = step(xp, x)
    return x


def task(quick: bool) -> Task:
    size = 32 if quick else 512
    start = FORCING + 0.01 * np.sin(np.arange(size))
    return Task(flow, (start,), cotangents=np.eye(size))


@kernel
def stage_states(x, states, n, steps):
    """Run forward; the state of every stage is kept, 4 * steps rows of n."""
    k = np.empty(n)
    total = np.empty(n)
    row = uint64(0)
    states[:n] = x
    for _ in range(steps):
        base = row
        for stage in range(4):
            here = states[row * n : row * n + n]
            for j in range(2, n - 1):
                k[j] = (here[j + 1] - here[j - 2]) * here[j - 1] - here[j] + FORCING
            for j in (0, 1, n - 1):
                k[j] = (here[(j + 1) % n] - here[j - 2]) * here[j - 1] - here[j] + FORCING
            weight = DT / 6.0 if stage in (0, 3) else DT / 3.0
            reach = 0.5 * DT if stage < 2 else DT
            row += uint64(1)
            start, after = states[base * n : base * n + n], states[row * n : row * n + n]
            for j in range(n):
                total[j] = (start[j] if stage == 0 else total[j]) + weight * k[j]
                after[j] = total[j] if stage == 3 else start[j] + reach * k[j]


@kernel
def neighbours(states, c, n, count):
    """What multiplies a cotangent one before, two after and one after, for every stage."""
    for s in range(count):
        x = states[s * n : s * n + n]
        for j in range(n):
            c[(3 * s) * n + j] = x[j - 2]
            c[(3 * s + 1) * n + j] = x[(j + 1) % n]
            c[(3 * s + 2) * n + j] = x[(j + 2) % n] - x[j - 1]


@kernel
def close_ring(g, n):
    """Copy the ends of two padded rows into their halos."""
    for row in range(2):
        a = HALO + uint64(row) * (n + HALO + HALO)
        g[a - uint64(1)] = g[a + n - uint64(1)]
        g[a + n] = g[a]
        g[a + n + uint64(1)] = g[a + uint64(1)]


@kernel
def first_stage(c, at, g, carried, total, h, n, weight, reach):
    """Two rows through the transposed Jacobian of a slope; starts the sum of the step."""
    for j in range(n):
        r = uint64(j)
        before, after2, after = c[at + r], c[at + n + r], c[at + n + n + r]
        p = r + HALO
        v = g[p - uint64(1)] * before - g[p + uint64(2)] * after2 + g[p + uint64(1)] * after - g[p]
        total[r] = carried[r] + v
        h[p] = weight * carried[r] + reach * v
        p, r = p + n + HALO + HALO, r + n
        v = g[p - uint64(1)] * before - g[p + uint64(2)] * after2 + g[p + uint64(1)] * after - g[p]
        total[r] = carried[r] + v
        h[p] = weight * carried[r] + reach * v


@kernel
def middle_stage(c, at, g, carried, total, h, n, weight, reach):
    """The same, added to the sum of the step."""
    for j in range(n):
        r = uint64(j)
        before, after2, after = c[at + r], c[at + n + r], c[at + n + n + r]
        p = r + HALO
        v = g[p - uint64(1)] * before - g[p + uint64(2)] * after2 + g[p + uint64(1)] * after - g[p]
        total[r] += v
        h[p] = weight * carried[r] + reach * v
        p, r = p + n + HALO + HALO, r + n
        v = g[p - uint64(1)] * before - g[p + uint64(2)] * after2 + g[p + uint64(1)] * after - g[p]
        total[r] += v
        h[p] = weight * carried[r] + reach * v


@kernel
def last_stage(c, at, g, carried, total, h, n, weight):
    """The same, which ends the step: the sum is what the step before starts from."""
    for j in range(n):
        r = uint64(j)
        before, after2, after = c[at + r], c[at + n + r], c[at + n + n + r]
        p = r + HALO
        v = g[p - uint64(1)] * before - g[p + uint64(2)] * after2 + g[p + uint64(1)] * after - g[p]
        carried[r] = total[r] + v
        h[p] = weight * carried[r]
        p, r = p + n + HALO + HALO, r + n
        v = g[p - uint64(1)] * before - g[p + uint64(2)] * after2 + g[p + uint64(1)] * after - g[p]
        carried[r] = total[r] + v
        h[p] = weight * carried[r]


@kernel
def two_rows(c, carried, g, h, total, n, steps):
    """Two cotangents through all steps, last step first."""
    width = uint64(3) * n
    at = uint64(4 * steps) * width
    for j in range(n):
        g[HALO + uint64(j)] = DT / 6.0 * carried[uint64(j)]
        g[HALO + HALO + HALO + n + uint64(j)] = DT / 6.0 * carried[n + uint64(j)]
    for _ in range(steps):
        at -= width
        close_ring(g, n)
        first_stage(c, at, g, carried, total, h, n, DT / 3.0, DT)
        at -= width
        close_ring(h, n)
        middle_stage(c, at, h, carried, total, g, n, DT / 3.0, 0.5 * DT)
        at -= width
        close_ring(g, n)
        middle_stage(c, at, g, carried, total, h, n, DT / 6.0, 0.5 * DT)
        at -= width
        close_ring(h, n)
        last_stage(c, at, h, carried, total, g, n, DT / 6.0)


@parallel
def all_rows(c, rows, out, steps, tile):
    m, n = rows.shape
    flat = out.reshape(-1)
    for t in prange((m + tile - 1) // tile):
        g, h, total = np.empty(2 * n + 32), np.empty(2 * n + 32), np.empty(2 * n)
        for r in range(t * tile, min(m, (t + 1) * tile), 2):
            out[r] = rows[r]
            out[r + 1] = rows[r + 1]
            two_rows(c, flat[r * n : (r + 2) * n], g, h, total, uint64(n), steps)


def jacobian(start: Array, rows: Array) -> tuple[Array, ...]:
    """The Jacobian; an even number of rows."""
    n = start.size
    states = np.empty((4 * STEPS + 1) * n)
    stage_states(start, states, n, STEPS)
    c = np.empty(12 * STEPS * n)
    neighbours(states, c, n, 4 * STEPS)
    out = np.empty_like(rows)
    all_rows(c, rows, out, STEPS, 16)
    return (out,)


def hand_written(task: Task) -> Call:
    return lambda: jacobian(task.arguments[0], task.cotangents)


def jax_scan(task: Task) -> Call:
    """The steps as lax.scan, so that XLA sees one."""
    from dataclasses import replace

    from jax import lax

    from ..systems.jax import jitted

    def scanned(xp: Any, x: Any) -> Any:
        return lax.scan(lambda x, _: (step(xp, x), None), x, None, length=STEPS)[0]

    return jitted(replace(task, function=scanned))


WORKLOAD = Workload(
    key="W2",
    title="Lorenz-96, 512 variables, 10 Runge-Kutta steps, 512 cotangents",
    task=task,
    hand_written=hand_written,
    systems=(*RECORDED, "jax jacfwd"),
    own={"jax scan": jax_scan},
)
