"""Linear systems with matrices of a structure that the caller knows."""

import numpy as np

from ..._tensor import Tensor
from ...engine.record.guards import guarded
from ...operators.elementwise.arithmetic import multiply
from ..shape.diagonals import tril, triu
from ..shape.reshaping import matrix_transpose
from .generalized_eigen import mirrored
from .systems import floating_matrices, solve
from .triangular import cho_factor, cho_solve, solve_triangular

_FULL_NAMES = {
    "gen": "general", "sym": "symmetric", "her": "hermitian", "pos": "positive definite",
}  # fmt: skip
_STRUCTURES = (
    "general", "symmetric", "hermitian", "positive definite", "diagonal", "tridiagonal", "banded",
    "upper triangular", "lower triangular",
)  # fmt: skip


def solve_assumed(a: Tensor, b: Tensor, assume_a: str, lower: bool, transposed: bool) -> Tensor:
    """Solve ``a x = b``, reading of ``a`` what its structure has; see `solve`.

    Raises
    ------
    ValueError
        If the structure is none that SciPy names.
    """
    structure = _FULL_NAMES.get(assume_a, assume_a)
    if structure not in _STRUCTURES:
        known = ", ".join(map(repr, _STRUCTURES))
        raise ValueError(f"solve: assume_a={assume_a!r} is none of {known}")
    a, lower = floating_matrices(a, "solve"), bool(guarded(lower))
    if structure == "positive definite":  # its transposed matrix is its conjugate
        return cho_solve(cho_factor(a.conj() if transposed else a, lower), b)
    if structure.endswith("triangular"):
        return solve_triangular(a, b, "T" if transposed else "N", structure.startswith("lower"))
    a = _read(a, structure, lower)
    return solve(matrix_transpose(a) if transposed else a, b)


def _read(a: Tensor, structure: str, lower: bool) -> Tensor:
    """Return matrices with the elements that are read of a structure."""
    if structure == "hermitian":
        return mirrored(a, lower, "solve")
    if structure == "symmetric":
        return mirrored(a, lower, "solve", matrix_transpose)
    if structure == "diagonal":
        return multiply(a, np.eye(a.shape[-1], dtype=a.dtype))
    return triu(tril(a, 1), -1) if structure == "tridiagonal" else a
