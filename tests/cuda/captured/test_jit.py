"""Captured functions of tensors on a device."""

import numpy as np
import pytest

import numgrad as ng

X = np.linspace(0.5, 2.0, 6).reshape(2, 3)


def close(found, expected, device="cuda:0"):
    assert found.device == device
    np.testing.assert_allclose(found.detach().cpu().numpy(), expected, 1e-12)


@pytest.fixture
def x():
    return ng.tensor(X, device="cuda")


@pytest.mark.parametrize("fuse", ["auto", "now", "never"])
def test_a_function_is_captured_for_each_device(x, fuse):
    f = ng.jit(lambda a: ng.exp(ng.sin(a) * a).sum(1), fuse=fuse)
    expected = np.exp(np.sin(X) * X).sum(1)
    for _ in range(3):
        close(f(x), expected)
        close(f(ng.tensor(X)), expected, "cpu")
        np.testing.assert_allclose(f(X), expected, 1e-12)


def test_arguments_may_lie_in_any_way(x):
    f = ng.jit(lambda a: a * 2 + a.sum())
    close(f(x.T), X.T * 2 + X.sum())
    close(f(x[:, ::-1]), X[:, ::-1] * 2 + X.sum())


def test_transforms_inside_of_captured_functions(x):
    for _ in range(2):
        close(ng.jit(ng.func.grad(lambda v: (v**3).sum()))(x), 3 * X**2)
        close(ng.jit(ng.func.jacobian(lambda v: v**2))(x[0]), np.diag(2 * X[0]))
        close(ng.jit(ng.func.hessian(lambda v: (v**3).sum()))(x[0]), np.diag(6 * X[0]))


def test_gradients_through_captured_functions():
    x = ng.tensor(X, device="cuda", requires_grad=True)
    f = ng.jit(lambda a: (ng.sin(a) * a).sum())
    for _ in range(3):
        (gradient,) = ng.grad(f(x), x, create_graph=True)
        close(gradient, np.cos(X) * X + np.sin(X))
        close(ng.grad(gradient.sum(), x)[0], 2 * np.cos(X) - np.sin(X) * X)


def test_numbers_and_arrays_join_tensors_of_a_device(x):
    close(ng.jit(lambda a, s: a * s)(x, 2.0), 2 * X)
    close(ng.jit(lambda a, b: a * b)(x, X), X * X)
    f = ng.jit(lambda a, i: a[i])
    for i in (0, 1, 0, 1):
        close(f(x, i), X[i])


def test_results_stay_where_the_function_has_them(x):
    first, second = ng.jit(lambda a: (a * 2, ng.ones(2)))(x)
    close(first, 2 * X)
    close(second, np.ones(2), "cpu")


def test_ensembles_of_a_device(x):
    close(ng.jit(lambda v: ng.sin(v).sum(), ensemble=True)(x), np.sin(X).sum(1))


def test_what_is_refused(x):
    with pytest.raises(ng.errors.DeviceError, match="arguments are on cpu and on cuda:0"):
        ng.jit(lambda a, b: a * b)(x, ng.tensor(X))
    with pytest.raises(ng.errors.ArgTypeError, match="out="):
        ng.jit(lambda a: a * 2)(x, out=np.empty((2, 3)))
