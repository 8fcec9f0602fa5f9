"""Passes over small graphs: outputs, inputs, seeds, options, hooks and writes vary."""

import contextlib
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np

import numgrad as ng

from .answers import Case
from .drawing import Axes, session

Program = Callable[[Any, Any], Sequence[Any]]
"""Takes two tensors; the first result is one on the way to others."""

PROGRAMS: dict[str, tuple[Program, tuple[int, ...], tuple[int, ...]]] = {}
"""Programs by name, with the shapes of their operands."""


def program(*shapes: tuple[int, ...]) -> Callable[[Program], Program]:
    """Enter a program into the table."""

    def enter(function: Program) -> Program:
        PROGRAMS[function.__name__] = (function, *shapes)
        return function

    return enter


class Cube(ng.Function):
    """A function with a derivative in Python."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * g * x * x


@program((3,), (3,))
def waves(x, y):
    a = x * y
    b = ng.sin(a) + x
    return [a, b, a * b]


@program((3, 3), (3, 3))
def factors(x, y):
    u, s, v = ng.linalg.svd(x * y)
    return [s, u, v, u * 2, v * 2, s * 2]


@program((3, 3), (3, 3))
def systems(x, y):
    a = x @ x.T + 2 * ng.eye(3, dtype=x.dtype)
    q, r = ng.linalg.qr(x)
    return [a, ng.linalg.solve(a, y), ng.linalg.inv(a), q, r, ng.linalg.det(a)]


@program((6,), (2, 3))
def parts(x, y):
    a, b, c = ng.split(x, 3)
    d, e = ng.unstack(y)
    return [a, b, c, d, e, a * b + d[:2] * e[1:]]


@program((4,), (4,))
def views(x, y):
    v, w = x[1:3], x.reshape(2, 2)
    return [v, w, v * y[:2], w.T @ w, x[::-1] * y]


@program((4,), (4,))
def writes(x, y):
    z = x * 1.0
    z[1:3] = y[:2]
    v = z[2:]
    v *= 3
    return [z, v, z * z, z.sum()]


@program((5,), (3, 4))
def positions(x, y):
    k, mask = np.array([0, 2, 2]), np.array([True, False, True, False, True])
    return [x[1:], x[k], x[mask], x[3], y[1, 2], y[:, k], y[1]]


@program((3, 4), (4,))
def sums(x, y):
    return [x.sum(0), x.sum(), x.max(0), x.mean(1), x @ y, ng.var(x, axis=0), x.prod()]


@program((), (3,))
def numbers(x, y):
    return [x * 3, x * y, x * 2, y * -0.0, 2**y, x**2, x.sum()]


@program((3,), (3,))
def functions(x, y):
    a = Cube.apply(x) * y
    return [a, a + x, y * 2]


@program((3,), (3,))
def twice(x, y):
    a, b = x * x, y * y
    return [a, b, a + a, ng.maximum(a, a), ng.concat([a, a, b]), ng.stack([x, y, x])]


@program((3, 2), (2,))
def rows(x, y):
    return [y * 2, x * y, x + y, ng.where(x > 1, x, y)]


@program((8,), (8,))
def series(x, y):
    f = ng.fft.rfft(x)
    return [ng.cumsum(x), ng.real(f), ng.imag(f), ng.sort(x), ng.fft.irfft(f * f), ng.cumprod(y)]


AXES: Axes = {
    "seed": [0, 1],
    "dtype": ["float64", "float64", "float32"],
    "other": [None, None, "float32", "float64"],
    "order": ["C", "C", "F", "strided", "reversed"],
    "requires": [(True, True), (True, True), (True, False), (False, True)],
    "aliased": [False, False, False, True],
    "outputs": [
        (0,), (1,), (2,), (3,), (4,), (5,), (6,), (1, 1), (0, 1), (1, 0), (2, 0), (0, 2), (4, 3),
        (0, 1, 0), (2, 1, 0), (3, 4, 5),
    ],
    "inputs": ["xy", "x", "y", "yx", "xx", "m", "xm", "mx", "xyz", "zx"],
    "cotangents": [
        "own", "none", "ones", "tensors", "shared", "first", "reversed", "zeros", "rows",
    ],
    "call": ["grad", "grad", "grad", "backward", "into", "twice", "vjp", "jvp", "func"],
    "create_graph": [False, False, False, True],
    "retain_graph": [None, True, False],
    "hook": [None, None, None, None, "leaf", "inner", "removed", "retained", "raises"],
    "write": [None, None, None, "leaf", "inner", "before"],
    "mode": [None, None, None, "anomaly", "sorted", "reference"],
}  # fmt: skip


def draw(rng: Random, name: str | None = None, only: Sequence[str] = ()) -> list[Case]:
    """Return calls of one program, which differ on some axes."""
    return session(rng, name or rng.choice(sorted(PROGRAMS)), AXES, only)


class PlantedError(Exception):
    """What a hook raises."""


def _raise(_: Any) -> None:
    raise PlantedError


def call(case: Case) -> Any:
    """Make a call of `draw`."""
    name, choices = case
    chosen = dict(choices)
    with _mode(chosen["mode"]):
        return Pass(name, chosen).run()


@contextlib.contextmanager
def _mode(mode: str | None):
    if mode == "anomaly":
        with ng.detect_anomaly():
            yield
    elif mode in ("sorted", "reference"):
        flag = {"sort_sum_gradient": True} if mode == "sorted" else {"path": "reference"}
        before = ng.get_flags(*flag)
        ng.set_flags(**flag)
        try:
            yield
        finally:
            ng.set_flags(**before)
    else:
        yield


class Pass:
    """One call: a graph is recorded, and gradients are asked for."""

    def __init__(self, name: str, chosen: dict[str, Any]) -> None:
        self.function, *shapes = PROGRAMS[name]
        self.chosen = chosen
        self.rng = np.random.default_rng(chosen["seed"])
        dtypes = (chosen["dtype"], chosen["other"] or chosen["dtype"])
        self.x, self.y = [
            self._tensor(shape, dtype, requires)
            for shape, dtype, requires in zip(shapes, dtypes, chosen["requires"], strict=True)
        ]
        if chosen["aliased"] and shapes[0] == shapes[1]:
            self.y = self.x

    def _tensor(self, shape: tuple[int, ...], dtype: str, requires: bool) -> ng.Tensor:
        a, order = self.rng.uniform(0.3, 1.7, shape).astype(dtype), self.chosen["order"]
        if order == "F":
            a = np.asfortranarray(a)
        elif a.ndim and order == "strided":
            a = np.repeat(a, 2, -1)[..., ::2]
        elif a.ndim and order == "reversed":
            a = np.ascontiguousarray(a[::-1])[::-1]
        return ng.asarray(a).requires_grad_(requires)

    def run(self) -> Any:
        """Return all that can be seen of the call."""
        if self.chosen["call"] in ("vjp", "jvp", "func"):
            return self._transformed()
        self._before()
        results = self.function(self.x, self.y)
        inner = results[0]
        values = [np.array(np.asarray(r.detach())) for r in results]
        outputs = [results[n % len(results)] for n in self.chosen["outputs"]]
        self._between(inner)
        found = self._gradients(outputs, inner)
        return [values, found, self.x.grad, self.y.grad, inner.grad]

    def _before(self) -> None:
        hook = self.chosen["hook"]
        if self.chosen["write"] == "before":
            with ng.no_grad():
                self.x *= 1.5
        if hook in ("leaf", "removed") and self.x.requires_grad:
            handle = self.x.register_hook(lambda g: 2 * g)
            if hook == "removed":
                handle.remove()

    def _between(self, inner: ng.Tensor) -> None:
        hook, write = self.chosen["hook"], self.chosen["write"]
        if inner.requires_grad and hook in ("inner", "raises"):
            inner.register_hook(_raise if hook == "raises" else lambda g: 2 * g)
        if inner.requires_grad and hook == "retained":
            inner.retain_grad()
        if write in ("leaf", "inner"):
            with ng.no_grad():
                written = self.x if write == "leaf" else inner
                written += 1

    def _gradients(self, outputs: list[ng.Tensor], inner: ng.Tensor) -> Any:
        chosen = self.chosen
        options: dict[str, Any] = {name: chosen[name] for name in ("retain_graph", "create_graph")}
        seeds = self._seeds(outputs)
        if chosen["call"] in ("backward", "into"):
            into = {"inputs": [self.x]} if chosen["call"] == "into" else {}
            return ng.backward(outputs, seeds, **options, **into)
        z = ng.tensor([1.0, 1.0], requires_grad=True)
        named = {"x": self.x, "y": self.y, "z": z, "m": inner}
        inputs = [named[letter] for letter in chosen["inputs"]]
        options |= {"allow_unused": True, "is_grads_batched": chosen["cotangents"] == "rows"}
        again = 2 if chosen["call"] == "twice" else 1
        found = [ng.grad(outputs, inputs, seeds, **options) for _ in range(again)]
        return [found, self._second(found[-1]) if chosen["create_graph"] else None]

    def _second(self, found: Sequence[Any]) -> Any:
        squares = [(g * g).sum() for g in found if g is not None and g.requires_grad]
        leaves = [leaf for leaf in (self.x, self.y) if leaf.requires_grad]
        return ng.grad(sum(squares), leaves, allow_unused=True) if squares and leaves else None

    def _seeds(self, outputs: list[ng.Tensor]) -> Any:
        kind = self.chosen["cotangents"]
        if kind == "none":
            return None
        made = [self._seed(kind, n, output) for n, output in enumerate(outputs)]
        if kind == "shared":
            alike = {(a.shape, a.dtype): a for a in made}
            return [alike[a.shape, a.dtype] for a in made]
        return made

    def _seed(self, kind: str, place: int, output: ng.Tensor) -> Any:
        shape = (2, *output.shape) if kind == "rows" else output.shape
        a = self.rng.uniform(0.5, 1.5, shape).astype(output.dtype)
        others: dict[str, Any] = {"ones": np.ones_like(a), "zeros": np.zeros_like(a)}
        if kind in others:
            return others[kind]
        if kind == "first" and place:
            return None
        if kind == "reversed" and a.ndim:
            return a[::-1]
        return ng.tensor(a) if kind == "tensors" else a

    def _transformed(self) -> Any:
        chosen = self.chosen

        def function(x, y):
            results = self.function(x, y)
            return [results[n % len(results)] for n in chosen["outputs"]]

        def total(x, y):
            return sum([(r * r).sum() for r in function(x, y)])

        if chosen["call"] == "func":
            return ng.func.grad(total, (0, 1) if "y" in chosen["inputs"] else 0)(self.x, self.y)
        if chosen["call"] == "jvp":
            tangents = [ng.asarray(self.rng.normal(size=t.shape).astype(t.dtype)) for t in self._xy]
            return ng.func.jvp(function, self._xy, tuple(tangents))
        results, pull = ng.func.vjp(function, *self._xy)
        return [results, pull([ng.tensor(self._seed("own", 0, r)) for r in results])]

    @property
    def _xy(self) -> tuple[ng.Tensor, ng.Tensor]:
        return self.x.detach(), self.y.detach()
