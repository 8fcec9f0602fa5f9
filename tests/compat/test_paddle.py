"""``numgrad.compat.paddle``: signature, defaults, strictness."""

import inspect

import numpy as np
import pytest

import numgrad as ng
from numgrad.compat import paddle

pytestmark = pytest.mark.device_sample


def leaf(values=(1.0, 2.0, 3.0)):
    return ng.tensor(values, requires_grad=True)


def same(tensor, expected):
    np.testing.assert_array_equal(tensor.detach().numpy(), expected)


EIGHT = [
    "outputs", "inputs", "grad_outputs", "retain_graph", "create_graph", "only_inputs",
    "allow_unused", "no_grad_vars",
]  # fmt: skip


def test_signatures():
    assert list(inspect.signature(paddle.grad).parameters) == [*EIGHT, "dump_backward_graph_path"]
    assert list(inspect.signature(paddle.ir_backward.grad).parameters) == EIGHT
    backward = inspect.signature(paddle.backward).parameters
    assert list(backward) == ["tensors", "grad_tensors", "retain_graph", "dump_backward_graph_path"]
    assert backward["retain_graph"].default is False


def test_a_list_is_returned_and_ones_are_the_seed():
    x = leaf()
    result = paddle.grad(x * x, x)
    assert type(result) is list
    same(result[0], [2.0, 4.0, 6.0])
    same(paddle.ir_backward.grad([x * x], [x])[0], [2.0, 4.0, 6.0])


@pytest.mark.parametrize(
    "change",
    [
        {"outputs": None}, {"outputs": []}, {"outputs": [1.0]}, {"outputs": iter([])},
        {"inputs": None},
        {"inputs": []}, {"inputs": "x"}, {"grad_outputs": [1.0]}, {"grad_outputs": [None, None]},
        {"no_grad_vars": 1},
        {"no_grad_vars": [1]}, {"create_graph": 1}, {"create_graph": None}, {"allow_unused": 1},
        {"only_inputs": 1}, {"only_inputs": False}, {"retain_graph": 1}, {"retain_graph": "no"},
    ],
)  # fmt: skip
def test_strictness(change):
    x = leaf()
    arguments = {"outputs": [x * x], "inputs": [x], **change}
    with pytest.raises(AssertionError):
        paddle.grad(**arguments)


def test_an_empty_list_of_seeds_means_none():
    x = leaf()
    same(paddle.grad([x * x], [x], [])[0], [2.0, 4.0, 6.0])


def test_duplicates_are_errors():
    x = leaf()
    y = x * x
    for arguments in (([y, y], [x]), ([y], [x, x])):
        with pytest.raises(RuntimeError, match="duplicate"):
            paddle.grad(*arguments)
    with pytest.raises(AssertionError, match="duplicate"):
        paddle.backward([y, y])


def test_outputs_without_graph_are_skipped():
    x, c = leaf(), ng.tensor([1.0, 1.0, 1.0])
    same(paddle.grad([x * x, c], [x])[0], [2.0, 4.0, 6.0])


def test_inputs_without_graph_are_unused():
    x, c = leaf(), ng.tensor([1.0, 1.0, 1.0])
    y = x * c
    with pytest.raises(ValueError, match="allow_unused=True"):
        paddle.grad([y], [c], retain_graph=True)
    assert paddle.grad([y], [x, c], allow_unused=True)[1] is None


def test_seed_shape_is_checked():
    x = leaf()
    with pytest.raises(ValueError, match="Mismatch in shape"):
        paddle.grad([x * x], [x], [ng.tensor([1.0])])


@pytest.mark.parametrize("wrap", [lambda t: t, lambda t: [t], lambda t: (t,), lambda t: {t}])
def test_no_grad_vars_in_every_container(wrap):
    x = leaf([1.0, 2.0])
    y1, y2 = x * 1.0, x * 1.0
    w = (y1 + y2) * (y1 + y2)
    same(paddle.grad([w], [x], no_grad_vars=wrap(y2))[0], [4.0, 8.0])


def test_no_grad_vars_with_inputs_and_outputs():
    x = leaf()
    y = x * x
    same(paddle.grad([y], [x], no_grad_vars=[y], retain_graph=True)[0], [2.0, 4.0, 6.0])
    assert paddle.grad([y], [x], no_grad_vars=[x], allow_unused=True) == [None]


def test_cutting_everything_is_unused():
    x = leaf()
    h = x * x
    with pytest.raises(ValueError, match="allow_unused"):
        paddle.grad([h * 1.0], [x], no_grad_vars=[h])


def test_sibling_slots_and_ancestors_are_right():
    x = leaf([1.0, 2.0, 3.0])
    y = x * x
    gx, gy = paddle.grad([y, x], [x, y])
    same(gx, [3.0, 5.0, 7.0])
    same(gy, [1.0, 1.0, 1.0])


def test_second_order_and_linear_functions():
    x = leaf()
    (g,) = paddle.grad([x * x * x], [x], create_graph=True)
    same(paddle.grad([g], [x])[0], [6.0, 12.0, 18.0])
    (g,) = paddle.grad([x * 2.0], [x], create_graph=True)
    assert paddle.grad([g], [x], allow_unused=True) == [None]
    with pytest.raises(ValueError, match="allow_unused"):
        paddle.grad([g], [x])


def test_backward_strictness_and_skipping():
    x, c = leaf(), ng.tensor([1.0])
    for wrong in (None, 1):
        with pytest.raises(AssertionError):
            paddle.backward([x * x], None, wrong)
    for wrong in (None, [], [1.0]):
        with pytest.raises(AssertionError):
            paddle.backward(wrong)
    paddle.backward([x * x, c])
    same(x.grad, [2.0, 4.0, 6.0])
    paddle.backward(c)


def test_backward_of_a_leaf_stores_the_seed():
    x = leaf()
    paddle.backward(x, ng.tensor([1.0, 2.0, 3.0]))
    same(x.grad, [1.0, 2.0, 3.0])


def test_stop_gradient_on_an_intermediate_cuts_later_uses_only():
    x = leaf([2.0])
    h = x * x
    before = h * 3.0
    h.stop_gradient = True
    after = h * 3.0
    assert after.stop_gradient
    same(ng.grad(before, x)[0], [12.0])
