"""Powers, roots and the length of a vector."""

from typing import Any, Unpack

from ..._tensor import ArrayLike, Tensor
from ...operators.elementwise import arithmetic as _elementwise
from ...operators.elementwise import powers as _powers
from .universal import Options, UniversalFunctions, universal, with_options

_of = UniversalFunctions(__name__)

square = _of.unary(_powers.square, "``x * x``", "``2 * x``", "[0.5, 1. ]")
sqrt = _of.unary(
    _powers.sqrt, "the square root", "``0.5 / sqrt(x)``: infinite at 0, NaN below",
    at=("[0.0, 4.0]",), gradient="[ inf, 0.25]",
)
cbrt = _of.unary(
    _powers.cbrt, "the cube root", "``1 / (3 * cbrt(x)**2)``: infinite at 0", at=("[-8.0, 1.0]",),
    gradient="[0.08333333, 0.33333333]", refuses="complex",
)


@universal(
    "The derivatives are ``x2 * x1**(x2 - 1)`` and ``x1**x2 * log(x1)``.\n"
    "\n"
    "``x**0`` has the derivative 0 everywhere (NaN where x is NaN). In the exponent, ``0**x2``\n"
    "has the derivative 0 for ``x2 >= 0``, and that of a negative base is NaN.\n"
    "\n"
    "Some exponents that are Python numbers are computed without a logarithm: 2 by `square`, and\n"
    "of floating and complex tensors 3, 4 and 6 by products, -1 by `reciprocal`, -2 by its square\n"
    "and 0.5 by `sqrt`. So many roundings are off by less than 3 units in the last place.",
    at=("[2.0, 0.0]", "[3.0, 2.0]"), gradient=("[12.,  0.]", "[5.54517744, 0.        ]"),
)
def pow(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``x1**x2``."""
    if into or options:
        return with_options(pow, options, x1, x2, *into)
    if type(x2) is int and x2 == 2:
        return _powers.square(x1)
    if type(x2) in (int, float) and isinstance(x1, Tensor) and x1.dtype.kind in "fc":
        function = _SHORT.get(x2)
        if function is not None:
            return function(x1)
    return _powers.power(x1, x2)




def _in_turn(*functions: Any) -> Any:
    """Return the composition of functions, of which the first is applied first."""

    def apply(x: Any) -> Any:
        for function in functions:
            x = function(x)
        return x

    return apply


# With more roundings than these a power by a logarithm has clearly more digits.
_SHORT = {
    -2: _in_turn(_elementwise.reciprocal, _powers.square),
    -1: _elementwise.reciprocal,
    0.5: _powers.sqrt,
    2: _powers.square,
    3: _powers.cube,
    4: _in_turn(_powers.square, _powers.square),
    6: _in_turn(_powers.cube, _powers.square),
}

power = pow


hypot = _of.binary(
    _powers.hypot, "``sqrt(x1**2 + x2**2)`` without overflow",
    "``x1 / y`` and ``x2 / y``, and 0 at the origin, where second derivatives\n"
    "do not exist and are NaN",
    at=("[3.0, 0.0]", "[4.0, 0.0]"), gradient=("[0.6, 0. ]", "[0.8, 0. ]"), refuses="complex",
)
