"""The walk over the graph: order, selection, sums, freeing, errors that change nothing."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._errors import FreedGraphError
from numgrad.engine.graph.node import Edge
from numgrad.engine.graph.traversal import needed, reachable


def leaf(*values):
    return ng.tensor(list(values), requires_grad=True)


def test_order_is_descending_creation_number():
    x = leaf(1.0)
    y = x * x
    z = ng.sin(y) + y
    order = reachable([z.edge.node], set())
    numbers = [node.number for node in order]
    assert numbers == sorted(numbers, reverse=True)
    for node in order:
        assert len(node.edges) == len(node.inputs)
        for parent, slot in node.edges:
            assert parent is None or parent.number < node.number
            assert parent is None or 0 <= slot < len(parent.outputs)


def test_only_nodes_on_a_path_are_needed():
    x, y = leaf(1.0), leaf(2.0)
    h = x * x
    z = h * ng.sin(y)
    order = reachable([z.edge.node], set())
    wanted = needed(order, {h.edge}, set())
    assert [node.name() for node in wanted] == ["multiply"]
    assert wanted[z.edge.node] == (True, False)


def test_cut_edges_let_nothing_pass():
    x = leaf(1.0)
    h = x * x
    z = ng.sin(h)
    assert {n.name() for n in reachable([z.edge.node], {Edge(*h.edge)})} == {"sin"}


def test_contributions_are_summed_from_the_latest_consumer_on():
    def total(*factors):
        x = ng.tensor(np.float32(1.0), requires_grad=True)
        return ng.grad([x * np.float32(f) for f in factors], x)[0].item()

    assert total(2.0**24, 1, 1) == 2.0**24 + 2
    assert total(1, 1, 2.0**24) == 2.0**24


def test_freed_nodes_refuse_and_others_go_on():
    x = leaf(1.0, 2.0)
    h = x * x
    y = ng.sin(h)
    ng.grad(y, h, np.ones(2))
    with pytest.raises(FreedGraphError, match=r"second time.*retain_graph=True"):
        ng.grad(y, x, np.ones(2))
    np.testing.assert_array_equal(ng.grad(h, x, np.ones(2))[0].numpy(), [2.0, 4.0])


def test_a_failed_pass_frees_nothing():
    x = leaf(1.0, 2.0)
    y = ng.sin(x * x)
    handle = x.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        ng.grad(y, x, np.ones(2))
    handle.remove()
    assert ng.grad(y, x, np.ones(2))[0].shape == (2,)


def test_results_never_alias():
    x, z, v = leaf(1.0, 2.0), leaf(3.0, 4.0), ng.tensor([5.0, 6.0])
    a, b, c = ng.grad(x + z, [x, z, x], v)
    arrays = [v.array, a.array, b.array, c.array]
    for n, one in enumerate(arrays):
        for other in arrays[n + 1 :]:
            assert not np.shares_memory(one, other)


def test_a_long_chain_and_a_wide_fan_need_no_recursion():
    x = leaf(1.0)
    y = x
    for _ in range(20_000):
        y = y * 1.0
    assert ng.grad(y, x)[0].item() == 1.0
    del y
    assert ng.grad([x * 1.0 for _ in range(20_000)], x)[0].item() == 20_000.0


def test_second_order_of_a_batched_pass():
    x = leaf(1.0, 2.0, 3.0)
    y = x * x * x
    seeds = np.array([[1.0, 0, 0], [0, 1.0, 1.0]])
    (g,) = ng.grad(y, x, seeds, is_grads_batched=True, create_graph=True)
    np.testing.assert_allclose(g.detach().numpy(), seeds * 3 * np.array([1.0, 4.0, 9.0]))
    (h,) = ng.grad(g, x, np.ones((2, 3)))
    np.testing.assert_allclose(h.numpy(), (seeds * 6 * np.array([1.0, 2.0, 3.0])).sum(0))
