"""Forward mode: tangents through recorded graphs."""


import numpy as np
import pytest

import numgrad as ng

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
