"""Hooks of tensors and nodes: when they run, in which order, and what they may change."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._errors import HookError, InplaceError, NoGradError
from numgrad.graph import (
    register_multi_grad_hook,
)

pytestmark = pytest.mark.device_sample


def leaf(*values):
    return ng.tensor(list(values), dtype=float, requires_grad=True)


def same(tensor, expected):
    np.testing.assert_array_equal(tensor.detach().numpy(), expected)


# Hooks of tensors --------------------------------------------------------------------------------


def test_hook_sees_the_total_gradient_once_per_pass():
    seen = []
    x = leaf(2)
    h = x * 1.0
    h.register_hook(lambda g: seen.append(g.item()))
    ng.backward(h * h + h)
    assert seen == [5.0]


def test_hooks_run_in_order_and_each_sees_the_result_of_the_one_before():
    seen = []
    x = leaf(1)
    for factor in (2.0, 5.0):
        x.register_hook(lambda g, f=factor: (seen.append(g.item()), g * f)[1])
    same(ng.grad(x * 3.0, x)[0], [30.0])
    assert seen == [3.0, 6.0]


def test_a_removed_hook_is_not_called():
    x = leaf(1)
    with x.register_hook(lambda g: g * 100.0) as handle:
        same(ng.grad(x * 1.0, x)[0], [100.0])
    same(ng.grad(x * 1.0, x)[0], [1.0])
    handle.remove()


@pytest.mark.parametrize(
    ("result", "kind", "words"),
    [
        (ng.tensor([1.0]), RuntimeError, "hook.*size"),
        (ng.tensor([1.0, 2.0], dtype="float32"), RuntimeError, "hook.*type"),
        (3.0, TypeError, "hook.*type"),
    ],
)
def test_what_cannot_replace_a_gradient(result, kind, words):
    x = leaf(1, 2)
    x.register_hook(lambda g: result)
    with pytest.raises(HookError, match=words) as caught:
        ng.grad(x * 2.0, x)
    assert isinstance(caught.value, kind)


def test_a_hook_needs_a_tensor_that_requires_grad():
    with pytest.raises(NoGradError):
        ng.tensor([1.0]).register_hook(print)


def test_an_exception_keeps_its_type_and_changes_nothing():
    x, z = leaf(2), leaf(3)
    x.grad, z.grad = ng.tensor([7.0]), ng.tensor([8.0])
    handle = x.register_hook(lambda g: {}["missing"])
    y = x * z * z
    with pytest.raises(KeyError, match="missing"):
        ng.backward(y)
    same(x.grad, [7.0])
    same(z.grad, [8.0])
    handle.remove()
    ng.backward(y)
    same(x.grad, [16.0])


def test_hook_of_an_intermediate_input_changes_what_is_returned_and_what_flows_on():
    x = leaf(1)
    y = x * 3.0
    y.register_hook(lambda g: g * 10.0)
    same(ng.grad(y * 2.0, y, retain_graph=True)[0], [20.0])
    gy, gx = ng.grad(y * 2.0, [y, x])
    same(gy, [20.0])
    same(gx, [60.0])


def test_hook_of_a_captured_leaf_changes_what_is_returned():
    x = leaf(1)
    x.register_hook(lambda g: g * 10.0)
    same(ng.grad(x * 2.0, x)[0], [20.0])
    same(ng.grad(x, x)[0], [10.0])


def test_hook_of_a_tensor_off_the_path_is_not_called():
    x, z = leaf(1), leaf(2)
    h, k = x * 2.0, z * 2.0
    k.register_hook(lambda g: 1 / 0)
    same(ng.grad(h * k, x)[0], [8.0])


def test_hook_of_a_slot_without_gradient_is_not_called():
    class Pair(ng.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2.0, x * 3.0

        @staticmethod
        def backward(ctx, g, h):
            return g * 2.0 + h * 3.0

    x = leaf(1)
    y, z = Pair.apply(x)
    z.register_hook(lambda g: 1 / 0)
    same(ng.grad(y, x)[0], [2.0])


def test_grad_mode_inside_a_hook_is_create_graph():
    seen = []
    x = leaf(1)
    x.register_hook(lambda g: seen.append(ng.is_grad_enabled()))
    y = x * x
    ng.grad(y, x, retain_graph=True)
    with ng.no_grad():
        ng.grad(y, x, create_graph=True)
    assert seen == [False, True]


def test_what_a_hook_computes_is_differentiated():
    x = leaf(3)
    x.register_hook(lambda g: g * x)
    (g,) = ng.grad(x * x, x, create_graph=True)
    same(g, [18.0])
    # the hook makes 2 x^2 of 2 x, and applies to the derivative 4 x again
    same(ng.grad(g, x)[0], [36.0])


def test_a_gradient_kept_by_a_hook_can_be_differentiated_later():
    kept = []
    x = leaf(3)
    h = x * x
    with h.register_hook(lambda g: (kept.append(g), g * 0.0)[1]):
        ng.grad(h * h, x, create_graph=True)
    same(kept[0], [18.0])
    same(ng.grad(kept[0], x)[0], [12.0])


def test_grad_can_be_called_inside_a_hook():
    x, z = leaf(3), leaf(2)
    y = z * z
    x.register_hook(lambda g: g * ng.grad(y, z, retain_graph=True)[0])
    same(ng.grad(x * 1.0, x)[0], [4.0])


def test_gradients_computed_inside_a_hook_with_a_graph_reach_through_the_outer_pass():
    x = leaf(3)
    h = x * x
    handle = h.register_hook(lambda g: ng.grad(g * g, g, create_graph=True)[0])
    (g,) = ng.grad(h * h, x, create_graph=True)
    # d(h^2)/dh = 2 x^2; the hook makes 4 x^2 of it; times 2 x
    same(g, [8.0 * 27])
    handle.remove()
    same(ng.grad(g, x)[0], [24.0 * 9])


def test_hook_that_returns_a_tensor_of_its_own_does_not_give_it_away():
    mine = ng.tensor([5.0])
    x = leaf(1)
    x.register_hook(lambda g: mine)
    ng.backward(x * 2.0)
    ng.backward(x * 2.0)
    same(x.grad, [10.0])
    same(mine, [5.0])


def test_hooks_stay_with_the_value_that_they_were_registered_on():
    seen = []
    y = leaf(1) * 1.0
    y.register_hook(lambda g: seen.append(("old", g.item())))
    y *= 3.0
    y.register_hook(lambda g: seen.append(("new", g.item())))
    ng.backward(y * 5.0)
    assert seen == [("new", 5.0), ("old", 15.0)]


# Batched passes ----------------------------------------------------------------------------------


def test_batched_pass_calls_a_hook_once_per_row():
    seen = []
    x = leaf(1, 2)
    h = x * x
    h.register_hook(lambda g: (seen.append(g.tolist()), g * g)[1])
    (g,) = ng.grad(h * 1.0, x, [[[1.0, 0.0], [0.0, 3.0], [2.0, 2.0]]], is_grads_batched=True)
    assert seen == [[1.0, 0.0], [0.0, 3.0], [2.0, 2.0]]
    same(g, [[2.0, 0.0], [0.0, 36.0], [8.0, 16.0]])


def test_a_gradient_kept_by_a_hook_of_a_batched_pass_can_be_differentiated_later():
    kept = []
    x = leaf(3)
    h = x * x
    with h.register_hook(lambda g: (kept.append(g), g * 0.0)[1]):
        ng.grad(h * h, x, [[[1.0], [10.0]]], is_grads_batched=True, create_graph=True)
    same(kept[1], [180.0])
    same(ng.grad(kept[1], x)[0], [120.0])


def test_batched_hooks_under_create_graph():
    x, v = leaf(1, 2), ng.tensor(np.array([[1.0, 2.0], [3.0, 4.0]]), requires_grad=True)
    y = x * 1.0
    y.register_hook(lambda g: g * g * x)
    (g,) = ng.grad(y, x, v, is_grads_batched=True, create_graph=True)
    array = v.detach().numpy()
    same(g, array**2 * [1.0, 2.0])
    dx, dv = ng.grad(g, [x, v])
    same(dx, (array**2).sum(0))
    same(dv, 2 * array * [1.0, 2.0])


@pytest.mark.host_only("writes into the array of NumPy that a tensor has")
def test_a_hook_that_writes_to_its_row_does_not_write_to_the_seed():
    x = leaf(1, 2)
    y = x * 1.0
    seeds = ng.tensor(np.ones((2, 2)))

    def clear(g):
        g.array[...] = 0.0

    y.register_hook(clear)
    ng.grad(y, x, seeds, is_grads_batched=True)
    same(seeds, np.ones((2, 2)))


def test_retained_gradients_refuse_a_batch():
    x = leaf(1, 2)
    h = x * x
    h.retain_grad()
    k = x * 3.0
    same(ng.grad(k, x, np.eye(2), is_grads_batched=True)[0], 3.0 * np.eye(2))
    with pytest.raises(ValueError, match=r"retain_grad.*multiply recorded at"):
        ng.grad(h, x, np.eye(2), is_grads_batched=True)
    assert h.grad is None
    same(ng.grad(h, x)[0], [2.0, 4.0])


def test_empty_batch_calls_no_hook():
    x = leaf(1, 2)
    y = x * 2.0
    y.register_hook(lambda g: 1 / 0)
    y.grad_fn.register_prehook(lambda go: 1 / 0)
    y.grad_fn.register_hook(lambda gi, go: 1 / 0)
    assert ng.grad(y, x, np.ones((0, 2)), is_grads_batched=True)[0].shape == (0, 2)


# Hooks on several gradients ----------------------------------------------------------------------


def lists(gradients):
    return [None if g is None else g.item() for g in gradients]


def test_multi_grad_hook_waits_for_all_gradients_of_the_pass():
    seen = []
    a, b, c = leaf(1), leaf(2), leaf(3)
    register_multi_grad_hook((a, b, c), lambda gs: seen.append(lists(gs)))
    ng.backward(a * b)
    assert seen == [[2.0, 1.0, None]]
    ng.grad(a * b * c, [a, c])
    assert seen[1:] == [[6.0, None, 2.0]]
    ng.grad(c * 4.0, c)
    assert seen[2:] == [[None, None, 4.0]]


def test_multi_grad_hook_for_any_gradient_is_called_once_per_pass():
    seen = []
    a, b = leaf(1), leaf(2)
    h = a * b
    handle = register_multi_grad_hook([a, h], lambda g: seen.append(g.item()), mode="any")
    ng.backward(h * 5.0)
    ng.backward(a * 7.0)
    assert seen == [5.0, 7.0]
    handle.remove()
    ng.backward(a * 7.0)
    assert len(seen) == 2


def test_multi_grad_hook_in_a_batched_pass_is_called_per_row():
    seen, first = [], []
    a, b = leaf(2), leaf(3)
    register_multi_grad_hook([a, b], lambda gs: seen.append(lists(gs)))
    register_multi_grad_hook([a, b], lambda g: first.append(g.item()), mode="any")
    ng.grad(a * b, [a, b], [[[1.0], [10.0]]], is_grads_batched=True)
    assert seen == [[3.0, 2.0], [30.0, 20.0]]
    assert sorted(first) in ([2.0, 20.0], [3.0, 30.0])


def test_multi_grad_hook_does_not_wait_for_a_gradient_that_never_comes():
    class Cut(ng.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1.0

        @staticmethod
        def backward(ctx, g):
            return None

    seen = []
    a, b = leaf(1), leaf(2)
    register_multi_grad_hook([a, b], lambda gs: seen.append(lists(gs)))
    ng.backward(Cut.apply(a) * b)
    assert seen == [[None, 1.0]]


def test_multi_grad_hook_checks_its_arguments():
    with pytest.raises(ValueError, match="'all' or 'any'"):
        register_multi_grad_hook([leaf(1)], print, mode="some")
    with pytest.raises(NoGradError, match="tensor 1"):
        register_multi_grad_hook([leaf(1), ng.tensor([1.0])], print)


def times_five(g):
    g *= 5.0


class Fivefold(ng.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1.0

    @staticmethod
    def backward(ctx, g):
        g *= 5.0
        return g


def hooked(x):
    y = x * 1.0
    y.register_hook(times_five)
    return y


@pytest.mark.parametrize("function", [hooked, Fivefold.apply])
@pytest.mark.parametrize("options", [{}, {"create_graph": True}])
def test_what_python_writes_into_a_gradient_stays_on_its_way(function, options):
    x, z = (ng.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    for seed in (np.ones(2), ng.tensor([1.0, 1.0])):
        gx, gz = ng.grad(function(x) + z, [x, z], seed, **options)
        assert gx.tolist() == [5.0, 5.0]
        assert gz.tolist() == [1.0, 1.0]
        assert seed.tolist() == [1.0, 1.0]
    seeds = np.eye(2)
    gx, gz = ng.grad(function(x) + z, [x, z], seeds, is_grads_batched=True, **options)
    np.testing.assert_array_equal(gx.detach().numpy(), 5.0 * np.eye(2))
    np.testing.assert_array_equal(gz.detach().numpy(), np.eye(2))
    np.testing.assert_array_equal(seeds, np.eye(2))


# What a hook writes -------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [3, 30_000])
def test_a_hook_may_not_write_what_a_later_derivative_reads(size):
    x = ng.tensor(np.linspace(1.0, 2.0, size), requires_grad=True)
    w = ng.tensor(np.linspace(2.0, 3.0, size))
    y = x * w
    y.register_hook(lambda g: w.__setitem__(..., 0.0))
    with pytest.raises(InplaceError, match="needed by the derivative of multiply"):
        ng.grad(ng.sin(y).sum(), x)


@pytest.mark.parametrize("size", [3, 30_000])
def test_a_recorded_pass_reads_what_was_there_before_its_hook_wrote(size):
    x = ng.tensor(np.linspace(1.0, 2.0, size), requires_grad=True)
    w = ng.tensor(np.linspace(2.0, 3.0, size))
    held, y = w.numpy().copy(), x * w
    y.register_hook(lambda g: w.__setitem__(..., 0.0))
    (g,) = ng.grad(ng.sin(y).sum(), x, create_graph=True)
    expected = np.cos(x.detach().numpy() * held) * held
    np.testing.assert_allclose(g.detach().numpy(), expected, rtol=1e-14)


def test_a_hook_may_write_what_derivatives_have_read_already():
    x = ng.tensor([0.3, 0.8], requires_grad=True)
    w = ng.tensor([2.0, 5.0])
    y = ng.exp(x)
    y.register_hook(lambda g: w.__setitem__(..., 0.0))
    (g,) = ng.grad((y * w).sum(), x)
    np.testing.assert_allclose(g.numpy(), [2.0, 5.0] * np.exp([0.3, 0.8]), rtol=1e-14)
    assert not w.numpy().any()
