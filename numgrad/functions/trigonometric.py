"""Trigonometric functions and their inverses."""

import math
from typing import Unpack

from .._errors import DtypeError
from .._tensor import ArrayLike, Tensor
from ..operators import elementwise as _elementwise
from ..operators import trigonometric as _trigonometric
from .universal import Options, universal, with_options


@universal
def sin(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return the sine.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative is ``cos(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.sin(x), x)[0]
    tensor([0.96891242, 0.87758256])
    """
    return with_options(sin, options, x) if options else _trigonometric.sin(x)


@universal
def cos(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return the cosine.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative is ``-sin(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.cos(x), x)[0]
    tensor([-0.24740396, -0.47942554])
    """
    return with_options(cos, options, x) if options else _trigonometric.cos(x)


@universal
def tan(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return the tangent.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative is ``1 + tan(x)**2``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.tan(x), x)[0]
    tensor([1.0651995 , 1.29844641])
    """
    return with_options(tan, options, x) if options else _trigonometric.tan(x)


@universal
def asin(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return the inverse sine.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative is ``1 / sqrt((1 - x) * (1 + x))``: infinite at -1 and 1.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.asin(x), x)[0]
    tensor([1.03279556, 1.15470054])
    """
    return with_options(asin, options, x) if options else _trigonometric.asin(x)


arcsin = asin


@universal
def acos(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return the inverse cosine.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative is ``-1 / sqrt((1 - x) * (1 + x))``: infinite at -1 and 1.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.acos(x), x)[0]
    tensor([-1.03279556, -1.15470054])
    """
    return with_options(acos, options, x) if options else _trigonometric.acos(x)


arccos = acos


@universal
def atan(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return the inverse tangent.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivative is ``1 / (1 + x**2)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.atan(x), x)[0]
    tensor([0.94117647, 0.8       ])
    """
    return with_options(atan, options, x) if options else _trigonometric.atan(x)


arctan = atan


@universal
def atan2(x1: ArrayLike, x2: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return the angle of the point ``(x2, x1)``, in ``[-pi, pi]``.

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
    The derivatives are ``x2 / r**2`` and ``-x1 / r**2`` with ``r = hypot(x1, x2)``, and 0 at
    the origin, where second derivatives do not exist and are NaN.

    Examples
    --------
    >>> import numgrad as ng
    >>> x1 = ng.tensor([3.0, 0.0], requires_grad=True)
    >>> x2 = ng.tensor([4.0, 0.0], requires_grad=True)
    >>> ng.grad(ng.atan2(x1, x2), [x1, x2])
    (tensor([0.16, 0.  ]), tensor([-0.12,  0.  ]))
    """
    return with_options(atan2, options, x1, x2) if options else _trigonometric.atan2(x1, x2)


arctan2 = atan2


@universal
def deg2rad(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return degrees as radians.

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
    The derivative is ``pi / 180``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.deg2rad(ng.tensor([90.0, 180.0]))
    tensor([1.57079633, 3.14159265])
    """
    return with_options(deg2rad, options, x) if options else _scaled(x, math.pi / 180)


radians = deg2rad


@universal
def rad2deg(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return radians as degrees.

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
    The derivative is ``180 / pi``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.rad2deg(ng.tensor([0.5, 1.0]))
    tensor([28.64788976, 57.29577951])
    """
    return with_options(rad2deg, options, x) if options else _scaled(x, 180 / math.pi)


degrees = rad2deg


def _scaled(x: ArrayLike, factor: float) -> Tensor:
    y = _elementwise.multiply(x, factor)
    if y.dtype.kind == "c":
        raise DtypeError("an angle cannot be complex")
    return y
