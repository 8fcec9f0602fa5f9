"""Where devices meet: seeds, gradients, hooks, saved values and functions of several operands."""

import threading

import numpy as np
import pytest
from numba import njit

import numgrad as ng
from numgrad.graph import saved_tensors_hooks

X = np.linspace(0.5, 2.0, 6).reshape(2, 3)


def leaf(values=X):
    return ng.tensor(values, device="cuda", requires_grad=True)


def close(found, expected):
    assert found.device == "cuda:0"
    np.testing.assert_allclose(found.detach().cpu().numpy(), expected, 1e-12)


# Gradients ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [X, X.tolist(), X.astype(np.float16)])
@pytest.mark.parametrize("create_graph", [False, True])
def test_seeds_that_are_no_tensors_are_taken_to_the_output(seed, create_graph):
    for _ in range(3):
        x = leaf()
        (gradient,) = ng.grad(x * x, x, [seed], create_graph=create_graph)
        close(gradient, 2 * X * np.asarray(seed))


def test_initial_gradients_that_are_no_tensors_are_taken_to_the_input():
    x = leaf(X[0])
    close(ng.grad(x * x, x, grad_inputs=[[1.0, 2.0, 3.0]])[0], 2 * X[0] + [1.0, 2.0, 3.0])


def test_a_gradient_is_where_its_tensor_is():
    x, y = leaf(), ng.tensor(X, requires_grad=True)
    for tensor, other in ((x, y.detach()), (y, x.detach())):
        with pytest.raises(ng.errors.DeviceError, match="same device"):
            tensor.grad = other
        assert tensor.grad is None


@pytest.mark.parametrize("batched", [False, True])
def test_what_a_hook_returns_is_where_the_gradient_is(batched):
    x = leaf(X[0])
    seeds = np.eye(3) if batched else None
    y = x * 1.0
    handle = y.register_hook(lambda g: ng.tensor(np.ones(3)))
    with pytest.raises(ng.errors.HookError, match="device of value: cuda:0 became cpu"):
        ng.grad(y * y, x, seeds, is_grads_batched=batched, retain_graph=True)
    handle.remove()
    y.grad_fn.register_prehook(lambda gs: (ng.tensor(np.ones(3)),))
    with pytest.raises(ng.errors.HookError, match="device of value: cuda:0 became cpu"):
        ng.grad(y * y, x, seeds, is_grads_batched=batched)


