"""Sparse Jacobians and Hessians: patterns found in the recorded graph, coloured, and computed in as
few passes as there are colours; sparse matrices of tensors, and their products.

The other modules are imported when one of the names is first asked for.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .arrays.array import SparseArray as SparseArray
    from .arrays.assembly import coo as coo
    from .arrays.assembly import csr as csr
    from .arrays.assembly import diags as diags
    from .arrays.assembly import diags_array as diags_array
    from .arrays.assembly import eye as eye
    from .arrays.assembly import eye_array as eye_array
    from .arrays.assembly import identity as identity
    from .arrays.blocks import block_array as block_array
    from .arrays.blocks import block_diag as block_diag
    from .arrays.blocks import bmat as bmat
    from .arrays.blocks import coo_array as coo_array
    from .arrays.blocks import csc_array as csc_array
    from .arrays.blocks import csr_array as csr_array
    from .arrays.blocks import hstack as hstack
    from .arrays.blocks import kron as kron
    from .arrays.blocks import tril as tril
    from .arrays.blocks import triu as triu
    from .arrays.blocks import vstack as vstack
    from .arrays.products import matmul as matmul
    from .derivatives import hessian as hessian
    from .derivatives import hessian_pattern as hessian_pattern
    from .derivatives import jacobian as jacobian
    from .derivatives import jacobian_pattern as jacobian_pattern
    from .derivatives import prepare as prepare
    from .derivatives import prepare_hessian as prepare_hessian
    from .prepared import Prepared as Prepared
    from .prepared import PreparedHessian as PreparedHessian

__all__ = [
    "Prepared", "PreparedHessian", "SparseArray", "block_array", "block_diag", "coo", "coo_array",
    "csc_array", "csr", "csr_array", "diags", "eye", "hessian", "hessian_pattern", "hstack",
    "jacobian", "jacobian_pattern", "kron", "matmul", "prepare", "prepare_hessian", "tril", "triu",
    "vstack",
]  # fmt: skip

_NAMES = {
    "arrays.array": "SparseArray",
    "arrays.assembly": "coo csr diags diags_array eye eye_array identity",
    "arrays.blocks": "block_array block_diag bmat coo_array csc_array csr_array hstack kron tril "
                     "triu vstack",
    "derivatives": "hessian hessian_pattern jacobian jacobian_pattern prepare prepare_hessian",
    "prepared": "Prepared PreparedHessian",
    "arrays.products": "matmul",
}  # fmt: skip
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name == "linalg":
        return importlib.import_module(f".{name}", __name__)
    if name in _HOMES:
        return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_instead(name)}")


def _instead(name: str) -> str:
    """Return what to write in place of a name of ``scipy.sparse`` that is missing here.

    The text is the end of an error message; it is empty for a name that SciPy does not have.
    """
    if name in ("spsolve", "splu", "factorized", "eigsh"):
        return f": write ng.sparse.linalg.{name}"
    own = name.replace("_matrix", "_array")
    if own != name and own in _HOMES:
        return f": write ng.sparse.{own}, with A @ B for products, as A * B is elementwise"
    if name in ("lil_matrix", "lil_array", "dok_matrix", "dok_array"):
        return ": write ng.sparse.coo(data, (rows, columns)), as sparse arrays are not written"
    if name in ("issparse", "isspmatrix"):
        return ": write isinstance(A, ng.sparse.SparseArray)"
    scipy_sparse = importlib.import_module("scipy.sparse")
    if name.startswith("_") or not hasattr(scipy_sparse, name):
        return ""
    return f": give ng.sparse.csr_array what scipy.sparse.{name} makes, whose numbers are constants"


def __dir__() -> list[str]:
    return __all__
