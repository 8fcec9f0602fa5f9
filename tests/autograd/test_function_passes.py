"""`Function` in a backward pass: of higher order, batched, nested, in threads."""

import threading
from typing import ClassVar

import numpy as np
import pytest

import numgrad as ng
from numgrad._errors import NotDifferentiableError

from ..user_functions import Cube, function, leaf, same

pytestmark = pytest.mark.device_sample


def test_needs_input_grad_is_of_this_call():
    seen = []

    def forward(ctx, a, b, c, k):
        seen.append(ctx.needs_input_grad)
        return a * b * c

    made = function(forward, lambda ctx, g: (seen.append(ctx.needs_input_grad), (g, g, g, None))[1])
    a, b, c = leaf(1), leaf(2), ng.tensor([3.0])
    y = made.apply(a, b, c, 4)
    ng.grad(y, b)
    ng.grad(y, [a, b])
    yes, no = True, False
    assert seen == [(yes, yes, no, no), (no, yes, no, no), (yes, yes, no, no)]


def test_it_is_not_run_when_nothing_above_it_is_wanted():
    x = leaf(1)
    y = function(backward=lambda ctx, g: 1 / 0).apply(x)
    same(ng.grad(y * 3.0, y)[0], [3.0])


def test_backward_is_recorded_only_with_create_graph():
    seen = []
    made = function(backward=lambda ctx, g: (seen.append(ng.is_grad_enabled()), g * 2.0)[1])
    x = leaf(1)
    ng.grad(made.apply(x), x)
    ng.grad(made.apply(x), x, create_graph=True)
    assert seen == [False, True]


def test_higher_derivatives_through_saved_arguments_and_outputs():
    x = leaf(2, 3)
    y = Cube.apply(x)
    (g,) = ng.grad(y, x, create_graph=True)
    (h,) = ng.grad(g, x, create_graph=True)
    (k,) = ng.grad(h, x)
    np.testing.assert_allclose(g.detach().numpy(), [12.0, 27.0])
    np.testing.assert_allclose(h.detach().numpy(), [12.0, 18.0])
    np.testing.assert_allclose(k.detach().numpy(), [6.0, 6.0])


def test_an_output_kept_as_attribute_is_connected_to_the_graph():
    def forward(ctx, x):
        ctx.x, ctx.y = x, x * x
        return ctx.y

    made = function(forward, lambda ctx, g: g * 2.0 * ctx.y / ctx.x)
    x = leaf(3)
    (g,) = ng.grad(made.apply(x), x, create_graph=True)
    np.testing.assert_allclose(ng.grad(g, x)[0].numpy(), [2.0])


def test_derivative_with_respect_to_the_seed():
    x, v = leaf(2, 3), leaf(1, 1)
    (g,) = ng.grad(Cube.apply(x), x, v, create_graph=True)
    same(ng.grad(g, v)[0], [12.0, 27.0])


def test_batched_pass_calls_backward_once_per_row_with_unbatched_tensors():
    shapes = []
    made = function(
        lambda ctx, x: (ctx.save_for_backward(x), x * x)[1],
        lambda ctx, g: (shapes.append(g.shape), 2.0 * g * ctx.saved_tensors[0])[1],
    )
    x = leaf(1, 2, 3)
    y = made.apply(x * 2.0) * 3.0
    seeds = np.arange(12.0).reshape(4, 3)
    (batched,) = ng.grad(y, x, seeds, is_grads_batched=True, retain_graph=True)
    assert shapes == [(3,)] * 4
    looped = [ng.grad(y, x, v, retain_graph=True)[0].numpy() for v in seeds]
    same(batched, np.stack(looped))


def test_batched_pass_under_create_graph_is_differentiable():
    x = leaf(1, 2, 3)
    y = Cube.apply(x * 2.0) * x
    seeds = ng.tensor(np.arange(6.0).reshape(2, 3) + 1, requires_grad=True)
    (g,) = ng.grad(y, x, seeds, is_grads_batched=True, create_graph=True)
    weights = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    dx, dv = ng.grad(g, [x, seeds], weights)
    # y = 8 x^4, so g = 32 v x^3 and its derivatives are 96 v x^2 and 32 x^3
    array, v = x.detach().numpy(), seeds.detach().numpy()
    np.testing.assert_allclose(g.detach().numpy(), 32 * v * array**3)
    np.testing.assert_allclose(dx.numpy(), (weights * 96 * v * array**2).sum(0))
    np.testing.assert_allclose(dv.numpy(), weights * 32 * array**3)


def test_empty_batch_calls_nothing():
    x = leaf(1, 2)
    y = function(backward=lambda ctx, g: 1 / 0).apply(x)
    assert ng.grad(y, x, np.zeros((0, 2)), is_grads_batched=True)[0].shape == (0, 2)