def test_what_a_function_of_a_user_returns_is_where_its_argument_is():
    class Wrong(ng.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2.0

        @staticmethod
        def backward(ctx, g):
            return ng.tensor(2.0 * np.ones(g.shape))

    x = leaf()
    with pytest.raises(ng.errors.CustomGradError, match=r"Wrong.*index 0: it is on cpu.*cuda:0"):
        ng.grad(Wrong.apply(x), x)


@pytest.mark.parametrize("there", ["cpu", "cuda"])
def test_saved_values_may_be_kept_on_the_processor(there):
    packed = []
    with saved_tensors_hooks(lambda t: packed.append(t.device) or t.cpu(), lambda t: t.to(there)):
        x = leaf()
        y = ng.sin(x)
    close(ng.grad(y, x)[0], np.cos(X))
    assert packed == ["cuda:0"]


def test_two_threads_compute_on_a_device_at_once():
    found, errors = [], []
    barrier = threading.Barrier(2, timeout=30)

    def work():
        try:
            barrier.wait()
            for _ in range(5):
                x = leaf(X)
                found.append(ng.grad((x @ x.T).sum() + ng.exp(x).sum(), x)[0].cpu().numpy())
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    for one in found:
        np.testing.assert_allclose(one, 2 * X.sum(0) + np.exp(X), 1e-12)


# Functions of several operands --------------------------------------------------------------------


@pytest.mark.parametrize("function", [
    lambda a, b: ng.einsum("ij,kj->ik", a, b), lambda a, b: ng.einsum("ij,kj,kj->i", a, b, b),
    lambda a, b: ng.tensordot(a, b, axes=2), ng.inner, ng.outer, ng.kron, ng.vecdot,
    lambda a, b: ng.stack([a, b]), lambda a, b: ng.concat([a, b.tolist()]),
    lambda a, b: ng.column_stack([a, b]), lambda a, b: ng.broadcast_arrays(a, b[0])[1],
    lambda a, b: ng.searchsorted(ng.ravel(a), b), lambda a, b: ng.isclose(a, b),
    lambda a, b: ng.linalg.multi_dot([a, b.T, b]), lambda a, b: ng.vstack([b, a]),
    lambda a, b: ng.hstack([b, a]), lambda a, b: ng.dstack([b, a]), ng.trapezoid,
    lambda a, b: ng.diff(a, prepend=b), lambda a, b: ng.linalg.solve(a @ a.T, b),
    lambda a, b: ng.cumulative_sum(a, axis=1, include_initial=True),
])  # fmt: skip
def test_arrays_of_numpy_join_in(function):
    expected = function(ng.tensor(X), X).numpy()
    for _ in range(3):
        close(function(ng.tensor(X, device="cuda"), X), expected)


@pytest.mark.parametrize("function", [
    lambda x: ng.allclose(x, X) and not ng.allclose(x, X + 1.0),
    lambda x: ng.array_equal(x, X) and ng.array_equiv(X, x),
    lambda x: 0.5 in x and 7.0 not in x,
    lambda x: np.array_str(x) == np.array_str(X),
])  # fmt: skip
def test_questions_are_answered(function):
    assert function(ng.tensor(X, device="cuda"))


@pytest.mark.parametrize("function", [
    ng.nonzero, lambda x: (ng.argwhere(x),), ng.unique_all, lambda x: (ng.unique_values(x),),
    lambda x: (ng.repeat(x, ng.asarray(np.array([0, 2, 1]), device=x.device), axis=1),),
])  # fmt: skip
def test_what_has_a_size_of_its_own_is_found(function):
    x = np.round(X) - 1.0
    for found, expected in zip(
        function(ng.tensor(x, device="cuda")), function(ng.tensor(x)), strict=True
    ):
        close(found, expected.numpy())


def test_a_list_of_tensors_of_a_device_has_a_graph_to_be_in():
    x = leaf(1.0)
    with pytest.raises(ng.errors.DeviceError, match=r"a tensor on cuda:0.*ng\.asarray"):
        ng.tensor([x.detach(), 2.0])
    close(ng.asarray([x, 2.0]), [1.0, 2.0])


def test_arrays_of_numpy_are_saved_where_their_value_is_said_to_be():
    for _ in range(5):
        saved = (leaf() * X).grad_fn.saved
        assert [(v.device, v.array.device) for v in saved if v is not None] == [2 * ("cuda:0",)]


def test_a_captured_function_returns_copies_of_what_it_closes_over_on_a_device():
    x = ng.tensor(X, device="cuda")
    function = ng.jit(lambda v: (v * 2, x, x[0]))
    for _ in range(2):
        array, *tensors = function(X)
        assert type(array) is np.ndarray
        close(tensors[0], X)
        close(tensors[1], X[0])
        assert all(tensor.array.memory is not x.array.memory for tensor in tensors)


def test_profiles_are_of_the_processor():
    x, y = leaf(), ng.tensor(X, requires_grad=True)
    with ng.display.profile() as profile:
        for tensor in (x, y):
            close(ng.grad(ng.sin(tensor).sum(), tensor)[0].cuda(), np.cos(X))
    assert len(profile.programs) == 1


# Kernels that raise -------------------------------------------------------------------------------


def test_a_function_that_raises_is_heard_of():
    @ng.elementwise
    def positive(v):
        if v < 0:
            raise ValueError("a negative number")
        return 2.0 * v

    close(positive(ng.tensor(X, device="cuda")), 2 * X)
    for _ in range(3):
        with pytest.raises(ng.errors.OperatorError, match=r"positive.*a negative number"):
            positive(ng.tensor(-X, device="cuda"))


def test_integers_have_no_negative_powers():
    for exponent in (-1, np.array([1, -2])):
        with pytest.raises(ValueError, match="negative integer powers"):
            ng.tensor([1, 2], device="cuda") ** exponent


def writes_its_input(x, out):
    for i in range(x.size):
        out[i] = x[i]
    x[0] = 1.0


def writes_nothing(x, out):
    x.sum()


def writes_a_part(x, out):
    for i in range(1, x.size):
        out[i] = x[i]


@pytest.mark.parametrize(("function", "message"), [
    (writes_its_input, "writes its input x"), (writes_nothing, "never writes its output out"),
])  # fmt: skip
def test_kernels_that_write_what_they_may_not_are_refused(function, message):
    operator = ng.operator("(n)->(n)")(njit(function))
    x = ng.tensor(X, device="cuda")
    for _ in range(2):
        with pytest.raises(ng.errors.OperatorError, match=message):
            operator(x)
    close(x, X)


def test_elements_that_are_not_written_are_found_in_debug_mode():
    operator = ng.operator("(n)->(n)")(njit(writes_a_part))
    ng.set_flags(debug=True)
    try:
        with pytest.raises(ng.errors.OperatorError, match=r"did not write out\[0\]"):
            operator(ng.tensor(X, device="cuda"))
    finally:
        ng.set_flags(debug=False)
