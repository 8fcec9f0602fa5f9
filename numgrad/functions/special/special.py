"""Special functions, under the names of `scipy.special`."""

from typing import Any, Unpack

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.guards import guarded
from ...operators.elementwise import arithmetic as _elementwise
from ...operators.elementwise import exponential as _exponential
from ...operators.special import logistic as _special
from ...operators.special.formulas import TABLE as _TABLE
from ..array.operands import as_tensor
from ..elementwise.documentation import of_elements
from ..elementwise.exponential import exp2 as exp2
from ..elementwise.exponential import expm1 as expm1
from ..elementwise.exponential import log1p as log1p
from ..elementwise.floats import sinc as sinc
from ..elementwise.powers import cbrt as cbrt
from ..elementwise.softmax import log_softmax as log_softmax
from ..elementwise.softmax import logsumexp as logsumexp
from ..elementwise.softmax import softmax as softmax
from ..elementwise.tabled import Functions
from ..elementwise.universal import Options as _Options
from ..elementwise.universal import with_options as _with_options
from .special_results import airy as airy
from .special_results import comb as comb
from .special_results import ellipj as ellipj
from .special_results import factorial as factorial
from .special_results import fresnel as fresnel
from .special_results import lambertw as lambertw
from .special_results import perm as perm
from .special_results import shichi as shichi
from .special_results import sici as sici
from .special_results import spherical_in as spherical_in
from .special_results import spherical_jn as spherical_jn
from .special_results import spherical_kn as spherical_kn
from .special_results import spherical_yn as spherical_yn

__all__ = [
    "airy", "bdtr", "bdtrc", "bdtri", "beta", "betainc", "betaincc", "betainccinv",
    "betaincinv", "betaln", "binom", "boxcox", "boxcox1p", "cbrt", "chdtr", "chdtrc", "chdtri",
    "comb", "cosdg", "cosm1", "cotdg", "dawsn", "digamma", "ellipe", "ellipeinc", "ellipj",
    "ellipk", "ellipkinc", "ellipkm1", "entr", "erf", "erfc", "erfcinv", "erfcx", "erfi",
    "erfinv", "eval_chebyt", "eval_chebyu", "eval_gegenbauer", "eval_genlaguerre",
    "eval_hermite", "eval_hermitenorm", "eval_jacobi", "eval_laguerre", "eval_legendre", "exp1",
    "exp2", "exp10", "expi", "expit", "expm1", "expn", "exprel", "factorial", "fdtr", "fdtrc",
    "fdtri", "fresnel", "gamma", "gammainc", "gammaincc", "gammainccinv", "gammaincinv",
    "gammaln", "gammasgn", "gdtr", "gdtrc", "gdtria", "gdtrix", "hankel1", "hankel2", "huber",
    "hyp0f1", "hyp1f1", "hyp2f1", "hyperu", "i0", "i0e", "i1", "i1e", "inv_boxcox",
    "inv_boxcox1p", "iv", "ive", "j0", "j1", "jn", "jv", "jve", "k0", "k0e", "k1", "k1e",
    "kl_div", "kn", "kolmogorov", "kv", "kve", "lambertw", "lgamma", "log1p", "log_expit",
    "log_ndtr", "log_softmax", "loggamma", "logit", "logsumexp", "lpmv", "modstruve",
    "multigammaln", "nbdtr", "nbdtrc", "nbdtri", "ndtr", "ndtri", "ndtri_exp", "owens_t",
    "pdtr", "pdtrc", "pdtri", "perm", "poch", "polygamma", "pseudo_huber", "psi", "radian",
    "rel_entr", "rgamma", "shichi", "sici", "sigmoid", "sinc", "sindg", "softmax", "softplus",
    "spence", "spherical_in", "spherical_jn", "spherical_kn", "spherical_yn", "stdtr",
    "stdtrit", "struve", "tandg", "voigt_profile", "wofz", "wrightomega", "xlog1py", "xlogy",
    "y0", "y1", "yn", "yv", "yve", "zeta", "zetac",
]  # fmt: skip

_of = Functions(globals())

# The gamma function and its relatives -------------------------------------------------------------

gamma = _of.unary("gamma")
gammaln = lgamma = _of.unary("gammaln")
loggamma = _of.unary("loggamma")
rgamma = _of.unary("rgamma")
gammasgn = _of.unary("gammasgn")
digamma = psi = _of.unary("digamma")
poch = _of.binary("poch")
binom = _of.binary("binom")
beta = _of.binary("beta")
betaln = _of.binary("betaln")
gammainc = _of.binary("gammainc")
gammaincc = _of.binary("gammaincc")
gammaincinv = _of.binary("gammaincinv")
gammainccinv = _of.binary("gammainccinv")
betainc = _of.ternary("betainc")
betaincc = _of.ternary("betaincc")
betaincinv = _of.ternary("betaincinv")
betainccinv = _of.ternary("betainccinv")
zetac = _of.unary("zetac")


