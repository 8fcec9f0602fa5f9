"""Diagonals and triangles of matrices."""

from functools import lru_cache
from typing import Any

import numpy as np

from ..._declare import constant, registry
from ..._tensor import ArrayLike, Tensor
from ...engine.record.composition import composed
from ...engine.record.options import Steps
from ...operators.shape import indexing as _indexing
from ..array.axes import normalize_axis_index
from ..array.operands import as_tensor, whole


def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Return a diagonal of two axes, which become the last one, as a view.

    Parameters
    ----------
    a : array_like
    offset : int
        Positive above the main diagonal, negative below.
    axis1, axis2 : int
        Rows and columns.

    Raises
    ------
    ValueError
        If both axes are the same, or there are fewer than two.

    Notes
    -----
    The gradient of ``a`` is zero but on the diagonal.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.diagonal(ng.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1., 4.])
    """
    return _diagonal.call(as_tensor(a), offset, axis1, axis2)


def diagonal_steps(
    x: Tensor, offset: int, axis1: int, axis2: int
) -> list[tuple[Any, dict[str, Any]]]:
    """Return the operator of `diagonal` and its static parameters."""
    if x.ndim < 2:
        raise ValueError(f"diagonal needs two axes at least, got shape {x.shape}")
    first, second = (normalize_axis_index(a, x.ndim) - x.ndim for a in (axis1, axis2))
    if first == second:
        raise ValueError("diagonal: axis1 and axis2 cannot be the same")
    return [(_indexing.diagonal, {"axes": (first, second), "offset": whole(offset)})]


_diagonal = Steps(diagonal_steps)


@composed
def diag(v: ArrayLike, k: int = 0) -> Tensor:
    """Return a diagonal of a matrix, or the matrix that has the vector ``v`` as a diagonal.

    Parameters
    ----------
    v : array_like
        A vector or a matrix.
    k : int
        Which diagonal: 0 is the main one, positive ones are above.

    Raises
    ------
    ValueError
        If ``v`` has neither one nor two axes.

    Notes
    -----
    The gradient of a vector is the diagonal of the matrix's, and the other way round.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.diag(ng.tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])
    """
    v = as_tensor(v)
    if v.ndim == 2:
        return diagonal(v, k)
    if v.ndim != 1:
        raise ValueError(f"diag needs a vector or a matrix, got shape {v.shape}")
    k = whole(k)
    size = v.shape[0] + abs(k)
    zeros = np.broadcast_to(np.zeros((), v.dtype), (size, size))
    chain = _indexing.as_chain([(_indexing.diagonal, {"axes": (-2, -1), "offset": k})])
    return _indexing.put_view(zeros, v, ncore=2, nregion=1, chain=chain)


@composed
def tril(m: ArrayLike, k: int = 0) -> Tensor:
    """Return the lower triangles of matrices: zero above diagonal ``k``.

    Parameters
    ----------
    m : array_like
        The last two axes are the matrices; a vector is repeated as the rows of one.
    k : int

    Raises
    ------
    ValueError
        For a 0-d tensor.

    Notes
    -----
    The gradient is the lower triangle too.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.tril(ng.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[1., 0.],
            [3., 4.]])
    """
    return _triangle(m, k, upper=False)


@composed
def triu(m: ArrayLike, k: int = 0) -> Tensor:
    """Return the upper triangles of matrices: zero below diagonal ``k``; see `tril`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.triu(ng.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[1., 2.],
            [0., 4.]])
    """
    return _triangle(m, k, upper=True)


def _triangle(x: ArrayLike, k: int, upper: bool) -> Tensor:
    x = as_tensor(x)
    if not x.ndim:
        raise ValueError("a triangle needs one axis at least")
    k = whole(k) - upper
    if x.ndim == 2 and x.size <= _FEW:
        return _kept.call(_mask(*x.shape, k, upper), x, _zero(x.dtype))
    kept = np.tri(x.shape[-2] if x.ndim > 1 else x.shape[0], x.shape[-1], k, dtype=bool) ^ upper
    return registry["where"](kept, x, np.zeros((), x.dtype))


_kept = Steps(lambda mask, x, zero: [(registry["where"], {})], registry["where"])
_FEW = 1 << 14


@lru_cache(64)
def _mask(rows: int, columns: int, k: int, upper: bool) -> Tensor:
    return constant(np.tri(rows, columns, k, dtype=bool) ^ upper)


@lru_cache
def _zero(dtype: np.dtype) -> Tensor:
    return constant(np.zeros((1, 1), dtype))
