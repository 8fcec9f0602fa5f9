"""``adjoint`` and ``adjoint_source``: the derived adjoints of loops as functions of arrays."""

from collections.abc import Callable
from typing import Any


def adjoint(function: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
    """Return the derived adjoint of a function of loops: a function of arrays, without tensors.

    Parameters
    ----------
    function : callable
        A function under ``njit``, or one that Numba could compile.

    Returns
    -------
    callable
        Takes the arguments of the function, and ``cotangents=`` for the results in order and then
        for the arrays that the function writes: 1 for numbers by default. Returns a gradient for
        each argument, a tuple of them for a tuple, None for an argument without one, and changes no
        argument.

    Raises
    ------
    TypeError
        When the adjoint is called, if a statement is not understood: with its file, line and text.

    See Also
    --------
    njit : Functions of loops as operations of tensors.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> @ng.njit
    ... def energy(x, k):
    ...     total = 0.0
    ...     for i in range(1, len(x)):
    ...         total += 0.5 * k * (x[i] - x[i - 1]) ** 2
    ...     return total
    >>> ng.adjoint(energy)(np.array([1.0, 2.0, 4.0]), 0.5)
    (array([-0.5, -0.5,  1. ]), 2.5)
    """
    from .._adjoint import adjoint as made  # not needed where there are no loops
    from .kept import keep

    keep()
    return made(function)


def adjoint_source(function: Callable[..., Any], *arguments: Any) -> str:
    """Return the source of the derived adjoint of a function of loops, as readable Python.

    Parameters
    ----------
    function : callable
        A function under ``njit``, or one that Numba could compile.
    *arguments
        Arguments of the types that the adjoint is derived for: arrays, numbers, tuples.

    Returns
    -------
    str

    Raises
    ------
    TypeError
        If a statement is not understood: with its file, line and text.

    See Also
    --------
    adjoint : The function itself.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> @ng.njit
    ... def square(x):
    ...     return x * x
    >>> print(ng.adjoint_source(square, 3.0).splitlines()[0])
    def square_adjoint(x, g, tape_f, tape_i):
    """
    from .._adjoint import adjoint_source as made  # not needed where there are no loops

    return made(function, *arguments)
