"""Slopes of the incomplete beta function in its parameters.

The continued fraction is differentiated step by step, as Boik and Robison-Cox (1998) do. The powers
before it have known slopes, so that the sum is as exact as the function itself, in its tails too.
"""

import math

from ...elementwise.double_double import product_rest
from ..logistic import digamma_tail, polygamma_difference

EPSILON, LARGE = 1e-17, 12.0
MOST = 100_000.0
"""How many steps of the fraction are taken; parameters up to 1e8 need fewer."""


def beta_draw(a, b, p, q):
    """Minus the slope of the incomplete beta function in ``a`` at ``p / (p + q)``, over its
    density.

    It is how a draw moves with ``a`` if its probability stays. That with ``b`` is the negative of
    the same, with both pairs of arguments exchanged.
    """
    s = p + q
    if not (a > 0 and b > 0 and p >= 0 and q >= 0 and s > 0 and max(a, b) < math.inf > s):
        return math.nan
    x, y = p / s, q / s
    if x == 0 or y == 0:
        return 0.0
    apart = (p * b - q * a + (product_rest(p, b) - product_rest(q, a))) / s
    if x * max(b, 1.0) > y * max(a, 1.0):
        fraction, _, slope = sloped_fraction(b, a, y, x, apart)
        return x * y * fraction / b * (rate(a, b, x, y, apart, 0.0) + slope)
    fraction, slope, _ = sloped_fraction(a, b, x, y, -apart)
    return -x * y * fraction / a * (rate(a, b, x, y, apart, 1.0) + slope)


def rate(a, b, x, y, apart, later):
    """``log(x) + digamma(a + b) - digamma(a + later)``, where ``later`` is 0 or 1. Of large
    parameters near the middle it is small: there the logarithms are taken together."""
    w = a + b
    if min(a, b) > LARGE and abs(apart) < 0.5 * a:
        ends = later / a - 0.5 / a + 0.5 / w
        tails = digamma_tail(1 / (a * a)) - digamma_tail(1 / (w * w))
        return math.log1p(apart / a) - ends + tails
    log = math.log(x) if x < 0.5 else math.log1p(-y)
    return log + polygamma_difference(0.0, a + later, b - later)


def sloped_fraction(a, b, x, y, apart):
    """Return ``a`` times the fraction of `beta_fraction`, and the slopes of the logarithm of that
    in ``a`` and ``b``, given ``a * y - b * x``; NaN if it is too long."""
    k, s, first, first_a = 0.0, a + b, 1.0, 0.0
    r = 1 / (a + 1)
    r_a, apart = -r * r, apart + 1
    d = 1 / (r * apart)
    d_a, d_b = -d * d * (r_a * apart + r * y), d * d * r * x
    total, total_a, total_b = d, d_a, d_b
    term, term_a, term_b = d, d_a, d_b
    while k < MOST and (
        abs(term) > EPSILON * abs(total)
        or abs(term_a) > EPSILON * abs(total_a)
        or abs(term_b) > EPSILON * abs(total_b)
    ):
        k += 1
        last, last_a, r = r, r_a, 1 / (a + 2 * k + 1)
        r_a = -r * r
        c, c_a, c_b = k * (b - k) * x * last, k * (b - k) * x * last_a, k * x * last
        h, h_a, h_b = x * last * c, x * (last_a * c + last * c_a), x * last * c_b
        g, e, f = s + (k - 1), apart + k * (1 + y), a + k
        p, p_a = first * g * h, first_a * g * h + first * (h + g * h_a)
        p_b = first * (h + g * h_b)
        q, q_a, q_b = k + c + f * e * r, c_a + e * r + f * (y * r + e * r_a), c_b - f * x * r
        d_a, d_b, v = p_a * d + p * d_a + q_a, p_b * d + p * d_b + q_b, p * d + q
        d = 1 / v
        d_a, d_b = -d * d * d_a, -d * d * d_b
        m, m_a, m_b = q * d - 1, q_a * d + q * d_a, q_b * d + q * d_b
        term_a, term_b, term = term_a * m + term * m_a, term_b * m + term * m_b, term * m
        total, total_a, total_b = total + term, total_a + term_a, total_b + term_b
        first, first_a = a + k, 1.0  # the first step has no factor ``a``, as all is ``a`` times it
    total = total if k < MOST else math.nan
    return total, total_a / total, total_b / total


NEAR, MANY, LEAST = 1e-5, 1e5, 1e-12


def student_draw(df, t):
    """Minus the slope of Student's distribution in ``df``, over its density; of many degrees of
    freedom by its expansion around the normal distribution, as two parts nearly cancel then."""
    if not (df > 0 and abs(t) < math.inf):
        return math.nan
    square, r = t * t, 1 / df
    if df > MANY and square < NEAR * df:
        return t * r * r * (square * (square - 1) * r / 12 - (square + 1) / 4)
    far = max(abs(t), LEAST)  # below, it is proportional to ``t``
    ratio = far * far * r
    moved = beta_draw(0.5 * df, 0.5, 1.0, ratio) * (1 + ratio) * (1 + ratio)
    return t * (0.5 * r - 0.25 * df * (moved / far) / far)
