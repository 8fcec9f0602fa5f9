"""What a replay costs: small functions are all Python, large ones all arithmetic."""

import numpy as np

import numgrad as ng


def rosenbrock(x):
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


class Rosenbrock:
    """The gradient of a small function, arrays in and out."""

    params = (5, 1000)
    param_names = ("n",)

    def setup(self, n):
        self.x = np.linspace(0.5, 1.5, n)
        self.out = np.empty(n)
        self.slope = ng.jit(ng.func.grad(rosenbrock))
        self.slope(self.x)

    def time_replay(self, n):
        self.slope(self.x)

    def time_replay_into_an_array(self, n):
        self.slope(self.x, out=self.out)

    def time_without_jit(self, n):
        ng.func.grad(rosenbrock)(self.x)


class Recording:
    """What the first call of a kind costs."""

    def setup(self):
        self.slope = ng.func.grad(rosenbrock)
        ng.jit(self.slope)(np.ones(3))

    def time_record(self):
        ng.jit(self.slope)(np.ones(4))
