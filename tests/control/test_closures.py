"""Tensors that a step closes over get gradients, whatever it does with them, in every mode."""

import numpy as np
import pytest

import numgrad as ng

from .bodies import assert_close

W = np.array([0.1, 0.5, 0.3, 0.7])
OPERATIONS = {
    "sum": lambda w, c: w.sum() + c, "element": lambda w, c: w[1] * c,
    "element alone": lambda w, c: w[0], "view": lambda w, c: (w[1:] * c).sum(),
    "transpose": lambda w, c: (w.reshape(2, 2).T @ ng.stack([c, c])).sum(),
    "unary": lambda w, c: ng.exp(w).max() * c, "negative": lambda w, c: (-w * c).sum(),
    "roll": lambda w, c: (ng.roll(w, 1) * w * c).sum(),
    "stack": lambda w, c: ng.stack([w, w]).sum() * c,
    "cumulative": lambda w, c: ng.cumulative_sum(w)[2] * c,
    "where": lambda w, c: ng.where(w > 0.2, w, c).sum(),
    "norm": lambda w, c: ng.linalg.norm(w) * c, "power": lambda w, c: (w**2).sum() * c,
    "sort": lambda w, c: ng.sort(w)[0] * c,
    "take": lambda w, c: ng.take(w, np.array([0, 2])).sum() * c,
    "gradient": lambda w, c: ng.func.grad(lambda q: (q * q * c).sum())(w).sum(),
    "detached": lambda w, c: (w.detach() * w * c).sum(),
    "checkpoint": lambda w, c: ng.checkpoint(lambda a: (a * w).sum())(c),
    "jit": lambda w, c: ng.jit(lambda a: (a * w).sum())(c),
    "cond": lambda w, c: ng.cond(c > 0.1, lambda a: a * w[0], lambda a: a * w[1], c),
}  # fmt: skip
MODES = [
    lambda f: ng.func.grad(f)(W), lambda f: ng.jit(ng.func.grad(f))(W),
    lambda f: ng.func.vmap(ng.func.grad(f))(W[None])[0], lambda f: ng.func.grad(ng.jit(f))(W),
    lambda f: ng.func.jacfwd(f)(W),
]  # fmt: skip


def loss(f, loop):
    def of(w):
        v = w * 1.5

        def step(c, _):
            return f(v, c) * 0.3 + 0.1 * c, f(w, c)

        if loop:
            last, ys = ng.scan(step, 0.4, length=3)
            return last + ys.sum()
        c, total = ng.asarray(0.4), 0.0
        for _ in range(3):
            c, y = step(c, None)
            total = total + y
        return c + total

    return of


@pytest.mark.parametrize("name", OPERATIONS)
def test_closed_over_tensors_get_gradients(name):
    expected = ng.func.grad(loss(OPERATIONS[name], False))(W)
    for mode in MODES:
        assert_close(mode(loss(OPERATIONS[name], True)), expected)
