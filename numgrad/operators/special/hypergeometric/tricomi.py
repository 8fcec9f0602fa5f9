"""The confluent hypergeometric function of the second kind, Tricomi's U, by positive sums.

Its integral (DLMF 13.4.4) has a positive integrand. For large ``a`` few nodes of the trapezoidal
rule are enough, and the recurrences from there down in ``a``, and up in ``b``, have positive terms.
What is added is ``x**a`` times the function where ``x > 1``, so that nothing underflows.
"""

import math

TOP, STEP, SMALL = 16.0, 0.58, 1e-17
MOST = 1000000.0
"""Of this many steps of a recurrence there is no number."""


def tricomi(a, b, x):
    """Return U of real parameters and ``x >= 0``.

    For ``a < 0`` and ``b < 1`` by Kummer's transformation (DLMF 13.2.40): the recurrence in ``a``
    would pass values that nearly vanish.
    """
    if x == 0 and b > 1 and a == a:
        return math.inf
    if a == 0 and x >= 0 and b == b:
        return 1.0
    if not (x >= 0 and abs(a) < MOST and abs(b) < math.inf):
        return math.nan
    if x == math.inf:
        return math.inf if a < 0 else 0.0
    if x == 0 and (b != 1 or a > 0 or a != math.floor(a)):
        return at_zero(a, b)
    shift = 1 - b if a < 0 and b < 1 else 0.0
    scale = shift * math.log(x) if x < 1 and shift > 0 else 0.0
    value = recurrences(a + shift, b + 2 * shift, x, scale)
    half = x ** (-0.5 * a) if x > 1 else 1.0  # the whole power might overflow
    return value * half * half


def at_zero(a, b):
    """Return the limit (DLMF 13.2.16 to 13.2.22)."""
    c = 1 - b
    if c == 0:
        return math.inf
    if a + c <= 0 and a + c == math.floor(a + c):
        return 0.0
    if c < 170 and abs(a + c) < 170:
        return math.gamma(c) / math.gamma(a + c)
    turns = math.floor(a + c) if a + c < 0 else 0.0
    sign = 1 - 2 * (turns - 2 * math.floor(0.5 * turns))
    return sign * math.exp(math.lgamma(c) - math.lgamma(a + c))


def recurrences(a, b, x, scale):
    """Return the function of ``a``, or of ``a < 0`` and ``b >= 1``, times ``exp(scale)``.

    The recurrences are DLMF 13.3.9 to 13.3.12, in pairs: with ``p = U(a, c)``, ``q = U(a, c - 1)``
    and ``r = U(a + 1, c)``, down in ``a`` for a small ``c``, then up to ``b``, where the function
    grows. All terms are positive for ``a > 0``. Polynomials begin with 1.
    """
    unit = x if x > 1 else 1.0
    rises = float(math.ceil(max(b - max(a, 0.0) - 2, 0.0)))
    steps = float(math.ceil(max(TOP - a, 1.0)))
    if rises > MOST:
        return math.nan
    if a <= 0 and a == math.floor(a):
        rises, steps = 0.0, -a
        p = q = r = math.exp(scale)
    else:
        p, q = integrals(a + steps, b - rises, x, scale)
        r = p
    c = b - rises
    while steps > 0:
        steps -= 1
        r = p
        q = x / unit * p + (a + steps - c + 2) / unit * q
        p = q + (a + steps) / unit * p
    while rises > 0:
        r = unit / x * p + (b - rises - a - 1) / x * r
        p = p + a / unit * r
        rises -= 1
    return p


def integrals(a, b, x, scale):
    """Return those of ``a >= 16``, of ``b <= a + 1`` and of ``b - 1``, by the trapezoidal rule.

    With ``t = exp(s)`` the integrand is a mixture of ``exp(a * s - y * exp(s))`` for several
    ``y``, of each of which the rule is wrong by ``2 * abs(gamma(a + 2j * pi / h)) / gamma(a)``.
    It has one maximum, from where the sums go to both sides: ``x * t`` is ``y`` there.
    """
    n, c = a + 1 - b, x + 1 - b
    root = math.hypot(c, 2 * math.sqrt(a) * math.sqrt(x))
    y = 2 * a * (x / (c + root)) if c > 0 else 0.5 * (root - c)
    share, rest = y / (x + y), x / (x + y)
    h = STEP / math.sqrt(a)
    p, q = 1.0, 1.0
    for turn in range(2):
        s, term = 0.0, 1.0
        while term > SMALL * p:
            s += h if turn == 0 else -h
            e = math.exp(s)
            f = rest + share * e
            term = math.exp(a * s - y * (e - 1) - n * math.log(f))
            p += term
            q += term / f
    lift = math.log1p(y / x) if y < x else math.log(x + y) - math.log(x)
    power = y / (1 + y / x) if x > 1 else 1 / (1 + x / y)
    whole = h * exponential(a, power, (b - 1) * lift - y + scale)
    return p * whole, q * whole * rest


def exponential(a, power, e):
    """Return ``power**a * exp(e) / gamma(a)``, by parts unless one might overflow."""
    if a < 2 * TOP and abs(e) < 3 * TOP:
        return power**a / math.gamma(a) * math.exp(e)
    return math.exp(a * math.log(power) - math.lgamma(a) + e)
