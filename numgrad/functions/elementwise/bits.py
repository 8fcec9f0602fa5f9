"""Functions of the bits of integers and booleans, of their divisors, and of gaps in floats."""

from typing import Any, Unpack

from ..._tensor import ArrayLike, Tensor
from ...operators.elementwise import comparison as _comparison
from ...operators.elementwise import numpy_functions as _borrowed
from .universal import Options, UniversalFunctions, universal, with_options

_of = UniversalFunctions(__name__)
_OF_BITS: Any = {"at": ("[6, 5]", "[2, 1]"), "refuses": "floating or complex"}

bitwise_and = _of.binary(
    _comparison.bitwise_and, "``x1 & x2`` of integers or booleans",
    value="tensor([2, 1])", **_OF_BITS,
)
bitwise_or = _of.binary(
    _comparison.bitwise_or, "``x1 | x2`` of integers or booleans",
    value="tensor([6, 5])", **_OF_BITS,
)
bitwise_xor = _of.binary(
    _comparison.bitwise_xor, "``x1 ^ x2`` of integers or booleans",
    value="tensor([4, 4])", **_OF_BITS,
)
bitwise_left_shift = left_shift = _of.binary(
    _comparison.bitwise_left_shift, "``x1 << x2`` of integers or booleans",
    value="tensor([24, 10])", **_OF_BITS,
)
bitwise_right_shift = right_shift = _of.binary(
    _comparison.bitwise_right_shift, "``x1 >> x2`` of integers or booleans",
    value="tensor([1, 2])", **_OF_BITS,
)
bitwise_invert = bitwise_not = invert = _of.unary(
    _comparison.bitwise_invert, "``~x`` of integers or booleans", at=("[6, 5]",),
    value="tensor([-7, -6])", refuses="floating or complex",
)
gcd = _of.binary(
    _borrowed.gcd, "the greatest common divisors of integers", at=("[12, 20]", "[8, 8]"),
    value="tensor([4, 4])", refuses="floating or complex",
)
lcm = _of.binary(
    _borrowed.lcm, "the least common multiples of integers", at=("[12, 20]", "[8, 8]"),
    value="tensor([24, 40])", refuses="floating or complex",
)
bitwise_count = _of.unary(
    _borrowed.bitwise_count,
    "the numbers of ones among the bits of the absolute values of integers", at=("[6, -7]",),
    value="tensor([2, 3], dtype=uint8)", refuses="floating or complex",
)


@universal("Not differentiable: the result has no gradient.", at=("[1.0, 2.0]",),
           value="tensor([2.22044605e-16, 4.44089210e-16])", refuses="complex")  # fmt: skip
def spacing(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return the distance to the next number that is larger in magnitude."""
    if into or options:
        return with_options(spacing, options, x, *into)
    return _borrowed.spacing(x.detach() if isinstance(x, Tensor) else x)
