"""Special functions, under the names of `scipy.special`."""

import math

from .._tensor import ArrayLike, Tensor
from ..engine.seen import seen
from ..operators import elementwise as _elementwise
from ..operators import exponential as _exponential
from ..operators import special as _special


def erf(x: ArrayLike, /) -> Tensor:
    """Return the error function.

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
    The derivative is ``2 / sqrt(pi) * exp(-x**2)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.special.erf(x), x)[0]
    tensor([1.06001413, 0.87878258])
    """
    return _special.erf(x)


def erfc(x: ArrayLike, /) -> Tensor:
    """Return ``1 - erf(x)``, precise for large ``x``.

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
    The derivative is ``-2 / sqrt(pi) * exp(-x**2)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.special.erfc(x), x)[0]
    tensor([-1.06001413, -0.87878258])
    """
    return _special.erfc(x)


def ndtr(x: ArrayLike, /) -> Tensor:
    """Return the distribution function of the standard normal distribution.

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
    The derivative is ``exp(-x**2 / 2) / sqrt(2 * pi)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.special.ndtr(x), x)[0]
    tensor([0.38666812, 0.35206533])
    """
    return _elementwise.multiply(_special.erfc(_elementwise.multiply(x, -math.sqrt(0.5))), 0.5)


def expit(x: ArrayLike, /) -> Tensor:
    """Return the logistic function ``1 / (1 + exp(-x))``.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative is ``expit(x) * expit(-x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.special.expit(x), x)[0]
    tensor([0.24613408, 0.23500371])
    """
    return _special.expit(x)


sigmoid = expit


def logit(x: ArrayLike, /) -> Tensor:
    """Return ``log(x / (1 - x))``, the inverse of `expit`.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative is ``1 / (x * (1 - x))``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.special.logit(x), x)[0]
    tensor([5.33333333, 4.        ])
    """
    return _elementwise.subtract(_exponential.log(x), _exponential.log1p(_elementwise.negative(x)))


def log_expit(x: ArrayLike, /) -> Tensor:
    """Return ``log(expit(x))`` without underflow.

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
    The derivative is ``expit(-x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.special.log_expit(x), x)[0]
    tensor([0.4378235 , 0.37754067])
    """
    return _elementwise.negative(_exponential.logaddexp(_elementwise.negative(x), 0.0))


def xlogy(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return ``x1 * log(x2)``, and 0 where ``x1`` is 0.

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
    The derivatives are ``log(x2)`` and ``x1 / x2``, the latter 0 where both are 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> x1 = ng.tensor([1.0, 4.0], requires_grad=True)
    >>> x2 = ng.tensor([2.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.special.xlogy(x1, x2), [x1, x2])
    (tensor([0.69314718, 0.69314718]), tensor([0.5, 2. ]))
    """
    return _special.xlogy(x1, x2)


def gammaln(x: ArrayLike, /) -> Tensor:
    """Return the logarithm of the absolute value of the gamma function.

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
    The derivative is `digamma`.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.special.gammaln(x), x)[0]
    tensor([-4.22745353, -1.96351003])
    """
    return _special.gammaln(x)


lgamma = gammaln


def digamma(x: ArrayLike, /) -> Tensor:
    """Return the logarithmic derivative of the gamma function.

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
    The derivative is ``polygamma(1, x)``, known down to about -30 and NaN below.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.special.digamma(x), x)[0]
    tensor([17.19732915,  4.9348022 ])
    """
    return _special.digamma(x)


psi = digamma


def polygamma(n: int, x: ArrayLike, /) -> Tensor:
    """Return the ``n``-th derivative of `digamma`; NaN far below zero, for ``x < n - 32``.

    Parameters
    ----------
    n : int
        The order, from 0.
    x : array_like
        Any shape.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Notes
    -----
    The derivative is ``polygamma(n + 1, x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.special.polygamma(1, x), x)[0]
    tensor([-2.40411381, -0.40411381])
    """
    if seen(n) < 0 or n != int(n):
        raise ValueError(f"polygamma: the order must be an integer from 0, got {n}")
    return _special.digamma(x) if n == 0 else _special.polygamma(float(n), x)