def test_rows_for_which_backward_returns_none_count_as_zero():
    made = function(backward=lambda ctx, g: g * 2.0 if g.tolist() == [1.0] else None)
    x = leaf(1)
    (g,) = ng.grad(made.apply(x), x, [[[1.0], [5.0]]], is_grads_batched=True)
    same(g, [[2.0], [0.0]])


def test_grad_can_be_called_inside_backward():
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with ng.enable_grad():
            inner = x.detach().requires_grad_()
            y = inner * inner * inner
        return ng.grad(y, inner, g)[0]

    made = function(lambda ctx, x: (ctx.save_for_backward(x), x * x * x)[1], backward)
    x = leaf(2, 3)
    y = made.apply(x)
    same(ng.grad(y, x, retain_graph=True)[0], [12.0, 27.0])
    (g,) = ng.grad(y, x, np.eye(2), is_grads_batched=True)
    same(g, np.diag([12.0, 27.0]))


def test_two_threads_can_run_backward_of_one_application():
    barrier = threading.Barrier(2, timeout=30)
    seen = {}

    def backward(ctx, g):
        barrier.wait()
        seen[threading.current_thread().name] = ctx.needs_input_grad
        return g * ctx.saved_tensors[1], g * ctx.saved_tensors[0]

    made = function(lambda ctx, a, b: (ctx.save_for_backward(a, b), a * b)[1], backward)
    a, b = leaf(2), leaf(3)
    y = made.apply(a, b)
    results = {}

    def work(name, tensor):
        results[name] = ng.grad(y, tensor, retain_graph=True)[0].item()

    threads = [threading.Thread(target=work, args=p, name=p[0]) for p in (("a", a), ("b", b))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {"a": 3.0, "b": 2.0}
    assert seen == {"a": (True, False), "b": (False, True)}


# once_differentiable -----------------------------------------------------------------------------


class OnceSquare(ng.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @ng.once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return ng.tensor(2.0 * x.numpy() * g.numpy())


def test_once_differentiable_reads_arrays_and_refuses_the_second_derivative():
    x = leaf(3)
    same(ng.grad(OnceSquare.apply(x), x)[0], [6.0])
    (g,) = ng.grad(OnceSquare.apply(x), x, create_graph=True)
    same(g, [6.0])
    with pytest.raises(
        NotDifferentiableError, match=r"gradient of OnceSquare.*once_differentiable"
    ):
        ng.grad(g, x)


def test_once_differentiable_in_a_batched_pass():
    x = leaf(1, 2)
    (g,) = ng.grad(OnceSquare.apply(x), x, np.eye(2), is_grads_batched=True, create_graph=True)
    same(g, np.diag([2.0, 4.0]))
    with pytest.raises(NotDifferentiableError):
        ng.grad(g, x)


class Quotient(ng.Function):
    """Its backward takes a batch as a whole; it returns what it was given, and the same twice."""

    takes_batch = True
    seen: ClassVar = []

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a / b, a + b

    @staticmethod
    def backward(ctx, g, h):
        a, b = ctx.saved_tensors
        Quotient.seen.append((g.shape, h.shape))
        return g / b + h, h - g * a / b**2


def test_a_backward_that_takes_the_batch_is_called_once():
    a, b = np.array([1.0, 2.0, -0.5]), np.array([3.0, -1.5, 2.0])

    def ours(a, b):
        quotient, total = Quotient.apply(a, b)
        return ng.sin(quotient) * total

    def plain(a, b):
        return ng.sin(a / b) * (a + b)

    Quotient.seen.clear()
    for found, expected in zip(
        ng.func.jacrev(ours, argnums=(0, 1))(a, b),
        ng.func.jacrev(plain, argnums=(0, 1))(a, b),
        strict=True,
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert Quotient.seen == [((3, 3), (3, 3))]
    second, expected = (ng.func.jacrev(ng.func.jacrev(f, argnums=1))(a, b) for f in (ours, plain))
    np.testing.assert_allclose(second, expected, rtol=1e-13)


def test_an_output_without_cotangents_gets_zeros_with_the_batch():
    Quotient.seen.clear()
    a = ng.tensor([1.0, 2.0])
    jacobian = ng.func.jacrev(lambda a: Quotient.apply(a, ng.full(2, 4.0))[0])(a)
    np.testing.assert_array_equal(jacobian.numpy(), np.eye(2) / 4.0)
    assert Quotient.seen == [((2, 2), (2, 2))]


@pytest.mark.parametrize("shape", [(), (3,)])
def test_a_gradient_without_the_batch_is_refused(shape):
    class Lost(ng.Function):
        takes_batch = True

        @staticmethod
        def forward(ctx, x):
            return x * 2.0

        @staticmethod
        def backward(ctx, g):
            return ng.ones(shape)

    with pytest.raises(ng.errors.CustomGradError, match=r"compatible with \(3, 3\)"):
        ng.func.jacrev(Lost.apply)(np.ones(3))
