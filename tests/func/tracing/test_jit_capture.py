"""What a captured function may not do, and what it closes over."""

import inspect
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import numgrad as ng
from numgrad._tensor import Tensor
from numgrad.errors import CaptureError

X = np.array([1.0, 2.0, 3.0])


def branches(x):
    if x.sum() > 0:
        return x
    return -x


READS = {
    "if": branches,
    "float": lambda x: x * float(x[0]),
    "int": lambda x: x[int(x[0])],
    "item": lambda x: x * x[0].item(),
    "require": lambda x: x * np.require(x),
    "numpy": lambda x: x * x.numpy(),
    "tolist": lambda x: sum(x.tolist()),
    "while": lambda x: next(x for _ in range(3) if not bool(x[0] < 0)),
    "mask": lambda x: x[x > 1],
    "index of an array": lambda x: X[x.astype(int)],
    "nonzero": lambda x: ng.nonzero(x)[0],
    "contains": lambda x: x * (1.0 in x),
    "format": lambda x: x * len(f"{x[0]:.3f}"),
    "range": lambda x: x * sum(range(x[0].astype(int))),
}


COUNTERPARTS = {
    "float": ["float(x[0]) asks for the value", "write x[0], which computes as a number does"],
    "require": ["np.require(x) asks for the value", "write ng.asarray(x)"],
}


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.host_only("reads as the tests do there, by a function of their own")
def test_reading_a_value_names_the_line_and_the_way_out(name, grad):
    function = READS[name]
    jitted = ng.jit(function)
    with pytest.raises(CaptureError) as caught:
        jitted(ng.tensor(X, requires_grad=True) if grad else X)
    _, line = inspect.getsourcelines(function)
    lines = range(line, line + 3)
    text = str(caught.value)
    assert any(f"{__file__}:{n} in" in text for n in lines)
    ways = COUNTERPARTS.get(name, ("ng.where", "ng.cond", "loop", "static_argnums"))
    assert all(way in text for way in ways)


def test_a_value_that_numpy_asks_for_names_the_line_of_the_user():
    total = ng.jit(lambda x, axis: ng.asarray(x).sum(axis=axis))
    with pytest.raises(CaptureError, match=r"at \S*_capture\.py:\d+ in <lambda>: the value"):
        total(np.ones((2, 3)), np.array(1))


def test_lengths_shapes_and_iteration_are_known():
    def function(x):
        assert (len(x), x.shape, x.ndim, x.dtype) == (3, (3,), 1, np.float64)
        total = 0.0
        for item in x:
            total = total + item * x.size
        return total

    assert ng.jit(function)(X) == 18.0


def test_an_error_leaves_the_mode_as_it_was():
    with pytest.raises(CaptureError):
        ng.jit(branches)(X)
    assert branches(ng.tensor(X)).tolist() == X.tolist()
    with pytest.raises(ZeroDivisionError):
        ng.jit(lambda x: x * (1 / 0))(X)
    assert (ng.tensor(X) * 2).tolist() == [2.0, 4.0, 6.0]


@pytest.mark.parametrize("function", [
    lambda x, w: x * w, lambda x, w: ng.jit(lambda y: y * w)(x), lambda x, w: (x * x).sum(),
    lambda x, w: ng.func.grad(lambda y: (x * y).sum())(X),
])  # fmt: skip
@pytest.mark.host_only("differentiates arrays of NumPy, which stay on the processor")
def test_another_thread_does_not_compute_with_what_is_captured(function):
    """Nobody would see what else takes part there: its gradient was lost."""
    w = ng.tensor(2.0, requires_grad=True)

    def elsewhere(x):
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(function, x, w).result()

    with ng.no_grad():
        np.testing.assert_allclose(elsewhere(ng.tensor(X)), function(ng.tensor(X), w))
    with pytest.raises(CaptureError, match="another thread"):
        ng.jit(elsewhere)(X)


