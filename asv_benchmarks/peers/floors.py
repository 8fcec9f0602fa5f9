"""What this machine can do at best: bandwidth, FLOPs, transcendental functions."""

import json
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import prange

from .limit import erf, exp, kernel, log, parallel

FAR = 2**23  # doubles: 64 MiB, beyond every cache
NEAR = 4096  # doubles: in the nearest cache
REPEATS = 20


@kernel
def copy_block(source, target):
    for i in range(source.size):
        target[i] = source[i]


@parallel
def copy(source, target, tile):
    for k in prange(source.size // tile):
        copy_block(source[k * tile : (k + 1) * tile], target[k * tile : (k + 1) * tile])


@kernel
def exps(x, y):
    for i in range(x.size):
        y[i] = exp(x[i])


@kernel
def logs(x, y):
    for i in range(x.size):
        y[i] = log(x[i])


@kernel
def erfs(x, y):
    for i in range(x.size):
        y[i] = erf(x[i])


@kernel
def roots(x, y):
    for i in range(x.size):
        y[i] = math.sqrt(x[i])


@kernel
def quotients(x, y):
    for i in range(x.size):
        y[i] = 1.0 / x[i]


def fastest(call: Callable[[], Any]) -> float:
    """Seconds of the fastest of some calls."""
    call()
    times = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def measure() -> list[dict[str, Any]]:
    """Rows of the table; a ceiling is what the fastest of some calls reached."""
    source, target = np.random.default_rng(0).uniform(0.5, 2.0, (2, FAR))
    square = source[: 1024 * 1024].reshape(1024, 1024)
    near, out = source[:NEAR], target[:NEAR]
    copied = fastest(lambda: copy(source, target, 65536))
    multiplied = fastest(lambda: square @ square)
    rows = [
        _row("copy from and to memory, all threads", 16 * FAR / copied / 1e9, "GB/s"),
        _row("product of matrices, all threads", 2 * 1024**3 / multiplied / 1e9, "GFLOP/s"),
    ]
    single = {"exp": exps, "log": logs, "erf": erfs, "square root": roots, "division": quotients}
    for name, function in single.items():
        spent = fastest(lambda f=function: f(near, out)) / NEAR
        rows.append(_row(f"{name} of float64, one core", spent * 1e9, "ns"))
    return rows


def _row(what: str, figure: float, unit: str) -> dict[str, Any]:
    return {"what": what, "figure": figure, "unit": unit}


if __name__ == "__main__":
    print(json.dumps(measure()))
