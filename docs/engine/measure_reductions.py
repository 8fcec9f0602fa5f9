"""Measure a scalar of large arrays and its gradient beside torch and JAX, which must be installed.

``python docs/engine/measure_reductions.py`` prints the tables of `programs.md`. Each system runs in
a process of its own, since the threads of one that wait disturb those of another; rounds alternate
between them. ``--only NAME`` measures the cases whose names begin so, ``--threads 1`` takes one
thread and its processor time, which other work on the machine hardly disturbs.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from asv_benchmarks.benchmarks import reductions

THREADS = int(os.environ.get("MEASURE_THREADS", "2"))
SYSTEMS = {
    "eager": ["torch", "numgrad"],
    "captured": ["torch.compile", "jax", "numgrad.jit", "numgrad.jit fused"],
}

Call = Callable[[], Any]


def of_numgrad(
    function: Any, given: Sequence[Any], wanted: tuple[int, ...], fuse: str | None = None
) -> Call:
    """Return a call of numgrad, captured where ``fuse`` says how."""
    import numgrad as ng

    both = ng.func.value_and_grad(lambda *args: function(ng, *args), wanted)
    ng.set_flags(threads=THREADS)
    given = [ng.tensor(a) for a in given]
    if fuse is not None:
        both = ng.jit(both, fuse=fuse)
    return lambda: both(*given)


def of_torch(
    function: Any, given: Sequence[Any], wanted: tuple[int, ...], compiled: bool = False
) -> Call:
    """Return a call of torch."""
    import torch

    torch.set_num_threads(THREADS)
    given = [torch.tensor(a) for a in given]
    for n in wanted:
        given[n].requires_grad_()
    loss = torch.compile(function) if compiled else function

    def call() -> Any:
        value = loss(torch, *given)
        return value, torch.autograd.grad(value, [given[n] for n in wanted])

    return call


def of_jax(function: Any, given: Sequence[Any], wanted: tuple[int, ...]) -> Call:
    """Return a call of JAX."""
    import jax

    jax.config.update("jax_enable_x64", True)
    names = {name: getattr(jax.numpy, name) for name in dir(jax.numpy)}
    xp = SimpleNamespace(**names, logsumexp=jax.scipy.special.logsumexp)
    both = jax.jit(jax.value_and_grad(lambda *args: function(xp, *args), wanted))
    given = [jax.numpy.asarray(a) for a in given]
    return lambda: jax.block_until_ready(both(*given))


def call_of(system: str, case: str) -> Call:
    """Return a function without arguments that computes a case."""
    given = reductions.arguments(case)
    if system.startswith("numgrad"):
        fuse = {"numgrad": None, "numgrad.jit": "never"}.get(system, "now")
        return of_numgrad(*given, fuse=fuse)
    if system == "jax":
        return of_jax(*given)
    return of_torch(*given, compiled=system == "torch.compile")


def work(system: str) -> None:
    """Read names of cases; for each line print the time of a call in ms."""
    last, call = "", None
    for line in sys.stdin:
        case = line.strip()
        if case != last:
            last, call = case, call_of(system, case)
            for _ in range(3):
                call()
        assert call is not None
        clock = time.perf_counter if THREADS > 1 else time.process_time
        times = []
        end = clock() + 0.15
        while len(times) < 3 or clock() < end:
            began = clock()
            call()
            times.append(clock() - began)
        print(1e3 * min(times), flush=True)


def measure(kind: str, cases: Sequence[str], rounds: int) -> None:
    """Print the table of a kind of systems."""
    flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    environment = {**os.environ, **({"XLA_FLAGS": flags} if THREADS == 1 else {})}
    workers = {
        name: subprocess.Popen(
            [sys.executable, __file__, "--worker", name], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
        )
        for name in SYSTEMS[kind]
    }  # fmt: skip
    print(f"| {kind}, ms |", " | ".join(workers), "|\n|---|", "---|" * len(workers), sep="")
    for case in cases:
        best = dict.fromkeys(workers, float("inf"))
        for _ in range(rounds):
            for name, worker in workers.items():
                assert worker.stdin is not None
                assert worker.stdout is not None
                print(case, file=worker.stdin, flush=True)
                best[name] = min(best[name], float(worker.stdout.readline()))
        print(f"| {case} |", " | ".join(f"{t:.3g}" for t in best.values()), "|", flush=True)
    for worker in workers.values():
        worker.communicate()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", type=int, default=THREADS)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--worker")
    options = parser.parse_args()
    if options.threads != THREADS:
        THREADS = options.threads
        os.environ["MEASURE_THREADS"] = str(THREADS)
    if options.worker:
        work(options.worker)
    else:
        chosen = [case for case in reductions.CASES if case.startswith(options.only)]
        for kind in SYSTEMS:
            measure(kind, chosen, options.rounds)
