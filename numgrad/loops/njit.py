"""`njit`: Numba's decorator, with derivatives."""

import inspect
from typing import Any


def njit(*args: Any, **options: Any) -> Any:
    """Compile a function of loops with Numba; called with tensors, the function has a derivative.

    `njit` takes what ``numba.njit`` takes, and a function that is compiled already. Called with
    arrays and numbers, the function is Numba's, at its speed, and other functions under ``njit``
    can call it. Called with tensors, it is an operation: its results are tensors, and the source
    of its adjoint is derived from its loops when a gradient is asked for the first time, and
    compiled by Numba.

    Floats and arrays of floats among the results are tensors; integers and booleans are what Numba
    returns. If the function writes to a tensor, that is recorded as ``t[...] = x`` is. In
    ``ng.jit`` the function is an instruction of the program; ``vmap`` runs it for each row, on all
    threads.

    Parameters
    ----------
    *args
        The function, or signatures as for ``numba.njit``.
    **options
        Those of ``numba.njit``: ``fastmath``, ``cache``, ``parallel`` and others.

    Returns
    -------
    callable
        A dispatcher of Numba, or a decorator.

    Raises
    ------
    NotDifferentiableError
        When the function is called with tensors that require grad, if a statement is not
        understood: with its file, line and text.
    ArgTypeError
        If the function is called with tensors that require grad, and writes what depends on them
        to an array of NumPy.
    CaptureError
        Inside of ``ng.jit`` or ``vmap``, if the shape of a result depends on elements, or the
        source is not understood.

    See Also
    --------
    adjoint, adjoint_source : The derived function on its own, and its text.
    operator : Operators by a kernel and a signature, with leading axes, and for CUDA.

    Notes
    -----
    ``cache=True`` keeps the function on disk. The adjoint is kept in numgrad's cache of kernels,
    and the next process does not compile it.

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
    >>> energy(np.array([1.0, 2.0, 4.0]), 0.5)
    1.25
    >>> ng.func.grad(energy)(np.array([1.0, 2.0, 4.0]), 0.5)
    array([-0.5, -0.5,  1. ])
    """
    import numba  # not needed where there are no loops

    from .dispatcher import differentiable

    function = args[0] if args else None
    if hasattr(function, "py_func"):
        return differentiable(function, options)
    made = numba.njit(*args, **options)
    if inspect.isfunction(function):
        return differentiable(made, {})
    return lambda plain: differentiable(made(plain), {})
