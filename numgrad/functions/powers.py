"""Powers, roots and the length of a vector."""

from typing import Unpack

from .._tensor import ArrayLike, Tensor
from ..operators import elementwise as _elementwise
from ..operators import powers as _powers
from .universal import Options, universal, with_options


@universal
def square(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return ``x * x``.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative is ``2 * x``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.square(x), x)[0]
    tensor([0.5, 1. ])
    """
    return with_options(square, options, x) if options else _powers.square(x)


@universal
def sqrt(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return the square root.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative is ``0.5 / sqrt(x)``: infinite at 0, NaN below.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.0, 4.0], requires_grad=True)
    >>> ng.grad(ng.sqrt(x), x)[0]
    tensor([ inf, 0.25])
    """
    return with_options(sqrt, options, x) if options else _powers.sqrt(x)


@universal
def cbrt(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return the cube root.

    Parameters
    ----------
    x : array_like
        Any shape.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Notes
    -----
    The derivative is ``1 / (3 * cbrt(x)**2)``: infinite at 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([-8.0, 1.0], requires_grad=True)
    >>> ng.grad(ng.cbrt(x), x)[0]
    tensor([0.08333333, 0.33333333])
    """
    return with_options(cbrt, options, x) if options else _powers.cbrt(x)


@universal
def pow(x1: ArrayLike, x2: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return ``x1**x2``.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.

    Notes
    -----
    The derivatives are ``x2 * x1**(x2 - 1)`` and ``x1**x2 * log(x1)``.

    ``x**0`` has the derivative 0 everywhere (NaN where x is NaN). In the exponent, ``0**x2`` has
    the derivative 0 for ``x2 >= 0``, and that of a negative base is NaN.

    Some exponents that are Python numbers are computed without a logarithm: 2 by `square`, and of
    floating and complex tensors 3 by two products, -1 by `reciprocal`, and 0.5 by `sqrt`.

    Examples
    --------
    >>> import numgrad as ng
    >>> x1 = ng.tensor([2.0, 0.0], requires_grad=True)
    >>> x2 = ng.tensor([3.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.pow(x1, x2), [x1, x2])
    (tensor([12.,  0.]), tensor([5.54517744, 0.        ]))
    """
    if options:
        return with_options(pow, options, x1, x2)
    if type(x2) is int and x2 == 2:
        return _powers.square(x1)
    if type(x2) in (int, float) and isinstance(x1, Tensor) and x1.dtype.kind in "fc":
        function = _SHORT.get(x2)
        if function is not None:
            return function(x1)
    return _powers.power(x1, x2)


_SHORT = {2: _powers.square, 3: _powers.cube, -1: _elementwise.reciprocal, 0.5: _powers.sqrt}

power = pow


@universal
def hypot(x1: ArrayLike, x2: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return ``sqrt(x1**2 + x2**2)`` without overflow.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.

    Raises
    ------
    DtypeError
        If an argument is complex.

    Notes
    -----
    The derivatives are ``x1 / y`` and ``x2 / y``, and 0 at the origin, where second derivatives
    do not exist and are NaN.

    Examples
    --------
    >>> import numgrad as ng
    >>> x1 = ng.tensor([3.0, 0.0], requires_grad=True)
    >>> x2 = ng.tensor([4.0, 0.0], requires_grad=True)
    >>> ng.grad(ng.hypot(x1, x2), [x1, x2])
    (tensor([0.6, 0. ]), tensor([0.8, 0. ]))
    """
    return with_options(hypot, options, x1, x2) if options else _powers.hypot(x1, x2)
