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


def wave(x, y):
    for _ in range(8):
        x = ng.sin(x) * y + ng.tanh(x - y) / (1.5 + x * x)
    return x.sum()


class Long:
    """A gradient of fifty operations an element, in one fused kernel."""

    params = [1_000, 10_000, 100_000, 1_000_000]  # noqa: RUF012  asv reads it
    param_names = ("elements",)

    def setup(self, elements):
        self.operands = np.linspace(-1.0, 1.0, elements), np.linspace(0.5, 2.0, elements)
        self.slopes = ng.jit(ng.func.grad(wave, argnums=(0, 1)), fuse="now")
        self.slopes(*self.operands)
        self.slopes(*self.operands)

    def time_replay(self, elements):
        self.slopes(*self.operands)


class Leaves:
    """What it takes to find the arrays of a call: the same function for every kind of arguments."""

    number = 200

    def setup(self):
        array = np.linspace(0.5, 1.5, 5)
        self.array, self.strided = array, np.repeat(array, 2)[::2]
        self.tensor, self.leaf = ng.tensor(array), ng.tensor(array, requires_grad=True)
        self.slope = ng.jit(ng.func.grad(rosenbrock))
        self.slopes = ng.jit(lambda tree: {"x": ng.func.grad(rosenbrock)(tree["x"])})

    def time_array(self):
        self.slope(self.array)

    def time_strided_array(self):
        self.slope(self.strided)

    def time_tensor(self):
        self.slope(self.tensor)

    def time_tensor_that_requires_grad(self):
        self.slope(self.leaf)

    def time_dict_of_arrays(self):
        self.slopes({"x": self.array})

    def time_dict_of_tensors(self):
        self.slopes({"x": self.tensor})


factor, shift, axis = 3.0, np.ones(5), 0


@ng.njit
def horner(c, x):
    p = 0.0
    for i in range(len(c)):
        p = p * x + c[i]
    return p * p


class Loops:
    """A function of loops under `njit`, which a program calls without Python from some call on."""

    params = (10, 1000)
    param_names = ("n",)

    def setup(self, n):
        self.given = np.linspace(0.5, 1.5, n), 0.9
        self.value, self.slope = ng.jit(horner), ng.jit(ng.func.grad(horner))
        self.eager = ng.func.grad(horner)
        for call in (self.value, self.slope, self.eager):
            for _ in range(150):
                call(*self.given)

    def time_loops(self, n):
        horner(*self.given)

    def time_value(self, n):
        self.value(*self.given)

    def time_gradient(self, n):
        self.slope(*self.given)

    def time_gradient_without_jit(self, n):
        self.eager(*self.given)


class Held:
    """An object whose attributes a captured function reads."""

    def __init__(self):
        self.factor, self.shift, self.axis = factor, shift, axis


class Names:
    """What it takes to compare what three names, or three attributes, are bound to at each call."""

    number = 2000

    def setup(self):
        self.x = np.linspace(0.5, 1.5, 5)
        self.named = ng.jit(lambda x: (x * factor + shift).sum(axis=axis))
        self.unnamed = ng.jit(lambda x, s=shift: (x * 3.0 + s).sum(axis=0))
        held = Held()
        self.held = ng.jit(lambda x: (x * held.factor + held.shift).sum(axis=held.axis))
        self.named(self.x)
        self.held(self.x)
        self.unnamed(self.x)

    def time_three_names(self):
        self.named(self.x)

    def time_three_attributes(self):
        self.held(self.x)

    def time_no_names(self):
        self.unnamed(self.x)


class Recording:
    """What the first call of a kind costs."""

    def setup(self):
        self.slope = ng.func.grad(rosenbrock)
        ng.jit(self.slope)(np.ones(3))

    def time_record(self):
        ng.jit(self.slope)(np.ones(4))
