"""What it costs in Python to record one operation: small arrays, so that arithmetic is free."""

import numpy as np

import numgrad as ng

SIZE = 8
DT = 0.01


def slope(xp, x):
    """Lorenz (1996): three rolls and four operations."""
    return (xp.roll(x, -1) - xp.roll(x, 2)) * xp.roll(x, 1) - x + 8.0


def flow(xp, x):
    """Ten classical Runge-Kutta steps: 400 operations."""
    for _ in range(10):
        k1 = slope(xp, x)
        k2 = slope(xp, x + 0.5 * DT * k1)
        k3 = slope(xp, x + 0.5 * DT * k2)
        k4 = slope(xp, x + DT * k3)
        x = x + DT / 6.0 * (k1 + 2.0 * (k2 + k3) + k4)
    return x


class Recording:
    """One operation on tensors that hang on a graph."""

    number = 200

    def setup(self):
        array = np.linspace(0.1, 0.9, SIZE)
        self.array = array
        self.x = ng.tensor(array, requires_grad=True) * 1.0
        self.y = ng.tensor(array, requires_grad=True) * 1.0
        self.constant = ng.tensor(array)
        self.mask = self.constant > 0.5
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

    def time_sum_of_columns(self):
        self.matrix.sum(0)

    def time_mean(self):
        self.x.mean()

    def time_reshape(self):
        self.matrix.reshape(2, 8)

    def time_transpose(self):
        _ = self.matrix.T

    def time_concat(self):
        ng.concat([self.x, self.y])

    def time_where(self):
        ng.where(self.mask, self.x, self.y)

    def time_matmul(self):
        _ = self.matrix @ self.matrix


class Passes:
    """The smallest pass, and one over hundreds of nodes, of graphs that were met before."""

    def setup(self):
        self.leaf = ng.tensor(np.linspace(0.1, 0.9, SIZE), requires_grad=True)
        self.ones = ng.tensor(np.ones(SIZE))
        self.start = 8.0 + 0.01 * np.sin(np.arange(512.0))
        for _ in range(5):
            self.time_gradient_of_one_node()
            self.time_backward()
            self.time_gradient_of_ten_runge_kutta_steps()

    def time_gradient_of_one_node(self):
        ng.grad(self.leaf * self.leaf, self.leaf, self.ones)

    def time_backward(self):
        self.leaf.grad = None
        (self.leaf * self.leaf).sum().backward()

    def time_ten_runge_kutta_steps(self):
        flow(ng, ng.tensor(self.start, requires_grad=True))

    def time_gradient_of_ten_runge_kutta_steps(self):
        x = ng.tensor(self.start, requires_grad=True)
        ng.grad(flow(ng, x), x, self.start)

    def time_ten_runge_kutta_steps_of_numpy(self):
        flow(np, self.start)


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
