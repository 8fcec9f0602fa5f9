"""Orthogonal polynomials of whole degrees by recurrences (DLMF 18.9); of others mostly SciPy's."""

import math

from ...._declare.foreign import ForeignFunction
from ...elementwise.double_double import in_single
from .kummer import kummer

MOST = 100000.0
SCIPYS_JACOBI = ForeignFunction("eval_jacobi", "dddd")
SCIPYS_LAGUERRE = ForeignFunction("eval_genlaguerre", "ddd")
SCIPYS_GEGENBAUER = ForeignFunction("eval_gegenbauer", "ddd")
SCIPYS_CHEBYT = ForeignFunction("eval_chebyt", "dd")
SCIPYS_CHEBYU = ForeignFunction("eval_chebyu", "dd")
SCIPYS_LEGENDRE = ForeignFunction("eval_legendre", "dd")


def recurs(n, x):
    """Whether the recurrences serve: not at infinities, in a time, and in double precision.

    Parameters for which there are no orthogonal polynomials are SciPy's as well.
    """
    return not in_single() and 0 <= n <= MOST and n == math.floor(n) and abs(x) < math.inf


def ultraspherical(n, a, x):
    """Return Gegenbauer's polynomial, no number where the recurrence does not serve."""
    p, before, k = 1.0, 0.0, 0.0
    while recurs(n, x) and k < n:
        p, before = (2 * (k + a) * x * p - (k + 2 * a - 1) * before) / (k + 1), p
        k += 1
    return p if recurs(n, x) else math.nan


def gegenbauer(n, a, x):
    value = ultraspherical(n, a, x) if a > -0.5 and 0 != a < math.inf else math.nan
    return value if abs(value) < math.inf else SCIPYS_GEGENBAUER(n, a, x)


def legendre(n, x):
    value = ultraspherical(n, 0.5, x)
    return value if abs(value) < math.inf else SCIPYS_LEGENDRE(n, x)


def chebyu(n, x):
    value = ultraspherical(n, 1.0, x)
    return value if abs(value) < math.inf else SCIPYS_CHEBYU(n, x)


def chebyt(n, x):
    p, before, k = 1.0, 1.0 * x, 0.0
    while recurs(n, x) and k < n:
        p, before = 2 * x * p - before, p
        k += 1
    return p if recurs(n, x) and abs(p) < math.inf else SCIPYS_CHEBYT(n, x)


def genlaguerre(n, a, x):
    serves = recurs(n, x + a) and a > -1
    p, step, k = 1.0, 1.0, 0.0
    while serves and k < n:  # the recurrence for differences is the more precise for small x
        step = ((k + a) * step - x * p) / (k + 1)
        p += step
        k += 1
    if serves and abs(p) < math.inf:
        return p
    if not in_single() and 0 < n < 40 and -1 < a < 39 and abs(x) <= 32:
        # Of a degree between by DLMF 18.5.12.
        return math.gamma(n + a + 1) / math.gamma(n + 1) / math.gamma(a + 1) * kummer(-n, a + 1, x)
    return SCIPYS_LAGUERRE(n, a, x)


def laguerre(n, x):
    return genlaguerre(n, 0.0, x)


def jacobi(n, a, b, x):
    serves = recurs(n, x + a + b) and a > -1 and b > -1
    p, before, k = 1.0, 0.0, 0.0
    while serves and k < n:
        if k == 0:
            p, before = 0.5 * (a - b + (a + b + 2) * x), 1.0
        else:
            s = 2 * k + a + b
            rise = (s + 1) * ((s + 2) * s * x + (a - b) * (a + b)) * p
            fall = 2 * (k + a) * (k + b) * (s + 2) * before
            p, before = (rise - fall) / (2 * (k + 1) * (k + a + b + 1) * s), p
        k += 1
    return p if serves and abs(p) < math.inf else SCIPYS_JACOBI(n, a, b, x)
