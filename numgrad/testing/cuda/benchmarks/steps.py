"""The steps of programs, one by one: how long each takes on the device, and what it moves.

A clock is read before and after each step, and the kernels are launched from Python. So a step on
few bytes takes longer here than in a program that is launched as a whole.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import numpy as np

import numgrad as ng

from ...._settings import settings
from ....engine.lower.executable import watch
from ....engine.record.apply import runtime
from ....targets.cuda.program.measured_program import MeasuredProgram, TimedStep
from ..report import Benchmark, Figure, Skipped
from ..sizes import Sizes
from .libraries import Numgrad, forget_memory
from .workloads import MAKERS

_MOST = 20
"""The most kinds of steps of which each has a line."""


class StepWatcher:
    """Runs programs of devices as measured ones, in place of `Bound.run`.

    Attributes
    ----------
    programs : list of MeasuredProgram
    """

    def __init__(self) -> None:
        self.programs: list[MeasuredProgram] = []
        self._known: dict[int, MeasuredProgram] = {}

    def run(self, plan: Any, bound: Any, arrays: Sequence[Any]) -> Any:
        """Run a program; the engine calls this method."""
        if plan.target is runtime.target:
            return bound.run(arrays)
        found = self._known.get(id(bound.program))
        if found is None:
            found = self._known[id(bound.program)] = MeasuredProgram(
                bound.program, plan.target, bound
            )
            self.programs.append(found)
        return found.run(arrays)

    def steps(self) -> list[TimedStep]:
        """Return the steps of all programs."""
        return [step for program in self.programs for step in program.timed()]


@contextmanager
def watching() -> Iterator[StepWatcher]:
    """Measure the steps of all programs of devices that run in the block."""
    if watch.current is not None:
        raise Skipped("something else looks at programs")
    watch.current = watcher = StepWatcher()
    settings.entries += 1
    try:
        yield watcher
    finally:
        watch.current = None
        settings.entries += 1


@dataclass
class Kind:
    """Equal steps, taken together.

    Attributes
    ----------
    name : str
    steps : int
        The runs of such steps in a call.
    microseconds, nbytes, launches
        Of all of them, in a call.
    is_loop : bool
        See `StepFacts`.
    """

    name: str
    steps: int = 0
    microseconds: float = 0.0
    nbytes: int = 0
    launches: int = 0
    is_loop: bool = False

    def figure(self) -> Figure:
        """Return the kind as a line of the report."""
        times = f"{self.steps} steps" if self.steps > 1 else "1 step"
        if self.is_loop:
            return Figure(f"{self.name}, {times}: a loop, whose steps count", None)
        per_second = 1e-3 * self.nbytes / self.microseconds if self.microseconds else 0.0
        more = {"bytes": self.nbytes, "GB/s": per_second, "launches": self.launches}
        return Figure(f"{self.name}, {times}", self.microseconds, "us", more=more)


def kinds_of(call: Callable[[], Any], sizes: Sizes) -> list[Kind]:
    """Return the kinds of steps that a call runs on the device, the longest first."""
    for _ in range(sizes.warm):
        call()
    with watching() as watcher:
        call()
        _times(watcher)  # of a first run
        runs = []
        for _ in range(sizes.repeats):
            call()
            runs.append(_times(watcher))
    found: dict[Any, Kind] = {}
    for n, step in enumerate(watcher.steps()):
        facts, each = step.facts, [run[n] for run in runs if n < len(run)]
        kind = found.setdefault((facts.name, facts.nbytes), Kind(facts.name))
        count = len(each[-1])
        kind.steps += count
        kind.microseconds += 1e3 * median([sum(times) for times in each])
        kind.nbytes += count * facts.nbytes
        kind.launches += count * facts.launches
        kind.is_loop = facts.is_loop
    kinds = [kind for kind in found.values() if kind.steps]
    return sorted(kinds, key=lambda kind: -kind.microseconds)


def _times(watcher: StepWatcher) -> list[list[float]]:
    ng.cuda.synchronize()
    return [step.milliseconds() for step in watcher.steps()]


def _figures(make: Callable[[Sizes], Callable[[], Any]], sizes: Sizes) -> Iterator[Figure]:
    forget_memory()
    kinds = kinds_of(make(sizes), sizes)
    for kind in kinds[:_MOST]:
        yield kind.figure()
    plain = [kind for kind in kinds if not kind.is_loop]
    for name, some in (("further steps", kinds[_MOST:]), ("all steps", plain)):
        whole = Kind(name)
        for kind in some:
            if not kind.is_loop:
                whole.steps += kind.steps
                whole.microseconds += kind.microseconds
                whole.nbytes += kind.nbytes
                whole.launches += kind.launches
        if whole.steps:
            yield whole.figure()


def _captured(make: Callable[[Sizes], Any], sizes: Sizes) -> Callable[[], Any]:
    return make(sizes).of(Numgrad(is_captured=True))


def _scan(sizes: Sizes) -> Callable[[], Any]:
    """Return a call that computes the gradient of a scan over Euler steps of Lorenz-96."""

    def step(x: Any, force: Any) -> Any:
        slope = (ng.roll(x, -1) - ng.roll(x, 2)) * ng.roll(x, 1) - x + force
        return x + 0.01 * slope, None

    def last(x: Any, forces: Any) -> Any:
        return (ng.scan(step, x, forces)[0] ** 2).sum()

    start = 8.0 + 0.01 * np.sin(np.arange(float(sizes.ring)))
    given = [ng.tensor(a, device="cuda") for a in (start, np.full(4 * sizes.steps, 8.0))]
    gradient = ng.jit(ng.func.grad(last, (0, 1)), fuse="now")
    return lambda: gradient(*given)


def _samples(sizes: Sizes) -> Callable[[], Any]:
    """Return a call that computes gradients of Lorenz's equations for many starts: a thread of
    each kernel takes all steps of one start."""

    def step(c: Any, _: Any) -> Any:
        x, y, z = c
        return (x + 0.1 * (y - x), y + 0.01 * (x * (28.0 - z) - y), z + 0.01 * (x * y - z)), None

    def last(x: Any, y: Any, z: Any) -> Any:
        return sum([(part**2).sum() for part in ng.scan(step, (x, y, z), length=100)[0]])

    starts = 1.0 + 0.01 * np.arange(float(sizes.ring))
    given = [ng.tensor(starts + k, device="cuda") for k in range(3)]
    gradient = ng.jit(ng.func.grad(last, (0, 1, 2)), fuse="now")
    return lambda: gradient(*given)


BENCHMARKS = (
    *(
        Benchmark(f"Steps: {name}", partial(_figures, partial(_captured, make)))
        for name, make in MAKERS.items()
    ),
    Benchmark("Steps: a scan over Lorenz-96, its gradient, float64", partial(_figures, _scan)),
    Benchmark("Steps: scans over Lorenz, their gradients, float64", partial(_figures, _samples)),
)
