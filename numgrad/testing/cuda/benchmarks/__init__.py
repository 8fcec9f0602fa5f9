"""How fast a device is, one kind of work after the other."""

from ..report import Benchmark
from . import bandwidth, overhead, workloads

BENCHMARKS: tuple[Benchmark, ...] = (
    *bandwidth.BENCHMARKS, *overhead.BENCHMARKS, *workloads.BENCHMARKS,
)  # fmt: skip
