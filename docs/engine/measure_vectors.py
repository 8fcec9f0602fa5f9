"""What kernels take that are written for vectors, or with ``--linked`` made of linked functions: to
compile the largest kernel of a program, and to run the program on one thread, from few elements."""

import argparse
import os
import tempfile
import time
from dataclasses import replace
from typing import Any

os.environ["NUMGRAD_CACHE_DIR"] = tempfile.mkdtemp()  # both ways have one key

import numba
import numpy as np
from measure_stencils import latest_bound, least, running

import numgrad as ng
from asv_benchmarks.peers.systems import numgrad as systems
from asv_benchmarks.peers.workloads import black_scholes, burgers, heat, lorenz96, seawater
from numgrad.targets.cpu.kernels import scalar_kernel

COUNT, ROWS = 8192, 64


def timed(made: list[tuple[int, float]]) -> Any:
    """Return ``joining.join`` that notes how many steps it compiled in what time."""
    original = scalar_kernel.join

    def join(graph: Any, symbol: str) -> Any:
        for one, _ in graph.steps:
            _ = one.bit_code
        began = time.process_time()
        code = original(graph, symbol)
        made.append((len(graph.steps), 1e3 * (time.process_time() - began)))
        return code

    return join


def smaller(task: Any) -> Any:
    """Return a task that is small enough for its least time to be one without interruptions."""
    if task.cotangents is not None:
        return replace(task, cotangents=task.cotangents[:ROWS])
    cut = [a[:COUNT] if np.ndim(a) and len(a) > COUNT else a for a in task.arguments]
    return replace(task, arguments=tuple(cut))


def main() -> None:
    """Print a row for each workload."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--linked", action="store_true")
    if parser.parse_args().linked:
        scalar_kernel.dataflow_of = lambda graph: None
    ng.set_flags(threads=1)
    numba.set_num_threads(1)
    print(f"{'':10}{'steps':>10}{'compile ms':>12}{'pass us':>10}")
    for module in (lorenz96, burgers, seawater, heat, black_scholes):
        task = smaller(module.task(False))
        made: list[tuple[int, float]] = []
        original, scalar_kernel.join = scalar_kernel.join, timed(made)
        make = systems.captured_fused if task.cotangents is None else systems.batched_fused
        run = running(latest_bound(make(task)), task.arguments)
        scalar_kernel.join = original
        steps, milliseconds = max(made)
        (best,) = least(*[run])
        print(f"{module.WORKLOAD.key:10}{steps:10}{milliseconds:12.1f}{1e3 * best:10.1f}")


if __name__ == "__main__":
    main()
