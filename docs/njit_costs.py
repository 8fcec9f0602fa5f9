"""What derived adjoints take beside the loops that they are derived from: the figures of `njit.md`.

PYTHONPATH=. python docs/njit_costs.py
PYTHONPATH=. python docs/njit_costs.py long
"""

import resource
import signal
import sys
import threading
import time
import timeit

import numpy as np

import numgrad as ng
from tests.adjoint.kernels import CASES, arguments

SIZES = {"nbody": 400, "heat": 1000, "thomas": 2000, "time_warping": 150, "cholesky": 60}


def best(call):
    """Return the microseconds of the processor that a call takes, the least of several."""
    return min(timeit.repeat(call, timer=time.process_time, number=30, repeat=7)) / 30 * 1e6


def table():
    """Print the table of costs."""
    for name, size in SIZES.items():
        loops, given = ng.njit(CASES[name][0]), arguments(name, size)
        if name == "heat":
            given[2] = np.int64(200)
        adjoint = ng.adjoint(loops)
        primal = best(lambda f=loops, a=given: f(*a))
        derived = best(lambda f=adjoint, a=given: f(*a))
        print(f"| {name} | {size} | {primal:.0f} | {derived:.0f} | {derived / primal:.1f} |")


def long():
    """Print what a million steps of the heat equation take, in seconds of the processor."""
    loops, given = ng.njit(CASES["heat"][0]), arguments("heat", 1000)
    adjoint = ng.adjoint(loops)
    ng.set_flags(tape_memory=1)
    adjoint(*given[:2], np.int64(1000))  # compiled
    ng.set_flags(tape_memory=64)
    given[2] = np.int64(1_000_000)
    loops(*given)
    start = time.process_time()
    loops(*given)
    primal = time.process_time() - start
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    adjoint(*given)
    derived = time.process_time() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"value {primal:.2f} s, gradient {derived:.2f} s, {grown:.0f} MiB more than before")
    sent = []

    def interrupt():
        sent.append(time.perf_counter())
        signal.raise_signal(signal.SIGINT)

    for delay in (0.3, 1.0, 3.0):
        threading.Timer(delay, interrupt).start()
        try:
            adjoint(*given)
        except KeyboardInterrupt:
            print(f"Ctrl-C answered after {1e3 * (time.perf_counter() - sent[-1]):.0f} ms")


long() if sys.argv[1:] == ["long"] else table()
