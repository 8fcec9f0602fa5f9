"""Sparse Jacobians and Hessians: patterns found in the recorded graph, coloured, and computed in as
few passes as there are colours; products of tensors with sparse matrices.

The other modules are imported when one of the names is first asked for.
"""

import importlib
from typing import TYPE_CHECKING, Any

from ..functions.sparse import matmul as matmul

if TYPE_CHECKING:
    from .derivatives import hessian as hessian
    from .derivatives import hessian_pattern as hessian_pattern
    from .derivatives import jacobian as jacobian
    from .derivatives import jacobian_pattern as jacobian_pattern
    from .derivatives import prepare as prepare
    from .derivatives import prepare_hessian as prepare_hessian
    from .prepared import Prepared as Prepared
    from .prepared import PreparedHessian as PreparedHessian

__all__ = [
    "Prepared", "PreparedHessian", "hessian", "hessian_pattern", "jacobian", "jacobian_pattern",
    "matmul", "prepare", "prepare_hessian",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "prepared" if name.startswith("Prepared") else "derivatives"
    return getattr(importlib.import_module(f".{home}", __name__), name)


def __dir__() -> list[str]:
    return __all__
