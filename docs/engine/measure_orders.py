"""Nanoseconds that fused gradients take for a vector of eight float64, on one thread, with one, two
and four vectors at once, in the order of numgrad and in that of LLVM's scheduler.

Each way is compiled in a process of its own; the figure is the difference of two lengths, so that
calls do not count: ``python docs/engine/measure_orders.py [rounds]``.
"""

import os
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

LENGTHS = 2048, 8192


def chebyshev(x: Any, y: Any) -> Any:
    """24 Chebyshev polynomials."""
    a, b, total = 1.0 + 0 * x, x, 0
    for k in range(24):
        a, b = b, 2 * x * b - a
        total = total + b * (0.1 * k + y)
    return np.exp(-total * total)


def forces(x: Any, y: Any) -> Any:
    """Twelve inverse squares with their roots."""
    total = 0
    for k in range(12):
        r2 = (x - 0.3 * k) ** 2 + (y + 0.2 * k) ** 2 + 0.1
        total = total + 1 / (r2 * np.sqrt(r2))
    return total


def logarithms(x: Any, y: Any) -> Any:
    """Ten logarithms and exponentials."""
    total = 0
    for k in range(10):
        total = total + np.log(1 + x * 0.1 * k + y * y) * np.exp(-0.2 * k * x) / (1 + k + y)
    return total


def quotient(x: Any, y: Any) -> Any:
    """A quotient of polynomials."""
    p = q = 1.0 + 0 * x
    for k in range(20):
        p, q = p * x + 0.3 * k * y, q * y + 0.2 * k
    return p / (1 + q * q)


FUNCTIONS = {f.__name__: f for f in (quotient, chebyshev, forces, logarithms)}
WAYS = [(order, vectors) for order in ("ours", "llvm") for vectors in (1, 2, 4)]


def cost(name: str, order: str, vectors: int) -> float:
    """Nanoseconds for a vector, compiled and measured in this process."""
    import numgrad as ng
    from numgrad.targets.cpu.kernels import scalar_kernel
    from numgrad.targets.cpu.vectorize import loop

    ng.set_flags(threads=1)
    scalar_kernel._vectors = lambda graph, flow: vectors
    if order == "llvm":
        loop._Row._boundary = lambda self: ()
    f = FUNCTIONS[name]
    gradient = ng.jit(ng.func.grad(lambda x, y: f(x, y).sum(), argnums=(0, 1)), fuse="now")
    least = []
    for n in LENGTHS:
        x = np.random.default_rng(0).uniform(0.2, 0.9, n)
        y, out = x[::-1].copy(), (np.empty(n), np.empty(n))
        seconds = []
        for _ in range(2000):
            began = time.perf_counter()
            gradient(x, y, out=out)
            seconds.append(time.perf_counter() - began)
        least.append(min(seconds))
    return 8e9 * (least[1] - least[0]) / (LENGTHS[1] - LENGTHS[0])


def alone(name: str, order: str, vectors: int) -> float:
    """The same in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "one", name, order, str(vectors)]
        environment = {**os.environ, "NUMGRAD_CACHE_DIR": folder}
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout)


def main(rounds: int) -> None:
    """Print a row for each function, the least of several rounds."""
    print("| |", " | ".join(f"{order}, {vectors}" for order, vectors in WAYS), "|")
    for name in FUNCTIONS:
        found = [[alone(name, *way) for way in WAYS] for _ in range(rounds)]
        cells = [f"{min(column):.1f}" for column in zip(*found, strict=True)]
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        print(cost(sys.argv[2], sys.argv[3], int(sys.argv[4])))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
