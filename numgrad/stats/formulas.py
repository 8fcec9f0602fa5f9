"""The formulas of continuous distributions that are more than an expression."""

import math
from collections.abc import Callable

import numpy as np

from .. import special as sp
from .._declare import registry
from .._tensor import Tensor
from ..functions.elementwise.comparison import isinf
from ..functions.elementwise.exponential import exp, expm1, log, log1p
from ..functions.elementwise.powers import sqrt
from ..functions.elementwise.trigonometric import sin, tan
from ..functions.shape.selection import clip, where
from .distribution import INF, MOST, Powers, power_of_zero

LOG_2 = math.log(2)
LOG_PI = math.log(math.pi)
HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
ROOT_HALF = math.sqrt(0.5)


def log1p_square(x: Tensor) -> Tensor:
    """Return ``log(1 + x**2)`` also where the square overflows."""
    far = abs(x) > 1
    large = where(far, x, 1.0)
    small = where(far, 1 / large, x)
    return log1p(small * small) + 2 * log(abs(large))


def halfnorm_logsf(x: Tensor) -> Tensor:
    """Return the logarithm of the probability beyond ``x``, which is near 0 where ``x`` is."""
    near = x < 1
    share = sp.erf(where(near, x, 0.0) * ROOT_HALF)
    return where(near, log1p(-share), sp.log_ndtr(-x) + LOG_2)


def log_mass(a: Tensor, b: Tensor) -> Tensor:
    """Return the logarithm of the probability of a standard normal number between two."""
    right = a > 0  # mirrored, so that the smaller logarithms have their digits
    low, high = where(right, -b, a), where(right, -a, b)
    upper = sp.log_ndtr(clip(high, -FAR, FAR))  # slopes at infinity would be NaN
    gap = sp.log_ndtr(clip(low, -FAR, FAR)) - upper
    near = gap > -LOG_2
    return upper + where(
        near, log(-expm1(where(near, gap, -1.0))), log1p(-exp(where(near, -1.0, gap)))
    )


FAR = 1e150


def bounded_exp(x: Tensor) -> Tensor:
    """Return ``exp(x)``, at most so much that 0 times the slope is 0."""
    return exp(clip(x, None, MOST))


def normal_logpdf(x: Tensor) -> Tensor:
    return -0.5 * x * x - HALF_LOG_2PI


def skewnorm_cdf(x: Tensor, a: Tensor) -> Tensor:
    """Return the probability below ``x``: a sum of probabilities where they would cancel.

    The thin tail is what Owen's T function lacks of its limit, twice (Owen, Ann. Math. Stat. 27
    (1956) 1075).
    """
    is_thin = (x < 0) & (a > 0)
    tail = registry["owens_rest"](where(is_thin, -x, 0.0), where(is_thin, a, 0.0))
    most = sp.ndtr(x) - 2.0 * sp.owens_t(x, a)
    return where(is_thin, 2.0 * tail, clip(most, 0.0, 1.0))


