"""Single operators on arrays in the cache and beyond it."""

import numpy as np

import numgrad as ng

FUNCTIONS = {
    "multiply": lambda x: x * x,
    "exp": ng.exp,
    "log": ng.log,
    "sin": ng.sin,
    "tanh": ng.tanh,
    "sum": ng.sum,
    "roll": lambda x: ng.roll(x, 1),
}


class Kernel:
    params = (list(FUNCTIONS), [4096, 1_000_000], ["float64", "float32"])
    param_names = ("function", "size", "dtype")

    def setup(self, function, size, dtype):
        self.call = FUNCTIONS[function]
        self.x = ng.tensor(np.linspace(0.5, 2.0, size, dtype=dtype))
        self.call(self.x)

    def time_value(self, function, size, dtype):
        self.call(self.x)


class Product:
    params = (["float64", "float32"],)
    param_names = ("dtype",)

    def setup(self, dtype):
        square = np.linspace(0.0, 1.0, 256 * 256, dtype=dtype).reshape(256, 256)
        self.x = ng.tensor(square, requires_grad=True)
        self.time_value_and_gradient(dtype)

    def time_value_and_gradient(self, dtype):
        ng.grad((self.x @ self.x).sum(), self.x)


class Rows:
    """Rows of a batch times a matrix that they share, which lies by columns in a backward pass."""

    params = ([1, 16, 128], ["float64", "float32"])
    param_names = ("rows", "dtype")

    def setup(self, rows, dtype):
        square = np.linspace(0.0, 1.0, 256 * 256, dtype=dtype).reshape(256, 256)
        self.x = ng.tensor(square[:1], requires_grad=True)
        self.y = self.x @ square
        self.cotangents = np.ones((rows, 1, 256), dtype)
        self.time_rows(rows, dtype)

    def time_rows(self, rows, dtype):
        ng.grad(self.y, self.x, self.cotangents, retain_graph=True, is_grads_batched=True)


class Chain:
    """A captured function of elements that lie side by side in rows of so many, unfused."""

    params = ([256, 4096, 1 << 19],)
    param_names = ("row",)

    def setup(self, row):
        wide = np.linspace(0.5, 2.0, (1 << 19) // row * (row + 8)).reshape(-1, row + 8)
        self.x = wide[:, :row]
        self.call = ng.jit(lambda x: ng.tanh(x * x + 1.0) / x, fuse="never")
        self.call(self.x)

    def time_value(self, row):
        self.call(self.x)
