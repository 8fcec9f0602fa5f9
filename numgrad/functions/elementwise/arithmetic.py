"""Elementwise functions: arithmetic, absolute values and signs."""

from typing import Any, Unpack

import numpy as np

from ..._errors import DtypeError
from ..._tensor import ArrayLike, Tensor
from ...operators.elementwise import arithmetic as _elementwise
from ...operators.elementwise import complex_parts as _complex_parts
from ..array.operands import as_scalar, as_tensor
from .universal import Options, universal, with_options


@universal("The derivatives are 1 and 1.", gradient=("[1., 1.]", "[1., 1.]"))
def add(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``x1 + x2``."""
    if into or options:
        return with_options(add, options, x1, x2, *into)
    return _elementwise.add(x1, x2)


@universal("The derivatives are 1 and -1.", gradient=("[1., 1.]", "[-1., -1.]"))
def subtract(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``x1 - x2``."""
    if into or options:
        return with_options(subtract, options, x1, x2, *into)
    return _elementwise.subtract(x1, x2)


@universal("The derivatives are ``x2`` and ``x1``.", gradient=("[2., 2.]", "[1., 4.]"))
def multiply(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``x1 * x2``."""
    if into or options:
        return with_options(multiply, options, x1, x2, *into)
    return _elementwise.multiply(x1, x2)


@universal(
    "The derivatives are ``1 / x2`` and ``-x1 / x2**2``.", gradient=("[0.5, 0.5]", "[-0.25, -1.  ]")
)
def divide(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``x1 / x2``; integers are divided as float64."""
    if into or options:
        return with_options(divide, options, x1, x2, *into)
    return _elementwise.divide(x1, x2)


true_divide = divide


@universal("The derivative is -1.", gradient="[-1., -1.]")
def negative(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``-x``."""
    if into or options:
        return with_options(negative, options, x, *into)
    return _elementwise.negative(x)


@universal("The derivative is 1.", gradient="[1., 1.]")
def positive(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``+x``, a copy."""
    if into or options:
        return with_options(positive, options, x, *into)
    return as_scalar(_elementwise.copy(x))


@universal("The derivative is ``-1 / x**2``.", gradient="[-16.,  -4.]")
def reciprocal(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``1 / x``; integers are converted to float64, unlike NumPy's."""
    if into or options:
        return with_options(reciprocal, options, x, *into)
    return _elementwise.reciprocal(x)


@universal(
    "The derivative is `sign`: 0 at 0. For a complex ``x`` it is ``x / abs(x)``, the direction of\n"
    "steepest ascent, and at 0 there is no second derivative: NaN.",
    at=("[-2.0, 0.0, 3.0]",), gradient="[-1.,  0.,  1.]",
)
def abs(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the absolute value, real for complex arguments."""
    return with_options(abs, options, x, *into) if into or options else _elementwise.absolute(x)


absolute = abs


@universal(
    "The derivative is `sign`: 0 at 0.",
    at=("[-2.0, 0.0, 3.0]",), gradient="[-1.,  0.,  1.]", refuses="complex",
)
def fabs(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the absolute value of real numbers."""
    if into or options:
        return with_options(fabs, options, x, *into)
    if _is_complex(x):
        raise DtypeError("fabs is not defined for complex arguments; use abs")
    return _elementwise.absolute(x)


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
