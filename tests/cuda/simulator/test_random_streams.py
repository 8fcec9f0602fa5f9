"""Random programs of operators, captured and mapped functions on random streams, and passes of all
kinds over them from another stream: no kernel runs before what it reads is there, and the gradients
are those of the processor.

A forward part waits for what was asked for before; so every order that is missing is one of the
passes.
"""

from contextlib import nullcontext
from functools import cache

import numpy as np
import pytest

import numgrad as ng

X = np.linspace(0.1, 1.0, 6).reshape(2, 3)


class Square(ng.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return 2 * g * ctx.saved_tensors[0]


def _hooked(a, b):
    made = ng.sin(a) * b
    if made.requires_grad:
        made.register_hook(lambda g: g * 2)
    return made


def _written(a, b):
    made = a + 0.0
    made[0] = b[1]
    made *= 0.5
    return made


@cache
def _inner():
    return ng.cuda.Stream()


def _on_a_third_stream(a, b):
    with ng.cuda.stream(_inner()) if a.device != "cpu" else nullcontext():
        made = ng.sin(a) * a
    return made * b


WORDS = [
    lambda a, b: a * b,
    lambda a, b: ng.tanh(a) + b[::-1],
    lambda a, b: (a @ b.T) @ a * 0.2,
    lambda a, b: ng.exp(-a * a).sum(axis=0) * b,
    lambda a, b: ng.concatenate([a[:1], b[1:]]),
    lambda a, b: a * np.arange(3.0) + b * 2.5,
    lambda a, b: ng.tanh(a)[[1, 0]] * b,
    lambda a, b: ng.linalg.inv(ng.tanh(a) @ ng.tanh(a).T + 3 * np.eye(2)) @ b,
    lambda a, b: Square.apply(ng.tanh(a)) * b,
    ng.jit(lambda a, b: ng.sin(a) * b + a),
    ng.jit(lambda a, b: ng.exp(-(a @ b.T) * 0.1) @ a),
    ng.jit(lambda a, b: Square.apply(ng.tanh(a)) * b),
    ng.jit(ng.func.grad(lambda a, b: (ng.sin(a) * b * b).sum())),
    ng.jit(ng.func.vmap(lambda a, b: ng.sin(a) * b)),
    ng.jit(_on_a_third_stream),
    ng.func.vmap(lambda a, b: ng.sin(a) * b.sum() * 0.3),
    ng.func.vmap(ng.func.grad(lambda a, b: (ng.sin(a) * b).sum())),
    ng.func.grad(lambda a, b: (ng.sin(a) * b).sum()),
    lambda a, b: ng.cond(a.sum() > 0, lambda: ng.sin(a) * b, lambda: a * b),
    _hooked,
    _written,
]


class Streams:
    """The streams of a program on the device; on the processor there are none."""

    def __init__(self, device):
        self.all = [ng.cuda.default_stream(), ng.cuda.Stream(), ng.cuda.Stream()]
        self.is_here = device == "cuda"

    def enter(self, number):
        """Choose a stream, which waits for all that was asked for before."""
        if not self.is_here:
            return nullcontext()
        for other in self.all:
            self.all[number].wait_stream(other)
        return ng.cuda.stream(self.all[number])

    def caller(self, number):
        """Choose one of these streams, or a new one, without waiting for anything."""
        if not self.is_here:
            return nullcontext()
        return ng.cuda.stream([*self.all, ng.cuda.Stream()][number])


def _program(rng, x, streams):
    values = [x, ng.sin(x)]
    for _ in range(rng.integers(2, 7)):
        a, b = (values[rng.integers(len(values))] for _ in range(2))
        word = WORDS[rng.integers(len(WORDS))]
        with streams.enter(rng.integers(3)):
            made = word(a, b)
            values.append(ng.tanh(made) * 1.0 if rng.integers(4) == 0 else made)
        del a, b, made
        if rng.integers(3) == 0:  # memory is given back while others may read it
            values.pop(rng.integers(len(values) - 1))
    return values[-1]


def _gradients(y, x, kind, device):
    """Return the gradients of a pass: a plain, batched or accumulating one, or one that is recorded
    and differentiated again."""
    ones = np.linspace(0.5, 1.0, y.size).reshape(y.shape)
    batched = kind in ("batched", "batched twice")
    seed = ng.tensor(np.stack([ones, 2 * ones]) if batched else ones, device=device)
    if kind == "accumulated":
        y.backward(seed, retain_graph=True)
        y.backward(seed)
        return x.grad * 1
    recorded = kind in ("twice", "batched twice")
    (found,) = ng.grad(
        y, x, seed, is_grads_batched=batched, create_graph=recorded, allow_unused=True
    )
    if recorded and found is not None and found.requires_grad:
        (found,) = ng.grad(found, x, ng.ones_like(found), allow_unused=True)
    return found


def _compare(seed):
    kinds = ("plain", "batched", "twice", "accumulated", "batched twice")
    found = {}
    for device, times in (("cuda", 3), ("cpu", 1)):  # a pass is recalled when it is met again
        for _ in range(times):
            rng, streams = np.random.default_rng(seed), Streams(device)
            kind, caller = kinds[rng.integers(len(kinds))], rng.integers(4)
            x = ng.tensor(X, device=device, requires_grad=True)
            y = _program(rng, x, streams)
            if not y.requires_grad:
                return
            with streams.caller(caller):
                gradient = _gradients(y, x, kind, device)
                gradient = None if gradient is None else gradient.detach().cpu().numpy()
            found.setdefault(device, []).append(gradient)
    (expected,) = found["cpu"]
    for gradient in found["cuda"]:
        if expected is None:
            assert gradient is None
        else:
            np.testing.assert_allclose(gradient, expected, 1e-8, 1e-10)


@pytest.mark.parametrize("seed", range(20))
def test_passes_over_random_programs_on_random_streams(seed):
    _compare(seed)


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", range(100, 300, 20))
def test_passes_over_many_random_programs_on_random_streams(first):
    for seed in range(first, first + 20):
        _compare(seed)
