"""Loops of users under Numba's ``njit``: operations whose derivatives come from their source."""

from typing import Any

from .._declare.user.loops import loops
from .derived import adjoint as adjoint
from .derived import adjoint_source as adjoint_source
from .njit import njit as njit

__all__ = ["adjoint", "adjoint_source", "njit"]


def _derivative_of(operator: Any, context: Any) -> Any:
    from .declared import derivative_of  # not needed where there are no loops

    return derivative_of(operator, context)


def _with_derivatives(function: Any) -> Any:
    """Return a function that Numba has compiled as an operation of tensors; other objects as they
    are.

    The operation is made once for each function.
    """
    from .dispatcher import differentiable, is_plain

    if not is_plain(function):
        return function
    return vars(function).setdefault("_with_derivatives", differentiable(function, {}))


loops.derivative_of, loops.with_derivatives = _derivative_of, _with_derivatives
