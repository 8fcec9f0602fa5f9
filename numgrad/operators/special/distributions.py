"""Distribution functions of statistics: SciPy's values, densities for derivatives."""

import math

from ..elementwise.arithmetic import where
from .formulas import NAMES, declare
from .gamma.beta_distributions import (
    binomial_inverse,
    binomial_rest,
    binomial_share,
    f_rest,
    f_share,
    negative_rest,
    negative_share,
    student_density_of,
    student_inverse,
    student_share,
)
from .gamma.beta_slopes import student_draw
from .gamma.gamma import beta_density, beta_slope, polygamma_step
from .gamma.incomplete_gamma import scaled_lower, scaled_upper

SHARE, POSITIVE = (0.1, 0.9), (0.4, 4)
COUNTS = ((2, 2), (5, 5), SHARE)


def student_density_df(df, t, y):
    z = t * t / df
    gammas = polygamma_step(0.0, 0.5 * df, 0.5)
    return 0.5 * y * (gammas - 1 / df - math.log1p(z) + (1 + 1 / df) * z / (1 + z))


def student_slope_dt(df, t, y):
    z = t * t / df
    gammas = polygamma_step(0.0, 0.5 * df, 0.5)
    moved = gammas - 1 / df - math.log1p(z) + (1 + 1 / df) * z / (1 + z)
    return y * (df + 1) * t / (df + t * t) - 0.5 * moved


student_density = declare("student_density", "df t", "density of Student's t distribution",
        scipy="", value=student_density_of, domain="df > 0", tried=((0.5, 5), (-3, 3)),
        ddf=("y * (digamma((df + 1) / 2) - digamma(df / 2) - 1 / df - log1p(z)"
             " + (1 + 1 / df) * z / (1 + z)) / 2, z = t**2 / df", student_density_df),
        dt="-y * (df + 1) * t / (df + t * t)")
student_slope = declare("student_slope", "df t",
        "slope of a draw of Student's t distribution in ``df``", value=student_draw, scipy="",
        domain="df > 0", fixed="df", tried=((0.5, 5), (-3, 3)),
        of="the slope of `stdtr` in its degrees of freedom",
        dt=("y * (df + 1) * t / (df + t * t) - (digamma((df + 1) / 2) - digamma(df / 2) - 1 / df"
            " - log1p(z) + (1 + 1 / df) * z / (1 + z)) / 2, z = t**2 / df", student_slope_dt))


def stdtr_df(df, t):
    """The slope of `stdtr` in ``df``."""
    ends = (abs(t) == math.inf) | (df == math.inf)
    n, inside = where(ends, 1.0, df), where(ends, 0.0, t)
    return where(ends, 0.0, -student_density(n, inside) * student_slope(n, inside))


NAMES.update(stdtr_df=stdtr_df)
declare("stdtr", "df t", "distribution function of Student's t distribution", domain="df > 0",
        value=student_share, once="df", tried=((0.5, 5), (-3, 3)), ddf="stdtr_df(df, t)",
        dt="student_density(df, t)")
declare("stdtrit", "df p", "inverse of `stdtr` in ``t``", domain="df > 0, 0 <= p <= 1",
        value=student_inverse, once="df", tried=((0.5, 5), SHARE), ddf="student_slope(df, y)",
        dp="1 / student_density(df, y)")

# Chi square, gamma, Poisson -----------------------------------------------------------------------

declare("chdtr", "v x", "distribution function of the chi square distribution",
        value="gammainc(0.5 * v, 0.5 * x)", domain="v > 0, x >= 0", once="v", tried=(POSITIVE,),
        dv="0.5 * gammainc_a(0.5 * v, 0.5 * x)",
        dx="0.5 * gamma_density(0.5 * v, 0.5 * x)")
declare("chdtrc", "v x", "survival function of the chi square distribution",
        value="gammaincc(0.5 * v, 0.5 * x)", domain="v > 0, x >= 0", once="v", tried=(POSITIVE,),
        dv="-0.5 * gammainc_a(0.5 * v, 0.5 * x)",
        dx="-0.5 * gamma_density(0.5 * v, 0.5 * x)")
