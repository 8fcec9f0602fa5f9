"""The beta function, its logarithm, and quotients of gamma functions, of positive arguments."""

import math

from ...._declare.foreign import ForeignFunction
from ...elementwise.double_double import added, exp_of, in_single, log_of, sum_rest, times
from .stirling import TWO_PI, lifted, ratio_log

SCIPYS_BETA, SCIPYS_LOG = ForeignFunction("beta", "dd"), ForeignFunction("betaln", "dd")
SCIPYS_POCH, SCIPYS_BINOM = ForeignFunction("poch", "dd"), ForeignFunction("binom", "dd")
LEAST, MARGIN, COUNTS, MOST = 1e-290, 1e10, 1e15, 1400.0
SMALL = 8.0
"""Below this, gamma functions neither are large nor change much within a rounding error."""
FEW = 20.0
"""Up to this many factors are multiplied one by one, which gives whole numbers."""


def is_usual(x):
    """Whether digits matter, and products of parts of a number neither overflow nor lose them."""
    return not in_single() and x > LEAST and x * MARGIN < math.inf


def beta_parts(a, a_rest, b, b_rest):
    """Return the exponent, twofold, and the factor of the beta function of twofold numbers."""
    s = a + b
    u, u_rest, n, product, series = lifted(a, a_rest)
    v, v_rest, m, other, others = lifted(b, b_rest)
    w, w_rest, k, whole, wholes = lifted(s, sum_rest(a, b) + a_rest + b_rest)
    high, low = ratio_log(u, u_rest, w, w_rest)
    high, low = times(a, a_rest, high, low)
    more, rest = ratio_log(v, v_rest, w, w_rest)
    more, rest = times(b, b_rest, more, rest)
    high, low = added(high, low, more, rest)
    high, low = added(high, low, k - n - m, series + others - wholes)
    return high, low, math.sqrt(TWO_PI / u * (w / v)) * (whole / product) / other


def beta_value(a, b):
    """The beta function."""
    if not (is_usual(a) and is_usual(b)):
        return SCIPYS_BETA(a, b)
    if a + b < SMALL:
        return math.gamma(a) * (math.gamma(b) / math.gamma(a + b))
    high, low, factor = beta_parts(a, 0.0, b, 0.0)
    return exp_of(high, low) * factor


def beta_log(a, b):
    """Its logarithm; what cancels near the zeros of that are parts of the twofold exponent."""
    if not (is_usual(a) and is_usual(b)):
        return SCIPYS_LOG(a, b)
    if a == 1 or b == 1:
        return -math.log(b if a == 1 else a)
    if a + b < SMALL:
        return math.log(beta_value(a, b))
    high, low, factor = beta_parts(a, 0.0, b, 0.0)
    return high + (math.log(factor) + low)


def rising(z, m):
    """``gamma(z + m) / gamma(z)``."""
    if not in_single() and 0 <= m <= FEW and m == math.floor(m):
        product, k = 1.0, 0.0
        while k < m:
            product *= z + k
            k += 1
        return product
    s = z + m
    if not (is_usual(z) and is_usual(s)):
        return SCIPYS_POCH(z, m)
    if max(z, s) < SMALL:
        return math.gamma(s) / math.gamma(z)
    u, u_rest, n, product, series = lifted(z, 0.0)
    w, w_rest, k, whole, wholes = lifted(s, sum_rest(z, m))
    high, low = ratio_log(w, w_rest, u, u_rest)
    high, low = times(z, 0.0, high, low)
    more, rest = log_of(w, w_rest)
    more, rest = times(m, 0.0, more, rest)
    high, low = added(high, low, more, rest)
    high, low = added(high, low, -m, wholes - series)
    high, low = added(high, low, n - k, 0.0)
    return grown(high, low, math.sqrt(u / w) * (product / whole))


def grown(high, low, factor):
    """The exponential times a factor, which alone may be out of range."""
    if abs(high) > MOST:
        return math.inf if high > 0 else 0.0
    root = math.exp(0.5 * high)
    return root * factor * root * (1 + low)


def binomial(n, k):
    """``gamma(n + 1) / gamma(k + 1) / gamma(n - k + 1)``; SciPy multiplies few whole factors."""
    if not (is_usual(n + 1) and n < COUNTS and abs(k) < COUNTS):
        return SCIPYS_BINOM(n, k)
    d, rest = n - k, sum_rest(n, -k)
    if k == math.floor(k) and min(k, d) < FEW:
        return SCIPYS_BINOM(n, k)
    if k <= -1:
        return reflected(n, k, 0.0)
    if d <= -1:
        return reflected(n, d, rest)
    high, low, factor = beta_parts(k + 1, sum_rest(k, 1.0), d + 1, sum_rest(d, 1.0) + rest)
    return grown(-high, -low, 1 / factor / (n + 1))


def reflected(n, k, rest):
    """The binomial coefficient of twofold ``k <= -1``, from the reflection of the gamma function
    (DLMF 5.5.3): ``sin(-pi * k) / pi * beta(n + 1, -k)``."""
    whole = math.floor(k + 0.5)
    turn = (2 * (whole % 2) - 1) * math.sin(math.pi * (k - whole + rest))
    high, low, factor = beta_parts(n + 1, sum_rest(n, 1.0), -k, -rest)
    return grown(high, low, factor) * turn / math.pi
