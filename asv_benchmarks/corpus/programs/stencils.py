"""Neighbours on a grid: slices, concatenate, pad, roll, gathers, writes, for the same stencil."""

from typing import Any

import numpy as np

from ..program import JACOBIAN, Family

STEPS = 50


def rod(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return rng.uniform(0.1, 0.2, n + 1), np.sin(np.linspace(0, 3, n))


heat = Family("heat equation, 50 steps", size=1000, tiny=6, inputs=rod)


def simulated(advance: Any) -> Any:
    """Return the text of a misfit after all steps of ``advance(np, u, k)``."""

    def text(np: Any, k: Any, start: Any) -> Any:
        last = np.iterate(lambda u: advance(np, u, k), start, STEPS)
        return ((last - 0.5) ** 2).sum()

    return text


def divergence_of_fluxes(np: Any, u: Any, k: Any) -> Any:
    none = np.zeros(1)
    padded = np.concatenate([none, u, none])
    flux = k * (padded[1:] - padded[:-1])
    return u + flux[1:] - flux[:-1]


def three_slices_joined(np: Any, u: Any, k: Any) -> Any:
    q = k[1:-1] * (u[1:] - u[:-1])
    first, last = q[:1] - k[:1] * u[:1], -q[-1:] - k[-1:] * u[-1:]
    return u + np.concatenate([first, q[1:] - q[:-1], last])


def padded(np: Any, u: Any, k: Any) -> Any:
    p = np.pad(u, 1)
    return u + k[1:] * (p[2:] - u) - k[:-1] * (u - p[:-2])


def rolled_and_masked(np: Any, u: Any, k: Any) -> Any:
    inner = np.arange(len(u)) > 0
    before = np.where(inner, np.roll(u, 1), 0.0)
    after = np.where(np.flip(inner, (0,)), np.roll(u, -1), 0.0)
    return u + k[1:] * (after - u) - k[:-1] * (u - before)


def diff_twice(np: Any, u: Any, k: Any) -> Any:
    return u + np.diff(k * np.diff(np.pad(u, 1)))


def written_into_zeros(np: Any, u: Any, k: Any) -> Any:
    p = np.put(np.zeros(len(u) + 2), slice(1, -1), u)
    return u + k[1:] * (p[2:] - u) - k[:-1] * (u - p[:-2])


def added_in_place(np: Any, u: Any, k: Any) -> Any:
    v = u * (1.0 - k[1:] - k[:-1])
    v = np.accumulate(v, slice(None, -1), k[1:-1] * u[1:])
    return np.accumulate(v, slice(1, None), k[1:-1] * u[:-1])


def gathered(np: Any, u: Any, k: Any) -> Any:
    i = np.arange(len(u) + 1)
    padded = np.concatenate([u, np.zeros(1)])
    flux = k * (padded[i] - padded[i - 1])
    return u + flux[1:] - flux[:-1]


def fluxes_between_walls(np: Any, u: Any, k: Any) -> Any:
    flux = k[1:-1] * (u[1:] - u[:-1])
    v = np.accumulate(u * 1.0, slice(None, -1), flux)
    v = np.accumulate(v, slice(1, None), -flux)
    v = np.accumulate(v, slice(None, 1), -k[:1] * u[:1])
    return np.accumulate(v, slice(-1, None), -k[-1:] * u[-1:])


for advance in (
    divergence_of_fluxes, three_slices_joined, padded, rolled_and_masked, diff_twice,
    written_into_zeros, added_in_place, gathered, fluxes_between_walls,
):  # fmt: skip
    heat.add(advance.__name__.replace("_", " "), simulated(advance))

wave = Family(
    "a wave between walls, 100 steps", size=1000, tiny=6,
    inputs=lambda rng, n: (rng.uniform(0.1, 0.5, n), np.sin(np.linspace(0, 3, n))),
)  # fmt: skip


def alternated(advance: Any) -> Any:
    """Return the text of a misfit after all steps of two fields, each by differences of the other;
    ``advance(np, e, change)`` adds a change to what is between the walls."""

    def text(np: Any, k: Any, start: Any) -> Any:
        def step(state: Any) -> Any:
            e, h = state
            h = h + 0.5 * (e[1:] - e[:-1])
            return advance(np, e, k[1:-1] * (h[1:] - h[:-1])), h

        last, _ = np.iterate(step, (start, np.zeros(len(start) - 1)), 100)
        return ((last - 0.5) ** 2).sum()

    return text


def walls_joined(np: Any, e: Any, change: Any) -> Any:
    return np.concatenate([e[:1], e[1:-1] + change, e[-1:]])


def walls_padded(np: Any, e: Any, change: Any) -> Any:
    return e + np.pad(change, 1)


def walls_untouched(np: Any, e: Any, change: Any) -> Any:
    return np.accumulate(np.copy(e), slice(1, -1), change)


for advance in (walls_joined, walls_padded, walls_untouched):
    wave.add(advance.__name__.replace("_", " "), alternated(advance))

ring = Family(
    "a ring of Lorenz (1996), Jacobian of 2 steps", size=256, tiny=6, derivative=JACOBIAN, rows=256,
    inputs=lambda rng, n: (8.0 + rng.uniform(0, 0.1, n),),
)  # fmt: skip


def around(slope: Any) -> Any:
    """Return the text of two steps of Heun's rule."""

    def text(np: Any, x: Any) -> Any:
        for _ in range(2):
            k = slope(np, x)
            x = x + 0.005 * (k + slope(np, x + 0.01 * k))
        return x

    return text


def ring_rolled(np: Any, x: Any) -> Any:
    return (np.roll(x, -1) - np.roll(x, 2)) * np.roll(x, 1) - x + 8.0


def ring_joined(np: Any, x: Any) -> Any:
    after = np.concatenate([x[1:], x[:1]])
    before, before2 = np.concatenate([x[-1:], x[:-1]]), np.concatenate([x[-2:], x[:-2]])
    return (after - before2) * before - x + 8.0


def ring_extended(np: Any, x: Any) -> Any:
    e = np.concatenate([x[-2:], x, x[:1]])
    return (e[3:] - e[:-3]) * e[1:-2] - x + 8.0


def ring_gathered(np: Any, x: Any) -> Any:
    i = np.arange(len(x))
    return (x[(i + 1) % len(x)] - x[i - 2]) * x[i - 1] - x + 8.0


def ring_wrapped(np: Any, x: Any) -> Any:
    e = np.pad(x, (2, 1), mode="wrap")
    return (e[3:] - e[:-3]) * e[1:-2] - x + 8.0


for slope in (ring_rolled, ring_joined, ring_extended, ring_gathered, ring_wrapped):
    ring.add(slope.__name__.removeprefix("ring_"), around(slope))

plane = Family(
    "diffusion in a square, 10 steps", size=64, tiny=4,
    inputs=lambda rng, n: (rng.standard_normal((n, n)), rng.standard_normal((n, n))),
)  # fmt: skip


def spread(laplacian: Any) -> Any:
    def text(np: Any, u: Any, w: Any) -> Any:
        last = np.iterate(lambda u: u + 0.1 * np.tanh(u) * laplacian(np, u), u, 10)
        return (last * w).sum()

    return text


def plane_rolled(np: Any, u: Any) -> Any:
    across = np.roll(u, 1, axis=1) + np.roll(u, -1, axis=1)
    return np.roll(u, 1, axis=0) + np.roll(u, -1, axis=0) + across - 4 * u


def plane_joined(np: Any, u: Any) -> Any:
    down = np.concatenate([u[1:], u[:1]]) + np.concatenate([u[-1:], u[:-1]])
    right = np.concatenate([u[:, 1:], u[:, :1]], axis=1)
    return down + right + np.concatenate([u[:, -1:], u[:, :-1]], axis=1) - 4 * u


def plane_extended(np: Any, u: Any) -> Any:
    e = np.concatenate([u[-1:], u, u[:1]])
    e = np.concatenate([e[:, -1:], e, e[:, :1]], axis=1)
    return e[2:, 1:-1] + e[:-2, 1:-1] + e[1:-1, 2:] + e[1:-1, :-2] - 4 * u


def plane_gathered(np: Any, u: Any) -> Any:
    before = np.arange(len(u)) - 1
    after = (before + 2) % len(u)
    return u[after] + u[before] + u[:, after] + u[:, before] - 4 * u


for laplacian in (plane_rolled, plane_joined, plane_extended, plane_gathered):
    plane.add(laplacian.__name__.removeprefix("plane_"), spread(laplacian))

flow = Family(
    "Burgers' equation, 32 cotangents of a residual", size=64, tiny=4, derivative=JACOBIAN, rows=32,
    inputs=lambda rng, n: (rng.standard_normal((2, n, n)), rng.standard_normal((2, n, n))),
)  # fmt: skip


def transported(neighbours: Any) -> Any:
    """Return the residual of an implicit step, by a function that returns the four neighbours."""

    def text(np: Any, u: Any, before: Any) -> Any:
        north, south, west, east = neighbours(np, u)
        advected = u[0] * (south - north) + u[1] * (east - west)
        return u - before + 0.05 * advected - 0.02 * (north + south + west + east - 4 * u)

    return text


def flow_rolled(np: Any, u: Any) -> list[Any]:
    return [np.roll(u, shift, axis=axis) for axis in (1, 2) for shift in (1, -1)]


def flow_joined(np: Any, u: Any) -> list[Any]:
    north = np.concatenate([u[:, -1:], u[:, :-1]], axis=1)
    west = np.concatenate([u[:, :, -1:], u[:, :, :-1]], axis=2)
    south = np.concatenate([u[:, 1:], u[:, :1]], axis=1)
    return [north, south, west, np.concatenate([u[:, :, 1:], u[:, :, :1]], axis=2)]


def flow_extended(np: Any, u: Any) -> list[Any]:
    e = np.concatenate([u[:, -1:], u, u[:, :1]], axis=1)
    e = np.concatenate([e[:, :, -1:], e, e[:, :, :1]], axis=2)
    return [e[:, :-2, 1:-1], e[:, 2:, 1:-1], e[:, 1:-1, :-2], e[:, 1:-1, 2:]]


for neighbours in (flow_rolled, flow_joined, flow_extended):
    flow.add(neighbours.__name__.removeprefix("flow_"), transported(neighbours))

smooth = Family(
    "a moving average of five", size=10**5, tiny=9,
    inputs=lambda rng, n: (rng.standard_normal(n), rng.standard_normal(n - 4)),
)  # fmt: skip


@smooth.program
def a_sum_of_slices(np, x, y):
    total = x[:-4] + x[1:-3] + x[2:-2] + x[3:-1] + x[4:]
    return ((total / 5.0 - y) ** 2).sum()


@smooth.program
def a_loop_over_offsets(np, x, y):
    n = len(x) - 4
    total = 0.0
    for i in range(5):
        total = total + 0.2 * x[i : i + n]
    return ((total - y) ** 2).sum()


@smooth.program
def stacked_and_averaged(np, x, y):
    n = len(x) - 4
    return ((np.stack([x[i : i + n] for i in range(5)]).mean(0) - y) ** 2).sum()


@smooth.program
def differences_of_a_cumulative_sum(np, x, y):
    total = np.concatenate([np.zeros(1), np.cumsum(x, axis=0)])
    return (((total[5:] - total[:-5]) / 5.0 - y) ** 2).sum()


cube = Family(
    "diffusion in a cube, 8 steps", size=18, tiny=4,
    inputs=lambda rng, n: (rng.standard_normal((n, n, n)),),
)  # fmt: skip


@cube.program(siblings=False)  # around the ends
def rolled(np, u):
    def step(u: Any) -> Any:
        near = sum(np.roll(u, shift, axis=axis) for axis in range(3) for shift in (1, -1))
        return u + 0.1 * (near - 6.0 * u)

    return (np.iterate(step, u, 8) ** 4).sum()


@cube.program(siblings=False)
def the_inside_written_into_zeros(np, u):
    def step(u: Any) -> Any:
        c = u[1:-1, 1:-1, 1:-1]
        x, y = u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1], u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1]
        c = c + 0.1 * (x + y + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2] - 6.0 * c)
        return np.put(np.zeros(u.shape), (slice(1, -1),) * 3, c)

    return (np.iterate(step, u, 8) ** 4).sum()


FAMILIES = [heat, wave, ring, plane, flow, smooth, cube]
