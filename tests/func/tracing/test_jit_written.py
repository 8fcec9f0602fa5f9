"""A derivative of a captured function is that of the call, whatever is written after it into what
the function closes over."""

import numpy as np
import pytest

import numgrad as ng

START = np.array([0.5, 2.0, 3.0])


def product(x, w):
    return (x * w).sum()


def deep(x, w):
    return (ng.sin(x * w) * ng.exp(w) * x).sum()


def ranks(x, w):
    return (ng.stack([x, x * x]) * w).sum()


def indexed(x, w):
    return (x[np.array([0, 2])] * ng.asarray(w)[1:] * w[..., 0]).sum()


def only_in_the_derivative(x, w):
    return ng.maximum(x * x, w).sum() * ng.asarray(w).sum()


ON_THE_PROCESSOR = pytest.mark.host_only("makes tensors of arrays of NumPy by ng.exp")
FUNCTIONS = [
    product, pytest.param(deep, marks=ON_THE_PROCESSOR), ranks, indexed, only_in_the_derivative,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("kind", ["array", "strided", "tensor"])
def test_what_is_written_after_the_call(function, kind):
    whole = np.repeat(START, 2)
    w = {"array": START.copy(), "strided": whole[::2], "tensor": ng.tensor(START)}[kind]
    captured = ng.jit(lambda x: function(x, w))
    x = ng.tensor([1.0, 0.25, -2.0], requires_grad=True)
    for step in range(4):
        values, slopes = [], []
        for _ in range(2):  # two calls with other elements, then both derivatives
            values.append(captured(x))
            now = w.numpy().copy() if kind == "tensor" else w.copy()
            expected = function(x, now)
            np.testing.assert_array_equal(values[-1].detach().numpy(), expected.detach().numpy())
            slopes.append(ng.grad(expected, x)[0].numpy())
            w[:] = now * 0.5 + 0.25 * step
        for value, slope in zip(values, slopes, strict=True):
            found = ng.grad(value, x, create_graph=bool(step % 2))[0].detach()
            np.testing.assert_allclose(found.numpy(), slope, 1e-14)


def test_second_derivatives_and_batches_of_an_earlier_call():
    w = START.copy()
    captured = ng.jit(lambda x: (ng.sin(x * w) * w).sum())
    x = ng.tensor([1.0, 0.25, -2.0], requires_grad=True)
    captured(x)
    value = captured(x)
    w[:] = 7.0
    x0 = x.detach().numpy()
    for _ in range(2):
        (slope,) = ng.grad(value, x, create_graph=True)
        np.testing.assert_allclose(slope.detach().numpy(), np.cos(x0 * START) * START**2, 1e-14)
        (second,) = ng.grad(slope.sum(), x, retain_graph=True)
        np.testing.assert_allclose(second.numpy(), -np.sin(x0 * START) * START**3, 1e-14)
        seeds = np.array([1.0, -2.0])
        (rows,) = ng.grad(value, x, seeds, is_grads_batched=True, retain_graph=True)
        expected = np.outer(seeds, np.cos(x0 * START) * START**2)
        np.testing.assert_allclose(rows.numpy(), expected, 1e-14)


def test_arrays_that_stay_as_they_are_are_copied_once():
    w = START.copy()
    captured = ng.jit(lambda x: (x * w).sum())
    x = ng.tensor([1.0, 0.25, -2.0], requires_grad=True)
    values = [captured(x) for _ in range(5)]
    kept = {id(value.grad_fn.saved[-1].array) for value in values}
    assert len(kept) == 1
    for value in values:
        np.testing.assert_array_equal(ng.grad(value, x)[0].numpy(), START)


def through_a_view(x):
    y = ng.sin(x)
    head = y[:1]
    head *= 3.0
    y[1:] *= x[1:]
    return y


class Recomputed(ng.Function):
    """A checkpoint: nothing but the input is kept."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return through_a_view(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return ng.func.vjp(through_a_view, x)[1](g)[0]


def hooked(x):
    y = ng.clip(x, -9.0, 9.0)
    y.register_hook(lambda g: ng.func.vjp(through_a_view, x)[1](g)[0])
    return y


@pytest.mark.parametrize("function", [Recomputed.apply, hooked])
@pytest.mark.parametrize("derivative", [
    lambda f: ng.func.grad(lambda x: f(x).sum()), ng.func.jacrev,
])  # fmt: skip
def test_writes_through_views_in_the_backward_pass_of_a_captured_function(function, derivative):
    expected = derivative(through_a_view)(START)
    np.testing.assert_allclose(ng.jit(derivative(function))(START), expected, rtol=1e-15)


def nodes(tensor):
    """Return the number of nodes that a tensor depends on."""
    found, waiting = set(), [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found.add(node)
            waiting += [function for function, _ in node.next_functions]
    return len(found)


@pytest.mark.parametrize("view", [lambda t: t, lambda t: t.T, lambda t: t[1:], lambda t: t[None]])
@pytest.mark.parametrize("key", [
    slice(None), (slice(None),), slice(0, 9), (..., slice(0, 2)), ..., slice(None, None, -1), 0,
    (slice(0, 1), slice(None)), (None, 0),
])  # fmt: skip
def test_an_operation_on_a_region_writes_it_once(view, key):
    counts = []

    def function(x):
        whole = x * 1.5
        part = view(whole)
        part[key] *= 2.0
        counts.append(nodes(whole))
        return whole.sum()

    x = np.arange(6.0).reshape(3, 2)
    expected = ng.func.grad(function)(x)
    np.testing.assert_array_equal(ng.jit(ng.func.grad(function))(x), expected)
    assert len(set(counts)) == 1
