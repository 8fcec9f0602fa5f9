"""Bessel functions of order 0 and 1: power series, Taylor series, and Hankel's for large arguments.

SciPy's have an error of 1e-16 where they are largest, which is much between their zeros; the angle
of Hankel's expansion is not rounded here.
"""

import math

from ...._declare.foreign import ForeignFunction
from ...elementwise.double_double import LN2, in_single
from .taylor_nodes import FIRST, J0, J1, LAST, Y0, Y1

SCIPYS_J0, SCIPYS_J1 = ForeignFunction("j0", "d"), ForeignFunction("j1", "d")
SCIPYS_Y0, SCIPYS_Y1 = ForeignFunction("y0", "d"), ForeignFunction("y1", "d")
LOW, HIGH, TERMS = FIRST - 0.5, LAST + 0.5, 22
EULER, TWO_OVER_PI = 0.5772156649015329, 2 / math.pi


def j0(x):
    if in_single():
        return SCIPYS_J0(x)
    z = abs(x)
    if z < LOW:
        return first(0.0, z)
    if z < HIGH:
        return taylor(J0, J1, z, 0.0)
    return hankel(0.0, z, 0.0)


def j1(x):
    if in_single():
        return SCIPYS_J1(x)
    z = abs(x)
    if z < LOW:
        value = 0.5 * z * first(1.0, z)
    elif z < HIGH:
        value = taylor(J0, J1, z, 1.0)
    else:
        value = hankel(1.0, z, 0.0)
    return -value if x < 0 else value


def y0(x):
    if in_single() or not x > 0:
        return SCIPYS_Y0(x)
    if x < LOW:
        return TWO_OVER_PI * ((math.log(x) - LN2 + EULER) * first(0.0, x) - second(0.0, x))
    if x < HIGH:
        return taylor(Y0, Y1, x, 0.0)
    return hankel(0.0, x, 1.0)


def y1(x):
    if in_single() or not x > 0:
        return SCIPYS_Y1(x)
    if x < LOW:
        part = (math.log(x) - LN2) * first(1.0, x) - second(1.0, x)
        return TWO_OVER_PI * (0.5 * x * part - 1 / x)
    if x < HIGH:
        return taylor(Y0, Y1, x, 1.0)
    return hankel(1.0, x, 1.0)


def first(order, x):
    """Return the power series of the first kind (DLMF 10.2.2), without its power."""
    r, total, k = -0.25 * x * x, 1.0, 16.0
    for _ in range(16):
        total = 1 + r / (k * (k + order)) * total
        k -= 1
    return total


def second(order, x):
    """Return the sum with harmonic numbers in the second kind (DLMF 10.8.1), without its power."""
    r, k, term = -0.25 * x * x, 0.0, 1.0
    weight = 0.5 - EULER if order == 1 else 0.0
    total = weight
    for _ in range(16):
        k += 1
        term *= r / (k * (k + order))
        weight += 0.5 / k + 0.5 / (k + order)
        total += term * weight
    return total


def taylor(zeros, ones, x, order):
    """Return the series at the next integer ``z`` of a function of order 0, or its slope times -1.

    Its coefficients follow from ``(z + d) y'' + y' + (z + d) y = 0``.
    """
    z = math.floor(x + 0.5)
    d, inverse, place = x - z, 1 / z, int(z) - FIRST
    before, last, next = 0.0, zeros[place], -ones[place]
    total, slope, power, n = last, next, d, 0.0
    total += next * d
    for _ in range(TERMS):
        n += 1
        other = -((n * n * next + before) * inverse + last) / (n * (n + 1))
        before, last, next = last, next, other
        slope += (n + 1) * other * power
        power *= d
        total += other * power
    return -slope if order == 1 else total


def hankel(order, x, kind):
    """Return the asymptotic expansion (DLMF 10.17.3); angles less than pi / 4 by the sines and
    cosines of ``x`` itself."""
    mu = 4 * order * order
    p, q, term, k = 1.0, 0.0, 1.0, 0.0
    for _ in range(TERMS // 2 + 1):
        odd = 2 * (2 * k) + 1
        term *= (mu - odd * odd) / ((2 * k + 1) * 8 * x)
        q += term
        odd += 2
        term *= -(mu - odd * odd) / ((2 * k + 2) * 8 * x)
        p += term
        k += 1
    cosine, sine = math.cos(x), math.sin(x)
    plus, minus = cosine + sine, sine - cosine
    if order == 1:
        plus, minus = minus, -plus
    value = p * plus - q * minus if kind == 0 else p * minus + q * plus
    return value / math.sqrt(math.pi * x)
