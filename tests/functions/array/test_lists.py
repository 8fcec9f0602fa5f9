"""Lists of tensors and numbers are taken where arrays are."""

import numpy as np
import pytest

import numgrad as ng

NUMBERS = [1.0, -0.3, 1.7, 0.0]


def mixed():
    """Return the numbers as a list, some of them as tensors that require grad."""
    return [ng.tensor(x, requires_grad=True) if n % 2 else x for n, x in enumerate(NUMBERS)]


@pytest.mark.parametrize(
    "call",
    [
        lambda np, x: np.sign(x), lambda np, x: np.fabs(x), lambda np, x: np.zeros_like(x),
        lambda np, x: np.ones_like(x), lambda np, x: np.full_like(x, 2.0),
        lambda np, x: np.ones_like([x, x]), lambda np, x: np.sum([y**2 for y in x]),
        lambda np, x: np.max(x), lambda np, x: np.max([x, x], axis=1), lambda np, x: np.diag(x),
        lambda np, x: np.mean([x, x], axis=0), lambda np, x: np.array_equal(x, NUMBERS),
        lambda np, x: np.array_equiv([x, x], x), lambda np, x: np.array_equal(x, x[:2]),
    ],
)  # fmt: skip
def test_functions_take_lists(call):
    found, expected = call(ng, mixed()), call(np, NUMBERS)
    found = found.detach() if isinstance(found, ng.Tensor) else found
    np.testing.assert_array_equal(found, expected)
    assert np.shape(found) == np.shape(expected)


def test_a_likeness_of_a_list_has_the_shape_of_its_arrays():
    assert ng.empty_like([mixed(), NUMBERS]).shape == (2, 4)


def test_the_gradient_of_a_sign_and_of_a_size():
    x = mixed()
    (slope,) = ng.grad(ng.sum(ng.fabs(x)) + ng.sum(ng.sign(x)), x[1])
    assert slope.item() == -1
