"""Special functions under the names of ``scipy.special``.

There are many: they are made when the first of them is asked for.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .functions.special import airy as airy
    from .functions.special import bdtr as bdtr
    from .functions.special import bdtrc as bdtrc
    from .functions.special import bdtri as bdtri
    from .functions.special import beta as beta
    from .functions.special import betainc as betainc
    from .functions.special import betaincc as betaincc
    from .functions.special import betainccinv as betainccinv
    from .functions.special import betaincinv as betaincinv
    from .functions.special import betaln as betaln
    from .functions.special import binom as binom
    from .functions.special import boxcox as boxcox
    from .functions.special import boxcox1p as boxcox1p
    from .functions.special import cbrt as cbrt
    from .functions.special import chdtr as chdtr
    from .functions.special import chdtrc as chdtrc
    from .functions.special import chdtri as chdtri
    from .functions.special import comb as comb
    from .functions.special import cosdg as cosdg
    from .functions.special import cosm1 as cosm1
    from .functions.special import cotdg as cotdg
    from .functions.special import dawsn as dawsn
    from .functions.special import digamma as digamma
    from .functions.special import ellipe as ellipe
    from .functions.special import ellipeinc as ellipeinc
    from .functions.special import ellipj as ellipj
    from .functions.special import ellipk as ellipk
    from .functions.special import ellipkinc as ellipkinc
    from .functions.special import ellipkm1 as ellipkm1
    from .functions.special import entr as entr
    from .functions.special import erf as erf
    from .functions.special import erfc as erfc
    from .functions.special import erfcinv as erfcinv
    from .functions.special import erfcx as erfcx
    from .functions.special import erfi as erfi
    from .functions.special import erfinv as erfinv
    from .functions.special import eval_chebyt as eval_chebyt
    from .functions.special import eval_chebyu as eval_chebyu
    from .functions.special import eval_gegenbauer as eval_gegenbauer
    from .functions.special import eval_genlaguerre as eval_genlaguerre
    from .functions.special import eval_hermite as eval_hermite
    from .functions.special import eval_hermitenorm as eval_hermitenorm
    from .functions.special import eval_jacobi as eval_jacobi
    from .functions.special import eval_laguerre as eval_laguerre
    from .functions.special import eval_legendre as eval_legendre
    from .functions.special import exp1 as exp1
    from .functions.special import exp2 as exp2
    from .functions.special import exp10 as exp10
    from .functions.special import expi as expi
    from .functions.special import expit as expit
    from .functions.special import expm1 as expm1
    from .functions.special import expn as expn
    from .functions.special import exprel as exprel
    from .functions.special import fdtr as fdtr
    from .functions.special import fdtrc as fdtrc
    from .functions.special import fdtri as fdtri
    from .functions.special import fresnel as fresnel
    from .functions.special import gamma as gamma
    from .functions.special import gammainc as gammainc
    from .functions.special import gammaincc as gammaincc
    from .functions.special import gammainccinv as gammainccinv
    from .functions.special import gammaincinv as gammaincinv
    from .functions.special import gammaln as gammaln
    from .functions.special import gammasgn as gammasgn
    from .functions.special import gdtr as gdtr
    from .functions.special import gdtrc as gdtrc
    from .functions.special import gdtria as gdtria
    from .functions.special import gdtrix as gdtrix
    from .functions.special import hankel1 as hankel1
    from .functions.special import hankel2 as hankel2
    from .functions.special import huber as huber
    from .functions.special import hyp0f1 as hyp0f1
    from .functions.special import hyp1f1 as hyp1f1
    from .functions.special import hyp2f1 as hyp2f1
    from .functions.special import hyperu as hyperu
    from .functions.special import i0 as i0
    from .functions.special import i0e as i0e
    from .functions.special import i1 as i1
    from .functions.special import i1e as i1e
    from .functions.special import inv_boxcox as inv_boxcox
    from .functions.special import inv_boxcox1p as inv_boxcox1p
    from .functions.special import iv as iv
    from .functions.special import ive as ive
    from .functions.special import j0 as j0
    from .functions.special import j1 as j1
    from .functions.special import jn as jn
    from .functions.special import jv as jv
    from .functions.special import jve as jve
    from .functions.special import k0 as k0
    from .functions.special import k0e as k0e
    from .functions.special import k1 as k1
    from .functions.special import k1e as k1e
    from .functions.special import kl_div as kl_div
    from .functions.special import kn as kn
    from .functions.special import kolmogorov as kolmogorov
    from .functions.special import kv as kv
    from .functions.special import kve as kve
    from .functions.special import lambertw as lambertw
    from .functions.special import lgamma as lgamma
    from .functions.special import log1p as log1p
    from .functions.special import log_expit as log_expit
    from .functions.special import log_ndtr as log_ndtr
    from .functions.special import log_softmax as log_softmax
    from .functions.special import loggamma as loggamma
    from .functions.special import logit as logit
    from .functions.special import logsumexp as logsumexp
    from .functions.special import lpmv as lpmv
    from .functions.special import modstruve as modstruve
    from .functions.special import multigammaln as multigammaln
    from .functions.special import nbdtr as nbdtr
    from .functions.special import nbdtrc as nbdtrc
    from .functions.special import nbdtri as nbdtri
    from .functions.special import ndtr as ndtr
    from .functions.special import ndtri as ndtri
    from .functions.special import ndtri_exp as ndtri_exp
    from .functions.special import owens_t as owens_t
    from .functions.special import pdtr as pdtr
    from .functions.special import pdtrc as pdtrc
    from .functions.special import pdtri as pdtri
    from .functions.special import perm as perm
    from .functions.special import poch as poch
    from .functions.special import polygamma as polygamma
    from .functions.special import pseudo_huber as pseudo_huber
    from .functions.special import psi as psi
    from .functions.special import radian as radian
    from .functions.special import rel_entr as rel_entr
    from .functions.special import rgamma as rgamma
    from .functions.special import shichi as shichi
    from .functions.special import sici as sici
    from .functions.special import sigmoid as sigmoid
    from .functions.special import sinc as sinc
    from .functions.special import sindg as sindg
    from .functions.special import softmax as softmax
    from .functions.special import softplus as softplus
    from .functions.special import spence as spence
    from .functions.special import spherical_in as spherical_in
    from .functions.special import spherical_jn as spherical_jn
    from .functions.special import spherical_kn as spherical_kn
    from .functions.special import spherical_yn as spherical_yn
    from .functions.special import stdtr as stdtr
    from .functions.special import stdtrit as stdtrit
    from .functions.special import struve as struve
    from .functions.special import tandg as tandg
    from .functions.special import voigt_profile as voigt_profile
    from .functions.special import wofz as wofz
    from .functions.special import wrightomega as wrightomega
    from .functions.special import xlog1py as xlog1py
    from .functions.special import xlogy as xlogy
    from .functions.special import y0 as y0
    from .functions.special import y1 as y1
    from .functions.special import yn as yn
    from .functions.special import yv as yv
    from .functions.special import yve as yve
    from .functions.special import zeta as zeta
    from .functions.special import zetac as zetac

__all__ = [
    "airy",
    "bdtr",
    "bdtrc",
    "bdtri",
    "beta",
    "betainc",
    "betaincc",
    "betainccinv",
    "betaincinv",
    "betaln",
    "binom",
    "boxcox",
    "boxcox1p",
    "cbrt",
    "chdtr",
    "chdtrc",
    "chdtri",
    "comb",
    "cosdg",
    "cosm1",
    "cotdg",
    "dawsn",
    "digamma",
    "ellipe",
    "ellipeinc",
    "ellipj",
    "ellipk",
    "ellipkinc",
    "ellipkm1",
    "entr",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfi",
    "erfinv",
    "eval_chebyt",
    "eval_chebyu",
    "eval_gegenbauer",
    "eval_genlaguerre",
    "eval_hermite",
    "eval_hermitenorm",
    "eval_jacobi",
    "eval_laguerre",
    "eval_legendre",
    "exp1",
    "exp2",
    "exp10",
    "expi",
    "expit",
    "expm1",
    "expn",
    "exprel",
    "fdtr",
    "fdtrc",
    "fdtri",
    "fresnel",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammainccinv",
    "gammaincinv",
    "gammaln",
    "gammasgn",
    "gdtr",
    "gdtrc",
    "gdtria",
    "gdtrix",
    "hankel1",
    "hankel2",
    "huber",
    "hyp0f1",
    "hyp1f1",
    "hyp2f1",
    "hyperu",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "inv_boxcox",
    "inv_boxcox1p",
    "iv",
    "ive",
    "j0",
    "j1",
    "jn",
    "jv",
    "jve",
    "k0",
    "k0e",
    "k1",
    "k1e",
    "kl_div",
    "kn",
    "kolmogorov",
    "kv",
    "kve",
    "lambertw",
    "lgamma",
    "log1p",
    "log_expit",
    "log_ndtr",
    "log_softmax",
    "loggamma",
    "logit",
    "logsumexp",
    "lpmv",
    "modstruve",
    "multigammaln",
    "nbdtr",
    "nbdtrc",
    "nbdtri",
    "ndtr",
    "ndtri",
    "ndtri_exp",
    "owens_t",
    "pdtr",
    "pdtrc",
    "pdtri",
    "perm",
    "poch",
    "polygamma",
    "pseudo_huber",
    "psi",
    "radian",
    "rel_entr",
    "rgamma",
    "shichi",
    "sici",
    "sigmoid",
    "sinc",
    "sindg",
    "softmax",
    "softplus",
    "spence",
    "spherical_in",
    "spherical_jn",
    "spherical_kn",
    "spherical_yn",
    "stdtr",
    "stdtrit",
    "struve",
    "tandg",
    "voigt_profile",
    "wofz",
    "wrightomega",
    "xlog1py",
    "xlogy",
    "y0",
    "y1",
    "yn",
    "yv",
    "yve",
    "zeta",
    "zetac",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .functions import special

    value = globals()[name] = getattr(special, name)
    return value


def __dir__() -> list[str]:
    return __all__