def test_a_tensor_kept_outside_has_no_value():
    kept = []
    ng.jit(lambda x: kept.append(x * 2) or x)(X)
    (tensor,) = kept
    for use in (lambda: tensor.numpy(), lambda: float(tensor[0]), lambda: bool(tensor.sum() > 0)):
        with pytest.raises(CaptureError, match="kept outside"):
            use()
    leaf = ng.tensor(X, requires_grad=True)
    with pytest.raises(CaptureError, match="kept outside"):
        ng.grad((leaf * leaf * tensor).sum(), leaf)
    assert "not computed" in repr(tensor)


# Writes to the outside --------------------------------------------------------------------------

WEIGHT = ng.tensor([1.0, 1.0, 1.0])
LEAF = ng.tensor([1.0, 1.0, 1.0], requires_grad=True)
ARRAY = np.ones(3)


def write_argument(x):
    x[0] = 5.0
    return x


def add_to_argument(x):
    x += 1.0
    return x


def write_view_of_argument(x):
    y = x[1:]
    y *= 2
    return x


def write_weight(x):
    WEIGHT[0] = x[0]
    return x


def write_array(x):
    ng.asarray(ARRAY)[:] = x
    return x


def set_grad(x):
    LEAF.grad = x
    return x


def backward(x):
    (LEAF * x).sum().backward()
    return x


def grad_with_set_grad(x):
    return ng.grad((LEAF * x).sum(), LEAF, set_grad=True)[0]


def read_grad(x):
    return x if LEAF.grad is None else x * LEAF.grad


def hook(x):
    LEAF.register_hook(lambda g: None)
    return x


def write_without_grad(x):
    with ng.no_grad():
        WEIGHT.__iadd__(x)
    return x


@pytest.mark.parametrize(
    "function",
    [
        write_argument, add_to_argument, write_view_of_argument, write_weight, write_array,
        set_grad, backward, grad_with_set_grad, read_grad, hook, write_without_grad,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
@pytest.mark.host_only("is about memory of NumPy")
def test_changes_outside_are_refused(function):
    first = inspect.getsourcelines(function)[1]
    for given in (X, ng.tensor(X)):
        with pytest.raises(CaptureError, match="outside") as caught:
            ng.jit(function)(given)
        assert any(f"{__file__}:{first + n} in" in str(caught.value) for n in range(1, 4))
    assert WEIGHT.tolist() == ARRAY.tolist() == [1, 1, 1]
    assert LEAF.grad is None
    assert X.tolist() == [1, 2, 3]


def test_backward_into_an_argument_is_refused():
    x = ng.tensor(X, requires_grad=True)
    with pytest.raises(CaptureError, match="outside"):
        ng.jit(lambda x: (x * x).sum().backward())(x)
    assert x.grad is None


@pytest.mark.host_only("differentiates arrays of NumPy, which stay on the processor")
def test_own_tensors_may_be_written_and_differentiated():
    @ng.jit
    def function(x):
        y = ng.zeros(3)
        y[1:] = x[:2] * 2
        y += 1.0
        leaf = ng.tensor(x, requires_grad=True)
        (leaf * leaf * y).sum().backward()
        return y, leaf.grad

    for x in (X, 2 * X):
        y, grad = function(x)
        expected = np.array([1.0, 2 * x[0] + 1, 2 * x[1] + 1])
        np.testing.assert_array_equal(y, expected)
        np.testing.assert_array_equal(grad, 2 * x * expected)


def test_gradients_accumulate_in_place_as_elsewhere():
    def function(x):
        leaf = ng.tensor(x, requires_grad=True)
        (leaf * leaf).sum().backward()
        first = leaf.grad
        (leaf * leaf * leaf).sum().backward()
        return first, leaf.grad

    for found, expected in zip(ng.jit(function)(X), function(X), strict=True):
        np.testing.assert_array_equal(found, expected.numpy())


def beside(x, alias, write):
    """Write to a tensor, or to what shares its memory outside of its graph; return both."""
    y = x.clone().requires_grad_() * 1.0
    if alias == "detached":
        other = y.detach()
    elif alias == "detached twice":
        other = y.detach().detach()
    else:
        with ng.no_grad():
            other = y[:2]
    with ng.no_grad():
        if write == "to it":
            y[0] = 7.0
        elif write == "to a view of it":
            y[:2] += 1.0
        elif write == "to the other":
            other *= 2.0
        elif write == "to a view of the other":
            other[1:] *= 2.0
    return y.detach(), other


@pytest.mark.parametrize("alias", ["detached", "detached twice", "a view without graph"])
@pytest.mark.parametrize(
    "write", ["to it", "to a view of it", "to the other", "to a view of the other", "not at all"]
)
def test_writes_that_two_graphs_would_have_to_see_are_refused(alias, write):
    jitted = ng.jit(lambda x: beside(x, alias, write))
    if write == "not at all":
        for found, expected in zip(jitted(X), beside(Tensor(X), alias, write), strict=True):
            np.testing.assert_array_equal(found, expected.numpy())
        return
    with pytest.raises(ng.errors.CaptureError, match=r"test_jit_capture.*share.*x\.clone"):
        jitted(X)


@pytest.mark.parametrize(
    "lead",
    [
        lambda y: y.reshape(2, 3).T.reshape(-1), lambda y: ng.broadcast_to(y, (2, 6)).reshape(-1),
        lambda y: y.reshape(2, 3).T, lambda y: y.reshape(2, 3)[:, 1:].reshape(-1),
        lambda y: y[::2].reshape(3, 1),
    ],
)  # fmt: skip
def test_what_must_be_copied_is_no_view(lead):
    def seen(x):
        y = x.clone()
        view = lead(y)
        y[1:3] = 7.0
        return view, y

    found, expected = ng.jit(seen)(np.tile(X, 2)[:6]), seen(Tensor(np.tile(X, 2)[:6]))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b.numpy())


def test_what_was_detached_may_be_gone():
    def changed(x):
        y = x.clone()
        scale = y.detach().sum()
        y[0] = 7.0
        y *= scale
        copy = y.detach().clone()
        copy += 1.0
        return y, copy

    found, expected = ng.jit(changed)(X), changed(Tensor(X))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b.numpy())


