"""What derived adjoints take beside the loops that they are derived from: the figures of `njit.md`.

PYTHONPATH=. python docs/njit_costs.py
PYTHONPATH=. python docs/njit_costs.py long
PYTHONPATH=. python docs/njit_costs.py threads
"""

import resource
import signal
import sys
import threading
import time
import timeit

import numba
import numpy as np

import numgrad as ng
from numgrad._adjoint import Options, derive, type_of
from numgrad._adjoint.kernel import run
from numgrad.loops.kept import keep
from tests.adjoint import parallel_kernels
from tests.adjoint.kernels import CASES, arguments

SIZES = {
    "nbody": 400, "heat": 1000, "bundle": 2000, "lstm": 300, "thomas": 2000,
    "thomas_in_place": 2000, "gauss_seidel": 64, "lorenz": 1000, "time_warping": 150,
    "recurrence": 2000, "gray_scott": 64, "horner": 1000, "kepler": 1000, "asian_option": 200,
    "cholesky": 60, "softmax": 100, "interpolation": 1000, "verlet": 100, "wavelet": 1024,
    "smith_waterman": 150, "crank_nicolson": 200, "cubic_spline": 500, "metropolis": 1000,
    "bilinear": 64, "csr_product": 1000, "pid": 1000, "kalman": 100,
}  # fmt: skip


def best(call, number=30):
    """Return the microseconds of the processor that a call takes, the least of several."""
    times = timeit.repeat(call, timer=time.process_time, number=number, repeat=9)
    return min(times) / number * 1e6


def table():
    """Print the table of costs: of the loops, and of their captured gradient."""
    ratios = []
    for name, size in SIZES.items():
        loops, given = ng.njit(CASES[name][0]), arguments(name, size)
        if name == "heat":
            given[2] = np.int64(200)
        floats = [n for n, part in enumerate(given) if np.asarray(part).dtype.kind == "f"]
        gradient = ng.jit(ng.func.grad(loops, argnums=tuple(floats)))
        for _ in range(120):  # from the hundredth call on without Python
            gradient(*given)
        primal = best(lambda f=loops, a=given: f(*a), 300)
        derived = best(lambda f=gradient, a=given: f(*a), 300)
        ratios.append(derived / primal)
        print(f"| {name} | {size} | {primal:.1f} | {derived:.1f} | {ratios[-1]:.1f} |", flush=True)
    print(f"the median of {len(ratios)} ratios is {np.median(ratios):.2f}")


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


def of_threads():
    """Return the parallel loops of the table, with their arguments."""
    draw, many = np.random.default_rng(0), 100_000
    return {
        "attraction": [draw.normal(size=(400, 2)), draw.uniform(0.5, 1.0, 400), 0.5],
        "orbits": [draw.normal(size=1000), 28.0, 100],
        "roots": [draw.uniform(size=20_000)],
        "scaled": [draw.normal(size=many), 0.7],
        "gathered": [draw.normal(size=1000), draw.integers(0, 1000, many), draw.normal(size=many)],
        "reaction": [draw.normal(size=(150, 150)), 0.2, 4],
        "heat_in_parallel": [draw.normal(size=50_000), 0.2, 10],
    }  # fmt: skip


def gradient(kernel, args, is_chunked):
    """Return a call of the derived adjoint, whose loops run in chunks or from end to end."""
    derived = derive(kernel, [type_of(a) for a in args], options=Options(threads=is_chunked))
    results = kernel(*args)
    seeds = [np.ones_like(r) for r in (results if isinstance(results, tuple) else (results,))]
    seeds = [seed if seed.ndim else float(seed) for seed in seeds]
    shadows = {n: np.zeros_like(args[n]) for n in derived.shadows}
    return lambda: run(derived, args, shadows, seeds, 1 << 30)


def threads():
    """Print the milliseconds by the clock of parallel loops and of their gradients, the least of
    many rounds in which all of them take turns; and the seconds of the processor that the first
    gradients take, which compile them where the cache is empty."""
    keep()
    for name, args in of_threads().items():
        kernel = getattr(parallel_kernels, name)
        kernel(*args)
        serial, chunked = gradient(kernel, args, False), gradient(kernel, args, True)
        calls = [(2, lambda k=kernel, a=args: k(*a)), (1, serial), (1, chunked), (2, chunked)]
        first = [once(*calls[n], time.process_time) for n in (1, 3)]
        least = [float("inf")] * len(calls)
        for _ in range(ROUNDS):
            for n, (count, call) in enumerate(calls):
                once(count, call)  # the threads are awake
                least[n] = min(least[n], 1e3 * once(count, call))
        times = " | ".join([*(f"{t:.2f}" for t in least), f"{least[1] / least[3]:.2f}"])
        print(f"| {name} | {times} | {first[0]:.1f} | {first[1]:.1f} |", flush=True)


def once(count, call, clock=time.perf_counter):
    """Return what a call takes on a number of threads."""
    numba.set_num_threads(count)
    start = clock()
    call()
    return clock() - start


ROUNDS = 400
if sys.argv[1:] == ["threads"]:
    threads()
else:
    long() if sys.argv[1:] == ["long"] else table()
