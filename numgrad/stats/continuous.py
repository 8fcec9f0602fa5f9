"""The continuous distributions: a table of formulas in standard form."""

import math

import numpy as np

from .. import special as sp
from ..functions.elementwise.exponential import exp, expm1, log, log1p
from ..functions.elementwise.powers import sqrt
from ..functions.elementwise.trigonometric import atan, atan2
from ..functions.shape.selection import clip, where
from . import ends
from .distribution import INF, MOST, Continuous
from .formulas import (
    FAR,
    HALF_LOG_2PI,
    LOG_2,
    LOG_PI,
    ROOT_HALF,
    beta_entropy,
    bounded_exp,
    cauchy_ppf,
    end_of_tail,
    f_entropy,
    f_logpdf,
    f_var,
    finite,
    fisk_cdf,
    fisk_logpdf,
    fisk_logsf,
    fisk_mean,
    fisk_sf,
    fisk_var,
    gamma_entropy,
    gamma_logpdf,
    genextreme_logpdf,
    halfcauchy_ppf,
    halfnorm_logsf,
    invgauss_logcdf,
    invgauss_logpdf,
    invgauss_logsf,
    laplace_cdf,
    log1p_square,
    log_mass,
    log_ratio,
    loguniform_var,
    normal_logpdf,
    skewnorm_cdf,
    t_entropy,
    t_logpdf,
    t_var,
    triang_cdf,
    triang_logpdf,
    truncnorm_cdf,
    truncnorm_mean,
    truncnorm_ppf,
    truncnorm_sf,
    truncnorm_square,
    vonmises_entropy,
    vonmises_logpdf,
    weibull_var,
)

EULER_GAMMA = float(np.euler_gamma)
NAN = math.nan
DENSITY_0 = 1 / math.sqrt(2 * math.pi)
"""The density of a standard normal number at 0."""

