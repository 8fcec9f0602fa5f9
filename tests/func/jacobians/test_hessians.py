"""Hessians and their products with vectors, forward over reverse."""


import numpy as np
import pytest

import numgrad as ng

F = ng.func
X, V = np.array([0.5, 1.2, -0.3]), np.array([1.0, -2.0, 0.5])


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
