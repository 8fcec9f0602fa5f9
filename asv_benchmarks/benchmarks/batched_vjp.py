"""The Jacobian of a simulation: one batched call against one call per row.

Lorenz (1996): ``x_i' = (x_{i+1} - x_{i-2}) x_{i-1} - x_i + F`` on a ring, ten Runge-Kutta steps.
"""

import os
import subprocess
import sys
import tempfile

import numba
import numpy as np

import numgrad as ng

STEPS = 10
DT = 0.01
FORCING = 8.0


def slope(x):
    return (ng.roll(x, -1) - ng.roll(x, 2)) * ng.roll(x, 1) - x + FORCING


def flow(x):
    """The state after all steps."""
    for _ in range(STEPS):
        k1 = slope(x)
        k2 = slope(x + 0.5 * DT * k1)
        k3 = slope(x + 0.5 * DT * k2)
        k4 = slope(x + DT * k3)
        x = x + DT / 6.0 * (k1 + 2.0 * (k2 + k3) + k4)
    return x


def recorded(size):
    """Start and end of a recorded simulation."""
    start = ng.tensor(FORCING + 0.01 * np.sin(np.arange(size)), requires_grad=True)
    return start, flow(start)


class FlowJacobian:
    params = ([16, 128, 512], [1, 2])
    param_names = ("size", "threads")

    def setup(self, size, threads):
        if threads > numba.config.NUMBA_NUM_THREADS:
            raise NotImplementedError("fewer threads on this machine")
        numba.set_num_threads(threads)
        self.start, self.end = recorded(size)
        self.seeds = np.eye(size)
        self.time_batched(size, threads)  # compile and warm up outside the measurement

    def time_batched(self, size, threads):
        ng.grad(
            self.end,
            self.start,
            grad_outputs=self.seeds,
            is_grads_batched=True,
            retain_graph=True,
        )

    def time_one_row(self, size, threads):
        ng.grad(self.end, self.start, grad_outputs=self.seeds[0], retain_graph=True)

    def peakmem_batched(self, size, threads):
        self.time_batched(size, threads)


class Recording:
    params = ([16, 512],)
    param_names = ("size",)

    def setup(self, size):
        recorded(size)

    def time_record(self, size):
        recorded(size)


class FirstCall:
    """Seconds from the start of a fresh process to the first Jacobian."""

    timeout = 300
    unit = "s"
    code = (
        "import time; t = time.perf_counter();"
        "from benchmarks.batched_vjp import FlowJacobian as J; j = J(); j.setup(128, 1);"
        "print(time.perf_counter() - t)"
    )

    def setup_cache(self):
        """Cold and warm figures from two processes that share an empty kernel cache."""
        with tempfile.TemporaryDirectory() as cache:
            return [self.first_call(cache) for _ in range(2)]

    def first_call(self, cache):
        folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        done = subprocess.run(
            [sys.executable, "-c", self.code],
            env={**os.environ, "NUMGRAD_CACHE_DIR": cache},
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        )
        return float(done.stdout)

    def track_cold(self, seconds):
        return seconds[0]

    def track_warm(self, seconds):
        return seconds[1]


def timeraw_import():
    return "import numgrad"
