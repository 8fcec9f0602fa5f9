"""Decompositions of matrices: what LAPACK gives, with slopes by perturbation theory.

The slope of a result is a linear function of the matrix, whose coefficients are results too. What
a decomposition leaves open (vectors of equal values, columns beyond the rank) has no slope: where
one is asked for, it is NaN.
"""

import numpy as np

from ...ssa.conventions import slope, undefined
from ..given import given


def _rounding(values, n):
    """Return the distance within which values of a matrix cannot be told apart."""
    largest = np.max(np.abs(values)) if values.size else 0.0
    return n * (1.2e-7 if values.dtype == np.float32 else 2.2e-16) * largest


def _lower(a):
    """Return the symmetric matrix whose lower half is read."""
    n = a.shape[0]
    made = np.empty((n, n), dtype=a.dtype)
    for i in range(n):
        for j in range(n):
            made[i, j] = a[i, j] if i >= j else a[j, i]
    return made


def eigh(a):
    """Return the eigenvalues and eigenvectors of a symmetric matrix, whose lower half is read."""
    first, second = given(np.linalg.eigh, a)
    w0, v0 = first.copy(), second.copy()
    n = a.shape[0]
    inner = np.dot(v0.T, np.dot(_lower(a), v0))
    near = _rounding(w0, n)
    w = np.empty(n, dtype=a.dtype)
    turn = np.zeros((n, n), dtype=a.dtype)
    for i in range(n):
        w[i] = slope(w0[i], inner[i, i])
        for j in range(n):
            gap = w0[j] - w0[i]
            if abs(gap) > near:
                turn[i, j] = inner[i, j] / gap
            elif i != j:
                turn[i, j] = undefined(inner[i, j])
    moved = np.dot(v0, turn)
    v = np.empty((n, n), dtype=a.dtype)
    for i in range(n):
        for j in range(n):
            v[i, j] = slope(v0[i, j], moved[i, j])
    return w, v


def eigvalsh(a):
    """Return the eigenvalues of a symmetric matrix, whose lower half is read."""
    return eigh(a)[0]


def _turned(inner, s0, is_left):
    """Return by how much singular vectors turn, from the slope in their basis."""
    k = s0.size
    near = _rounding(s0 * s0, k)
    turn = np.zeros((k, k), dtype=s0.dtype)
    for i in range(k):
        for j in range(k):
            if i == j:
                continue
            gap = s0[j] * s0[j] - s0[i] * s0[i]
            if is_left:
                change = inner[i, j] * s0[j] + s0[i] * inner[j, i]
            else:
                change = s0[i] * inner[i, j] + inner[j, i] * s0[j]
            if abs(gap) > near:
                turn[i, j] = change / gap
            else:
                turn[i, j] = undefined(change)
    return turn


def _outside(change, basis, s0, near):
    """Return the part of a change of singular vectors outside of their span."""
    k = s0.size
    rest = change - np.dot(basis, np.dot(basis.T, change))
    made = np.empty_like(rest)
    for i in range(rest.shape[0]):
        for j in range(k):
            made[i, j] = rest[i, j] / s0[j] if s0[j] > near else undefined(rest[i, j])
    return made


def svd(a, full_matrices=True):
    """Return the singular value decomposition of a matrix."""
    m, n = a.shape
    k = min(m, n)
    if full_matrices:
        first, second, third = given(np.linalg.svd, a)
    else:
        first, second, third = given(np.linalg.svd, a, False)
    u0, s0, v0 = first.copy(), second.copy(), third.copy()
    left, right = u0[:, :k].copy(), v0[:k, :].T.copy()
    inner = np.dot(left.T, np.dot(a, right))
    s = np.empty(k, dtype=a.dtype)
    for i in range(k):
        s[i] = slope(s0[i], inner[i, i])
    near = _rounding(s0, max(m, n))
    to_left = np.dot(left, _turned(inner, s0, True)) + _outside(np.dot(a, right), left, s0, near)
    to_right = np.dot(right, _turned(inner.T.copy(), s0, True)) + _outside(
        np.dot(a.T, left), right, s0, near
    )
    rows, columns = n if full_matrices else k, m if full_matrices else k
    u, v = np.empty((m, columns), dtype=a.dtype), np.empty((rows, n), dtype=a.dtype)
    for i in range(m):
        for j in range(columns):
            u[i, j] = slope(u0[i, j], to_left[i, j] if j < k else undefined(to_left[i, 0]))
    for i in range(rows):
        for j in range(n):
            v[i, j] = slope(v0[i, j], to_right[j, i] if i < k else undefined(to_right[j, 0]))
    return u, s, v


