"""Rounding, whose derivative is zero, and remainders."""

from typing import Any, Unpack

from ..._tensor import ArrayLike, Tensor, constant
from ...operators.elementwise import arithmetic as _elementwise
from ...operators.elementwise import rounding as _rounding
from ..array.argument_checks import integer
from ..array.results import delivered
from ..creation.memory_order import in_order, order_of
from .universal import Options, universal, with_options


@universal(
    "The derivative is 0.", at=("[-1.5, 1.5]",), value="tensor([-2.,  1.])", refuses="complex"
)
def floor(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the largest integers not above ``x``, in its dtype."""
    return with_options(floor, options, x, *into) if into or options else _rounding.floor(x)


@universal(
    "The derivative is 0.", at=("[-1.5, 1.5]",), value="tensor([-1.,  2.])", refuses="complex"
)
def ceil(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the smallest integers not below ``x``, in its dtype."""
    return with_options(ceil, options, x, *into) if into or options else _rounding.ceil(x)


@universal(
    "The derivative is 0.", at=("[-1.5, 1.5]",), value="tensor([-1.,  1.])", refuses="complex"
)
def trunc(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``x`` rounded towards zero."""
    return with_options(trunc, options, x, *into) if into or options else _rounding.trunc(x)


fix = trunc


def round(a: ArrayLike, decimals: int = 0, out: Tensor | None = None) -> Tensor:
    """Return ``a`` rounded to ``decimals`` places, halves to even.

    Parameters
    ----------
    a : array_like
        Any shape.
    decimals : int
        Places after the decimal point; negative numbers round to tens, hundreds and so on.
    out : Tensor, optional
        Where the result is written.

    Notes
    -----
    The derivative is 0. Of complex numbers both parts are rounded.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.round(ng.tensor([0.5, 1.5, 2.25]))
    tensor([0., 2., 2.])
    >>> ng.round(ng.tensor([1.25, 12.348]), decimals=1)
    tensor([ 1.2, 12.3])
    """
    places = integer(decimals, "decimals")
    a = a if isinstance(a, Tensor) else constant(a)
    y = in_order(_decimals(a, places), order_of(a)) if places else _rounding.rint(a)
    return delivered(y, out, "round")


around = round


@universal(
    "The derivative is 0. Of complex numbers both parts are rounded.",
    at=("[0.5, 1.5]",), value="tensor([0., 2.])",
)
def rint(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``x`` rounded to integers, halves to even."""
    return with_options(rint, options, x, *into) if into or options else _rounding.rint(x)


@universal(
    "The derivatives are 0.",
    at=("[7.0, -7.0]", "[2.0, 2.0]"), value="tensor([ 3., -4.])", refuses="complex",
)
def floor_divide(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``floor(x1 / x2)``."""
    if into or options:
        return with_options(floor_divide, options, x1, x2, *into)
    return _rounding.floor_divide(x1, x2)


@universal(
    "The derivatives are 1 and ``-floor(x1 / x2)``.",
    at=("[7.0, -7.0]", "[2.0, 2.0]"), gradient=("[1., 1.]", "[-3.,  4.]"), refuses="complex",
)
def remainder(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``x1 - x2 * floor(x1 / x2)``, with the sign of ``x2``."""
    if into or options:
        return with_options(remainder, options, x1, x2, *into)
    return _rounding.remainder(x1, x2)


mod = remainder


@universal(
    "The derivatives are 1 and ``-trunc(x1 / x2)``.",
    at=("[7.0, -7.0]", "[2.0, 2.0]"), gradient=("[1., 1.]", "[-3.,  3.]"), refuses="complex",
)
def fmod(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``x1 - x2 * trunc(x1 / x2)``, with the sign of ``x1``."""
    return with_options(fmod, options, x1, x2, *into) if into or options else _rounding.fmod(x1, x2)


def _decimals(x: Tensor, decimals: int) -> Tensor:
    if x.dtype.kind in "biu" and decimals > 0:
        return _rounding.rint(x)
    scale = 10.0 ** abs(decimals)
    there, back = _elementwise.multiply, _elementwise.divide
    if decimals < 0:
        there, back = back, there
    return back(_rounding.rint(there(x, scale)), scale).astype(x.dtype, copy=False)