def test_hooks_of_own_tensors_are_recorded():
    @ng.jit
    def function(x):
        leaf = x.clone().requires_grad_()
        y = leaf * leaf
        y.register_hook(lambda g: g * 10)
        return ng.grad(y.sum(), leaf)[0]

    np.testing.assert_array_equal(function(X), 20 * X)
    np.testing.assert_array_equal(function(2 * X), 40 * X)


def test_hooks_and_functions_in_a_batched_pass():
    class Double(ng.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 3

    @ng.jit
    def function(x):
        leaf = x.clone().requires_grad_()
        y = Double.apply(leaf * leaf)
        y.register_hook(lambda g: g * 10)
        return ng.grad(y, leaf, np.eye(3), is_grads_batched=True)[0]

    np.testing.assert_array_equal(function(X), np.diag(60 * X))
    np.testing.assert_array_equal(function(2 * X), np.diag(120 * X))


# What is closed over ------------------------------------------------------------------------------


def test_a_tensor_closed_over_is_read_at_each_replay():
    weight = ng.tensor([1.0, 2.0, 3.0])
    jitted = ng.jit(lambda x: (weight * 2) * x)
    np.testing.assert_array_equal(jitted(X), [2, 8, 18])
    weight += 1.0
    np.testing.assert_array_equal(jitted(X), [4, 12, 24])
    weight[0] = 0.0
    np.testing.assert_array_equal(jitted(X), [0, 12, 24])


def test_an_array_closed_over_is_read_at_each_replay():
    array = np.array([1.0, 2.0, 3.0])
    jitted = ng.jit(ng.func.grad(lambda x: (array * x * x).sum()))
    np.testing.assert_array_equal(jitted(X), 2 * array * X)
    array[:] = 5.0
    np.testing.assert_array_equal(jitted(X), 10 * X)


def test_a_number_that_python_has_read_makes_a_new_recording_when_it_changes():
    calls = []
    size = ng.tensor(2)
    scale = ng.tensor([1.0, 2.0, 3.0])

    @ng.jit
    def function(x):
        calls.append(1)
        return x[: int(size)] * scale.tolist()[2]

    np.testing.assert_array_equal(function(X), 3 * X[:2])
    function(X)
    assert len(calls) == 1
    size += 1
    np.testing.assert_array_equal(function(X), 3 * X)
    scale *= 2.0
    np.testing.assert_array_equal(function(X), 6 * X)
    assert len(calls) == 3


def test_a_number_closed_over_that_is_read_makes_a_new_recording_when_it_changes():
    index = ng.tensor(1)
    jitted = ng.jit(lambda x: x[index])
    assert jitted(X) == X[1]
    index[...] = 2
    assert jitted(X) == X[2]


def test_a_flag_that_is_switched_makes_a_new_recording():
    weight = ng.tensor([1.0, 2.0, 3.0])
    jitted = ng.jit(lambda x: (weight * x).sum())
    assert not jitted(ng.tensor(X)).requires_grad
    weight.requires_grad_()
    y = jitted(ng.tensor(X))
    np.testing.assert_array_equal(ng.grad(y, weight)[0].numpy(), X)


@pytest.mark.host_only("arrays of NumPy come back")
def test_gradients_reach_tensors_closed_over():
    leaf = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    product = leaf * leaf
    jitted = ng.jit(lambda x: (product * x + leaf).sum())
    y = jitted(ng.tensor(X))
    np.testing.assert_array_equal(
        ng.grad(y, leaf, retain_graph=True)[0].numpy(), 2 * leaf.detach().numpy() * X + 1
    )
    with ng.no_grad():
        assert type(jitted(X)) is np.ndarray
    y.backward()
    np.testing.assert_array_equal(leaf.grad.numpy(), 2 * leaf.detach().numpy() * X + 1)


def test_a_write_between_the_call_and_its_gradient_is_an_error():
    weight = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x = ng.tensor(X, requires_grad=True)
    y = ng.jit(lambda x: (weight * x).sum())(x)
    with ng.no_grad():
        weight += 1.0
    with pytest.raises(ng.errors.InplaceError):
        ng.grad(y, x)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * ng.ones(3) + ng.arange(3) + 2.0,
        lambda x: ng.where(x > 1.0, x, 0.0),
        lambda x: ng.clip(x, 0.0, 1.0),
        lambda x: x + np.ones(3),
        lambda x: ng.func.grad(lambda x: (x**3 * np.ones(3)).sum())(x),
    ],
)
def test_constants_of_the_function_itself_are_no_guards(function):
    jitted = ng.jit(function)
    jitted(X)
    (recorded,) = jitted.jit_function.specializations.values()
    assert not recorded.trace.is_guarded()


def test_under_no_grad():
    x = ng.tensor(X, requires_grad=True)
    jitted = ng.jit(lambda x: x * x)
    with ng.no_grad():
        assert not jitted(x).requires_grad
    assert jitted(x).requires_grad
    assert not jitted(Tensor(X)).requires_grad


@pytest.mark.parametrize(
    "inner",
    [
        lambda t: t,
        lambda t: t[:2],
        lambda t: (t * 2.0, {"a": t})[1]["a"],
        lambda t: ng.jit(lambda u: u)(t),
        lambda t: t.reshape(-1),
    ],
)
def test_results_of_a_captured_function_inside_another_share_no_memory(inner):
    def function(x):
        t = x + 0.5
        before = ng.jit(inner)(t)
        t[...] = 0.25
        after = ng.jit(inner)(t)
        after[...] = 1.0
        return before, t, after

    x = np.array([1.0, 2.0, 3.0])
    expected = function(ng.tensor(x))
    for found, right in zip(ng.jit(function)(x), expected, strict=True):
        np.testing.assert_array_equal(found, right.numpy())
    assert expected[0].numpy()[0] == 1.5
    assert expected[1].numpy()[0] == 0.25
