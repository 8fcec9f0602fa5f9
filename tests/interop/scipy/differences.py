"""Derivatives by differences of values, and functions that several test modules solve."""

import numpy as np

import numgrad as ng

POINT = np.array([-1.2, 1.0, 0.8])


def derivative(f, x, h=1e-3):
    """Return the Jacobian of a function of arrays, shape ``(*output, *x)``, by differences of
    fourth order."""
    columns = []
    for n in range(x.size):
        step = np.zeros(x.shape)
        step.flat[n] = h
        near, far = (f(x + k * step) - f(x - k * step) for k in (1, 2))
        columns.append((8.0 * near - far) / (12.0 * h))
    return np.stack(columns, axis=-1).reshape(*np.shape(columns[0]), *x.shape)


def agree(found, expected, tolerance):
    """Compare relative to the largest element."""
    np.testing.assert_allclose(
        np.asarray(found), expected, rtol=0.0, atol=tolerance * max(np.abs(expected).max(), 1.0)
    )


def rosenbrock(x, a=100.0):
    return (a * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum()


def residuals(x, a=10.0):
    return ng.concat([a * (x[1:] - x[:-1] ** 2), 1.0 - x[:-1]])


def diffusion(x, a):
    """Nonlinear diffusion in one dimension: a tridiagonal Jacobian."""
    padded = ng.pad(x, 1)
    return padded[2:] - 2.0 * x + padded[:-2] + a * np.exp(0.1 * x)


def checked(f, x, tolerance=1e-8):
    """Compare first, second, batched and forward derivatives of a function of arrays."""
    first = ng.func.jacrev(f)
    agree(first(x), derivative(f, x), tolerance)
    agree(ng.func.jacrev(first)(x), derivative(first, x), tolerance)
    agree(ng.func.jacfwd(f)(x), derivative(f, x), tolerance)
    total = lambda x: (f(x) ** 2).sum()  # noqa: E731
    agree(ng.func.hessian(total)(x), derivative(ng.func.grad(total), x), tolerance)
