"""Forward mode: tangents through recorded graphs, kernels of users and captured functions."""

import math

import numpy as np
import pytest
from numba import njit

import numgrad as ng
from numgrad.errors import NotDifferentiableError

F = ng.func
X, V = np.array([0.5, 1.2, -0.3]), np.array([1.0, -2.0, 0.5])


def wave(x):
    return np.sin(x) * x + np.cumsum(x)


def wave_along(x, v):
    return (np.cos(x) * x + np.sin(x)) * v + np.cumsum(v)


@pytest.mark.parametrize("capture", [lambda f: f, ng.jit])
def test_linearize_evaluates_once_and_applies_often(capture):
    calls = []

    def counted(x):
        calls.append(1)
        return wave(x)

    def products(x, v):
        value, along = F.linearize(counted, x)
        return value, [along(v), along(2.0 * v), along(v)]

    value, found = capture(products)(X, V)
    np.testing.assert_array_equal(value, wave(X))
    for t, factor in zip(found, (1.0, 2.0, 1.0), strict=True):
        np.testing.assert_allclose(t, factor * wave_along(X, V), rtol=1e-14)
    assert len(calls) == 1


def test_linearize_with_containers_and_aux():
    def function(p, scale):
        return {"a": p["x"] * scale, "b": (p["x"].sum(), p["y"])}, "aux"

    primals = {"x": X, "y": np.array(2.0)}
    output, along, aux = F.linearize(function, primals, np.array(3.0), has_aux=True)
    tangent = along({"x": V, "y": np.array(0.0)}, np.array(1.0))
    assert aux == "aux"
    np.testing.assert_array_equal(output["a"], 3.0 * X)
    np.testing.assert_array_equal(tangent["a"], 3.0 * V + X)
    assert tangent["b"][0] == V.sum()
    assert tangent["b"][1] == 0.0


def test_tangents_of_linearize_may_be_differentiated():
    _, along = F.linearize(wave, ng.tensor(X, requires_grad=True))
    v = ng.tensor(V, requires_grad=True)
    (slope,) = ng.grad(along(v).sum(), v)
    np.testing.assert_allclose(slope.numpy(), F.jacrev(wave)(X).sum(0), rtol=1e-13)


def test_what_does_not_depend_on_the_input_has_no_tangent():
    value, tangent = F.jvp(lambda x: (x, np.ones(2), 3.0 * x[0], x), (X,), (V,))
    np.testing.assert_array_equal(tangent[0], V)
    np.testing.assert_array_equal(tangent[1], np.zeros(2))
    assert tangent[2] == 3.0 * V[0]
    assert not np.shares_memory(tangent[0], V)
    assert not np.shares_memory(tangent[0], tangent[3])
    assert value[1].shape == (2,)


def test_a_tensor_tangent_and_the_result_share_no_memory():
    v = ng.tensor(V)
    _, tangent = F.jvp(lambda x: x, (X,), (v,))
    tangent += 1.0
    np.testing.assert_array_equal(v.numpy(), V)


def test_hooks_are_told_of_gradients_only():
    seen = []

    def hooked(x):
        y = ng.asarray(x) * 2.0
        y.register_hook(seen.append)
        return y * x

    _, tangent = F.jvp(hooked, (X,), (V,))
    np.testing.assert_allclose(tangent, 4.0 * X * V)
    assert not seen


def test_a_long_chain():
    def chain(x):
        for _ in range(20_000):
            x = x * 1.0001
        return x

    _, tangent = F.jvp(chain, (np.array(1.0),), (np.array(2.0),))
    np.testing.assert_allclose(tangent, 2.0 * 1.0001**20_000, rtol=1e-9)


def test_an_array_that_is_written_in_place():
    def function(x):
        y = ng.zeros(4)
        y[1:] = x * x
        y[0] = y[1] * y[2]
        y[:2] *= 3.0
        return y

    step = 1e-6
    expected = (function(X + step * V).numpy() - function(X - step * V).numpy()) / (2 * step)
    for _ in range(3):
        np.testing.assert_allclose(F.jvp(function, (X,), (V,))[1], expected, rtol=1e-8)


# Second derivatives -------------------------------------------------------------------------------


def energy(x, y):
    return (x * x * y).sum() + np.sin(x[0] * y[1])


def differences(x, y, v):
    step = 1e-5
    gradient = F.grad(energy, (0, 1))
    pairs = zip(gradient(x + step * v, y), gradient(x - step * v, y), strict=True)
    return [(a - b) / (2 * step) for a, b in pairs]


