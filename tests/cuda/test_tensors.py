"""Tensors on a device: making, moving, gradients across devices, and what is refused."""

import copy
import pickle

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.record.apply import runtime

from ..user_functions import Cube

X = np.linspace(0.5, 2.0, 6).reshape(2, 3)


def close(found, expected, device="cuda:0"):
    assert found.device == device
    np.testing.assert_allclose(found.detach().cpu().numpy(), expected, 1e-12)


@pytest.mark.parametrize("name", ["cuda", "cuda:0"])
def test_tensors_are_made_on_a_device(name):
    x = ng.tensor(X, device=name, requires_grad=True)
    assert (x.device, x.shape, x.dtype) == ("cuda:0", X.shape, X.dtype)
    assert x.requires_grad
    close(x, X)


@pytest.mark.parametrize("make", [
    lambda device: ng.zeros((2, 3), device=device), lambda device: ng.ones(4, device=device),
    lambda device: ng.full((2, 2), 7.0, device=device), lambda device: ng.eye(3, device=device),
    lambda device: ng.arange(5, device=device), lambda device: ng.linspace(0, 1, 5, device=device),
    lambda device: ng.asarray(X, device=device), lambda device: ng.from_dlpack(X, device=device),
])  # fmt: skip
def test_creation_functions_know_devices(make):
    close(make("cuda"), make(None).numpy())


def test_like_functions_stay_on_the_device():
    x = ng.tensor(X, device="cuda")
    for made in (ng.zeros_like(x), ng.ones_like(x), ng.empty_like(x), ng.full_like(x, 2.0)):
        assert made.device == "cuda:0"
    assert ng.zeros_like(x, device="cpu").device == "cpu"


def test_moving_to_where_it_is_changes_nothing():
    x = ng.tensor(X, device="cuda")
    assert x.cuda() is x
    assert x.to("cuda:0") is x
    assert x.cpu().cpu().device == "cpu"


@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_come_back_across_devices(create_graph):
    x = ng.tensor(X, requires_grad=True)
    y = (ng.sin(x.cuda()) ** 2).sum(1).cpu() * 3.0
    (gradient,) = ng.grad(y.sum(), x, create_graph=create_graph)
    close(gradient, 3 * np.sin(2 * X), "cpu")
    if create_graph:
        close(ng.grad(gradient.sum(), x)[0], 6 * np.cos(2 * X), "cpu")


def test_batched_gradients_come_back_across_devices():
    x = ng.tensor(X[0], requires_grad=True)
    y = ng.exp(x.cuda()).cpu()
    for _ in range(3):
        (jacobian,) = ng.grad(y, x, np.eye(3), is_grads_batched=True, retain_graph=True)
        close(jacobian, np.diag(np.exp(X[0])), "cpu")


def test_backward_accumulates_on_the_device():
    x = ng.tensor(X, device="cuda", requires_grad=True)
    for _ in range(3):
        (x * x).sum().backward()
    close(x.grad, 6 * X)
    x.clear_grad()
    close(x.grad, 0 * X)


def test_unused_inputs_get_zeros_of_their_device():
    x, y = (ng.tensor(X, device="cuda", requires_grad=True) for _ in range(2))
    first, second = ng.grad(x.sum(), [x, y], allow_unused=True, materialize_grads=True)
    close(first, np.ones_like(X))
    close(second, np.zeros_like(X))


def test_hooks_see_tensors_of_the_device():
    x, seen = ng.tensor(X, device="cuda", requires_grad=True), []
    x.register_hook(lambda g: seen.append(g.device) or 2 * g)
    close(ng.grad((x * x).sum(), x)[0], 4 * X)
    assert seen == ["cuda:0"]


def test_functions_of_users_run_on_the_device():
    x = ng.tensor(X, device="cuda", requires_grad=True)
    close(ng.grad(Cube.apply(x).sum(), x)[0], 3 * X * X)


def test_transforms_take_tensors_of_a_device():
    x = ng.tensor(X[0], device="cuda")
    close(ng.func.grad(lambda v: (v * v).sum())(x), 2 * X[0])
    close(ng.func.hessian(lambda v: (v * v * v).sum())(x), np.diag(6 * X[0]))