declare("chdtri", "v p", "inverse of `chdtrc` in ``x``", domain="v > 0, 0 <= p <= 1",
        value="2 * gammainccinv(0.5 * v, where((0 <= p) & (p <= 1), p, math.nan))",
        once="v", tried=(POSITIVE, SHARE), dp="-2 / gamma_density(0.5 * v, 0.5 * y)",
        dv="gamma_slope(0.5 * v, 0.5 * y)")
declare("gdtr", "a b x", "distribution function of the gamma distribution of rate ``a`` and shape "
        "``b``", value=scaled_lower, domain="a > 0, b > 0, x >= 0", once="b", tried=(POSITIVE,),
        da="x * gamma_density(b, a * x)", db="gammainc_a(b, a * x)",
        dx="a * gamma_density(b, a * x)")
declare("gdtrc", "a b x", "survival function of the gamma distribution", value=scaled_upper,
        domain="a > 0, b > 0, x >= 0", once="b", tried=(POSITIVE,),
        da="-x * gamma_density(b, a * x)", db="-gammainc_a(b, a * x)",
        dx="-a * gamma_density(b, a * x)")
declare("gdtrix", "a b p", "inverse of `gdtr` in ``x``", domain="a > 0, b > 0, 0 <= p <= 1",
        value="gammaincinv(b, p) / where((a < math.inf) & (b < math.inf), a, math.nan)",
        once="b", tried=(POSITIVE, POSITIVE, SHARE), da="-y / a", db="gamma_slope(b, a * y) / a",
        dp="1 / (a * gamma_density(b, a * y))")
declare("gdtria", "p b x", "inverse of `gdtr` in ``a``", domain="0 <= p <= 1, b > 0, x > 0",
        value="gammaincinv(b, p) / where(x == 0, math.nan, x)",
        once="b", tried=(SHARE, POSITIVE, POSITIVE), dp="1 / (x * gamma_density(b, x * y))",
        db="gamma_slope(b, x * y) / x", dx="-y / x")
declare("pdtr", "k m", "distribution function of the Poisson distribution of mean ``m``",
        value="gammaincc(where(k < 0, math.nan, math.floor(k) + 1), m)",
        domain="k >= 0, m >= 0", fixed="k", tried=((2, 2), POSITIVE),
        dm="-gamma_density(math.floor(k) + 1, m)")
declare("pdtrc", "k m", "survival function of the Poisson distribution", fixed="k",
        value="gammainc(where(k < 0, math.nan, math.floor(k) + 1), m)",
        domain="k >= 0, m >= 0", tried=((2, 2), POSITIVE),
        dm="gamma_density(math.floor(k) + 1, m)")
declare("pdtri", "k p", "inverse of `pdtr` in ``m``", value="nd", fixed="k",
        domain="k >= 0, 0 <= p <= 1", tried=((2, 2), SHARE),
        dp="-1 / gamma_density(math.floor(k) + 1, y)")

# F, binomial --------------------------------------------------------------------------------------


def f_density(dfn, dfd, x):
    """The density at ``x``, from that of a share of the beta distribution, the smaller one."""
    whole = dfn * x + dfd
    slope = dfn / whole * (dfd / whole)
    low = dfn * x < dfd
    n, m = where(low, dfn, dfd), where(low, dfd, dfn)
    return beta_density(0.5 * n, 0.5 * m, where(low, dfn * x, dfd) / whole) * slope


def f_slope_dfn(dfn, dfd, x):
    """The slope of a draw of the F distribution in ``dfn``."""
    whole = dfn * x + dfd
    moved = 0.5 * beta_slope(0.5 * dfn, 0.5 * dfd, dfn * x, dfd)
    return moved * (whole / dfn) * (whole / dfd) - x / dfn


def f_slope_dfd(dfn, dfd, x):
    """The slope of a draw of the F distribution in ``dfd``."""
    whole = dfn * x + dfd
    moved = 0.5 * beta_slope(0.5 * dfd, 0.5 * dfn, dfd, dfn * x)
    return x / dfd - moved * (whole / dfn) * (whole / dfd)


