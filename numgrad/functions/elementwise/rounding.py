"""Rounding, whose derivative is zero, and remainders."""

from typing import Any, Unpack

from ..._tensor import ArrayLike, Tensor, constant
from ...operators.elementwise import arithmetic as _elementwise
from ...operators.elementwise import rounding as _rounding
from ..array.argument_checks import integer
from ..array.operands import floats_of
from ..array.results import delivered
from ..creation.memory_order import in_order, order_of
from .universal import Options, UniversalFunctions, universal, with_options

_of = UniversalFunctions(__name__)

floor = _of.unary(
    _rounding.floor, "the largest integers not above ``x``, in its dtype", "0", at=("[-1.5, 1.5]",),
    value="tensor([-2.,  1.])", refuses="complex",
)
ceil = _of.unary(
    _rounding.ceil, "the smallest integers not below ``x``, in its dtype", "0", at=("[-1.5, 1.5]",),
    value="tensor([-1.,  2.])", refuses="complex",
)
trunc = fix = _of.unary(
    _rounding.trunc, "``x`` rounded towards zero", "0", at=("[-1.5, 1.5]",),
    value="tensor([-1.,  1.])", refuses="complex",
)


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
    """Return ``x`` rounded to integers, halves to even; integers are converted to float64."""
    if into or options:
        return with_options(rint, options, x, *into)
    return _rounding.rint(floats_of(x))


floor_divide = _of.binary(
    _rounding.floor_divide, "``floor(x1 / x2)``", "0", at=("[7.0, -7.0]", "[2.0, 2.0]"),
    value="tensor([ 3., -4.])", refuses="complex",
)
remainder = mod = _of.binary(
    _rounding.remainder, "``x1 - x2 * floor(x1 / x2)``, with the sign of ``x2``",
    "1 and ``-floor(x1 / x2)``", at=("[7.0, -7.0]", "[2.0, 2.0]"),
    gradient=("[1., 1.]", "[-3.,  4.]"), refuses="complex",
)
fmod = _of.binary(
    _rounding.fmod, "``x1 - x2 * trunc(x1 / x2)``, with the sign of ``x1``",
    "1 and ``-trunc(x1 / x2)``", at=("[7.0, -7.0]", "[2.0, 2.0]"),
    gradient=("[1., 1.]", "[-3.,  3.]"), refuses="complex",
)


def _decimals(x: Tensor, decimals: int) -> Tensor:
    if x.dtype.kind in "biu" and decimals > 0:
        return _rounding.rint(x)
    scale = 10.0 ** abs(decimals)
    there, back = _elementwise.multiply, _elementwise.divide
    if decimals < 0:
        there, back = back, there
    return back(_rounding.rint(there(x, scale)), scale).astype(x.dtype, copy=False)
