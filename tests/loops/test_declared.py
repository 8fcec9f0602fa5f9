"""Operators that are declared without a derivative have the one of their kernel."""

import numpy as np
import pytest
from numba import njit

import numgrad as ng


@ng.operator("(n),()->(n),()")
@njit
def energies(x, a, out, total):
    total[0] = 0.0
    for i in range(x.size):
        out[i] = a * x[i] ** 2
        total[0] += out[i] * x[i]


@ng.operator("(),()->()")
@njit
def bent(x, y):
    return x**3 * y if x > 0.0 else y


@ng.operator("(n),(m)->(m)", nondifferentiable=("k",), static=("p", "q"))
@njit
def picked(x, k, out, p, q):
    for i in range(k.size):
        out[i] = x[k[i]] ** p * q


@ng.operator("(n)->(n)")
@njit
def looked_up(x, out):
    kept = [x[0], x[1]]
    kept.append(x[2])
    out[:] = kept[0] * kept.count(x[0])


X = np.array([0.5, -1.0, 2.0])
ROWS = np.linspace(-1.0, 2.0, 12).reshape(4, 3)


def loss(x, a):
    out, total = energies(x, a)
    return (out * out).sum() * total


def expected(x, a):
    """Return the gradient of ``a**3 * sum(x**4) * sum(x**3)`` and its derivative to ``a``."""
    fourth, third = np.sum(x**4), np.sum(x**3)
    return a**3 * (4 * x**3 * third + 3 * x**2 * fourth), 3 * a**2 * fourth * third


def test_first_derivatives_are_those_of_the_formula():
    gx, ga = ng.func.grad(loss, argnums=(0, 1))(X, 0.7)
    np.testing.assert_allclose(gx, expected(X, 0.7)[0], rtol=1e-13)
    np.testing.assert_allclose(ga, expected(X, 0.7)[1], rtol=1e-13)
    assert np.array_equal(ng.jit(ng.func.grad(loss))(X, 0.7), gx)


def test_second_derivatives_and_tangents():
    fourth, third = np.sum(X**4), np.sum(X**3)
    square = np.outer(4 * X**3, 3 * X**2)
    hessian = square + square.T + np.diag(12 * X**2 * third + 6 * X * fourth)
    np.testing.assert_allclose(ng.func.hessian(loss)(X, 0.7), 0.7**3 * hessian, rtol=1e-12)
    v = np.array([1.0, 2.0, 3.0])
    out, total = ng.func.jvp(lambda x: energies(x, 0.7), (X,), (v,))[1]
    np.testing.assert_allclose(out, 1.4 * X * v, rtol=1e-14)
    np.testing.assert_allclose(total, np.sum(2.1 * X**2 * v), rtol=1e-14)


def test_batches_and_leading_axes_have_the_bits_of_single_calls():
    single = np.array([ng.func.grad(loss)(row, 0.7) for row in ROWS])
    mapped = ng.func.vmap(ng.func.grad(loss), in_axes=(0, None))(ROWS, 0.7)
    assert np.array_equal(mapped, single)
    x, a = ng.tensor(ROWS, requires_grad=True), ng.tensor(0.7, requires_grad=True)
    out, total = energies(x, a)
    gx, ga = ng.grad(out.sum() + total.sum(), (x, a))
    np.testing.assert_allclose(gx.numpy(), 1.4 * ROWS + 2.1 * ROWS**2, rtol=1e-13)
    np.testing.assert_allclose(ga.item(), np.sum(ROWS**2) + np.sum(ROWS**3), rtol=1e-13)
    jacobian = ng.func.jacobian(lambda x: energies(x, 0.7)[0])(X)
    np.testing.assert_allclose(jacobian, np.diag(1.4 * X), rtol=1e-14)


def test_kernels_of_scalars_integer_inputs_and_static_numbers():
    f = lambda x: bent(x, 2.0).sum()  # noqa: E731
    np.testing.assert_allclose(ng.func.grad(f)(X), [1.5, 0, 24])
    np.testing.assert_allclose(ng.func.hessian(f)(X), np.diag([6.0, 0, 24]))
    k = np.array([0, 2, 2])
    g = lambda x: picked(x, k, p=3, q=0.5).sum()  # noqa: E731
    np.testing.assert_allclose(ng.func.grad(g)(X), [0.375, 0, 12])
    assert ng.func.grad(g)(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(ng.func.hessian(g)(X), np.diag([1.5, 0, 12]))


def test_a_kernel_that_is_not_understood_is_refused_with_its_line_and_what_to_declare():
    said = r"(?s)test_declared.py, line \d+, in looked_up: .*with @looked_up.backward"
    with pytest.raises(ng.errors.NotDifferentiableError, match=said):
        ng.func.grad(lambda x: looked_up(x).sum())(X)
