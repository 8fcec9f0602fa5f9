"""``python -m numgrad check``: random programs, their derivatives against differences."""

import multiprocessing
import random
import sys
import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, NamedTuple

from numgrad.testing.fuzzing.running import Tally, check

from ..process.progress import Progress

SHARE = 10  # programs that a process checks before it says how they came out
SHARES = 20  # after which a process makes room for a new one, with empty caches


class Plan(NamedTuple):
    """What is checked: programs from a seed on, for some time or up to a number."""

    first: int
    programs: int | None
    seconds: float
    fuse: str
    jobs: int


def run(
    seed: int | None, programs: int | None, seconds: float | None, fuse: str, jobs: int
) -> int:
    """Check random programs and print those that fail; 0 if none does."""
    first = random.SystemRandom().randrange(10**6) * 1000 if seed is None else seed
    if seconds is None:
        seconds = 60.0 if programs is None else float("inf")
    tally = _checked(Plan(first, programs, seconds, fuse, jobs))
    failed = len(tally.reports)
    print(
        f"{tally.programs} programs from seed {first}: {_described(tally.kinds)}"
        + (f"; {failed} failed: please report the programs above" if failed else "")
    )
    return int(failed > 0)


def _checked(plan: Plan) -> Tally:
    """Check programs in other processes, which may crash, and print what fails at once."""
    tally, began, progress = Tally(), time.time(), Progress()
    progress.stage("checking random programs")
    shares = _Shares(plan, began + plan.seconds)
    try:
        for found in shares.results():
            tally.add(found)
            progress.close()
            for text in found.reports:
                print(text, flush=True)
            seconds = time.time() - began
            progress.update(f"{tally.programs} in {seconds:.0f} s, {_described(tally.kinds)}")
    finally:
        progress.close()
    return tally


def _described(kinds: Counter[str]) -> str:
    words = {"unknown": "that differences cannot judge"}
    return ", ".join([f"{kinds[kind]} {words.get(kind, kind)}" for kind in sorted(kinds)]) or "none"


class _Shares:
    """Hands shares of the programs to processes, and takes up after one that crashed."""

    def __init__(self, plan: Plan, end: float) -> None:
        self.plan, self.end = plan, end
        self.next = plan.first
        self.stop = sys.maxsize if plan.programs is None else plan.first + plan.programs

    def results(self) -> Any:
        while self.next < self.stop and time.time() < self.end:
            context = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(
                self.plan.jobs, mp_context=context, max_tasks_per_child=SHARES
            ) as pool:
                yield from self._of(pool)

    def _of(self, pool: ProcessPoolExecutor) -> Any:
        running: dict[Future[Tally], range] = {}
        while running or (self.next < self.stop and time.time() < self.end):
            while len(running) < 2 * self.plan.jobs and self.next < self.stop:
                seeds = range(self.next, min(self.next + SHARE, self.stop))
                self.next = seeds.stop
                running[pool.submit(check, seeds, self.plan.fuse, self.end)] = seeds
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                seeds = running.pop(future)
                try:
                    yield future.result()
                except BrokenProcessPool:
                    yield _crash([seeds, *running.values()])
                    return


def _crash(shares: list[range]) -> Tally:
    """Return the report of a process that ended while it checked one of some programs."""
    first, last = min(s.start for s in shares), max(s.stop for s in shares)
    text = f"# the process ended while it checked one of the programs {first} to {last - 1}"
    return Tally(Counter({"crashed": 1}), [text])
