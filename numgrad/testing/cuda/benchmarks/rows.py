"""Benchmarks of sorting, of searching long rows, and of many small matrices."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import numgrad as ng

from ..agreement import DEVICE
from ..checks.arrays import random, side_of
from ..checks.exchange import library
from ..report import Benchmark, Figure, Skipped
from ..sizes import Sizes
from .timing import milliseconds


def _run(sizes: Sizes) -> Iterator[Figure]:
    yield from _of(ng, "numgrad", lambda array: ng.tensor(array, device=DEVICE), sizes)
    try:
        cupy = library("cupy")
    except Skipped as reason:
        yield Figure(f"not compared: {reason}", None)
        return
    yield from _of(cupy, "cupy", cupy.asarray, sizes)


def _of(module: Any, name: str, placed: Any, sizes: Sizes) -> Iterator[Figure]:
    """Yield the times that functions of a library take, which have NumPy's names there."""
    count, side = sizes.elements, side_of(sizes.elements)
    long, wide = placed(random(count, "float32")), placed(random((side, side), "float32"))
    for what, call in (
        (f"argsort of {count} elements", lambda: module.argsort(long)),
        (f"argsort of {side} rows of {side}", lambda: module.argsort(wide, axis=1)),
        (f"argmax of {count} elements", lambda: module.argmax(long)),
        (f"any of {side} rows of {side}", lambda: module.any(wide, axis=1)),
    ):
        yield Figure(f"{what}, {name}", milliseconds(call, sizes, sizes.inner), "ms")
    for n in (3, 8, 32):
        many = max(count // (n * n), 1)
        x = placed(random((many, n, n), "float32") + 2 * n * np.eye(n, dtype="float32"))
        for what, call in (
            ("det", lambda x=x: module.linalg.det(x)), ("inv", lambda x=x: module.linalg.inv(x)),
        ):  # fmt: skip
            time = milliseconds(call, sizes, sizes.inner)
            yield Figure(f"{what} of {many} matrices of {n} rows, {name}", time, "ms")


BENCHMARKS = (Benchmark("Rows and small matrices", _run),)