def fdtr_dfn(dfn, dfd, x):
    """The slope of `fdtr` in ``dfn``."""
    ends = (x == 0) | (x == math.inf)
    inside = where(ends, 1.0, x)
    return where(ends, 0.0, -f_density(dfn, dfd, inside) * f_slope_dfn(dfn, dfd, inside))


def fdtr_dfd(dfn, dfd, x):
    """The slope of `fdtr` in ``dfd``."""
    ends = (x == 0) | (x == math.inf)
    inside = where(ends, 1.0, x)
    return where(ends, 0.0, -f_density(dfn, dfd, inside) * f_slope_dfd(dfn, dfd, inside))


NAMES.update(f_density=f_density, f_slope_dfn=f_slope_dfn, f_slope_dfd=f_slope_dfd)
NAMES.update(fdtr_dfn=fdtr_dfn, fdtr_dfd=fdtr_dfd)
FREEDOM = {"domain": "dfn > 0, dfd > 0, x >= 0", "once": "dfn dfd", "tried": (POSITIVE,)}
declare("fdtr", "dfn dfd x", "distribution function of the F distribution", **FREEDOM,
        value=f_share, ddfn="fdtr_dfn(dfn, dfd, x)", ddfd="fdtr_dfd(dfn, dfd, x)",
        dx="f_density(dfn, dfd, x)")
declare("fdtrc", "dfn dfd x", "survival function of the F distribution", **FREEDOM,
        value=f_rest, ddfn="-fdtr_dfn(dfn, dfd, x)", ddfd="-fdtr_dfd(dfn, dfd, x)",
        dx="-f_density(dfn, dfd, x)")
declare("fdtri", "dfn dfd p", "inverse of `fdtr` in ``x``", once="dfn dfd",
        domain="dfn > 0, dfd > 0, 0 <= p <= 1", tried=(POSITIVE, POSITIVE, SHARE),
        ddfn="f_slope_dfn(dfn, dfd, y)", ddfd="f_slope_dfd(dfn, dfd, y)",
        dp="1 / f_density(dfn, dfd, y)")
BINOMIAL = {"domain": "0 <= k <= n, 0 <= p <= 1", "fixed": "k n", "tried": COUNTS}
declare("bdtr", "k n p", "distribution function of the binomial distribution",
        value=binomial_share, **BINOMIAL, dp=(
            "-beta_density(math.floor(k) + 1, n - math.floor(k), p)",
            "-beta_density(math.floor(k) + 1, whole(n) - math.floor(k), p)"))
declare("bdtrc", "k n p", "survival function of the binomial distribution",
        value=binomial_rest, **BINOMIAL, dp=(
            "beta_density(math.floor(k) + 1, n - math.floor(k), p)",
            "beta_density(math.floor(k) + 1, whole(n) - math.floor(k), p)"))
declare("bdtri", "k n p", "inverse of `bdtr` in the probability of success",
        value=binomial_inverse, **BINOMIAL, dp=(
            "-1 / beta_density(math.floor(k) + 1, n - math.floor(k), y)",
            "-1 / beta_density(math.floor(k) + 1, whole(n) - math.floor(k), y)"))
NEGATIVE = {"domain": "k >= 0, n > 0, 0 <= p <= 1", "fixed": "k n", "tried": COUNTS}
declare("nbdtr", "k n p", "distribution function of the negative binomial distribution",
        value=negative_share, **NEGATIVE, dp=(
            "beta_density(n, math.floor(k) + 1, p)",
            "beta_density(whole(n), whole(k) + 1, p)"))
declare("nbdtrc", "k n p", "survival function of the negative binomial distribution",
        value=negative_rest, **NEGATIVE, dp=(
            "-beta_density(n, math.floor(k) + 1, p)",
            "-beta_density(whole(n), whole(k) + 1, p)"))
declare("nbdtri", "k n p", "inverse of `nbdtr` in the probability of success",
        value="nnd", **NEGATIVE, dp="1 / beta_density(n, math.floor(k) + 1, y)")
