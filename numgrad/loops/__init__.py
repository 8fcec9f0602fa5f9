"""Loops of users under Numba's ``njit``: operations whose derivatives come from their source."""

from .derived import adjoint as adjoint
from .derived import adjoint_source as adjoint_source
from .njit import njit as njit

__all__ = ["adjoint", "adjoint_source", "njit"]
