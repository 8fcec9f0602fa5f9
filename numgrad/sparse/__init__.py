"""Sparse Jacobians and Hessians: patterns found in the recorded graph, coloured, and computed in as
few passes as there are colours; sparse matrices of tensors, and their products.

The other modules are imported when one of the names is first asked for.
"""

import importlib
from typing import TYPE_CHECKING, Any

from ..functions.sparse import matmul as matmul

if TYPE_CHECKING:
    from .array import SparseArray as SparseArray
    from .assembly import block_array as block_array
    from .assembly import coo as coo
    from .assembly import csr as csr
    from .assembly import diags as diags
    from .assembly import eye as eye
    from .assembly import kron as kron
    from .derivatives import hessian as hessian
    from .derivatives import hessian_pattern as hessian_pattern
    from .derivatives import jacobian as jacobian
    from .derivatives import jacobian_pattern as jacobian_pattern
    from .derivatives import prepare as prepare
    from .derivatives import prepare_hessian as prepare_hessian
    from .prepared import Prepared as Prepared
    from .prepared import PreparedHessian as PreparedHessian

__all__ = [
    "Prepared", "PreparedHessian", "SparseArray", "block_array", "coo", "csr", "diags", "eye",
    "hessian", "hessian_pattern", "jacobian", "jacobian_pattern", "kron", "matmul", "prepare",
    "prepare_hessian",
]  # fmt: skip

_HOMES = {"SparseArray": "array"} | dict.fromkeys(
    ("block_array", "coo", "csr", "diags", "eye", "kron"), "assembly"
)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "prepared" if name.startswith("Prepared") else _HOMES.get(name, "derivatives")
    return getattr(importlib.import_module(f".{home}", __name__), name)


def __dir__() -> list[str]:
    return __all__
