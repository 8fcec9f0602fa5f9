"""Trigonometric functions and their inverses."""

import math
from typing import Any, Unpack

from ..._errors import DtypeError
from ..._tensor import ArrayLike, Tensor
from ...operators.elementwise import arithmetic as _elementwise
from ...operators.elementwise import trigonometric as _trigonometric
from .universal import Options, UniversalFunctions, universal, with_options

_of = UniversalFunctions(__name__)

sin = _of.unary(_trigonometric.sin, "the sine", "``cos(x)``", "[0.96891242, 0.87758256]")
cos = _of.unary(_trigonometric.cos, "the cosine", "``-sin(x)``", "[-0.24740396, -0.47942554]")
tan = _of.unary(_trigonometric.tan, "the tangent", "``1 + tan(x)**2``", "[1.0651995 , 1.29844641]")
asin = arcsin = _of.unary(
    _trigonometric.asin, "the inverse sine",
    "``1 / sqrt((1 - x) * (1 + x))``: infinite at -1 and 1", "[1.03279556, 1.15470054]",
)
acos = arccos = _of.unary(
    _trigonometric.acos, "the inverse cosine",
    "``-1 / sqrt((1 - x) * (1 + x))``: infinite at -1 and 1", "[-1.03279556, -1.15470054]",
)
atan = arctan = _of.unary(
    _trigonometric.atan, "the inverse tangent", "``1 / (1 + x**2)``", "[0.94117647, 0.8       ]"
)
atan2 = arctan2 = _of.binary(
    _trigonometric.atan2, "the angle of the point ``(x2, x1)``, in ``[-pi, pi]``",
    "``x2 / r**2`` and ``-x1 / r**2`` with ``r = hypot(x1, x2)``, and 0 at\n"
    "the origin, where second derivatives do not exist and are NaN",
    at=("[3.0, 0.0]", "[4.0, 0.0]"), gradient=("[0.16, 0.  ]", "[-0.12,  0.  ]"), refuses="complex",
)


@universal(
    "The derivative is ``pi / 180``.",
    at=("[90.0, 180.0]",), value="tensor([1.57079633, 3.14159265])", refuses="complex",
)
def deg2rad(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return degrees as radians."""
    if into or options:
        return with_options(deg2rad, options, x, *into)
    return _scaled(x, math.pi / 180)


radians = deg2rad


@universal(
    "The derivative is ``180 / pi``.",
    at=("[0.5, 1.0]",), value="tensor([28.64788976, 57.29577951])", refuses="complex",
)
def rad2deg(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return radians as degrees."""
    if into or options:
        return with_options(rad2deg, options, x, *into)
    return _scaled(x, 180 / math.pi)


degrees = rad2deg


def _scaled(x: ArrayLike, factor: float) -> Tensor:
    y = _elementwise.multiply(x, factor)
    if y.dtype.kind == "c":
        raise DtypeError("an angle cannot be complex")
    return y
