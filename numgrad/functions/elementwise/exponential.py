"""Exponential functions and logarithms."""

from typing import Any, Unpack

from ..._tensor import ArrayLike, Tensor
from ...operators.elementwise import exponential as _exponential
from .universal import Options, universal, with_options


@universal("The derivative is ``exp(x)``.", gradient="[1.28402542, 1.64872127]")
def exp(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``e**x``."""
    return with_options(exp, options, x, *into) if into or options else _exponential.exp(x)


@universal("The derivative is ``log(2) * exp2(x)``.", gradient="[0.82429556, 0.98025814]")
def exp2(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``2**x``."""
    return with_options(exp2, options, x, *into) if into or options else _exponential.exp2(x)


@universal("The derivative is ``exp(x)``.", gradient="[1.28402542, 1.64872127]")
def expm1(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``exp(x) - 1``, precise near 0."""
    return with_options(expm1, options, x, *into) if into or options else _exponential.expm1(x)


@universal("The derivative is ``1 / x``.", gradient="[4., 2.]")
def log(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the natural logarithm."""
    return with_options(log, options, x, *into) if into or options else _exponential.log(x)


@universal("The derivative is ``1 / (x * log(2))``.", gradient="[5.77078016, 2.88539008]")
def log2(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the logarithm to base 2."""
    return with_options(log2, options, x, *into) if into or options else _exponential.log2(x)


@universal("The derivative is ``1 / (x * log(10))``.", gradient="[1.73717793, 0.86858896]")
def log10(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the logarithm to base 10."""
    return with_options(log10, options, x, *into) if into or options else _exponential.log10(x)


@universal("The derivative is ``1 / (1 + x)``.", gradient="[0.8       , 0.66666667]")
def log1p(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``log(1 + x)``, precise near 0."""
    return with_options(log1p, options, x, *into) if into or options else _exponential.log1p(x)


@universal(
    "The derivatives are ``exp(x1 - y)`` and ``exp(x2 - y)``, their sum is 1; each is a half for\n"
    "equal infinities.",
    gradient=("[0.26894142, 0.88079708]", "[0.73105858, 0.11920292]"), refuses="complex",
)
def logaddexp(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``log(exp(x1) + exp(x2))`` without overflow."""
    if into or options:
        return with_options(logaddexp, options, x1, x2, *into)
    return _exponential.logaddexp(x1, x2)


@universal(
    "The derivatives are ``2**(x1 - y)`` and ``2**(x2 - y)``.",
    gradient=("[0.33333333, 0.8       ]", "[0.66666667, 0.2       ]"), refuses="complex",
)
def logaddexp2(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``log2(2**x1 + 2**x2)`` without overflow."""
    if into or options:
        return with_options(logaddexp2, options, x1, x2, *into)
    return _exponential.logaddexp2(x1, x2)
