"""Distributions that are incomplete beta functions of quotients.

The result is as sensitive to a rounding error of the quotient as parameters are large, so that it
is computed twofold.
"""

import math

from ...._declare.foreign import ForeignFunction
from ...elementwise.double_double import added, in_single, product_rest, quotient, sum_rest
from ..formulas import whole
from .beta_functions import beta_log, beta_value
from .incomplete_beta import beta_part, beta_power, serves

SCIPYS_FDTR, SCIPYS_FDTRC = ForeignFunction("fdtr", "ddd"), ForeignFunction("fdtrc", "ddd")
SCIPYS_BDTR, SCIPYS_BDTRC = ForeignFunction("bdtr", "dnd"), ForeignFunction("bdtrc", "dnd")
SCIPYS_BDTRI = ForeignFunction("bdtri", "dnd")
SCIPYS_NBDTR, SCIPYS_NBDTRC = ForeignFunction("nbdtr", "nnd"), ForeignFunction("nbdtrc", "nnd")
SCIPYS_STDTR, SCIPYS_STDTRIT = ForeignFunction("stdtr", "dd"), ForeignFunction("stdtrit", "dd")
LEAST, LARGEST, SHORT, CLOSE, NEGLIGIBLE = 1e-30, 1e30, 1e-6, 1e-3, 1e-17
FAR = 1e9
"""Beyond it, the next term of Student's tail is less than half a rounding error."""


def beta_share(a, b, p, p_rest, q, q_rest):
    """The regularized incomplete beta function at ``p / (p + q)``."""
    s, rest = added(p, p_rest, q, q_rest)
    x, x_rest = quotient(p, p_rest, s, rest)
    y, y_rest = quotient(q, q_rest, s, rest)
    return beta_part(a, b, x, x_rest, y, y_rest, True)


def f_share(dfn, dfd, x):
    """The F distribution below ``x``."""
    if not (serves(dfn, dfd) and is_usual(x)):
        return SCIPYS_FDTR(dfn, dfd, x)
    return beta_share(0.5 * dfn, 0.5 * dfd, dfn * x, product_rest(dfn, x), dfd, 0.0)


def f_rest(dfn, dfd, x):
    """The F distribution above ``x``."""
    if not (serves(dfn, dfd) and is_usual(x)):
        return SCIPYS_FDTRC(dfn, dfd, x)
    return beta_share(0.5 * dfd, 0.5 * dfn, dfd, 0.0, dfn * x, product_rest(dfn, x))


def is_usual(x):
    """Whether products of numbers neither overflow nor underflow."""
    return LEAST < x < LARGEST


def student_tail(df, t):
    """What is beyond ``t`` on one side, of usual numbers."""
    return 0.5 * beta_share(0.5 * df, 0.5, df, 0.0, t * t, product_rest(t, t))


def student_share(df, t):
    """Student's distribution below ``t``."""
    if not (serves(df, df) and is_usual(t * t)):
        return SCIPYS_STDTR(df, t)
    tail = student_tail(df, t)
    return 1 - tail if t > 0 else tail


def student_density_of(df, t):
    """The density of Student's distribution."""
    tails = math.exp(-0.5 * (df + 1) * math.log1p(t * t / df) - beta_log(0.5 * df, 0.5))
    return tails / math.sqrt(df)


def student_far(df, share):
    """The quantile of a tail that is a power, and whether the tail is one at unusual numbers."""
    part = share * df * beta_value(0.5 * df, 0.5)
    ratio = part ** (-1 / df)
    far = math.sqrt(df) * ratio
    is_far = ratio > FAR and far * far >= LARGEST
    if is_far and far < math.inf:
        far += far * (ratio**-df / part - 1) / df  # what the rounded exponent has lost
    return far, is_far


def student_inverse(df, p):
    """SciPy's number after a step of Newton's method, from the middle or from the end."""
    if p == 0 and df > 0:
        return -math.inf  # SciPy's is positive
    if serves(df, df) and 0 < p < 1:
        far, is_far = student_far(df, min(p, 1 - p))
        if is_far:  # SciPy's number can be half the right one there, or have the other sign
            return math.copysign(far, p - 0.5)
        t = (p - 0.5) * math.sqrt(df) * beta_value(0.5 * df, 0.5)
        if t * t * (1 + 1 / df) < NEGLIGIBLE:
            return t  # SciPy's number has lost digits there
    t = SCIPYS_STDTRIT(df, p)
    if in_single() or not (serves(df, df) and is_usual(t * t)):
        return t
    close = SHORT
    if 0.25 < p < 0.75:
        share, close = abs(0.5 - p), CLOSE  # the slope hardly changes there
        lack = share - 0.5 * beta_share(0.5, 0.5 * df, t * t, product_rest(t, t), df, 0.0)
    else:
        share = min(p, 1 - p)
        lack = student_tail(df, t) - share
    step = math.copysign(lack / student_density_of(df, t), t * lack)
    return t + step if abs(lack) < close * share else t


def binomial_share(k, n, p):
    """The probability of ``k`` successes of ``n`` or fewer."""
    count, trials = math.floor(k), whole(n)
    if not (0 <= count < trials and serves(count + 1, trials) and 0 < p < 1):
        return SCIPYS_BDTR(k, n, p)
    return beta_part(count + 1, trials - count, p, 0.0, 1 - p, sum_rest(1.0, -p), False)


def binomial_rest(k, n, p):
    """The probability of more than ``k`` successes of ``n``."""
    count, trials = math.floor(k), whole(n)
    if not (0 <= count < trials and serves(count + 1, trials) and 0 < p < 1):
        return SCIPYS_BDTRC(k, n, p)
    return beta_part(count + 1, trials - count, p, 0.0, 1 - p, sum_rest(1.0, -p), True)


def binomial_inverse(k, n, p):
    """SciPy's number after a step of Newton's method."""
    x, count, trials = SCIPYS_BDTRI(k, n, p), math.floor(k), whole(n)
    if not (0 <= count < trials and serves(count + 1, trials) and 0 < x < 1):
        return x
    a, b, y, y_rest = count + 1, trials - count, 1 - x, sum_rest(1.0, -x)
    is_low = p > 0.5
    share = 1 - p if is_low else p
    lack = share - beta_part(a, b, x, 0.0, y, y_rest, is_low)
    step = lack / beta_power(a, b, x, 0.0, y, y_rest) * x * y
    return x + (step if is_low else -step) if abs(lack) < SHORT * share else x


def negative_share(k, n, p):
    """The probability of ``k`` failures or fewer before ``n`` successes."""
    failures, successes = whole(k), whole(n)
    if not (failures >= 0 and serves(successes, failures + 1) and 0 < p < 1):
        return SCIPYS_NBDTR(k, n, p)
    return beta_part(successes, failures + 1, p, 0.0, 1 - p, sum_rest(1.0, -p), True)


def negative_rest(k, n, p):
    """The probability of more than ``k`` failures before ``n`` successes."""
    failures, successes = whole(k), whole(n)
    if not (failures >= 0 and serves(successes, failures + 1) and 0 < p < 1):
        return SCIPYS_NBDTRC(k, n, p)
    return beta_part(successes, failures + 1, p, 0.0, 1 - p, sum_rest(1.0, -p), False)
