"""The decorator with which users declare operators."""

from collections.abc import Callable, Sequence
from typing import Any

from .._errors import DeclarationError
from .user import UserOperator


def operator(
    signature: str,
    *,
    name: str | None = None,
    static: Sequence[str] = (),
    nondifferentiable: Sequence[str] = (),
    results: Sequence[Any] | None = None,
) -> Callable[[Any], UserOperator]:
    """Declare an operator from a kernel: ``@ng.operator("(n),(p)->(n)")`` over ``@njit``.

    The kernel computes the core; any number of leading axes is looped over, as in NumPy's
    generalized ufuncs, and so are the rows of a batched backward pass. With core dimensions it
    takes the inputs, then the arrays to write; with a signature of scalars it takes the inputs and
    returns the outputs.

    Parameters
    ----------
    signature : str
        Such as ``"(m,k),(k,n)->(m,n)"`` or ``"(),()->()"``.
    name : str, optional
        That of the function by default.
    static : sequence of str
        The parameters that are no arrays. They come last in the kernel, and by keyword in a call.
        A number is an operand: another value needs no other kernel. Anything else is compiled in.
    nondifferentiable : sequence of str
        The inputs without gradient: the backward kernel has no array for them.
    results : sequence of dtype or None, optional
        The dtype of each output; ``None`` is that in which the floating inputs are promoted. An
        integer output has no cotangent.

    Returns
    -------
    callable
        Makes the operator of a function. The operator has the decorators ``backward`` and ``jvp``.

    Raises
    ------
    DeclarationError
        If the signature is wrong, or the kernel has other parameters than the signature asks for.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> from numba import njit
    >>> @ng.operator("(n),()->(n)")
    ... @njit
    ... def scale(x, a, out):
    ...     for i in range(x.size):
    ...         out[i] = a * x[i]
    >>> @scale.backward
    ... @njit
    ... def scale_backward(g, x, a, out, gx, ga):
    ...     ga[0] = 0.0
    ...     for i in range(x.size):
    ...         gx[i] = a * g[i]
    ...         ga[0] += x[i] * g[i]
    >>> x = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> a = ng.tensor(3.0, requires_grad=True)
    >>> y = scale(x, a)
    >>> [g.numpy() for g in ng.grad(y, [x, a], np.array([1.0, 10.0]))]
    [array([ 3., 30.]), array(21.)]
    """
    if not isinstance(signature, str):
        raise DeclarationError(
            "ng.operator needs a gufunc signature: write @ng.operator('(n)->(n)') over the kernel"
        )
    for option, value in (("static", static), ("nondifferentiable", nondifferentiable)):
        if isinstance(value, str) or not all(isinstance(item, str) for item in value):
            raise DeclarationError(
                f"ng.operator: {option} must be a sequence of names, got {value!r}"
            )
    options: dict[str, Any] = {"static": static, "nondifferentiable": nondifferentiable}
    return lambda function: UserOperator(function, signature, name, results=results, **options)