def polygamma(n: ArrayLike, x: ArrayLike, /) -> Tensor:
    """Return derivative ``n`` of `digamma`; NaN far below zero, for ``x < -9000``.

    Parameters
    ----------
    n : array_like
        The order, integers from 0.
    x : array_like
        Real or complex. Broadcast with ``n``.

    Raises
    ------
    ValueError
        For an order that is no integer from 0.

    Notes
    -----
    The derivative with respect to ``x`` is ``polygamma(n + 1, x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.special.polygamma(1, x), x)[0]
    tensor([-2.40411381, -0.40411381])
    """
    orders = np.asarray(n.detach() if isinstance(n, Tensor) else guarded(n))
    if np.any(orders < 0) or np.any(orders != np.round(orders)):
        raise ValueError(f"polygamma: the order must be an integer from 0, got {n}")
    if not np.any(orders == 0):
        return _TABLE["polygamma"](orders.astype(float) if orders.ndim else float(orders), x)
    if np.all(orders == 0) and orders.ndim == 0:
        return digamma(x)
    higher = _TABLE["polygamma"](np.maximum(orders, 1).astype(float), x)
    return _elementwise.where(orders == 0, digamma(x), higher)


def zeta(x: ArrayLike, q: ArrayLike | None = None) -> Tensor:
    """Return the Riemann zeta function, or the Hurwitz zeta function.

    Parameters
    ----------
    x : array_like
        The exponent; above 1 where ``q`` is given.
    q : array_like, optional
        Where the sum of ``(q + k)**-x`` begins, above 0. Broadcast with ``x``.

    Raises
    ------
    DtypeError
        For complex arguments.

    Notes
    -----
    The derivative with respect to ``q`` is ``-x * zeta(x + 1, q)``. That with respect to ``x`` is
    not known in closed form: where it is wanted there is an error.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.zeta(2.0).item()
    1.6449340668482...
    """
    if q is None:
        return _TABLE["riemann_zeta"](x)
    return _TABLE["hurwitz_zeta"](x, q)


def multigammaln(a: ArrayLike, d: int) -> Tensor:
    """Return the logarithm of the multivariate gamma function.

    Parameters
    ----------
    a : array_like
        Above ``(d - 1) / 2``.
    d : int
        The dimension, from 1.

    Raises
    ------
    ValueError
        If an element of ``a`` is too small, or ``d`` no integer from 1.

    Notes
    -----
    The derivative is the sum of ``digamma(a - j / 2)`` over ``j < d``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.multigammaln(23.5, 10).item()
    457.176674...
    """
    if d < 1 or d != int(d):
        raise ValueError("d should be a positive integer (dimension)")
    a = as_tensor(a)
    if a.array is not None and np.any(a.array <= 0.5 * (d - 1)):
        raise ValueError(f"condition a ({a!r}) > 0.5 * (d-1) ({0.5 * (d - 1)}) not met")
    total = _elementwise.add(gammaln(a), d * (d - 1) / 4 * np.log(np.pi))
    for j in range(1, int(d)):
        total = _elementwise.add(total, gammaln(_elementwise.subtract(a, 0.5 * j)))
    return total


# Error functions and the normal distribution ------------------------------------------------------

erf = _of.unary("erf")
erfc = _of.unary("erfc")
erfcx = _of.unary("erfcx")
erfi = _of.unary("erfi")
dawsn = _of.unary("dawsn")
wofz = _of.unary("wofz")
erfinv = _of.unary("erfinv")
erfcinv = _of.unary("erfcinv")
ndtr = _of.unary("ndtr")
ndtri = _of.unary("ndtri")
log_ndtr = _of.unary("log_ndtr")
ndtri_exp = _of.unary("ndtri_exp")
owens_t = _of.binary("owens_t")
voigt_profile = _of.ternary("voigt_profile")

# Logarithms, entropies, losses, transforms, angles ------------------------------------------------

xlogy = _of.binary("xlogy")
xlog1py = _of.binary("xlog1py")
logit = _of.unary("logit")
entr = _of.unary("entr")
rel_entr = _of.binary("rel_entr")
kl_div = _of.binary("kl_div")
huber = _of.binary("huber")
pseudo_huber = _of.binary("pseudo_huber")
exprel = _of.unary("exprel")
boxcox = _of.binary("boxcox")
boxcox1p = _of.binary("boxcox1p")
inv_boxcox = _of.binary("inv_boxcox")
inv_boxcox1p = _of.binary("inv_boxcox1p")
exp10 = _of.unary("exp10")
cosm1 = _of.unary("cosm1")
sindg = _of.unary("sindg")
cosdg = _of.unary("cosdg")
tandg = _of.unary("tandg")
cotdg = _of.unary("cotdg")
radian = _of.ternary("radian")


