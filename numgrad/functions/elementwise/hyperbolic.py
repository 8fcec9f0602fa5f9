"""Hyperbolic functions and their inverses."""

from ...operators.elementwise import trigonometric as _trigonometric
from .universal import UniversalFunctions

_of = UniversalFunctions(__name__)

sinh = _of.unary(
    _trigonometric.sinh, "the hyperbolic sine", "``cosh(x)``", "[1.0314131 , 1.12762597]"
)
cosh = _of.unary(
    _trigonometric.cosh, "the hyperbolic cosine", "``sinh(x)``", "[0.25261232, 0.52109531]"
)
tanh = _of.unary(
    _trigonometric.tanh, "the hyperbolic tangent", "``1 - tanh(x)**2``", "[0.94001485, 0.78644773]"
)
asinh = arcsinh = _of.unary(
    _trigonometric.asinh, "the inverse hyperbolic sine", "``1 / sqrt(1 + x**2)``",
    "[0.9701425 , 0.89442719]",
)
acosh = arccosh = _of.unary(
    _trigonometric.acosh, "the inverse hyperbolic cosine",
    "``1 / (sqrt(x - 1) * sqrt(x + 1))``: infinite at 1", at=("[1.0, 2.0]",),
    gradient="[       inf, 0.57735027]",
)
atanh = arctanh = _of.unary(
    _trigonometric.atanh, "the inverse hyperbolic tangent", "``1 / ((1 - x) * (1 + x))``",
    "[1.06666667, 1.33333333]",
)
