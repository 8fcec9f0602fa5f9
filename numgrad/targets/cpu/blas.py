"""Matrix products through BLAS, in the kernel ABI.

Numba carries a C function, ``numba_xxgemm``, that calls SciPy's BLAS with 64-bit sizes by value.
BLAS stores matrices by columns; so ``C = A B`` by rows is computed as ``C' = B' A'`` by columns.
"""

import ctypes
from functools import cache

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, register_jitable
from numba.np import numpy_support
from numba.np.linalg import ensure_blas, get_blas_kind

from .intrinsics import INT64, load, load_word, scalar_type, store
from .specs import RawSpec

SIGNATURE = "(m,k),(k,n)->(m,n)"
MAX_ROWS = 2**31 - 1  # sizes are 32-bit integers in SciPy's BLAS
PLAIN, TRANSPOSED = ord("n"), ord("t")
_CHAR, _INT32, _VOID = ir.IntType(8), ir.IntType(32), ir.IntType(8).as_pointer()
GEMM_TYPE = ir.FunctionType(
    _INT32,
    [_CHAR] * 3 + [INT64] * 3 + [_VOID, _VOID, INT64, _VOID, INT64, _VOID, _VOID, INT64],
)


@cache
def matmul_spec(dtype: np.dtype) -> RawSpec:
    """Return the kernel of ``(m,k),(k,n)->(m,n)`` for float32, float64, complex64 or complex128.

    The operands may be transposed or have padded rows; with strides that BLAS does not know (zero,
    negative, both axes strided) the product is computed by a plain loop, correctly but slowly, so
    copy such operands first. The result must be C-contiguous. Where all products of the loop share
    B and the rows of A are evenly spaced across it, the loop is one BLAS call. Vectors are matrices
    of one row or one column.

    Raises
    ------
    ImportError
        If SciPy is not installed.
    """
    ensure_blas()
    scalar = numpy_support.from_dtype(np.dtype(dtype))
    _resolve(get_blas_kind(scalar), np.dtype(dtype))
    dtypes = (np.dtype(dtype),)
    return RawSpec("matmul", _matmul(scalar), (str(scalar),), SIGNATURE, dtypes * 2, dtypes)


def _resolve(kind: str, dtype: np.dtype) -> None:
    """Multiply two numbers, so that SciPy's BLAS is not imported by a worker thread."""
    from numba import _helperlib

    integer, pointer = ctypes.c_ssize_t, ctypes.c_void_p
    arguments = [ctypes.c_char] * 3 + [integer] * 3
    arguments += [pointer, pointer, integer, pointer, integer, pointer, pointer, integer]
    gemm = ctypes.PYFUNCTYPE(ctypes.c_int, *arguments)(_helperlib.c_helpers["xxgemm"])
    one = np.ones(1, dtype)
    result = np.zeros(1, dtype)
    x, y = one.ctypes.data, result.ctypes.data
    gemm(kind.encode(), b"n", b"n", 1, 1, 1, x, x, 1, x, 1, x, y, 1)


@intrinsic
def gemm(typingctx, dtype, transb, transa, n, m, k, b, ldb, a, lda, c, ldc):
    """Write ``C = op(A) op(B)`` by rows; the flags are ``PLAIN`` or ``TRANSPOSED``."""
    scalar = scalar_type(dtype)
    kind = get_blas_kind(scalar)
    integers = (types.int64,) * 11

    def codegen(context, builder, signature, args):
        transb, transa, n, m, k, b, ldb, a, lda, c, ldc = args[1:]
        function = cgutils.get_or_insert_function(builder.module, GEMM_TYPE, "numba_xxgemm")
        one, zero = (_constant(context, builder, scalar, value) for value in (1.0, 0.0))
        flags = [builder.trunc(flag, _CHAR) for flag in (transb, transa)]
        b, a, c = (builder.inttoptr(address, _VOID) for address in (b, a, c))
        kind_code = ir.Constant(_CHAR, ord(kind))
        builder.call(function, [kind_code, *flags, n, m, k, one, b, ldb, a, lda, zero, c, ldc])
        return context.get_dummy_value()

    return types.void(dtype, *integers), codegen


