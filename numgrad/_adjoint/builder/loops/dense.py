"""Linear algebra in loops, which stands for calls of ``np.linalg`` in kernels."""

import math

import numpy as np

from ...ssa.conventions import held, kink, root, slope
from ..given import given
from .rearranging import flattened


def cholesky(a):
    """Return the lower Cholesky factor of a matrix, of which the lower half is read."""
    n = a.shape[0]
    lower = np.zeros((n, n), dtype=a.dtype)
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
    """Return the solution of a system."""
    x0 = given(np.linalg.solve, a, b)
    moved = np.dot(given(np.linalg.inv, a), b - np.dot(a, x0))
    x = np.empty(a.shape[0], dtype=x0.dtype)
    for i in range(x.size):
        x[i] = slope(x0[i], moved[i])
    return x


def solve_matrix(a, b):
    """Return the solutions of a system for the columns of a matrix."""
    x0 = given(np.linalg.solve, a, b).copy()
    moved = np.dot(given(np.linalg.inv, a).copy(), b - np.dot(a, x0))
    return _with_slopes(x0, moved, a.shape[0], b.shape[1])


def inverse(a):
    """Return the inverse of a matrix."""
    x0 = given(np.linalg.inv, a).copy()
    return _with_slopes(x0, -np.dot(x0, np.dot(a, x0)), a.shape[0], a.shape[0])


def _with_slopes(x0, moved, rows, columns):
    """Return a matrix that is given, with the slopes of another one."""
    x = np.empty((rows, columns), dtype=x0.dtype)
    for i in range(rows):
        for j in range(columns):
            x[i, j] = slope(x0[i, j], moved[i, j])
    return x


def norm(x, ord=None):  # noqa: A002
    """Return the norm of a vector, or that of a matrix by its elements."""
    flat = flattened(x)
    if ord is not None and ord != "fro":
        if x.ndim != 1:
            return matrix_norm(x, ord)
        if ord == 0:
            return 1.0 * np.count_nonzero(flat)
        if ord == 1:
            return np.sum(np.abs(flat))
        if ord == np.inf:
            return np.max(np.abs(flat))
        if ord == -np.inf:
            return np.min(np.abs(flat))
        if ord != 2:
            return np.sum(np.abs(flat) ** ord) ** (1.0 / ord)
    largest = 0.0
    for i in range(flat.size):
        largest = max(largest, abs(held(flat[i])))
    if largest == 0.0 or largest == np.inf:
        largest = 1.0
    total = 0.0
    for i in range(flat.size):
        total += (flat[i] / largest) ** 2
    result = largest * root(total)
    return np.float32(result) if x.dtype == np.float32 else result


def matrix_norm(x, ord):  # noqa: A002
    """Return the norm of a matrix by its singular values, or by sums of rows or columns."""
    if ord == 2:
        return np.max(np.linalg.svd(x, False)[1])
    if ord == -2:
        return np.min(np.linalg.svd(x, False)[1])
    if ord == 1:
        return np.max(np.sum(np.abs(x), axis=0))
    if ord == -1:
        return np.min(np.sum(np.abs(x), axis=0))
    if ord == np.inf:
        return np.max(np.sum(np.abs(x), axis=1))
    return np.min(np.sum(np.abs(x), axis=1))


def cond(x, p=None):
    """Return the condition number of a matrix."""
    if p is None or p == 2:
        values = np.linalg.svd(x, False)[1]
        return np.max(values) / np.min(values)
    if p == -2:
        values = np.linalg.svd(x, False)[1]
        return np.min(values) / np.max(values)
    return matrix_norm(x, p) * matrix_norm(np.linalg.inv(x), p)


def matrix_rank(x, tol=None):
    """Return the number of singular values that are not tiny."""
    values = np.linalg.svd(x, False)[1]
    least = tol
    if tol is None:
        epsilon = 1.1920929e-07 if x.dtype == np.float32 else 2.220446049250313e-16
        least = np.max(values) * max(x.shape[0], x.shape[1]) * epsilon
    count = 0
    for value in values:
        if value > least:
            count += 1
    return count


def det(a):
    """Return the determinant of a matrix, by elimination with pivots."""
    n = a.shape[0]
    u = a.copy()
    result = 1.0
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(u[i, k]) > abs(u[pivot, k]):
                pivot = i
        if u[pivot, k] == 0.0:
            return _like(a, kink(np.sum(a), result))
        if pivot != k:
            result = -result
            for j in range(k, n):
                t = u[k, j]
                u[k, j] = u[pivot, j]
                u[pivot, j] = t
        result *= u[k, k]
        for i in range(k + 1, n):
            factor = u[i, k] / u[k, k]
            for j in range(k + 1, n):
                u[i, j] -= factor * u[k, j]
    return _like(a, result)


def _like(a, number):
    """Return a number in the dtype of an array."""
    return np.float32(number) if a.dtype == np.float32 else number


def slogdet(a):
    """Return the sign and the logarithm of the modulus of a determinant."""
    n = a.shape[0]
    u = a.copy()
    sign, total = 1.0, 0.0
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(u[i, k]) > abs(u[pivot, k]):
                pivot = i
        if u[pivot, k] == 0.0:
            return _like(a, 0.0), _like(a, -np.inf + kink(np.sum(a), total))
        if pivot != k:
            sign = -sign
            for j in range(k, n):
                t = u[k, j]
                u[k, j] = u[pivot, j]
                u[pivot, j] = t
        if u[k, k] < 0.0:
            sign = -sign
        total += np.log(abs(u[k, k]))
        for i in range(k + 1, n):
            factor = u[i, k] / u[k, k]
            for j in range(k + 1, n):
                u[i, j] -= factor * u[k, j]
    return _like(a, sign), _like(a, total)


def matrix_power(a, n):
    """Return a natural power of a matrix."""
    if n < 0:
        return matrix_power(np.linalg.inv(a), -n)
    made = np.eye(a.shape[0], dtype=a.dtype)
    for _ in range(n):
        made = made @ a
    return made
