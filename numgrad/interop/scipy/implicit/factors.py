"""Factorizations of the matrices of linear systems, one for all right hand sides and for the
transposed system."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...._errors import ConvergenceError, MatrixError
from .linearization import require_finite


class Dense:
    """A matrix with its LU factorization."""

    def __init__(self, matrix: np.ndarray, what: str) -> None:
        from scipy.linalg import get_lapack_funcs

        if not matrix.size:
            return
        factorize, condition = get_lapack_funcs(("getrf", "gecon"), (matrix,))
        norm = np.abs(matrix).sum(axis=0).max(initial=0.0)
        self.lu, self.pivots, info = factorize(matrix)
        rcond = condition(self.lu, norm)[0] if info == 0 else 0.0
        if rcond < np.finfo(float).eps:
            raise _singular(matrix.shape, what)

    def solve(self, rows: np.ndarray, transposed: bool) -> np.ndarray:
        """Solve for every row of right hand sides."""
        from scipy.linalg import lu_solve

        return lu_solve((self.lu, self.pivots), rows.T, trans=int(transposed)).T


class Sparse:
    """A sparse matrix with its LU factorization by SuperLU."""

    def __init__(self, matrix: Any, what: str) -> None:
        from scipy.sparse import csc_array
        from scipy.sparse.linalg import splu

        try:
            self.lu = splu(csc_array(matrix))
        except RuntimeError as error:
            if "singular" not in str(error):
                raise
            raise _singular(matrix.shape, what) from error
        diagonal = np.abs(self.lu.U.diagonal())
        if diagonal.min(initial=np.inf) <= np.finfo(float).eps * diagonal.max(initial=0.0):
            raise _singular(matrix.shape, what)

    def solve(self, rows: np.ndarray, transposed: bool) -> np.ndarray:
        """Solve for every row of right hand sides."""
        return self.lu.solve(np.ascontiguousarray(rows.T), "T" if transposed else "N").T


class Iterative:
    """A linear operator: systems are solved by GMRES, to a tolerance."""

    def __init__(self, operator: Any, what: str, tolerance: float = 1e-10) -> None:
        self.operator, self.what, self.tolerance = operator, what, tolerance

    def solve(self, rows: np.ndarray, transposed: bool) -> np.ndarray:
        """Solve for one row of right hand sides after the other."""
        from scipy.sparse.linalg import gmres

        operator = self.operator.T if transposed else self.operator
        size = min(operator.shape[0], 100)
        found = np.empty_like(rows)
        for n, row in enumerate(rows):
            found[n], failed = gmres(
                operator, row, rtol=self.tolerance, atol=0.0, restart=size, maxiter=100
            )
            if failed:
                raise ConvergenceError(
                    f"{self.what}: GMRES has not solved the linear system of the derivative to a "
                    f"relative residual of {self.tolerance:g}; take jac='dense' or jac='sparse'"
                )
        return found


def factorized(matrix: Any, what: str) -> Dense | Sparse | Iterative:
    """Return an object that solves systems with a dense or sparse matrix, or a linear operator."""
    if isinstance(matrix, np.ndarray):
        return Dense(require_finite(matrix, what), what)
    if hasattr(matrix, "matvec"):
        return Iterative(matrix, what)
    return Sparse(require_finite(matrix, what), what)


def _singular(shape: tuple[int, ...], what: str) -> MatrixError:
    return MatrixError(
        f"{what}: the matrix of the linear system, of shape {shape}, is singular to working "
        f"precision, so the solution is no function of the arguments; it is not isolated, or not "
        f"simple"
    )


class System:
    """The linear system of a derivative; its matrix is factorised when a solution is first needed.
    """

    def __init__(self, matrix: Callable[[], Any], what: str) -> None:
        self.matrix, self.what = matrix, what
        self._factors: Dense | Sparse | Iterative | None = None

    def solve(self, rhs: np.ndarray, transposed: bool) -> np.ndarray:
        """Solve for right hand sides along the last axis."""
        factors = self.require_factors()
        if not rhs.size:
            return np.zeros(rhs.shape)
        rows = rhs.reshape(-1, rhs.shape[-1])
        return np.ascontiguousarray(factors.solve(rows, transposed)).reshape(rhs.shape)

    def require_factors(self) -> Any:
        """Return the factorization, made at the first call."""
        if self._factors is None:
            self._factors = factorized(self.matrix(), self.what)
        return self._factors
