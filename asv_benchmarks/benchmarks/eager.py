"""Functions by themselves, eagerly: what they cost on small arrays and on large ones.

``python -m asv_benchmarks.peers.eager`` has more of them, beside torch.
"""

import numpy as np

import numgrad as ng

SMALL = {
    "norm": lambda x, m: ng.linalg.norm(x),
    "std": lambda x, m: ng.std(x),
    "dot": lambda x, m: x @ x,
    "matrix times vector": lambda x, m: m @ x,
    "diff": lambda x, m: ng.diff(x),
    "sort": lambda x, m: ng.sort(x),
    "tile": lambda x, m: ng.tile(x, 3),
    "repeat": lambda x, m: ng.repeat(x, 3),
    "trace": lambda x, m: ng.trace(m),
    "triu": lambda x, m: ng.triu(m),
    "cumsum of columns": lambda x, m: ng.cumsum(m, 0),
}

LARGE = {
    "norm": ((10**6,), lambda x: ng.linalg.norm(x)),
    "dot": ((10**6,), lambda x: x @ x),
    "sort": ((10**4,), lambda x: ng.sort(x)),
    "column times row": ((1000, 1000), lambda x: x[:, :1] * x[:1]),
    "matrix plus row": ((1000, 1000), lambda x: x + x[0]),
    **{
        f"{name} of {rows} x {columns}, axis {axis}": (
            (rows, columns),
            lambda x, name=name, axis=axis: getattr(ng, name)(x, axis),
        )
        for name in ("sum", "max")
        for rows, columns, axis in (
            (10**5, 3, 0), (10**5, 3, 1), (10**4, 50, 1), (10**4, 100, 1), (3, 10**5, 0),
            (1000, 1000, 0),
        )
    },
}  # fmt: skip


class Small:
    """Arrays of ten numbers, and matrices of ten times ten."""

    params = tuple(SMALL)
    param_names = ("function",)

    def setup(self, function):
        rng = np.random.default_rng(0)
        x, m = (ng.tensor(rng.uniform(0.1, 0.9, shape)) for shape in (10, (10, 10)))
        self.call = lambda: SMALL[function](x, m)
        for _ in range(200):  # until it is found without Python
            self.call()

    def time_value(self, function):
        self.call()


class Large:
    """What memory and the processor take."""

    params = tuple(LARGE)
    param_names = ("function",)

    def setup(self, function):
        shape, call = LARGE[function]
        x = ng.tensor(np.random.default_rng(0).uniform(0.1, 0.9, shape))
        self.call = lambda: call(x)
        self.call()

    def time_value(self, function):
        self.call()


class StridedGradient:
    """A pass over a graph that saved a column of a matrix."""

    def setup(self):
        rng = np.random.default_rng(0)
        leaves = [ng.tensor(rng.uniform(size=(10, 10)), requires_grad=True) for _ in range(2)]
        y, g = leaves[0] * leaves[1][:, :1], np.ones((10, 10))
        self.call = lambda: ng.grad(y, leaves, g, retain_graph=True)
        for _ in range(3):
            self.call()

    def time_pass(self):
        self.call()
