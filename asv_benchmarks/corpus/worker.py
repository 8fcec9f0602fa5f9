"""One library running the programs of the corpus, in a process of its own.

``python -m asv_benchmarks.corpus.worker LIBRARY FOLDER`` answers each line of JSON on standard
input with one: ``["prepare", NAME, SIZE, WAY]`` runs a way once and writes its results to the
folder, ``["round", [WAYS], SECONDS]`` times what was prepared, ``["drop"]`` forgets it.
"""

import json
import os
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from . import libraries
from .libraries import Call
from .program import Problem
from .programs import find

CHUNK_SECONDS = 0.0003
WARM_SECONDS, WARM_CALLS = 0.06, 120  # before anything is timed, whichever is reached first


class Timed:
    """A way to run a program, and how many calls are long enough for the clock."""

    def __init__(self, call: Call) -> None:
        self.call, self.number, self.calls = call, 0, 1

    def calibrate(self) -> None:
        """Call until what learns from repetition has learned, and see how long a call takes."""
        end = time.perf_counter() + WARM_SECONDS
        took = self.seconds()
        while self.number < WARM_CALLS and time.perf_counter() < end:
            took = self.seconds()
        self.calls = max(1, min(1000, round(CHUNK_SECONDS / max(took, 1e-7))))

    def seconds(self) -> float:
        """Return the seconds of a call, the mean of a few; each call has a number of its own."""
        call, first = self.call, self.number
        self.number += self.calls
        numbers = range(first, self.number)
        begin = time.perf_counter()
        for k in numbers:
            call(k)
        return (time.perf_counter() - begin) / self.calls

    def round(self, seconds: float) -> list[float]:
        """Return the least and the median of a while, after a call that wakes threads."""
        begin = time.perf_counter()
        woken = self.seconds()
        if woken * self.calls > 4 * seconds:
            return [woken, woken]
        times, end = [], begin + seconds
        while len(times) < 2 or time.perf_counter() < end:
            times.append(self.seconds())
        return [min(times), median(times)]


class Worker:
    """The ways of one problem at a time."""

    def __init__(self, library: str, folder: Path) -> None:
        self.library, self.folder = library, folder
        self.problem: Problem | None = None
        self.ways: dict[str, Call] = {}
        self.timed: dict[str, Timed] = {}

    def prepare(self, name: str, size: int, way: str) -> dict[str, Any]:
        """Run a way for the first time: its seconds, or that there is no such way."""
        if self.problem is None:
            self.problem = find(name).at(size)
            self.ways = libraries.ways(self.library, self.problem)
        if way not in self.ways:
            return {"missing": True}
        begin = time.perf_counter()
        found = self.ways[way](0)
        first = time.perf_counter() - begin
        value, derivatives = libraries.results(found)
        given = {} if value is None else {"value": value}
        np.savez(self.folder / f"{way}.npz", *derivatives, **given)
        self.timed[way] = Timed(self.ways[way])
        self.timed[way].calibrate()
        return {"first": first}

    def round(self, ways: list[str], seconds: float) -> dict[str, Any]:
        """Return the least and the median seconds of each way."""
        return {way: self.timed[way].round(seconds) for way in ways}

    def drop(self) -> dict[str, Any]:
        """Forget the problem and its arrays."""
        self.problem, self.ways, self.timed = None, {}, {}
        return {}


def main(arguments: list[str]) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints goes elsewhere
    worker = Worker(arguments[0], Path(arguments[1]))
    for line in sys.stdin:
        command, *given = json.loads(line)
        try:
            answer = getattr(worker, command)(*given)
        except Exception as error:
            said = (str(error).splitlines() or [""])[0]
            answer = {"reason": f"{type(error).__name__}: {said}"[:200]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
