"""Functions with sparse derivatives, written as users write them, and finite differences."""

import numpy as np

import numgrad as ng


def bratu(u):
    """The residual of ``-laplace(u) = exp(u)`` on a square, with slices."""
    n = round(u.size**0.5)
    u = u.reshape(n, n)
    p = ng.pad(u, 1)
    around = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
    return (around - 4 * u + ng.exp(u) / (n + 1) ** 2).reshape(-1)


def bidiagonal(x):
    y = x**2
    return ng.concatenate([y[:1], y[1:] - x[:-1]])


def products(x):
    return x[1:] * x[:-1]


def chain(x):
    """A scalar whose Hessian has five diagonals."""
    return ((x[1:] - x[:-1] ** 2) ** 2).sum() + ng.sin(x[2:] * x[:-2]).sum()


def scaled(x, factor, other):
    return x * factor + other * x[::-1]


def differences(function, x, step=1e-6):
    """Return the Jacobian of a function of a NumPy array by central differences."""
    columns = []
    for k in range(x.size):
        move = np.zeros(x.size)
        move[k] = step
        move = move.reshape(x.shape)
        with ng.no_grad():
            upper, lower = (ng.asarray(function(ng.asarray(x + s * move))) for s in (1, -1))
        columns.append((upper.numpy() - lower.numpy()).reshape(-1) / (2 * step))
    return np.stack(columns, axis=1)