@of_elements(
    "The derivative is ``expit(x) * expit(-x)``.",
    gradient="[0.24613408, 0.23500371]", namespace="ng.special",
)
def expit(x: ArrayLike, /, *into: Any, **options: Unpack[_Options]) -> Tensor:
    """Return the logistic function ``1 / (1 + exp(-x))``."""
    if into or options:
        return _with_options(expit, options, x, *into)
    return _special.expit(x)


sigmoid = expit


@of_elements(
    "The derivative is ``expit(-x)``.",
    gradient="[0.4378235 , 0.37754067]", refuses="complex", namespace="ng.special",
)
def log_expit(x: ArrayLike, /, *into: Any, **options: Unpack[_Options]) -> Tensor:
    """Return ``log(expit(x))`` without underflow."""
    if into or options:
        return _with_options(log_expit, options, x, *into)
    return _elementwise.negative(_exponential.logaddexp(_elementwise.negative(x), 0.0))


def softplus(x: ArrayLike, /) -> Tensor:
    """Return ``log(1 + exp(x))`` without overflow.

    Parameters
    ----------
    x : array_like
        Any shape; real.

    Notes
    -----
    The derivative is ``expit(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.special.softplus(0.0).item()
    0.6931471805599...
    """
    return _exponential.logaddexp(x, 0.0)


# Bessel functions ---------------------------------------------------------------------------------

j0 = _of.unary("j0")
j1 = _of.unary("j1")
jv = jn = _of.binary("jv")
jve = _of.binary("jve")
y0 = _of.unary("y0")
y1 = _of.unary("y1")
yn = _of.binary("yn")
yv = _of.binary("yv")
yve = _of.binary("yve")
hankel1 = _of.binary("hankel1")
hankel2 = _of.binary("hankel2")
i0 = _of.unary("i0")
i0e = _of.unary("i0e")
i1 = _of.unary("i1")
i1e = _of.unary("i1e")
iv = _of.binary("iv")
ive = _of.binary("ive")
k0 = _of.unary("k0")
k0e = _of.unary("k0e")
k1 = _of.unary("k1")
k1e = _of.unary("k1e")
kn = _of.binary("kn")
kv = _of.binary("kv")
kve = _of.binary("kve")
struve = _of.binary("struve")
modstruve = _of.binary("modstruve")

# Hypergeometric functions and polynomials ---------------------------------------------------------

hyp0f1 = _of.binary("hyp0f1")
hyp1f1 = _of.ternary("hyp1f1")
hyp2f1 = _of.quaternary("hyp2f1")
hyperu = _of.ternary("hyperu")
eval_legendre = _of.binary("eval_legendre")
eval_chebyt = _of.binary("eval_chebyt")
eval_chebyu = _of.binary("eval_chebyu")
eval_gegenbauer = _of.ternary("eval_gegenbauer")
eval_jacobi = _of.quaternary("eval_jacobi")
eval_laguerre = _of.binary("eval_laguerre")
eval_genlaguerre = _of.ternary("eval_genlaguerre")
eval_hermite = _of.binary("eval_hermite")
eval_hermitenorm = _of.binary("eval_hermitenorm")
lpmv = _of.ternary("lpmv")

# Integrals ----------------------------------------------------------------------------------------

expi = _of.unary("expi")
exp1 = _of.unary("exp1")
expn = _of.binary("expn")
spence = _of.unary("spence")
ellipk = _of.unary("ellipk")
ellipkm1 = _of.unary("ellipkm1")
ellipe = _of.unary("ellipe")
ellipkinc = _of.binary("ellipkinc")
ellipeinc = _of.binary("ellipeinc")
wrightomega = _of.unary("wrightomega")

# Distributions ------------------------------------------------------------------------------------

stdtr = _of.binary("stdtr")
stdtrit = _of.binary("stdtrit")
chdtr = _of.binary("chdtr")
chdtrc = _of.binary("chdtrc")
chdtri = _of.binary("chdtri")
fdtr = _of.ternary("fdtr")
fdtrc = _of.ternary("fdtrc")
fdtri = _of.ternary("fdtri")
gdtr = _of.ternary("gdtr")
gdtrc = _of.ternary("gdtrc")
gdtria = _of.ternary("gdtria")
gdtrix = _of.ternary("gdtrix")
pdtr = _of.binary("pdtr")
pdtrc = _of.binary("pdtrc")
pdtri = _of.binary("pdtri")
bdtr = _of.ternary("bdtr")
bdtrc = _of.ternary("bdtrc")
bdtri = _of.ternary("bdtri")
nbdtr = _of.ternary("nbdtr")
nbdtrc = _of.ternary("nbdtrc")
nbdtri = _of.ternary("nbdtri")
kolmogorov = _of.unary("kolmogorov")
