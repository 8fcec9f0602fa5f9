"""Captured functions: what a replay costs, small and large."""

import numpy as np

import numgrad as ng

from .overhead import rosenbrock


def pendulum(angle):
    """Elementwise, with transcendental functions: a replay keeps intermediates in the cache."""
    return (np.sin(angle) * np.exp(-angle * angle)).sum()


class Replay:
    params = (["rosenbrock", "pendulum"], [5, 1_000_000])
    param_names = ("function", "size")

    def setup(self, function, size):
        if not hasattr(ng, "jit"):
            raise NotImplementedError("no captured functions")
        self.x = 1.0 + 0.3 * np.sin(np.arange(size))
        chosen = {"rosenbrock": rosenbrock, "pendulum": pendulum}[function]
        self.gradient = ng.jit(ng.func.grad(chosen))
        self.gradient(self.x)

    def time_replay(self, function, size):
        self.gradient(self.x)

    def peakmem_replay(self, function, size):
        self.gradient(self.x)
