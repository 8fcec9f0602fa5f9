"""QR factorizations: kernels that call LAPACK; see `lapack`.

All is computed in double precision by the routines that NumPy calls, signs included.
"""

import numpy as np
from numba.extending import register_jitable

from ..compile.intrinsics import call_function, load_word, store, store_word
from .fortran import by_address, call_fortran
from .precision import read_columns, write_row

WORK_OF_A_COLUMN = 64
"""The most elements that LAPACK's blocked routines ask for, for each column."""


@register_jitable
def _write_triangle(r, matrix, m, n, p, parts, is_single, memory):
    """Write the first ``p`` rows of the upper triangle of a matrix by columns, and zeros below."""
    itemsize = 8 * parts
    size = itemsize // 2 if is_single else itemsize
    for i in range(p):
        below = min(i, n)
        for word in range(below * size // 4):
            store(r + i * n * size + 4 * word, np.int32(0))
        first = matrix + (below * m + i) * itemsize
        target = r + (i * n + below) * size
        write_row(target, first, m * itemsize, n - below, parts, is_single, memory)


@register_jitable
def _factored(routines, size, p, is_complex, itemsize, ptrs, count, steps, status):
    """Write a factor with ``p`` orthonormal columns and an upper triangle of each matrix."""
    geqrf, orgqr, malloc, free = routines
    m, n = size
    parts, wide = 2 if is_complex else 1, max(n, p)
    is_single, itemsize = itemsize == 4 * parts, 8 * parts
    a, q, r = load_word(ptrs, 0), load_word(ptrs, 1), load_word(ptrs, 2)
    row, column = load_word(steps, 3), load_word(steps, 4)
    lwork = max(1, WORK_OF_A_COLUMN * wide)
    matrix = call_function(malloc, ((m * wide + wide + lwork) * itemsize,))
    if matrix == 0:
        store_word(status, 0, 1)
        return
    tau = matrix + m * wide * itemsize
    work = tau + wide * itemsize
    info, rows, columns = by_address(0), by_address(m), by_address(n)
    made, reflections, lwork = by_address(p), by_address(min(m, n)), by_address(lwork)
    for _ in range(count if m > 0 else 0):
        read_columns(matrix, a, row, column, m, n, parts, is_single)
        if n > 0:
            call_fortran(geqrf, (rows, columns, matrix, rows, tau, work, lwork, info))
        _write_triangle(r, matrix, m, n, p, parts, is_single, work)
        if p > 0:
            arguments = rows, made, reflections, matrix, rows, tau, work, lwork, info
            call_fortran(orgqr, arguments)
        for i in range(m):
            target = q + i * p * (itemsize // 2 if is_single else itemsize)
            start = matrix + i * itemsize
            write_row(target, start, m * itemsize, p, parts, is_single, work)
        a += load_word(steps, 0)
        q += load_word(steps, 1)
        r += load_word(steps, 2)
    call_function(free, (matrix,))


def qr(
    geqrf, orgqr, malloc, free, itemsize, is_complex, one, minus, lower, adjoint,
    ptrs, count, core_dims, steps, status,
):  # fmt: skip
    """Write as many orthonormal columns as the matrix has, which has no fewer rows."""
    m, n = load_word(core_dims, 0), load_word(core_dims, 1)
    routines = geqrf, orgqr, malloc, free
    _factored(routines, (m, n), n, is_complex, itemsize, ptrs, count, steps, status)


def qr_square(
    geqrf, orgqr, malloc, free, itemsize, is_complex, one, minus, lower, adjoint,
    ptrs, count, core_dims, steps, status,
):  # fmt: skip
    """Write as many orthonormal columns as the matrix has rows."""
    m, n = load_word(core_dims, 0), load_word(core_dims, 1)
    routines = geqrf, orgqr, malloc, free
    _factored(routines, (m, n), m, is_complex, itemsize, ptrs, count, steps, status)
