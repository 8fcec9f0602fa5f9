"""`vmap`: functions of one sample over an axis of their arguments. Numbers are NumPy's."""

import tracemalloc

import numpy as np
import pytest

import numgrad as ng

F = ng.func
RNG = np.random.default_rng(5)
X = RNG.normal(size=(5, 4))
W = RNG.normal(size=(4, 3))
ONES = np.ones((5, 3))


def close(found, expected):
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12, atol=1e-12)


def wave(x):
    return np.sin(x).sum() * x[0] + x[1:] * 2


def wave_jacobian(x):
    matrix = np.hstack([np.zeros((3, 1)), 2 * np.eye(3)]) + np.cos(x) * x[0]
    matrix[:, 0] += np.sin(x).sum()
    return matrix


def written(x):
    y = ng.zeros(4)
    y[1:] = x[1:] ** 2
    y[0] = x.sum()
    y *= x
    return y


# Values -------------------------------------------------------------------------------------------


def test_a_function_of_one_sample():
    found = F.vmap(wave)(X)
    assert type(found) is np.ndarray
    close(found, [wave(x) for x in X])


def test_tensors_give_tensors():
    found = F.vmap(wave)(ng.tensor(X))
    assert isinstance(found, ng.Tensor)
    assert not found.requires_grad


@pytest.mark.parametrize("axis", [1, -1])
def test_other_axes_of_arguments(axis):
    close(F.vmap(wave, in_axes=axis)(X.T), [wave(x) for x in X])


@pytest.mark.parametrize(("axis", "place"), [(1, 1), (-1, 1), (-2, 0)])
def test_other_axes_of_results(axis, place):
    close(F.vmap(wave, out_axes=axis)(X), np.moveaxis([wave(x) for x in X], 0, place))


def test_an_argument_that_all_samples_share():
    close(F.vmap(lambda x, w: x @ w, in_axes=(0, None))(X, W), X @ W)
    close(F.vmap(lambda x: x @ W)(X), X @ W)
    close(F.vmap(lambda x, w: w @ x, in_axes=(None, 0))(X[0], X), X @ X[0])


def test_numbers_that_all_samples_share():
    close(F.vmap(lambda x, k: x**k, in_axes=(0, None))(X, 3), X**3)


def test_keyword_arguments_are_not_mapped():
    close(F.vmap(lambda x, shift, k=1: k * (x + shift))(X, X, k=2.0), 4 * X)
    close(F.vmap(lambda x, w=None: x @ w)(X, w=W), X @ W)


def test_containers():
    def function(given, scale):
        return {"a": given["x"].sum() * scale, "b": (given["y"], None)}

    found = F.vmap(function, in_axes=({"x": 0, "y": 1}, None), out_axes={"a": 0, "b": (1, None)})(
        {"x": X, "y": X.T}, 2.0
    )
    close(found["a"], 2 * X.sum(1))
    close(found["b"][0], X.T)
    assert found["b"][1] is None


def test_a_result_that_no_sample_changes():
    found = F.vmap(lambda x: (x.sum(), 3.0, np.arange(3)))(X)
    close(found[1], np.full(5, 3.0))
    close(found[2], np.tile(np.arange(3), (5, 1)))
    one = F.vmap(lambda x, y: (x, y.sum()), in_axes=(0, None), out_axes=(0, None))(X, X)[1]
    close(one, X.sum())


@pytest.mark.parametrize("size", [1, 2, 5, 7])
def test_chunks(size):
    np.testing.assert_array_equal(F.vmap(wave, chunk_size=size)(X), F.vmap(wave)(X))


def test_no_samples():
    assert F.vmap(wave)(np.zeros((0, 4))).shape == (0, 3)
    assert F.vmap(F.jacrev(wave))(np.zeros((0, 4))).shape == (0, 3, 4)


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int64", "bool"])
def test_dtypes(dtype):
    x = X.astype(dtype)
    found = F.vmap(lambda s: s.sum())(x)
    assert found.dtype == x.sum(1).dtype
    np.testing.assert_allclose(found, x.sum(1), rtol=1e-6)


def test_an_index_of_each_sample():
    index = np.array([0, 3, 1, 2, 1])
    close(F.vmap(lambda x, n: x[n] * 2)(X, index), X[np.arange(5), index] * 2)
    pairs = np.stack([index, index[::-1]], 1)
    close(F.vmap(np.take)(X, pairs), np.take_along_axis(X, pairs, 1))


def test_writes_in_place():
    expected = np.hstack([X.sum(1, keepdims=True), X[:, 1:] ** 2]) * X
    close(F.vmap(written)(X), expected)


def test_inputs_are_not_written_and_results_do_not_share_memory():
    x = X.copy()
    found = F.vmap(lambda s: s)(x)
    found += 1
    np.testing.assert_array_equal(x, X)


# Nesting and transforms inside --------------------------------------------------------------------


