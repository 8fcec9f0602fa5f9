"""Products and quotients of gamma functions, each in parts: a power, a root and a correction.

``gamma(t) = sqrt(2 * pi / w) * w**t * exp(series - t - n) / product`` with ``w = t + n``, where
``n`` is a whole number for which Stirling's series (DLMF 5.11.1) has all digits, and ``product``
is that of ``(t + k) / w`` for ``k < n``. Powers of several gamma functions go together, as those
of ratios, whose exponents are computed twofold.
"""

import math

from ...elementwise.double_double import added, exp_of, log_of, quotient, sum_rest, times

ENOUGH, TWO_PI = 10.0, 2 * math.pi
VANISHING = 1e-35  # smaller numbers are 0 to the power of `ENOUGH`
SLOPE = 0.95  # of the logarithm of the power and the root in ``w``


def stirling(w):
    """Stirling's series, for ``w >= 10``: the logarithm of what his formula lacks."""
    r = 1 / (w * w)
    tail = r * (1 / 1188 - r * (691 / 360360 - r / 156))
    return (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - tail)))) / w


def lifted(t, rest):
    """Return ``w``, its rest, ``n``, ``product`` and ``series`` of a positive twofold number."""
    if t >= ENOUGH:
        return t, rest, 0.0, 1.0, stirling(t)
    n = math.ceil(ENOUGH - t) + 0.0
    w, last, product, k = t + n, n - 1, 1.0, 0.0
    pair = t * (t + last)
    while 2 * k < last:
        product *= pair + k * (last - k)  # (t + k) * (t + last - k)
        k += 1
    if 2 * k == last:
        product *= t + k
    return w, 0.0, n, product / w**n * (1 - SLOPE * sum_rest(t, n)), stirling(w)


def ratio_log(x, x_rest, y, y_rest):
    """Return the logarithm of the quotient of two twofold numbers, twofold."""
    q, rest = quotient(x, x_rest, y, y_rest)
    return log_of(q, rest)


def large_exponent(a, x):
    """``a * log(x / a) + a - x``, twofold."""
    high, low = ratio_log(x, 0.0, a, 0.0)
    high, low = times(a, 0.0, high, low)
    return added(high, low, a - x, sum_rest(a, -x))


def gamma_power(a, x):
    """``x**a * exp(-x) / gamma(a + 1)``."""
    if a < ENOUGH:
        high, low = log_of(x, 0.0)
        high, low = times(a, 0.0, high, low)
        high, low = added(high, low, -x, 0.0)
        return exp_of(high, low) / (a * math.gamma(a) if a > 1 else math.gamma(1 + a))
    if x < VANISHING:
        return 0.0
    high, low = large_exponent(a, x)
    high, low = added(high, low, -stirling(a), 0.0)
    return exp_of(high, low) / math.sqrt(TWO_PI * a)
