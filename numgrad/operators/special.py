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


def digamma_series(x):
    # Upwards by the recurrence, then the asymptotic series; below 0 by reflection.
    z = where(x > 0, x, 1 - x)
    total = 0.0
    for _ in range(10):
        step = where(z < 10, 1 / z, 0.0)
        total -= step
        z = where(z < 10, z + 1, z)
    r = 1 / (z * z)
    tail = r * (1 / 12 - r * (1 / 120 - r * (1 / 252 - r * (1 / 240 - r * (1 / 132 - r * TAIL)))))
    value = total + math.log(z) - 0.5 / z - tail
    reflected = where(x == round(x), math.nan, value - cotangent_of_pi(x))
    return where(x > 0, value, where(x == 0, -1 / x, reflected))


TAIL = 691 / 32760


def polygamma_series(n, x):
    """The ``n``-th derivative of digamma, ``n >= 1``, for ``x`` above ``n - 32``; NaN below."""
    sign = 2 * (n % 2) - 1
    # n! * sum over k of (x + k)**-(n + 1), by recurrence and then the Euler-Maclaurin series. The
    # sum converges for negative x as well; only the number of steps bounds how far below zero.
    total = 0.0
    z = x
    shift = 16 + n
    for _ in range(48):
        total += where(z < shift, z ** -(n + 1), 0.0)
        z = where(z < shift, z + 1, z)
    power = z**-n
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
    return where(z >= shift, sign * math.exp(math.lgamma(n + 1)) * total, math.nan)
