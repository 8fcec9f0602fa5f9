"""One system doing one workload in a process of its own; driven by lines on standard input.

``python -m asv_benchmarks.peers.worker WORKLOAD SYSTEM FOLDER [--quick]`` answers every command
with one line of JSON. A process for each keeps the systems from disturbing one another: their
thread pools, their memory, a compiler that does not come back.
"""

import contextlib
import importlib
import json
import os
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from . import memory, systems
from .new_graph import new_graph_seconds
from .task import Call, MissingError, Task, Workload, disagreement
from .workloads import find

HAND_WRITTEN = "hand-written"
ROUND_SECONDS = 0.05
CHUNK_SECONDS = 0.0005


class Worker:
    """The system, its call, and what was measured on the way to the first result."""

    def __init__(self, workload: Workload, system: str, folder: Path, quick: bool) -> None:
        self.workload, self.system, self.folder = workload, system, folder
        self.task = workload.task(quick)
        if system in systems.SYSTEMS:
            importlib.import_module(f"{systems.__name__}.{systems.SYSTEMS[system][0]}")
        self.calls = 1

    def start(self) -> dict[str, Any]:
        """Prepare, call once, compare: seconds to the first result and the disagreement."""
        before = memory.resident()
        memory.reset_peak()
        self.before = before
        begin = time.perf_counter()
        self.call = prepared(self.workload, self.system, self.task)
        results = self.call()
        first = time.perf_counter() - begin
        wrong = self._compare(systems.numpy_results(results))
        del results
        self._calibrate()
        return {"first": first, "disagreement": wrong}

    def _compare(self, results: tuple[np.ndarray, ...]) -> float:
        """Compare with the hand-written results, or keep them if they are these."""
        if self.system == HAND_WRITTEN:
            for i, array in enumerate(results):
                np.save(self.folder / f"{self.workload.key}-{i}.npy", array)
            return 0.0
        paths = sorted(self.folder.glob(f"{self.workload.key}-*.npy"))
        return disagreement(results, tuple(np.load(path) for path in paths))

    def _calibrate(self) -> None:
        """So many calls take long enough for the clock."""
        self.call()
        seconds = self._chunk()
        self.calls = max(1, round(CHUNK_SECONDS / seconds)) if seconds < CHUNK_SECONDS else 1

    def _chunk(self) -> float:
        call, calls = self.call, self.calls
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        return (time.perf_counter() - begin) / calls

    def round(self) -> dict[str, Any]:
        """Median seconds of a call, after one that wakes threads and caches."""
        begin = time.perf_counter()
        self.call()
        seconds = time.perf_counter() - begin
        if seconds > 10 * ROUND_SECONDS:
            return {"seconds": seconds, "best": seconds}
        times = []
        end = time.perf_counter() + ROUND_SECONDS
        while len(times) < 3 or time.perf_counter() < end:
            times.append(self._chunk())
        return {"seconds": median(times), "best": min(times)}

    def peak(self) -> dict[str, Any]:
        """Peak MiB above what was resident before the first call, results included."""
        return {"mebibytes": (memory.peak() - self.before) / 2**20}

    def new_graph(self) -> dict[str, Any]:
        """Seconds by which the first call of a graph never seen is slower than its later ones."""
        return {"seconds": new_graph_seconds(self.system, self.task)}


def prepared(workload: Workload, system: str, task: Task) -> Call:
    """Return the function without arguments that is timed."""
    if system == HAND_WRITTEN:
        return workload.hand_written(task)
    if system in workload.own:
        return workload.own[system](task)
    return systems.prepare(system, task)


def main(arguments: list[str]) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints goes elsewhere
    key, system, folder, *options = arguments
    worker: Worker | None = None
    for line in sys.stdin:
        command = line.strip()
        try:
            if worker is None:
                worker = Worker(find(key), system, Path(folder), "--quick" in options)
            answer = getattr(worker, command)()
        except (MissingError, ImportError) as error:
            answer = {"reason": str(error)}
        except Exception as error:
            said = (str(error).splitlines() or [""])[0].replace("|", "/")
            answer = {"reason": f"{type(error).__name__}: {said}"[:100]}
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
