"""Second passes over gradients that hooks have changed: derivatives read what their operation has
computed, before any hook of it."""

import math

import numpy as np
import pytest

import numgrad as ng
from numgrad.graph import register_multi_grad_hook

pytestmark = pytest.mark.device_sample

X, STEP = 0.7, 1e-5


def triple(x):
    return np.stack([x, x + 1.0, x * x])


def matrix(x):
    return np.stack([np.stack([x + 3.0, x * x]), np.stack([x * x, x + 1.0])])


READS_ITS_OUTPUT = {
    "quotient": lambda x: 1.0 / (x * x + 1.0),
    "exp": np.exp,
    "expm1": np.expm1,
    "tanh": np.tanh,
    "sqrt": np.sqrt,
    "reciprocal": np.reciprocal,
    "power": lambda x: x**2.5,
    "prod": lambda x: np.prod(triple(x)),
    "cumprod": lambda x: np.cumprod(triple(x)),
    "softmax": lambda x: ng.special.softmax(triple(x)),
    "logsumexp": lambda x: ng.special.logsumexp(triple(x)),
    "norm": lambda x: np.linalg.norm(triple(x)),
    "inv": lambda x: np.linalg.inv(matrix(x)),
    "cholesky": lambda x: np.linalg.cholesky(matrix(x)),
    "solve": lambda x: np.linalg.solve(matrix(x), np.array([1.0, 2.0])),
}


def double(gradients):
    return tuple([None if g is None else 2.0 * g for g in gradients])


HOOKS = {
    "tensor": lambda y: y.register_hook(lambda g: 2.0 * g),
    "pre": lambda y: y.grad_fn.register_prehook(double),
    "post": lambda y: y.grad_fn.register_hook(lambda gi, go: double(gi)),
    "retained": lambda y: y.retain_grad(),
}


def hooked_gradient(function, at, hook):
    x = ng.tensor(at, requires_grad=True)
    y = function(x)
    hook(y)
    weights = np.cos(np.arange(y.size) + 0.3).reshape(y.shape)
    (g,) = ng.grad(y, x, weights, create_graph=True)
    return x, y, g


@pytest.mark.host_only("sixty graphs")
@pytest.mark.parametrize("name", READS_ITS_OUTPUT)
def test_second_derivatives_are_those_of_the_hooked_gradient(name):
    function = READS_ITS_OUTPUT[name]
    for hook in HOOKS.values():
        x, _, g = hooked_gradient(function, X, hook)
        (second,) = ng.grad(g, x)
        above, below = [hooked_gradient(function, X + h, hook)[2].item() for h in (STEP, -STEP)]
        assert second.item() == pytest.approx((above - below) / (2 * STEP), rel=1e-6)


def test_the_hooks_of_a_quotient_change_its_second_derivative_once():
    for name in ("tensor", "pre", "post"):
        x, _, g = hooked_gradient(READS_ITS_OUTPUT["quotient"], X, HOOKS[name])
        exact = 2.0 * np.cos(0.3) * (6 * X * X - 2) / (X * X + 1) ** 3
        assert ng.grad(g, x)[0].item() == pytest.approx(exact, rel=1e-14)


def test_a_hook_that_comes_after_the_gradient_is_not_called_for_it():
    for _ in range(4):  # what comes again is planned, and then recalled
        x, y, g = hooked_gradient(READS_ITS_OUTPUT["quotient"], X, lambda y: None)
        y.register_hook(lambda g: 2.0 * g)
        exact = np.cos(0.3) * (6 * X * X - 2) / (X * X + 1) ** 3
        assert ng.grad(g, x)[0].item() == pytest.approx(exact, rel=1e-14)


def test_in_batched_passes_over_a_gradient_with_rows():
    x = ng.tensor([0.7, 0.3], requires_grad=True)
    y = np.exp(x)
    y.register_hook(lambda g: 2.0 * g)
    (g,) = ng.grad(y, x, np.eye(2), is_grads_batched=True, create_graph=True)
    for options in ({}, {"create_graph": True}):
        seeds = np.ones((3, 2, 2))
        (second,) = ng.grad(g, x, seeds, is_grads_batched=True, retain_graph=True, **options)
        np.testing.assert_allclose(second.detach().numpy(), [2 * np.exp([0.7, 0.3])] * 3, 1e-15)


def test_in_derivatives_of_functions():
    def doubled(x):
        y = np.exp(x)
        y.register_hook(lambda g: 2.0 * g)
        return y.sum()

    x, func = np.array([0.7, 0.3]), ng.func
    hessians = [
        func.hessian(doubled), func.jacrev(func.grad(doubled)), func.jacfwd(func.grad(doubled)),
        func.jacrev(func.grad(ng.jit(doubled))), ng.jit(func.jacrev(func.grad(doubled))),
    ]  # fmt: skip
    for hessian in hessians:
        np.testing.assert_allclose(hessian(x), np.diag(2 * np.exp(x)), 1e-14)


def test_what_a_function_has_saved_of_its_output():
    class Exp(ng.Function):
        @staticmethod
        def forward(ctx, x):
            y = np.exp(x)
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * y

    for hook in HOOKS.values():
        x, _, g = hooked_gradient(Exp.apply, X, hook)
        (second,) = ng.grad(g, x)
        assert second.item() == pytest.approx(g.item(), rel=1e-15)


def test_nobody_is_told_of_what_the_derivative_reads_and_whoever_asks_gets_it():
    seen = []
    x, y, g = hooked_gradient(np.exp, X, lambda y: y.retain_grad())
    y.register_hook(seen.append)
    register_multi_grad_hook([x, y], seen.append)
    ng.backward(g, retain_graph=True)
    assert [len(seen), seen[0][1]] == [1, None]
    assert y.grad.item() == np.cos(0.3)  # from the first pass
    (gy,) = ng.grad(g, y)  # the gradient is cos(0.3) y
    assert gy.item() == pytest.approx(np.cos(0.3), rel=1e-15)


def test_another_operation_that_reads_the_tensor_calls_the_hook():
    x = ng.tensor(X, requires_grad=True)
    y = np.exp(x)
    with y.register_hook(lambda g: 2.0 * g):
        (g,) = ng.grad(y * y, x, create_graph=True)  # 4 y exp(x)
        (second,) = ng.grad(g, x, retain_graph=True)  # y counts twice
    assert second.item() == pytest.approx(12.0 * np.exp(2 * X), rel=1e-14)
    assert ng.grad(g, x)[0].item() == pytest.approx(8.0 * np.exp(2 * X), rel=1e-14)


def test_hooks_of_a_tensor_that_is_written_later():
    x = ng.tensor([0.7, 0.3], requires_grad=True)
    y = np.exp(x)
    y.register_hook(lambda g: 2.0 * g)
    y *= 3.0
    (g,) = ng.grad(y.sum(), x, create_graph=True)
    np.testing.assert_allclose(ng.grad(g.sum(), x)[0].numpy(), 6 * np.exp([0.7, 0.3]), 1e-15)


@pytest.mark.host_only("a kernel of a user")
def test_a_kernel_whose_derivative_reads_its_output():
    @ng.elementwise
    def exponential(x):
        return math.exp(x)

    @exponential.partial("x")
    def slope(x, y):
        return y

    x, _, g = hooked_gradient(exponential, X, HOOKS["tensor"])
    assert ng.grad(g, x)[0].item() == pytest.approx(g.item(), rel=1e-15)
