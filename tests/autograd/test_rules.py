"""The rules for combining options, one test each."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.errors import ArgTypeError, GradCountError

pytestmark = pytest.mark.device_sample


def leaf(values=(1.0, 2.0, 3.0), **options):
    return ng.tensor(values, requires_grad=True, **options)


def same(tensor, expected):
    np.testing.assert_array_equal(tensor.detach().numpy(), expected)


class Strategy:
    def __init__(self, flag):
        self.sort_sum_gradient = flag


def test_materialize_against_allow_unused():
    x = leaf()
    with pytest.raises(ValueError, match="allow_unused"):
        ng.grad(x * x, x, materialize_grads=True, allow_unused=False)


def test_materialized_zeros_require_grad_with_create_graph():
    x, z = leaf(), leaf()
    zeros = ng.grad(x * x, [z], materialize_grads=True, create_graph=True)[0]
    assert zeros.requires_grad


def test_materialize_of_an_unused_edge_is_an_error():
    x, z = leaf(), leaf()
    edge = ng.graph.get_gradient_edge(z * 2.0)
    with pytest.raises(RuntimeError, match="GradientEdge"):
        ng.grad(x * x, [edge], materialize_grads=True)


def test_enable_double_backprop_is_create_graph():
    x = leaf()
    assert ng.grad(x * x, x, enable_double_backprop=True)[0].requires_grad
    assert ng.grad(x * x, x, create_graph=True, enable_double_backprop=True)[0].requires_grad
    assert not ng.grad(x * x, x, enable_double_backprop=False)[0].requires_grad
    with pytest.raises(ValueError, match="contradict"):
        ng.grad(x * x, x, create_graph=True, enable_double_backprop=False)


def test_backward_strategy_is_sort_sum_gradient():
    x = ng.tensor(np.float32(1), requires_grad=True)
    y = [x + np.float32(0), x + np.float32(0), x]  # saves nothing, so that it can be run again
    seeds = [np.float32(1), np.float32(1), np.float32(2**24)]
    assert ng.grad(y, x, seeds)[0].item() == 16777216.0
    assert ng.grad(y, x, seeds, sort_sum_gradient=True)[0].item() == 16777218.0
    assert ng.grad(y, x, seeds, backward_strategy=Strategy(True))[0].item() == 16777218.0
    with pytest.raises(ValueError, match="contradict"):
        ng.grad(y, x, seeds, backward_strategy=Strategy(True), sort_sum_gradient=False)
    with pytest.raises(TypeError, match="BackwardStrategy"):
        ng.grad(y, x, seeds, backward_strategy=True)
    ng.set_flags(sort_sum_gradient=True)
    try:
        assert ng.grad(y, x, seeds)[0].item() == 16777218.0
    finally:
        ng.set_flags(sort_sum_gradient=False)


@pytest.mark.parametrize("scale", [8, 0.0, -2.5])
def test_loss_scale_multiplies_every_seed(scale):
    x = leaf()
    same(ng.grad(x * x, x, loss_scale=scale)[0], scale * np.array([2.0, 4.0, 6.0]))
    same(ng.grad(x * x, x, np.ones(3), loss_scale=scale)[0], scale * np.array([2.0, 4.0, 6.0]))
    batched = ng.grad(x * x, x, np.eye(3), loss_scale=scale, is_grads_batched=True)[0]
    same(batched, scale * np.diag([2.0, 4.0, 6.0]))


def test_loss_scale_leaves_grad_inputs_alone_and_keeps_the_dtype():
    x = leaf(dtype="float32")
    (g,) = ng.grad(x * x, x, loss_scale=8.0, grad_inputs=np.ones(3))
    assert g.dtype == np.float32
    same(g, [17.0, 33.0, 49.0])


def test_set_grad_replaces_after_all_checks():
    x, z = leaf(), leaf()
    x.grad = ng.tensor([9.0, 9.0, 9.0])
    z.grad = ng.tensor([9.0, 9.0, 9.0])
    with pytest.raises(RuntimeError):
        ng.grad(x * x, [x, z], set_grad=True)
    same(x.grad, [9.0, 9.0, 9.0])
    (gx, gz) = ng.grad(x * x, [x, z], set_grad=True, allow_unused=True)
    assert x.grad is gx
    assert gz is None
    assert z.grad is None


def test_set_grad_with_edges_and_dicts():
    x = leaf()
    h = x * x
    edge = ng.graph.get_gradient_edge(x)
    result = ng.grad(h, {"x": edge}, set_grad=True)
    assert x.grad is result["x"]
    with pytest.raises(ValueError, match="GradientEdge"):
        ng.grad(x * h, [ng.graph.get_gradient_edge(h)], set_grad=True)


def test_retain_grad_fills_every_visited_intermediate():
    x = leaf([2.0])
    h = x * x
    y = h * 3.0
    off = h * 5.0
    ng.grad(y, x, retain_grad=True)
    same(h.grad, [3.0])
    same(y.grad, [1.0])
    assert x.grad is None
    assert off.grad is None


def test_grad_inputs_flow_on_upstream():
    x = leaf()
    h = x * 2.0
    y = h * h
    gh, gx = ng.grad(y, [h, x], grad_inputs=[[100.0] * 3, None])
    same(gh, [104.0, 108.0, 112.0])
    same(gx, [208.0, 216.0, 224.0])


def test_an_unreached_input_returns_its_initial_gradient_and_is_not_unused():
    x, z = leaf(), leaf()
    _, g = ng.grad(x * x, [x, z], grad_inputs=[None, [1.0, 2.0, 3.0]])
    same(g, [1.0, 2.0, 3.0])


def test_grad_inputs_shape_and_batch():
    x = leaf()
    with pytest.raises(ValueError, match="Mismatch in shape"):
        ng.grad(x * x, x, grad_inputs=[1.0])
    (g,) = ng.grad(x * x, x, np.eye(3), is_grads_batched=True, grad_inputs=np.ones((3, 3)))
    same(g, np.diag([2.0, 4.0, 6.0]) + 1)


def test_grad_inputs_are_not_written():
    x = leaf()
    given = np.array([1.0, 2.0, 3.0])
    ng.grad(x * x, x, grad_inputs=given)
    np.testing.assert_array_equal(given, [1.0, 2.0, 3.0])


def test_chain_of_eight_with_initial_gradients_in_the_middle():
    xs = [leaf(1.0)]
    for _ in range(8):
        xs.append(xs[-1] * 2.0)
    g1, g4 = ng.grad([xs[8], xs[6]], [xs[1], xs[4]], [10.0, 1.0], grad_inputs=[1000.0, 100.0])
    at4 = 10 * 2.0**4 + 1 * 2.0**2 + 100
    same(g4, at4)
    same(g1, at4 * 2.0**3 + 1000)


def test_no_grad_vars_cut_one_path_only():
    x = leaf([1.0, 2.0])
    y1, y2 = x * 1.0, x * 1.0
    w = (y1 + y2) * (y1 + y2)
    same(ng.grad(w, x, no_grad_vars=[y2], retain_graph=True)[0], [4.0, 8.0])
    assert y2.requires_grad
    same(ng.grad(w, x)[0], [8.0, 16.0])


def test_no_grad_vars_do_not_restrict_the_next_order():
    x = leaf([2.0])
    h = x * x
    y = h * x
    (g,) = ng.grad(y, x, no_grad_vars=[h], create_graph=True)
    same(g, [4.0])
    same(ng.grad(g, x)[0], [4.0])


@pytest.mark.parametrize("wrong", [1, "x", [1.0], np.ones(2)])
def test_no_grad_vars_of_a_wrong_type(wrong):
    x = leaf()
    with pytest.raises(TypeError):
        ng.grad(x * x, x, no_grad_vars=wrong)


def test_batched_with_set_or_retain_grad_is_an_error():
    x = leaf()
    for option in ("set_grad", "retain_grad"):
        with pytest.raises(ValueError, match="is_grads_batched"):
            ng.grad(x * x, x, np.eye(3), is_grads_batched=True, **{option: True})
    with pytest.raises(ValueError, match="is_grads_batched"):
        ng.grad(x * x, x, np.eye(3), is_grads_batched=True, only_inputs=False)


@pytest.mark.parametrize("wrong", [[None], (), {1}, "yes"])
@pytest.mark.parametrize(
    "name",
    ["is_grads_batched", "materialize_grads", "retain_graph", "create_graph", "allow_unused"],
)
def test_arguments_of_other_libraries_in_our_positions(name, wrong):
    x = leaf()
    with pytest.raises(TypeError, match=name):
        ng.grad(x * x, x, **{name: wrong})


def test_chainer_order_is_pointed_out():
    x = leaf()
    with pytest.raises(TypeError, match="grad_inputs="):
        ng.grad([x * x], [x], None, [x])


def test_second_order_through_the_seed():
    x = leaf()
    v = leaf([1.0, 1.0, 1.0])
    (g,) = ng.grad(x * x, x, v, create_graph=True)
    same(ng.grad(g, v, np.array([1.0, 10.0, 100.0]))[0], [2.0, 40.0, 600.0])
    (g,) = ng.grad(x * x, x, v)
    assert not g.requires_grad


def test_create_graph_works_inside_no_grad():
    x = leaf()
    y = x * x * x
    with ng.no_grad():
        (g,) = ng.grad(y, x, create_graph=True)
    same(ng.grad(g, x)[0], [6.0, 12.0, 18.0])


def test_intermediate_inputs_and_outputs_that_are_inputs():
    x = leaf([3.0])
    y = x * x
    gy, gx = ng.grad([y, x], [y, x])
    same(gy, [1.0])
    same(gx, [7.0])
    same(ng.grad(x, x)[0], [1.0])


def test_mixed_dtypes_give_each_input_its_own():
    a, b = leaf(dtype="float32"), leaf()
    ga, gb = ng.grad(a * b, [a, b])
    assert (ga.dtype, gb.dtype) == (np.float32, np.float64)


def test_backward_inputs():
    x, z = leaf([2.0]), leaf([3.0])
    h = x * z
    y = h * h
    ng.backward(y, inputs=[x, h], retain_graph=True)
    same(x.grad, [36.0])
    same(h.grad, [12.0])
    assert z.grad is None
    ng.backward(y, inputs=[x, x])
    same(x.grad, [72.0])
    with pytest.raises(RuntimeError, match="cannot be empty"):
        ng.backward(x * z, inputs=[])


def test_backward_of_nothing_does_nothing():
    ng.backward([])


def test_method_backward():
    x = leaf()
    (x * x).backward(ng.tensor([1.0, 0.0, 2.0]))
    same(x.grad, [2.0, 0.0, 12.0])


def test_modes_are_per_thread_and_restore():
    import threading

    seen = []
    with ng.no_grad():
        thread = threading.Thread(target=lambda: seen.append(ng.is_grad_enabled()))
        thread.start()
        thread.join()
        assert not ng.is_grad_enabled()
    assert seen == [True]
    assert ng.is_grad_enabled()

    @ng.no_grad()
    def inside():
        return ng.is_grad_enabled()

    assert not inside()
    with pytest.raises(ZeroDivisionError), ng.no_grad():
        1 / 0  # noqa: B018
    assert ng.is_grad_enabled()


def test_a_decorated_generator_runs_in_the_mode_and_its_caller_in_its_own():
    seen = []

    @ng.no_grad()
    def items():
        try:
            seen.append((ng.is_grad_enabled(), (yield ng.is_grad_enabled())))
            yield ng.is_grad_enabled()
        except KeyError:
            yield "caught"
        finally:
            seen.append(ng.is_grad_enabled())
        return "end"

    def caller():
        seen.append((yield from items()))

    body = caller()
    assert next(body) is False
    assert ng.is_grad_enabled()
    assert body.send("sent") is False
    assert ng.is_grad_enabled()
    assert body.throw(KeyError("thrown")) == "caught"
    assert next(body, None) is None
    assert ng.is_grad_enabled()
    assert seen == [(False, "sent"), False, "end"]
    body = items()
    next(body)
    body.close()
    assert seen[3:] == [False]
    assert ng.is_grad_enabled()


def test_initial_gradients_must_have_the_batch_of_the_seeds():
    x, z = leaf(), leaf()
    for inputs, given in (([x], [np.ones((2, 3))]), ([x, z], [None, np.ones((4, 3))])):
        with pytest.raises(ng.errors.BatchedShapeError, match="same size"):
            ng.grad(x * x, inputs, np.eye(3), is_grads_batched=True, grad_inputs=given)


def test_a_leaf_that_no_longer_requires_grad_accumulates_nothing():
    for pass_ in (lambda y, z: y.backward(), lambda y, z: ng.grad(y, z, only_inputs=False)):
        for _ in range(3):  # the later passes are recalled
            x, z = leaf(), leaf()
            y = (x * z).sum()
            after = []
            x.register_post_accumulate_grad_hook(after.append)
            x.requires_grad_(False)
            pass_(y, z)
            assert x.grad is None
            assert after == []


@pytest.mark.parametrize("wrong", [None, 3.0, np.ones(3)])
def test_what_is_no_tensor_among_the_inputs(wrong):
    x = leaf()
    with pytest.raises(RuntimeError, match="all inputs have to be Tensors or GradientEdges"):
        ng.grad(x.sum(), [x, wrong])
    with pytest.raises(AssertionError, match="all outputs have to be"):
        ng.grad([x.sum(), wrong], x)


def test_a_tensor_is_not_its_own_grad():
    x = leaf()
    with pytest.raises(RuntimeError, match="own grad"):
        x.grad = x
    assert x.grad is None


def test_errors_name_the_argument_that_the_caller_knows():
    x = leaf([1.0, 2.0, 3.0])
    with pytest.raises(ArgTypeError, match=r"^grad_outputs\[1\]: .*None, but got str"):
        ng.grad([x * x, x * x], x, [None, "text"])
    with pytest.raises(ArgTypeError, match=r"^grad_tensors\[0\]: .*None, but got object"):
        ng.backward(x * x, [object()])
    with pytest.raises(TypeError, match=r"^all tensors have to be .* got str at position 0"):
        ng.backward({"loss": x * x})
    with pytest.raises(GradCountError, match=r"3 gradients; write grad_outputs=\[\[\.\.\.\]\] for"):
        ng.grad(x * x, x, [1.0, 2.0, 3.0])
    assert ng.grad(x * x, x, grad_outputs=[[1.0, 2.0, 3.0]])[0].tolist() == [2.0, 8.0, 18.0]


def test_the_keys_of_a_dict_are_no_gradients():
    x = leaf(3.0)
    for call in (
        lambda: ng.grad(x * x, x, {2: 1.0}),
        lambda: ng.grad(x * x, {0: x}, grad_inputs={0: 5.0}),
        lambda: ng.backward(x * x, {2: 1.0}),
    ):
        with pytest.raises(ArgTypeError, match=r"must be a sequence, in the order of the .* dict"):
            call()
    assert x.grad is None
