"""`ng.stop_gradient`: a constant in every mode, order and container."""

from typing import NamedTuple

import numpy as np
import pytest

import numgrad as ng

A, V = np.array([1.0, 2.0]), np.array([0.5, -1.0])


def held(x):
    return (ng.stop_gradient(x) * x * x).sum()


class Pair(NamedTuple):
    x: object
    n: object


@pytest.mark.parametrize("around", [lambda f: f, ng.jit])
def test_what_is_held_is_a_constant_in_every_mode(around):
    np.testing.assert_array_equal(around(ng.func.grad(held))(A), 2 * A * A)
    np.testing.assert_array_equal(around(ng.func.hessian(held))(A), np.diag(2 * A))
    np.testing.assert_array_equal(
        around(lambda x: ng.func.jvp(held, (x,), (V,))[1])(A), (2 * A * A * V).sum()
    )
    np.testing.assert_array_equal(
        around(ng.func.vmap(ng.func.grad(held)))(np.stack([A, V])), np.stack([2 * A * A, 2 * V * V])
    )
    np.testing.assert_array_equal(around(ng.func.jacfwd(ng.stop_gradient))(A), np.zeros((2, 2)))


def test_the_steps_of_a_loop_may_hold_a_value():
    def last(x):
        return ng.fori_loop(0, 3, lambda i, c: c * ng.stop_gradient(c), x).sum()

    np.testing.assert_array_equal(ng.func.grad(last)(A), A**7)


def test_containers_keep_their_structure_and_what_is_no_tensor():
    x = ng.tensor(A, requires_grad=True)
    array, text = np.ones(2), "text"
    held = ng.stop_gradient({"p": Pair(x, [x * 2, 3]), "a": array, "t": text, "none": None})
    assert type(held["p"]) is Pair
    assert held["p"].n[1] == 3
    for name, given in (("a", array), ("t", text), ("none", None)):
        assert held[name] is given
    for leaf, expected in ((held["p"].x, A), (held["p"].n[0], 2 * A)):
        assert not leaf.requires_grad
        np.testing.assert_array_equal(leaf, expected)


def test_a_tensor_that_is_held_shares_its_memory():
    x = ng.tensor(A, requires_grad=True)
    held = ng.stop_gradient(x)
    with ng.no_grad():
        x[0] = 7.0
    assert float(held[0]) == 7.0
