"""Comparisons, logic and tests of numbers: functions without derivative."""

from ...operators.elementwise import comparison as _comparison
from .universal import UniversalFunctions

_of = UniversalFunctions(__name__)
_NUMBERS = ("[1.0, 2.0]", "[2.0, 2.0]")
_TRUTHS = ("[True, False]", "[True, True]")
_SPECIAL = ('[1.0, float("inf"), float("nan")]',)

equal = _of.binary(
    _comparison.equal, "``x1 == x2`` as booleans, without derivative",
    at=_NUMBERS, value="tensor([False,  True])",
)
not_equal = _of.binary(
    _comparison.not_equal, "``x1 != x2`` as booleans, without derivative",
    at=_NUMBERS, value="tensor([ True, False])",
)
less = _of.binary(
    _comparison.less, "``x1 < x2`` as booleans, without derivative",
    at=_NUMBERS, value="tensor([ True, False])", refuses="complex",
)
less_equal = _of.binary(
    _comparison.less_equal, "``x1 <= x2`` as booleans, without derivative",
    at=_NUMBERS, value="tensor([ True,  True])", refuses="complex",
)
greater = _of.binary(
    _comparison.greater, "``x1 > x2`` as booleans, without derivative",
    at=_NUMBERS, value="tensor([False, False])", refuses="complex",
)
greater_equal = _of.binary(
    _comparison.greater_equal, "``x1 >= x2`` as booleans, without derivative",
    at=_NUMBERS, value="tensor([False,  True])", refuses="complex",
)
logical_and = _of.binary(
    _comparison.logical_and, "where both arguments are true, that is not 0",
    at=_TRUTHS, value="tensor([ True, False])",
)
logical_or = _of.binary(
    _comparison.logical_or, "where at least one argument is true, that is not 0",
    at=_TRUTHS, value="tensor([ True,  True])",
)
logical_xor = _of.binary(
    _comparison.logical_xor, "where exactly one argument is true, that is not 0",
    at=_TRUTHS, value="tensor([False,  True])",
)
logical_not = _of.unary(
    _comparison.logical_not, "where ``x`` is 0", at=("[0.0, 2.0]",), value="tensor([ True, False])"
)
isnan = _of.unary(
    _comparison.isnan, "where ``x`` is NaN", at=_SPECIAL,
    value="tensor([False, False,  True])",
)
isinf = _of.unary(
    _comparison.isinf, "where ``x`` is infinite", at=_SPECIAL,
    value="tensor([False,  True, False])",
)
isfinite = _of.unary(
    _comparison.isfinite, "where ``x`` is neither infinite nor NaN",
    at=_SPECIAL, value="tensor([ True, False, False])",
)
signbit = _of.unary(
    _comparison.signbit, "where the sign of ``x`` is negative, that of -0.0 included",
    at=("[-1.0, -0.0, 0.0]",), value="tensor([ True,  True, False])", refuses="complex",
)
