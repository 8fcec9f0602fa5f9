"""W3: residual of an implicit step of the two-dimensional Burgers equations, 256 cotangents.

Velocities ``w = (u, v)`` on a periodic 64 x 64 grid: ``r = w - w_old + dt (u d_x w + v d_y w - nu
lap w)`` with central differences, as a Newton-Krylov solver or an implicit adjoint needs it.
"""

from typing import Any

import numpy as np
from numba import prange, uint64

from ..limit import kernel, parallel
from ..task import RECORDED, Array, Call, Task, Workload

DT = 0.01
VISCOSITY = 0.01
SPACING = 1.0 / 64
ADVECTION = DT / (2.0 * SPACING)
DIFFUSION = DT * VISCOSITY / SPACING**2


def transported(xp: Any, w: Any, u: Any, v: Any) -> Any:
    """``dt (u d_x w + v d_y w - nu lap w)`` by rolls."""
    east, west = xp.roll(w, -1, 1), xp.roll(w, 1, 1)
    north, south = xp.roll(w, -1, 0), xp.roll(w, 1, 0)
    advected = ADVECTION * (u * (east - west) + v * (north - south))
    return advected - DIFFUSION * (east + west + north + south - 4.0 * w)


def residual(xp: Any, state: Any, old: Any) -> Any:
    u, v = state[0], state[1]
    change = xp.stack([transported(xp, u, u, v), transported(xp, v, u, v)])
    return state - old + change


def task(quick: bool) -> Task:
    side, rows = (16, 8) if quick else (64, 256)
    return sized(side, rows)


def sized(side: int, rows: int) -> Task:
    """The task on a grid of that side, with that many random cotangents."""
    rng = np.random.default_rng(3)
    y, x = np.meshgrid(*[np.linspace(0.0, 2.0 * np.pi, side, endpoint=False)] * 2, indexing="ij")
    old = np.stack([np.sin(x) * np.cos(y), 0.5 + np.cos(x + y)])
    state = old + 0.05 * rng.standard_normal(old.shape)
    return Task(residual, (state, old), cotangents=rng.standard_normal((rows, *old.shape)))


def coefficients(state: Array) -> Array:
    """What multiplies the cotangents here and around in the product with the transpose."""
    u, v = state
    a, d = ADVECTION, DIFFUSION

    def differences(w: Array) -> tuple[Array, Array]:
        return (
            a * (np.roll(w, -1, 1) - np.roll(w, 1, 1)),
            a * (np.roll(w, -1, 0) - np.roll(w, 1, 0)),
        )

    (ux, uy), (vx, vy) = differences(u), differences(v)
    west, east = a * np.roll(u, 1, 1) - d, -a * np.roll(u, -1, 1) - d
    south, north = a * np.roll(v, 1, 0) - d, -a * np.roll(v, -1, 0) - d
    centre = 1.0 + 4.0 * d
    return np.stack([centre + ux, vx, centre + vy, uy, west, east, south, north])


@kernel
def line(c, g, out, size, side, i):
    """One line of the grid for both velocities; neighbours along it stay inside."""
    here = uint64(i) * side
    south = here - side if i > 0 else size - side
    north = here + side if uint64(i) + uint64(1) < side else uint64(0)
    for k in range(side - uint64(2)):
        j = uint64(k) + uint64(1)
        p = here + j
        gu, gv = g[p], g[size + p]
        w, e = c[uint64(4) * size + p], c[uint64(5) * size + p]
        s, t = c[uint64(6) * size + p], c[uint64(7) * size + p]
        around = w * g[p - uint64(1)] + e * g[p + uint64(1)]
        around += s * g[south + j] + t * g[north + j]
        out[p] = c[p] * gu + c[size + p] * gv + around
        around = w * g[size + p - uint64(1)] + e * g[size + p + uint64(1)]
        around += s * g[size + south + j] + t * g[size + north + j]
        out[size + p] = c[uint64(2) * size + p] * gv + c[uint64(3) * size + p] * gu + around
    end(c, g, out, size, side, here, south, north, uint64(0))
    end(c, g, out, size, side, here, south, north, side - uint64(1))


@kernel
def end(c, g, out, size, side, here, south, north, j):
    """A cell at an end of a line, whose neighbour is at the other end."""
    west = here + (j if j > 0 else side) - uint64(1)
    east = here + (j + uint64(1) if j + uint64(1) < side else uint64(0))
    p = here + j
    for q in range(2):
        o = uint64(q) * size
        around = c[uint64(4) * size + p] * g[o + west] + c[uint64(5) * size + p] * g[o + east]
        around += c[uint64(6) * size + p] * g[o + south + j]
        around += c[uint64(7) * size + p] * g[o + north + j]
        own, other = c[uint64(2) * o + p], c[uint64(2) * o + size + p]
        out[o + p] = own * g[o + p] + other * g[size - o + p] + around


@parallel
def all_rows(c, rows, out, side):
    m, n = rows.shape
    flat, cells = c.reshape(-1), uint64(n // 2)
    for r in prange(m):
        for i in range(side):
            line(flat, rows[r], out[r], cells, uint64(side), i)


def hand_written(task: Task) -> Call:
    def call() -> tuple[Array, ...]:
        state, rows = task.arguments[0], task.cotangents
        assert rows is not None
        out = np.empty_like(rows)
        flat = (len(rows), state.size)
        all_rows(coefficients(state), rows.reshape(flat), out.reshape(flat), state.shape[1])
        return (out,)

    return call


WORKLOAD = Workload(
    key="W3",
    title="Burgers, implicit residual on 64 x 64 x 2, 256 cotangents",
    task=task,
    hand_written=hand_written,
    systems=RECORDED,
)
