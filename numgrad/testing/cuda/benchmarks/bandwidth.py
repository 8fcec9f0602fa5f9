"""Benchmarks of kernels that wait for memory: their bytes per second, compared with a copy."""

from collections.abc import Callable, Iterator
from math import isqrt
from typing import Any, NamedTuple

import numpy as np

import numgrad as ng

from ..agreement import DEVICE
from ..checks.arrays import random
from ..checks.exchange import library
from ..report import Benchmark, Bound, Figure, Skipped
from ..sizes import Sizes
from .timing import milliseconds

ELEMENTWISE, SUM = Bound(80.0), Bound(85.0)
"""The bandwidth that is wanted, in per cent of that of a copy."""


class Kernel(NamedTuple):
    """A call of a kernel, and the least number of bytes that the kernel must move."""

    name: str
    call: Callable[[], Any]
    nbytes: int
    bound: Bound | None = None


def _run(sizes: Sizes) -> Iterator[Figure]:
    copied = _gigabytes(_copy(sizes.copied), 2 * sizes.copied, sizes)
    yield Figure(f"copy of {sizes.copied:.3g} bytes on the device", copied, "GB/s")
    for dtype in ("float32", "float64"):
        for kernel in _kernels(dtype, sizes.copied):
            reached = _gigabytes(kernel.call, kernel.nbytes, sizes)
            unit = f"% of a copy ({reached:.4g} GB/s)"
            name = f"{kernel.name}, {dtype}"
            yield Figure(name, 100 * reached / copied, unit, kernel.bound)
    yield from _beside_cupy(copied, sizes)


def _gigabytes(call: Callable[[], Any], nbytes: int, sizes: Sizes) -> float:
    return nbytes / 1e6 / milliseconds(call, sizes, sizes.inner)


def _kernels(dtype: str, nbytes: int) -> Iterator[Kernel]:
    """Yield kernels of numgrad, whose operands have about a given number of bytes."""
    size = np.dtype(dtype).itemsize
    side = isqrt(nbytes // size)
    whole = side * side * size
    x, y = (ng.tensor(random((side, side), dtype, n), device=DEVICE) for n in range(2))
    row, column = x[0], y[:, :1]
    affine = ng.jit(lambda x, y: x * y + x, fuse="now")
    yield Kernel("-x", lambda: -x, 2 * whole, ELEMENTWISE)
    yield Kernel("x * y", lambda: x * y, 3 * whole, ELEMENTWISE)
    yield Kernel("x * y + x, captured and fused", lambda: affine(x, y), 3 * whole, ELEMENTWISE)
    yield Kernel("x * 2 + 1 by two kernels", lambda: x * 2 + 1, 4 * whole, ELEMENTWISE)
    yield Kernel("x + row", lambda: x + row, 2 * whole, ELEMENTWISE)
    yield Kernel("x * column", lambda: x * column, 2 * whole, ELEMENTWISE)
    yield Kernel("row * column", lambda: row * column, whole, ELEMENTWISE)
    yield Kernel("sum of all", lambda: x.sum(), whole, SUM)
    yield Kernel("sums of rows", lambda: x.sum(1), whole, SUM)
    yield Kernel("sums of columns", lambda: x.sum(0), whole, SUM)


def _beside_cupy(copied: float, sizes: Sizes) -> Iterator[Figure]:
    try:
        cupy = library("cupy")
    except Skipped as reason:
        yield Figure(f"not compared: {reason}", None)
        return
    for kernel in kernels_of(cupy, "float32", sizes.copied):
        reached = _gigabytes(kernel.call, kernel.nbytes, sizes)
        yield Figure(kernel.name, 100 * reached / copied, f"% of a copy ({reached:.4g} GB/s)")


def kernels_of(module: Any, dtype: str, nbytes: int) -> Iterator[Kernel]:
    """Yield kernels of another library whose functions have NumPy's names."""
    side = isqrt(nbytes // np.dtype(dtype).itemsize)
    x, y = (module.asarray(random((side, side), dtype, n)) for n in range(2))
    name = module.__name__
    yield Kernel(f"x * y of {name}, {dtype}", lambda: x * y, 3 * x.nbytes)
    yield Kernel(f"sum of all of {name}, {dtype}", lambda: x.sum(), x.nbytes)
    yield Kernel(f"sums of rows of {name}, {dtype}", lambda: x.sum(1), x.nbytes)
    yield Kernel(f"sums of columns of {name}, {dtype}", lambda: x.sum(0), x.nbytes)


def _copy(nbytes: int) -> Callable[[], Any]:
    """Return a call in which the driver copies a block of device memory."""
    stream = ng.cuda.current_stream()
    runtime = stream._runtime
    source, target = (runtime.allocate(nbytes) for _ in range(2))

    def call() -> None:
        to, read = target.used_by(stream), source.used_by(stream)
        runtime.driver.copy(to, 0, read, 0, nbytes, stream.handle)

    return call


BENCHMARKS = (Benchmark("Bandwidth", _run),)
