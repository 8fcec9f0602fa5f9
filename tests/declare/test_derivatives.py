"""Derivatives of users' operators: batched passes, higher orders, forward mode."""

import numpy as np
import pytest
from numba import njit

import numgrad as ng
from numgrad._errors import (
    CaptureError,
    CustomGradError,
    InplaceError,
    NotDifferentiableError,
)

from .user_operators import cubes, gather, polar, power_wave, rhs, rhs_jvp, rhs_of_tensors

pytestmark = pytest.mark.device_sample

RNG = np.random.default_rng(3)
THETA = np.array([1.5, 0.3])


def steps(u, theta, function=rhs, count=3):
    """A simulation that mixes a user's operator with built-in ones."""
    for _ in range(count):
        u = u + 0.1 * function(u, theta) + 0.01 * ng.sin(u)
    return u


def test_batched_is_looped_bit_for_bit():
    u, theta = (ng.tensor(x, requires_grad=True) for x in (RNG.random(64), THETA))
    y = steps(u, theta)
    batched = ng.grad(y, [u, theta], np.eye(64), is_grads_batched=True, retain_graph=True)
    for row, seed in enumerate(np.eye(64)):
        looped = ng.grad(y, [u, theta], seed, retain_graph=True)
        for all_rows, one in zip(batched, looped, strict=True):
            assert (all_rows.numpy()[row] == one.numpy()).all()


