"""The gamma and beta functions, their incomplete integrals, and the zeta function."""

import math
from typing import Any

from ...._declare.foreign import ForeignFunction
from ...elementwise.arithmetic import where
from ...elementwise.double_double import in_single, sum_rest
from ..entropies import xlog1py, xlogy
from ..formulas import NAMES, declare
from ..logistic import digamma_series, polygamma_difference, polygamma_series
from .beta_functions import beta_log, beta_value, binomial, rising
from .beta_slopes import beta_draw
from .incomplete_beta import beta_lower
from .incomplete_gamma import gamma_lower, gamma_upper, lower_inverse, upper_inverse

POSITIVE = {"domain": "x > 0", "tried": ((0.3, 5),)}
PAIR, TRIPLE = ((0.4, 4), (0.4, 4)), ((0.5, 3), (0.5, 3), (0.1, 0.9))


def rgamma_slope(x, y):
    """By reflection below a half, where the poles of `digamma` are."""
    low = x < 0.5
    z = where(low, 1 - x, 1.0)
    inside = where(low, x, 0.0)
    turns = math.pi * (inside - 2 * math.floor(0.5 * inside))  # of period 2, as sine and cosine
    left = gamma(z) * (math.cos(turns) - math.sin(turns) / math.pi * digamma(z))
    return where(low, left, -y * digamma(where(low | (x == math.inf), 1.0, x)))


def beta_a(a, b, y):
    """The slope of `beta` in ``a``, 0 at infinity, as the value is."""
    ends = (a == math.inf) | (b == math.inf)
    step = polygamma_step(0.0, where(ends, 1.0, a), where(ends, 1.0, b))
    return where(ends, 0.0, -y * step)


gamma = declare("gamma", "x", "gamma function", complex="z", tried=((0.3, 5),),
                domain="all but 0, -1, -2, ...", dx="y * digamma(x)")
gammaln = declare("gammaln", "x", "logarithm of the absolute value of the gamma function",
                  value="math.lgamma(x)", tried=((0.3, 5),), dx="digamma(x)")
declare("loggamma", "x", "logarithm of the gamma function", complex="z",
        value="where(x >= 0, math.lgamma(where(x >= 0, x, 1.0)), math.nan)",
        domain="x > 0 or complex", tried=((0.3, 5),), dx="digamma(x)")
declare("rgamma", "x", "reciprocal of the gamma function", tried=((-1.4, 3),),
        dx=("-digamma(x) / gamma(x)", rgamma_slope))
declare("gammasgn", "x", "sign of the gamma function", tried=((0.3, 5),), dx="0.0")
digamma = declare("digamma", "x", "logarithmic derivative of the gamma function",
                  value=digamma_series, complex=ForeignFunction("psi", "z", "z"), scipy="psi",
                  domain="all but 0, -1, -2, ...", tried=((0.3, 5),), dx="polygamma(1.0, x)")
declare("polygamma", "n x", "derivative ``n`` of `digamma`", value=polygamma_series, fixed="n",
        complex=polygamma_series, domain="n >= 1, x > -9000 but 0, -1, -2, ...",
        tried=((2, 2), (0.3, 5)), dx="polygamma(n + 1, x)")
polygamma_step = declare("polygamma_step", "n x step",
        "``polygamma(n, x + step) - polygamma(n, x)``", value=polygamma_difference, scipy="",
        fixed="n", tried=((2, 2), (0.3, 5), (0.2, 3)),
        dx="polygamma_step(n + 1, x, step)", dstep="polygamma(n + 1, x + step)")
declare("poch", "z m", "rising factorial ``gamma(z + m) / gamma(z)``", value=rising,
        tried=PAIR,
        dz=("y * (digamma(z + m) - digamma(z))", "y * polygamma_step(0.0, z, m)"),
        dm="y * digamma(z + m)")
declare("binom", "n k", "binomial coefficient of real numbers", value=binomial,
        tried=((3, 6), (0.4, 2)),
        dn=("y * (digamma(n + 1) - digamma(n - k + 1))", "y * polygamma_step(0.0, n - k + 1, k)"),
        dk="y * (digamma(n - k + 1) - digamma(k + 1))")
declare("beta", "a b", "beta function", value=beta_value, tried=PAIR,
        da=("y * (digamma(a) - digamma(a + b))", beta_a),
        db=("y * (digamma(b) - digamma(a + b))", lambda a, b, y: beta_a(b, a, y)))
betaln = declare("betaln", "a b", "logarithm of the absolute value of the beta function",
        value=beta_log, tried=PAIR,
        da=("digamma(a) - digamma(a + b)", "-polygamma_step(0.0, a, b)"),
        db=("digamma(b) - digamma(a + b)", "-polygamma_step(0.0, b, a)"))

