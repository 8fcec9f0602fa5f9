"""The discrete distributions: a table of formulas."""

from .. import special as sp
from .._tensor import Tensor
from ..functions.elementwise.exponential import exp, expm1, log, log1p
from ..functions.elementwise.rounding import floor
from ..functions.shape.selection import where
from .distribution import INF, Discrete, power_of_zero


def is_probability(p: Tensor) -> Tensor:
    """Whether numbers lie in [0, 1]."""
    return (p >= 0) & (p <= 1)


def log_of_binomial(n: Tensor, k: Tensor) -> Tensor:
    """Return the logarithm of the number of ways to choose ``k`` of ``n``."""
    return sp.gammaln(n + 1.0) - sp.gammaln(k + 1.0) - sp.gammaln(n - k + 1.0)


def geom_cdf(k: Tensor, p: Tensor) -> Tensor:
    is_sure = p == 1
    many = -expm1(k * log1p(-where(is_sure, 0.5, p)))
    return where(is_sure, 1.0 - power_of_zero(1.0 - p, k), many)


def geom_sf(k: Tensor, p: Tensor) -> Tensor:
    is_sure = p == 1
    return where(is_sure, power_of_zero(1.0 - p, k), exp(k * log1p(-where(is_sure, 0.5, p))))


# fmt: off
bernoulli = Discrete(
    "bernoulli", "p", support=(0.0, 1.0), inside=floor, valid=is_probability,
    powers=True, logpmf=lambda k, p, of: of.xlogy(k, p) + of.xlog1py(1.0 - k, -p),
    cdf=lambda k, p: 1.0 - p * (1.0 - k), sf=lambda k, p: p * (1.0 - k),
    mean=lambda p: p, var=lambda p: p * (1.0 - p), entropy=lambda p: sp.entr(p) + sp.entr(1.0 - p),
)
binom = Discrete(
    "binom", "n p", support=(0.0, lambda n, p: n), inside=lambda n, p: floor(n * p),
    valid=lambda n, p: (n >= 0) & (n == floor(n)) & is_probability(p),
    powers=True,
    logpmf=lambda k, n, p, of: (
        log_of_binomial(n, k) + of.xlogy(k, p) + of.xlog1py(n - k, -p)
    ),
    cdf=lambda k, n, p: sp.betaincc(k + 1.0, where(k < n, n - k, 1.0), where(k < n, p, 0.0)),
    sf=lambda k, n, p: sp.betainc(k + 1.0, where(k < n, n - k, 1.0), where(k < n, p, 0.0)),
    mean=lambda n, p: n * p, var=lambda n, p: n * p * (1.0 - p),
)
betabinom = Discrete(
    "betabinom", "n a b", support=(0.0, lambda n, a, b: n), inside=0.0,
    valid=lambda n, a, b: (n >= 0) & (n == floor(n)) & (a > 0) & (b > 0),
    logpmf=lambda k, n, a, b: (
        log_of_binomial(n, k) + sp.betaln(k + a, n - k + b) - sp.betaln(a, b)
    ),
    mean=lambda n, a, b: n * (a / (a + b)),
    var=lambda n, a, b: n * (a / (a + b)) * (b / (a + b)) * ((a + b + n) / (a + b + 1.0)),
)
poisson = Discrete(
    "poisson", "mu", support=(0.0, INF), inside=floor, valid=lambda mu: mu >= 0,
    powers=True, logpmf=lambda k, mu, of: of.xlogy(k, mu) - sp.gammaln(k + 1.0) - mu,
    cdf=lambda k, mu: sp.gammaincc(k + 1.0, mu), sf=lambda k, mu: sp.gammainc(k + 1.0, mu),
    mean=lambda mu: mu, var=lambda mu: mu,
)
geom = Discrete(
    "geom", "p", support=(1.0, INF), inside=1.0, valid=lambda p: (p > 0) & (p <= 1),
    powers=True, logpmf=lambda k, p, of: of.xlog1py(k - 1.0, -p) + log(p),
    cdf=geom_cdf, sf=geom_sf,
    logsf=lambda k, p: k * log1p(-p),
    mean=lambda p: 1.0 / p, var=lambda p: (1.0 - p) / (p * p),
    entropy=lambda p: (sp.entr(p) + sp.entr(1.0 - p)) / p,
)
nbinom = Discrete(
    "nbinom", "n p", support=(0.0, INF), inside=lambda n, p: floor(n * (1.0 - p) / p),
    valid=lambda n, p: (n > 0) & (p > 0) & (p <= 1),
    powers=True,
    logpmf=lambda k, n, p, of: (
        sp.gammaln(n + k) - sp.gammaln(k + 1.0) - sp.gammaln(n)
        + of.xlogy(n, p) + of.xlog1py(k, -p)
    ),
    cdf=lambda k, n, p: sp.betainc(n, k + 1.0, p),
    sf=lambda k, n, p: sp.betaincc(n, k + 1.0, p),
    mean=lambda n, p: n * (1.0 - p) / p, var=lambda n, p: n * (1.0 - p) / (p * p),
)
# fmt: on
