"""Distributions under the names of ``scipy.stats``: functions with derivatives. Others are SciPy's
own."""

from ..names.numpy_names import _names_of
from .continuous import beta as beta
from .continuous import cauchy as cauchy
from .continuous import chi2 as chi2
from .continuous import expon as expon
from .continuous import f as f
from .continuous import fisk as fisk
from .continuous import gamma as gamma
from .continuous import genextreme as genextreme
from .continuous import genpareto as genpareto
from .continuous import gompertz as gompertz
from .continuous import gumbel_l as gumbel_l
from .continuous import gumbel_r as gumbel_r
from .continuous import halfcauchy as halfcauchy
from .continuous import halfnorm as halfnorm
from .continuous import invgamma as invgamma
from .continuous import invgauss as invgauss
from .continuous import laplace as laplace
from .continuous import logistic as logistic
from .continuous import lognorm as lognorm
from .continuous import loguniform as loguniform
from .continuous import norm as norm
from .continuous import pareto as pareto
from .continuous import powerlaw as powerlaw
from .continuous import rayleigh as rayleigh
from .continuous import skewnorm as skewnorm
from .continuous import t as t
from .continuous import triang as triang
from .continuous import truncnorm as truncnorm
from .continuous import uniform as uniform
from .continuous import vonmises as vonmises
from .continuous import weibull_min as weibull_min
from .discrete import bernoulli as bernoulli
from .discrete import betabinom as betabinom
from .discrete import binom as binom
from .discrete import geom as geom
from .discrete import nbinom as nbinom
from .discrete import poisson as poisson
from .kernel_density import gaussian_kde as gaussian_kde
from .multivariate import dirichlet as dirichlet
from .multivariate import multinomial as multinomial
from .multivariate import multivariate_normal as multivariate_normal
from .multivariate import multivariate_t as multivariate_t
from .multivariate import wishart as wishart

__all__ = [
    "bernoulli", "beta", "betabinom", "binom", "cauchy", "chi2", "dirichlet", "expon", "f", "fisk",
    "gamma", "gaussian_kde", "genextreme", "genpareto", "geom", "gompertz", "gumbel_l", "gumbel_r",
    "halfcauchy", "halfnorm", "invgamma", "invgauss", "laplace", "logistic", "lognorm",
    "loguniform", "multinomial", "multivariate_normal", "multivariate_t", "nbinom", "norm",
    "pareto", "poisson", "powerlaw", "rayleigh", "skewnorm", "t", "triang", "truncnorm", "uniform",
    "vonmises", "weibull_min", "wishart",
]  # fmt: skip

__getattr__ = _names_of("scipy.stats", __name__)


def __dir__() -> list[str]:
    return __all__
