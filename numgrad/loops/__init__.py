"""Loops of users under Numba's ``njit``: operations whose derivatives come from their source."""

from typing import Any

from .._declare import door
from .derived import adjoint as adjoint
from .derived import adjoint_source as adjoint_source
from .njit import njit as njit

__all__ = ["adjoint", "adjoint_source", "njit"]


def _derivative_of(operator: Any, context: Any) -> Any:
    from .declared import derivative_of  # not needed where there are no loops

    return derivative_of(operator, context)


door.derivative_of = _derivative_of
