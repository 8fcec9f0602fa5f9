"""Writes in place that come again: what is worked out once for them."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.graph.kind import KeyedStatic, frozen
from numgrad.engine.record import writes
from numgrad.operators.elementwise.arithmetic import multiply


def made(write, *, times=4, columns=3):
    """The value after writes into ``sin(x)``, and the gradient of its sum, each time."""
    start = np.linspace(0.1, 1.2, 4 * columns).reshape(4, columns)
    x = ng.tensor(start, requires_grad=True)
    found = []
    for _ in range(times):
        y = ng.sin(x)
        write(y)
        found.append((y.detach().numpy(), ng.grad((y * y).sum(), x)[0].numpy()))
    return y, found


def rows(y):
    for i in range(4):
        y[i] *= 2.0 + i


def parts(y):
    y[1:, 0] += y[0, 0]
    y[::2][1] /= 3.0


@pytest.mark.parametrize("write", [rows, parts])
def test_the_first_and_later_writes_have_the_same_bits(write):
    _, found = made(write)
    for value, gradient in found[1:]:
        assert np.array_equal(value, found[0][0])
        assert np.array_equal(gradient, found[0][1])


def test_writes_to_the_same_place_share_their_parameters():
    # The columns are as many as in no other test: a kind keeps the parameters that it met first.
    one, other = (made(rows, columns=53)[0].node.static for _ in range(2))
    assert type(one) is KeyedStatic
    assert one is other
    above = made(rows, columns=53)[0].node.parents[0].static  # the write before
    assert above["chain"] != one["chain"]


def test_the_key_of_parameters_is_that_of_a_plain_dict():
    static = {"count": 1, "chain": ((multiply, (("key", (1, (0, None, 2))),)),), "scale": -0.0}
    assert frozen(KeyedStatic(static)) == frozen(static)
    assert frozen(KeyedStatic({"a": 1})) != frozen(KeyedStatic({"a": 1.0}))
    assert frozen(KeyedStatic({"a": []})) is None


def test_a_change_of_settings_forgets_how_a_plan_overwrites():
    x, y = (ng.tensor([1.0, 2.0, 3.0]) for _ in range(2))
    for _ in range(3):
        x *= y
    plan = writes.plan_of_write(multiply, x, y)
    assert plan.overwrite is not None
    ng.set_flags()
    assert plan.overwrite is None
    x *= y
    assert x.numpy().tolist() == [1.0, 32.0, 243.0]


def test_what_is_overwritten_may_be_needed_by_the_derivative():
    x = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    factor = ng.tensor([2.0, 3.0, 4.0], requires_grad=True)
    for _ in range(3):
        y = ng.sin(x)
        y *= factor
        y *= y
        gx, gf = ng.grad(y.sum(), [x, factor])
    s, c, f = np.sin(x.detach().numpy()), np.cos(x.detach().numpy()), factor.detach().numpy()
    np.testing.assert_allclose(gx.numpy(), 2 * f * f * s * c, rtol=1e-14)
    np.testing.assert_allclose(gf.numpy(), 2 * f * s * s, rtol=1e-14)


def test_keys_that_come_again_share_their_parameters():
    def first(y):
        y[0] = 1.0

    def last(y):
        y[-1] = 1.0

    one, other = (made(first)[0].node.static for _ in range(2))
    assert type(one) is KeyedStatic
    assert one is other
    assert made(last)[0].node.static["chain"] != one["chain"]


def test_parts_are_told_by_what_their_keys_say():
    x = ng.zeros((3, 3))
    for row in (0, 1, 2):
        for key in (row, slice(row, row + 1), (row, slice(None)), (slice(None), row), (row, row)):
            x[key] = x[key] + 1.0
    assert np.array_equal(x.numpy(), np.full((3, 3), 4.0) + np.eye(3))
