"""Determinants, from the LU factorization; their derivatives are cofactors."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._declare import constant, kernel_operator
from ..._declare.partial import conjugate as conj
from ..elementwise.arithmetic import multiply, subtract
from ..elementwise.complex_parts import imag
from ..shape.reshape import expand_dims
from .factorization import NamesCaller, lu_solve


class OfFactors(NamesCaller):
    """An operator on a matrix and its LU factorization; the kernel reads only the factorization."""

    gives_scalars = True
    reason = "the matrix is singular, or nearly"

    def result_dtypes(self, dtypes: Sequence[np.dtype]) -> list[np.dtype]:
        """Return the dtype of the matrix, and for a second output the real dtype of that precision.
        """
        return [dtypes[0], np.finfo(dtypes[0]).dtype][: self.nout]


def _declare(signature: str, **options: Any) -> Any:
    return lambda function: OfFactors(function, signature, **options)


@_declare("(n,n),(n,n),(n)->()")
def det(a, lu, pivots, out):
    """Compute the determinant: the product of the pivots, with the sign of the row exchanges."""
    total = lu.dtype.type(1)
    for i in range(pivots.size):
        total *= lu[i, i]
        if pivots[i] != i + 1:
            total = -total
    out[0] = total


det.reads(lambda needs: (True, True, True, False))


@det.pullback
def det_pullback(context, g):
    """Return ``g`` times the conjugate cofactors, which are right for matrices of any rank.

    The cofactors of matrices up to 3 by 3 are computed as polynomials. For larger matrices, zero
    pivots are replaced by tiny ones, which changes the cofactors by no more than rounding. That
    does not hold for further derivatives: in a recorded pass a singular matrix is an error.
    """
    a, lu, pivots = (context.input(n) for n in range(3))
    n = a.shape[-1]
    if n <= 3:
        return multiply(_matrix(g), conj(cofactor(a))), None, None
    lu = regular_pivots(lu, caller="det") if context.create_graph else nonzero_pivots(lu)
    value = det(a, lu, pivots)
    eye = np.eye(n, dtype=a.dtype)
    inverse = lu_solve(a, lu, pivots, eye, adjoint=True, caller="det")
    return multiply(inverse, _matrix(multiply(g, conj(value)))), None, None


def _matrix(value: Any) -> Any:
    return expand_dims(value, axes=(-2, -1))


# Steps of the derivative only: not in the registry.


@_declare("(n,n)->(n,n)", differentiable=False, register=False)
def nonzero_pivots(lu, out):
    """Copy an LU factorization, with each zero pivot replaced by the rounding of the largest."""
    largest = 0.0
    for i in range(lu.shape[0]):
        largest = max(largest, abs(lu[i, i]))
        for j in range(lu.shape[0]):
            out[i, j] = lu[i, j]
    for i in range(lu.shape[0]):
        if lu[i, i] == 0:
            out[i, i] = lu.dtype.type(np.finfo(lu.dtype).eps * (largest if largest > 0 else 1))


@_declare("(n,n)->(n,n)", differentiable=False, register=False, may_raise=True)
def regular_pivots(lu, out):
    """Copy an LU factorization; raise an error if it is singular to working precision."""
    largest, smallest = 0.0, np.inf
    for i in range(lu.shape[0]):
        for j in range(lu.shape[0]):
            out[i, j] = lu[i, j]
        largest = max(largest, abs(lu[i, i]))
        smallest = min(smallest, abs(lu[i, i]))
    if smallest <= lu.shape[0] * np.finfo(lu.dtype).eps * largest:
        raise ValueError


# The sign and the logarithm
# ---------------------------------------------------------------------------------


@_declare("(n,n),(n,n),(n)->(),()")
def slogdet(a, lu, pivots, sign, logabs):
    """Compute the sign or phase of the determinant, and the logarithm of its absolute value."""
    unit, total = lu.dtype.type(1), abs(lu.dtype.type(0))
    for i in range(pivots.size):
        size = abs(lu[i, i])
        if size == 0:
            unit = lu.dtype.type(0)
            total = math.log(size)  # minus infinity, in the dtype of the other sums
            break
        unit *= lu[i, i] / size
        if pivots[i] != i + 1:
            unit = -unit
        total += math.log(size)
    sign[0] = unit
    logabs[0] = total


slogdet.reads(lambda needs: (True, True, True, True, False))


@slogdet.pullback
def slogdet_pullback(context, g_sign, g_log):
    a, lu, pivots = (context.input(n) for n in range(3))
    eye = np.eye(a.shape[-1], dtype=a.dtype)
    inverse = lu_solve(a, lu, pivots, eye, adjoint=True, caller="slogdet")
    if a.dtype.kind == "c":
        turn = imag(multiply(conj(g_sign), context.output(0)))
        g_log = subtract(g_log, multiply(turn, constant(np.array(1j, a.dtype))))
    return multiply(_matrix(g_log), inverse), None, None


# Cofactors of small matrices
# --------------------------------------------------------------------------------


@kernel_operator("(n,n)->(n,n)")
def cofactor(a, out):
    """Compute the cofactors of a matrix up to 3 by 3: the derivatives of the determinant."""
    n = a.shape[0]
    if n == 1:
        out[0, 0] = 1
    elif n == 2:
        out[0, 0], out[0, 1] = a[1, 1], -a[1, 0]
        out[1, 0], out[1, 1] = -a[0, 1], a[0, 0]
    else:
        for i in range(n):
            p, q = (i + 1) % n, (i + 2) % n
            for j in range(n):
                r, s = (j + 1) % n, (j + 2) % n
                out[i, j] = a[p, r] * a[q, s] - a[p, s] * a[q, r]


cofactor.reads(lambda needs: (True, False))


@cofactor.pullback
def cofactor_pullback(context, g):
    a = context.input(0)
    n = a.shape[-1]
    if n == 3:
        return mixed_cofactor(conj(a), g)
    return cofactor(g) if n == 2 else None


@kernel_operator("(n,n),(n,n)->(n,n)")
def mixed_cofactor(a, b, out):
    """Compute the symmetric bilinear form for which ``mixed_cofactor(a, a) = 2 cofactor(a)``.

    The matrices are 3 by 3. The derivative of `cofactor` at ``a`` is ``mixed_cofactor(a, .)``.
    """
    for i in range(3):
        p, q = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            r, s = (j + 1) % 3, (j + 2) % 3
            first = a[p, r] * b[q, s] - a[p, s] * b[q, r]
            out[i, j] = first + (b[p, r] * a[q, s] - b[p, s] * a[q, r])


mixed_cofactor.reads(lambda needs: (needs[1], needs[0], False))


@mixed_cofactor.pullback
def mixed_cofactor_pullback(context, g):
    want1, want2 = context.wanted
    ga = mixed_cofactor(g, conj(context.input(1))) if want1 else None
    gb = mixed_cofactor(conj(context.input(0)), g) if want2 else None
    return ga, gb
