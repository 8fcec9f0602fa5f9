"""SciPy's factors of a constant sparse matrix, which also solve for right hand sides that are
tensors."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from .tensors import holds_tensor


class Factors:
    """What SciPy's ``splu`` returns, whose ``solve`` takes tensors, too."""

    def __init__(self, theirs: Any) -> None:
        self._theirs = theirs

    @property
    def __class__(self) -> Any:  # type: ignore[override]
        """The class of SciPy's factors, for `isinstance`."""
        return type(self._theirs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._theirs, name)

    def __dir__(self) -> list[str]:
        return dir(self._theirs)

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        """Solve a system with the matrix, or with its transpose for ``trans="T"``."""
        if not holds_tensor(rhs):
            return self._theirs.solve(rhs, trans)
        linear = import_module("numgrad.interop.scipy.systems.linear")
        return linear.solved(self._theirs, rhs, trans, "splu")


def splu(original: Callable[..., Any], A: Any, *args: Any, **options: Any) -> Factors:
    """Return SciPy's factors of a constant matrix, which take tensors."""
    return Factors(original(A, *args, **options))


def factorized(original: Callable[..., Any], A: Any) -> Callable[[Any], Any]:
    """Return SciPy's function that solves systems with a constant matrix, which takes tensors."""
    solve = original(A)
    if not hasattr(getattr(solve, "__self__", None), "perm_r"):  # of a library other than SuperLU
        return solve
    factors = Factors(solve.__self__)
    return lambda rhs: factors.solve(rhs) if holds_tensor(rhs) else solve(rhs)


OF_CONSTANTS = {"scipy.sparse.linalg.splu": splu, "scipy.sparse.linalg.factorized": factorized}
"""Functions whose result takes tensors although they were called with none."""