def qr(a):
    """Return the factors of a matrix: orthonormal columns, and an upper triangle."""
    first, second = given(np.linalg.qr, a)
    q0, r0 = first.copy(), second.copy()
    m, n = a.shape
    k = min(m, n)
    part = np.empty((m, k), dtype=a.dtype)  # the change of the first columns, over the triangle
    for i in range(m):
        for j in range(k):
            t = a[i, j]
            for p in range(j):
                t -= part[i, p] * r0[p, j]
            part[i, j] = t / r0[j, j]
    inner = np.dot(q0.T, part)
    turn = np.zeros((k, k), dtype=a.dtype)
    for i in range(k):
        for j in range(i):
            turn[i, j] = inner[i, j]
            turn[j, i] = -inner[i, j]
    moved = np.dot(q0, turn - inner) + part
    known = np.dot(q0, r0)
    change = np.dot(moved.T, known) + np.dot(q0.T, a)
    q, r = np.empty((m, k), dtype=a.dtype), np.zeros((k, n), dtype=a.dtype)
    for i in range(m):
        for j in range(k):
            q[i, j] = slope(q0[i, j], moved[i, j])
    for i in range(k):
        for j in range(i, n):
            r[i, j] = slope(r0[i, j], change[i, j])
    return q, r


def pinv(a):
    """Return the pseudo-inverse of a matrix, whose rank stays the same."""
    p0 = given(np.linalg.pinv, a).copy()
    m, n = a.shape
    known = given(np.linalg.pinv, p0).copy()
    inside = np.dot(np.dot(p0, np.dot(p0.T, a.T)), np.eye(m, dtype=a.dtype) - np.dot(known, p0))
    beside = np.dot(np.eye(n, dtype=a.dtype) - np.dot(p0, known), np.dot(a.T, np.dot(p0.T, p0)))
    moved = inside + beside - np.dot(p0, np.dot(a, p0))
    p = np.empty((n, m), dtype=a.dtype)
    for i in range(n):
        for j in range(m):
            p[i, j] = slope(p0[i, j], moved[i, j])
    return p


def lstsq_vector(a, b):
    """Return what solves a system in the least squares, residual, rank and singular values."""
    first, second, rank, third = given(np.linalg.lstsq, a, b)
    x = np.dot(pinv(a), b)
    solution, residual = np.empty(a.shape[1], dtype=a.dtype), np.empty_like(second)
    for i in range(a.shape[1]):
        solution[i] = slope(first[i], x[i])
    rest = b - np.dot(a, x)
    total = np.dot(rest, rest)
    for i in range(second.size):
        residual[i] = slope(second[i], total)
    return solution, residual, rank, svd_values(a, third)


def lstsq_matrix(a, b):
    """Return what solves systems in the least squares, residuals, rank and singular values."""
    first, second, rank, third = given(np.linalg.lstsq, a, b)
    x = np.dot(pinv(a), b)
    n, k = a.shape[1], b.shape[1]
    solution, residual = np.empty((n, k), dtype=a.dtype), np.empty_like(second)
    for i in range(n):
        for j in range(k):
            solution[i, j] = slope(first[i, j], x[i, j])
    rest = b - np.dot(a, x)
    for j in range(second.size):
        residual[j] = slope(second[j], np.dot(rest[:, j], rest[:, j]))
    return solution, residual, rank, svd_values(a, third)


def svd_values(a, found):
    """Return singular values that were found, with the slopes of those of a matrix."""
    values = svd(a, False)[1]
    made = np.empty(values.size, dtype=a.dtype)
    for i in range(values.size):
        made[i] = slope(found[i], values[i])
    return made
