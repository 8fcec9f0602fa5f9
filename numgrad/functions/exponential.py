"""Exponential functions and logarithms."""

from typing import Unpack

from .._tensor import ArrayLike, Tensor
from ..operators import exponential as _exponential
from .universal import Options, universal, with_options


@universal
def exp(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return ``e**x``.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative is ``exp(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.exp(x), x)[0]
    tensor([1.28402542, 1.64872127])
    """
    return with_options(exp, options, x) if options else _exponential.exp(x)


@universal
def exp2(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return ``2**x``.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative is ``log(2) * exp2(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.exp2(x), x)[0]
    tensor([0.82429556, 0.98025814])
    """
    return with_options(exp2, options, x) if options else _exponential.exp2(x)


@universal
def expm1(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return ``exp(x) - 1``, precise near 0.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative is ``exp(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.expm1(x), x)[0]
    tensor([1.28402542, 1.64872127])
    """
    return with_options(expm1, options, x) if options else _exponential.expm1(x)


@universal
def log(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return the natural logarithm.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative is ``1 / x``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.log(x), x)[0]
    tensor([4., 2.])
    """
    return with_options(log, options, x) if options else _exponential.log(x)


@universal
def log2(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return the logarithm to base 2.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative is ``1 / (x * log(2))``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.log2(x), x)[0]
    tensor([5.77078016, 2.88539008])
    """
    return with_options(log2, options, x) if options else _exponential.log2(x)


@universal
def log10(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return the logarithm to base 10.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative is ``1 / (x * log(10))``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.log10(x), x)[0]
    tensor([1.73717793, 0.86858896])
    """
    return with_options(log10, options, x) if options else _exponential.log10(x)


@universal
def log1p(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return ``log(1 + x)``, precise near 0.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative is ``1 / (1 + x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.log1p(x), x)[0]
    tensor([0.8       , 0.66666667])
    """
    return with_options(log1p, options, x) if options else _exponential.log1p(x)


@universal
def logaddexp(x1: ArrayLike, x2: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return ``log(exp(x1) + exp(x2))`` without overflow.

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
    The derivatives are ``exp(x1 - y)`` and ``exp(x2 - y)``, their sum is 1; each is a half for
    equal infinities.

    Examples
    --------
    >>> import numgrad as ng
    >>> x1 = ng.tensor([1.0, 4.0], requires_grad=True)
    >>> x2 = ng.tensor([2.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.logaddexp(x1, x2), [x1, x2])
    (tensor([0.26894142, 0.88079708]), tensor([0.73105858, 0.11920292]))
    """
    return with_options(logaddexp, options, x1, x2) if options else _exponential.logaddexp(x1, x2)


@universal
def logaddexp2(x1: ArrayLike, x2: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return ``log2(2**x1 + 2**x2)`` without overflow.

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
    The derivatives are ``2**(x1 - y)`` and ``2**(x2 - y)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x1 = ng.tensor([1.0, 4.0], requires_grad=True)
    >>> x2 = ng.tensor([2.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.logaddexp2(x1, x2), [x1, x2])
    (tensor([0.33333333, 0.8       ]), tensor([0.66666667, 0.2       ]))
    """
    return with_options(logaddexp2, options, x1, x2) if options else _exponential.logaddexp2(x1, x2)
