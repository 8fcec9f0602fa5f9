"""The confluent hypergeometric limit function 0F1, by its power series where it is short enough."""

import math

from ...._declare.foreign import ForeignFunction
from ...elementwise.arithmetic import where
from ...elementwise.double_double import added, in_single, quotient, sum_rest, times
from ..bessel.bessel import i0e

SCIPYS = ForeignFunction("hyp0f1", "dd")
LONG, LARGE, FIT = 100.0, 1e5, 20.0
LOWEST, LEAST, HIGHEST = -200.0, 1e-100, 1e30
EPSILON = 1e-18


def limit_function(v, z):
    """Terms of one sign are added as they are, those that cancel in twice the precision."""
    is_regular = not in_single() and abs(v) > LEAST and (v > 0 or LOWEST < v != math.floor(v))
    if not (is_regular and (abs(z) <= LONG or abs(z) <= FIT * v < HIGHEST)):
        return elsewhere(v, z)
    if v > 0 and (z > 0 or -z <= max(v, 1.0)):
        return series(v, z)
    return twofold_series(v, z)


def series(v, z):
    total, term, k = 1.0, 1.0, 0.0
    while abs(term) > EPSILON * abs(total):
        term *= z / ((v + k) * (k + 1))
        total += term
        k += 1
    return total


def twofold_series(v, z):
    """Sum the series to as many digits as cancel in it; the largest terms come first."""
    total, total_rest, term, term_rest, k = 1.0, 0.0, 1.0, 0.0, 0.0
    while abs(term) > EPSILON * abs(total) or v + k < 0:
        down, down_rest = times(v + k, sum_rest(v, k), k + 1, 0.0)
        term, term_rest = times(term, term_rest, z, 0.0)
        term, term_rest = quotient(term, term_rest, down, down_rest)
        total, total_rest = added(total, total_rest, term, term_rest)
        k += 1
    return total


def elsewhere(v, z):
    """``i0(2 * sqrt(z))`` where SciPy's function divides by ``v - 1`` and raises in a kernel."""
    is_bessel = (v == 1) & (z > LARGE)
    root = math.sqrt(where(is_bessel, min(z, 1e6), 0.0))  # of more it is infinite
    half = math.exp(root)
    return where(is_bessel, i0e(2 * root) * half * half, SCIPYS(v, where(is_bessel, 1.0, z)))
