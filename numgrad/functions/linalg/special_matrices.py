"""Matrices that are made of vectors or blocks, and systems with them."""

from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...operators.elementwise.cast import cast
from ...operators.shape.joining import concat
from ..array.operands import as_tensor, as_tensors
from ..elementwise.complex_parts import conj
from ..indexing.indexing import take
from ..shape.rearranging import flip
from ..shape.reshaping import atleast_1d
from .systems import solve


def block_diag(*arrs: ArrayLike) -> Tensor:
    """Return the matrix with these matrices on its diagonal, and zeros elsewhere.

    Parameters
    ----------
    *arrs : array_like
        Vectors count as one row; leading axes are equal or broadcast.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.block_diag([[1.0, 2.0]], [[3.0], [4.0]])
    tensor([[1., 2., 0.],
            [0., 0., 3.],
            [0., 0., 4.]])
    """
    blocks = as_tensors(*arrs) or [as_tensor(np.zeros((1, 0)))]
    blocks = [x.reshape(1, x.size) if x.ndim < 2 else x for x in blocks]
    dtype, width = np.result_type(*[x.dtype for x in blocks]), sum(x.shape[-1] for x in blocks)
    rows, before = [], 0
    for x in blocks:
        m, n = x.shape[-2:]
        left, right = np.zeros((m, before), dtype), np.zeros((m, width - before - n), dtype)
        rows.append(concat(as_tensor(left), cast(x, dtype), as_tensor(right), axis=-1))
        before += n
    return concat(*rows, axis=-2)


def _vectors(c: ArrayLike, r: ArrayLike) -> list[Tensor]:
    """Return a first column and the rest of a row or column, of one dtype; a number counts as a
    vector of one element."""
    pair = [atleast_1d(x) for x in as_tensors(c, r)]
    dtype = np.result_type(pair[0].dtype, pair[1].dtype)
    return [cast(x, dtype) for x in pair]


def toeplitz(c: ArrayLike, r: ArrayLike | None = None) -> Tensor:
    """Return the matrix that is constant along its diagonals.

    Parameters
    ----------
    c : array_like
        The first column.
    r : array_like, optional
        The first row, of which the first element is not read; by default the conjugate of ``c``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.toeplitz([1.0, 2.0], [1.0, 3.0, 4.0])
    tensor([[1., 3., 4.],
            [2., 1., 3.]])
    """
    c = as_tensor(c)
    c, r = _vectors(c, conj(c) if r is None else r)
    m, n = c.shape[-1], r.shape[-1]
    numbers = concat(flip(c, -1), r[..., 1:], axis=-1)
    return take(numbers, np.arange(n) - np.arange(m)[:, None] + (m - 1), axis=-1)


def hankel(c: ArrayLike, r: ArrayLike | None = None) -> Tensor:
    """Return the matrix that is constant along its antidiagonals.

    Parameters
    ----------
    c : array_like
        The first column.
    r : array_like, optional
        The last row, of which the first element is not read; zeros by default.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.hankel([1.0, 2.0], [2.0, 3.0, 4.0])
    tensor([[1., 2., 3.],
            [2., 3., 4.]])
    """
    c = as_tensor(c)
    if not (c.ndim and (r is None or np.ndim(r))):
        raise ValueError("hankel needs vectors, got a number")
    c, r = _vectors(c, np.zeros(c.shape, c.dtype) if r is None else r)
    numbers = concat(c, r[..., 1:], axis=-1)
    return take(numbers, np.arange(r.shape[-1]) + np.arange(c.shape[-1])[:, None], axis=-1)


def circulant(c: ArrayLike) -> Tensor:
    """Return the matrix of which each column is the one before, turned by a place.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.circulant([1.0, 2.0, 3.0])
    tensor([[1., 3., 2.],
            [2., 1., 3.],
            [3., 2., 1.]])
    """
    c = atleast_1d(as_tensor(c))
    places = np.arange(c.shape[-1])
    return take(c, (places[:, None] - places) % max(c.shape[-1], 1), axis=-1)


def solve_toeplitz(c_or_cr: Any, b: ArrayLike, check_finite: bool = True) -> Tensor:
    """Solve ``toeplitz(c, r) x = b``; ``c``, or the pair of ``c`` and ``r``, comes first.

    Notes
    -----
    It is `solve` with the whole matrix, which takes longer than Levinson's recursion.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.solve_toeplitz(([2.0, 0.0], [2.0, 1.0]), [3.0, 2.0])
    tensor([1., 1.])
    """
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)
    return solve(toeplitz(c, r), b)


def solve_circulant(c: ArrayLike, b: ArrayLike) -> Tensor:
    """Solve ``circulant(c) x = b``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.solve_circulant([2.0, 0.0, 1.0], [3.0, 3.0, 3.0])
    tensor([1., 1., 1.])
    """
    return solve(circulant(c), b)
