"""Functions of the bits of integers and booleans, of their divisors, and of gaps in floats."""

from typing import Any, Unpack

from ..._tensor import ArrayLike, Tensor
from ...operators.elementwise import comparison as _comparison
from ...operators.elementwise import numpy_functions as _borrowed
from .universal import Options, universal, with_options


@universal(at=("[6, 5]", "[2, 1]"), value="tensor([2, 1])", refuses="floating or complex")
def bitwise_and(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``x1 & x2`` of integers or booleans."""
    if into or options:
        return with_options(bitwise_and, options, x1, x2, *into)
    return _comparison.bitwise_and(x1, x2)


@universal(at=("[6, 5]", "[2, 1]"), value="tensor([6, 5])", refuses="floating or complex")
def bitwise_or(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``x1 | x2`` of integers or booleans."""
    if into or options:
        return with_options(bitwise_or, options, x1, x2, *into)
    return _comparison.bitwise_or(x1, x2)


@universal(at=("[6, 5]", "[2, 1]"), value="tensor([4, 4])", refuses="floating or complex")
def bitwise_xor(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``x1 ^ x2`` of integers or booleans."""
    if into or options:
        return with_options(bitwise_xor, options, x1, x2, *into)
    return _comparison.bitwise_xor(x1, x2)


@universal(at=("[6, 5]", "[2, 1]"), value="tensor([24, 10])", refuses="floating or complex")
def bitwise_left_shift(
    x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]
) -> Tensor:
    """Return ``x1 << x2`` of integers or booleans."""
    if into or options:
        return with_options(bitwise_left_shift, options, x1, x2, *into)
    return _comparison.bitwise_left_shift(x1, x2)


left_shift = bitwise_left_shift


@universal(at=("[6, 5]", "[2, 1]"), value="tensor([1, 2])", refuses="floating or complex")
def bitwise_right_shift(
    x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]
) -> Tensor:
    """Return ``x1 >> x2`` of integers or booleans."""
    if into or options:
        return with_options(bitwise_right_shift, options, x1, x2, *into)
    return _comparison.bitwise_right_shift(x1, x2)


right_shift = bitwise_right_shift


@universal(at=("[6, 5]",), value="tensor([-7, -6])", refuses="floating or complex")
def bitwise_invert(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``~x`` of integers or booleans."""
    if into or options:
        return with_options(bitwise_invert, options, x, *into)
    return _comparison.bitwise_invert(x)


bitwise_not = bitwise_invert
invert = bitwise_invert


@universal(at=("[12, 20]", "[8, 8]"), value="tensor([4, 4])", refuses="floating or complex")
def gcd(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the greatest common divisors of integers."""
    return with_options(gcd, options, x1, x2, *into) if into or options else _borrowed.gcd(x1, x2)


@universal(at=("[12, 20]", "[8, 8]"), value="tensor([24, 40])", refuses="floating or complex")
def lcm(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the least common multiples of integers."""
    return with_options(lcm, options, x1, x2, *into) if into or options else _borrowed.lcm(x1, x2)


@universal(at=("[6, -7]",), value="tensor([2, 3], dtype=uint8)", refuses="floating or complex")
def bitwise_count(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the numbers of ones among the bits of the absolute values of integers."""
    if into or options:
        return with_options(bitwise_count, options, x, *into)
    return _borrowed.bitwise_count(x)


@universal("Not differentiable: the result has no gradient.", at=("[1.0, 2.0]",),
           value="tensor([2.22044605e-16, 4.44089210e-16])", refuses="complex")  # fmt: skip
def spacing(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the distance to the next number that is larger in magnitude."""
    if into or options:
        return with_options(spacing, options, x, *into)
    return _borrowed.spacing(x.detach() if isinstance(x, Tensor) else x)
