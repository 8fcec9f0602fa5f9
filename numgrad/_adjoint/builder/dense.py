"""Linear algebra in loops, which stands for calls of ``np.linalg`` in kernels."""

import math

import numpy as np


def cholesky(a):
    """Return the lower Cholesky factor of a matrix, of which the lower half is read."""
    n = a.shape[0]
    lower = np.zeros((n, n))
    for j in range(n):
        s = a[j, j]
        for k in range(j):
            s -= lower[j, k] * lower[j, k]
        if s <= 0.0:
            raise np.linalg.LinAlgError("Matrix is not positive definite.")
        lower[j, j] = math.sqrt(s)
        for i in range(j + 1, n):
            t = a[i, j]
            for k in range(j):
                t -= lower[i, k] * lower[j, k]
            lower[i, j] = t / lower[j, j]
    return lower


def solve_vector(a, b):
    """Return the solution of a system, by elimination with pivots."""
    n = a.shape[0]
    u = a.copy()
    x = b.copy()
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(u[i, k]) > abs(u[pivot, k]):
                pivot = i
        if u[pivot, k] == 0.0:
            raise np.linalg.LinAlgError("Matrix is singular to machine precision.")
        if pivot != k:
            for j in range(n):
                t = u[k, j]
                u[k, j] = u[pivot, j]
                u[pivot, j] = t
            t = x[k]
            x[k] = x[pivot]
            x[pivot] = t
        for i in range(k + 1, n):
            factor = u[i, k] / u[k, k]
            for j in range(k + 1, n):
                u[i, j] -= factor * u[k, j]
            x[i] -= factor * x[k]
    for i in range(n - 1, -1, -1):
        s = x[i]
        for j in range(i + 1, n):
            s -= u[i, j] * x[j]
        x[i] = s / u[i, i]
    return x


def solve_matrix(a, b):
    """Return the solutions of a system for the columns of a matrix."""
    x = np.empty_like(b)
    for j in range(b.shape[1]):
        x[:, j] = solve_vector(a, b[:, j])
    return x


def inverse(a):
    """Return the inverse of a matrix."""
    return solve_matrix(a, np.eye(a.shape[0]))
