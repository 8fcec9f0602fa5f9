"""What Python costs: recording an operation, a node of a backward pass, a small gradient."""

import numpy as np

import numgrad as ng

LENGTH = 100


def chain(x, factor):
    for _ in range(LENGTH):
        x = x * factor
    return x


class Chain:
    """A chain of 100 multiplications of size-1 arrays."""

    def setup(self):
        self.x = ng.tensor([1.5], requires_grad=True)
        self.factor = np.array([1.01])
        self.y = chain(self.x, self.factor)
        ng.grad(self.y, self.x, retain_graph=True)

    def time_record(self):
        chain(self.x, self.factor)

    def time_backward(self):
        ng.grad(self.y, self.x, retain_graph=True)

    def time_record_and_backward(self):
        ng.grad(chain(self.x, self.factor), self.x)

    def peakmem_record_and_backward(self):
        self.time_record_and_backward()


class SmallGradient:
    """Rosenbrock's function through ng.func.grad, NumPy in and out."""

    params = ([5, 1000],)
    param_names = ("size",)

    def setup(self, size):
        self.x = 1.0 + 0.3 * np.sin(np.arange(size))
        self.gradient = ng.func.grad(rosenbrock)
        self.gradient(self.x)

    def time_gradient(self, size):
        self.gradient(self.x)


def rosenbrock(x):
    head, tail = x[:-1], x[1:]
    return ((1.0 - head) ** 2 + 100.0 * (tail - head**2) ** 2).sum()
