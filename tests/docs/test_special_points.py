"""The table of special points states what `grad` returns there."""

import warnings

import numpy as np
import pytest

import numgrad as ng

from .pages import table


def gradients(expression, points):
    names = {
        name: ng.tensor(value, requires_grad=True)
        for name, value in eval(f"dict({points})", {"np": np}).items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of NumPy, about infinities
        found = ng.grad(ng.sum(eval(expression, {"ng": ng, "np": np, **names})), [*names.values()])
    return ", ".join(str((gradient + 0.0).tolist()) for gradient in found)


@pytest.mark.parametrize(
    ("expression", "points", "expected"),
    [row[:3] for row in table("special_points.md", "expression", "at", "gradient", "because")],
)
def test_special_point(expression, points, expected):
    assert gradients(expression, points) == expected
