"""Workers of one workload, asked in turn: interleaved rounds, so that drift hits all alike."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from . import machine, systems
from .remote import Remote
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


def _remote(workload: Workload, system: str, folder: Path, options: Options) -> Remote:
    """Start the worker of one system on one workload."""
    arguments = [workload.key, system, str(folder), *["--quick"] * options.quick]
    module = f"{__package__}.worker"
    return Remote(module, arguments, options.threads, options.limit, options.keep_memory)


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
        warm = _remote(workload, system, folder, options)
        warm.ask("start")
        warm.close()
    remote = _remote(workload, system, folder, options)
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
