"""Where the five gradient APIs disagree: what the core does, one test per topic."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._errors import (
    BatchedShapeError,
    GradCountError,
    GradShapeError,
    InplaceError,
    NoGradError,
    UnusedInputError,
)

from ..device import share_memory

pytestmark = pytest.mark.device_sample


def leaf(values=(1.0, 2.0, 3.0), **options):
    return ng.tensor(values, requires_grad=True, **options)


def same(tensor, expected):
    np.testing.assert_array_equal(tensor.detach().numpy(), expected)


def test_01_bare_tensors_and_any_iterable():
    x = leaf()
    for outputs in (x * x, [x * x], (x * x,), (y for y in [x * x])):
        for inputs in (x, [x], {"only": x}, iter([x])):
            result = ng.grad(outputs, inputs, retain_graph=True) if outputs is not None else None
            break
        same(result[0], [2.0, 4.0, 6.0])


def test_02_tuple_or_dict_is_returned():
    x = leaf()
    assert type(ng.grad(x * x, x)) is tuple
    result = ng.grad(x * x, {"a": x})
    assert type(result) is dict
    same(result["a"], [2.0, 4.0, 6.0])


def test_03_implicit_seed_is_ones_of_any_shape():
    x = leaf()
    same(ng.grad(x * x, x)[0], [2.0, 4.0, 6.0])


def test_04_implicit_seed_of_a_complex_output_is_ones():
    z = leaf([1 + 2j, 3 - 1j])
    same(ng.grad(z * z, z)[0], 2 * np.conj([1 + 2j, 3 - 1j]))


@pytest.mark.parametrize("shape", [(), (1,), (4,), (1, 3), (3, 1)])
def test_05_seed_shape_must_match_exactly(shape):
    x = leaf()
    with pytest.raises(GradShapeError, match="Mismatch in shape"):
        ng.grad(x * x, x, np.ones(shape))


def test_05_zero_dimensional_is_not_one_element():
    x = leaf(1.0)
    with pytest.raises(GradShapeError):
        ng.grad(x * x, x, np.ones(1))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "bool"])
def test_06_real_seed_is_cast(dtype):
    x = leaf()
    (g,) = ng.grad(x * x, x, ng.tensor(np.ones(3, dtype)))
    assert g.dtype == np.float64
    same(g, [2.0, 4.0, 6.0])


def test_06b_arrays_and_numbers_are_converted():
    x = leaf()
    for seed in (np.array([1.0, 0.0, 2.0]), [1.0, 0.0, 2.0]):
        same(ng.grad(x * x, x, [seed])[0], [2.0, 0.0, 12.0])
    s = leaf(3.0)
    same(ng.grad(s * s, s, 10.0)[0], 60.0)
    same(ng.grad([s * s], [s], [10])[0], 60.0)


@pytest.mark.parametrize("seeds", [[np.ones(3), np.ones(3)], [None, None], []])
def test_07_and_08_number_of_seeds_must_match(seeds):
    x = leaf()
    with pytest.raises(GradCountError, match=r"got 1 tensors and \d gradients"):
        ng.grad([x * x], x, seeds)


def test_09_duplicate_outputs_are_summed():
    x = leaf()
    y = x * x
    same(ng.grad([y, y], x, [np.ones(3), 10 * np.ones(3)])[0], [22.0, 44.0, 66.0])


def test_10_duplicate_inputs_get_the_same_gradient():
    x = leaf()
    a, b = ng.grad(x * x, [x, x])
    same(a, [2.0, 4.0, 6.0])
    same(b, [2.0, 4.0, 6.0])


def test_11_output_without_grad_is_an_error_also_with_a_seed():
    x, c = leaf(), ng.tensor([1.0])
    with pytest.raises(NoGradError, match="element 1 of outputs does not require grad"):
        ng.grad([x * x, c], x, [None, None])


def test_12_input_without_grad_is_an_error_also_with_allow_unused():
    x, c = leaf(), ng.tensor([1.0])
    with pytest.raises(NoGradError, match="does not require grad"):
        ng.grad(x * x, [c], allow_unused=True)


def test_13_unused_input():
    x, z = leaf(), leaf()
    with pytest.raises(UnusedInputError, match=r"index 1.*allow_unused=True"):
        ng.grad(x * x, [x, z])
    assert ng.grad(x * x, [x, z], allow_unused=True)[1] is None
    same(ng.grad(x * x, [x, z], materialize_grads=True)[1], [0.0, 0.0, 0.0])


def test_14_retain_graph_defaults_to_create_graph():
    x = leaf()
    y = x * x
    ng.grad(y, x, create_graph=True)
    ng.grad(y, x)
    with pytest.raises(RuntimeError, match="second time"):
        ng.grad(y, x)


def test_15_graphs_that_saved_nothing_run_again():
    x = leaf()
    y = x + x
    ng.grad(y, x)
    same(ng.grad(y, x)[0], [2.0, 2.0, 2.0])


def test_16_create_graph_over_a_freed_graph_is_an_error():
    x = leaf()
    y = x * x * x
    (g,) = ng.grad(y, x, create_graph=True, retain_graph=False)
    same(g, [3.0, 12.0, 27.0])
    with pytest.raises(RuntimeError, match="second time"):
        ng.grad(g, x)


def test_17_gradient_of_a_linear_function_does_not_require_grad():
    x = leaf()
    (g,) = ng.grad(x * 2.0 + x, x, create_graph=True)
    assert not g.requires_grad
    with pytest.raises(NoGradError):
        ng.grad(g, x)


def test_18_hooks_on_a_captured_leaf_apply():
    x = leaf()
    x.register_hook(lambda g: g * 10)
    same(ng.grad(x * x, x)[0], [20.0, 40.0, 60.0])


def test_19_hooks_on_a_captured_intermediate_always_apply():
    x = leaf([1.0])
    y = x * 3.0
    y.register_hook(lambda g: g * 10)
    z = y * 2.0
    same(ng.grad(z, [y], retain_graph=True)[0], [20.0])
    gy, gx = ng.grad(z, [y, x])
    same(gy, [20.0])
    same(gx, [60.0])


def test_20_retain_grad_accumulates_and_the_keyword_replaces():
    x = leaf([1.0])
    h = x * 2.0
    h.retain_grad()
    y = h * h
    for expected in (4.0, 8.0):
        ng.grad(y, x, retain_graph=True)
        same(h.grad, [expected])
    ng.grad(y, x, retain_graph=True, retain_grad=True)
    same(h.grad, [4.0])


def test_21_retain_grad_sees_all_hooks():
    x = leaf([1.0])
    h = x * 2.0
    h.retain_grad()
    h.register_hook(lambda g: g * 10)
    ng.backward(h * 1.0)
    same(h.grad, [10.0])


def test_22_only_inputs_false_accumulates_in_the_other_leaves():
    x, z = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    (g,) = ng.grad(x * z, [x], only_inputs=False)
    same(g, [3.0, 4.0])
    assert x.grad is None
    same(z.grad, [1.0, 2.0])


def test_23_an_input_among_no_grad_vars_is_unused():
    x, z = leaf(), leaf()
    with pytest.raises(UnusedInputError):
        ng.grad(x * z, [x, z], no_grad_vars=[z], retain_graph=True)
    a, b = ng.grad(x * z, [x, z], no_grad_vars=z, allow_unused=True)
    same(a, [1.0, 2.0, 3.0])
    assert b is None


def test_24_an_output_among_no_grad_vars_is_an_error():
    x = leaf()
    y = x * x
    with pytest.raises(ValueError, match="no_grad_vars"):
        ng.grad(y, x, no_grad_vars=[y])


def test_25_grad_inputs_of_an_output_are_added():
    x = leaf([2.0])
    y = x * x
    same(ng.grad([y, x], [x], [[2.0], [3.0]], grad_inputs=[[10.0]])[0], [2 * 4.0 + 3.0 + 10.0])


def test_26_duplicate_inputs_with_two_initial_gradients_are_an_error():
    x = leaf([2.0])
    with pytest.raises(ValueError, match="duplicate"):
        ng.grad(x * x, [x, x], grad_inputs=[[1.0], [2.0]])
    a, b = ng.grad(x * x, [x, x], grad_inputs=[[1.0], None])
    same(a, [5.0])
    same(b, [5.0])


def test_27_booleans_are_truth_values():
    x, z = leaf(), leaf()
    assert ng.grad(x * x, [x, z], None, 0, 0, 1, 1)[1] is None


def test_28_backward_of_duplicates_sums():
    x = leaf()
    y = x * x
    ng.backward([y, y])
    same(x.grad, [4.0, 8.0, 12.0])


def test_29_backward_accumulates_in_place_and_with_create_graph_in_a_new_tensor():
    x = leaf()
    y = x * x
    ng.backward(y, retain_graph=True)
    before = x.grad
    ng.backward(y, retain_graph=True)
    assert x.grad is before
    same(x.grad, [4.0, 8.0, 12.0])
    ng.backward(y, create_graph=True)
    assert x.grad is not before
    assert x.grad.requires_grad


def test_30_backward_takes_none_for_retain_graph():
    x = leaf()
    ng.backward(x * x, None, None)
    same(x.grad, [2.0, 4.0, 6.0])


def test_31_backward_of_a_tensor_without_grad_is_an_error():
    with pytest.raises(NoGradError):
        ng.backward(ng.tensor([1.0]))


def test_32_materialised_zeros_have_the_batch_in_front():
    x, z = leaf(), leaf([[1.0, 2.0]])
    _, g = ng.grad(x * x, [x, z], np.eye(3), is_grads_batched=True, materialize_grads=True)
    same(g, np.zeros((3, 1, 2)))


def test_33_batched_hooks_see_one_row_at_a_time():
    x = leaf()
    shapes = []
    y = x * x
    y.register_hook(lambda g: shapes.append(g.shape))
    same(ng.grad(y * 1.0, x, np.eye(3), is_grads_batched=True)[0], np.diag([2.0, 4.0, 6.0]))
    assert shapes == [(3,)] * 3


def test_34_an_empty_batch_gives_empty_results():
    x = leaf()
    same(ng.grad(x * x, x, np.zeros((0, 3)), is_grads_batched=True)[0], np.zeros((0, 3)))


def test_35_sums_run_from_the_latest_consumer_on():
    x = ng.tensor(np.float32(1), requires_grad=True)
    terms = [x * np.float32(2.0**24), x * np.float32(1), x * np.float32(1)]
    assert ng.grad(terms, x)[0].item() == 16777218.0
    terms = [x * np.float32(1), x * np.float32(1), x * np.float32(2.0**24)]
    assert ng.grad(terms, x)[0].item() == 16777216.0


def test_36_the_node_of_a_captured_input_is_not_executed():
    x = leaf()
    h = x * x
    y = h * h
    ng.grad(y, h)
    same(ng.grad(h, x)[0], [2.0, 4.0, 6.0])


def test_38_complex_gradients_follow_the_conjugate_convention():
    z = leaf([1 + 2j])
    same(ng.grad(z * z, z, np.ones(1, complex))[0], 2 * np.conj([1 + 2j]))


@pytest.mark.parametrize("dtype", ["int64", "bool", "uint8"])
def test_39_integers_cannot_require_grad(dtype):
    with pytest.raises(TypeError, match="floating point"):
        ng.tensor([1, 0], dtype=dtype, requires_grad=True)
    with pytest.raises(RuntimeError, match="floating point"):
        ng.tensor([1, 0], dtype=dtype).requires_grad_()


def test_40_results_never_alias():
    x, z = leaf(), leaf()
    v = ng.tensor([1.0, 1.0, 1.0])
    (same_as_seed,) = ng.grad(x, x, v)
    a, b = ng.grad(x + z, [x, z], v)
    arrays = [v.array, same_as_seed.array, a.array, b.array]
    assert not any(share_memory(p, q) for n, p in enumerate(arrays) for q in arrays[n + 1 :])


def test_batched_seeds_must_have_the_batch_and_agree():
    x = leaf()
    y = x * x
    with pytest.raises(BatchedShapeError, match="is_grads_batched"):
        ng.grad(y, x, np.ones(3), is_grads_batched=True)
    with pytest.raises(BatchedShapeError, match="is_grads_batched"):
        ng.grad(y, x, is_grads_batched=True)
    with pytest.raises(ValueError, match="same size"):
        ng.grad([y, y], x, [np.ones((2, 3)), np.ones((4, 3))], is_grads_batched=True)


def test_an_overwritten_saved_value_is_an_error_that_names_both_versions():
    x = leaf()
    h = x * 1.0
    y = h * h
    with ng.no_grad():
        h[0] = 5.0
    with pytest.raises(InplaceError, match=r"version 1; expected version 0"):
        ng.grad(y, x)