@pytest.mark.parametrize("batch", [0, 1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_batched_with_leading_axes(batch, dtype):
    x = ng.tensor(RNG.random((2, 5)).astype(dtype), requires_grad=True)
    length, unit = polar(x)
    seeds = [RNG.random((batch, 2)).astype(dtype), RNG.random((batch, 2, 5)).astype(dtype)]
    (batched,) = ng.grad([length, unit], x, seeds, is_grads_batched=True, retain_graph=True)
    assert batched.shape == (batch, 2, 5)
    for row in range(batch):
        (one,) = ng.grad([length, unit], x, [s[row] for s in seeds], retain_graph=True)
        assert (batched.numpy()[row] == one.numpy()).all()


def test_broadcast_inputs_get_summed_gradients():
    u, theta = (ng.tensor(x, requires_grad=True) for x in (RNG.random((4, 6)), THETA))
    ours = ng.grad(rhs(u, theta).sum(), [u, theta])
    theirs = ng.grad(rhs_of_tensors(u, theta).sum(), [u, theta])
    for a, b in zip(ours, theirs, strict=True):
        assert a.shape == b.shape
        assert np.allclose(a.numpy(), b.numpy(), rtol=1e-12)


def test_only_what_is_read_is_saved():
    x = ng.tensor(np.arange(3.0), requires_grad=True)

    @ng.operator("(n)->(n)")
    @njit
    def double(x, out):
        out[:] = 2.0 * x

    @double.backward
    @njit
    def double_backward(g, x, out, gx):
        gx[:] = 2.0 * g

    y = double(x)
    assert y.grad_fn.saved == ()
    assert ng.grad(y.sum(), x)[0].tolist() == [2.0, 2.0, 2.0]


def test_scalar_kernels_differentiate_again_by_themselves():
    x, y = (ng.tensor(v, requires_grad=True) for v in (np.array([0.5, 2.0]), 0.7))
    gx, gy = ng.grad(power_wave(x, y).sum(), [x, y], create_graph=True)
    assert np.allclose(gx.detach().numpy(), 2 * np.array([0.5, 2.0]) * np.sin(0.7))
    gxx, gxy = ng.grad(gx.sum(), [x, y], retain_graph=True)
    assert np.allclose(gxx.numpy(), 2 * np.sin(0.7))
    assert np.allclose(gxy.numpy(), 5.0 * np.cos(0.7))
    (gyy,) = ng.grad(gy, y)
    assert np.allclose(gyy.numpy(), -4.25 * np.sin(0.7))


def test_second_and_third_order_kernels():
    x = ng.tensor(np.array([1.0, 2.0, -1.0]), requires_grad=True)
    v = np.array([1.0, 10.0, 100.0])
    (first,) = ng.grad(cubes(x), x, create_graph=True)
    (second,) = ng.grad(first, x, v, create_graph=True)
    (third,) = ng.grad(second, x, v)
    assert np.allclose(first.detach().numpy(), 3 * np.array([1.0, 4.0, 1.0]))
    assert np.allclose(second.detach().numpy(), 6 * v * np.array([1.0, 2.0, -1.0]))
    assert np.allclose(third.numpy(), 6 * v * v)


def test_second_order_in_a_batched_pass():
    x = ng.tensor(RNG.random((2, 3)), requires_grad=True)
    (first,) = ng.grad(cubes(x).sum(), x, create_graph=True)
    seeds = RNG.random((4, 2, 3))
    (batched,) = ng.grad(first, x, seeds, is_grads_batched=True, retain_graph=True)
    for row, seed in enumerate(seeds):
        assert (batched.numpy()[row] == ng.grad(first, x, seed, retain_graph=True)[0].numpy()).all()


def test_a_batched_pass_with_create_graph():
    x = ng.tensor(RNG.random((2, 3)), requires_grad=True)
    seeds = RNG.random((4, 2))
    (batched,) = ng.grad(cubes(x), x, seeds, is_grads_batched=True, create_graph=True)
    (second,) = ng.grad(batched.sum(), x)
    assert np.allclose(second.numpy(), 6 * x.detach().numpy() * seeds.sum(0)[:, None])


def test_a_kernel_without_second_order_refuses_create_graph():
    x = ng.tensor(np.ones(3), requires_grad=True)
    with pytest.raises(NotDifferentiableError, match=r"polar_backward.*@polar_backward.backward"):
        ng.grad(polar(x)[0], x, create_graph=True)


def test_forward_mode():
    u, theta, tu, ttheta = RNG.random(5), THETA, RNG.random(5), RNG.random(2)
    value, tangent = ng.func.jvp(rhs, (u, theta), (tu, ttheta))
    wanted = ng.func.jvp(rhs_of_tensors, (u, theta), (tu, ttheta))
    assert np.allclose(value, wanted[0])
    assert np.allclose(tangent, wanted[1])
    assert np.allclose(rhs_jvp(tu, ttheta, u, theta, value).numpy(), tangent)


def test_forward_and_reverse_jacobians_agree():
    u = RNG.random(5)
    forward = ng.func.jacfwd(lambda u: steps(u, THETA))(u)
    reverse = ng.func.jacrev(lambda u: steps(u, THETA))(u)
    assert np.allclose(forward, reverse, rtol=1e-12)


def test_a_forward_mode_kernel_is_no_second_order():
    u = ng.tensor(RNG.random(5), requires_grad=True)
    (g,) = ng.grad(rhs(u, THETA).sum(), u, create_graph=True)
    with pytest.raises(NotDifferentiableError, match="rhs_backward"):
        ng.grad(g.sum(), u)


def test_backward_as_a_function_of_tensors():
    @ng.operator("(n),(n)->()")
    @njit
    def weighted(x, w, out):
        out[0] = 0.0
        for i in range(x.size):
            out[0] += w[i] * x[i] ** 2

    @weighted.backward
    def weighted_backward(g, x, w, out):
        g = g[..., None]
        return 2.0 * g * w * x, g * x * x

    x, w = (ng.tensor(RNG.random((2, 3)), requires_grad=True) for _ in range(2))
    gx, gw = ng.grad(weighted(x, w).sum(), [x, w], create_graph=True)
    assert np.allclose(gx.detach().numpy(), 2 * (w * x).detach().numpy())
    (gwx,) = ng.grad(gw.sum(), x)
    assert np.allclose(gwx.numpy(), 2 * x.detach().numpy())
    seeds = RNG.random((4, 2))
    (batched,) = ng.grad(weighted(x, w), x, seeds, is_grads_batched=True)
    for row, seed in enumerate(seeds):
        assert (batched.numpy()[row] == ng.grad(weighted(x, w), x, seed)[0].numpy()).all()


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda g, x: (g, g), "incorrect number of gradients: expected 1, got 2"),
        (lambda g, x: "no", "expected a tensor, got str"),
        (lambda g, x: (g * x)[..., :2], r"its shape is \(2,\), that of the input is \(3,\)"),
    ],
)
def test_what_a_function_of_tensors_may_return(returned, message):
    @ng.operator("(n)->(n)")
    @njit
    def square(x, out):
        out[:] = x * x

    @square.backward
    def square_backward(g, x, out):
        return returned(g, x)

    x = ng.tensor(np.ones(3), requires_grad=True)
    with pytest.raises(CustomGradError, match=f"square_backward.*{message}"):
        ng.grad(square(x).sum(), x)


