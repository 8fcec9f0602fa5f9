"""The continuous distributions: a table of formulas in standard form."""

import math

from .. import special as sp
from .._tensor import Tensor
from ..functions.exponential import exp, expm1, log, log1p
from ..functions.powers import sqrt
from ..functions.selection import clip, where
from ..functions.trigonometric import atan, atan2, sin, tan
from .distribution import INF, Continuous

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


def normal_logpdf(x: Tensor) -> Tensor:
    return -0.5 * x * x - HALF_LOG_2PI


def truncnorm_ppf(q: Tensor, a: Tensor, b: Tensor) -> Tensor:
    right = a > 0
    low, high = where(right, -b, a), where(right, -a, b)
    share = where(right, 1.0 - q, q)
    x = sp.ndtri(sp.ndtr(low) * (1.0 - share) + sp.ndtr(high) * share)
    return clip(where(right, -x, x), a, b)


def gamma_logpdf(x: Tensor, a: Tensor) -> Tensor:
    return sp.xlogy(a - 1.0, x) - x - sp.gammaln(a)


def t_logpdf(x: Tensor, df: Tensor) -> Tensor:
    df = clip(df, None, 1e200)  # the limit for infinitely many degrees of freedom
    power = 0.5 * (df + 1.0) * log1p_square(x / sqrt(df))
    return -sp.betaln(0.5 * df, 0.5) - 0.5 * log(df) - power


def f_logpdf(x: Tensor, n: Tensor, m: Tensor) -> Tensor:
    ratio = n / m
    power = 0.5 * (n + m) * log1p(ratio * x)
    return 0.5 * n * log(ratio) + sp.xlogy(0.5 * n - 1.0, x) - power - sp.betaln(0.5 * n, 0.5 * m)


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


def triang_logpdf(x: Tensor, c: Tensor) -> Tensor:
    rising = (x < c) | (c == 1)
    return log(where(rising, x, 1.0 - x)) - log(where(rising, c, 1.0 - c)) + LOG_2


def triang_cdf(x: Tensor, c: Tensor) -> Tensor:
    rising = (x < c) | (c == 1)
    return where(
        rising, x * x / where(rising, c, 1.0), (x * (2.0 - x) - c) / where(rising, 1.0, 1.0 - c)
    )


def triang_ppf(q: Tensor, c: Tensor) -> Tensor:
    rising = (q < c) | (c == 1)
    root = sqrt(where(rising, c * q, (1.0 - c) * (1.0 - q)))
    return where(rising, root, 1.0 - root)


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
    near, far = invgauss_logs(x, mu)
    first = sp.log_ndtr(-near)
    return first + log1p(-exp(far - first))