def test_transforms_of_functions_that_move_arrays_to_a_device():
    def function(v):
        return ng.sin(ng.asarray(v, device="cuda"))

    v = X[0]
    expected = np.diag(np.cos(v))
    assert isinstance(ng.func.jacrev(function)(v), np.ndarray)  # as the argument is
    np.testing.assert_allclose(ng.func.jacrev(function)(v), expected)
    close(ng.func.jacfwd(function)(v), expected)  # as the result is
    value, slope = ng.func.value_and_grad(lambda v: function(v).sum())(v)
    close(value, np.sin(v).sum())
    np.testing.assert_allclose(slope, np.cos(v))
    expected = np.sin(v), v * np.cos(v)
    for part, number in zip(ng.func.jvp(function, (v,), (v,)), expected, strict=True):
        close(part, number)


def test_ranges_of_a_device():
    x = ng.tensor([0.5, 1.0], device="cuda", requires_grad=True)
    between = ng.linspace(x, 2.0, 4)
    close(between, np.linspace([0.5, 1.0], 2.0, 4))
    close(ng.grad(between.sum(), x)[0], [2.0, 2.0])


def test_numbers_and_texts_are_read_from_the_device():
    x = ng.tensor([1.0, 2.5], device="cuda")
    assert x.tolist() == [1.0, 2.5]
    assert x.sum().item() == float(x.sum()) == 3.5
    assert bool((x > 0).all())
    assert repr(x) == "tensor([1. , 2.5], device='cuda:0')"
    assert f"{x[1]:.2f}" == "2.50"


def test_masks_and_positions_may_be_of_either_device():
    x = ng.tensor(X, device="cuda")
    close(x[x > 1], X[X > 1])
    close(x[[1, 0, 1]], X[[1, 0, 1]])
    close(x[ng.tensor([1, 0])], X[[1, 0]])


def test_copies_and_pickles_stay_on_the_device():
    x = ng.tensor(X, device="cuda", requires_grad=True)
    for again in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        close(again, X)
        assert again.requires_grad


def test_arrays_of_numpy_and_numbers_join_in():
    x = ng.tensor(X, device="cuda")
    close(x * X, X * X)
    close(np.full(3, 2.0) + x, X + 2)
    close(x - 1, X - 1)
    close(x * ng.tensor(2.0), 2 * X)


def test_tensors_of_two_devices_do_not_meet():
    x, y = ng.tensor(X, device="cuda"), ng.tensor(X)
    for _ in range(3):
        x * X  # an array of NumPy is taken to the device, and leaves nothing that a tensor is
    for operation in (lambda: x * y, lambda: y - x, lambda: x @ y.T, lambda: ng.stack([x, y])):
        with pytest.raises(ng.errors.DeviceError, match="cuda:0"):
            operation()
    z = ng.tensor(X, device="cuda", requires_grad=True) * 2
    with pytest.raises(ng.errors.DeviceError, match="grad_output"):
        ng.grad(z, z, ng.tensor(X))


def test_numpy_is_told_where_the_numbers_are():
    x = ng.tensor(X, device="cuda")
    for operation in (x.numpy, lambda: np.asarray(x), lambda: np.sum([x, x])):
        with pytest.raises(ng.errors.DeviceError, match="cpu"):
            operation()


@pytest.mark.parametrize("name", ["gpu", "cuda:x", "cuda:7", "mps"])
def test_other_devices_are_not_there(name):
    with pytest.raises(ng.errors.DeviceError):
        ng.tensor(X, device=name)


def test_there_is_a_device():
    assert ng.cuda.is_available()
    assert ng.cuda.device_count() == 1
    assert ng.cuda.unavailable_reason() is None


def test_a_device_has_one_name():
    close(ng.tensor(X, device="cuda:00") + 1.0, X + 1)
    assert [name for name in runtime.targets if name.startswith("cuda")] == ["cuda:0"]


def test_the_namespace_names_its_devices():
    assert ng.__array_namespace_info__().devices() == ("cpu", "cuda:0")


def test_fields_of_records_are_not_a_whole_number_of_elements_apart():
    records = np.zeros(4, [("n", "i4"), ("x", "f8")])
    records["x"] = values = np.array([1.0, 2.0, 3.0, 4.0])
    field = records["x"]
    x = ng.tensor(np.ones(4), device="cuda")
    there = ng.asarray(field, device="cuda")
    for found in (there, there + 0.0, x * field, x * ng.asarray(field).cuda(), there[::-1][::-1]):
        np.testing.assert_array_equal(found.cpu().numpy(), values)
    assert (there @ x).item() == there.sum().item() == 10.0
    x[...] = field
    np.testing.assert_array_equal(x.cpu().numpy(), values)
