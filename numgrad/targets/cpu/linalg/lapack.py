"""Factorizations and triangular solves: kernels that call LAPACK and BLAS.

Functions compiled once for all dtypes do the work; they get the addresses of the routines, the size
of an element, and the bits of 1 and -1. The kernel of a dtype only calls them.

An LU factorization is stored by columns, as LAPACK writes it. Right-hand sides and solutions are
C-contiguous, and LAPACK, which reads by columns, sees the transpose of such a matrix: so triangles
are applied from the right. Single vectors that share a factorization are solved together: their
memory is a matrix stored by columns, to which triangles are applied from the left.
"""

import numpy as np
from numba.core import types
from numba.extending import register_jitable

from ....ir.kernel_spec import LibrarySpec, RawSpec
from ..compile.intrinsics import load, load_word, stack_words, store, store_word
from ..compile.routines import LAPACK, ORTHOGONAL, TRIDIAGONAL
from .fortran import by_address, call_fortran, caller, copy_elements, unit_bits
from .library import describe, symbols

L, R, U, N, T, C = (ord(c) for c in "LRUNTC")


def lapack_spec(name: str, dtype: np.dtype, lower: bool = True, adjoint: bool = False) -> RawSpec:
    """Return the spec of the kernel ``name`` for float32, float64, complex64 or complex128.

    =====================  =================================================================
    ``lu_factor``          ``(n,n)->(n,n),(n)``: LU with row exchanges; never fails
    ``lu_solve``           ``(n,n),(n),(n,k)->(n,k)``; fails for a zero pivot
    ``solve_triangular``   ``(n,n),(n,k)->(n,k)``; fails for a zero on the diagonal
    ``cholesky``           ``(n,n)->(n,n)``, the lower factor; fails if not positive definite
    ``hermitian_reduced``  ``(n,n)->(n,n)``: the reduction of Hermitian matrices to tridiagonal
                           ones
    ``eigvalsh``           ``(n,n),(n,n)->(n)``: the eigenvalues of matrices, given their
                           reductions; fails without convergence
    ``hermitian_vectors``  ``(n,n),(n,n)->(n),(n,n)``: the eigenvalues and the eigenvectors;
                           fails without convergence
    ``qr``                 ``(m,n)->(m,n),(n,n)``: QR factors of matrices with ``m >= n``
    ``qr_square``          ``(m,n)->(m,m),(m,n)``: QR factors, the first of which is square
    =====================  =================================================================

    A kernel that fails reports which system of its loop has failed. Factors must be C-contiguous;
    matrices to factor and right-hand sides may have any strides. ``lower`` says which triangle
    ``solve_triangular`` and the kernels of eigenvalues read. With ``adjoint`` systems are solved
    with the conjugate transpose of the matrix.
    """
    dtype = np.dtype(dtype)
    call = caller((LAPACK | TRIDIAGONAL | ORTHOGONAL)[name], symbols(name, dtype))
    options = (dtype.itemsize, int(dtype.kind == "c"), unit_bits(dtype), unit_bits(dtype, -1))
    options = (*options, int(lower), int(adjoint))

    def kernel(ptrs, n, core_dims, steps, status):
        call((*options, ptrs, n, core_dims, steps, status))

    known = describe(LibrarySpec(name, dtype, lower, adjoint))
    return RawSpec(name, kernel, (name, dtype.name, lower, adjoint), *known[1:])


# Steps that the functions share
# ------------------------------------------------------------------------


@register_jitable
def _triangle(trsm, one, form, m, n, a, b):
    """Solve a triangular system in place: multiply ``b`` by the inverse of ``op(a)``.

    ``b`` has ``m`` rows and ``n`` columns and is stored by columns. The ``form`` has four letters
    of BLAS: the side of ``b`` where the triangle ``a`` stands, which triangle of ``a`` is read,
    what ``op`` is, and whether the diagonal is taken to be ones.
    """
    if m == 0 or n == 0:
        return
    side, uplo, operation, diagonal = form
    alpha = stack_words(2)
    store_word(alpha, 0, one)
    store_word(alpha, 1, 0)
    lda = by_address(n if side == R else m)
    flags = by_address(side), by_address(uplo), by_address(operation), by_address(diagonal)
    columns, ldb = by_address(n), by_address(m)
    call_fortran(trsm, (*flags, ldb, columns, alpha, a, lda, b, ldb))


