"""Every program in every library: compared first, then timed in rounds that take turns."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from ..peers.machine import installed
from ..peers.remote import Remote
from .agreement import difference
from .libraries import DISTRIBUTIONS, LIBRARIES
from .libraries.numpy import value
from .program import Program

TOLERANCE = 1e-8
REFERENCES = ("torch", "jax", "eager")  # whose derivatives the others are compared with
SLOW, ROUNDS_IF_SLOW = 0.1, 3  # seconds a call; such a way sits out the later rounds


@dataclass
class Row:
    """What was measured of one program: by way, and why a way was not measured."""

    name: str
    family: str
    siblings: bool
    best: dict[str, float] = field(default_factory=dict)
    median: dict[str, float] = field(default_factory=dict)
    first: dict[str, float] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Options:
    """How to run: rounds of so many seconds a way, and the longest wait for a first result."""

    libraries: tuple[str, ...]
    rounds: int
    seconds: float
    threads: int
    limit: float
    tiny: bool


class Bench:
    """A worker for each library, which stay for all programs."""

    def __init__(self, options: Options, folder: Path) -> None:
        self.options, self.folder = options, folder
        self.remotes: dict[str, Remote] = {}

    def ask(self, library: str, *command: Any) -> dict[str, Any]:
        """Return a library's answer; its worker is started if it is not there."""
        remote = self.remotes.get(library)
        if remote is not None and not remote.alive:
            remote.close()
        if remote is None or not remote.alive:
            module, given = f"{__package__}.worker", [library, str(self.folder)]
            remote = Remote(module, given, self.options.threads, self.options.limit)
            self.remotes[library] = remote
        return remote.ask(json.dumps(command))

    def close(self) -> None:
        for remote in self.remotes.values():
            remote.close()

    def measure(self, program: Program) -> Row:
        """Compare and time one program."""
        row = Row(program.name, program.family, program.siblings)
        size = program.tiny if self.options.tiny else program.size
        for file in self.folder.glob("*.npz"):
            file.unlink()
        for library in self.options.libraries:
            self._prepare(library, program, size, row)
        row.reasons |= disagreements(self.folder, program, size, list(row.first))
        self._take_rounds(row)
        for library in self.options.libraries:
            self.ask(library, "drop")
        return row

    def _prepare(self, library: str, program: Program, size: int, row: Row) -> None:
        """Run each way once; after one that did not come back, the earlier ones again."""
        done: list[str] = []
        for way in LIBRARIES[library]:
            reason = program.without.get(library) or program.without.get(way) or missing(library)
            answer = {"reason": reason} if reason else self._first(library, program, size, way)
            if "first" in answer:
                row.first[way] = answer["first"]
                done.append(way)
            elif "reason" in answer:
                row.reasons[way] = answer["reason"]
                lost = library in self.remotes and not self.remotes[library].alive
                for earlier in done if lost else []:
                    self._first(library, program, size, earlier)

    def _first(self, library: str, program: Program, size: int, way: str) -> dict[str, Any]:
        return self.ask(library, "prepare", program.name, size, way)

    def _take_rounds(self, row: Row) -> None:
        times: dict[str, list[list[float]]] = {way: [] for way in row.first}
        libraries = list(self.options.libraries)
        for number in range(self.options.rounds):
            # Every other round backwards, so that no library always follows the same one.
            for library in libraries[:: 1 if number % 2 == 0 else -1]:
                ways = list(self._due(library, row, times))
                answer = self.ask(library, "round", ways, self.options.seconds) if ways else {}
                if "reason" in answer:
                    row.reasons |= dict.fromkeys(ways, answer["reason"])
                else:
                    for way in ways:
                        times[way].append(answer[way])
        for way, taken in times.items():
            if taken and way not in row.reasons:
                row.best[way] = min(best for best, _ in taken)
                row.median[way] = median(middle for _, middle in taken)

    @staticmethod
    def _due(library: str, row: Row, times: dict[str, list[list[float]]]) -> Iterator[str]:
        for way in LIBRARIES[library]:
            taken = times.get(way)
            enough = taken and len(taken) >= ROUNDS_IF_SLOW and taken[-1][0] > SLOW
            if taken is not None and way not in row.reasons and not enough:
                yield way


def missing(library: str) -> str:
    distribution = DISTRIBUTIONS[library]
    there = distribution == "numgrad" or installed(distribution)
    return "" if there else f"{distribution} is not installed"


def disagreements(folder: Path, program: Program, size: int, ways: list[str]) -> dict[str, str]:
    """Return the ways that differ from NumPy's value, or from one library's derivatives."""
    right = value(program.at(size))
    known = {way: np.load(folder / f"{way}.npz") for way in ways}
    chosen = next((way for way in REFERENCES if way in known), None)
    expected = derivatives(known[chosen]) if chosen else []
    found = {}
    for way, arrays in known.items():
        values = difference([arrays["value"]], [right]) if "value" in arrays else 0.0
        slopes = difference(derivatives(arrays), expected)
        if not max(values, slopes) <= TOLERANCE:
            found[way] = f"differs: value {values:.1e} from NumPy's, derivative {slopes:.1e}"
    return found


def derivatives(arrays: Any) -> list[np.ndarray]:
    return [arrays[name] for name in sorted(arrays.files) if name != "value"]


def measure(
    programs: list[Program], folder: Path, options: Options, say: Callable[[Row], None]
) -> list[dict[str, Any]]:
    """Return the rows of all programs, as JSON can hold them."""
    bench, rows = Bench(options, folder), []
    try:
        for program in programs:
            row = bench.measure(program)
            say(row)
            rows.append(asdict(row))
    finally:
        bench.close()
    return rows


def merged(rows: list[dict[str, Any]], again: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with the lesser of the times of programs that were measured twice."""
    later = {row["name"]: row for row in again}

    def lesser(row: dict[str, Any], statistic: str) -> dict[str, float]:
        first, second = row[statistic], later[row["name"]][statistic]
        return {way: min(seconds, second.get(way, seconds)) for way, seconds in first.items()}

    statistics = ("best", "median")
    return [row | {s: lesser(row, s) for s in statistics} if row["name"] in later else row
            for row in rows]  # fmt: skip