@pytest.mark.parametrize("times", [1, 4])
def test_products_with_the_hessian(times):
    y = np.array([0.2, 0.7, -1.1])
    expected = differences(X, y, V)
    for _ in range(times):  # the pass becomes a program, and is recalled
        value, found = F.hvp(energy, (X, y), (V, np.zeros(3)))
        transposed = F.vhp(energy, (X, y), (V, np.zeros(3)))[1]
    np.testing.assert_allclose(value, energy(X, y), rtol=1e-15)
    for a, b, c in zip(found, transposed, expected, strict=True):
        np.testing.assert_allclose(a, c, rtol=1e-8)
        np.testing.assert_allclose(a, b, rtol=1e-13)


@pytest.mark.parametrize("times", [1, 4])
def test_hessian_of_several_arguments(times):
    y = np.array([0.2, 0.7, -1.1])
    for _ in range(times):
        (hxx, hxy), (hyx, hyy) = F.hessian(energy, (0, 1))(X, y)
    expected = [differences(X, y, e) for e in np.eye(3)]
    np.testing.assert_allclose(hxx, np.stack([e[0] for e in expected]), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(hxy, np.stack([e[1] for e in expected]), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(hyx, hxy.T, rtol=1e-14)
    assert hyy[1, 1] == pytest.approx(-np.sin(X[0] * y[1]) * X[0] ** 2)


def test_hessian_with_aux_in_a_captured_function():
    function = ng.jit(F.hessian(lambda x: ((x**3).sum(), x * 2), has_aux=True))
    for x in (X, 2.0 * X):
        hessian, aux = function(x)
        np.testing.assert_allclose(hessian, np.diag(6.0 * x), rtol=1e-14)
        np.testing.assert_array_equal(aux, 2.0 * x)


def test_a_known_graph_may_have_changed_values():
    def function(x, scale):
        t = x * scale
        t[0] *= 2.0
        return (t**3).sum()

    for scale in (1.0, 2.0, 3.0, 4.0):
        _, (found,) = F.hvp(lambda x, s=scale: function(x, s), (X,), (V,))
        factor = scale**3 * np.array([8.0, 1.0, 1.0])
        np.testing.assert_allclose(found, 6.0 * X * V * factor, rtol=1e-13)


# Operators of users -------------------------------------------------------------------------------


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
    with pytest.raises(NotDifferentiableError, match="exponential"):
        F.grad(lambda x: operator(x).sum())(X)


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


@pytest.mark.parametrize("function", [
    lambda x, i, j: x[i] ** 2 * i, lambda x, i, j: x[i, j] ** 3, lambda x, i, j: x[i : i + 2] ** 2,
    lambda x, i, j: x[np.array([i, j])] ** 2,
    lambda x, i, j: _written(x, i, j),
])  # fmt: skip
def test_an_index_may_differ_from_pass_to_pass(function):
    rng = np.random.default_rng(0)
    x, v = rng.standard_normal((2, 5, 4))
    for _ in range(3):
        for i in range(3):
            for j in range(3):
                at = lambda x, i=i, j=j: function(x, i, j)  # noqa: E731
                jacobian = F.jacrev(at)(x)
                expected = np.tensordot(jacobian, v, 2)
                np.testing.assert_allclose(F.jvp(at, (x,), (v,))[1], expected, rtol=1e-12)
                np.testing.assert_allclose(F.jacfwd(at)(x), jacobian, rtol=1e-13)
                square = lambda x, at=at: (at(x) ** 2).sum()  # noqa: E731
                (product,) = F.hvp(square, (x,), (v,))[1]
                np.testing.assert_allclose(product, F.vhp(square, (x,), (v,))[1][0], rtol=1e-12)


def _written(x, i, j):
    y = ng.zeros((5, 4))
    y[i, j] = x[j, i] ** 2
    y[i] *= 3.0
    return y + x[i : i + 1]


@pytest.mark.parametrize("chunk_size", [1, 2, 7, None, "auto"])
def test_a_hessian_in_chunks(chunk_size):
    y = np.array([0.2, 0.7, -1.1])
    expected = F.jacrev(F.grad(energy, (0, 1)), (0, 1))(X, y)
    blocks = tuple(tuple(np.empty((3, 3)) for _ in range(2)) for _ in range(2))
    seen = []
    found = F.hessian(energy, (0, 1), chunk_size=chunk_size)(X, y)
    F.hessian(
        energy, (0, 1), chunk_size, out=blocks, progress=lambda done, total: seen.append(done)
    )(X, y)
    for row, other, written in zip(found, expected, blocks, strict=True):
        for a, b, c in zip(row, other, written, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-15)
            np.testing.assert_array_equal(a, c)
    assert seen[-1] == 6


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
