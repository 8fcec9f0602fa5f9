"""Parts and neighbours of floating numbers, questions about them, and a few functions made of
others: sinc, heaviside, powers in double precision."""

from typing import Any, Unpack

import numpy as np

from ..._errors import DtypeError
from ..._tensor import ArrayLike, Tensor
from ...engine.record.composition import composed
from ...operators.elementwise import numpy_functions as _borrowed
from ...operators.special.bessel import spherical as _spherical
from ..array.operands import (
    as_scalar,
    as_tensor,
    as_tensors,
    is_known,
    kind_of_operand,
    values_of,
)  # fmt: skip
from ..creation.constants import zeros
from ..shape.selection import where
from .arithmetic import abs as _abs
from .comparison import isinf, logical_and, logical_not, not_equal, signbit
from .complex_parts import imag, real
from .powers import pow as _pow
from .rounding import floor, floor_divide, remainder
from .universal import Options, with_options


def sinc(x: ArrayLike) -> Tensor:
    """Return ``sin(pi x) / (pi x)``, 1 at 0.

    Parameters
    ----------
    x : array_like
        Any shape.

    Notes
    -----
    The derivatives are made of spherical Bessel functions, precise near 0 too, up to the twelfth.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.0, 1.0], requires_grad=True)
    >>> ng.grad(ng.sinc(x), x)[0]
    tensor([-0., -1.])
    """
    return _spherical.sinc(x)


def i0(x: ArrayLike) -> Tensor:
    """Return the modified Bessel function of order 0; its derivative is that of order 1.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.i0(ng.tensor([0.0, 1.0])).round(6)
    tensor([1.      , 1.266066])
    """
    from ..special import special  # which makes its operators when the first of them is asked for

    return special.i0(x)


def heaviside(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return 0 where ``x1`` is negative, ``x2`` where it is 0, 1 where it is positive.

    Notes
    -----
    The derivatives are 0, and for ``x2`` 1 where ``x1`` is 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.heaviside(ng.tensor([-1.5, 0.0, 2.0]), 0.5)
    tensor([0. , 0.5, 1. ])
    """
    if into or options:
        return with_options(heaviside, options, x1, x2, *into)
    dtype = np.result_type(kind_of_operand(x1), kind_of_operand(x2))
    x1, x2 = as_tensors(x1, x2) if np.ndim(x2) or isinstance(x2, Tensor) else (as_tensor(x1), x2)
    if dtype.kind == "c":
        raise DtypeError("heaviside: arguments must be real")
    dtype = dtype if dtype.kind == "f" else np.dtype(np.float64)
    step = where(x1 == 0, x2, where(x1 > 0, 1.0, where(x1 < 0, 0.0, x1)))
    return as_scalar(step.astype(dtype, copy=False))


def float_power(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``x1**x2`` in double precision at least; the derivatives are those of `pow`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.float_power([2, 4], -1)
    tensor([0.5 , 0.25])
    """
    if into or options:
        return with_options(float_power, options, x1, x2, *into)
    x1, x2 = as_tensors(x1, x2)
    dtype = np.result_type(x1.dtype, x2.dtype, np.float64)
    return _pow(x1.astype(dtype, copy=False), x2.astype(dtype, copy=False))


def divmod(
    x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]
) -> tuple[Tensor, Tensor]:
    """Return `floor_divide` and `remainder` of two arguments, whose derivatives they have.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.divmod(ng.tensor([7.0, -7.0]), 2.0)
    (tensor([ 3., -4.]), tensor([1., 1.]))
    """
    if into or options:
        return with_options(divmod, options, x1, x2, *into)
    return floor_divide(x1, x2), remainder(x1, x2)