# Special functions are named inside of lambdas only: there they are made when they are used.
# fmt: off
norm = Continuous(
    "norm", symmetric=True, logpdf=normal_logpdf, cdf=lambda x: sp.ndtr(x),
    logcdf=lambda x: sp.log_ndtr(x), ppf=lambda q: sp.ndtri(q),
    mean=lambda: 0.0, var=lambda: 1.0, entropy=lambda: HALF_LOG_2PI + 0.5,
)
halfnorm = Continuous(
    "halfnorm", support=(0.0, INF), logpdf=lambda x: normal_logpdf(x) + LOG_2,
    cdf=lambda x: sp.erf(x * ROOT_HALF), sf=lambda x: sp.erfc(x * ROOT_HALF),
    logsf=halfnorm_logsf, ppf=lambda q: sp.erfinv(q) / ROOT_HALF,
    isf=lambda q: -sp.ndtri(0.5 * q), mean=lambda: 2 * DENSITY_0, var=lambda: 1 - 2 / math.pi,
    entropy=lambda: HALF_LOG_2PI + 0.5 - LOG_2,
)
truncnorm = Continuous(
    "truncnorm", "a b", support=(lambda a, b: a, lambda a, b: b),
    inside=lambda a, b: 0.5 * (clip(a, -FAR, FAR) + clip(b, -FAR, FAR)),
    valid=lambda a, b: a < b, logpdf=lambda x, a, b: normal_logpdf(x) - log_mass(a, b),
    cdf=truncnorm_cdf, sf=truncnorm_sf, ppf=truncnorm_ppf,
    logcdf=lambda x, a, b: log_mass(a, x) - log_mass(a, b),
    logsf=lambda x, a, b: log_mass(x, b) - log_mass(a, b),
    isf=lambda q, a, b: -truncnorm_ppf(q, -b, -a), mean=truncnorm_mean,
    var=lambda a, b: 1.0 + truncnorm_square(a, b) - truncnorm_mean(a, b) ** 2,
    entropy=lambda a, b: HALF_LOG_2PI + 0.5 + log_mass(a, b) + 0.5 * truncnorm_square(a, b),
)
lognorm = Continuous(
    "lognorm", "s", support=(0.0, INF), edges="()", inside=1.0,
    logpdf=lambda x, s: normal_logpdf(log(x) / s) - log(s * x),
    cdf=lambda x, s: sp.ndtr(log(x) / s), sf=lambda x, s: sp.ndtr(-log(x) / s),
    logcdf=lambda x, s: sp.log_ndtr(log(x) / s), logsf=lambda x, s: sp.log_ndtr(-log(x) / s),
    ppf=ends.lognorm_ppf, isf=ends.lognorm_isf, mean=lambda s: exp(0.5 * s * s),
    var=lambda s: expm1(s * s) * exp(s * s), entropy=lambda s: HALF_LOG_2PI + 0.5 + log(s),
)
skewnorm = Continuous(
    "skewnorm", "a", edges="()", valid=lambda a: a == a,
    logpdf=lambda x, a: normal_logpdf(x) + sp.log_ndtr(a * x) + LOG_2,
    limits=(lambda p, a: -ends.skewnorm_high(p, -a), ends.skewnorm_high),
    cdf=skewnorm_cdf, sf=lambda x, a: skewnorm_cdf(-x, -a),
    mean=lambda a: 2 * DENSITY_0 * a / sqrt(1.0 + a * a),
    var=lambda a: 1.0 - 2 / math.pi * a * a / (1.0 + a * a),
)
expon = Continuous(
    "expon", support=(0.0, INF), logpdf=lambda x: -x, cdf=lambda x: -expm1(-x),
    sf=lambda x: exp(-x), logsf=lambda x: -x, ppf=lambda q: -log1p(-q),
    isf=lambda q: -log(q), mean=lambda: 1.0, var=lambda: 1.0, entropy=lambda: 1.0,
)
gamma = Continuous(
    "gamma", "a", support=(0.0, INF), inside=lambda a: a, powers=True, logpdf=gamma_logpdf,
    cdf=lambda x, a: sp.gammainc(a, x),
    sf=lambda x, a: sp.gammaincc(a, x), ppf=ends.gamma_ppf,
    isf=ends.gamma_isf, mean=lambda a: a, var=lambda a: a,
    entropy=gamma_entropy,
)
invgamma = Continuous(
    "invgamma", "a", support=(0.0, INF), edges="()", inside=lambda a: 1.0 / a,
    logpdf=lambda x, a: -(a + 1.0) * log(x) - sp.gammaln(a) - 1.0 / x,
    cdf=lambda x, a: sp.gammaincc(a, 1.0 / x), sf=lambda x, a: sp.gammainc(a, 1.0 / x),
    ppf=ends.invgamma_ppf, isf=ends.invgamma_isf,
    mean=lambda a: finite(a, 1.0, lambda a: 1.0 / (a - 1.0)),
    var=lambda a: finite(a, 2.0, lambda a: 1.0 / ((a - 1.0) * (a - 1.0) * (a - 2.0))),
    entropy=lambda a: gamma_entropy(a) - 2.0 * sp.psi(a),
)
chi2 = Continuous(
    "chi2", "df", support=(0.0, INF), inside=lambda df: df, powers=True,
    logpdf=lambda x, df, of: gamma_logpdf(0.5 * x, 0.5 * df, of) - LOG_2,
    cdf=lambda x, df: sp.gammainc(0.5 * df, 0.5 * x),
    sf=lambda x, df: sp.gammaincc(0.5 * df, 0.5 * x),
    ppf=lambda q, df: 2.0 * ends.gamma_ppf(q, 0.5 * df),
    isf=lambda q, df: 2.0 * ends.gamma_isf(q, 0.5 * df), mean=lambda df: df,
    var=lambda df: 2.0 * df, entropy=lambda df: gamma_entropy(0.5 * df) + LOG_2,
)
beta = Continuous(
    "beta", "a b", support=(0.0, 1.0), inside=lambda a, b: a / (a + b), powers=True,
    logpdf=lambda x, a, b, of: of.xlog1py(b - 1.0, -x) + of.xlogy(a - 1.0, x) - sp.betaln(a, b),
    cdf=lambda x, a, b: sp.betainc(a, b, x), sf=lambda x, a, b: sp.betaincc(a, b, x),
    ppf=lambda q, a, b: sp.betaincinv(a, b, q),
    isf=lambda q, a, b: sp.betainccinv(a, b, q), mean=lambda a, b: a / (a + b),
    var=lambda a, b: a / (a + b) * (b / (a + b)) / (a + b + 1.0), entropy=beta_entropy,
)
t = Continuous(
    "t", "df", symmetric=True, logpdf=t_logpdf, cdf=lambda x, df: sp.stdtr(df, x),
    ppf=ends.t_ppf,
    mean=lambda df: where(df > 1, 0.0, INF),
    var=t_var, entropy=t_entropy,
)
f = Continuous(
    "f", "dfn dfd", support=(0.0, INF), edges="[)", inside=1.0, powers=True, logpdf=f_logpdf,
    cdf=lambda x, n, m: sp.fdtr(n, m, x), sf=lambda x, n, m: sp.fdtrc(n, m, x),
    ppf=ends.f_ppf, isf=ends.f_isf,
    mean=lambda n, m: finite(m, 2.0, lambda m: m / (m - 2.0)), var=f_var, entropy=f_entropy,
)
cauchy = Continuous(
    "cauchy", symmetric=True, logpdf=lambda x: -log1p_square(x) - LOG_PI,
    cdf=lambda x: atan2(1.0, -x) / math.pi, ppf=cauchy_ppf,
    mean=lambda: NAN, var=lambda: NAN, entropy=lambda: 2 * LOG_2 + LOG_PI,
)
halfcauchy = Continuous(
    "halfcauchy", support=(0.0, INF), logpdf=lambda x: -log1p_square(x) + (LOG_2 - LOG_PI),
    cdf=lambda x: atan(x) * (2 / math.pi), sf=lambda x: atan2(1.0, x) * (2 / math.pi),
    ppf=halfcauchy_ppf,
    isf=ends.halfcauchy_isf, mean=lambda: INF, var=lambda: INF,
    entropy=lambda: LOG_2 + LOG_PI,
)
laplace = Continuous(
    "laplace", symmetric=True, logpdf=lambda x: -abs(x) - LOG_2, cdf=laplace_cdf,
    logcdf=lambda x: where(x < 0, x - LOG_2, log1p(-0.5 * exp(-abs(x)))),
    ppf=lambda q: where(q < 0.5, log(2.0 * q), -log(2.0 - 2.0 * q)),
    mean=lambda: 0.0, var=lambda: 2.0, entropy=lambda: LOG_2 + 1,
)
logistic = Continuous(
    "logistic", symmetric=True, logpdf=lambda x: sp.log_expit(x) + sp.log_expit(-x),
    cdf=lambda x: sp.expit(x), logcdf=lambda x: sp.log_expit(x), ppf=lambda q: sp.logit(q),
    mean=lambda: 0.0, var=lambda: math.pi**2 / 3, entropy=lambda: 2.0,
)
gumbel_r = Continuous(
    "gumbel_r", powers=True, logpdf=lambda x, of: -x - exp(of.exponent(-x)),
    cdf=lambda x: exp(-bounded_exp(-x)), sf=lambda x: -expm1(-bounded_exp(-x)),
    logcdf=lambda x: -exp(-x), ppf=ends.gumbel_r_ppf,
    isf=ends.gumbel_r_isf, mean=lambda: EULER_GAMMA, var=lambda: math.pi**2 / 6,
    entropy=lambda: EULER_GAMMA + 1,
)
weibull_min = Continuous(
    "weibull_min", "c", support=(0.0, INF), inside=1.0, powers=True,
    logpdf=lambda x, c, of: log(c) + of.xlogy(c - 1.0, x) - x**c, cdf=lambda x, c: -expm1(-(x**c)),
    sf=lambda x, c: exp(-(x**c)), logsf=lambda x, c: -(x**c),
    ppf=ends.weibull_min_ppf, isf=ends.weibull_min_isf, mean=lambda c: sp.gamma(1.0 + 1.0 / c),
    var=weibull_var, entropy=lambda c: EULER_GAMMA * (1.0 - 1.0 / c) - log(c) + 1.0,
)
pareto = Continuous(
    "pareto", "b", support=(1.0, INF), inside=2.0,
    logpdf=lambda x, b: log(b) - (b + 1.0) * log(x), cdf=lambda x, b: -expm1(-b * log(x)),
    sf=lambda x, b: exp(-b * log(x)), logsf=lambda x, b: -b * log(x),
    ppf=lambda q, b: exp(-log1p(-q) / b),
    isf=lambda q, b: exp(-log(q) / b), mean=lambda b: finite(b, 1.0, lambda b: b / (b - 1.0)),
    var=lambda b: finite(b, 2.0, lambda b: b / ((b - 1.0) * (b - 1.0) * (b - 2.0))),
    entropy=lambda b: 1.0 + 1.0 / b - log(b),
)
uniform = Continuous(
    "uniform", support=(0.0, 1.0), logpdf=lambda x: 0.0 * x, cdf=lambda x: x,
    sf=lambda x: 1.0 - x, ppf=lambda q: q,
    isf=lambda q: 1.0 - q, mean=lambda: 0.5, var=lambda: 1 / 12, entropy=lambda: 0.0,
)
triang = Continuous(
    "triang", "c", support=(0.0, 1.0), valid=lambda c: (c >= 0) & (c <= 1),
    powers=True, logpdf=triang_logpdf, cdf=triang_cdf, sf=lambda x, c: triang_cdf(1.0 - x, 1.0 - c),
    ppf=ends.triang_ppf,
    isf=lambda q, c: 1.0 - ends.triang_ppf(q, 1.0 - c), mean=lambda c: (1.0 + c) / 3.0,
    var=lambda c: (1.0 - c + c * c) / 18.0, entropy=lambda c: 0.5 - LOG_2,
)
rayleigh = Continuous(
    "rayleigh", support=(0.0, INF), edges="()", logpdf=lambda x: log(x) - 0.5 * x * x,
    cdf=lambda x: -expm1(-0.5 * x * x), sf=lambda x: exp(-0.5 * x * x),
    logsf=lambda x: -0.5 * x * x, ppf=ends.rayleigh_ppf,
    isf=ends.rayleigh_isf, mean=lambda: math.sqrt(math.pi / 2),
    var=lambda: 2 - math.pi / 2, entropy=lambda: 0.5 * EULER_GAMMA + 1 - 0.5 * LOG_2,
)
vonmises = Continuous(
    "vonmises", "kappa", support=None, valid=lambda kappa: kappa >= 0, logpdf=vonmises_logpdf,
    mean=lambda kappa: 0.0,
    entropy=vonmises_entropy,
)
invgauss = Continuous(
    "invgauss", "mu", support=(0.0, INF), edges="()", inside=lambda mu: mu,
    logpdf=invgauss_logpdf,
    cdf=lambda x, mu: exp(invgauss_logcdf(x, mu)), sf=lambda x, mu: exp(invgauss_logsf(x, mu)),
    logcdf=invgauss_logcdf, logsf=invgauss_logsf,
    limits=(lambda p, mu: ends.near(p), ends.far),
    mean=lambda mu: mu, var=lambda mu: mu * mu * mu,
)
gumbel_l = Continuous(
    "gumbel_l", powers=True, logpdf=lambda x, of: x - exp(of.exponent(x)),
    cdf=lambda x: -expm1(-bounded_exp(x)), sf=lambda x: exp(-bounded_exp(x)),
    logsf=lambda x: -exp(x), ppf=ends.gumbel_l_ppf,
    isf=ends.gumbel_l_isf, mean=lambda: -EULER_GAMMA, var=lambda: math.pi**2 / 6,
    entropy=lambda: EULER_GAMMA + 1,
)
genextreme = Continuous(
    "genextreme", "c", edges="()", valid=lambda c: c == c, inside=0.0, powers=True,
    support=(lambda c: end_of_tail(c, c < 0, -INF), lambda c: end_of_tail(c, c > 0, INF)),
    logpdf=genextreme_logpdf, cdf=lambda x, c: exp(-bounded_exp(-log_ratio(x, -c))),
    sf=lambda x, c: -expm1(-bounded_exp(-log_ratio(x, -c))),
    logcdf=lambda x, c: -exp(-log_ratio(x, -c)),
    ppf=ends.genextreme_ppf, isf=ends.genextreme_isf,
    entropy=lambda c: EULER_GAMMA * (1.0 - c) + 1.0,
)
genpareto = Continuous(
    "genpareto", "c", edges="[)", valid=lambda c: c == c, inside=lambda c: 0.5 / (1.0 + abs(c)),
    support=(0.0, lambda c: end_of_tail(-c, c < 0, INF)),
    logpdf=lambda x, c: -(1.0 + c) * log_ratio(x, c), cdf=lambda x, c: -expm1(-log_ratio(x, c)),
    sf=lambda x, c: exp(-log_ratio(x, c)), logsf=lambda x, c: -log_ratio(x, c),
    ppf=ends.genpareto_ppf, isf=ends.genpareto_isf,
    mean=lambda c: finite(-c, -1.0, lambda d: 1.0 / (1.0 + d)),
    var=lambda c: finite(-c, -0.5, lambda d: 1.0 / ((1.0 + d) * (1.0 + d) * (1.0 + 2.0 * d))),
    entropy=lambda c: 1.0 + c,
)
fisk = Continuous(
    "fisk", "c", support=(0.0, INF), edges="[)", inside=1.0, powers=True, logpdf=fisk_logpdf,
    cdf=fisk_cdf, sf=fisk_sf,
    logcdf=lambda x, c: sp.log_expit(c * log(x)), logsf=fisk_logsf,
    ppf=ends.fisk_ppf, isf=ends.fisk_isf,
    mean=lambda c: finite(c, 1.0, fisk_mean), var=lambda c: finite(c, 2.0, fisk_var),
    entropy=lambda c: 2.0 - log(c),
)
powerlaw = Continuous(
    "powerlaw", "a", support=(0.0, 1.0), powers=True,
    logpdf=lambda x, a, of: log(a) + of.xlogy(a - 1.0, x),
    cdf=lambda x, a: x**a, logcdf=lambda x, a: a * log(x), ppf=lambda q, a: q ** (1.0 / a),
    mean=lambda a: a / (a + 1.0), var=lambda a: a / ((a + 2.0) * (a + 1.0) * (a + 1.0)),
    entropy=lambda a: 1.0 - 1.0 / a - log(a),
)
gompertz = Continuous(
    "gompertz", "c", support=(0.0, INF), edges="[)", powers=True,
    logpdf=lambda x, c, of: log(c) + x - c * expm1(of.exponent(x)),
    cdf=lambda x, c: -expm1(-c * expm1(clip(x, None, MOST))),
    sf=lambda x, c: exp(-c * expm1(clip(x, None, MOST))),
    logsf=lambda x, c: -c * expm1(x), ppf=ends.gompertz_ppf,
    isf=ends.gompertz_isf,
)
loguniform = Continuous(
    "loguniform", "a b", support=(lambda a, b: a, lambda a, b: b),
    inside=lambda a, b: sqrt(a) * sqrt(b), valid=lambda a, b: (a > 0) & (a < b),
    logpdf=lambda x, a, b: -log(x) - log(log(b / a)),
    cdf=lambda x, a, b: log(x / a) / log(b / a), sf=lambda x, a, b: log(b / x) / log(b / a),
    ppf=lambda q, a, b: a * (b / a) ** q, isf=lambda q, a, b: b * (a / b) ** q,
    mean=lambda a, b: (b - a) / log(b / a), var=loguniform_var,
    entropy=lambda a, b: 0.5 * log(a * b) + log(log(b / a)),
)
# fmt: on
