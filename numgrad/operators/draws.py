"""Draws of gamma distributions as functions of their shape, by the implicit function theorem."""

import math

from .._declare import elementwise
from .elementwise import multiply

NODES, FIRST = 80, -4.0
STEP = -2 * FIRST / NODES


@elementwise(complex=False)
def gamma_draw(a, x):
    """A draw ``x`` of the gamma distribution of shape ``a``: as ``a`` moves, the value moves so
    that its probability ``gammainc(a, x)`` stays (Figurnov, Mohamed and Mnih 2018)."""
    return x


@gamma_draw.reads
def gamma_draw_reads(needs):
    return True, False, True


@gamma_draw.pullback
def gamma_draw_pullback(context, g):
    from .gammas import digamma  # one of many that are made when they are needed

    a, y = context.input(0), context.output()
    return multiply(g, gamma_slope(a, y, digamma(a))), None


@elementwise(complex=False)
def gamma_slope(a, x, psi):
    """The slope of a draw: minus that of ``gammainc(a, x)`` in ``a``, over the density at ``x``.

    It is the integral of ``psi - log(t)`` times the density at ``t`` over that at ``x``, below
    ``x``, or of its negative above: here on the side of the tail, where few terms have the other
    sign. With ``t = x * exp(-u)`` below and ``t = x * (1 + u)`` above, both decay exponentially,
    over a length near ``c``. So the trapezoidal rule after ``u = c * exp(s - exp(-s))`` has 12
    digits, compared with one of many nodes for shapes from 0.001 to 1e6.
    """
    if x == 0:
        return 0.0
    apart = math.log(x) - psi
    c = 1 / (abs(a - x) + math.sqrt(0.5 * x))
    if c > 1:  # where the curvature at x says little about the length
        c = (1 + x) / a if x < a else 1 / x
    total = 0.0
    for i in range(NODES + 1):
        s = FIRST + STEP * i
        e = math.exp(-s)
        u = c * math.exp(s - e)
        if x < a:
            term = (u - apart) * math.exp(-a * u - x * math.expm1(-u))
        else:
            term = (apart + math.log1p(u)) * math.exp((a - 1) * math.log1p(u) - x * u)
        total += term * (1 + e) * u
    return x * STEP * total
