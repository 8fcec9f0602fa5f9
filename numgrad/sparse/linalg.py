"""Solvers for sparse arrays under the names of ``scipy.sparse.linalg``: systems and eigenvalues.

The solvers themselves are those of `numgrad.interop.scipy`.
"""

from importlib import import_module
from typing import Any

__all__ = ["eigsh", "factorized", "splu", "spsolve"]  # noqa: F822  found when asked for


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("numgrad.interop.scipy"), name)
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}: it has {', '.join(__all__)}"
    )


def __dir__() -> list[str]:
    return __all__
