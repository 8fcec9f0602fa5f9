"""Arithmetic with numbers of twice the precision, each the sum of two: a value and what it lacks.

Where an exponent or an angle is large, its rounding error is large in the result: ``exp(700)``
loses ten bits. Functions of special functions compute these parts twofold, and the rest as usual.
The formulas are those of Dekker (1971) and Knuth; they are exact in double precision, and those of
products and sums in single precision as well.
"""

import math

SPLIT, SPLIT_SINGLE = 134217729.0, 4097.0  # 2**27 + 1, 2**12 + 1
ONE, TINY = 1.0, 1e-9
LN2, LN2_REST, LN2_REST_SINGLE = 0.6931471805599453, 2.3190468138462996e-17, -1.9046543e-9
SQRT_HALF = math.sqrt(0.5)


def in_single():
    """Whether the kernel computes in single precision: its constants have its dtype."""
    return ONE + TINY == ONE


def product_rest(x, y):
    """Return what ``x * y`` lacks, exactly, where nothing overflows or underflows."""
    p = x * y
    split = SPLIT_SINGLE if in_single() else SPLIT
    c = split * x
    x1 = c - (c - x)
    x2 = x - x1
    c = split * y
    y1 = c - (c - y)
    y2 = y - y1
    return ((x1 * y1 - p) + x1 * y2 + x2 * y1) + x2 * y2


def sum_rest(x, y):
    """Return what ``x + y`` lacks, exactly."""
    s = x + y
    z = s - x
    return (x - (s - z)) + (y - z)


def added(x, x_rest, y, y_rest):
    """Return the sum of two twofold numbers."""
    s = x + y
    rest = sum_rest(x, y) + (x_rest + y_rest)
    return s + rest, rest - ((s + rest) - s)


def times(x, x_rest, y, y_rest):
    """Return the product of two twofold numbers."""
    p = x * y
    rest = product_rest(x, y) + (x * y_rest + x_rest * y)
    return p + rest, rest - ((p + rest) - p)


def quotient(x, x_rest, y, y_rest):
    """Return the quotient of two twofold numbers."""
    q = x / y
    rest = (((x - q * y) - product_rest(q, y)) + (x_rest - q * y_rest)) / y
    return q + rest, rest - ((q + rest) - q)


def log_of(x, x_rest):
    """Return the logarithm of a positive, normal twofold number, to 60 bits and more.

    With ``x = m * 2**k`` and ``s = (m - 1) / (m + 1)`` it is
    ``k * log(2) + 2 * (s + s**3 / 3 + s**5 / 5 + ...)``, of which only ``s`` has to be twofold.
    """
    k = math.floor(math.log2(x) + 0.5)
    m, m_rest = math.ldexp(x, -int(k)), math.ldexp(x_rest, -int(k))
    s, s_rest = quotient(m - 1, m_rest, m + 1, sum_rest(m, 1.0) + m_rest)
    r, series, n = s * s, 0.0, 25.0
    for _ in range(12):
        series, n = r * (series + 1 / n), n - 2
    high, low = times(k, 0.0, LN2, LN2_REST_SINGLE if in_single() else LN2_REST)
    return added(high, low, 2 * s, 2 * (s_rest + s * series))


def exp_of(x, x_rest):
    """Return the exponential of a twofold number, rounded."""
    y = math.exp(x)
    return y + y * x_rest
