"""Make sparse arrays from numbers and their places, as with the functions of ``scipy.sparse``."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..._errors import ArgTypeError
from ..._tensor import ArrayLike, Tensor
from ...functions.array.argument_checks import integer, integers, pair
from ...functions.array.operands import as_tensor
from ...functions.shape.joining import concat
from ...functions.shape.repeating import broadcast_to
from .array import SparseArray, at_places
from .structure import indices_of


def csr(
    data: ArrayLike, indices: ArrayLike, indptr: ArrayLike, shape: Any = None
) -> SparseArray:
    """Return the sparse array of numbers that are stored row by row.

    Parameters
    ----------
    data : array_like, shape (nnz,)
        The numbers.
    indices, indptr : array_like of int
        The columns of the numbers; where each row begins among them, and the last one ends.
    shape : tuple of int, optional
        By default as many columns as the greatest index asks for.

    Returns
    -------
    SparseArray
        Its numbers are sorted by columns in each row, and numbers at one place are added.

    Raises
    ------
    ValueError
        If numbers, places and shape do not fit.

    Examples
    --------
    >>> import numgrad as ng
    >>> data = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> A = ng.sparse.csr(data, [0, 0, 1], [0, 1, 3], shape=(2, 2))
    >>> A.toarray().tolist()
    [[1.0, 0.0], [2.0, 3.0]]
    >>> ng.grad(A.sum(axis=0)[0], data)[0]
    tensor([1., 1., 0.])
    """
    columns, starts = indices_of(indices, "csr"), indices_of(indptr, "csr")
    counts = np.diff(starts)
    if not starts.size or starts[0] or (counts < 0).any() or starts[-1] != columns.size:
        raise ValueError(f"csr: indptr begins with 0, never falls, and ends with the number of "
                         f"indices, {columns.size}")  # fmt: skip
    rows = np.repeat(np.arange(counts.size), counts)
    shape = (counts.size, int(columns.max(initial=-1)) + 1) if shape is None else shape
    if shape[0] != counts.size:
        raise ValueError(f"csr: indptr is of {counts.size} rows, shape of {shape[0]}")
    return _placed(data, rows, columns, shape, "csr")


def coo(data: ArrayLike, coords: Any, shape: Any = None) -> SparseArray:
    """Return the sparse array with numbers at places in any order; those at one place are added.

    Parameters
    ----------
    data : array_like, shape (k,)
        The numbers, such as the elements of all element matrices of a mesh.
    coords : pair of array_like of int
        The rows and the columns of the numbers.
    shape : tuple of int, optional
        By default as many rows and columns as the greatest indices ask for.

    Raises
    ------
    ValueError
        If numbers, places and shape do not fit.

    Notes
    -----
    The places are sorted once for each pair of index arrays: their order is kept.

    Examples
    --------
    >>> import numgrad as ng
    >>> data = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> A = ng.sparse.coo(data, ([1, 0, 1], [0, 1, 0]), shape=(2, 2))
    >>> A.toarray().tolist()
    [[0.0, 2.0], [4.0, 0.0]]
    >>> ng.grad(A.data[1] ** 2, data)[0]
    tensor([8., 0., 8.])
    """
    given = pair(coords, "coords", "rows and columns")
    rows, columns = (indices_of(part, "coo") for part in given)
    if shape is None:
        shape = tuple(int(index.max(initial=-1)) + 1 for index in (rows, columns))
    return _placed(data, rows, columns, shape, "coo")


def size_of(shape: Any) -> tuple[int, int]:
    """Return a shape as a pair of integers."""
    m, n = pair(shape, "shape", "rows and columns")
    return integer(m, "shape"), integer(n, "shape")


def _placed(
    data: ArrayLike, rows: np.ndarray, columns: np.ndarray, shape: Any, what: str
) -> SparseArray:
    m, n = size_of(shape)
    data = as_tensor(data)
    if not data.shape == rows.shape == columns.shape:
        raise ValueError(
            f"{what}: one number for each place, got data of shape {data.shape} for {rows.size} "
            f"rows and {columns.size} columns; a batch is mapped over with ng.func.vmap"
        )
    for name, index, size in (("row", rows, m), ("column", columns, n)):
        if index.size and not (index.min() >= 0 and index.max() < size):
            raise ValueError(f"{what}: {name} indices from {index.min()} to {index.max()}, but "
                             f"the shape is {(m, n)}")  # fmt: skip
    return at_places(data, rows, columns, (m, n))


def diags(
    diagonals: Any,
    offsets: Any = 0,
    shape: Any = None,
    format: str | None = None,  # noqa: A002
    dtype: Any = None,
) -> SparseArray:
    """Return the sparse array with given diagonals.

    Parameters
    ----------
    diagonals : sequence of array_like
        One diagonal for each offset. With `shape` a diagonal may be a single number, which all of
        its elements are.
    offsets : int or sequence of int
        Where each diagonal lies: above the main diagonal positive, below it negative.
    shape : tuple of int, optional
        By default square, and as large as the first diagonal asks for.
    format : str, optional
        Accepted as in SciPy, and without effect: there is one format.
    dtype : dtype, optional
        By default that of the diagonals.

    Raises
    ------
    ValueError
        If a diagonal does not fit, or an offset comes twice.

    Examples
    --------
    >>> import numgrad as ng
    >>> k = ng.tensor(2.0, requires_grad=True)
    >>> A = ng.sparse.diags([-k, 2 * k, -k], [-1, 0, 1], shape=(3, 3))
    >>> A.toarray().tolist()
    [[4.0, -2.0, 0.0], [-2.0, 4.0, -2.0], [0.0, -2.0, 4.0]]
    >>> ng.grad(A.sum(), k)[0]
    tensor(2.)
    """
    if isinstance(diagonals, str | Mapping) or not hasattr(diagonals, "__len__"):
        kind = type(diagonals).__name__
        raise ArgTypeError(f"diags: diagonals must be a vector or a sequence of them, got {kind}")
    if np.ndim(offsets) == 0:
        is_alone = not len(diagonals) or not _ndim(diagonals[0])
        if not is_alone and len(diagonals) != 1:
            raise ValueError("diags: different numbers of diagonals and offsets")
        diagonals, offsets = [diagonals] if is_alone else diagonals, [offsets]
    parts = [as_tensor(part).reshape(-1) for part in diagonals]
    offsets = integers(offsets, "offsets")
    if len(parts) != len(offsets) or len(set(offsets)) != len(offsets) or not parts:
        raise ValueError(f"diags: {len(parts)} diagonals for the offsets {offsets}, each of which "
                         f"comes once")  # fmt: skip
    m, n = (parts[0].size + abs(offsets[0]),) * 2 if shape is None else size_of(shape)
    sizes = [min(m + k, n - k, m, n) for k in offsets]
    numbers = [
        _fitted(part, size, k, (m, n))
        for part, size, k in zip(parts, sizes, offsets, strict=True)
    ]
    rows = [np.arange(size) + max(-k, 0) for size, k in zip(sizes, offsets, strict=True)]
    columns = [row + k for row, k in zip(rows, offsets, strict=True)]
    data = concat(numbers)
    data = data if dtype is None else data.astype(dtype)
    return at_places(data, np.concatenate(rows), np.concatenate(columns), (int(m), int(n)))


def _ndim(x: Any) -> int:
    return x.ndim if isinstance(x, Tensor) else np.ndim(x)


def _fitted(part: Tensor, size: int, offset: int, shape: tuple[int, int]) -> Tensor:
    """Return a diagonal as ``size`` elements: one number is repeated, surplus ones are dropped."""
    if size < 0:
        raise ValueError(f"diags: offset {offset} is outside of a matrix of shape {shape}")
    if part.size == 1:
        return broadcast_to(part, (size,))
    if part.size < size:
        raise ValueError(f"diags: {part.size} elements at offset {offset} of a matrix of shape "
                         f"{shape}, which takes {size}")  # fmt: skip
    return part[:size]


def eye(
    m: int,
    n: int | None = None,
    k: int = 0,
    dtype: Any = float,
    format: str | None = None,  # noqa: A002
) -> SparseArray:
    """Return the sparse array with ones on a diagonal.

    Parameters
    ----------
    m, n : int
        The numbers of rows and of columns; by default ``n`` is ``m``.
    k : int
        Which diagonal: above the main one positive, below it negative.
    dtype : dtype
    format : str, optional
        Accepted as in SciPy, and without effect: there is one format.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.sparse.eye(2, 3, k=1).toarray().tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    m = integer(m, "m")
    shape = m, m if n is None else integer(n, "n")
    return diags([np.ones(1, dtype)], [integer(k, "k")], shape=shape)


identity, eye_array, diags_array = eye, eye, diags
