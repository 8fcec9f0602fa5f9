"""Eigenvalues of symmetric tridiagonal matrices."""

from typing import Any, Unpack

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ..array.operands import as_tensors
from ..shape.diagonals import diag
from .scipy_options import Hints, require_hints
from .spectral import eigh, eigvalsh

_SELECTED = {"a": None, "i": "subset_by_index", "v": "subset_by_value"}


def eigh_tridiagonal(
    d: ArrayLike,
    e: ArrayLike,
    eigvals_only: bool = False,
    select: str = "a",
    select_range: Any = None,
    **hints: Unpack[Hints],
) -> Any:
    """Return eigenvalues and eigenvectors of a symmetric tridiagonal matrix.

    Parameters
    ----------
    d, e : array_like
        The diagonal, and the one beside it.
    eigvals_only : bool
        Whether eigenvectors are not wanted.
    select : {"a", "v", "i"}
        All, those between the bounds ``select_range``, or those of its two places.
    select_range : pair of number, optional
        Bounds, of which the lower does not belong to them, or the places of the first and the last.
    **hints
        As SciPy's functions take them, see `numgrad.functions.linalg.scipy_options`.

    Returns
    -------
    tuple of Tensor
        Eigenvalues in ascending order, and eigenvectors as columns; or the first alone.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    Notes
    -----
    The gradients of an eigenvalue are :math:`v_i^2` and :math:`2 v_i v_{i+1}`. It is `eigh` of the
    whole matrix, and takes as long.

    Examples
    --------
    >>> import numgrad as ng
    >>> d = ng.tensor([2.0, 2.0], requires_grad=True)
    >>> w, v = ng.linalg.eigh_tridiagonal(d, [1.0])
    >>> ng.grad(w[0], d)[0]
    tensor([0.5, 0.5])
    """
    if hints:
        require_hints(hints, "eigh_tridiagonal")
    options = _range(select, select_range, "eigh_tridiagonal")
    matrix = _matrix(d, e, "eigh_tridiagonal")
    return eigh(matrix, eigvals_only=eigvals_only, **options)


def eigvalsh_tridiagonal(
    d: ArrayLike,
    e: ArrayLike,
    select: str = "a",
    select_range: Any = None,
    **hints: Unpack[Hints],
) -> Tensor:
    """Return the eigenvalues of a symmetric tridiagonal matrix; see `eigh_tridiagonal`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.eigvalsh_tridiagonal([2.0, 2.0], [1.0])
    tensor([1., 3.])
    """
    if hints:
        require_hints(hints, "eigvalsh_tridiagonal")
    options = _range(select, select_range, "eigvalsh_tridiagonal")
    return eigvalsh(_matrix(d, e, "eigvalsh_tridiagonal"), **options)


def _range(select: str, select_range: Any, caller: str) -> dict[str, Any]:
    key = str(select)[:1].lower()
    if key not in _SELECTED:
        raise ValueError(f"{caller}: select={select!r} is none of 'a', 'v' and 'i'")
    name = _SELECTED[key]
    return {} if name is None else {name: select_range}


def _matrix(d: ArrayLike, e: ArrayLike, caller: str) -> Tensor:
    d, e = as_tensors(d, e)
    if d.ndim != 1 or e.shape != (max(d.size - 1, 0),):
        raise ValueError(f"{caller}: shapes {d.shape} and {e.shape} do not fit")
    dtype = np.result_type(d.dtype, e.dtype, np.float32)
    d, e = d.astype(dtype, copy=False), e.astype(dtype, copy=False)
    return diag(d) + diag(e, -1) + diag(e, 1) if e.size else diag(d)
