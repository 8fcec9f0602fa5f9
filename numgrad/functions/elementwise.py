"""Elementwise functions: arithmetic; the other chapters of elementwise functions by name."""

from typing import Any, Unpack

import numpy as np

from .._errors import DtypeError
from .._tensor import ArrayLike, Tensor
from ..operators import complex_parts as _complex_parts
from ..operators import elementwise as _elementwise
from .bits import bitwise_and as bitwise_and
from .bits import bitwise_count as bitwise_count
from .bits import bitwise_invert as bitwise_invert
from .bits import bitwise_left_shift as bitwise_left_shift
from .bits import bitwise_not as bitwise_not
from .bits import bitwise_or as bitwise_or
from .bits import bitwise_right_shift as bitwise_right_shift
from .bits import bitwise_xor as bitwise_xor
from .bits import gcd as gcd
from .bits import invert as invert
from .bits import lcm as lcm
from .bits import left_shift as left_shift
from .bits import right_shift as right_shift
from .bits import spacing as spacing
from .comparison import equal as equal
from .comparison import greater as greater
from .comparison import greater_equal as greater_equal
from .comparison import isfinite as isfinite
from .comparison import isinf as isinf
from .comparison import isnan as isnan
from .comparison import less as less
from .comparison import less_equal as less_equal
from .comparison import logical_and as logical_and
from .comparison import logical_not as logical_not
from .comparison import logical_or as logical_or
from .comparison import logical_xor as logical_xor
from .comparison import not_equal as not_equal
from .comparison import signbit as signbit
from .complex_parts import angle as angle
from .complex_parts import conj as conj
from .complex_parts import conjugate as conjugate
from .complex_parts import imag as imag
from .complex_parts import real as real
from .exponential import exp as exp
from .exponential import exp2 as exp2
from .exponential import expm1 as expm1
from .exponential import log as log
from .exponential import log1p as log1p
from .exponential import log2 as log2
from .exponential import log10 as log10
from .exponential import logaddexp as logaddexp
from .exponential import logaddexp2 as logaddexp2
from .hyperbolic import acosh as acosh
from .hyperbolic import arccosh as arccosh
from .hyperbolic import arcsinh as arcsinh
from .hyperbolic import arctanh as arctanh
from .hyperbolic import asinh as asinh
from .hyperbolic import atanh as atanh
from .hyperbolic import cosh as cosh
from .hyperbolic import sinh as sinh
from .hyperbolic import tanh as tanh
from .operands import as_scalar
from .powers import cbrt as cbrt
from .powers import hypot as hypot
from .powers import pow as pow
from .powers import power as power
from .powers import sqrt as sqrt
from .powers import square as square
from .rounding import around as around
from .rounding import ceil as ceil
from .rounding import fix as fix
from .rounding import floor as floor
from .rounding import floor_divide as floor_divide
from .rounding import fmod as fmod
from .rounding import mod as mod
from .rounding import remainder as remainder
from .rounding import rint as rint
from .rounding import round as round
from .rounding import trunc as trunc
from .selection import clip as clip
from .selection import copysign as copysign
from .selection import fmax as fmax
from .selection import fmin as fmin
from .selection import maximum as maximum
from .selection import minimum as minimum
from .selection import nan_to_num as nan_to_num
from .selection import where as where
from .trigonometric import acos as acos
from .trigonometric import arccos as arccos
from .trigonometric import arcsin as arcsin
from .trigonometric import arctan as arctan
from .trigonometric import arctan2 as arctan2
from .trigonometric import asin as asin
from .trigonometric import atan as atan
from .trigonometric import atan2 as atan2
from .trigonometric import cos as cos
from .trigonometric import deg2rad as deg2rad
from .trigonometric import degrees as degrees
from .trigonometric import rad2deg as rad2deg
from .trigonometric import radians as radians
from .trigonometric import sin as sin
from .trigonometric import tan as tan
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
    "steepest ascent.",
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
    return (x if isinstance(x, (Tensor, np.ndarray)) else np.asarray(x)).dtype.kind == "c"
