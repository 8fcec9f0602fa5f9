"""``python -m numgrad warm``: fill the kernel cache, so that later processes compile nothing.

Every scenario of the catalogue is called and differentiated once per dtype, which compiles what it
needs. Processes share the work: Numba compiles one function at a time in each.
"""

import multiprocessing
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

import numgrad as ng
from numgrad.targets.cpu import CPUTarget
from numgrad.targets.cpu.platform.numba_setup import processors
from numgrad.testing.scenarios import SCENARIOS, Scenario
from numgrad.testing.scenarios.scenario import ALL, smooth_points
from numgrad.testing.subject import Subject

from ..process.progress import Progress

DTYPES = tuple(ALL)
_PIECES = 4  # of work for each process, as some take longer than others


class Outcome(NamedTuple):
    """What a share of the work came to: functions compiled and found, and what failed."""

    compiled: int = 0
    scalars: int = 0
    hits: int = 0
    failures: tuple[str, ...] = ()

    def plus(self, other: "Outcome") -> "Outcome":
        """Return the sum of two."""
        return Outcome(
            self.compiled + other.compiled,
            self.scalars + other.scalars,
            self.hits + other.hits,
            self.failures + other.failures,
        )


def run(dtypes: Sequence[str], jobs: int | None = None, operators: Sequence[str] = ()) -> int:
    """Fill the cache and print a summary; 0 if all went well."""
    known = {name for scenario in SCENARIOS for name in (scenario.name, *scenario.operators)}
    unknown = [name for name in operators if name not in known]
    if unknown:
        print(f"--operators: unknown {', '.join(unknown)}", file=sys.stderr)
        return 2
    tasks = list(_tasks(dtypes, set(operators)))
    jobs = max(1, min(jobs or processors(), len(tasks)))
    began = perf_counter()
    outcome = _work(tasks, jobs)
    seconds = perf_counter() - began
    return _report(outcome, seconds, jobs)


def _tasks(dtypes: Sequence[str], operators: set[str]) -> Iterator[tuple[int, str]]:
    """Yield what there is to do: numbers of scenarios, and dtypes."""
    for dtype in dtypes:
        for number, scenario in enumerate(SCENARIOS):
            wanted = not operators or operators & {scenario.name, *scenario.operators}
            if wanted and dtype in scenario.dtypes:
                yield number, dtype


def _work(tasks: Sequence[tuple[int, str]], jobs: int) -> Outcome:
    progress = Progress()
    try:
        progress.stage("compiling what all programs share")
        total = _shared()
        progress.stage(f"compiling operators in {jobs} process{'es' if jobs > 1 else ''}")
        for number, (size, outcome) in enumerate(_outcomes(tasks, jobs)):
            total = total.plus(outcome)
            done = number * size
            progress.update(f"{done} of {len(tasks)} scenarios, {total.compiled} kernels")
    finally:
        progress.close()
    return total


def _outcomes(tasks: Sequence[tuple[int, str]], jobs: int) -> Iterator[tuple[int, Outcome]]:
    """Yield the outcome of one share after the other, with its size."""
    size = max(1, len(tasks) // (jobs * _PIECES))
    shares = [tasks[first : first + size] for first in range(0, len(tasks), size)]
    if jobs == 1:
        yield from ((size, _do(share)) for share in shares)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        for future in as_completed([pool.submit(_do, share) for share in shares]):
            yield size, future.result()


def _shared() -> Outcome:
    before = _counts()
    CPUTarget().prepare()
    return _since(before, ())


def _do(tasks: Iterable[tuple[int, str]]) -> Outcome:
    """Run some scenarios in this process."""
    before = _counts()
    failures = []
    for number, dtype in tasks:
        scenario = SCENARIOS[number]
        try:
            _run(scenario, dtype)
        except Exception as error:  # reported, and the exit status says so
            failures.append(f"{scenario.name} {dtype}: {type(error).__name__}: {error}")
    return _since(before, tuple(failures))


def _counts() -> tuple[int, int, int]:
    info = CPUTarget().cache_info()
    return info.compiled, info.scalars, info.hits


def _since(before: tuple[int, int, int], failures: tuple[str, ...]) -> Outcome:
    compiled, scalars, hits = (now - then for now, then in zip(_counts(), before, strict=True))
    return Outcome(compiled, scalars, hits, failures)


def _run(scenario: Scenario, dtype: str) -> None:
    """Call a scenario at its points, and take its gradients, one, several and of second order."""
    with np.errstate(all="ignore"):
        for _, point in smooth_points(scenario):
            args = scenario.at(point, dtype)
            if scenario.order == 0 or not any(a.dtype.kind in "fc" for a in args):
                scenario.function(*args)
                continue
            _differentiate(*Subject(scenario.function, args, scenario.name).call(), scenario.order)


def _differentiate(variables: list[Any], outputs: list[Any], order: int) -> None:
    outputs = [output for output in outputs if output.requires_grad]
    if not outputs:
        return
    options: Any = {"allow_unused": True, "retain_graph": True}
    several = [np.ones((2, *output.shape), output.dtype) for output in outputs]
    ng.grad(outputs, variables, several, is_grads_batched=True, **options)
    ones = [np.ones(output.shape, output.dtype) for output in outputs]
    gradients = ng.grad(outputs, variables, ones, create_graph=order > 1, **options)
    again = [g for g in gradients if g is not None and g.requires_grad]
    if again:
        ones = [np.ones(g.shape, g.dtype) for g in again]
        ng.grad(again, variables, ones, **options)


def _report(outcome: Outcome, seconds: float, jobs: int) -> int:
    directory = CPUTarget().cache_info().directory
    facts = [
        ("compiled", f"{outcome.compiled} kernels of {outcome.scalars} new scalar functions"),
        ("from the cache", str(outcome.hits)),
        ("time", f"{seconds:.1f} s in {jobs} process{'es' if jobs > 1 else ''}"),
        ("cache", described(directory)),
    ]
    for name, fact in facts:
        print(f"{name:<16}{fact}")
    for failure in outcome.failures:
        print(f"failed          {failure}")
    return 0 if directory and not outcome.failures else 1


def described(directory: str | None) -> str:
    if directory is None:
        return "memory only: nothing is kept"
    sizes = [file.stat().st_size for file in Path(directory).iterdir() if file.is_file()]
    return f"{len(sizes)} files, {sum(sizes) / 1e6:.1f} MB in {directory}"
