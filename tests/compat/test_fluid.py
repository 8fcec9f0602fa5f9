"""``numgrad.compat.fluid``: signature, defaults, strictness, ``BackwardStrategy``."""

import inspect

import numpy as np
import pytest

import numgrad as ng
from numgrad.compat import fluid

pytestmark = pytest.mark.device_sample


def leaf(values=(1.0, 2.0, 3.0), **options):
    return ng.tensor(values, requires_grad=True, **options)


def same(tensor, expected):
    np.testing.assert_array_equal(tensor.detach().numpy(), expected)


def test_signature():
    assert list(inspect.signature(fluid.grad).parameters) == [
        "outputs", "inputs", "grad_outputs", "retain_graph", "create_graph", "only_inputs",
        "allow_unused",
        "no_grad_vars", "backward_strategy",
    ]  # fmt: skip


def test_strategy():
    strategy = fluid.BackwardStrategy()
    assert strategy.sort_sum_gradient is False
    strategy.sort_sum_gradient = 1
    assert strategy.sort_sum_gradient is True
    with pytest.raises(TypeError):
        strategy.sort_sum_gradient = "yes"
    with pytest.raises(AttributeError):
        strategy.unknown = 1
    with pytest.raises(TypeError):
        fluid.BackwardStrategy(True)


def test_sorted_sums_put_the_seed_last():
    x = ng.tensor(np.float32(1), requires_grad=True)
    y1, y2 = x + np.float32(0), x + np.float32(0)  # saves nothing, so that it can be run again
    seeds = [ng.tensor(np.float32(s)) for s in (1, 1, 2**24)]
    strategy = fluid.BackwardStrategy()
    strategy.sort_sum_gradient = True
    assert fluid.grad([y1, y2, x], [x], seeds, backward_strategy=strategy)[0].item() == 16777218.0
    assert fluid.grad([y1, y2, x], [x], seeds)[0].item() == 16777216.0


def test_strategy_type():
    x = leaf()
    with pytest.raises(AssertionError, match="BackwardStrategy"):
        fluid.grad([x * x], [x], backward_strategy=True)


def test_no_gradient_and_no_grad_set_are_errors():
    x, c = leaf(), ng.tensor([1.0])
    y = x * x
    with pytest.raises(RuntimeError, match="has no gradient"):
        fluid.grad([y, c], [x])
    with pytest.raises(RuntimeError, match="has no gradient"):
        fluid.grad([y], [c])
    for cut in (x, y):
        with pytest.raises(RuntimeError, match="no_grad_set"):
            fluid.grad([y], [x], no_grad_vars=[cut])


def test_seed_shape_and_dtype_are_checked():
    x = leaf()
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        fluid.grad([x * x], [x], [ng.tensor([1.0])])
    with pytest.raises(RuntimeError, match="same dtype"):
        fluid.grad([x * x], [x], [ng.tensor(np.ones(3, "float32"))])


def test_the_graph_is_freed():
    x = leaf()
    y = x * x
    fluid.grad([y], [x])
    with pytest.raises(RuntimeError, match="second time"):
        fluid.grad([y], [x])


def test_create_graph_without_retained_graph_is_right_or_an_error():
    x = leaf()
    (g,) = fluid.grad([x * x * x], [x], create_graph=True, retain_graph=False)
    with pytest.raises(RuntimeError, match="second time"):
        fluid.grad([g], [x])


def test_ancestors():
    x = leaf()
    y = x * x
    gx, gy = fluid.grad([y, x], [x, y])
    same(gx, [3.0, 5.0, 7.0])
    same(gy, [1.0, 1.0, 1.0])


def test_unused_and_strict_bools():
    x, z = leaf(), leaf()
    with pytest.raises(ValueError, match="allow_unused=True"):
        fluid.grad([x * x], [z])
    assert fluid.grad([x * x], [z], allow_unused=True) == (None,)  # a tuple, as documented
    with pytest.raises(AssertionError):
        fluid.grad([x * x], [x], allow_unused=1)
