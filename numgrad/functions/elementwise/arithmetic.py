"""Elementwise functions: arithmetic, absolute values and signs."""

from typing import Any, Unpack

import numpy as np

from ..._errors import DtypeError
from ..._tensor import ArrayLike, Tensor
from ...operators.elementwise import arithmetic as _elementwise
from ...operators.elementwise import complex_parts as _complex_parts
from ..array.operands import as_scalar, as_tensor, floats_of
from .universal import Options, UniversalFunctions, universal, with_options

_of = UniversalFunctions(__name__)

add = _of.binary(_elementwise.add, "``x1 + x2``", "1 and 1", ("[1., 1.]", "[1., 1.]"))
subtract = _of.binary(_elementwise.subtract, "``x1 - x2``", "1 and -1", ("[1., 1.]", "[-1., -1.]"))
multiply = _of.binary(
    _elementwise.multiply, "``x1 * x2``", "``x2`` and ``x1``", ("[2., 2.]", "[1., 4.]")
)
divide = true_divide = _of.binary(
    _elementwise.divide, "``x1 / x2``; integers are divided as float64",
    "``1 / x2`` and ``-x1 / x2**2``", ("[0.5, 0.5]", "[-0.25, -1.  ]"),
)
negative = _of.unary(_elementwise.negative, "``-x``", "-1", "[-1., -1.]")


@universal("The derivative is 1.", gradient="[1., 1.]")
def positive(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``+x``, a copy."""
    if into or options:
        return with_options(positive, options, x, *into)
    return as_scalar(_elementwise.copy(x))


reciprocal = _of.unary(
    _elementwise.reciprocal, "``1 / x``; integers are converted to float64, unlike NumPy's",
    "``-1 / x**2``", "[-16.,  -4.]",
)
abs = absolute = _of.unary(
    _elementwise.absolute, "the absolute value, real for complex arguments",
    "`sign`: 0 at 0. For a complex ``x`` it is ``x / abs(x)``, the direction of\n"
    "steepest ascent, and at 0 there is no second derivative: NaN",
    at=("[-2.0, 0.0, 3.0]",), gradient="[-1.,  0.,  1.]",
)


@universal(
    "The derivative is `sign`: 0 at 0.",
    at=("[-2.0, 0.0, 3.0]",), gradient="[-1.,  0.,  1.]", refuses="complex",
)
def fabs(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the absolute value of real numbers; integers are converted to float64."""
    if into or options:
        return with_options(fabs, options, x, *into)
    if _is_complex(x):
        raise DtypeError("fabs is not defined for complex arguments; use abs")
    return _elementwise.absolute(floats_of(x))


@universal(
    "The derivative is 0. For complex ``y = x / abs(x)`` the cotangent ``g`` becomes ``(g - y *\n"
    "real(conj(g) * y)) / abs(x)``, and 0 at ``x = 0``.",
    at=("[-2.0, 0.0, 3.0]",), value="tensor([-1.,  0.,  1.])",
)
def sign(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return -1, 0 or 1, for complex numbers ``x / abs(x)``."""
    if into or options:
        return with_options(sign, options, x, *into)
    return _complex_parts.direction(x) if _is_complex(x) else _elementwise.sign(x)


def _is_complex(x: ArrayLike) -> bool:
    return (x if isinstance(x, (Tensor, np.ndarray)) else as_tensor(x)).dtype.kind == "c"
