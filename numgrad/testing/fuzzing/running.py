"""Check the programs of many seeds, and report failing ones as short texts that run."""

from __future__ import annotations

import platform
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from importlib.metadata import version

from .drawing import draw_program
from .judging import Verdict, judge
from .programs import Program
from .shrinking import shrink

FUSED = 8  # with ``fuse="some"`` one of so many programs is fused


@dataclass
class Tally:
    """How many programs had each verdict, and the reports of programs that failed."""

    kinds: Counter[str] = field(default_factory=Counter)
    reports: list[str] = field(default_factory=list)

    @property
    def programs(self) -> int:
        return sum(self.kinds.values())

    def add(self, other: Tally) -> None:
        self.kinds += other.kinds
        self.reports += other.reports


def is_fused(seed: int, fuse: str) -> bool:
    """Whether the program of a seed is fused; ``fuse`` is ``"all"``, ``"some"`` or ``"none"``."""
    return fuse == "all" or (fuse == "some" and seed % FUSED == FUSED - 1)


def check(
    seeds: Iterable[int],
    fuse: str = "some",
    end: float = float("inf"),
    shortened: float = 60.0,
    judged: Callable[[Program], Verdict] = judge,
) -> Tally:
    """Draw and check the programs of some seeds, and return the tally.

    Parameters
    ----------
    seeds : iterable of int
    fuse : {"some", "all", "none"}
        Which programs are fused before they run.
    end : float
        The time, as `time.time` has it, after which no other program is begun.
    shortened : float
        How many seconds are spent to make a failing program shorter.
    judged : callable
        Returns the verdict on a program.
    """
    tally = Tally()
    for seed in seeds:
        if time.time() >= end:
            break
        program = draw_program(seed, is_fused(seed, fuse))
        verdict = judged(program)
        tally.kinds[verdict.kind] += 1
        if verdict.failed:
            tally.reports.append(report(program, verdict, fuse, shortened, judged))
    return tally


def report(
    program: Program, verdict: Verdict, fuse: str, seconds: float, judged: Callable
) -> str:
    """Return the text of a failing program, made shorter, with the failure as a comment above."""
    if seconds > 0:
        start = replace(program, way=verdict.way)
        program, verdict = shrink(start, verdict, seconds, judged)
    lines = [
        f"program {program.seed}{' fused' if is_fused(program.seed, fuse) else ''}: {verdict.kind}",
        f"numgrad {version('numgrad')}, NumPy {version('numpy')}, Numba {version('numba')}, "
        f"Python {platform.python_version()}",
        *verdict.words.splitlines(),
    ]
    return "".join(f"# {line}\n" for line in lines) + replace(program, way=verdict.way).text()
