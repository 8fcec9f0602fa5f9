"""Hyperbolic functions and their inverses."""

from typing import Any, Unpack

from ..._tensor import ArrayLike, Tensor
from ...operators.elementwise import trigonometric as _trigonometric
from .universal import Options, universal, with_options


@universal("The derivative is ``cosh(x)``.", gradient="[1.0314131 , 1.12762597]")
def sinh(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the hyperbolic sine."""
    return with_options(sinh, options, x, *into) if into or options else _trigonometric.sinh(x)


@universal("The derivative is ``sinh(x)``.", gradient="[0.25261232, 0.52109531]")
def cosh(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the hyperbolic cosine."""
    return with_options(cosh, options, x, *into) if into or options else _trigonometric.cosh(x)


@universal("The derivative is ``1 - tanh(x)**2``.", gradient="[0.94001485, 0.78644773]")
def tanh(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the hyperbolic tangent."""
    return with_options(tanh, options, x, *into) if into or options else _trigonometric.tanh(x)


@universal("The derivative is ``1 / sqrt(1 + x**2)``.", gradient="[0.9701425 , 0.89442719]")
def asinh(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the inverse hyperbolic sine."""
    return with_options(asinh, options, x, *into) if into or options else _trigonometric.asinh(x)


arcsinh = asinh


@universal(
    "The derivative is ``1 / (sqrt(x - 1) * sqrt(x + 1))``: infinite at 1.",
    at=("[1.0, 2.0]",), gradient="[       inf, 0.57735027]",
)
def acosh(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the inverse hyperbolic cosine."""
    return with_options(acosh, options, x, *into) if into or options else _trigonometric.acosh(x)


arccosh = acosh


@universal("The derivative is ``1 / ((1 - x) * (1 + x))``.", gradient="[1.06666667, 1.33333333]")
def atanh(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the inverse hyperbolic tangent."""
    return with_options(atanh, options, x, *into) if into or options else _trigonometric.atanh(x)


arctanh = atanh
