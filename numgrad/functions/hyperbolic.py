"""Hyperbolic functions and their inverses."""

from typing import Unpack

from .._tensor import ArrayLike, Tensor
from ..operators import trigonometric as _trigonometric
from .universal import Options, universal, with_options


@universal
def sinh(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return the hyperbolic sine.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative is ``cosh(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.sinh(x), x)[0]
    tensor([1.0314131 , 1.12762597])
    """
    return with_options(sinh, options, x) if options else _trigonometric.sinh(x)


@universal
def cosh(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return the hyperbolic cosine.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative is ``sinh(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.cosh(x), x)[0]
    tensor([0.25261232, 0.52109531])
    """
    return with_options(cosh, options, x) if options else _trigonometric.cosh(x)


@universal
def tanh(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return the hyperbolic tangent.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative is ``1 - tanh(x)**2``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.tanh(x), x)[0]
    tensor([0.94001485, 0.78644773])
    """
    return with_options(tanh, options, x) if options else _trigonometric.tanh(x)


@universal
def asinh(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return the inverse hyperbolic sine.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative is ``1 / sqrt(1 + x**2)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.asinh(x), x)[0]
    tensor([0.9701425 , 0.89442719])
    """
    return with_options(asinh, options, x) if options else _trigonometric.asinh(x)


arcsinh = asinh


@universal
def acosh(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return the inverse hyperbolic cosine.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative is ``1 / (sqrt(x - 1) * sqrt(x + 1))``: infinite at 1.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.acosh(x), x)[0]
    tensor([       inf, 0.57735027])
    """
    return with_options(acosh, options, x) if options else _trigonometric.acosh(x)


arccosh = acosh


@universal
def atanh(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return the inverse hyperbolic tangent.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative is ``1 / ((1 - x) * (1 + x))``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.atanh(x), x)[0]
    tensor([1.06666667, 1.33333333])
    """
    return with_options(atanh, options, x) if options else _trigonometric.atanh(x)


arctanh = atanh