# Densities, which are the derivatives of the incomplete integrals ---------------------------------

LARGE = 20.0
SMALLEST = 1e-38  # numbers whose reciprocals are numbers in single precision are no smaller


def gamma_density_of(a, x):
    """``x**(a - 1) * exp(-x) / gamma(a)``; for large ``a`` from the saddle point, as the terms of
    its logarithm are large there."""
    large = a > LARGE
    d = (x - a) / a
    r = 1 / (a * a)
    series = (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r / 1680))) / a
    log = where(d < -0.5, math.log(x / a), math.log1p(d))
    high = a * (log - d) + 0.5 * math.log(a / (2 * math.pi)) - series - math.log(x)
    low = xlogy_of(a - 1, x) - x - math.lgamma(a)
    inside = math.exp(where(large, high, low))
    ends = where(x == 0, where(a < 1, math.inf, where(a == 1, 1.0, 0.0)), 0.0)
    return where((x == 0) | (x == math.inf), ends, inside)


def xlogy_of(x1, x2):
    """``x1 * log(x2)``, 0 where the first is 0."""
    return where((x1 == 0) & (x2 == x2), 0.0, x1 * math.log(x2))


def xlog1py_of(x1, x2):
    """``x1 * log1p(x2)``, 0 where the first is 0."""
    return where((x1 == 0) & (x2 == x2), 0.0, x1 * math.log1p(x2))


def beta_density_of(a, b, x):
    """``x**(a - 1) * (1 - x)**(b - 1) / beta(a, b)``."""
    return math.exp(xlogy_of(a - 1, x) + xlog1py_of(b - 1, -x) - betaln(a, b))


gamma_density = declare("gamma_density", "a x", "density of the gamma distribution of shape ``a``",
        value=gamma_density_of, scipy="", domain="a > 0, x >= 0", tried=PAIR,
        da="y * (math.log(x) - digamma(a))",
        dx=("y * ((a - 1) / x - 1)", "gamma_density_slope(a, x, y)"))


def gamma_density_slope(a, x, y):
    """Next to 0 by the density of a smaller shape, as ``(a - 1) / x`` would be infinite there.

    What is computed where it is not selected is a number there: its slope would be none.
    """
    rises = a > 1
    low = (x == 0) | ((x < SMALLEST) & rises)
    below = where(rises, gamma_density(where(low & rises, a - 1, 1.0), x), 0.0)
    return where(low, below - y, y * ((a - 1) / where(low, 1.0, x) - 1))


NAMES.update(gamma_density_slope=gamma_density_slope)


def beta_density_slope(a, b, x):
    """As one product of powers, which has its limits at the ends, 0 and 1."""
    low, high = (a == 1) & (x == 0), (b == 1) & (x == 1)
    powers = where(low, 0.0, xlogy(a - 2, x)) + where(high, 0.0, xlog1py(b - 2, -x))
    factor = where(low, 1 - b, where(high, a - 1, (a - 1) * (1 - x) - (b - 1) * x))
    return factor * math.exp(powers - betaln(a, b))


beta_density = declare("beta_density", "a b x", "density of the beta distribution",
        value=beta_density_of, scipy="", domain="a > 0, b > 0, 0 <= x <= 1", tried=TRIPLE,
        da="y * (math.log(x) + polygamma_step(0.0, a, b))",
        db="y * (math.log1p(-x) + polygamma_step(0.0, b, a))",
        dx=("y * ((a - 1) / x - (b - 1) / (1 - x))", beta_density_slope))

# Incomplete integrals and their inverses ----------------------------------------------------------

def slope_by_series(a, x):
    """Of small ``x``, by the derivatives of the terms of the power series of `gammainc`."""
    apart = math.log(x) - digamma_series(a + 1)
    total, term, n = apart, 1.0, 0.0
    for _ in range(24):
        n += 1
        term *= -x / n
        total += term * (apart * a + n / (a + n)) / (a + n)
    return -x / a * math.exp(x) * total


STEP = 0.09375
PLACES = tuple([STEP * n - 4.0 for n in range(87)])
NODES = tuple([math.exp(s - math.exp(-s)) for s in PLACES])
WEIGHTS = tuple([(1 + math.exp(-s)) * u * STEP for s, u in zip(PLACES, NODES, strict=True)])
"""The trapezoidal rule of `slope_of_draw` of length 1."""