def test_nested():
    close(F.vmap(F.vmap(np.sin))(X), np.sin(X))
    outer = F.vmap(lambda a: F.vmap(lambda b: F.vmap(lambda c: a * b + c)(X[1]))(X[0]))(X[:, 0])
    close(outer, X[:, 0][:, None, None] * X[0][:, None] + X[1])


@pytest.mark.parametrize("transform", [F.jacrev, F.jacfwd, F.jacobian])
def test_jacobians_of_samples(transform):
    close(F.vmap(transform(wave))(X), [wave_jacobian(x) for x in X])


def test_jacobians_of_samples_with_a_mapped_function_inside():
    found = F.vmap(F.jacrev(lambda x: F.vmap(lambda a: a * x)(x)))(X)
    eye = np.eye(4)
    expected = [np.einsum("ik,j->ijk", eye, x) + np.einsum("jk,i->ijk", eye, x) for x in X]
    close(found, expected)


def test_gradients_and_products_of_samples():
    close(F.vmap(F.grad(lambda x: (x**3).sum()))(X), 3 * X**2)
    value, gradient = F.vmap(F.value_and_grad(lambda x: (x**3).sum()))(X)
    close(value, (X**3).sum(1))
    close(gradient, 3 * X**2)
    close(F.vmap(lambda x, t: F.jvp(np.sin, (x,), (t,))[1])(X, X), np.cos(X) * X)
    close(F.vmap(lambda x, g: F.vjp(np.sin, x)[1](g)[0])(X, X), np.cos(X) * X)
    cubes = lambda x: (x**3).sum()  # noqa: E731
    close(F.vmap(lambda x, t: F.hvp(cubes, (x,), (t,))[1][0])(X, X), 6 * X * X)
    close(F.vmap(F.hessian(cubes))(X), [np.diag(6 * x) for x in X])


def test_second_derivatives_of_two_arguments():
    found = F.vmap(F.hessian(lambda a, b: np.sin(a @ b), (0, 1)))(X, X[::-1])
    for n, (a, b) in enumerate(zip(X, X[::-1], strict=True)):
        close(found[0][0][n], -np.sin(a @ b) * np.outer(b, b))
        close(found[0][1][n], np.cos(a @ b) * np.eye(4) - np.sin(a @ b) * np.outer(b, a))


def test_grad_of_a_tensor_inside():
    x = ng.tensor(X, requires_grad=True)
    close(F.vmap(lambda s: ng.grad((s**3).sum(), s)[0])(x).detach(), 3 * X**2)


# Derivatives from outside -------------------------------------------------------------------------


def loss(w):
    return (F.vmap(lambda x: np.tanh(x @ w))(X) * ONES).sum()


def loss_gradient(w):
    return X.T @ (1 - np.tanh(X @ w) ** 2)


def loss_hessian(w):
    t = np.tanh(X @ w)
    curve = -2 * t * (1 - t * t)
    return np.einsum("bi,bj,bk,jl->ijkl", X, curve, X, np.eye(3))


def test_gradient_to_what_is_closed_over():
    close(F.grad(loss)(W), loss_gradient(W))


@pytest.mark.parametrize("outer", [F.jacrev, F.jacfwd])
@pytest.mark.parametrize("inner", [F.grad, F.jacrev, F.jacfwd])
def test_second_derivative_to_what_is_closed_over(outer, inner):
    close(outer(inner(loss))(W), loss_hessian(W))


def test_gradient_to_weights_in_many_places():
    w, v = RNG.normal(size=(4, 4)) / 2, RNG.normal(size=(5, 3, 4))

    def function(w, x):
        return (w @ x @ w.T).sum() + (x @ w[0]).sum() + (w * 2).sum()

    def total(w):
        return F.vmap(function, in_axes=(None, 0))(w, np.einsum("bij,bik->bjk", v, v)).sum()

    x = np.einsum("bij,bik->bjk", v, v)
    expected = 2 * np.ones((4, 4)) @ w @ x.sum(0) + 10
    expected[0] += x.sum((0, 1))
    close(F.grad(total)(w), expected)
    close(ng.jit(F.grad(total))(w), expected)
    second = np.einsum("ik,jl->ijkl", np.full((4, 4), 2.0), x.sum(0))
    for outer in (F.jacrev, F.jacfwd):
        close(outer(F.grad(total))(w), second)
    close(F.hessian(total)(w), second)


def test_gradient_to_a_recurrent_matrix():
    w = RNG.normal(size=(4, 4)) / 4

    def last(x, w):
        for _ in range(3):
            x = x @ w
        return x.sum()

    powers = [np.linalg.matrix_power(w, n) for n in range(3)]
    ones = np.ones(4)
    expected = sum(np.outer((X @ powers[n]).sum(0), powers[2 - n] @ ones) for n in range(3))
    close(F.grad(lambda w: F.vmap(last, in_axes=(0, None))(X, w).sum())(w), expected)


