"""Special functions that are computed here: the logistic function, and the series of `digamma`."""

import math

from .._declare.partial import conjugate
from .elementwise import builtin, multiply, negative, where


@builtin
def expit(x):
    return 1 / (1 + math.exp(-x))


@expit.reads
def expit_reads(needs):
    return True, True


@expit.pullback
def expit_pullback(context, g):
    # 1 - y is computed as expit(-x), which has correct digits where y rounds to 1.
    slope = multiply(context.output(), expit(negative(context.input(0))))
    return multiply(g, conjugate(slope))


def cotangent_of_pi(x):
    """``pi / tan(pi x)``; the argument is reduced first, so that it is exact near the poles."""
    return math.pi / math.tan(math.pi * (x - round(x)))


ROOT, ROOT_REST = 1.4616321449683622, 9.549995429965697e-17
"""Where `digamma` is 0, in two parts."""


def digamma_series(x):
    # Upwards by the recurrence, then the asymptotic series; below 0 by reflection. Near the root it
    # is the difference from the value there, each term in the place of what it differs from.
    z = where(x > 0, x, 1 - x)
    s = (z - ROOT) - ROOT_REST
    near = abs(s) < 0.5
    total, root = 0.0, ROOT
    for _ in range(10):
        low = z < 10
        total += where(near, s / (z * root), where(low, -1 / z, 0.0))
        z, root = where(near | low, z + 1, z), root + 1
    total += where(near, math.log1p(s / root), math.log(z))
    total += where(near, 0.5 * s / (z * root), -0.5 / z)
    value = total - (digamma_tail(1 / (z * z)) - where(near, digamma_tail(1 / (root * root)), 0.0))
    reflected = where(x == round(x), math.nan, value - cotangent_of_pi(x))
    return where(x > 0, value, where(x == 0, -1 / x, reflected))


def digamma_tail(r):
    return r * (1 / 12 - r * (1 / 120 - r * (1 / 252 - r * (1 / 240 - r * (1 / 132 - r * TAIL)))))


TAIL = 691 / 32760

BERNOULLI = tuple(
    share / math.factorial(2 * k)
    for k, share in enumerate(
        (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510), start=1
    )
)
"""The coefficients of the Euler-Maclaurin series."""
STEPS = 10000
"""How many terms are added one by one."""


def steps(n, x):
    """How many terms go before the series."""
    return int(min(16 + n - x, STEPS)) + 1 if x < 16 + n else 0


def signed_factorial(n):
    """``n!``, negative for even ``n``; infinite above 170."""
    product = 2 * (n % 2) - 1
    for k in range(2, min(int(n), 171) + 1):
        product *= k
    return product


def polygamma_series(n, x):
    """The ``n``-th derivative of digamma, ``n >= 1``, for ``x > -9000``; NaN far below."""
    n = n.real  # where x is complex
    # n! * sum over k of (x + k)**-(n + 1), by recurrence and then the Euler-Maclaurin series. The
    # sum converges for negative x as well; only the number of steps bounds how far below zero.
    total = 0 * x
    z = x
    for _ in range(steps(n, x.real)):
        total += z ** -(n + 1)
        z += 1
    power = z**-n
    total += power / n + 0.5 * power / z
    term, k = power / z, n + 1
    for coefficient in BERNOULLI:
        term = term * k / z
        total += coefficient * term
        term, k = term * (k + 1) / z, k + 2
    total = total * signed_factorial(n)
    return total if z.real >= 15.5 + n else total * math.nan


def polygamma_difference(n, x, step):
    """``polygamma(n, x + step) - polygamma(n, x)``, ``n >= 0``, to all digits for small steps.

    It is `polygamma_series` with the difference of each term in the place of the term.
    """
    if not (x > 0 and x + step > 0):
        if n == 0:
            return digamma_series(x + step) - digamma_series(x)
        return polygamma_series(n, x + step) - polygamma_series(n, x)
    total, z = 0.0, x
    for _ in range(steps(n, x)):
        total += math.expm1(-(n + 1) * math.log1p(step / z)) * z ** -(n + 1)
        z += 1
    log = math.log1p(step / z)
    total += -log if n == 0 else math.expm1(-n * log) * z**-n / n
    factor, k = 0.5 * z ** -(n + 1), n + 1
    total += math.expm1(-k * log) * factor
    factor *= 2
    for coefficient in BERNOULLI:
        factor = factor * k / z
        k += 1
        total += coefficient * math.expm1(-k * log) * factor
        factor, k = factor * k / z, k + 1
    return total * signed_factorial(n)
