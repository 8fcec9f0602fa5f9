"""Benchmarks of products of matrices: numgrad's own kernels beside cuBLAS, and PyTorch."""

from collections.abc import Iterator
from typing import Any

import numgrad as ng

from ..agreement import DEVICE
from ..checks.arrays import random
from ..other_libraries import module_of
from ..report import Benchmark, Bound, Figure, Skipped
from ..sizes import Sizes
from .timing import milliseconds

_WITHIN = {"float32": Bound(1.3, is_upper=True), "float64": Bound(1.15, is_upper=True)}
"""The most times what cuBLAS takes."""


def _run(sizes: Sizes) -> Iterator[Figure]:
    has_blas = ng.cuda.default_stream()._runtime.driver.blas is not None
    before = ng.get_flags("cublas")
    try:
        for dtype, bound in _WITHIN.items():
            for n in (sizes.width, 2 * sizes.width, 4 * sizes.width):
                yield from _of(n, dtype, bound if has_blas else None, sizes)
    finally:
        ng.set_flags(**before)
    if not has_blas:
        yield Figure("not compared: cuBLAS cannot be loaded", None)
    yield from _of_torch(sizes)


def _of(n: int, dtype: str, bound: Bound | None, sizes: Sizes) -> Iterator[Figure]:
    """Yield the times of numgrad's own kernel and, with a bound, of cuBLAS."""
    a, b = (ng.tensor(random((n, n), dtype, k), device=DEVICE) for k in range(2))
    times = {}
    for choice in ("never", "always") if bound else ("never",):
        ng.set_flags(cublas=choice)
        times[choice] = milliseconds(lambda: a @ b, sizes, sizes.inner)
        name = "cuBLAS" if choice == "always" else "numgrad"
        yield Figure(f"{n} cubed of {dtype}, {name}", times[choice], "ms")
    if bound:
        yield Figure("its time beside cuBLAS", times["never"] / times["always"], "times", bound)


def _of_torch(sizes: Sizes) -> Iterator[Figure]:
    try:
        torch: Any = module_of("torch")
    except Skipped as reason:
        yield Figure(f"not compared: {reason}", None)
        return
    n = sizes.width
    for dtype in _WITHIN:
        a, b = (torch.asarray(random((n, n), dtype, k), device="cuda") for k in range(2))
        time = milliseconds(lambda a=a, b=b: a @ b, sizes, sizes.inner)
        yield Figure(f"{n} cubed of {dtype}, torch", time, "ms")


BENCHMARKS = (Benchmark("Products of matrices", _run),)
