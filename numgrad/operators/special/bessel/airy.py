"""Airy functions and their derivatives: Taylor series at integers, and asymptotic series.

SciPy's lose digits where Ai is small, and where the exponent is large, which is twofold here.
"""

import math

from ...._declare.foreign import ForeignFunction
from ...elementwise.double_double import exp_of, in_single, product_rest, times
from .taylor_nodes import AI, AIP, BI, BIP, LOWEST

SCIPYS_AI = ForeignFunction("airy", "d", "d", 4, 0)
SCIPYS_AIP = ForeignFunction("airy", "d", "d", 4, 1)
SCIPYS_BI = ForeignFunction("airy", "d", "d", 4, 2)
SCIPYS_BIP = ForeignFunction("airy", "d", "d", 4, 3)
FAR, TOO_FAR, TERMS = 10.5, 1000.0, 28
TWO_THIRDS, TWO_THIRDS_REST = 0.6666666666666666, 3.700743415417188e-17
SQRT_PI = math.sqrt(math.pi)


def airy_ai(x):
    """Between integers from the one above, as the function grows to the left."""
    if in_single() or not abs(x) < TOO_FAR:
        return SCIPYS_AI(x)
    if abs(x) < FAR:
        return taylor(AI, AIP, x, math.ceil(x), False)
    return decaying(x, False) if x > 0 else waves(-x, 1.0, 0.0, False)


def airy_aip(x):
    """The derivative of Ai."""
    if in_single() or not abs(x) < TOO_FAR:
        return SCIPYS_AIP(x)
    if abs(x) < FAR:
        return taylor(AI, AIP, x, math.ceil(x), True)
    return decaying(x, True) if x > 0 else waves(-x, 0.0, 1.0, True)


def airy_bi(x):
    """Between integers from the one below, as the function grows to the right."""
    if in_single() or not abs(x) < TOO_FAR:
        return SCIPYS_BI(x)
    if abs(x) < FAR:
        return taylor(BI, BIP, x, math.floor(x), False)
    return growing(x, False) if x > 0 else waves(-x, 0.0, -1.0, False)


def airy_bip(x):
    """The derivative of Bi."""
    if in_single() or not abs(x) < TOO_FAR:
        return SCIPYS_BIP(x)
    if abs(x) < FAR:
        return taylor(BI, BIP, x, math.floor(x), True)
    return growing(x, True) if x > 0 else waves(-x, 1.0, 0.0, True)


def taylor(values, slopes, x, z, is_slope):
    """Return a series at the integer ``z``, below 0 at the next one; ``y'' = (z + d) y`` gives its
    coefficients."""
    z = z if x > 0 else math.floor(x + 0.5)
    d, place = x - z, int(z) - LOWEST
    before, last, next = 0.0, values[place], slopes[place]
    total, slope, power, n = last + next * d, next, d, 0.0
    for _ in range(TERMS):
        n += 1
        other = (z * last + before) / (n * (n + 1))
        before, last, next = last, next, other
        slope += (n + 1) * other * power
        power *= d
        total += other * power
    return slope if is_slope else total


def exponent(x):
    """Return ``2 / 3 * x**1.5``, twofold."""
    root = math.sqrt(x)
    root_rest = ((x - root * root) - product_rest(root, root)) / (2 * root)
    power, rest = times(x, 0.0, root, root_rest)
    return times(power, rest, TWO_THIRDS, TWO_THIRDS_REST)


def decaying(x, is_slope):
    """Ai or its derivative (DLMF 9.7.5 and 9.7.6)."""
    zeta, rest = exponent(x)
    even, odd = series(zeta, 1.0, is_slope)
    value = exp_of(-zeta, -rest) * (even - odd) / (2 * SQRT_PI)
    fourth = math.sqrt(math.sqrt(x))
    return -value * fourth if is_slope else value / fourth


def growing(x, is_slope):
    """Bi or its derivative (DLMF 9.7.7 and 9.7.8)."""
    zeta, rest = exponent(x)
    even, odd = series(zeta, 1.0, is_slope)
    fourth = math.sqrt(math.sqrt(x))
    half = exp_of(0.5 * zeta, 0.5 * rest)  # the whole might overflow
    value = half * (even + odd) / SQRT_PI
    return half * (value * fourth if is_slope else value / fourth)


def waves(x, cosines, sines, is_slope):
    """Return a function at ``-x`` (DLMF 9.7.9 to 9.7.12), of the angle ``zeta - pi / 4``: with
    ``cosines`` and ``sines`` of it before the even part of the series."""
    zeta, rest = exponent(x)
    even, odd = series(zeta, -1.0, is_slope)
    cosine, sine = math.cos(zeta), math.sin(zeta)
    cosine, sine = cosine - rest * sine, sine + rest * cosine
    cosine, sine = cosine + sine, sine - cosine
    value = (cosines * cosine + sines * sine) * even
    value += (cosines * sine - sines * cosine) * odd
    fourth = math.sqrt(math.sqrt(x))
    return value / (math.sqrt(2.0) * SQRT_PI) * (fourth if is_slope else 1 / fourth)


def series(zeta, sign, is_slope):
    """Return the even and the odd terms of ``sum(u[k] / zeta**k)`` (DLMF 9.7.2), or those of ``v``;
    ``sign`` is what the square of ``zeta`` has."""
    even, odd, term, k = 1.0, 0.0, 1.0, 0.0
    for _ in range(TERMS // 2):
        k += 1
        term *= (6 * k - 5) * (6 * k - 3) * (6 * k - 1) / (216 * k * (2 * k - 1) * zeta)
        odd += term * ((6 * k + 1) / (1 - 6 * k) if is_slope else 1.0)
        k += 1
        term *= sign * (6 * k - 5) * (6 * k - 3) * (6 * k - 1) / (216 * k * (2 * k - 1) * zeta)
        even += term * ((6 * k + 1) / (1 - 6 * k) if is_slope else 1.0)
    return even, odd
