"""A scalar of large arrays and its gradient: what most programs ask for.

The functions take a namespace of arrays, so that ``docs/engine/measure_reductions.py`` can give
them to other systems.
"""

import numpy as np

import numgrad as ng


def squares(xp, a, b, x, y):
    """The mean square of the residuals of a line."""
    return xp.mean((a * x + b - y) ** 2)


def waves(xp, x):
    """A sum of functions that take longer than a load from memory."""
    return xp.sum(xp.sin(x) * xp.exp(-x * x))


def logsumexp(xp, x):
    """The logarithm of a sum of exponentials, which needs the largest one first."""
    return xp.logsumexp(x, 0)


def norm(xp, x):
    """The length of a vector."""
    return xp.linalg.norm(x)


def layers(xp, x, w):
    """Rows brought to mean 0 and variance 1, and weighed."""
    d = x - xp.mean(x, 1, keepdims=True)
    return xp.sum(w * d / xp.sqrt(xp.mean(d * d, 1, keepdims=True) + 1e-5))


def entropy(xp, x):
    """Softmax and cross-entropy of rows."""
    chosen = x[xp.arange(LABELS.size), xp.asarray(LABELS)]
    return xp.mean(xp.logsumexp(x, 1) - chosen)


def bias(xp, z, b, y):
    """A sum over the rows of a matrix, of which each gets the same vector."""
    return xp.mean((xp.tanh(z + b) - y) ** 2)


LABELS = np.random.default_rng(1).integers(0, 512, 10**4)
LINES = (10**4, 10**6, 10**7)
CASES = {
    **{f"squares {n}": (squares, (), (), (n,), (n,)) for n in LINES},
    **{f"waves {n}": (waves, (n,)) for n in LINES},
    **{f"logsumexp {n}": (logsumexp, (n,)) for n in LINES},
    **{f"norm {n}": (norm, (n,)) for n in LINES},
    "layers 10000 x 512": (layers, (10**4, 512), (10**4, 512)),
    "entropy 10000 x 512": (entropy, (10**4, 512)),
    "bias 100000 x 64": (bias, (10**5, 64), (64,), (10**5, 64)),
}
"""The functions by name, each with the shapes of its arguments."""

WANTED = {squares: (0, 1, 2), bias: (0, 1)}
"""The arguments of which gradients are asked for; by default the first."""


def arguments(name):
    """Return the function of a case, its arguments, and which of them have gradients."""
    function, *shapes = CASES[name]
    rng = np.random.default_rng(0)
    made = [np.asarray(rng.normal(size=shape)) for shape in shapes]
    return function, made, WANTED.get(function, (0,))


class Losses:
    """A scalar and its gradient, operation by operation and captured."""

    params = tuple(name for name in CASES if "10000000" not in name)
    param_names = ("case",)

    def setup(self, case):
        function, given, wanted = arguments(case)
        self.given = [ng.tensor(a) for a in given]
        self.both = ng.func.value_and_grad(lambda *args: function(ng, *args), wanted)
        self.captured = ng.jit(self.both)
        self.captured(*self.given)
        self.both(*self.given)

    def time_eager(self, case):
        self.both(*self.given)

    def time_captured(self, case):
        self.captured(*self.given)


class Alone:
    """Reductions of a large array by themselves."""

    params = ("sum", "max", "prod", "sum of rows", "sum of columns")
    param_names = ("reduction",)

    def setup(self, reduction):
        x = ng.tensor(np.random.default_rng(0).normal(size=(10**4, 128)))
        name, *axes = reduction.split(" of ")
        axis = {"rows": 0, "columns": 1}[axes[0]] if axes else None
        self.reduce = lambda: getattr(ng, name)(x, axis)
        self.reduce()

    def time_reduction(self, reduction):
        self.reduce()