def slope_of_draw(a, x):
    """Minus the slope of ``gammainc(a, x)`` in ``a``, over the density at ``x``.

    It is the integral of ``psi - log(t)`` times the density at ``t`` over that at ``x``, below
    ``x``, or of its negative above: here on the side of the tail, where few terms have the other
    sign. With ``t = x * exp(-u)`` below and ``t = x * (1 + u)`` above, both decay exponentially,
    over a length near ``c``. So the trapezoidal rule after ``u = c * exp(s - exp(-s))`` has 12
    digits, compared with one of many nodes for shapes from 0.001 to 1e6.
    """
    if x == 0:
        return 0.0
    if x < 1:
        return slope_by_series(a, x)
    apart = math.log(x) - digamma_series(a)
    c = 1 / (abs(a - x) + math.sqrt(0.5 * x))
    if c > 1:  # where the curvature at x says little about the length
        c = (1 + x) / a if x < a else 1 / x
    total = 0.0
    for n in range(87):
        u = c * NODES[n]
        if x < a:
            term = (u - apart) * math.exp(-a * u - x * math.expm1(-u))
        else:
            along = math.log1p(u)
            term = (apart + along) * math.exp((a - 1) * along - x * u)
        total += term * WEIGHTS[n]
    return x * c * total


gamma_slope = declare("gamma_slope", "a x", "slope of a draw of a gamma distribution in its shape",
        value=slope_of_draw, scipy="", fixed="a", tried=PAIR,
        of="the slope of `gammainc`, or of a gamma draw, in its shape",
        dx="digamma(a) - math.log(x) - y * ((a - 1) / x - 1)")


def gammainc_a(a, x):
    """The slope of `gammainc` in ``a``."""
    ends = (x == 0) | (x == math.inf)
    return where(ends, 0.0, -gamma_density(a, x) * gamma_slope(a, x))


def beta_draw_dx(a, b, p, q, y):
    """The slope of `beta_slope` in ``p / (p + q)``."""
    s = p + q
    powers = s * ((a - 1) / p - (b - 1) / q)
    return -math.log(p / s) - polygamma_step(0.0, a, b) - y * powers


def beta_draw_dp(a, b, p, q, y):
    s = p + q
    return beta_draw_dx(a, b, p, q, y) * q / (s * s)


def beta_draw_dq(a, b, p, q, y):
    s = p + q
    return -beta_draw_dx(a, b, p, q, y) * p / (s * s)


beta_slope = declare("beta_slope", "a b p q", value=beta_draw, scipy="", fixed="a b",
        about="slope of a draw of a beta distribution in ``a`` at ``p / (p + q)``",
        of="the slope of `betainc` in its parameters", domain="a > 0, b > 0, p >= 0, q >= 0",
        tried=((0.5, 3), (0.5, 3), (0.2, 2), (0.2, 2)),
        dp=("(-log(p / (p + q)) - digamma(a) + digamma(a + b)) * q / (p + q)**2"
            " - y * ((a - 1) * q / p - b + 1) / (p + q)", beta_draw_dp),
        dq=("(log(p / (p + q)) + digamma(a) - digamma(a + b)) * p / (p + q)**2"
            " + y * (a - 1 - (b - 1) * p / q) / (p + q)", beta_draw_dq))


def betainc_a(a, b, x):
    """The slope of `betainc` in ``a``."""
    ends = (x == 0) | (x == 1)
    inside = where(ends, 0.5, x)
    return where(ends, 0.0, -beta_density(a, b, inside) * beta_slope(a, b, inside, 1 - inside))


def betainc_b(a, b, x):
    """The slope of `betainc` in ``b``."""
    ends = (x == 0) | (x == 1)
    inside = where(ends, 0.5, x)
    return where(ends, 0.0, beta_density(a, b, inside) * beta_slope(b, a, 1 - inside, inside))


NAMES.update(gammainc_a=gammainc_a, betainc_a=betainc_a, betainc_b=betainc_b)
GAMMA = {"once": "a", "tried": ((0.5, 4), (0.2, 5))}
GAMMA_INVERSE = {"once": "a", "domain": "a > 0, 0 <= p <= 1", "tried": ((0.5, 4), (0.1, 0.9))}
BETA = {"once": "a b", "domain": "a > 0, b > 0, 0 <= x <= 1", "tried": TRIPLE}
BETA_INVERSE = {"once": "a b", "domain": "a > 0, b > 0, 0 <= p <= 1", "tried": TRIPLE}

declare("gammainc", "a x", "regularized lower incomplete gamma function", value=gamma_lower,
        domain="a > 0, x >= 0", **GAMMA, dx="gamma_density(a, x)",
        da="gammainc_a(a, x)")
