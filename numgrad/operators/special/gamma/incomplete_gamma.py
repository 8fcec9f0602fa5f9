"""The incomplete gamma function, both its parts, from series and a continued fraction."""

import math

from ...._declare.foreign import ForeignFunction
from ...elementwise.double_double import in_single, product_rest
from .stirling import gamma_power
from .temme import is_near, near_part

EPSILON = 1e-17
LEAST, LARGEST, HUGE, SHORT = 1e-15, 1e15, 1e6, 1e-6
SCIPYS_INVERSE = ForeignFunction("gammaincinv", "dd")
SCIPYS_UPPER_INVERSE = ForeignFunction("gammainccinv", "dd")


def gamma_lower(a, x):
    """The part below ``x``, regularized."""
    return gamma_parts(a, x, 0.0, True)


def gamma_upper(a, x):
    """The part above ``x``, regularized."""
    return gamma_parts(a, x, 0.0, False)


def scaled_lower(a, b, x):
    """The lower part of shape ``b`` at ``a * x``."""
    return gamma_parts(b, a * x, scaled_rest(a, x), True) if x >= 0 else math.nan


def scaled_upper(a, b, x):
    """The upper part of shape ``b`` at ``a * x``."""
    return gamma_parts(b, a * x, scaled_rest(a, x), False) if x >= 0 else math.nan


def scaled_rest(a, x):
    """What ``a * x`` lacks, where that can be told."""
    return product_rest(a, x) if LEAST < a < LARGEST and LEAST < x < LARGEST else 0.0


def gamma_parts(a, x, rest, is_lower):
    """The lower part at ``x + rest``, or the upper one; the smaller one is computed."""
    is_inside = a > 0 and 0 < x < math.inf and a < math.inf
    near = is_inside and is_near(a, x)
    if not is_inside or (max(a, x) > HUGE and not near):
        share = lower_end(a, x)
        return share if is_lower else 1 - share
    power = 0.0 if near and rest == 0 else gamma_power(a, x)
    slope = power * (a / x) * rest if rest != 0 else 0.0
    if near:
        return near_part(a, x, -1.0) + slope if is_lower else near_part(a, x, 1.0) - slope
    if not is_lower and x < 1 and a <= 0.5:
        return small_upper(a, x, power) - slope
    if x < a or x < 1:
        share = power * lower_series(a, x) + slope
        return share if is_lower else 1 - share
    share = power * a * upper_fraction(a, x) - slope
    return 1 - share if is_lower else share


def lower_end(a, x):
    """The lower part where it is 0 or 1, NaN outside of its domain."""
    if not (a >= 0 and x >= 0) or (a == 0 and x == 0) or (a == math.inf and x == math.inf):
        return math.nan
    return 0.0 if x == 0 or x < a else 1.0


def lower_series(a, x):
    """The power series of terms of one sign (DLMF 8.7.1)."""
    total, term, k = 1.0, 1.0, a
    while term > EPSILON * total:
        k += 1
        term *= x / k
        total += term
    return total


def upper_fraction(a, x):
    """Legendre's continued fraction (DLMF 8.9.2), its even part by Steed's method."""
    b, k = x + 1 - a, 0.0
    d = 1 / b
    total = term = d
    while abs(term) > EPSILON * total:
        k += 1
        b += 2
        d = 1 / (b + k * (a - k) * d)
        term *= b * d - 1
        total += term
    return total


def small_upper(a, x, power):
    """Of small ``a`` and ``x``, where the lower part is near 1: what its power series (DLMF 8.7.1)
    lacks of 1."""
    total, term, k = 0.0, -1.0, 0.0
    while abs(term) > EPSILON:
        k += 1
        term *= -x / k
        total += term / (a + k)
    log = a * (math.log(x) - share_of_log_gamma(a)) + math.log1p(a)
    return a * power * math.exp(x) * total - math.expm1(log)


def share_of_log_gamma(a):
    """``(lgamma(1 + a) + log1p(a)) / a`` from 0 to a half: a polynomial of Chebyshev's nodes, by
    mpmath's ``chebyfit`` with 12 coefficients; its error is below 1e-16."""
    y = 8.96580715718132e-05 + a * (-3.005904161836656e-05 + a * 5.763774510194423e-06)
    y = 0.0005083691791556547 + a * (-0.0002188242517510404 + a * y)
    y = 0.002890474483898533 + a * (-0.001192489166672072 + a * y)
    y = 0.020580808268974054 + a * (-0.007385547930299381 + a * y)
    y = 0.3224670334240691 + a * (-0.06735230104897598 + a * y)
    return 0.4227843350984672 + a * y


def lower_inverse(a, p):
    """Where the lower part is ``p``: SciPy's number after a step of Newton's method."""
    return moved(a, p, SCIPYS_INVERSE(a, p), p < 0.5)


def upper_inverse(a, p):
    """Where the upper part is ``p``."""
    return moved(a, p, SCIPYS_UPPER_INVERSE(a, p), p > 0.5)


def moved(a, p, x, is_low):
    """Return ``x`` after the step. The part that is computed is the smaller one: the lower part or
    the upper one."""
    if in_single() or not 0 < x < math.inf:
        return x
    share = min(p, 1 - p)
    lack = share - gamma_parts(a, x, 0.0, is_low)
    step = (x if is_low else -x) * (lack / (a * gamma_power(a, x)))
    return x + step if abs(lack) < SHORT * share else x
