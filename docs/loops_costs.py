"""What loops take, by the ways to write them: the figures of `loops.md`.

PYTHONPATH=. python docs/loops_costs.py
PYTHONPATH=. python docs/loops_costs.py long
PYTHONPATH=. python docs/loops_costs.py stored
PYTHONPATH=. python docs/loops_costs.py steps
"""

import sys
import tempfile
import time
import timeit
import tracemalloc

import numpy as np

import numgrad as ng

DT, COUNT = 0.01, 2000
START = np.array([1.0, 1.0, 1.0])
CELLS = np.sin(np.arange(1000.0))


def slope(x, y, z):
    return 10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z


def ahead(u, k, h):
    return tuple([a + h * b for a, b in zip(u, k, strict=True)])


def lorenz(u, _=None):
    """Return a step of Runge and Kutta for Lorenz's equations."""
    a = slope(*u)
    b = slope(*ahead(u, a, DT / 2))
    c = slope(*ahead(u, b, DT / 2))
    d = slope(*ahead(u, c, DT))
    return tuple(
        [x + DT / 6 * (p + 2 * q + 2 * r + s) for x, p, q, r, s in zip(u, a, b, c, d, strict=True)]
    ), None


def heat(u, _=None):
    """Return an explicit step of the heat equation on a ring."""
    return u + 0.1 * (ng.roll(u, 1) - 2 * u + ng.roll(u, -1)), None


def repeated(step, u, count):
    """Return what a loop of Python computes."""
    for _ in range(count):
        u, _ = step(u)
    return u


def total(u):
    return sum(u) if isinstance(u, tuple) else (u * u).sum()


@ng.njit
def lorenz_kernel(x, y, z, count):
    for _ in range(count):
        ax, ay, az = 10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z
        u, v, w = x + 0.005 * ax, y + 0.005 * ay, z + 0.005 * az
        bx, by, bz = 10 * (v - u), u * (28 - w) - v, u * v - 8 / 3 * w
        u, v, w = x + 0.005 * bx, y + 0.005 * by, z + 0.005 * bz
        cx, cy, cz = 10 * (v - u), u * (28 - w) - v, u * v - 8 / 3 * w
        u, v, w = x + 0.01 * cx, y + 0.01 * cy, z + 0.01 * cz
        dx, dy, dz = 10 * (v - u), u * (28 - w) - v, u * v - 8 / 3 * w
        x += 0.01 / 6 * (ax + 2 * bx + 2 * cx + dx)
        y += 0.01 / 6 * (ay + 2 * by + 2 * cy + dy)
        z += 0.01 / 6 * (az + 2 * bz + 2 * cz + dz)
    return x + y + z


@ng.njit
def heat_kernel(u, count):
    n = len(u)
    for _ in range(count):
        v = np.empty_like(u)
        for i in range(n):
            v[i] = u[i] + 0.1 * (u[i - 1] - 2 * u[i] + u[(i + 1) % n])
        u = v
    return (u * u).sum()


def ways(step, kernel, split, count):
    """Return the functions of a start, by the ways to write the loop."""
    return {
        "loop of Python": lambda u: total(repeated(step, split(u), count)),
        "loop of Python, `ng.jit`": ng.jit(lambda u: total(repeated(step, split(u), count))),
        "`ng.scan`": lambda u: total(ng.scan(step, split(u), length=count)[0]),
        "`ng.scan`, `ng.jit`": ng.jit(lambda u: total(ng.scan(step, split(u), length=count)[0])),
        "`ng.njit`": kernel,
    }


def table(name, start, count, functions):
    """Print what a step takes, value and gradient, and what the first call takes."""
    for way, f in functions.items():
        gradient = ng.func.value_and_grad(f)
        if "jit`" in way and "njit" not in way:
            gradient = ng.jit(gradient)
        begun = time.process_time()
        gradient(start)
        first = time.process_time() - begun
        for _ in range(5000 if "scan`, `ng.jit" in way else 20 if "scan" in way else 2):
            gradient(start)
        tracemalloc.start()
        gradient(start)
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        best = min(timeit.repeat(lambda g=gradient: g(start), timer=time.process_time, number=3,
                                 repeat=7)) / 3  # fmt: skip
        print(f"| {name} | {way} | {best / count * 1e6:.3f} | {first:.2f} | {peak:.1f} |")


def long():
    """Print what 20 000 steps of 1 000 cells take within 64 MiB."""
    ng.set_flags(loop_memory=64)

    def loss(u):
        return total(ng.scan(lambda u, _: (heat(u)[0] + 0.01 * ng.sin(u), None), u,
                             length=20_000)[0])  # fmt: skip

    value, gradient = ng.jit(loss), ng.jit(ng.func.grad(loss))
    for f in (value, gradient):
        f(CELLS)
        begun = time.process_time()
        f(CELLS)
        print(f"{time.process_time() - begun:.2f} s")
    tracemalloc.start()
    gradient(CELLS)
    print(f"{tracemalloc.get_traced_memory()[1] / 2**20:.1f} MiB")


def stored():
    """Print what a gradient takes within 64 MiB, and with all states in a file."""
    ng.set_flags(loop_memory=64)
    matrix = np.eye(1000) + 0.01 * np.sin(np.arange(1e6).reshape(1000, 1000))

    def product(u, _):
        return ng.sin(matrix @ u), None

    for name, step, length in (("heat", heat, 400_000), ("product", product, 20_000)):
        for options in ({}, {"storage": tempfile.gettempdir()}):
            gradient = ng.func.grad(
                lambda u, s=step, n=length, o=options: total(ng.scan(s, u, length=n, **o)[0])
            )
            begun = time.perf_counter()
            gradient(CELLS)
            print(f"{name}, {length} steps, {options}: {time.perf_counter() - begun:.1f} s")


def steps():
    """Print what captured loops of `ng.scan` take, value and gradient, by their number of steps."""
    ways = {
        "heat, 1 000 cells": (heat, CELLS),
        "heat, 200 cells": (heat, CELLS[:200]),
        "300 sines": (lambda u, _: (u + 0.01 * ng.sin(u) * (1 - u), None), CELLS[:300]),
    }
    for name, (step, start) in ways.items():
        for length in (10, 20, 200, 400, 800):
            f = lambda u, s=step, n=length: total(ng.scan(s, u, length=n)[0])  # noqa: E731
            gradient = ng.jit(ng.func.value_and_grad(f), fuse="now")
            for _ in range(50):
                gradient(start)
            timed = timeit.repeat(
                lambda g=gradient, u=start: g(u), timer=time.process_time, number=1, repeat=300
            )
            print(f"{name}, {length} steps: {min(timed) * 1e6:.0f} us", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["long"]:
        long()
    elif sys.argv[1:] == ["steps"]:
        steps()
    elif sys.argv[1:] == ["stored"]:
        stored()
    else:
        split = lambda u: (u[0], u[1], u[2])  # noqa: E731
        of_lorenz = ways(lorenz, lambda u: lorenz_kernel(u[0], u[1], u[2], COUNT), split, COUNT)
        table("Lorenz, 2 000 steps", START, COUNT, of_lorenz)
        of_heat = ways(heat, lambda u: heat_kernel(u, 200), lambda u: u, 200)
        table("heat, 1 000 cells, 200 steps", CELLS, 200, of_heat)
