"""Workers of one workload, asked in turn: interleaved rounds, so that drift hits all alike."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from . import machine, systems
from .task import Workload
from .worker import HAND_WRITTEN

SLOW = 0.5  # seconds a call; such a system sits out the later rounds
ROUNDS_IF_SLOW = 3


@dataclass
class Row:
    """What was measured of one system on one workload."""

    system: str
    seconds: list[float] = field(default_factory=list)
    best: list[float] = field(default_factory=list)
    first: float | None = None
    new_graph: float | None = None
    mebibytes: float | None = None
    disagreement: float | None = None
    reason: str = ""

    def steady(self, statistic: str) -> float | None:
        """Median of the rounds' medians, or the fastest call of all."""
        if not self.seconds:
            return None
        return median(self.seconds) if statistic == "median" else min(self.best)


@dataclass(frozen=True)
class Options:
    """How to run."""

    rounds: int
    threads: int
    limit: float
    quick: bool
    keep_memory: bool = False


class Remote:
    """A worker process and the pipe to it."""

    def __init__(self, workload: Workload, system: str, folder: Path, options: Options) -> None:
        command = [sys.executable, "-m", f"{__package__}.worker", workload.key, system, str(folder)]
        self.process = subprocess.Popen(
            command + ["--quick"] * options.quick,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=machine.worker_environment(dict(os.environ), options.threads, options.keep_memory),
            preexec_fn=_pin(options.threads),
            start_new_session=True,
        )
        self.limit = options.limit

    def ask(self, command: str) -> dict[str, Any]:
        """Return the worker's answer; a worker beyond the limit is stopped."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], self.limit)
        if not ready:
            self.close()
            return {"reason": f"stopped: no result after {self.limit:g} s"}
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"reason": f"died with {self.process.wait()}"}

    def close(self) -> None:
        """End the process and what it started (a compiler, say)."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, 9)
        self.process.wait()


def _pin(threads: int) -> Callable[[], None] | None:
    """Bind a worker to as many cores as it may use threads: XLA has no other setting."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    cores = sorted(os.sched_getaffinity(0))[:threads]
    return lambda: os.sched_setaffinity(0, cores)


def measure(
    workload: Workload, names: list[str], folder: Path, options: Options, say: Callable[[str], None]
) -> list[Row]:
    """Measure the hand-written adjoint and every system named."""
    rows, remotes = [], {}
    try:
        for system in [HAND_WRITTEN, *names]:
            row, remote = _start(workload, system, folder, options)
            say(f"  {system}: {row.reason or f'first call {row.first:.3g} s'}")
            rows.append(row)
            if remote is not None:
                remotes[system] = remote
        _take_rounds([r for r in rows if r.system in remotes], remotes, options)
        for row in rows:
            if row.system in remotes and not row.reason:
                _after(row, remotes[row.system])
    finally:
        for remote in remotes.values():
            remote.close()
    return rows


def _start(
    workload: Workload, system: str, folder: Path, options: Options
) -> tuple[Row, Remote | None]:
    row = Row(system, reason=workload.skipped.get(system, "") or _missing(system))
    if row.reason:
        return row, None
    if system.startswith("numgrad"):  # a process before this one fills the kernel cache
        warm = Remote(workload, system, folder, options)
        warm.ask("start")
        warm.close()
    remote = Remote(workload, system, folder, options)
    answer = remote.ask("start")
    row.reason = answer.get("reason", "")
    row.first, row.disagreement = answer.get("first"), answer.get("disagreement")
    if row.disagreement is not None and not row.disagreement <= workload.tolerance:
        row.reason = f"disagrees: {row.disagreement:.1e}"
    if row.reason:
        remote.close()
        return row, None
    return row, remote


def _missing(system: str) -> str:
    known = systems.SYSTEMS.get(system)
    distribution = known[2] if known else system.split()[0]
    ours = system.startswith(("numgrad", HAND_WRITTEN))
    return "" if ours or machine.installed(distribution) else "not installed"


def _take_rounds(rows: list[Row], remotes: dict[str, Remote], options: Options) -> None:
    for number in range(options.rounds):
        # Every other round backwards, so that no system always follows the same one.
        for row in rows if number % 2 == 0 else rows[::-1]:
            slow = row.seconds and row.seconds[-1] > SLOW and number >= ROUNDS_IF_SLOW
            if row.reason or slow:
                continue
            answer = remotes[row.system].ask("round")
            row.reason = answer.get("reason", "")
            if not row.reason:
                row.seconds.append(answer["seconds"])
                row.best.append(answer["best"])
        time.sleep(0.005)  # threads of the last system stop spinning


def _after(row: Row, remote: Remote) -> None:
    row.mebibytes = remote.ask("peak").get("mebibytes")
    if row.system in systems.SYSTEMS and row.system.startswith("numgrad"):
        row.new_graph = remote.ask("new_graph").get("seconds")


def as_json(rows: list[Row], statistic: str) -> list[dict[str, Any]]:
    """Rows as JSON can hold them, with the statistic that the table shows."""
    return [{**asdict(row), "steady": row.steady(statistic)} for row in rows]
