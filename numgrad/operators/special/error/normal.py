"""The normal distribution and what error functions are times exponentials, to the last digits.

The exponential of ``x**2`` loses as many digits as ``x**2`` has before its point, and the error
function of ``x / sqrt(2)`` as much again. So squares are twofold here, and what an argument lacks
is made good by its derivative.
"""

import math

from ...._declare.foreign import ForeignFunction
from ...elementwise.arithmetic import where
from ...elementwise.double_double import SQRT_HALF, exp_of, in_single, product_rest

SQRT_HALF_REST, SQRT_HALF_REST_SINGLE = -4.833646656726457e-17, 1.210161710447897e-08
TWO_OVER_SQRT_PI, SQRT_HALF_PI = 2 / math.sqrt(math.pi), math.sqrt(math.pi / 2)
FAR, FAR_SINGLE, TERMS = 10.0, 6.0, 13
"""From here on, with so many terms, asymptotic series have all digits."""
SHARES = 150
"""Terms of a continued fraction, which has all digits above 1."""

SCIPYS_NDTRI_EXP = ForeignFunction("ndtri_exp", "d")


def exp_square(x):
    """``exp(x**2)``"""
    square = x * x
    value = math.exp(square)
    return value + value * product_rest(x, x) if value < math.inf else value


def bell(x):
    """``exp(-x**2)``"""
    value = math.exp(-x * x)
    rest = value * product_rest(x, x)
    return where(abs(rest) < math.inf, value - rest, value)


def half_bell(x):
    """``exp(-x**2 / 2)``"""
    value = math.exp(-0.5 * x * x)
    rest = 0.5 * value * product_rest(x, x)
    return where(abs(rest) < math.inf, value - rest, value)


def next_share(x):
    """Half of what the slope of `erfcx` is of its value, negative, from a continued fraction
    (DLMF 7.22.2); for ``x > 1``."""
    share, k = 0.0, 1.0 * SHARES + 1
    for _ in range(SHARES):
        share, k = 0.5 / (x + k * share), k - 1
    return share


def erfcx_derivative(k, x):
    """Derivative ``k`` of `erfcx`. Above 1 a recurrence takes differences of nearly equal numbers;
    there quotients of each and the one before are a continued fraction."""
    value = erfcx(x)
    if x > 1:
        share, n = 0.0, 1.0 * SHARES
        for _ in range(SHARES):
            share = 0.5 / (x + (n + 1) * share)
            value = -2 * n * share * value if n <= k else value
            n -= 1
        return value
    last, j = 0.0, 0.0
    for _ in range(int(k)):
        start = -TWO_OVER_SQRT_PI if j == 0 else 0.0
        last, value, j = value, start + 2 * (x * value + j * last), j + 1
    return value


def log_ndtr_slope(x):
    if x > 0:
        return half_bell(x) / (2 * SQRT_HALF_PI * ndtr(x))
    if x < -1e5:
        return -x - 1 / x  # `erfcx` may be too small for its digits
    return 1 / (SQRT_HALF_PI * erfcx_above_0(-SQRT_HALF * x))


def log_ndtr_excess(x):
    """``x`` and the slope of `log_ndtr`, which are nearly opposite far below 0."""
    if x < -1.5:
        return 2 * SQRT_HALF * next_share(-SQRT_HALF * x)
    return x + log_ndtr_slope(x)


def tail(r):
    """``1 - r + 3 r**2 - 15 r**3 + ...``, the asymptotic series of `erfcx` (DLMF 7.12.1)."""
    total, k = 1.0, 2.0 * TERMS - 1
    for _ in range(TERMS):
        total = 1 - k * r * total
        k -= 2
    return total


def erfcx(x):
    if x < 0:
        return 2 * exp_square(x) - erfcx_above_0(-x)
    return erfcx_above_0(x)


def erfcx_above_0(x):
    if x > (FAR_SINGLE if in_single() else FAR):
        return 0.5 * TWO_OVER_SQRT_PI * tail(0.5 / (x * x)) / x
    return exp_square(x) * math.erfc(x)


def ndtr(x):
    """Half of ``erfc(-x / sqrt(2))``, and what the argument lacks times the slope."""
    t = -SQRT_HALF * x
    if abs(x) > 100:
        return 0.5 * math.erfc(t)
    lacking = SQRT_HALF_REST_SINGLE if in_single() else SQRT_HALF_REST
    rest = -product_rest(SQRT_HALF, x) - lacking * x
    return 0.5 * (math.erfc(t) - TWO_OVER_SQRT_PI * math.exp(-t * t) * rest)


def log_ndtr(x):
    if x > 0:
        return math.log1p(-ndtr(-x))
    if x > -1:
        return math.log(ndtr(x))
    return math.log(0.5 * erfcx_above_0(-SQRT_HALF * x)) - 0.5 * x * x


def ndtri_exp(x):
    """SciPy's value, and one step of Newton's method for the logarithm."""
    value = SCIPYS_NDTRI_EXP(x)
    if in_single() or not abs(value) < math.inf:
        return value
    step = (log_ndtr(value) - x) * SQRT_HALF_PI * erfcx(-SQRT_HALF * value)
    return value - where(abs(step) < 1, step, 0.0)


# Dawson's integral -------------------------------------------------------------------------------

SQRT_PI, SIXTEENTH, HALF = math.sqrt(math.pi), math.exp(-1 / 16), math.exp(-0.5)
NEAR, NODES = 0.5, 13


def dawson(x):
    """By its power series, by Rybicki's sum, and for large arguments by the asymptotic series."""
    if abs(x) < NEAR:
        return near_0(x)
    if abs(x) > FAR:
        return 0.5 / x * tail(-0.5 / (x * x))
    return rybicki(x) if x > 0 else -rybicki(-x)


def near_0(x):
    total, k = 1.0, 27.0
    for _ in range(TERMS):
        total = 1 - 2 * x * x / k * total
        k -= 2
    return x * total


def rybicki(x):
    """Return the sum over odd ``n`` of ``exp(-(x - n * h)**2) / (n * sqrt(pi))`` for ``h = 1 / 4``,
    of which the error is ``exp(-(2 * pi)**2)``; it is begun next to ``x`` (Rybicki 1989)."""
    center = round(2 * x)
    d = x - 0.5 * center
    center = 2 * center
    rise, fall = math.exp(0.5 * d), math.exp(-0.5 * d)
    up, down, weight, ratio, n, total = rise, fall, SIXTEENTH, HALF, 1.0, 0.0
    for _ in range(NODES):
        pair = up * (center - n) + down * (center + n)
        total += weight * pair / ((center - n) * (center + n))
        up, down = up * rise * rise, down * fall * fall
        weight, ratio, n = weight * ratio, ratio * HALF, n + 2
    return math.exp(-d * d) / SQRT_PI * total


def erfi(x):
    if abs(x) > 30:
        return math.copysign(math.inf, x)
    half = exp_of(0.5 * x * x, 0.5 * product_rest(x, x))  # the whole might overflow
    return half * (TWO_OVER_SQRT_PI * dawson(x) * half)
