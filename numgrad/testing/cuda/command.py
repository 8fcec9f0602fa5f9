"""The command line of ``python -m numgrad.testing.cuda``: parse arguments, make the report."""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numgrad as ng

from ...targets.cuda import is_simulated
from . import other_libraries
from .facts import facts, kept_kernels
from .report import FAILED, OK, Figure, Outcome, Skipped, outcome_of
from .sizes import FULL, QUICK, Sizes

Say = Callable[[str], None]

SIMULATED = (
    "Numba's simulator of CUDA, no GPU: this shows that the report can be made; times mean nothing"
)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments of ``python -m numgrad.testing.cuda``."""
    top = argparse.ArgumentParser(
        prog="python -m numgrad.testing.cuda",
        description="Check numgrad on the GPU of this machine and measure its speed there. The "
        "status is 0 if all checks are right; whether speeds are as wanted is only said.",
    )
    top.add_argument("--quick", action="store_true", help="tiny problems: whether all of it runs")
    top.add_argument(
        "--only", nargs="+", default=(), metavar="WORDS",
        help="checks and benchmarks whose names have one of these words",
    )  # fmt: skip
    top.add_argument(
        "--without", nargs="+", default=(), choices=other_libraries.NAMES, metavar="LIBRARIES",
        help=f"leave libraries out, of {', '.join(other_libraries.NAMES)}",
    )  # fmt: skip
    top.add_argument(
        "--seconds", type=float, metavar="N",
        help="begin no check and no benchmark after so many seconds",
    )  # fmt: skip
    top.add_argument(
        "--json", type=Path, metavar="FILE",
        help="also write the report as JSON, anew after each check and each benchmark",
    )  # fmt: skip
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Make and print the report, and return the exit status: 0 if all checks are right."""
    options = parser().parse_args(arguments)
    other_libraries.left_out.clear()
    other_libraries.left_out.update(options.without)
    reason = ng.cuda.unavailable_reason()
    if reason is not None:
        _say(f"no GPU: {reason}")
        return 1
    sizes = QUICK if options.quick or is_simulated() else FULL
    limit = None if options.seconds is None else time.monotonic() + options.seconds

    def keep(report: dict[str, Any]) -> None:
        if options.json is not None:
            options.json.write_text(json.dumps(report, indent=1), "utf-8")

    report = make(sizes, _say, options.only, limit, keep)
    if not (report["checks"] or report["figures"]):
        _say(f"no check and no benchmark has one of the words {', '.join(options.only)}")
        return 1
    return 0 if report["is right"] else 1


def _say(line: str) -> None:
    print(line, flush=True)  # a run that hangs then shows where


def make(
    sizes: Sizes,
    say: Say,
    words: Sequence[str] = (),
    limit: float | None = None,
    keep: Callable[[dict[str, Any]], None] = lambda report: None,
) -> dict[str, Any]:
    """Make the report, give it to ``say`` line by line, and return it as JSON can hold it.

    Parameters
    ----------
    words : sequence of str
        The report has those checks and benchmarks whose names have one of the words, or all.
    limit : float, optional
        The time of `time.monotonic` from which on no check and no benchmark is begun.
    keep : callable
        Is given the report so far after each check and each benchmark, as the machine may be taken
        away before the end.
    """
    simulated = is_simulated()
    say(SIMULATED if simulated else "numgrad on a GPU")
    known, before = dict(facts()), kept_kernels()
    for name, fact in known.items():
        say(f"  {name:<20}{fact}")
    checks: list[Outcome] = []
    figures: list[Figure] = []
    failures: list[Outcome] = []
    new = 0

    def report() -> dict[str, Any]:
        return {
            "simulated": simulated, "facts": known, "sizes": vars(sizes), "new kernels": new,
            "checks": [outcome._asdict() for outcome in (*checks, *failures)],
            "figures": [_as_json(figure, not simulated) for figure in figures],
            "is right": all(outcome.status != FAILED for outcome in (*checks, *failures)),
        }  # fmt: skip

    for _ in _checks(sizes, say, words, limit, checks):
        keep(report())
    for _ in _benchmarks(sizes, say, words, limit, figures, failures):
        keep(report())
    new = len(kept_kernels() - before)
    if not simulated:
        say(f"\n{new} kernels were compiled and kept; all others came from the cache")
    wrong = [outcome.name for outcome in (*checks, *failures) if outcome.status == FAILED]
    say(f"\nWRONG: {', '.join(wrong)}" if wrong else f"\nall is right: {_count(checks)}")
    keep(report())
    return report()


def _count(checks: Sequence[Outcome]) -> str:
    skipped = sum(outcome.status != "ok" for outcome in checks)
    return f"{len(checks) - skipped} checks, and {skipped} that could not be made here"


def _chosen(items: Sequence[Any], words: Sequence[str]) -> list[Any]:
    """Return the checks or benchmarks whose names have one of the words, or all without words."""
    wanted = [word.casefold() for word in words]
    named = [(item, item.name.casefold()) for item in items]
    return [item for item, name in named if not wanted or any(word in name for word in wanted)]


def _in_time(limit: float | None) -> None:
    """Raise `Skipped` if the time is over in which checks and benchmarks are begun."""
    if limit is not None and time.monotonic() > limit:
        raise Skipped("no time was left")


def _checks(
    sizes: Sizes, say: Say, words: Sequence[str], limit: float | None, found: list[Outcome]
) -> Iterator[None]:
    """Run the checks, and add their outcomes to ``found``; yield after each."""
    from .checks import CHECKS

    say("\nChecks")
    for check in _chosen(CHECKS, words):

        def run(check: Any = check) -> str:
            _in_time(limit)
            return str(check.run(sizes))

        found.append(outcome_of(check.name, run))
        say(f"  {found[-1]}")
        yield


def _benchmarks(
    sizes: Sizes, say: Say, words: Sequence[str], limit: float | None, figures: list[Figure],
    failures: list[Outcome],
) -> Iterator[None]:  # fmt: skip
    """Run the benchmarks, and add all figures, and the outcomes of those that failed; yield after
    each."""
    from .benchmarks import BENCHMARKS

    for benchmark in _chosen(BENCHMARKS, words):
        say(f"\n{benchmark.name}")

        def run(benchmark: Any = benchmark) -> str:
            _in_time(limit)
            for figure in benchmark.run(sizes):
                figures.append(figure)
                say(f"  {figure.line(not is_simulated())}")
            return ""

        outcome = outcome_of(benchmark.name, run)
        if outcome.status != OK:
            failures.append(outcome)
            say(f"  {outcome}")
        yield


def _as_json(figure: Figure, means_something: bool) -> dict[str, Any]:
    bound = None if figure.bound is None else str(figure.bound)
    is_met = figure.is_met if means_something else None
    return {**figure._asdict(), "bound": bound, "is met": is_met}
