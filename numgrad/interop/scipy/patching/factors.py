"""SciPy's factors of a constant sparse matrix, which also solve for right hand sides that are
tensors."""

from collections.abc import Callable
from typing import Any

from ..systems.linear import Factorized
from .tensors import holds_tensor


class Factors:
    """The result of SciPy's ``splu``, together with the same matrix for numgrad.

    Its attributes are those of SciPy's factors, whose ``solve`` answers arrays.
    """

    def __init__(self, theirs: Any, A: Any) -> None:
        self._theirs, self._matrix = theirs, A.copy()  # which may be written before it is needed
        self._own: Factorized | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._theirs, name)

    def __dir__(self) -> list[str]:
        return dir(self._theirs)

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        """Solve a system with the matrix, or with its transpose for ``trans="T"``."""
        if not holds_tensor(rhs):
            return self._theirs.solve(rhs, trans)
        if self._own is None:
            self._own = Factorized(self._matrix, "splu")
        return self._own.solve(rhs, trans)


def splu(original: Callable[..., Any], A: Any, *args: Any, **options: Any) -> Factors:
    """Return SciPy's factors of a constant matrix, which take tensors."""
    return Factors(original(A, *args, **options), A)


def factorized(original: Callable[..., Any], A: Any) -> Callable[[Any], Any]:
    """Return SciPy's function that solves systems with a constant matrix, which takes tensors."""
    solve, factors = original(A), Factors(None, A)
    return lambda rhs: factors.solve(rhs) if holds_tensor(rhs) else solve(rhs)


OF_CONSTANTS = {"scipy.sparse.linalg.splu": splu, "scipy.sparse.linalg.factorized": factorized}
"""Functions whose result takes tensors although they were called with none."""
