"""The incomplete beta function, both its parts, from a continued fraction."""

import math

from ...._declare.foreign import ForeignFunction
from ...elementwise.double_double import added, exp_of, in_single, log_of, quotient, sum_rest, times
from .beta_functions import SMALL
from .stirling import TWO_PI, lifted

SCIPYS_LOWER, SCIPYS_UPPER = ForeignFunction("betainc", "ddd"), ForeignFunction("betaincc", "ddd")
EPSILON = 1e-17
LEAST, LARGEST, SLENDER, TINY = 1e-30, 1e4, 0.5, 0.01


def beta_lower(a, b, x):
    """The part below ``x``, regularized."""
    if not (serves(a, b) and 0 < x < 1):
        return SCIPYS_LOWER(a, b, x)
    return beta_part(a, b, x, 0.0, 1 - x, sum_rest(1.0, -x), True)


def serves(a, b):
    """Whether the fraction is short enough, nothing underflows, and digits matter."""
    return not in_single() and LEAST < a < LARGEST and LEAST < b < LARGEST


def beta_part(a, b, x, x_rest, y, y_rest, is_lower):
    """The lower part at the twofold ``x``, or the upper one, where ``y`` is ``1 - x``."""
    if x * max(b, 1.0) > y * max(a, 1.0):
        a, x, x_rest, b, y, y_rest = b, y, y_rest, a, x, x_rest
        is_lower = not is_lower
    if not is_lower and a < SLENDER:  # the lower part is near 1
        return SCIPYS_UPPER(a, b, x) if x < TINY else SCIPYS_LOWER(b, a, y)
    share = beta_power(a, b, x, x_rest, y, y_rest) * beta_fraction(a, b, x, y)
    return share if is_lower else 1 - share


def beta_power(a, b, x, x_rest, y, y_rest):
    """``x**a * y**b / beta(a, b)``; of large parameters, their shares go to the powers."""
    if a + b < SMALL:
        high, low = log_of(x, x_rest)
        more, rest = log_of(y, y_rest)
        high, low = times(a, 0.0, high, low)
        more, rest = times(b, 0.0, more, rest)
        high, low = added(high, low, more, rest)
        return exp_of(high, low) / math.gamma(a) * (math.gamma(a + b) / math.gamma(b))
    u, _, n, product, series = lifted(a, 0.0)
    v, _, m, other, others = lifted(b, 0.0)
    w, w_rest, k, whole, wholes = lifted(a + b, sum_rest(a, b))
    high, low = relative_power(a, x, x_rest, w, w_rest, u)
    more, rest = relative_power(b, y, y_rest, w, w_rest, v)
    high, low = added(high, low, more, rest)
    high, low = added(high, low, n + m - k, wholes - series - others)
    return exp_of(high, low) * math.sqrt(u * (v / w) / TWO_PI) * (product / whole * other)


def relative_power(a, x, x_rest, w, w_rest, u):
    """Return the logarithm of ``(x * w / u)**a``, twofold."""
    p, p_rest = times(x, x_rest, w, w_rest)
    q, q_rest = quotient(p, p_rest, u, 0.0)
    high, low = log_of(q, q_rest)
    return times(a, 0.0, high, low)


def beta_fraction(a, b, x, y):
    """The even part of the continued fraction DLMF 8.17.22, by Steed's method."""
    k, s, r, apart = 0.0, a + b, 1 / (a + 1), a * y - b * x + 1
    d = 1 / (a * r * apart)
    total = term = d
    while abs(term) > EPSILON * total:
        k += 1
        last, r = r, 1 / (a + 2 * k + 1)
        c = k * (b - k) * x * last
        p = (a + (k - 1)) * (s + (k - 1)) * x * last * c
        q = k + c + (a + k) * (apart + k * (1 + y)) * r
        d = 1 / (p * d + q)
        term *= q * d - 1
        total += term
    return total