# Special functions are named inside of lambdas only: there they are made when they are used.
# fmt: off
norm = Continuous(
    "norm", symmetric=True, logpdf=normal_logpdf, cdf=lambda x: sp.ndtr(x),
    logcdf=lambda x: sp.log_ndtr(x), ppf=lambda q: sp.ndtri(q),
)
halfnorm = Continuous(
    "halfnorm", support=(0.0, INF), logpdf=lambda x: normal_logpdf(x) + LOG_2,
    cdf=lambda x: sp.erf(x * ROOT_HALF), sf=lambda x: sp.erfc(x * ROOT_HALF),
    logsf=lambda x: sp.log_ndtr(-x) + LOG_2, ppf=lambda q: -sp.ndtri(0.5 * (1.0 - q)),
)
truncnorm = Continuous(
    "truncnorm", "a b", support=(lambda a, b: a, lambda a, b: b),
    inside=lambda a, b: 0.5 * (clip(a, -FAR, FAR) + clip(b, -FAR, FAR)),
    valid=lambda a, b: a < b, logpdf=lambda x, a, b: normal_logpdf(x) - log_mass(a, b),
    cdf=lambda x, a, b: exp(log_mass(a, x) - log_mass(a, b)), ppf=truncnorm_ppf,
    sf=lambda x, a, b: exp(log_mass(x, b) - log_mass(a, b)),
    logcdf=lambda x, a, b: log_mass(a, x) - log_mass(a, b),
    logsf=lambda x, a, b: log_mass(x, b) - log_mass(a, b),
)
lognorm = Continuous(
    "lognorm", "s", support=(0.0, INF), edges="()",
    logpdf=lambda x, s: normal_logpdf(log(x) / s) - log(s * x),
    cdf=lambda x, s: sp.ndtr(log(x) / s), sf=lambda x, s: sp.ndtr(-log(x) / s),
    logcdf=lambda x, s: sp.log_ndtr(log(x) / s), logsf=lambda x, s: sp.log_ndtr(-log(x) / s),
    ppf=lambda q, s: exp(s * sp.ndtri(q)),
)
skewnorm = Continuous(
    "skewnorm", "a", edges="()", valid=lambda a: a == a,
    logpdf=lambda x, a: normal_logpdf(x) + sp.log_ndtr(a * x) + LOG_2,
    cdf=lambda x, a: clip(sp.ndtr(x) - 2.0 * sp.owens_t(x, a), 0.0, 1.0),
    sf=lambda x, a: clip(sp.ndtr(-x) + 2.0 * sp.owens_t(x, a), 0.0, 1.0),
)
expon = Continuous(
    "expon", support=(0.0, INF), logpdf=lambda x: -x, cdf=lambda x: -expm1(-x),
    sf=lambda x: exp(-x), logsf=lambda x: -x, ppf=lambda q: -log1p(-q),
)
gamma = Continuous(
    "gamma", "a", support=(0.0, INF), logpdf=gamma_logpdf, cdf=lambda x, a: sp.gammainc(a, x),
    sf=lambda x, a: sp.gammaincc(a, x), ppf=lambda q, a: sp.gammaincinv(a, q),
)
invgamma = Continuous(
    "invgamma", "a", support=(0.0, INF), edges="()",
    logpdf=lambda x, a: -(a + 1.0) * log(x) - sp.gammaln(a) - 1.0 / x,
    cdf=lambda x, a: sp.gammaincc(a, 1.0 / x), sf=lambda x, a: sp.gammainc(a, 1.0 / x),
    ppf=lambda q, a: 1.0 / sp.gammainccinv(a, q),
)
chi2 = Continuous(
    "chi2", "df", support=(0.0, INF),
    logpdf=lambda x, df: gamma_logpdf(0.5 * x, 0.5 * df) - LOG_2,
    cdf=lambda x, df: sp.gammainc(0.5 * df, 0.5 * x),
    sf=lambda x, df: sp.gammaincc(0.5 * df, 0.5 * x),
    ppf=lambda q, df: 2.0 * sp.gammaincinv(0.5 * df, q),
)
beta = Continuous(
    "beta", "a b", support=(0.0, 1.0),
    logpdf=lambda x, a, b: sp.xlog1py(b - 1.0, -x) + sp.xlogy(a - 1.0, x) - sp.betaln(a, b),
    cdf=lambda x, a, b: sp.betainc(a, b, x), sf=lambda x, a, b: sp.betaincc(a, b, x),
    ppf=lambda q, a, b: sp.betaincinv(a, b, q),
)
t = Continuous(
    "t", "df", symmetric=True, logpdf=t_logpdf, cdf=lambda x, df: sp.stdtr(df, x),
    ppf=lambda q, df: where(q == 0, -INF, sp.stdtrit(df, where(q == 0, 0.5, q))),
)
f = Continuous(
    "f", "dfn dfd", support=(0.0, INF), edges="[)", logpdf=f_logpdf,
    cdf=lambda x, n, m: sp.betainc(0.5 * n, 0.5 * m, n * x / (m + n * x)),
    sf=lambda x, n, m: sp.betainc(0.5 * m, 0.5 * n, m / (m + n * x)),
    ppf=lambda q, n, m: sp.fdtri(n, m, q),
)
cauchy = Continuous(
    "cauchy", symmetric=True, logpdf=lambda x: -log1p_square(x) - LOG_PI,
    cdf=lambda x: atan2(1.0, -x) / math.pi, ppf=cauchy_ppf,
)
halfcauchy = Continuous(
    "halfcauchy", support=(0.0, INF), logpdf=lambda x: -log1p_square(x) + (LOG_2 - LOG_PI),
    cdf=lambda x: atan(x) * (2 / math.pi), sf=lambda x: atan2(1.0, x) * (2 / math.pi),
    ppf=halfcauchy_ppf,
)
laplace = Continuous(
    "laplace", symmetric=True, logpdf=lambda x: -abs(x) - LOG_2, cdf=laplace_cdf,
    logcdf=lambda x: where(x < 0, x - LOG_2, log1p(-0.5 * exp(-abs(x)))),
    ppf=lambda q: where(q < 0.5, log(2.0 * q), -log(2.0 - 2.0 * q)),
)
logistic = Continuous(
    "logistic", symmetric=True, logpdf=lambda x: sp.log_expit(x) + sp.log_expit(-x),
    cdf=lambda x: sp.expit(x), logcdf=lambda x: sp.log_expit(x), ppf=lambda q: sp.logit(q),
)
gumbel_r = Continuous(
    "gumbel_r", logpdf=lambda x: -x - exp(-x), cdf=lambda x: exp(-exp(-x)),
    sf=lambda x: -expm1(-exp(-x)), logcdf=lambda x: -exp(-x), ppf=lambda q: -log(-log(q)),
)
weibull_min = Continuous(
    "weibull_min", "c", support=(0.0, INF),
    logpdf=lambda x, c: log(c) + sp.xlogy(c - 1.0, x) - x**c, cdf=lambda x, c: -expm1(-(x**c)),
    sf=lambda x, c: exp(-(x**c)), logsf=lambda x, c: -(x**c),
    ppf=lambda q, c: (-log1p(-q)) ** (1.0 / c),
)
pareto = Continuous(
    "pareto", "b", support=(1.0, INF), inside=2.0,
    logpdf=lambda x, b: log(b) - (b + 1.0) * log(x), cdf=lambda x, b: -expm1(-b * log(x)),
    sf=lambda x, b: exp(-b * log(x)), logsf=lambda x, b: -b * log(x),
    ppf=lambda q, b: exp(-log1p(-q) / b),
)
uniform = Continuous(
    "uniform", support=(0.0, 1.0), logpdf=lambda x: 0.0 * x, cdf=lambda x: x,
    sf=lambda x: 1.0 - x, ppf=lambda q: q,
)
triang = Continuous(
    "triang", "c", support=(0.0, 1.0), valid=lambda c: (c >= 0) & (c <= 1),
    logpdf=triang_logpdf, cdf=triang_cdf, sf=lambda x, c: triang_cdf(1.0 - x, 1.0 - c),
    ppf=triang_ppf,
)
rayleigh = Continuous(
    "rayleigh", support=(0.0, INF), edges="()", logpdf=lambda x: log(x) - 0.5 * x * x,
    cdf=lambda x: -expm1(-0.5 * x * x), sf=lambda x: exp(-0.5 * x * x),
    logsf=lambda x: -0.5 * x * x, ppf=lambda q: sqrt(-2.0 * log1p(-q)),
)
vonmises = Continuous(
    "vonmises", "kappa", valid=lambda kappa: kappa >= 0, logpdf=vonmises_logpdf,
)
invgauss = Continuous(
    "invgauss", "mu", support=(0.0, INF), edges="()", logpdf=invgauss_logpdf,
    cdf=lambda x, mu: exp(invgauss_logcdf(x, mu)), sf=lambda x, mu: exp(invgauss_logsf(x, mu)),
    logcdf=invgauss_logcdf, logsf=invgauss_logsf,
)
# fmt: on
