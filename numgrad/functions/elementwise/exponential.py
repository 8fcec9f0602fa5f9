"""Exponential functions and logarithms."""

from ...operators.elementwise import exponential as _exponential
from .universal import UniversalFunctions

_of = UniversalFunctions(__name__)

exp = _of.unary(_exponential.exp, "``e**x``", "``exp(x)``", "[1.28402542, 1.64872127]")
exp2 = _of.unary(_exponential.exp2, "``2**x``", "``log(2) * exp2(x)``", "[0.82429556, 0.98025814]")
expm1 = _of.unary(
    _exponential.expm1, "``exp(x) - 1``, precise near 0", "``exp(x)``", "[1.28402542, 1.64872127]"
)
log = _of.unary(_exponential.log, "the natural logarithm", "``1 / x``", "[4., 2.]")
log2 = _of.unary(
    _exponential.log2, "the logarithm to base 2", "``1 / (x * log(2))``", "[5.77078016, 2.88539008]"
)
log10 = _of.unary(
    _exponential.log10, "the logarithm to base 10", "``1 / (x * log(10))``",
    "[1.73717793, 0.86858896]",
)
log1p = _of.unary(
    _exponential.log1p, "``log(1 + x)``, precise near 0", "``1 / (1 + x)``",
    "[0.8       , 0.66666667]",
)
logaddexp = _of.binary(
    _exponential.logaddexp, "``log(exp(x1) + exp(x2))`` without overflow",
    "``exp(x1 - y)`` and ``exp(x2 - y)``, their sum is 1; each is a half for\n"
    "equal infinities",
    ("[0.26894142, 0.88079708]", "[0.73105858, 0.11920292]"), refuses="complex",
)
logaddexp2 = _of.binary(
    _exponential.logaddexp2, "``log2(2**x1 + 2**x2)`` without overflow",
    "``2**(x1 - y)`` and ``2**(x2 - y)``", ("[0.33333333, 0.8       ]", "[0.66666667, 0.2       ]"),
    refuses="complex",
)
