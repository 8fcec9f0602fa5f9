"""Forward mode through kernels of users, functions of theirs, and captured ones."""

import math

import numpy as np
import pytest
from numba import njit

import numgrad as ng
from numgrad.errors import NotDifferentiableError

F = ng.func
X, V = np.array([0.5, 1.2, -0.3]), np.array([1.0, -2.0, 0.5])


@ng.operator("(m,k),(k)->(m),()")
@njit
def mixed(a, x, y, s):
    s[0] = 0.0
    for i in range(a.shape[0]):
        y[i] = 0.0
        for j in range(a.shape[1]):
            y[i] += a[i, j] * x[j] ** 2
        s[0] += y[i] ** 2


@mixed.backward
@njit
def mixed_backward(gy, gs, a, x, y, s, ga, gx):
    gx[:] = 0.0
    for i in range(a.shape[0]):
        g = gy[i] + 2.0 * gs * y[i]
        for j in range(a.shape[1]):
            ga[i, j] = g * x[j] ** 2
            gx[j] += g * a[i, j] * 2.0 * x[j]


def mixed_of_tensors(a, x):
    y = (a * (x * x)[..., None, :]).sum(-1)
    return y, (y * y).sum(-1)


@pytest.mark.parametrize("shapes", [
    ((3, 4), (4,)), ((5, 3, 4), (4,)), ((5, 3, 4), (5, 4)), ((3, 4), (5, 4)), ((0, 4), (4,)),
])  # fmt: skip
def test_a_backward_kernel_is_transposed(shapes):
    rng = np.random.default_rng(0)
    primals = [rng.standard_normal(shape) for shape in shapes]
    tangents = [rng.standard_normal(shape) for shape in shapes]
    found = F.jvp(mixed, tuple(primals), tuple(tangents))[1]
    expected = F.jvp(mixed_of_tensors, tuple(primals), tuple(tangents))[1]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    forward, reverse = F.jacfwd(mixed, (0, 1))(*primals), F.jacrev(mixed, (0, 1))(*primals)
    for row, other in zip(forward, reverse, strict=True):
        for a, b in zip(row, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


@ng.operator("(),(n)->(n)")
@njit
def rotate(w, z, out):
    for i in range(z.size):
        out[i] = w * z[i] * z[i]


@rotate.backward
@njit
def rotate_backward(g, w, z, out, gw, gz):
    gw[0] = 0.0
    for i in range(z.size):
        gw[0] += g[i] * np.conj(z[i] * z[i])
        gz[i] = g[i] * np.conj(2.0 * w * z[i])


def test_a_complex_backward_kernel_is_transposed():
    z, w = X + 1j * V, np.array(0.3 - 0.8j)
    tz, tw = V - 2j * X, np.array(1.0 + 0.5j)
    found = F.jvp(rotate, (w, z), (tw, tz))[1]
    np.testing.assert_allclose(found, tw * z * z + 2.0 * w * z * tz, rtol=1e-13)


def exponential():
    @ng.operator("(n)->(n)")
    @njit
    def exponential(x, out):
        for i in range(x.size):
            out[i] = math.exp(x[i])

    return exponential


def exponential_jvp(tx, x, out, tout):
    for i in range(out.size):
        tout[i] = tx[i] * math.exp(x[i])


def test_a_forward_kernel_reads_what_the_backward_kernel_does_not():
    operator = exponential()

    @operator.backward
    @njit
    def backward(g, x, out, gx):
        for i in range(out.size):
            gx[i] = g[i] * out[i]

    operator.jvp(njit(exponential_jvp))
    expected = np.exp(X) * V
    np.testing.assert_allclose(F.jvp(operator, (X,), (V,))[1], expected)
    x, g = (ng.tensor(a, requires_grad=True) for a in (X, np.ones(3)))
    (gx,) = ng.grad(operator(x), x, g, create_graph=True)
    np.testing.assert_allclose(ng.grad(gx, g, V)[0].numpy(), expected)


def test_a_forward_kernel_alone_is_enough():
    operator = exponential()
    operator.jvp(njit(exponential_jvp))
    np.testing.assert_allclose(F.jvp(operator, (X,), (V,))[1], np.exp(X) * V)
    np.testing.assert_allclose(F.jacfwd(operator)(X), np.diag(np.exp(X)))
    gradient = F.grad(lambda x: operator(x).sum())(X)  # which is derived from the kernel
    np.testing.assert_allclose(gradient, np.exp(X))


class Cube(ng.Function):
    @staticmethod
    def forward(ctx, x, power):
        ctx.save_for_backward(x)
        return ng.tensor(x.numpy() ** 3), ng.tensor(x.numpy() + 1.0)

    @staticmethod
    @ng.once_differentiable
    def backward(ctx, g, h):
        (x,) = ctx.saved_tensors
        return ng.tensor(3.0 * x.numpy() ** 2 * g.numpy() + h.numpy()), None


class CubeAlong(Cube):
    @staticmethod
    def jvp(ctx, tx, power):
        assert power is None
        (x,) = ctx.saved_tensors
        return 3.0 * x * x * tx, tx


def test_a_function_says_what_becomes_of_tangents():
    def function(x):
        cube, more = CubeAlong.apply(ng.asarray(x), 3)
        return cube * more

    slope = 3.0 * X**2 * (X + 1.0) + X**3
    np.testing.assert_allclose(F.jvp(function, (X,), (V,))[1], slope * V, rtol=1e-14)
    np.testing.assert_allclose(F.jacfwd(function)(X), np.diag(slope), rtol=1e-14)
    with pytest.raises(NotDifferentiableError, match="once_differentiable"):
        F.jvp(lambda x: Cube.apply(ng.asarray(x), 3)[0], (X,), (V,))


@pytest.mark.parametrize("capture", [lambda f: f, ng.jit])
def test_a_function_whose_backward_cuts_the_graph_is_refused(capture):
    class Cut(ng.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2.0

        @staticmethod
        def backward(ctx, g):
            return g.detach() * 2.0

    with pytest.raises(NotDifferentiableError, match=r"Cut.*cut there"):
        capture(lambda x: F.jvp(lambda x: Cut.apply(ng.asarray(x)), (x,), (x,))[1])(X)


def test_a_function_that_returns_other_tangents_is_an_error():
    class Wrong(Cube):
        @staticmethod
        def jvp(ctx, tx, power):
            return tx

    class Long(Cube):
        @staticmethod
        def jvp(ctx, tx, power):
            return tx, ng.ones(4)

    for cls, match in ((Wrong, "expected 2, got 1"), (Long, r"shape \(3,\), got \(4,\)")):
        with pytest.raises(ng.errors.CustomGradError, match=match):
            F.jvp(lambda x, cls=cls: cls.apply(ng.asarray(x), 3)[0], (X,), (V,))


@ng.operator("(n)->(n)")
@njit
def _differences(x, out):
    for i in range(x.size):
        out[i] = x[i] * x[i] - x[i - 1]


@_differences.backward
@njit
def _differences_backward(g, x, out, gx):
    gx[:] = 0.0
    for i in range(x.size):
        gx[i] += 2.0 * x[i] * g[i]
        gx[i - 1] -= g[i]


def _differences_jacobian(x):
    return 2.0 * np.diag(x) - np.roll(np.eye(x.size), -1, 1)


def test_a_captured_kernel_without_second_derivative_has_tangents():
    factor = np.array(2.0)
    captured = ng.jit(lambda x: _differences(x) * factor)
    nested = ng.jit(lambda x: captured(x) + x)
    for n in range(4):
        factor[...], x = 2.0, X + n
        expected = 2.0 * _differences_jacobian(x)
        np.testing.assert_allclose(F.jvp(captured, (x,), (V,))[1], expected @ V, rtol=1e-14)
        np.testing.assert_allclose(F.jacfwd(captured)(x), expected, rtol=1e-14)
        np.testing.assert_allclose(F.jacfwd(nested)(x), expected + np.eye(3), rtol=1e-14)
        along = F.linearize(captured, x)[1]
        factor[...] = 5.0  # the product is that of the call
        np.testing.assert_allclose(along(V), expected @ V, rtol=1e-14)


class _Once(ng.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return ng.sin(x)

    @staticmethod
    @ng.once_differentiable
    def backward(ctx, g):
        return g * ng.cos(ctx.saved_tensors[0])


def test_a_captured_function_that_has_no_tangents_says_so():
    captured = ng.jit(_Once.apply)
    with pytest.raises(NotDifferentiableError, match="once_differentiable"):
        F.jvp(captured, (X,), (V,))
    twice = lambda x: np.concatenate([captured(x), x])  # noqa: E731
    expected = np.concatenate([np.diag(np.cos(X)), np.eye(3)])
    np.testing.assert_allclose(F.jacobian(twice)(X), expected, rtol=1e-14)


def test_a_captured_pass_beside_a_kernel_without_second_derivative_is_refused():
    captured = ng.jit(lambda x: F.jacrev(lambda y: y * y)(x).sum(0) * _differences(x))
    with pytest.raises(NotDifferentiableError, match=r"without\s+ng.jit.*reverse mode"):
        F.jacfwd(captured)(X)
    expected = 2 * np.diag(X * X - np.roll(X, 1)) + 2 * X[:, None] * _differences_jacobian(X)
    np.testing.assert_allclose(F.jacrev(captured)(X), expected, rtol=1e-14)
