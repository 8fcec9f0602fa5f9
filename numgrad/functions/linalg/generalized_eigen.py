"""Generalized eigenvalue problems, reduced to those of one matrix; parts of a spectrum."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.guards import guarded
from ...operators.elementwise.arithmetic import add
from ...operators.linalg.matmul import adjoint, matmul
from ..shape.diagonals import tril
from .systems import cholesky_factor, floating_matrices
from .triangular import solve_triangular

Back = Callable[[Tensor], Tensor]


def mirrored(a: ArrayLike, lower: bool, caller: str, turned: Any = adjoint) -> Tensor:
    """Return matrices of which one triangle is given: Hermitian ones, or what equals ``turned`` of
    it."""
    a = floating_matrices(a, caller)
    a = a if lower else turned(a)
    return add(tril(a), turned(tril(a, -1)))


def reduced(a: ArrayLike, b: ArrayLike, kind: int, lower: bool, caller: str) -> tuple[Tensor, Back]:
    """Return a Hermitian matrix with the eigenvalues of a problem with two, and what turns its
    eigenvectors into those of the problem.

    With :math:`B = L L^H` they are those of :math:`L^{-1} A L^{-H}` for :math:`A v = w B v`, the
    first kind, and of :math:`L^H A L` for :math:`A B v = w v` and :math:`B A v = w v` (Martin and
    Wilkinson 1968).

    Raises
    ------
    ValueError
        If the kind is none of 1, 2 and 3, or the shapes differ.
    numpy.linalg.LinAlgError
        If ``b`` is not positive definite.
    """
    if kind not in (1, 2, 3):
        raise ValueError(f"{caller}: type={kind!r} is none of 1, 2 and 3")
    a = mirrored(a, lower, caller)
    factor = cholesky_factor(mirrored(b, lower, caller), False, caller)
    if a.shape[-1] != factor.shape[-1]:
        raise ValueError(f"{caller}: matrices of shapes {a.shape} and {factor.shape} do not fit")

    def away(x: Tensor) -> Tensor:
        return solve_triangular(factor, x, lower=True)

    def back(x: Tensor) -> Tensor:
        return solve_triangular(factor, x, trans="C", lower=True)

    if kind == 1:
        return away(adjoint(away(a))), back
    matrix = matmul(adjoint(factor), matmul(a, factor))
    return matrix, back if kind == 2 else lambda x: matmul(factor, x)


def chosen(w: Tensor, by_index: Any, by_value: Any, caller: str) -> slice:
    """Return which of the eigenvalues in ascending order are asked for."""
    if by_value is not None:
        if by_index is not None:
            raise ValueError(f"{caller}: subset_by_index and subset_by_value exclude each other")
        if w.ndim != 1:
            raise ValueError(f"{caller}: subset_by_value is for one matrix, got shape {w.shape}")
        low, high = np.searchsorted(np.asarray(w.detach()), guarded(by_value), side="right")
        return slice(int(low), int(high))
    if by_index is None:
        return slice(None)
    low, high = (int(i) for i in guarded(by_index))
    if not 0 <= low <= high < w.shape[-1]:
        raise ValueError(
            f"{caller}: subset_by_index={[low, high]} is no range of {w.shape[-1]} eigenvalues"
        )
    return slice(low, high + 1)
