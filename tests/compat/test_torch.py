"""``numgrad.compat.torch``: signature, defaults, strictness."""

import inspect

import numpy as np
import pytest

import numgrad as ng
from numgrad.compat import torch

pytestmark = pytest.mark.device_sample


def leaf(values=(1.0, 2.0, 3.0)):
    return ng.tensor(values, requires_grad=True)


def test_signature():
    names = list(inspect.signature(torch.grad).parameters)
    assert names == [
        "outputs", "inputs", "grad_outputs", "retain_graph", "create_graph", "only_inputs",
        "allow_unused",
        "is_grads_batched", "materialize_grads",
    ]  # fmt: skip
    assert list(inspect.signature(torch.backward).parameters) == [
        "tensors", "grad_tensors", "retain_graph", "create_graph", "grad_variables", "inputs",
    ]  # fmt: skip


def test_implicit_seed_needs_one_element():
    x = leaf()
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        torch.grad(x * x, x)
    for shape in ((), (1,), (1, 1)):
        s = leaf(np.full(shape, 2.0))
        assert torch.grad(s * s, s)[0].item() == 4.0


def test_implicit_seed_of_a_complex_output():
    z = leaf(1 + 2j)
    with pytest.raises(RuntimeError, match="only for real scalar outputs but got"):
        torch.grad(z * z, z)


@pytest.mark.parametrize("seed", [1.0, np.ones(3), [np.ones(3)], [1.0]])
def test_seeds_are_tensors(seed):
    x = leaf()
    with pytest.raises(TypeError, match="gradients can be either Tensors or None"):
        torch.grad(x * x, x, seed)


def test_only_inputs_false_warns_and_is_ignored():
    x, z = leaf([1.0]), leaf([2.0])
    with pytest.warns(FutureWarning, match="only_inputs"):
        torch.grad(x * z, x, only_inputs=False)
    assert z.grad is None


def test_dict_inputs():
    x = leaf([3.0])
    assert torch.grad(x * x, {"x": x})["x"].item() == 6.0
    from collections import OrderedDict

    with pytest.raises(TypeError, match="not OrderedDict"):
        torch.grad(x * x, OrderedDict(x=x))


def test_empty_inputs_and_outputs():
    x = leaf()
    with pytest.raises(RuntimeError, match="cannot be empty"):
        torch.grad(x * x, [])
    assert torch.grad([], [x], allow_unused=True) == (None,)
    with pytest.raises(RuntimeError, match="allow_unused"):
        torch.grad([], [x])


def test_backward_warns_of_cycles_and_takes_the_old_name():
    x = leaf([3.0])
    with pytest.warns(UserWarning, match="reference cycle"):
        torch.backward(x * x, create_graph=True)
    x.grad = None
    with pytest.warns(FutureWarning, match="grad_variables"):
        torch.backward(x * x, grad_variables=ng.tensor([2.0]))
    assert x.grad.item() == 12.0
    with pytest.warns(FutureWarning), pytest.raises(RuntimeError, match="both passed"):
        torch.backward(x * x, ng.tensor([2.0]), grad_variables=ng.tensor([2.0]))


def test_batched():
    x = leaf()
    (g,) = torch.grad(x * x, x, ng.tensor(np.eye(3)), is_grads_batched=True)
    np.testing.assert_array_equal(g.numpy(), np.diag([2.0, 4.0, 6.0]))
