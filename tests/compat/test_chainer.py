"""``numgrad.compat.chainer``: signature, defaults, behaviour."""

import inspect

import numpy as np
import pytest

import numgrad as ng
from numgrad.compat import chainer

pytestmark = pytest.mark.device_sample


def leaf(values=(1.0, 2.0, 3.0)):
    return ng.tensor(values, requires_grad=True)


def same(tensor, expected):
    np.testing.assert_array_equal(tensor.detach().numpy(), expected)


def test_signature():
    assert list(inspect.signature(chainer.grad).parameters) == [
        "outputs", "inputs", "grad_outputs", "grad_inputs", "set_grad", "retain_grad",
        "enable_double_backprop",
        "loss_scale",
    ]  # fmt: skip


@pytest.mark.parametrize("position", range(4))
def test_lists_and_tuples_only(position):
    x = leaf()
    arguments = [[x * x], [x], [None], [None]]
    arguments[position] = x
    with pytest.raises(TypeError, match="must be a tuple or a list"):
        chainer.grad(*arguments)


def test_lengths():
    x = leaf()
    for extra in ({"grad_outputs": []}, {"grad_inputs": []}, {"grad_outputs": [None, None]}):
        with pytest.raises(ValueError, match="same length"):
            chainer.grad([x * x], [x], **extra)


def test_the_graph_is_never_freed_and_a_list_returned():
    x = leaf()
    y = x * x
    for _ in range(3):
        result = chainer.grad([y], [x])
        assert type(result) is list
        same(result[0], [2.0, 4.0, 6.0])


def test_unused_inputs_give_none():
    x, z, c = leaf(), leaf(), ng.tensor([1.0])
    assert chainer.grad([x * x], [z, c]) == [None, None]
    assert chainer.grad([], [x]) == [None]


def test_arrays_are_seeds():
    x = leaf()
    same(chainer.grad([x * x], [x], [np.array([1.0, 0.0, 1.0])])[0], [2.0, 0.0, 6.0])


def test_the_last_of_duplicate_outputs_counts():
    x = leaf([1.0])
    y = x * x
    same(chainer.grad([y, y], [x], [np.array([1.0]), np.array([10.0])])[0], [20.0])
    same(chainer.grad([y, y], [x])[0], [2.0])


def test_grad_inputs():
    x = leaf()
    h = x * 2.0
    y = h * h
    gi = ng.tensor([100.0] * 3)
    gh, gx = chainer.grad([y], [h, x], None, [gi, None])
    same(gh, [104.0, 108.0, 112.0])
    same(gx, [208.0, 216.0, 224.0])
    same(gi, [100.0] * 3)


def test_an_unreached_input_returns_the_given_object():
    x, z = leaf(), leaf()
    gi = ng.tensor([1.0, 2.0, 3.0])
    assert chainer.grad([x * x], [z], None, [gi])[0] is gi


def test_grad_inputs_of_an_output_replaces_its_seed():
    x = leaf([2.0])
    y = x * x
    result = chainer.grad([y, x], [x], [np.array([0.0]), np.array([3.0])], [np.array([10.0])])
    same(result[0], [10.0])


def test_duplicate_inputs_take_the_last_initial_gradient():
    x = leaf([2.0])
    a, b = chainer.grad([x * x], [x, x], None, [np.array([1.0]), np.array([5.0])])
    same(a, [9.0])
    same(b, [9.0])


def test_an_unreached_input_that_is_listed_twice_takes_the_last_initial_gradient_twice():
    x, z, c = leaf(), leaf(), ng.tensor([1.0])
    first, last = ng.tensor([1.0, 2.0, 3.0]), ng.tensor([7.0, 8.0, 9.0])
    for given, expected in (([first, last], last), ([first, None], first), ([None, last], last)):
        for result in chainer.grad([x * x], [z, z], None, given):
            assert result is expected
    one = ng.tensor([5.0])
    assert chainer.grad([x * x], [c, c], None, [one, None]) == [one, one]
    a, b = ng.grad(x * x, [z, z], grad_inputs=[first, None])
    same(a, [1.0, 2.0, 3.0])
    same(b, [1.0, 2.0, 3.0])
    assert a is not b


def test_retain_grad_reaches_outputs_that_lie_on_no_path():
    x, u = leaf([2.0]), leaf([3.0])
    y, z = x * x, u * u
    chainer.grad([y, z], [x], retain_grad=True)
    same(y.grad, [1.0])
    same(z.grad, [1.0])
    w = y * u  # y is an output before the input comes in
    chainer.grad([w, y], [u], [None, np.array([5.0])], retain_grad=True, loss_scale=4.0)
    same(w.grad, [4.0])
    same(y.grad, [5.0])
    assert chainer.grad([z], [x], retain_grad=True, loss_scale=2.0) == [None]
    same(z.grad, [2.0])
    h = x * 3.0
    chainer.grad([h * h, h * u, u], [u], retain_grad=True)
    with pytest.warns(UserWarning, match="leaves alone"):
        assert h.grad is None  # no output, and on no path
    assert u.grad is None  # a leaf
    z.grad = None
    ng.grad([y, z], x, retain_grad=True, retain_graph=True)
    with pytest.warns(UserWarning, match="leaves alone"):
        assert z.grad is None  # intermediates and outputs on the way


def test_set_grad_and_retain_grad():
    x, z = leaf([2.0]), leaf([1.0])
    z.grad = ng.tensor([7.0])
    h = x * x
    y = h * 3.0
    gx, gz = chainer.grad([y], [x, z], set_grad=True, retain_grad=True)
    assert x.grad is gx
    assert gz is None
    assert z.grad is None
    same(h.grad, [3.0])
    same(y.grad, [1.0])


def test_loss_scale_multiplies_implicit_seeds_only():
    x = leaf([2.0])
    y, z = x * x, x * 3.0
    same(chainer.grad([y, z], [x], [None, np.array([1.0])], loss_scale=8.0)[0], [8 * 4.0 + 3.0])


def test_double_backprop():
    x = leaf()
    (g,) = chainer.grad([x * x * x], [x], enable_double_backprop=True)
    same(chainer.grad([g], [x])[0], [6.0, 12.0, 18.0])
    (g,) = chainer.grad([x * x * x], [x])
    assert chainer.grad([g], [x]) == [None]
