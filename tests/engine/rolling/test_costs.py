"""Which of two forms of a turn is expected to be faster."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare import registry
from numgrad.engine.rolling.costs import calls

from .rolling_tools import rolled  # noqa: F401  a fixture

TURNS = 200


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
    return x + 0.01 * (np.eye(8)[: len(x), : len(x)] @ x)


CASES = [
    (lambda x: x + 0.01 * (1 - x * x) * x, 4, True),
    (lambda x: x + 0.01 * (1 - x * x) * x, 64, False),
    (lambda x: x + 0.01 * ng.sin(x), 1, True),
    (lambda x: x + 0.01 * ng.sin(x), 16, False),
    (lambda x: x + 0.01 * x * (x * x).sum(), 32, True),
    (pairs, 6, True), (gap, 8, True),
]  # fmt: skip


@pytest.mark.skipif(
    ng.get_flags("path")["path"] == "reference", reason="nothing is rolled on the reference path"
)
@pytest.mark.parametrize(("step", "size", "loops"), CASES)
def test_the_form_that_is_faster_is_run(rolled, step, size, loops):  # noqa: F811
    rolled.check(gradient(step), np.linspace(0.1, 0.4, size), loops=2 if loops else 0)


@pytest.mark.parametrize(("name", "expected"), [
    ("add", False), ("divide", False), ("sqrt", False), ("where", False), ("abs", False),
    ("exp", True), ("tanh", True), ("pow", True), ("logaddexp", True), ("cosh", True),
])  # fmt: skip
def test_functions_that_call_others(name, expected):
    assert calls(registry[name].spec(np.dtype(float)).function) is expected
