"""Kummer's confluent hypergeometric function 1F1, by its power series where it is short enough."""

import math

from ...._declare.foreign import ForeignFunction
from ...elementwise.arithmetic import where
from ...elementwise.double_double import added, in_single, quotient, sum_rest, times

SCIPYS = ForeignFunction("hyp1f1", "ddd")
LONG, MOST, LEAST, HUGE = 32.0, 40.0, 1e-100, 1e10
EPSILON = 1e-18


def kummer(a, b, x):
    """Negative arguments by Kummer's transformation (DLMF 13.2.39), so that terms of the series
    have different signs for negative parameters only, and do not cancel much there."""
    is_pole = abs(b) < LEAST or (b < 0 and b == math.floor(b))
    if in_single() or is_pole or not (abs(x) <= LONG and abs(a) <= MOST and abs(b) <= MOST):
        return elsewhere(a, b, x)
    if x >= 0 or (a <= 0 and a == math.floor(a)):
        return series(a, 0.0, b, x)
    return math.exp(x) * series(b - a, sum_rest(b, -a), b, -x)


def series(a, a_rest, b, x):
    if a < 0 or b < 0:
        return twofold_series(a, a_rest, b, x)
    total, term, k = 1.0, 1.0, 0.0
    while term > EPSILON * total or 0 < k < x:
        term *= (a + k) * x / ((b + k) * (k + 1))
        total += term
        k += 1
    return total


def twofold_series(a, a_rest, b, x):
    """Sum the series to as many digits as cancel in it."""
    total, total_rest, term, term_rest, k = 1.0, 0.0, 1.0, 0.0, 0.0
    while abs(term) > EPSILON * abs(total) or k < max(abs(x), -b):
        up, up_rest = times(a + k, sum_rest(a, k) + a_rest, x, 0.0)
        down, down_rest = times(b + k, sum_rest(b, k), k + 1, 0.0)
        up, up_rest = quotient(up, up_rest, down, down_rest)
        term, term_rest = times(term, term_rest, up, up_rest)
        total, total_rest = added(total, total_rest, term, term_rest)
        k += 1
    return total


def elsewhere(a, b, x):
    """The limit for huge arguments, of which SciPy's function sums a series without an end.

    ``gamma(b) / gamma(a) * exp(x) * x**(a - b)`` is infinite by far there; for negative ones, a
    polynomial times an exponential is 0, which is also the limit at minus infinity.
    """
    is_infinite = (x > HUGE) & (x > 4 * (abs(a) + abs(b))) & ((a > 0) | (a != math.floor(a)))
    is_product = (b <= a) & (b - a == math.floor(b - a))
    is_zero = (a > 0) & (x < -HUGE) & (is_product | (x == -math.inf))
    is_limit = is_infinite | is_zero
    value = where(is_limit, 0.0, SCIPYS(a, b, where(is_limit, 1.0, x)))
    # The gamma function is negative where the floor of its argument is negative and odd.
    turns = where(a < 0, math.floor(a), 0.0) + where(b < 0, math.floor(b), 0.0)
    sign = 1 - 2 * (turns - 2 * math.floor(0.5 * turns))
    return where(is_infinite, sign * math.inf, value)
