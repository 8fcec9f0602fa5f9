"""Derivatives of compiled functions from their source: `numgrad.loops`, which stands above, derives
them."""

from collections.abc import Callable
from typing import Any


class Loops:
    """The functions of `numgrad.loops` that operators of users and transforms call.

    Attributes
    ----------
    derivative_of : callable
        ``(operator, context)`` derives what a user's operator does not declare.
    with_derivatives : callable
        Makes an operation of tensors of a function that Numba has compiled.
    """

    derivative_of: Callable[..., Any]
    with_derivatives: Callable[..., Any]


loops = Loops()