def _constant(context, builder, scalar: types.Type, value: float) -> ir.Value:
    """Pointer to a constant of the kernel's dtype."""
    constant = context.get_constant_generic(builder, scalar, scalar(value))
    slot = cgutils.alloca_once_value(builder, constant)
    return builder.bitcast(slot, _VOID)


@register_jitable
def _leading(rows, columns, row_stride, column_stride, itemsize):
    """Distance in items between rows that are stored as such, else 0."""
    if columns > 1 and column_stride != itemsize:
        return 0
    if rows <= 1:
        return max(columns, 1)
    if row_stride % itemsize != 0 or row_stride < columns * itemsize:
        return 0
    return row_stride // itemsize


@register_jitable
def _shared_right(strides, steps, m, k, n, itemsize):
    """Row distance of A if one product can replace the loop: B is shared, A and C go on evenly."""
    row = load_word(steps, 0) if m == 1 else load_word(strides, 0)
    even = load_word(steps, 1) == 0 and load_word(steps, 0) == m * row
    if even and load_word(steps, 2) == m * n * itemsize:
        return row
    return 0


def _matmul(scalar: types.Type):
    """Build the kernel function for one dtype."""
    dtype = numpy_support.as_dtype(scalar)
    itemsize = dtype.itemsize
    zero = dtype.type(0)

    @register_jitable
    def strided(a, b, c, m, k, n, strides):
        """Multiply a pair of matrices of any strides without BLAS."""
        am, ak, bk, bn = strides
        for i in range(m):
            for j in range(n):
                total = zero
                for p in range(k):
                    x = load(a + i * am + p * ak, scalar)
                    total += x * load(b + p * bk + j * bn, scalar)
                store(c + (i * n + j) * itemsize, total)

    @register_jitable
    def product(a, b, c, m, k, n, strides):
        """Multiply one pair of matrices, by BLAS where it knows their strides."""
        am, ak, bk, bn = strides
        lda = _leading(m, k, am, ak, itemsize)
        lda_t = _leading(k, m, ak, am, itemsize)
        ldb = _leading(k, n, bk, bn, itemsize)
        ldb_t = _leading(n, k, bn, bk, itemsize)
        if (lda == 0 and lda_t == 0) or (ldb == 0 and ldb_t == 0):
            strided(a, b, c, m, k, n, strides)
            return
        flag_a, flag_b = PLAIN, PLAIN
        if lda == 0:
            flag_a, lda = TRANSPOSED, lda_t
        if ldb == 0:
            flag_b, ldb = TRANSPOSED, ldb_t
        gemm(scalar, flag_b, flag_a, n, m, k, b, ldb, a, lda, c, n)

    def matmul(ptrs, n, core_dims, steps, status):
        rows, columns = load_word(core_dims, 0), load_word(core_dims, 2)
        inner = load_word(core_dims, 1)
        if rows == 0 or columns == 0:
            return
        a, b, c = load_word(ptrs, 0), load_word(ptrs, 1), load_word(ptrs, 2)
        table = steps + 24
        strides = load_word(table, 0), load_word(table, 1), load_word(table, 2), load_word(table, 3)
        row = _shared_right(table, steps, rows, inner, columns, itemsize)
        if row > 0 and _leading(n * rows, inner, row, strides[1], itemsize) > 0:
            folded = row, strides[1], strides[2], strides[3]
            done, total = 0, n * rows
            while done < total:
                part = min(total - done, MAX_ROWS)
                target = c + done * columns * itemsize
                product(a + done * row, b, target, part, inner, columns, folded)
                done += part
            return
        for _ in range(n):
            product(a, b, c, rows, inner, columns, strides)
            a += load_word(steps, 0)
            b += load_word(steps, 1)
            c += load_word(steps, 2)

    return matmul
