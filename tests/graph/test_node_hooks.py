"""Hooks of nodes, and the order in which hooks of all kinds run."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._errors import HookError

pytestmark = pytest.mark.device_sample


def leaf(*values):
    return ng.tensor(list(values), dtype=float, requires_grad=True)


def same(tensor, expected):
    np.testing.assert_array_equal(tensor.detach().numpy(), expected)


# Hooks of nodes ----------------------------------------------------------------------------------


def test_node_hooks_get_tuples_with_none_where_there_is_no_gradient():
    seen = []
    x = leaf(1, 2)
    y = x * ng.tensor([3.0, 4.0])
    y.grad_fn.register_prehook(lambda go: seen.append(go))
    y.grad_fn.register_hook(lambda gi, go: seen.append((gi, go)))
    ng.grad(y, x)
    ((go,), (gi, again)) = seen
    assert isinstance(gi, tuple)
    same(go, [1.0, 1.0])
    same(gi[0], [3.0, 4.0])
    assert gi[1] is None
    same(again[0], [1.0, 1.0])


def test_pre_hooks_change_what_the_node_gets_and_post_hooks_what_it_gives():
    x = leaf(1)
    y = x * 3.0
    y.grad_fn.register_prehook(lambda go: (go[0] * 10.0,))
    y.grad_fn.register_hook(lambda gi, go: (gi[0] + go[0], *gi[1:]))
    same(ng.grad(y, x)[0], [40.0])


def test_post_hook_can_take_a_gradient_away():
    x, w = leaf(1), leaf(2)
    y = x * w
    y.grad_fn.register_hook(lambda gi, go: (None, gi[1] * 2.0))
    gx, gw = ng.grad(y, [x, w], allow_unused=True)
    assert gx is None
    same(gw, [2.0])


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (lambda gi: (gi[0],), "incorrect number.*got 1, but expected 2"),
        (lambda gi: (gi[0], gi[0]), "None"),
        (lambda gi: (3.0, None), "type"),
    ],
)
def test_wrong_results_of_node_hooks(returned, words):
    x = leaf(1)
    y = x * ng.tensor([2.0])
    y.grad_fn.register_hook(lambda gi, go: returned(gi))
    with pytest.raises(HookError, match=words):
        ng.grad(y, x)


def test_node_hooks_run_only_when_the_node_does():
    x = leaf(1)
    h = x * 2.0
    h.grad_fn.register_prehook(lambda go: (go[0] * 10.0,))
    (gh,) = ng.grad(h * 3.0, h)
    same(gh, [3.0])
    gh, gx = ng.grad(h * 3.0, [h, x])
    same(gh, [3.0])
    same(gx, [60.0])


def test_node_hooks_in_a_batched_pass_run_per_row():
    seen = []
    x = leaf(1, 2)
    y = x * 3.0
    y.grad_fn.register_prehook(lambda go: (go[0] * 10.0,))
    y.grad_fn.register_hook(lambda gi, go: seen.append((gi[0].tolist(), go[0].tolist())))
    same(ng.grad(y, x, np.eye(2), is_grads_batched=True)[0], 30 * np.eye(2))
    assert seen == [([30.0, 0.0], [10.0, 0.0]), ([0.0, 30.0], [0.0, 10.0])]


# Order -------------------------------------------------------------------------------------------


def test_order_at_an_intermediate_tensor():
    order = []
    x = leaf(1)
    y = x * 2.0
    y.grad_fn.register_hook(lambda gi, go: order.append("post"))
    y.grad_fn.register_prehook(lambda go: order.append("pre"))
    y.register_hook(lambda g: order.append("tensor"))
    x.register_hook(lambda g: order.append("leaf"))
    ng.backward(y)
    assert order == ["tensor", "pre", "post", "leaf"]


def test_retained_gradient_sees_all_tensor_hooks_and_no_pre_hook():
    x = leaf(1)
    y = x * 2.0
    y.register_hook(lambda g: g * 3.0)
    y.retain_grad()
    y.register_hook(lambda g: g * 5.0)
    y.grad_fn.register_prehook(lambda go: (go[0] * 100.0,))
    ng.backward(y)
    same(y.grad, [15.0])
    same(x.grad, [3000.0])


def test_order_at_a_leaf_and_hooks_of_its_accumulator():
    order = []
    x = leaf(1)
    y = x * 2.0
    accumulator = y.grad_fn.next_functions[0][0]
    x.register_post_accumulate_grad_hook(lambda t: order.append(("accumulated", t.grad.item())))
    accumulator.register_hook(lambda gi, go: order.append(("post", gi, go[0].item())))
    accumulator.register_prehook(lambda go: (order.append("pre"), (go[0] * 10.0,))[1])
    x.register_hook(lambda g: order.append("tensor"))
    ng.backward(y)
    assert order == ["tensor", "pre", ("accumulated", 20.0), ("post", (), 20.0)]
    same(x.grad, [20.0])


def test_hooks_of_an_accumulator_run_in_backward_with_inputs_and_not_in_grad():
    order = []
    x = leaf(1)
    y = x * 2.0
    accumulator = y.grad_fn.next_functions[0][0]
    accumulator.register_prehook(lambda go: order.append("pre"))
    accumulator.register_hook(lambda gi, go: order.append("post"))
    ng.grad(y, x, retain_graph=True)
    assert order == []
    ng.backward(y, inputs=[x])
    assert order == ["pre", "post"]


def test_post_accumulate_hooks_are_for_leaves_run_only_by_backward_and_return_none():
    x = leaf(1)
    calls = []
    x.register_post_accumulate_grad_hook(lambda t: calls.append(t is x))
    ng.grad(x * 2.0, x)
    assert calls == []
    ng.backward(x * 2.0)
    assert calls == [True]
    with pytest.raises(RuntimeError, match="leaf"):
        (x * 2.0).register_post_accumulate_grad_hook(print)
    x.register_post_accumulate_grad_hook(lambda t: t)
    with pytest.raises(HookError, match="None"):
        ng.backward(x * 2.0)


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("size", [4, 40_000])
def test_hooks_see_whole_gradients_where_arrays_were_written_part_by_part(size, batched):
    seen = []
    x = ng.tensor(np.linspace(0.5, 1.5, size), requires_grad=True)
    y = x * 1.0
    y[1:3] = x[:2] * 2.0
    part = y[1:3]
    part.grad_fn.register_hook(lambda given, arrived: seen.append(given[0].numpy().copy()))
    z = (part * part).sum() + y.sum()
    if batched:
        (g,) = ng.grad(z, x, np.array([1.0]), is_grads_batched=True)
        g = g[0]
    else:
        (g,) = ng.grad(z, x)
    whole = np.zeros(size)
    whole[1:3] = 4.0 * x.detach().numpy()[:2]
    np.testing.assert_array_equal(seen, [whole])
    expected = np.ones(size)
    expected[1:3] = 0.0
    expected[:2] += 2.0 * (whole[1:3] + 1.0)
    np.testing.assert_allclose(g.numpy(), expected, rtol=1e-15)
