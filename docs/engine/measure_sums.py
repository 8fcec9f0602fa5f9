"""Measure reductions of one array beside torch, which must be installed, and NumPy.

``python docs/engine/measure_sums.py`` prints the table of `surprises.md`: microseconds, the least
of rounds that alternate in one process, on one thread: threads of one system that wait would
disturb those of the other.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

import numgrad as ng

CASES = [
    *(("sum", (n,), None) for n in (10**5, 10**6, 10**7)),
    *(("max", (n,), None) for n in (10**5, 10**6, 10**7)),
    *((name, (1000, 1000), axis) for name in ("sum", "max") for axis in (0, 1)),
    ("sum", (10**5, 16), 0),
    *(
        (name, shape, axis)
        for name in ("sum", "max")
        for shape, axis in (
            ((10**5, 3), 0), ((10**5, 3), 1), ((10**4, 50), 1), ((10**4, 100), 1), ((3, 10**5), 0),
        )
    ),
]  # fmt: skip


def calls(name: str, x: np.ndarray, axis: int | None) -> list[Callable[[], Any]]:
    """Return the same reduction by each system."""
    ours, theirs = ng.tensor(x), torch.tensor(x)
    found = getattr(ng, name), getattr(torch, "amax" if name == "max" else name)
    along = () if axis is None else (axis,)
    return [lambda: found[0](ours, *along), lambda: found[1](theirs, *along),
            lambda: getattr(np, name)(x, axis)]  # fmt: skip


def least(functions: Sequence[Callable[[], Any]], rounds: int) -> list[float]:
    """Return the least time of each in microseconds."""
    best = [float("inf")] * len(functions)
    for _ in range(rounds):
        for n, call in enumerate(functions):
            call()
            end = time.perf_counter() + 0.004
            while (began := time.perf_counter()) < end:
                call()
                best[n] = min(best[n], time.perf_counter() - began)
    return [1e6 * seconds for seconds in best]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    torch.set_num_threads(1)
    ng.set_flags(threads=1)
    rng = np.random.default_rng(0)
    print("| microseconds | numgrad | torch | NumPy |\n|---|---|---|---|")
    for dtype in (np.float64, np.float32):
        for name, shape, axis in CASES:
            times = least(calls(name, rng.normal(size=shape).astype(dtype), axis), options.rounds)
            size = " x ".join(map(str, shape)) + ("" if axis is None else f", axis {axis}")
            row = " | ".join(f"{t:.3g}" for t in times)
            print(f"| {name} of {size}, {np.dtype(dtype)} | {row} |", flush=True)
