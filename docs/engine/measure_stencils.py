"""Times of fused stencils on one thread beside the adjoints written by hand: the program of the
pass, and a call with recording. All of them make new results; those written by hand run forward
too, which the program of the pass does not."""

import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

import numgrad as ng
from asv_benchmarks.peers.systems import numgrad as systems
from asv_benchmarks.peers.workloads import burgers, heat, lorenz96
from numgrad.engine.lower import executable
from numgrad.engine.lower.output_pool import empty
from numgrad.targets.cpu.schedule.bound_program import BoundProgram
from numgrad.targets.cpu.schedule.schedule import address

ROUNDS = 60


def latest_bound(call: Callable[[], Any]) -> BoundProgram:
    """Return the last program that is made while something is called."""
    made: list[BoundProgram] = []
    original = BoundProgram.__init__

    def noted(self: BoundProgram, program: Any, target: Any) -> None:
        original(self, program, target)
        made.append(self)

    BoundProgram.__init__ = noted  # type: ignore[method-assign]
    try:
        call()
        call()
    finally:
        BoundProgram.__init__ = original  # type: ignore[method-assign]
    return made[-1]


def running(bound: BoundProgram, arguments: Any) -> Callable[[], Any]:
    """Return what runs a program once into new results, with little Python beside it."""
    given = [np.ascontiguousarray(arguments[n]) for n in bound.arguments]
    specs = executable._result_specs(bound.program)
    addresses = [address(array) for array in given]

    def run() -> list[np.ndarray]:
        results = [empty(*spec) for spec in specs]
        bound.runner([*addresses, *map(address, results)])
        return results

    return run


def least(*calls: Callable[[], Any]) -> list[float]:
    """Return the least time of each, in milliseconds, of interleaved rounds."""
    times = []
    for _ in range(ROUNDS):
        row = []
        for call in calls:
            began = time.perf_counter()
            call()
            row.append(time.perf_counter() - began)
        times.append(row)
    return [1e3 * t for t in np.min(times, axis=0)]


def main() -> None:
    """Print a row for each workload."""
    ng.set_flags(threads=1)
    numba.set_num_threads(1)
    print(f"{'':10}{'by hand':>10}{'pass':>10}{'call':>10}")
    for module in (lorenz96, burgers, heat):
        task = module.task(False)
        make = systems.captured_fused if module is heat else systems.batched_fused
        call, hand = make(task), module.hand_written(task)
        run = running(latest_bound(call), task.arguments)
        for _ in range(3):
            hand(), run(), call()
        print(f"{module.WORKLOAD.key:10}" + "".join(f"{t:10.3f}" for t in least(hand, run, call)))


if __name__ == "__main__":
    main()
