"""Products of matrices by cuBLAS, where it is installed and can read the strides.

TensorFloat-32 and atomic additions are off, which is cuBLAS's default, and each stream has its own
handle: with one handle for several streams results may vary. Checked with nvmath-python 1.0,
without a GPU.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ....process.fork_locks import fork_safe_lock
from ..kernels.tiles import Matrix, Product, folded, transposed

_CALLS = {"f": "sgemm", "d": "dgemm", "F": "cgemm", "D": "zgemm"}


class Gemm(NamedTuple):
    """The arguments of a call of BLAS, which stores matrices by columns.

    Attributes
    ----------
    dtype : dtype
    sizes : tuple of int
        Whether the first and second factor are transposed; rows, columns and terms.
    lies : tuple of (int, int)
        Elements from column to column, and from matrix to matrix, of the factors and the result.
    batch : int
        The number of products.
    places : tuple
        The places of the matrices.
    """

    dtype: np.dtype
    sizes: tuple[int, int, int, int, int]
    lies: tuple[tuple[int, int], ...]
    batch: int
    places: tuple[Any, ...]


def gemm(product: Product, dtype: np.dtype) -> Gemm | None:
    """Return the call that computes a product; None if BLAS cannot read its matrices.

    Read by columns, a result stored by rows is its transpose: the product of the transposes.
    """
    if product.inner == 0 or dtype.char not in _CALLS:
        return None
    for one in (folded(product), product):
        found = _call(transposed(one), dtype) or _call(one, dtype)
        if found is not None:
            return found
    return None


def _call(product: Product, dtype: np.dtype) -> Gemm | None:
    if len(product.loop) > 1:
        return None
    loop, m, k, n, left, right, out = product
    (batch,) = loop or (1,)
    strides = [(matrix.loop or (0,))[0] for matrix in (left, right, out)]
    # A line of the right factor is a column.
    first, second, to = _leading(left, m, k), _leading(right, n, k), _by_columns(out, m, n)
    if first is None or second is None or to is None or min(strides) < 0:
        return None
    if batch > 1 and strides[2] < (n - 1) * to + m:
        return None
    lies = tuple(zip((first[1], second[1], to), strides, strict=True))
    sizes = (int(first[0]), int(not second[0]), m, n, k)
    return Gemm(dtype, sizes, lies, batch, (left.place, right.place, out.place))


def _leading(matrix: Matrix, lines: int, terms: int) -> tuple[bool, int] | None:
    """Return whether a line is contiguous, and the distance of lines, or else of terms; or None."""
    across = _by_columns(matrix, lines, terms)
    if across is not None:
        return False, across
    along = _by_columns(matrix._replace(line=matrix.step, step=matrix.line), terms, lines)
    return None if along is None else (True, along)


def _by_columns(matrix: Matrix, rows: int, cols: int) -> int | None:
    """Return the distance of columns whose elements are contiguous; None for other columns."""
    if rows != 1 and matrix.line != 1:
        return None
    if cols == 1:
        return rows
    return matrix.step if matrix.step >= rows else None


class Blas:
    """cuBLAS for a driver: ``resolve`` returns the addresses of its pointers and its stream."""

    def __init__(self, library: Any, resolve: Callable[[Sequence[Any], Any], Any]) -> None:
        self._library, self._resolve = library, resolve
        self._handles: dict[int, int] = {}
        self._scalars = {char: np.array([1, 0], char) for char in _CALLS}
        self._lock = fork_safe_lock()  # a handle is for one thread at a time

    def multiply(self, gemm: Gemm, pointers: Sequence[Any], on: Any) -> None:
        """Call the library on a stream."""
        (a, b, c), stream = self._resolve(pointers, on)
        scalars, (lies_a, lies_b, lies_c) = self._scalars[gemm.dtype.char], gemm.lies
        one = scalars.ctypes.data
        zero = one + scalars.itemsize
        call = getattr(self._library, f"{_CALLS[gemm.dtype.char]}_strided_batched_64")
        with self._lock:
            handle = self._handles.get(stream) or self._library.create()
            self._handles[stream] = handle
            self._library.set_stream(handle, stream)  # a new stream may have an old one's address
            call(handle, *gemm.sizes, one, a, *lies_a, b, *lies_b, zero, c, *lies_c, gemm.batch)


def found(resolve: Callable[[Sequence[Any], Any], Any]) -> Blas | None:
    """Return cuBLAS for the driver of a GPU; None if it is not installed."""
    try:
        from nvmath.bindings import cublas  # pyright: ignore[reportMissingImports]

        cublas.get_cudart_version()  # the call loads cuBLAS
    except (ImportError, RuntimeError):
        return None
    return Blas(cublas, resolve)
