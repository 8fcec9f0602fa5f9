"""Integrals of `cos` and `sinh` over their argument, where SciPy's functions lose digits."""

import math

from ...._declare.foreign import ForeignFunction
from ...elementwise.double_double import in_single

SCIPYS_CI = ForeignFunction("sici", "d", "d", 2, 1)
SCIPYS_SHI = ForeignFunction("shichi", "d", "d", 2, 0)
ZERO, ZERO_REST = 3.3841804225511862, 1.972125462363411e-16
"""The second zero of the cosine integral, in two parts."""
LOW, HIGH, LARGE = 2.3, 4.0, 88.0
EPSILON = 1e-17


def cosine_integral(x):
    if in_single() or not LOW < x < HIGH:
        return SCIPYS_CI(x)
    return around_zero((x - ZERO) - ZERO_REST)


def around_zero(d):
    """Sum the Taylor series at the zero: ``part``, that of ``cos(x) / x``, obeys a recurrence."""
    cosine, turned = math.cos(ZERO), -math.sin(ZERO)
    total, part, power, k = 0.0, 0.0, 1.0, 0.0
    while abs(power) > EPSILON or abs(part) > EPSILON:
        part = (cosine * power - part * d) / ZERO
        k += 1
        total += part / k
        power *= d / k
        cosine, turned = turned, -cosine
    return total * d


def hyperbolic_sine_integral(x):
    """By the asymptotic series for large arguments (DLMF 6.12.1)."""
    if in_single() or not LARGE < abs(x) < math.inf:
        return SCIPYS_SHI(x)
    total, term, k = 1.0, 1.0, 0.0
    while abs(term) > EPSILON:
        k += 1
        term *= k / abs(x)
        total += term
    most = min(abs(x), 700.0)  # so that it overflows where the result does
    return math.exp(most) * (0.5 * total / x) * math.exp(abs(x) - most)
