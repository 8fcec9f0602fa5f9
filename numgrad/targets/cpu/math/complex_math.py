"""The ``math`` of complex kernels: functions of `cmath`, and the few names that only `math` has.

A name that is missing here has no complex version, and a kernel that uses it is refused. Some of
Numba's versions overflow where the result is finite, or raise, which would end the loop over the
elements: those functions are written anew here. Literals get the dtype of the kernel, as in all
scalar functions.
"""

import cmath
import math
from cmath import *  # noqa: F403  # pyright: ignore  what follows replaces most
from collections.abc import Callable
from typing import Any

import numpy as np
from numba.core import types
from numba.extending import intrinsic

LIMITS: dict[Any, Callable[[Any], float]] = {}
"""Functions that return a constant of a dtype, each with the function that computes it from
`finfo`."""


def _limit(number: Callable[[Any], float]) -> Any:
    """Return a function of a real number whose value is a constant of the number's dtype.

    ``number`` computes the constant, such as the largest finite number, from the dtype's `finfo`.
    """

    def typing(typingctx, x):
        kind = x if isinstance(x, types.Float) else types.float64
        constant = float(number(np.finfo(str(kind))))
        return kind(x), lambda context, *_: context.get_constant(kind, constant)

    made = intrinsic(typing)
    LIMITS[made] = number
    return made


_small = _limit(lambda info: info.tiny * 4)
_large = _limit(lambda info: info.max / 8)
_tiny = _limit(lambda info: np.sqrt(info.eps) / 2)
_most_of_exp = _limit(lambda info: math.log(info.max))

_UP = 2.0**60
_LOG_10, _LOG_QUARTER, _LOG_UP = math.log(10), math.log(0.25), 60 * math.log(2)


def sqrt(z):
    a, b = z.real, z.imag
    size = max(abs(a), abs(b))
    if (a == 0 and b == 0) or math.isinf(b):
        return complex(abs(b), b)
    if math.isnan(a):
        return complex(a, a)
    if math.isinf(a) and a > 0:
        return complex(a, math.copysign(b - b, b))
    if math.isinf(a):
        return complex(abs(b - b), math.copysign(a, b))
    back = 1.0
    if size > 2 * _large(a):
        a, b, back = a * 0.25, b * 0.25, 2.0
    elif size < _small(a):
        a, b, back = a * _UP, b * _UP, 2.0**-30
    t = math.sqrt((abs(a) + math.hypot(a, b)) * 0.5)
    other = abs(b) / (t + t)
    first, second = (t, other) if a >= 0 else (other, t)
    return complex(first * back, math.copysign(second, b) * back)


def log(z):
    a, b = z.real, z.imag
    size, length = max(abs(a), abs(b)), math.hypot(a, b)
    if size > 2 * _large(a):
        logarithm = math.log(math.hypot(a * 0.25, b * 0.25)) - _LOG_QUARTER
    elif size < _small(a):
        logarithm = math.log(math.hypot(a * _UP, b * _UP)) - _LOG_UP
    elif 0.7 < length < 1.7:  # the length's distance from 1 must not be rounded
        other = min(abs(a), abs(b))
        logarithm = 0.5 * math.log1p((size - 1) * (size + 1) + other * other)
    else:
        logarithm = math.log(length)
    return complex(logarithm, math.atan2(b, a))


def log10(z):
    y = log(z)
    return complex(y.real / _LOG_10, y.imag / _LOG_10)


def exp(z):
    a, b = z.real, z.imag
    if b == 0:
        return complex(math.exp(a), b)
    if _is_far(a) and a > 0:
        return _exp_by_halves(a, b, 1.0)
    if math.isinf(a) and a < 0 and not math.isfinite(b):
        zero = math.exp(a)
        return complex(zero, math.copysign(zero, b))
    return cmath.exp(complex(a, b))


def _is_far(a):
    """Whether ``exp(abs(a))`` is infinite, while its product with a sine may be finite."""
    return _most_of_exp(a) < abs(a) < 2 * _most_of_exp(a)


def _exp_by_halves(a, b, factor):
    """Return ``factor * exp(a + b j)``, computed with ``exp(a / 2)`` twice, as ``exp(a)``
    overflows."""
    root = math.exp(a * 0.5)
    return complex(root * factor * math.cos(b) * root, root * factor * math.sin(b) * root)


