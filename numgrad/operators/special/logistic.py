"""Special functions that are computed here: the logistic function, and the series of `digamma`."""

import math

from ..elementwise.arithmetic import builtin, where
from ..elementwise.exponential import logistic_density


@builtin
def expit(x):
    return 1 / (1 + math.exp(-x))


@expit.partial("x")
def expit_dx(x):
    return logistic_density(x)


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

LAST = 691 / 1307674368000
STEPS = 10000.0
"""How many terms are added one by one, at most."""


def polygamma_series(n, x):
    """The ``n``-th derivative of digamma, ``n >= 1``, for ``x > -9000``; NaN far below."""
    n = n.real  # where x is complex
    # n! * sum over k of (x + k)**-(n + 1), by recurrence and then the Euler-Maclaurin series. The
    # sum converges for negative x as well; only the number of steps bounds how far below zero.
    if x.real == math.inf:
        return 0 / x
    total = 0 * x
    z = x
    for _ in range(steps(n, x.real)):
        total += inverse_power(n + 1, z)
        z += 1
    power = inverse_power(n, z)
    total += power / n + 0.5 * power / z
    term = (n + 1) * power / (z * z)
    total += term / 12
    term = term * (n + 2) * (n + 3) / (z * z)
    total -= term / 720
    term = term * (n + 4) * (n + 5) / (z * z)
    total += term / 30240
    term = term * (n + 6) * (n + 7) / (z * z)
    total -= term / 1209600
    term = term * (n + 8) * (n + 9) / (z * z)
    total += term / 47900160
    term = term * (n + 10) * (n + 11) / (z * z)
    total -= term * LAST
    total = total * signed_factorial(n)
    return total if z.real > 0 else total * math.nan


def polygamma_difference(n, x, step):
    """``polygamma(n, x + step) - polygamma(n, x)``, ``n >= 0``, to all digits for small steps.

    It is `polygamma_series` with the difference of each power in the place of the power.
    """
    if not (x > 0 and x + step > 0):
        if n == 0:
            return digamma_series(x + step) - digamma_series(x)
        return polygamma_series(n, x + step) - polygamma_series(n, x)
    total, z = 0 * x, x
    for _ in range(steps(n, x)):
        total += power_difference(n + 1, z, step)
        z += 1
    total += -math.log1p(step / z) if n == 0 else power_difference(n, z, step) / n
    total += 0.5 * power_difference(n + 1, z, step)
    rise = n + 1
    total += rise * power_difference(n + 2, z, step) / 12
    rise *= (n + 2) * (n + 3)
    total -= rise * power_difference(n + 4, z, step) / 720
    rise *= (n + 4) * (n + 5)
    total += rise * power_difference(n + 6, z, step) / 30240
    rise *= (n + 6) * (n + 7)
    total -= rise * power_difference(n + 8, z, step) / 1209600
    rise *= (n + 8) * (n + 9)
    total += rise * power_difference(n + 10, z, step) / 47900160
    rise *= (n + 10) * (n + 11)
    total -= rise * power_difference(n + 12, z, step) * LAST
    return total * signed_factorial(n)


LOW, HIGH, FACTORS = 0.01, 1000.0, 12
"""Between the first two a power of up to so many factors is far from the ends of the range."""


def inverse_power(p, z):
    """``z**-p``, for whole ``p`` of few factors by products."""
    if not (p <= FACTORS and LOW < abs(z) < HIGH):
        return z**-p
    power, k = z, 1.0
    while k < p:
        power *= z
        k += 1
    return 1 / power


def power_difference(p, z, step):
    """``(z + step)**-p - z**-p``, for few factors by their products."""
    other = z + step
    if not (p <= FACTORS and LOW < z < HIGH and LOW < other < HIGH):
        return math.expm1(-p * math.log1p(step / z)) * z**-p
    a, b = 1 / other, 1 / z
    total, power, k = 1.0, 1.0, 1.0
    while k < p:
        power *= b
        total = total * a + power
        k += 1
    return -step * (a * b) * total


def steps(n, x):
    """How many terms go before the series."""
    wanted = 16 + 2 * n - x
    return int(min(wanted, STEPS)) + 1 if wanted > 0 else 0


def signed_factorial(n):
    """``n!``, negative for even ``n``; infinite above 170."""
    product, k = 2 * (n % 2) - 1, 1.0
    for _ in range(int(min(n, 171.0)) - 1):
        k += 1
        product *= k
    return product