def modf(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> tuple[Tensor, Tensor]:
    """Return the fractions and the integers of numbers, both with their sign.

    Notes
    -----
    The derivatives are 1 and 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.modf(ng.tensor([1.5, -2.25]))
    (tensor([ 0.5 , -0.25]), tensor([ 1., -2.]))
    """
    if into or options:
        return with_options(modf, options, x, *into)
    return _modf(x)


@composed
def _modf(x: ArrayLike) -> tuple[Tensor, Tensor]:
    x = _real("modf", x)
    side = where(signbit(x), -1.0, 1.0).astype(x.dtype)
    size = x * side
    whole = floor(size)
    fraction = where(isinf(x), 0.0, size - whole)
    return as_scalar(fraction * side), as_scalar(whole * side)


def _real(name: str, x: ArrayLike) -> Tensor:
    x = as_tensor(x)
    if x.dtype.kind == "c":
        raise DtypeError(f"{name}: x must be real")
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def frexp(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> tuple[Tensor, Tensor]:
    """Return numbers from 0.5 to 1, with the sign of ``x``, and the powers of 2 that make ``x`` of
    them.

    Notes
    -----
    The derivative of the first is :math:`2^{-e}`; the second are integers.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.frexp(ng.tensor([3.0, 0.25]))
    (tensor([0.75, 0.5 ]), tensor([ 2, -1], dtype=int32))
    """
    if into or options:
        return with_options(frexp, options, x, *into)
    return _frexp(x)


@composed
def _frexp(x: ArrayLike) -> tuple[Tensor, Tensor]:
    x = _real("frexp", x)
    exponent = _borrowed.frexp(x.detach())[1]
    return ldexp(x, -exponent), exponent


def ldexp(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``x1 * 2**x2`` for integers ``x2``.

    Raises
    ------
    TypeError
        If ``x2`` is not of integers.

    Notes
    -----
    The derivative for ``x1`` is :math:`2^{x_2}`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.ldexp(ng.tensor([0.75, 0.5]), [2, -1])
    tensor([3.  , 0.25])
    """
    if into or options:
        return with_options(ldexp, options, x1, x2, *into)
    x1, powers = _real("ldexp", x1), as_tensor(x2)
    if powers.dtype.kind not in "biu":
        raise TypeError(f"ldexp: powers of 2 must be integers, not {powers.dtype}")
    powers = powers.astype(np.int64).clip(-3000, 3000)
    y, third = x1.astype(np.float64, copy=False), powers // 3
    # In three steps: a factor alone may be infinite where the product is not.
    for part in (third, third, powers - 2 * third):
        y = y * (np.ldexp(1.0, values_of(part)) if is_known(part) else _pow(2.0, part * 1.0))
    return as_scalar(y.astype(x1.dtype, copy=False))


def nextafter(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the next number after ``x1`` towards ``x2``.

    Notes
    -----
    The derivative for ``x1`` is 1, that for ``x2`` is 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.nextafter(ng.tensor(1.0), 2.0) - 1.0 == ng.finfo(float).eps
    tensor(True)
    """
    if into or options:
        return with_options(nextafter, options, x1, x2, *into)
    dtype = np.result_type(kind_of_operand(x1), kind_of_operand(x2))
    dtype = dtype if dtype.kind in "fc" else np.dtype(np.float64)
    x1, x2 = (_real("nextafter", as_tensor(x).astype(dtype, copy=False)) for x in (x1, x2))
    return _borrowed.nextafter(x1, x2)


# Questions ----------------------------------------------------------------------------------------


def iscomplex(x: ArrayLike) -> Tensor:
    """Return where the imaginary part is not 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.iscomplex(ng.tensor([1 + 1j, 1 + 0j]))
    tensor([ True, False])
    """
    x = as_tensor(x)
    return not_equal(imag(x), 0) if x.dtype.kind == "c" else zeros(x.shape, bool)


def isreal(x: ArrayLike) -> Tensor:
    """Return where the imaginary part is 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.isreal(ng.tensor([1 + 1j, 1 + 0j]))
    tensor([False,  True])
    """
    return logical_not(iscomplex(x))


def isneginf(x: ArrayLike) -> Tensor:
    """Return where ``x`` is minus infinity; complex numbers are refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.isneginf(ng.tensor([-np.inf, 0.0, np.inf]))
    tensor([ True, False, False])
    """
    x = _real("isneginf", x)
    return logical_and(isinf(x), signbit(x))


def isposinf(x: ArrayLike) -> Tensor:
    """Return where ``x`` is infinity; complex numbers are refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.isposinf(ng.tensor([-np.inf, 0.0, np.inf]))
    tensor([False, False,  True])
    """
    x = _real("isposinf", x)
    return logical_and(isinf(x), logical_not(signbit(x)))


def real_if_close(a: ArrayLike, tol: float = 100) -> Tensor:
    """Return the real parts if all imaginary parts are near 0, else ``a``.

    Parameters
    ----------
    a : array_like
    tol : float
        How near: below 1 the distance, else in units of the rounding error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.real_if_close(ng.tensor([2.0 + 1e-15j]))
    tensor([2.])
    """
    a = as_tensor(a)
    if a.dtype.kind != "c":
        return a
    near = tol * float(np.finfo(a.dtype).eps) if tol > 1 else tol
    return real(a) if np.all(_abs(imag(a.detach())) < near) else a