def test_static_parameters_reach_the_backward_in_a_batched_pass():
    x = ng.tensor(RNG.random(6), requires_grad=True)
    y = gather(x, np.array([0, 5, 0]), scale=2, mode="square")
    (batched,) = ng.grad(y, x, np.eye(3), is_grads_batched=True)
    full = np.zeros((3, 6))
    full[[0, 1, 2], [0, 5, 0]] = 4.0 * x.detach().numpy()[[0, 5, 0]]
    assert np.allclose(batched.numpy(), full)


def test_elementwise_operator_with_a_compiled_callee():
    @njit
    def half(x):
        return 0.5 * x

    @ng.elementwise
    @njit
    def parabola(x):
        return half(x) * x

    @parabola.partial("x")
    def parabola_dx(x):
        return half(x) + half(x)

    x = ng.tensor([1.0, 3.0], requires_grad=True)
    (g,) = ng.grad(parabola(x).sum(), x, create_graph=True)
    assert g.tolist() == [1.0, 3.0]
    assert ng.grad(g.sum(), x)[0].tolist() == [1.0, 1.0]


def squares(backward):
    """Declare squares with a function of tensors for the derivative."""

    @ng.operator("(n)->(n)", name="squares")
    @njit
    def square(x, out):
        for i in range(x.size):
            out[i] = x[i] * x[i]

    square.backward(backward)
    return square


def filled(g, x, out):
    gx = ng.zeros(x.shape)
    gx += 2.0 * g * x
    return gx


def written_in_parts(g, x, out):
    gx = g * x
    head = gx[..., :1]
    head *= 2.0
    gx[..., 1:] *= 2.0
    return gx


def by_value(g, x, out):
    return 2.0 * g * x if g.sum() > 0 else g


WAYS = {
    "one": lambda f, x: ng.func.grad(lambda x: f(x).sum())(x),
    "rows": lambda f, x: ng.func.jacrev(f)(x),
    "second": lambda f, x: ng.func.hessian(lambda x: f(x).sum())(x),
    "captured": lambda f, x: ng.jit(ng.func.grad(lambda x: f(x).sum()))(x),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("backward", [filled, written_in_parts])
def test_functions_of_tensors_that_write_in_place_are_refused(backward, way):
    """They see all rows of a batch, and nothing is computed yet."""
    with pytest.raises(InplaceError, match=r"operation recorded at \S+:\d+ in .* writes in place"):
        WAYS[way](squares(backward), np.array([1.0, 2.0]))


@pytest.mark.parametrize("way", ["one", "rows", "second"])
def test_functions_of_tensors_that_ask_for_a_value_are_refused(way):
    with pytest.raises(CaptureError, match=r"in by_value: the value .* in a backward function"):
        WAYS[way](squares(by_value), np.array([1.0, 2.0]))


@pytest.mark.parametrize("inner", [
    lambda g, x: ng.func.vjp(lambda x: x * x, x)[1](g)[0],
    lambda g, x: g * ng.func.grad(lambda x: (x * x).sum())(x),
    lambda g, x: ng.func.jvp(lambda x: x * x, (x,), (g,))[1],
])  # fmt: skip
def test_functions_of_tensors_may_take_derivatives(inner):
    square, x = squares(lambda g, x, out: inner(g, x)), np.array([1.0, 2.0])
    for _ in range(4):  # the plan of a pass that comes again is kept
        np.testing.assert_array_equal(WAYS["one"](square, x), 2 * x)
        np.testing.assert_array_equal(WAYS["rows"](square, x), np.diag(2 * x))
        np.testing.assert_array_equal(WAYS["second"](square, x), 2 * np.eye(2))
        np.testing.assert_array_equal(WAYS["captured"](square, x), 2 * x)


@pytest.mark.parametrize("numbers", [(0.0, -0.0), (1, True)])
def test_static_parameters_that_are_equal_in_python_have_their_own_derivative(numbers):
    """Each parameter is met so often that a rule of the derivative is made, and then applied."""

    @ng.operator("(n)->(n)", static=("k",))
    @njit
    def signed(x, out, k):
        out[:] = x * np.copysign(1.0, k) / 3

    @signed.backward
    @njit
    def signed_backward(g, x, out, gx, k):
        gx[:] = g * np.copysign(1.0, k) / 3

    x = ng.tensor([1.0, 2.0], requires_grad=True)
    y = x
    for number in numbers:
        for _ in range(4):
            y = y * 1.0  # a graph that is new
            (g,) = ng.grad(signed(y, k=number).sum(), x, retain_graph=True)
            assert g.tolist() == [np.copysign(1.0, number) / 3] * 2