def test_gradient_to_weights_takes_no_memory_for_each_sample():
    x, w = RNG.normal(size=(1000, 60)), RNG.normal(size=(60, 60))
    gradient = F.grad(lambda w: F.vmap(lambda s: s @ w)(x).sum())
    gradient(w)
    tracemalloc.start()
    found = gradient(w)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6  # of 29e6 that the gradients of all samples have
    close(found, np.outer(x.sum(0), np.ones(60)))


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_jacobian_of_a_mapped_function(mode):
    expected = np.zeros((5, 3, 5, 4))
    for n, x in enumerate(X):
        expected[n, :, n] = wave_jacobian(x)
    close(F.jacobian(F.vmap(wave), mode=mode)(X), expected)


def test_a_tensor_that_requires_grad():
    w = ng.tensor(W, requires_grad=True)
    result = F.vmap(lambda x: np.tanh(x @ w))(X)
    assert result.requires_grad
    (gradient,) = ng.grad(result.sum(), w, create_graph=True)
    close(gradient.detach(), loss_gradient(W))
    (second,) = ng.grad(gradient[0, 0], w)
    close(second, loss_hessian(W)[0, 0])


def test_batched_pass_through_a_mapped_function():
    x = ng.tensor(X, requires_grad=True)
    seeds = RNG.normal(size=(6, 5, 4))
    (found,) = ng.grad(F.vmap(np.sin)(x), x, seeds, is_grads_batched=True)
    close(found, seeds * np.cos(X))


def test_jvp_through_a_mapped_function():
    close(F.jvp(F.vmap(np.sin), (X,), (X,))[1], np.cos(X) * X)


def test_what_is_detached_stays_so():
    close(F.grad(lambda x: F.vmap(lambda s: (s.detach() * s).sum())(x).sum())(X), X)

    def without(s):
        with ng.no_grad():
            y = s * s
        return (y * s).sum()

    close(F.grad(lambda x: F.vmap(without)(x).sum())(X), X**2)


def test_nothing_is_recorded_where_gradients_are_off():
    with ng.no_grad():
        assert not F.vmap(np.sin)(ng.tensor(X, requires_grad=True)).requires_grad


def test_the_derivative_is_that_of_the_call():
    matrix = W.copy()
    x = ng.tensor(X, requires_grad=True)
    result = F.vmap(lambda s: np.sin(s @ matrix))(x)
    matrix *= 3
    (gradient,) = ng.grad(result.sum(), x)
    close(gradient, np.cos(X @ W) @ W.T)


def test_a_tensor_that_was_written_since_is_refused():
    w = ng.tensor(W, requires_grad=True)
    result = F.vmap(lambda s: np.sin(s @ w))(X)
    with ng.no_grad():
        w *= 2
    with pytest.raises(ng.errors.InplaceError):
        ng.grad(result.sum(), w)


# Captured functions -------------------------------------------------------------------------------


def test_captured():
    function = ng.jit(F.vmap(F.jacrev(wave)))
    for x in (X, X + 1):
        close(function(x), [wave_jacobian(s) for s in x])
    gradient = ng.jit(F.grad(loss))
    for w in (W, 2 * W):
        close(gradient(w), loss_gradient(w))


def test_captured_with_values_of_the_captured_function():
    function = ng.jit(lambda x, w: F.vmap(lambda s: np.sin(s @ (w * 2)))(x))
    for w in (W, W + 1):
        close(function(X, w), np.sin(X @ (w * 2)))
        curve = -4 * np.einsum("bi,bj,bk,jl->bjikl", X, np.sin(X @ (w * 2)), X, np.eye(3))
        expected = np.einsum("bjikl,jm->bjimkl", curve, np.eye(3))
        for outer, inner in ((F.jacrev, F.jacrev), (F.jacfwd, F.jacrev), (F.jacrev, F.jacfwd)):
            close(outer(inner(lambda v: function(X, v)))(w), expected)


def test_captured_functions_inside():
    close(F.vmap(ng.jit(lambda x: np.sin(x).sum()))(X), np.sin(X).sum(1))
    close(F.vmap(ng.jit(lambda x: np.sin(x), ensemble=True))(X), np.sin(X))
    close(ng.jit(lambda x: F.vmap(F.grad(lambda a: a**3))(x), ensemble=True)(X), 3 * X * X)


@pytest.mark.parametrize("axis", [False, True])
def test_a_boolean_is_no_axis(axis):
    for where in ("in_axes", "out_axes"):
        with pytest.raises(ng.errors.ArgTypeError, match=f"{where} must hold ints and None"):
            F.vmap(lambda x: x, **{where: axis})(X)


def test_axes_may_have_torchs_names():
    x = np.arange(6.0).reshape(2, 3)
    f = lambda a, b: a * b  # noqa: E731
    found = ng.func.vmap(f, in_dims=(1, None), out_dims=1)(x, 2.0)
    assert np.array_equal(found, ng.func.vmap(f, in_axes=(1, None), out_axes=1)(x, 2.0))
    for given in ({"in_axes": 1, "in_dims": 1}, {"out_axes": 1, "out_dims": 0.5}):
        with pytest.raises(TypeError, match="are one argument, give one"):
            ng.func.vmap(f, **given)
