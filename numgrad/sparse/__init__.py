"""Sparse Jacobians and Hessians: patterns found in the recorded graph, coloured, and computed in as
few passes as there are colours."""

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
    "prepare", "prepare_hessian",
]  # fmt: skip
