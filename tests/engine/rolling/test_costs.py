"""Which of two forms of a turn is expected to be faster."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare import registry
from numgrad.engine.rolling.costs import scalar_cost

from .rolling_tools import rolled  # noqa: F401  a fixture

TURNS = 450


def gradient(step):
    def total(x):
        for _ in range(TURNS):
            x = step(x)
        return (x * x).sum()

    return ng.func.value_and_grad(total)


def pairs(x):
    d = x[:, None] - x[None, :]
    return x + 0.01 * (d / (1 + d * d)).sum(1)


def gap(x):
    return x + 0.01 * (np.eye(14)[: len(x), : len(x)] @ x)


CASES = [
    (lambda x: x * 0.5 + 1, 1, True), (lambda x: x * 0.5, 1, True), (ng.sin, 1, True),
    (lambda x: x + 0.01 * (1 - x * x) * x, 4, True),
    (lambda x: x + 0.01 * (1 - x * x) * x, 64, False),
    (lambda x: x + 0.01 * ng.sin(x), 1, True),
    (lambda x: x + 0.01 * ng.sin(x), 16, False),
    (lambda x: x + 0.01 * x * (x * x).sum(), 32, True),
    (pairs, 6, True), (gap, 8, True), (gap, 14, True),
    (lambda x: ng.tanh(gap(x)), 3, True), (lambda x: ng.tanh(x * 0.5 + x * x.sum()), 30, False),
]  # fmt: skip


@pytest.mark.skipif(
    ng.get_flags("path")["path"] == "reference", reason="nothing is rolled on the reference path"
)
@pytest.mark.parametrize(("step", "size", "loops"), CASES)
def test_the_form_that_is_faster_is_run(rolled, step, size, loops):  # noqa: F811
    rolled.check(gradient(step), np.linspace(0.1, 0.4, size), loops=2 if loops else 0)


def test_functions_that_call_others_take_longer():
    def cost(name):
        return scalar_cost(registry[name].spec(np.dtype(float)).function)

    assert {cost(name) for name in ("add", "divide", "sqrt", "where", "abs")} == {cost("multiply")}
    assert cost("multiply") < cost("exp") == cost("sin") < cost("tanh")
    assert {cost(name) for name in ("pow", "cosh", "logaddexp", "expm1")} == {cost("tanh")}