declare("gammaincc", "a x", "regularized upper incomplete gamma function", value=gamma_upper,
        domain="a > 0, x >= 0", **GAMMA, dx="-gamma_density(a, x)",
        da="-gammainc_a(a, x)")
declare("gammaincinv", "a p", "inverse of `gammainc` in ``x``", **GAMMA_INVERSE,
        value=lower_inverse, dp="1 / gamma_density(a, y)", da="gamma_slope(a, y)")
declare("gammainccinv", "a p", "inverse of `gammaincc` in ``x``", **GAMMA_INVERSE,
        value=upper_inverse, dp="-1 / gamma_density(a, y)", da="gamma_slope(a, y)")
declare("betainc", "a b x", "regularized incomplete beta function", **BETA, value=beta_lower,
        da="betainc_a(a, b, x)", db="betainc_b(a, b, x)", dx="beta_density(a, b, x)")
declare("betaincc", "a b x", "complement of `betainc`", **BETA, da="-betainc_a(a, b, x)",
        db="-betainc_b(a, b, x)", dx="-beta_density(a, b, x)")
DRAWN: Any = {"da": "beta_slope(a, b, y, 1 - y)", "db": "-beta_slope(b, a, 1 - y, y)"}
declare("betaincinv", "a b p", "inverse of `betainc` in ``x``", **BETA_INVERSE, **DRAWN,
        dp="1 / beta_density(a, b, y)")
declare("betainccinv", "a b p", "inverse of `betaincc` in ``x``", **BETA_INVERSE, **DRAWN,
        dp="-1 / beta_density(a, b, y)")

# The zeta function --------------------------------------------------------------------------------


def hurwitz(x, q):
    """By the Euler-Maclaurin series after 16 terms; at infinite arguments by its limits."""
    if q == math.inf or x == math.inf:
        return hurwitz_limit(x, q)
    total, z = 0.0, q
    for _ in range(16):
        total = total + z**-x
        z = z + 1
    power = z**-x
    total = total + power * z / (x - 1) + 0.5 * power
    r = 1 / (z * z)
    term = x * power / z
    total = total + term / 12
    term = term * (x + 1) * (x + 2) * r
    total = total - term / 720
    term = term * (x + 3) * (x + 4) * r
    total = total + term / 30240
    term = term * (x + 5) * (x + 6) * r
    total = total - term / 1209600
    term = term * (x + 7) * (x + 8) * r
    total = total + term / 47900160
    value = where(q > 0, total, math.nan)
    return where(x > 1, value, where(x == 1, math.inf, math.nan))


def hurwitz_limit(x, q):
    if not (x > 1 and q > 0):
        return math.inf if x == 1 else math.nan
    if q == 1:
        return 1.0
    return math.inf if q < 1 else 0.0


def riemann(x):
    """By reflection where the value is small, so that nothing is added to -1.

    Next to the pole of the reflected argument, ``1 - z``, what is no pole is computed there. The
    value has no digits for arguments whose reciprocals are infinite.
    """
    z = where((x < 0) & (x > -20), where(x > -LEAST_MIRRORED, -LEAST_MIRRORED, x), -1.0)
    half, pole = 0.5 * z, -1e-6 if in_single() else -1e-10
    mirrored = where(z < pole, 1 - z, 2.0)
    regular = where(z < pole, 1 + ZETAC(mirrored) - 1 / (mirrored - 1), EULER)
    turn = math.sin(math.pi * (half - round(half))) * (1 - 2 * (round(half) % 2))
    lift = 1 + math.log(mirrored - 0.5) * sum_rest(1.0, -z)  # of gamma, for what 1 - z lacks
    reflected = lift * (2 * math.pi) ** z / math.pi * turn * math.gamma(1 - z) * (regular - 1 / z)
    return where((x < 0) & (x > -20), reflected, 1 + ZETAC(x))


LEAST_MIRRORED = 1e-30
ZETAC, EULER = ForeignFunction("zetac", "d"), 0.5772156649015329
declare("riemann_zeta", "x", "Riemann zeta function", value=riemann, scipy="", domain="all but 1",
        fixed="x", tried=((1.5, 5),))
declare("zetac", "x", "Riemann zeta function minus 1", domain="all but 1", fixed="x",
        tried=((1.5, 5),))
declare("hurwitz_zeta", "x q", "Hurwitz zeta function, the sum of ``(q + k)**-x``", value=hurwitz,
        scipy="", domain="x > 1, q > 0", fixed="x", tried=((1.5, 5), (0.5, 4)),
        dq="-x * hurwitz_zeta(x + 1, q)")
