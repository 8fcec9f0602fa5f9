"""What it costs in Python to record one operation: small arrays, so that arithmetic is free."""

import numpy as np

import numgrad as ng

SIZE = 8


class Recording:
    """One operation on tensors that hang on a graph."""

    number = 200

    def setup(self):
        array = np.linspace(0.1, 0.9, SIZE)
        self.array = array
        self.x = ng.tensor(array, requires_grad=True) * 1.0
        self.y = ng.tensor(array, requires_grad=True) * 1.0
        self.constant = ng.tensor(array)
        self.matrix = ng.tensor(np.eye(4), requires_grad=True) * 1.0

    def time_numpy_multiply(self):
        _ = self.array * self.array

    def time_multiply_without_graph(self):
        _ = self.constant * self.constant

    def time_multiply(self):
        _ = self.x * self.y

    def time_multiply_by_number(self):
        _ = self.x * 2.0

    def time_add(self):
        _ = self.x + self.y

    def time_exp(self):
        ng.exp(self.x)

    def time_slice(self):
        _ = self.x[1:]

    def time_roll(self):
        ng.roll(self.x, 1)

    def time_sum(self):
        self.x.sum()

    def time_matmul(self):
        _ = self.matrix @ self.matrix


class Chain:
    """A hundred multiplications and additions, and the pass over them."""

    def setup(self):
        self.x = ng.tensor(np.linspace(0.1, 0.9, SIZE), requires_grad=True)
        self.time_forward_and_backward()

    def forward(self):
        y = self.x
        for _ in range(50):
            y = y * self.x + 0.5
        return y

    def time_forward(self):
        self.forward()

    def time_forward_and_backward(self):
        ng.grad(self.forward().sum(), self.x)
