"""Products of matrices by cuBLAS, if cuBLAS is installed and can read the strides.

TensorFloat-32 and atomic additions are off, which is the default of cuBLAS. Each stream has a
handle of its own, as results may vary if several streams share one. The module was checked with
nvmath-python 1.0, without a GPU.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ....process.fork_locks import fork_safe_lock
from ..kernels.tiles import Matrix, Product, folded, transposed
from .optional_library import loaded

_CALLS = {"f": "sgemm", "d": "dgemm", "F": "cgemm", "D": "zgemm"}


class Gemm(NamedTuple):
    """The arguments of a call of cuBLAS's gemm, for matrices that are stored by columns.

    Attributes
    ----------
    dtype : dtype
    sizes : tuple of int
        Whether the first factor is transposed, and whether the second is, each as 0 or 1; then the
        numbers of rows, of columns and of terms.
    lies : tuple of (int, int)
        For both factors and the result the elements from column to column, and from one matrix of
        the batch to the next.
    batch : int
        The number of products.
    places : tuple of Place
        The places of both factors and the result.
    """

    dtype: np.dtype
    sizes: tuple[int, int, int, int, int]
    lies: tuple[tuple[int, int], ...]
    batch: int
    places: tuple[Any, ...]


def gemm(product: Product, dtype: np.dtype) -> Gemm | None:
    """Return the arguments for a product of matrices, or None if cuBLAS cannot read the strides.

    A result that is stored by rows is its own transpose to cuBLAS, which reads by columns: so the
    product of the transposed factors, in reverse order, is tried first.
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
    # The lines of the right factor are its columns; see `Matrix`.
    first, second, to = _leading(left, m, k), _leading(right, n, k), _by_columns(out, m, n)
    if first is None or second is None or to is None or min(strides) < 0:
        return None
    if batch > 1 and strides[2] < (n - 1) * to + m:
        return None
    lies = tuple(zip((first[1], second[1], to), strides, strict=True))
    sizes = (int(first[0]), int(not second[0]), m, n, k)
    return Gemm(dtype, sizes, lies, batch, (left.place, right.place, out.place))


def _leading(matrix: Matrix, lines: int, terms: int) -> tuple[bool, int] | None:
    """Return whether cuBLAS has to transpose a factor, and its leading dimension; or None.

    The factor is transposed if its lines are contiguous, and not if its columns are. The result is
    None if neither are. The leading dimension is the distance of lines, or of columns, in elements.
    """
    across = _by_columns(matrix, lines, terms)
    if across is not None:
        return False, across
    along = _by_columns(matrix._replace(line=matrix.step, step=matrix.line), terms, lines)
    return None if along is None else (True, along)


def _by_columns(matrix: Matrix, rows: int, cols: int) -> int | None:
    """Return the distance of columns in elements, or None if a column is not contiguous."""
    if rows != 1 and matrix.line != 1:
        return None
    if cols == 1:
        return rows
    return matrix.step if matrix.step >= rows else None


class Blas:
    """The calls of cuBLAS, for the driver of a GPU.

    Parameters
    ----------
    library : module
        The bindings of cuBLAS.
    resolve : callable
        Takes pointers and a stream as the driver has them, and returns their addresses.
    """

    def __init__(self, library: Any, resolve: Callable[[Sequence[Any], Any], Any]) -> None:
        self._library, self._resolve = library, resolve
        self._handles: dict[int, int] = {}
        self._scalars = {char: np.array([1, 0], char) for char in _CALLS}
        self._lock = fork_safe_lock()  # a handle is for one thread at a time

    def multiply(self, gemm: Gemm, pointers: Sequence[Any], on: Any) -> None:
        """Compute a product on the stream ``on``; ``pointers`` are those of factors and result."""
        (a, b, c), stream = self._resolve(pointers, on)
        scalars, (lies_a, lies_b, lies_c) = self._scalars[gemm.dtype.char], gemm.lies
        one = scalars.ctypes.data
        zero = one + scalars.itemsize
        call = getattr(self._library, f"{_CALLS[gemm.dtype.char]}_strided_batched_64")
        with self._lock:
            handle = self._handles.get(stream) or self._library.create()
            self._handles[stream] = handle
            self._library.set_stream(handle, stream)  # addresses of streams are used again
            call(handle, *gemm.sizes, one, a, *lies_a, b, *lies_b, zero, c, *lies_c, gemm.batch)


def found(resolve: Callable[[Sequence[Any], Any], Any]) -> Blas | None:
    """Return the calls of cuBLAS for the driver of a GPU; None if cuBLAS cannot be loaded."""
    library = loaded(_load)
    return None if library is None else Blas(library, resolve)


def _load() -> Any:
    """Return the bindings, after a call that loads the library."""
    from nvmath.bindings import cublas  # pyright: ignore[reportMissingImports]

    cublas.get_cudart_version()
    return cublas
