"""Make sparse arrays from blocks, products, triangles, and what SciPy's constructors take."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...functions.array.argument_checks import integer, sequence
from ...functions.array.operands import as_tensor
from ...functions.products.sparse import is_sparse
from ...functions.shape.joining import concat
from .array import SparseArray, at_places, of_scipy
from .assembly import coo, csr, size_of


def kron(A: Any, B: Any, format: str | None = None) -> SparseArray:  # noqa: A002
    """Return the Kronecker product of two sparse arrays.

    Parameters
    ----------
    A, B : SparseArray, sparse array of SciPy or array_like
    format : str, optional
        Accepted as in SciPy, and without effect: there is one format.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.sparse.kron(ng.sparse.eye(2), ng.sparse.diags([[3.0, 4.0]], [0])).diagonal().tolist()
    [3.0, 4.0, 3.0, 4.0]
    """
    return _sparse(A, "kron")._terms(_sparse(B, "kron"), "kron")


def block_array(
    blocks: Sequence[Sequence[Any]],
    format: str | None = None,  # noqa: A002
) -> SparseArray:
    """Return the sparse array made of blocks, such as the matrix of a problem with constraints.

    Parameters
    ----------
    blocks : sequence of sequences
        The rows of blocks, which are sparse or dense matrices; None stands for a block of zeros.
    format : str, optional
        Accepted as in SciPy, and without effect: there is one format.

    Examples
    --------
    >>> import numgrad as ng
    >>> A = ng.sparse.block_array([[None, ng.sparse.eye(1)], [2 * ng.sparse.eye(1), None]])
    >>> A.toarray().tolist()
    [[0.0, 1.0], [2.0, 0.0]]
    """
    rows = [sequence(row, "each row of blocks") for row in sequence(blocks, "blocks")]
    given = [[b if b is None else _sparse(b, "block_array") for b in row] for row in rows]
    return _joined(given)


def _joined(given: Sequence[Sequence[SparseArray | None]]) -> SparseArray:
    parts = [b for row in given for b in row if b is not None]
    if not parts:
        raise ValueError("block_array: there is no block")

    def placed(*numbered: Any) -> Any:
        from scipy import sparse as scipy_sparse

        left = iter(numbered)
        return scipy_sparse.block_array(
            [[b if b is None else next(left) for b in row] for row in given]
        )

    first, *others = (b.structure for b in parts)
    form = tuple(tuple(b is None for b in row) for row in given)
    structure, moves = first.cached(
        ("blocks", form, *others), lambda: first.by_scipy(placed, *others)
    )
    return SparseArray(moves(concat([as_tensor(b.data) for b in parts])), structure)


def vstack(blocks: Sequence[Any], format: str | None = None, dtype: Any = None) -> SparseArray:  # noqa: A002
    """Return the sparse array of blocks below one another.

    Parameters
    ----------
    blocks : sequence
        Sparse or dense matrices.
    format : str, optional
        Accepted as in SciPy, and without effect: there is one format.
    dtype : dtype, optional

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.sparse.vstack([ng.sparse.eye(2), [[5.0, 6.0]]]).toarray().tolist()
    [[1.0, 0.0], [0.0, 1.0], [5.0, 6.0]]
    """
    parts = sequence(blocks, "blocks")
    return _as_dtype(_joined([[_sparse(block, "vstack")] for block in parts]), dtype)


def hstack(blocks: Sequence[Any], format: str | None = None, dtype: Any = None) -> SparseArray:  # noqa: A002
    """Return the sparse array of blocks beside one another.

    Parameters
    ----------
    blocks : sequence
        Sparse or dense matrices.
    format : str, optional
        Accepted as in SciPy, and without effect: there is one format.
    dtype : dtype, optional

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.sparse.hstack([ng.sparse.eye(2), [[5.0], [6.0]]]).toarray().tolist()
    [[1.0, 0.0, 5.0], [0.0, 1.0, 6.0]]
    """
    parts = sequence(blocks, "blocks")
    return _as_dtype(_joined([[_sparse(block, "hstack") for block in parts]]), dtype)


def block_diag(mats: Sequence[Any], format: str | None = None, dtype: Any = None) -> SparseArray:  # noqa: A002
    """Return the sparse array with blocks along its diagonal.

    Parameters
    ----------
    mats : sequence
        Sparse or dense matrices; a vector is one row, a number one element.
    format : str, optional
        Accepted as in SciPy, and without effect: there is one format.
    dtype : dtype, optional

    Examples
    --------
    >>> import numgrad as ng
    >>> k = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.sparse.block_diag([k[0], ng.sparse.diags(k)]).toarray().tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0]]
    """
    parts = [_sparse(block, "block_diag") for block in sequence(mats, "mats")]
    rows = [[b if n == m else None for m in range(len(parts))] for n, b in enumerate(parts)]
    return _as_dtype(_joined(rows), dtype)


def tril(A: Any, k: int = 0, format: str | None = None) -> SparseArray:  # noqa: A002
    """Return the sparse array of the elements on a diagonal and below.

    Parameters
    ----------
    A : SparseArray, sparse array of SciPy or array_like
    k : int
        Which diagonal: above the main one positive, below it negative.
    format : str, optional
        Accepted as in SciPy, and without effect: there is one format.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.sparse.tril([[1.0, 2.0], [3.0, 4.0]]).toarray().tolist()
    [[1.0, 0.0], [3.0, 4.0]]
    """
    return _triangle(_sparse(A, "tril"), "tril", k)


def triu(A: Any, k: int = 0, format: str | None = None) -> SparseArray:  # noqa: A002
    """Return the sparse array of the elements on a diagonal and above.

    Parameters
    ----------
    A : SparseArray, sparse array of SciPy or array_like
    k : int
        Which diagonal: above the main one positive, below it negative.
    format : str, optional
        Accepted as in SciPy, and without effect: there is one format.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.sparse.triu([[1.0, 2.0], [3.0, 4.0]], k=1).toarray().tolist()
    [[0.0, 2.0], [0.0, 0.0]]
    """
    return _triangle(_sparse(A, "triu"), "triu", k)


def _triangle(A: SparseArray, name: str, k: int) -> SparseArray:
    k = integer(k, "k")

    def cut(numbered: Any) -> Any:
        from scipy import sparse as scipy_sparse

        return getattr(scipy_sparse, name)(numbered, k)

    return A.moved((name, k), cut)


def csr_array(
    arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False
) -> SparseArray:
    """Return a sparse array, from any argument that SciPy's constructor of this name takes.

    Parameters
    ----------
    arg1 : SparseArray, sparse array of SciPy, array_like or tuple
        ``(data, (rows, columns))``, ``(data, indices, indptr)``, a shape, or a matrix. Of a tensor
        all elements are stored, of an array of numbers those that are not 0.
    shape : tuple of int, optional
    dtype : dtype, optional
    copy : bool, optional
        Accepted as in SciPy, and without effect: sparse arrays are never written.

    See Also
    --------
    coo, csr : Make a sparse array from numbers and their places.

    Examples
    --------
    >>> import numgrad as ng
    >>> k = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.sparse.csr_array((k, ([0, 1], [1, 0])), shape=(2, 2)).toarray().tolist()
    [[0.0, 1.0], [2.0, 0.0]]
    """
    return _as_dtype(_constructed(arg1, shape, csr), dtype)


def csc_array(
    arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False
) -> SparseArray:
    """Return a sparse array, from any argument that SciPy's constructor of this name takes.

    The arguments are those of `csr_array`, but ``(data, indices, indptr)`` has the numbers column
    by column.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.sparse.csc_array(([1.0, 2.0, 3.0], [0, 0, 1], [0, 1, 3])).toarray().tolist()
    [[1.0, 2.0], [0.0, 3.0]]
    """

    def by_columns(data: Any, indices: Any, indptr: Any, shape: Any) -> SparseArray:
        return csr(data, indices, indptr, None if shape is None else shape[::-1]).T

    return _as_dtype(_constructed(arg1, shape, by_columns), dtype)


coo_array, bmat = csr_array, block_array


def _constructed(arg1: Any, shape: Any, compressed: Callable[..., SparseArray]) -> SparseArray:
    if isinstance(arg1, tuple) and len(arg1) == 3:
        return compressed(*arg1, shape)
    if isinstance(arg1, tuple) and len(arg1) == 2:
        if np.ndim(arg1[1]) or isinstance(arg1[1], (tuple, list)):
            return coo(*arg1, shape)
        return coo(np.zeros(0), (np.zeros(0, int), np.zeros(0, int)), arg1)
    found = _sparse(arg1, "csr_array")
    if shape is not None and size_of(shape) != found.shape:
        raise ValueError(f"csr_array: a matrix of shape {found.shape}, and shape={shape}")
    return found


def _as_dtype(A: SparseArray, dtype: Any) -> SparseArray:
    if dtype is None:
        return A
    try:
        return A.astype(np.dtype(dtype))
    except TypeError as error:
        raise TypeError(f"dtype={dtype!r}: {error}") from None


def _sparse(A: Any, what: str) -> SparseArray:
    """Return a matrix as a `SparseArray`; ``what`` is the name of the function for errors.

    Of a dense tensor all elements are stored, of an array of numbers those that are not 0.
    """
    if isinstance(A, SparseArray):
        return A
    if is_sparse(A):
        return of_scipy(A)
    dense = as_tensor(A)
    if dense.ndim > 2:
        raise ValueError(f"{what} takes matrices, got an array of shape {dense.shape}")
    dense = dense.reshape((1,) * (2 - dense.ndim) + dense.shape)
    stored = np.ones(dense.shape, bool) if isinstance(A, Tensor) else dense.numpy() != 0
    rows, columns = np.nonzero(stored)
    return at_places(dense[rows, columns], rows, columns, dense.shape)
