"""The recorded graph seen from outside: nodes, edges, and passes that leave it as it was."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._errors import ArgTypeError, FreedGraphError, NoGradError, UnusedInputError
from numgrad.graph import GradientEdge, get_gradient_edge

from ..device import share_memory

pytestmark = pytest.mark.device_sample


def leaf(*values):
    return ng.tensor(list(values), dtype=float, requires_grad=True)


def same(tensor, expected):
    np.testing.assert_array_equal(tensor.detach().numpy(), expected)


# Nodes -------------------------------------------------------------------------------------------


def test_nodes_lead_to_the_accumulators_of_the_leaves():
    x, c = leaf(1), ng.tensor([2.0])
    y = x * c + x
    add = y.grad_fn
    assert add.name() == "add"
    (multiply, slot), (accumulator, other) = add.next_functions
    assert (multiply.name(), slot, other) == ("multiply", 0, 0)
    assert multiply.next_functions == ((accumulator, 0), (None, 0))
    assert accumulator.next_functions == ()
    assert accumulator.variable is x


def test_a_leaf_has_no_grad_fn_and_a_gradient_no_graph():
    x = leaf(1)
    assert x.grad_fn is None
    assert ng.grad(x * x, x)[0].grad_fn is None


def test_metadata_is_a_dict_of_the_node():
    node = (leaf(1) * 2.0).grad_fn
    assert node.metadata == {}
    node.metadata["key"] = 3
    assert node.metadata == {"key": 3}


def test_a_node_names_the_line_that_recorded_it():
    node = (leaf(1) * 2.0).grad_fn
    assert "test_graph.py:" in repr(node)
    assert "in test_a_node_names_the_line" in repr(node)


# Gradient edges ----------------------------------------------------------------------------------


def test_edge_of_a_leaf_and_of_an_intermediate_tensor():
    x = leaf(1)
    y = x * 2.0
    assert get_gradient_edge(y)[:2] == (y.grad_fn, y.output_nr)
    assert get_gradient_edge(x).node is y.grad_fn.next_functions[0][0]
    assert get_gradient_edge(x).output_nr == 0


def test_what_has_no_edge():
    with pytest.raises(NoGradError):
        get_gradient_edge(ng.tensor([1.0]))
    with pytest.raises(ArgTypeError):
        get_gradient_edge(3.0)
    with pytest.raises(ArgTypeError, match="no output"):
        ng.grad(leaf(1) * 2.0, GradientEdge((leaf(1) * 2.0).grad_fn, 5))


def test_an_edge_as_input_is_the_tensor():
    x = leaf(3)
    h = x * x
    y = h * h
    edges = [get_gradient_edge(h), get_gradient_edge(x)]
    for g, expected in zip(ng.grad(y, edges), (18.0, 108.0), strict=True):
        same(g, [expected])


def test_an_edge_as_output_outlives_its_tensor():
    x = leaf(3, 4)
    y = x * x
    edge = GradientEdge(y.grad_fn, y.output_nr)
    del y
    same(ng.grad(edge, x, ng.tensor([1.0, 10.0]))[0], [6.0, 80.0])


def test_backward_from_and_to_edges():
    x, z = leaf(3), leaf(5)
    h = x * z
    ng.backward(get_gradient_edge(h), inputs=get_gradient_edge(x))
    same(x.grad, [5.0])
    assert z.grad is None


def test_backward_to_an_edge_of_an_intermediate_tensor_stores_nothing():
    x = leaf(3)
    h = x * x
    ng.backward(h * 1.0, inputs=get_gradient_edge(h))
    with pytest.warns(UserWarning, match="leaves alone"):
        assert h.grad is None
    assert x.grad is None


def test_the_gradient_of_what_is_no_leaf_is_not_there_and_a_warning_says_why():
    q, step = leaf(1.0, 2.0), 0.1
    (q * q).sum().backward()
    q = q - step * q.grad
    (q * q).sum().backward()
    with pytest.warns(UserWarning, match=r"result of subtract is None.*retain_grad\(\)") as caught:
        assert q.grad is None
    assert caught[0].filename == __file__
    q = q.detach().requires_grad_()
    assert q.grad is None  # a leaf before the pass
    (q * q).sum().backward()
    same(q.grad, [1.6, 3.2])
    h = q * 2.0
    h.retain_grad()
    assert h.grad is None  # it is to be kept
    assert (q.detach() * 2.0).grad is None  # it requires none


def test_edges_in_a_batched_pass():
    x = leaf(3, 4)
    y = x * x
    edge = get_gradient_edge(y)
    (g,) = ng.grad(edge, get_gradient_edge(x), np.eye(2), is_grads_batched=True)
    same(g, np.diag([6.0, 8.0]))


def test_an_edge_taken_before_a_write_in_place_leads_to_the_old_value():
    x = leaf(1, 1).clone()
    edge = get_gradient_edge(x)
    x *= 2.0
    old, new = ng.grad(x.sum(), (edge, x))
    same(old, [2.0, 2.0])
    same(new, [1.0, 1.0])


# Passes that fail --------------------------------------------------------------------------------


def test_an_unused_input_is_an_error_that_frees_nothing():
    x, z = leaf(3), leaf(5)
    y = x * x
    with pytest.raises(UnusedInputError):
        ng.grad(y, [x, z], set_grad=True)
    assert x.grad is None
    same(ng.grad(y, x)[0], [6.0])


def test_a_pass_over_a_partly_freed_graph_frees_no_more():
    x = leaf(3)
    h = x * x
    y, z = h * h, h * 2.0 * h
    ng.grad(h, x)
    with pytest.raises(FreedGraphError):
        ng.grad(y, x)
    same(ng.grad(y, h)[0], [18.0])
    same(ng.grad(z, h)[0], [36.0])


def test_results_of_backward_do_not_alias():
    x, z, v = leaf(1), leaf(2), ng.tensor([1.0])
    ng.backward(x + z, v)
    assert not share_memory(x.grad.array, z.grad.array)
    assert not share_memory(x.grad.array, v.array)
    ng.backward(x + z, v)
    same(v, [1.0])
    same(x.grad, [2.0])
    same(z.grad, [2.0])
