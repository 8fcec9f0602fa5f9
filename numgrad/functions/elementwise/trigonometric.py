"""Trigonometric functions and their inverses."""

import math
from typing import Any, Unpack

from ..._errors import DtypeError
from ..._tensor import ArrayLike, Tensor
from ...operators.elementwise import arithmetic as _elementwise
from ...operators.elementwise import trigonometric as _trigonometric
from .universal import Options, universal, with_options


@universal("The derivative is ``cos(x)``.", gradient="[0.96891242, 0.87758256]")
def sin(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the sine."""
    return with_options(sin, options, x, *into) if into or options else _trigonometric.sin(x)


@universal("The derivative is ``-sin(x)``.", gradient="[-0.24740396, -0.47942554]")
def cos(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the cosine."""
    return with_options(cos, options, x, *into) if into or options else _trigonometric.cos(x)


@universal("The derivative is ``1 + tan(x)**2``.", gradient="[1.0651995 , 1.29844641]")
def tan(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the tangent."""
    return with_options(tan, options, x, *into) if into or options else _trigonometric.tan(x)


@universal(
    "The derivative is ``1 / sqrt((1 - x) * (1 + x))``: infinite at -1 and 1.",
    gradient="[1.03279556, 1.15470054]",
)
def asin(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the inverse sine."""
    return with_options(asin, options, x, *into) if into or options else _trigonometric.asin(x)


arcsin = asin


@universal(
    "The derivative is ``-1 / sqrt((1 - x) * (1 + x))``: infinite at -1 and 1.",
    gradient="[-1.03279556, -1.15470054]",
)
def acos(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the inverse cosine."""
    return with_options(acos, options, x, *into) if into or options else _trigonometric.acos(x)


arccos = acos


@universal("The derivative is ``1 / (1 + x**2)``.", gradient="[0.94117647, 0.8       ]")
def atan(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the inverse tangent."""
    return with_options(atan, options, x, *into) if into or options else _trigonometric.atan(x)


arctan = atan


@universal(
    "The derivatives are ``x2 / r**2`` and ``-x1 / r**2`` with ``r = hypot(x1, x2)``, and 0 at\n"
    "the origin, where second derivatives do not exist and are NaN.",
    at=("[3.0, 0.0]", "[4.0, 0.0]"), gradient=("[0.16, 0.  ]", "[-0.12,  0.  ]"), refuses="complex",
)
def atan2(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the angle of the point ``(x2, x1)``, in ``[-pi, pi]``."""
    if into or options:
        return with_options(atan2, options, x1, x2, *into)
    return _trigonometric.atan2(x1, x2)


arctan2 = atan2


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
