"""Matrix products through BLAS: kernels that call the routine gemm.

One function, compiled once for all dtypes, does the work; the kernel of a dtype only calls that
function. BLAS reads matrices by columns, and arrays lie by rows: so the row-major product ``C = A
B`` is computed as the column-major product ``C' = B' A'`` of the same memory.
"""

from functools import cache

import numpy as np
from numba.extending import register_jitable

from ....ir.kernel_spec import LibrarySpec, RawSpec
from ..compile.intrinsics import load_word, stack_words, store_word
from ..compile.routines import MATMUL
from .fortran import by_address, call_fortran, caller, unit_bits
from .library import describe, symbol

MAX_ROWS = 2**31 - 1  # sizes are 32-bit integers in SciPy's BLAS
PLAIN, TRANSPOSED = ord("N"), ord("T")


@cache
def matmul_spec(dtype: np.dtype, max_rows: int = MAX_ROWS) -> RawSpec:
    """Return the kernel spec of ``(m,k),(k,n)->(m,n)`` for a real or complex floating dtype.

    The dtype is float32, float64, complex64 or complex128. The operands may be transposed or have
    padded rows. With strides that BLAS does not know (zero, negative, both axes strided) the
    product is computed term by term, correctly but slowly: callers copy such operands first. The
    result must be C-contiguous. Vectors are matrices of one row or one column.

    A kernel loops over pairs of matrices. Where all pairs share B, and the rows of A are evenly
    spaced across the loop, the whole loop is one BLAS call for every `max_rows` rows.
    """
    dtype = np.dtype(dtype)
    call = caller(MATMUL, (symbol(dtype, "gemm"),))
    options = (dtype.itemsize, unit_bits(dtype), max_rows)

    def kernel(ptrs, n, core_dims, steps, status):
        call((*options, ptrs, n, core_dims, steps))

    known = describe(LibrarySpec("matmul", dtype))
    return RawSpec("matmul", kernel, (dtype.name, max_rows), *known[1:])


@register_jitable
def _leading(rows, columns, row_stride, column_stride, itemsize):
    """Return the leading dimension by which BLAS reads a row-major matrix in place, in items.

    The result is 0 for strides that BLAS does not know.
    """
    if columns > 1 and column_stride != itemsize:
        return 0
    if rows <= 1:
        return columns if columns > 1 else 1
    if row_stride % itemsize != 0 or row_stride < columns * itemsize:
        return 0
    return row_stride // itemsize


@register_jitable
def _multiply(gemm, one, beta, transa, transb, m, k, n, a, lda, b, ldb, c, ldc):
    """Write the row-major ``C = op(A) op(B) + beta C`` with one call of gemm.

    ``one`` has the bits of 1 in the dtype of the matrices, and ``beta`` those bits or 0; ``transa``
    and ``transb`` say what ``op`` is.
    """
    scalars = stack_words(4)
    store_word(scalars, 0, one)
    store_word(scalars, 1, 0)
    store_word(scalars, 2, beta)
    store_word(scalars, 3, 0)
    flags = by_address(transb), by_address(transa), by_address(n), by_address(m), by_address(k)
    lda, ldb, ldc = by_address(lda), by_address(ldb), by_address(ldc)
    call_fortran(gemm, (*flags, scalars, b, ldb, a, lda, scalars + 16, c, ldc))


@register_jitable
def _product(gemm, one, itemsize, a, b, c, m, k, n, strides):
    """Write the product of one pair of matrices, given their addresses, sizes and strides.

    BLAS is called once if it can read both matrices in place, else once for every term.
    """
    am, ak, bk, bn = strides
    lda, ldb = _leading(m, k, am, ak, itemsize), _leading(k, n, bk, bn, itemsize)
    transa, transb = PLAIN, PLAIN
    if lda == 0:
        transa, lda = TRANSPOSED, _leading(k, m, ak, am, itemsize)
    if ldb == 0:
        transb, ldb = TRANSPOSED, _leading(n, k, bn, bk, itemsize)
    rows, columns, inner, rounds = m, n, k, 1
    if k == 0:
        transa, transb, lda, ldb = PLAIN, PLAIN, 1, n
    elif lda == 0 or ldb == 0:
        # Strange strides: a round is one product of two numbers.
        rows, columns, inner, rounds = 1, 1, 1, m * n * k
        lda, ldb = 1, 1
    for number in range(rounds):
        i, j, p = number // k // n, number // k % n, number % k
        beta = one if p > 0 else 0
        x, y, z = a + i * am + p * ak, b + p * bk + j * bn, c + (i * n + j) * itemsize
        _multiply(gemm, one, beta, transa, transb, rows, inner, columns, x, lda, y, ldb, z, n)


@register_jitable
def _shared_right(strides, steps, m, k, n, itemsize):
    """Return the distance in bytes between rows of A if one product can replace the loop; else 0.

    One product is enough if all products of the loop share B, and the rows of A and of C are evenly
    spaced across the loop.
    """
    row = load_word(steps, 0) if m == 1 else load_word(strides, 0)
    even = load_word(steps, 1) == 0 and load_word(steps, 0) == m * row
    if even and load_word(steps, 2) == m * n * itemsize:
        return row
    return 0


def matmul(gemm, itemsize, one, max_rows, ptrs, n, core_dims, steps):
    rows, inner, columns = load_word(core_dims, 0), load_word(core_dims, 1), load_word(core_dims, 2)
    if rows == 0 or columns == 0:
        return
    a, b, c = load_word(ptrs, 0), load_word(ptrs, 1), load_word(ptrs, 2)
    table = steps + 24
    strides = load_word(table, 0), load_word(table, 1), load_word(table, 2), load_word(table, 3)
    step_a, step_b, step_c = load_word(steps, 0), load_word(steps, 1), load_word(steps, 2)
    repeat, height = n, rows
    row = _shared_right(table, steps, rows, inner, columns, itemsize)
    if row > 0 and _leading(n * rows, inner, row, strides[1], itemsize) > 0:
        # The loop is one tall matrix, in parts that a 32-bit size can tell.
        height = n * rows if n * rows < max_rows else max_rows
        repeat = (n * rows + height - 1) // height
        step_a, step_b, step_c = height * row, 0, height * columns * itemsize
        strides = row, strides[1], strides[2], strides[3]
    for i in range(repeat):
        rest = n * rows - i * height
        part = height if height < rest else rest
        _product(gemm, one, itemsize, a, b, c, part, inner, columns, strides)
        a += step_a
        b += step_b
        c += step_c