def truncnorm_cdf(x: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """Return the share below ``x``: at the end from the share above, as the logarithm of 0 has no
    slope."""
    is_end, log_all = x == a, log_mass(a, b)
    above = log_mass(where(is_end, x, a), b)
    below = log_mass(a, where(is_end, b, x))
    return where(is_end, 1.0 - exp(above - log_all), exp(below - log_all))


def truncnorm_sf(x: Tensor, a: Tensor, b: Tensor) -> Tensor:
    is_end, log_all = x == b, log_mass(a, b)
    below = log_mass(a, where(is_end, x, b))
    above = log_mass(where(is_end, a, x), b)
    return where(is_end, 1.0 - exp(below - log_all), exp(above - log_all))


def truncnorm_ppf(q: Tensor, a: Tensor, b: Tensor) -> Tensor:
    right = a > 0
    low, high = where(right, -b, a), where(right, -a, b)
    share = where(right, 1.0 - q, q)
    x = sp.ndtri(sp.ndtr(low) * (1.0 - share) + sp.ndtr(high) * share)
    x = where(right, -x, x)
    inside = clip(x, a, b)
    rounding = where(isinf(x), 0.0, inside - x).detach()
    return where(isinf(x), inside, x + rounding)  # with the slopes of x also where that is b


def gamma_logpdf(x: Tensor, a: Tensor, of: Powers) -> Tensor:
    return of.xlogy(a - 1.0, x) - x - sp.gammaln(a)


def t_logpdf(x: Tensor, df: Tensor) -> Tensor:
    df = clip(df, None, 1e200)  # the limit for infinitely many degrees of freedom
    power = 0.5 * (df + 1.0) * log1p_square(x / sqrt(df))
    return -sp.betaln(0.5 * df, 0.5) - 0.5 * log(df) - power


def f_logpdf(x: Tensor, n: Tensor, m: Tensor, of: Powers) -> Tensor:
    ratio = n / m
    power = 0.5 * (n + m) * log1p(ratio * x)
    return 0.5 * n * log(ratio) + of.xlogy(0.5 * n - 1.0, x) - power - sp.betaln(0.5 * n, 0.5 * m)


def f_entropy(n: Tensor, m: Tensor) -> Tensor:
    n, m = 0.5 * n, 0.5 * m
    digammas = (1.0 - n) * sp.psi(n) - (1.0 + m) * sp.psi(m) + (n + m) * sp.psi(n + m)
    return sp.betaln(n, m) + digammas + log(m / n)


def cauchy_ppf(q: Tensor) -> Tensor:
    apart = q - 0.5
    central = abs(apart) < 0.25
    rest = where(apart < 0, -q, 1.0 - q)  # from the nearer end, exactly
    return where(central, tan(math.pi * apart), 1.0 / tan(math.pi * where(central, 0.25, rest)))


def halfcauchy_ppf(q: Tensor) -> Tensor:
    low = q < 0.5
    angle = math.pi / 2 * where(low, q, 1.0 - q)  # from the nearer end, exactly
    return where(low, tan(angle), 1.0 / tan(where(low, 1.0, angle)))


def laplace_cdf(x: Tensor) -> Tensor:
    tail = 0.5 * exp(-abs(x))
    return where(x < 0, tail, 1.0 - tail)


def triang_logpdf(x: Tensor, c: Tensor, of: Powers) -> Tensor:
    rising = (x < c) | (c == 1)
    return of.log(where(rising, x, 1.0 - x)) - log(where(rising, c, 1.0 - c)) + LOG_2


def triang_cdf(x: Tensor, c: Tensor) -> Tensor:
    rising = (x < c) | (c == 1)
    return where(
        rising, x * x / where(rising, c, 1.0), (x * (2.0 - x) - c) / where(rising, 1.0, 1.0 - c)
    )


def vonmises_logpdf(x: Tensor, kappa: Tensor) -> Tensor:
    half = sin(0.5 * x)
    return -2.0 * kappa * half * half - log(sp.i0e(kappa)) - 2 * HALF_LOG_2PI


def invgauss_logpdf(x: Tensor, mu: Tensor) -> Tensor:
    apart = x / mu - 1.0
    return -0.5 * apart * apart / x - 1.5 * log(x) - HALF_LOG_2PI


def invgauss_logs(x: Tensor, mu: Tensor) -> tuple[Tensor, Tensor]:
    """Return the logarithms of the two parts of the distribution function (Shuster 1968)."""
    r = 1.0 / sqrt(x)
    return r * (x / mu - 1.0), 2.0 / mu + sp.log_ndtr(-r * (x / mu + 1.0))


def invgauss_logcdf(x: Tensor, mu: Tensor) -> Tensor:
    near, far = invgauss_logs(x, mu)
    first = sp.log_ndtr(near)
    return first + log1p(exp(far - first))


def invgauss_logsf(x: Tensor, mu: Tensor) -> Tensor:
    """Right of the middle the exponentials of both parts are the same, and are taken out."""
    near, far = invgauss_logs(x, mu)
    first = sp.log_ndtr(-near)
    right = near > 0
    low = where(right, near, 1.0) * math.sqrt(0.5)
    step = where(right, math.sqrt(2.0) / sqrt(x), 1.0)
    quotient = log(sp.erfcx(low + step)) - log(sp.erfcx(low))
    quotient = where(low > LONG, erfcx_quotient(low, step), quotient)
    return first + log(-expm1(where(right, quotient, far - first)))


LONG = 1e3


def erfcx_quotient(x: Tensor, step: Tensor) -> Tensor:
    """Return ``log(erfcx(x + step) / erfcx(x))`` for large ``x``, where the logarithms of both are
    nearly equal, by the first two terms of their series (DLMF 7.12.1)."""
    inverse, other = 1.0 / x, 1.0 / (x + step)
    return 0.5 * step * inverse * other * (inverse + other) - log1p(step * inverse)


def finite(parameter: Tensor, bound: float, moment: Callable[[Tensor], Tensor]) -> Tensor:
    """Return a moment that is infinite unless a parameter exceeds a bound."""
    exists = parameter > bound
    return where(exists, moment(where(exists, parameter, bound + 1.0)), INF)


def truncnorm_ends(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the ends and the densities there."""
    a, b = clip(a, -FAR, FAR), clip(b, -FAR, FAR)
    mass = log_mass(a, b)
    return a, b, exp(normal_logpdf(a) - mass), exp(normal_logpdf(b) - mass)


def truncnorm_mean(a: Tensor, b: Tensor) -> Tensor:
    _, _, low, high = truncnorm_ends(a, b)
    return low - high


def truncnorm_square(a: Tensor, b: Tensor) -> Tensor:
    """Return the mean of the square less 1."""
    a, b, low, high = truncnorm_ends(a, b)
    return a * low - b * high


def gamma_entropy(a: Tensor) -> Tensor:
    """Return ``a + gammaln(a) + (1 - a) * psi(a)``, far out by Stirling's series."""
    far = a > 100
    near, r = where(far, 1.0, a), 1.0 / where(far, a, 1.0)
    tail = r * (-1 / 3 + r * (-1 / 12 + r * (-1 / 90 + r * (1 / 120 + r / 210))))
    series = HALF_LOG_2PI + 0.5 - 0.5 * log(r) + tail
    return where(far, series, near + sp.gammaln(near) + (1.0 - near) * sp.psi(near))


def beta_entropy(a: Tensor, b: Tensor) -> Tensor:
    return gamma_entropy(a) + gamma_entropy(b) - gamma_entropy(a + b) - sp.psi(a + b)


def t_var(df: Tensor) -> Tensor:
    return where(df > 1, finite(df, 2.0, lambda df: 1.0 + 2.0 / (df - 2.0)), np.nan)


def t_entropy(df: Tensor) -> Tensor:
    far = df > 100
    near, r = where(far, 1.0, df), 1.0 / where(far, df, 1.0)
    tail = r * (1 + r * (1 / 4 + r * (-1 / 6 + r * (-1 / 8 + r * (3 / 10 + r / 4)))))
    slope = sp.psi(0.5 * (near + 1.0)) - sp.psi(0.5 * near)
    exact = 0.5 * (near + 1.0) * slope + 0.5 * log(near) + sp.betaln(0.5 * near, 0.5)
    return where(far, HALF_LOG_2PI + 0.5 + tail, exact)


def f_var(n: Tensor, m: Tensor) -> Tensor:
    def exists(m: Tensor) -> Tensor:
        mean = m / (m - 2.0)
        return 2.0 * mean * mean * (n + m - 2.0) / (n * (m - 4.0))

    return finite(m, 4.0, exists)


def weibull_var(c: Tensor) -> Tensor:
    first = sp.gammaln(1.0 + 1.0 / c)
    return exp(2.0 * first) * expm1(sp.gammaln(1.0 + 2.0 / c) - 2.0 * first)


def vonmises_entropy(kappa: Tensor) -> Tensor:
    mean = sp.i1e(kappa) / sp.i0e(kappa)
    return 2 * HALF_LOG_2PI + log(sp.i0e(kappa)) + kappa * (1.0 - mean)


def log_ratio(x: Tensor, c: Tensor) -> Tensor:
    """Return ``log(1 + c * x) / c``, ``x`` where ``c`` is 0, with its slopes there."""
    return x / sp.exprel(log1p(c * x))


def power_ratio(t: Tensor, c: Tensor) -> Tensor:
    """Return ``(exp(c * t) - 1) / c``, the inverse of `log_ratio`."""
    far, straight = abs(t) == INF, c == 0
    near, power = where(far, 0.0, t), where(straight, 1.0, c)
    limit = where(straight, t, expm1(power * t) / power)
    return where(far, limit, near * sp.exprel(c * near))


def end_of_tail(c: Tensor, ends: Tensor, infinity: float) -> Tensor:
    """Return ``1 / c`` where the support ends, else an infinity."""
    return where(ends, 1.0 / where(ends, c, 1.0), infinity)


def genextreme_logpdf(x: Tensor, c: Tensor, of: Powers) -> Tensor:
    t = log_ratio(x, -c)
    return (c - 1.0) * t - exp(of.exponent(-t))


def fisk_logpdf(x: Tensor, c: Tensor, of: Powers) -> Tensor:
    inside = x > 0
    tail = 2.0 * sp.log_expit(-c * log(where(inside, x, 1.0)))
    end = -2.0 * log1p(power_of_zero(x, c))
    return log(c) + of.xlogy(c - 1.0, x) + where(inside, tail, end)


def fisk_cdf(x: Tensor, c: Tensor) -> Tensor:
    is_end = x == 0
    power = power_of_zero(x, c)
    return where(is_end, power / (1.0 + power), sp.expit(c * log(where(is_end, 1.0, x))))


def fisk_sf(x: Tensor, c: Tensor) -> Tensor:
    is_end = x == 0
    end = 1.0 / (1.0 + power_of_zero(x, c))
    return where(is_end, end, sp.expit(-c * log(where(is_end, 1.0, x))))


def fisk_logsf(x: Tensor, c: Tensor) -> Tensor:
    is_end = x == 0
    tail = sp.log_expit(-c * log(where(is_end, 1.0, x)))
    return where(is_end, -log1p(power_of_zero(x, c)), tail)


def fisk_mean(c: Tensor) -> Tensor:
    angle = math.pi / c
    return angle / sin(angle)


def fisk_var(c: Tensor) -> Tensor:
    return fisk_mean(0.5 * c) - fisk_mean(c) ** 2


def loguniform_var(a: Tensor, b: Tensor) -> Tensor:
    width = log(b / a)
    mean = (b - a) / width
    return mean * (0.5 * (a + b) - mean)