@register_jitable
def _conjugate(scal, minus, itemsize, x, count):
    """Conjugate contiguous complex numbers in place: every second real number changes its sign."""
    size, step = by_address(count), by_address(2)
    call_fortran(scal, (size, by_address(minus), x + itemsize // 2, step))


@register_jitable
def _copy_right_sides(x, b, step, row, column, n, k, vectors, itemsize):
    """Copy right-hand sides from ``b`` to ``x``, where the systems are solved in place.

    For ``k > 1`` the right-hand sides are the columns of one matrix; for ``k == 1`` they are single
    vectors, ``step`` bytes apart, whose number is ``vectors``.
    """
    if k == 1:
        for v in range(vectors):
            copy_elements(x + v * n * itemsize, b + v * step, row, n, itemsize)
    else:
        for i in range(n):
            copy_elements(x + i * k * itemsize, b + i * row, column, k, itemsize)


@register_jitable
def _exchange_rows(swap, pivots, pivot_step, x, n, row, width, stride, backwards):
    """Exchange the rows of ``x`` as the pivots of an LU factorization say.

    With ``backwards`` the exchanges are undone. A row has ``width`` elements that are ``stride``
    items apart.
    """
    size, step = by_address(width), by_address(stride)
    for number in range(n):
        i = n - 1 - number if backwards else number
        j = np.int64(load(pivots + i * pivot_step, types.int32)) - 1
        if i != j:
            call_fortran(swap, (size, x + i * row, step, x + j * row, step))


@register_jitable
def _has_zero(a, step, n, itemsize, is_complex):
    """Return whether one of ``n`` numbers, ``step`` bytes apart from ``a`` on, is zero.

    All bits but the signs are tested, so that the code is the same for all dtypes.
    """
    parts = 2 if is_complex else 1
    size = itemsize // parts
    for i in range(n):
        bits = 0
        for part in range(parts):
            address = a + i * step + part * size
            if size == 8:
                bits |= load(address, types.int64) << 1
            else:
                bits |= np.int64(load(address, types.int32)) << 33
        if bits == 0:
            return True
    return False


# The functions
# --------------------------------------------------------------------------------------------


def lu_factor(
    getrf, itemsize, is_complex, one, minus, lower, adjoint, ptrs, count, core_dims, steps, status
):  # fmt: skip
    n = load_word(core_dims, 0)
    a, lu, pivots = load_word(ptrs, 0), load_word(ptrs, 1), load_word(ptrs, 2)
    row, column = load_word(steps, 3), load_word(steps, 4)
    size, info = by_address(n), by_address(0)
    for _ in range(count):
        for j in range(n):
            copy_elements(lu + j * n * itemsize, a + j * column, row, n, itemsize)
        if n > 0:
            call_fortran(getrf, (size, size, lu, size, pivots, info))
        a += load_word(steps, 0)
        lu += load_word(steps, 1)
        pivots += load_word(steps, 2)


def lu_solve(
    trsm, swap, scal, itemsize, is_complex, one, minus, lower, adjoint,
    ptrs, count, core_dims, steps, status,
):  # fmt: skip
    n, k = load_word(core_dims, 0), load_word(core_dims, 1)
    lu, pivots, b, x = (
        load_word(ptrs, 0),
        load_word(ptrs, 1),
        load_word(ptrs, 2),
        load_word(ptrs, 3),
    )
    pivot_step, row, column = load_word(steps, 6), load_word(steps, 7), load_word(steps, 8)
    conjugate = is_complex != 0 and adjoint != 0
    # Vectors that share a factorization are the columns of one matrix.
    vectors, repeat = 1, count
    shared = load_word(steps, 0) == 0 and load_word(steps, 1) == 0
    if k == 1 and shared and load_word(steps, 3) == n * itemsize:
        vectors, repeat = count, min(count, 1)
    for index in range(repeat):
        if _has_zero(lu, (n + 1) * itemsize, n, itemsize, is_complex):
            store_word(status, 0, index + 1)
            return
        _copy_right_sides(x, b, load_word(steps, 2), row, column, n, k, vectors, itemsize)
        if k == 1:
            if adjoint:
                _triangle(trsm, one, (L, U, C, N), n, vectors, lu, x)
                _triangle(trsm, one, (L, L, C, U), n, vectors, lu, x)
            _exchange_rows(swap, pivots, pivot_step, x, n, itemsize, vectors, n, adjoint)
            if not adjoint:
                _triangle(trsm, one, (L, L, N, U), n, vectors, lu, x)
                _triangle(trsm, one, (L, U, N, N), n, vectors, lu, x)
        else:
            if conjugate:
                _conjugate(scal, minus, itemsize, x, n * k)
            if adjoint:
                _triangle(trsm, one, (R, U, N, N), k, n, lu, x)
                _triangle(trsm, one, (R, L, N, U), k, n, lu, x)
            _exchange_rows(swap, pivots, pivot_step, x, n, k * itemsize, k, 1, adjoint)
            if not adjoint:
                _triangle(trsm, one, (R, L, T, U), k, n, lu, x)
                _triangle(trsm, one, (R, U, T, N), k, n, lu, x)
            if conjugate:
                _conjugate(scal, minus, itemsize, x, n * k)
        lu += load_word(steps, 0)
        pivots += load_word(steps, 1)
        b += load_word(steps, 2)
        x += load_word(steps, 3)


def solve_triangular(
    trsm, scal, itemsize, is_complex, one, minus, lower, adjoint,
    ptrs, count, core_dims, steps, status,
):  # fmt: skip
    """Solve ``A X = B``, or with ``adjoint`` ``A^H X = B``, with a C-contiguous triangle ``A``.

    BLAS reads by columns, and so sees ``A'``. For a vector the triangle is applied from the left:
    ``A x = b`` needs the transpose of what BLAS sees, and ``A^H x = b`` is solved for the
    conjugates, ``A' conj(x) = conj(b)``. For a matrix BLAS sees ``X'`` and ``B'`` too, and the
    triangle is applied from the right: ``X' A' = B'``, or ``conj(X)' A = conj(B)'`` with the
    transpose of what BLAS sees.
    """
    n, k = load_word(core_dims, 0), load_word(core_dims, 1)
    a, b, x = load_word(ptrs, 0), load_word(ptrs, 1), load_word(ptrs, 2)
    row, column = load_word(steps, 5), load_word(steps, 6)
    conjugate = is_complex != 0 and adjoint != 0
    uplo = U if lower else L
    vectors, repeat = 1, count
    if k == 1 and load_word(steps, 0) == 0 and load_word(steps, 2) == n * itemsize:
        vectors, repeat = count, min(count, 1)
    for index in range(repeat):
        if _has_zero(a, (n + 1) * itemsize, n, itemsize, is_complex):
            store_word(status, 0, index + 1)
            return
        _copy_right_sides(x, b, load_word(steps, 1), row, column, n, k, vectors, itemsize)
        if conjugate:
            _conjugate(scal, minus, itemsize, x, n * k * vectors)
        if k == 1:
            _triangle(trsm, one, (L, uplo, N if adjoint else T, N), n, vectors, a, x)
        else:
            _triangle(trsm, one, (R, uplo, T if adjoint else N, N), k, n, a, x)
        if conjugate:
            _conjugate(scal, minus, itemsize, x, n * k * vectors)
        a += load_word(steps, 0)
        b += load_word(steps, 1)
        x += load_word(steps, 2)


def cholesky(
    potrf, itemsize, is_complex, one, minus, lower, adjoint, ptrs, count, core_dims, steps, status
):  # fmt: skip
    """Write the lower Cholesky factor ``L`` of each matrix, whose lower triangle alone is read.

    LAPACK reads by columns, and so sees ``A'``; the upper factor ``L'`` that LAPACK writes by
    columns is ``L`` by rows.
    """
    n = load_word(core_dims, 0)
    a, factor = load_word(ptrs, 0), load_word(ptrs, 1)
    row, column = load_word(steps, 2), load_word(steps, 3)
    uplo, size, info = by_address(U), by_address(n), by_address(0)
    for index in range(count):
        for i in range(n):
            target = factor + i * n * itemsize
            copy_elements(target, a + i * row, column, i + 1, itemsize)
            for word in range((i + 1) * itemsize // 4, n * itemsize // 4):
                store(target + word * 4, np.int32(0))
        if n > 0:
            call_fortran(potrf, (uplo, size, factor, size, info))
            if load(info, types.int32) != 0:
                store_word(status, 0, index + 1)
                return
        a += load_word(steps, 0)
        factor += load_word(steps, 1)