# On the axes one factor of a part is 0, and the other may be infinite. Numba's functions return
# numbers where both parts are infinite, and its inverse functions do so for NaN. These functions
# agree with the C library, from which NumPy takes its own, in signs of zeros too, and in the number
# beside a part that is NaN.


def sinh(z):
    a, b = z.real, z.imag
    if math.isinf(a) and not math.isfinite(b):
        return complex(abs(a), b - b)
    if b == 0:
        return complex(math.sinh(a), b)
    if a == 0:
        return complex(a * math.cos(b), math.sin(b)) if math.isfinite(b) else complex(a, b - b)
    if _is_far(a):
        y = _exp_by_halves(abs(a), b, 0.5)
        return complex(math.copysign(1.0, a) * y.real, y.imag)
    return cmath.sinh(complex(a, b))


def cosh(z):
    a, b = z.real, z.imag
    if math.isinf(a) and math.isinf(b):
        return complex(abs(a), b - b)
    if b == 0:
        return complex(math.cosh(a), b if math.isnan(a) else math.copysign(1.0, a) * b)
    if a == 0:
        return complex(math.cos(b), a * math.sin(b)) if math.isfinite(b) else complex(b - b, abs(a))
    if _is_far(a):
        y = _exp_by_halves(abs(a), b, 0.5)
        return complex(y.real, math.copysign(1.0, a) * y.imag)
    return cmath.cosh(complex(a, b))


def tanh(z):
    a, b = z.real, z.imag
    if (math.isnan(a) and b == 0) or (a == 0 and math.isnan(b)):
        return complex(a, b)
    if a == 0 and math.isinf(b):
        return complex(a, b - b)
    if math.isinf(a) and math.isinf(b):
        return complex(math.copysign(1.0, a), math.copysign(0.0, b))
    return cmath.tanh(complex(a, b))


def asinh(z):
    a, b = z.real, z.imag
    if (abs(a) < _tiny(a) and abs(b) < _tiny(a)) or (math.isnan(a) and b == 0):
        return complex(a, b)
    if abs(a) > _large(a) or abs(b) > _large(a):
        return cmath.asinh(complex(a, b))
    first, second = sqrt(complex(1 + b, -a)), sqrt(complex(1 - b, a))
    return complex(
        math.asinh(first.real * second.imag - second.real * first.imag),
        math.atan2(b, first.real * second.real - first.imag * second.imag),
    )


def acosh(z):
    a, b = z.real, z.imag
    if a == 0 and math.isnan(b):
        return complex(b, math.pi / 2)
    if abs(a) > _large(a) or abs(b) > _large(a):
        return cmath.acosh(complex(a, b))
    first, second = sqrt(complex(a - 1, b)), sqrt(complex(a + 1, b))
    return complex(
        math.asinh(first.real * second.real + first.imag * second.imag),
        2 * math.atan2(first.imag, second.real),
    )


def acos(z):
    a, b = z.real, z.imag
    if a == 0 and math.isnan(b):
        return complex(math.pi / 2, b)
    if abs(a) > _large(a) or abs(b) > _large(a):
        return cmath.acos(complex(a, b))
    first, second = sqrt(complex(1 - a, -b)), sqrt(complex(1 + a, b))
    return complex(
        2 * math.atan2(first.real, second.real),
        math.asinh(second.real * first.imag - second.imag * first.real),
    )


def atanh(z):
    a, b = z.real, z.imag
    if a == 0 and math.isnan(b):
        return complex(a, b)
    if math.isnan(a) and math.isfinite(b):
        return complex(a, a)
    return cmath.atanh(complex(a, b))


def _reflected(hyperbolic: Callable) -> Callable:
    """Return the circular function for a hyperbolic function: the sine for the hyperbolic sine.

    Real and imaginary part change places in the argument and in the result, so that signs of zeros
    and branch cuts carry over.
    """

    def circular(z):
        y = hyperbolic(complex(z.imag, z.real))
        return complex(y.imag, y.real)

    return circular


sin, tan, asin, atan = map(_reflected, (sinh, tanh, asinh, atanh))


def cos(z):
    return cosh(complex(-z.imag, z.real))
