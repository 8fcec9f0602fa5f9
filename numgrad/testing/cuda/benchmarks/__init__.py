"""Benchmarks of a device, one module for each kind of work."""

from ..report import Benchmark
from . import bandwidth, overhead, products, rows, steps, workloads

BENCHMARKS: tuple[Benchmark, ...] = (
    *bandwidth.BENCHMARKS, *products.BENCHMARKS, *rows.BENCHMARKS, *overhead.BENCHMARKS,
    *workloads.BENCHMARKS, *steps.BENCHMARKS,
)  # fmt: skip
