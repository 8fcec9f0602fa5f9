"""Where special functions are compared with mpmath: 200 points each, the same on every machine.

Ranges are filled by the multiples of irrational numbers, which leave no gap and no pattern; the
points have four digits, so that another library of logarithms makes the same ones. Extreme points
come on top: the smallest and largest arguments, next to zeros, poles and changes of branch.
"""

from functools import partial
from pathlib import Path

import numpy as np

from numgrad.functions.elementwise import tabled as _tabled  # noqa: F401  it fills the table
from numgrad.operators.special.formulas import TABLE

PATH = Path(__file__).with_name("special_exact.npz")

COUNT = 200
GENERATORS = tuple(p**0.5 % 1 for p in (2, 3, 5, 7))
INF = np.inf


def lin(low, high, share):
    return low + (high - low) * share


def log(low, high, share):
    return low ** (1 - share) * high**share


def both(low, high, share):
    """Spaced in ratios, of both signs."""
    side = 2 * share - 1
    return np.copysign(log(low, high, np.abs(side)), side)


def whole(low, high, share):
    return np.floor(lin(low, high + 1, share))


def near(point, *steps):
    """Numbers next to one: at so many units of its last place."""
    return tuple(point + step * np.spacing(point) for step in steps)


LIN, LOG, BOTH, WHOLE = (
    lambda low, high, kind=kind: partial(kind, low, high) for kind in (lin, log, both, whole)
)
TINY, LARGE = (1e-300, 1e-12), (1e12, 1e300)
SIGNED = (0.0, 1e-300, -1e-300, 1e-12, -1e-12)
J_ZEROS = (2.404825557695773, 5.520078110286311, 14.930917708487785)
Y_ZEROS = (0.8935769662791675, 3.957678419314858, 7.086051060301773)
ENDS = (1e-300, 1e-12, 0.5, 1 - 1e-12, *near(1.0, -1))
GAMMA_ZEROS = (1.0, 2.0, *near(1.0, 1, -1), *near(2.0, 1, -1))
POLES = (-1 + 1e-12, -2 - 1e-12, -5.000001, 0.5, -0.5)

ORDER, SHAPE, COUNTS = BOTH(1e-12, 20), LOG(1e-12, 200), WHOLE(0, 12)
ARGUMENT, POSITIVE, SHARE = LOG(1e-3, 100), LOG(1e-6, 1e3), LIN(1e-3, 0.999)
DEGREES = (0.0, 30.0, 45.0, 60.0, 135.0, 1e-300, 1e9, 360.0 * 1e6 + 30)

# name: ranges of the arguments, extreme points
RANGES = {
    "gamma": ([LIN(-20, 171)], (*TINY, -1e-300, *POLES, 171.6)),
    "gammaln": ([BOTH(1e-6, 900)], (*TINY, *LARGE, *GAMMA_ZEROS, *POLES)),
    "loggamma": ([LOG(1e-6, 1e12)], (*TINY, *LARGE, *GAMMA_ZEROS)),
    "rgamma": ([LIN(-20, 171)], (*SIGNED, *POLES, -1.0, -7.0)),
    "gammasgn": ([LIN(-20, 171)], (*POLES, -0.5, 1e300)),
    "digamma": ([BOTH(1e-6, 900)], (*TINY, *LARGE, *POLES, 1.4616321449683622)),
    "polygamma": ([WHOLE(1, 12), LOG(1e-3, 1e6)], ((1, 1e-12), (1, 1e12), (3, -1.5), (8, 0.5))),
    "poch": ([LOG(1e-3, 50), LOG(1e-12, 50)], ((0.5, 1e-300), (1e-300, 2.0), (100.0, 1e-12))),
    "binom": ([LIN(25, 60), LIN(-5, 50)], ((5.0, 2.0), (1e3, 3.0), (1e-12, 0.5), (40.0, 20.0))),
    "beta": ([LOG(1e-12, 200), LOG(1e-12, 200)], ((1e-300, 1.0), (1.0, 1e12), (0.5, 0.5))),
    "betaln": ([LOG(1e-12, 1e6), LOG(1e-12, 1e6)], ((1e-300, 1.0), (1.0, 1e12), (0.5, 0.5))),
    "gammainc": ([SHAPE, POSITIVE], ((1e-12, 1e-12), (200.0, 200.0), (1.0, 1e-300), (0.5, 700.0))),
    "gammaincc": ([SHAPE, LOG(1e-6, 600)], ((1e-12, 1e-12), (200.0, 200.0), (1.0, 1e-300))),
    "gammaincinv": ([LOG(0.05, 200), SHARE], ((1.0, 1e-300), (10.0, 1e-12), (3.0, 1 - 1e-12))),
    "gammainccinv": ([LOG(0.05, 200), SHARE], ((1.0, 1e-300), (10.0, 1e-12), (3.0, 1 - 1e-12))),
    "betainc": ([SHAPE, SHAPE, SHARE], ((1e-12, 1e-12, 0.5), (2.0, 3.0, 1e-12), (2.0, 3.0, 1.0))),
    "betaincc": ([SHAPE, SHAPE, SHARE], ((1e-12, 1e-12, 0.5), (2.0, 3.0, 1e-12), (2.0, 3.0, 0.0))),
    "betaincinv": ([LOG(0.5, 100)] * 2 + [SHARE], ((1.0, 2.0, 1e-300), (2.0, 3.0, 1e-12))),
    "betainccinv": ([LOG(0.5, 100)] * 2 + [SHARE], ((1.0, 2.0, 0.999), (2.0, 3.0, 1e-12))),
    "zetac": ([LIN(-20, 40)], (1e-12, 1 + 1e-12, 1 - 1e-12, 50.0, 100.0)),
    "zeta": ([LIN(-20, 40)], (1e-12, 1 + 1e-12, 1 - 1e-12, 50.0, 100.0)),
    "hurwitz_zeta": ([LIN(1.01, 30), LOG(1e-6, 1e4)],
        ((1 + 1e-12, 0.5), (2.0, 1e12), (5.0, 1e-12))),
    "multigammaln": ([LOG(1.0001, 1e6)], (1.5, 1e12, 1 + 1e-12)),
    "comb": ([WHOLE(0, 60), WHOLE(0, 30)], ((1000.0, 3.0), (3.0, 3.0), (2.0, 3.0))),
    "perm": ([WHOLE(0, 60), WHOLE(0, 12)], ((1000.0, 3.0), (3.0, 3.0), (2.0, 3.0))),
    # Error functions
    "erf": ([BOTH(1e-10, 6)], (*SIGNED, 30.0, INF, -INF)),
    "erfc": ([LIN(-6, 26)], (*SIGNED, 26.5, INF, -INF)),
    "erfcx": ([BOTH(1e-10, 26)], (*SIGNED, 1e4, 1e8)),
    "erfi": ([BOTH(1e-10, 26)], SIGNED),
    "dawsn": ([BOTH(1e-10, 1e3)], (*SIGNED, 1e8, 1e300)),
    "wofz": ([BOTH(1e-3, 30), LOG(1e-3, 30)], ((0.0, 1.0), (1e8, 1.0), (1.0, 1e8))),
    "voigt_profile": ([BOTH(1e-3, 30), LOG(0.05, 20), LOG(0.05, 20)],
        ((0.0, 1.0, 1.0), (1e6, 1.0, 1.0))),
    "erfinv": ([LIN(-0.9999, 0.9999)], (*SIGNED, 1 - 1e-12, *near(1.0, -1))),
    "erfcinv": ([LOG(1e-300, 1.9999)], (*near(1.0, 1, -1), 2 - 1e-12)),
    "ndtr": ([LIN(-37, 8)], (*SIGNED, -38.0, INF, -INF)),
    "ndtri": ([LOG(1e-300, 0.9999)], ENDS),
    "log_ndtr": ([BOTH(1e-6, 1e4)], (*SIGNED, 8.0, -1e8, -1e100)),
    "ndtri_exp": ([lambda share: -log(1e-10, 1e6, share)], (-1e-15, -1e12)),
    "owens_t": ([BOTH(1e-3, 8), BOTH(1e-3, 20)],
        ((0.0, 1.0), (1e-12, 1e-12), (2.0, INF), (1.0, 1.0))),
    # Logarithms, entropies, losses, transforms, angles
    "expit": ([LIN(-700, 40)], (*SIGNED, INF, -INF)),
    "log_expit": ([LIN(-700, 40)], (*SIGNED, -INF, 700.0)),
    "softplus": ([LIN(-700, 40)], (*SIGNED, INF, -INF, 1e300)),
    "xlogy": ([BOTH(1e-6, 1e6), LOG(1e-300, 1e300)], ((0.0, 0.0), (0.0, 2.0), (1.0, 1 + 1e-12))),
    "xlog1py": ([BOTH(1e-6, 1e6), LIN(-0.999, 50)], ((0.0, -1.0), (2.0, 1e-300), (1.0, 1e300))),
    "logit": ([LIN(0.001, 0.999)], (*ENDS, *near(0.5, 1, -1))),
    "entr": ([LOG(1e-300, 1e300)], (0.0, 1.0, 1 + 1e-12)),
    "rel_entr": ([LOG(1e-6, 1e6), LOG(1e-6, 1e6)], ((0.0, 1.0), (1e-300, 1.0), (1.0, 1 + 1e-6))),
    "kl_div": ([LOG(1e-6, 1e6), LOG(1e-6, 1e6)], ((0.0, 1.0), (1e-300, 1.0), (1.0, 1.0))),
    "huber": ([LOG(1e-6, 1e6), BOTH(1e-6, 1e6)], ((1.0, 1.0), (1.0, -1.0), (0.0, 3.0))),
    "pseudo_huber": ([LOG(1e-3, 1e3), BOTH(1e-3, 1e3)], ((1.0, 1e-6), (1.0, 1e12), (1.0, 0.0))),
    "exprel": ([BOTH(1e-12, 700)], (*SIGNED, -1e300)),
    "boxcox": ([LOG(1e-6, 1e6), BOTH(1e-12, 10)], ((1.0, 2.0), (2.0, 0.0), (1e300, 0.5))),
    "boxcox1p": ([LOG(1e-6, 1e6), BOTH(1e-12, 10)], ((1e-300, 2.0), (2.0, 0.0), (-0.999, 0.5))),
    "inv_boxcox": ([LOG(1e-6, 100), LOG(1e-12, 10)], ((1e-12, 2.0), (2.0, 0.0), (2.0, -0.4))),
    "inv_boxcox1p": ([LOG(1e-6, 100), LOG(1e-12, 10)], ((1e-300, 2.0), (2.0, 0.0), (2.0, -0.4))),
    "exp10": ([BOTH(1e-10, 300)], (*SIGNED, -INF)),
    "exp2": ([BOTH(1e-10, 1000)], (*SIGNED, -INF)),
    "expm1": ([BOTH(1e-10, 700)], (*SIGNED, -INF)),
    "log1p": ([BOTH(1e-10, 0.999)], (*SIGNED, *LARGE, INF)),
    "cbrt": ([BOTH(1e-300, 1e300)], (0.0, 8.0, -27.0)),
    "sinc": ([BOTH(1e-10, 30)], (0.0, 1e-300, 0.5)),
    "cosm1": ([BOTH(1e-8, 30)], SIGNED),
    "sindg": ([LIN(-720, 720)], DEGREES),
    "cosdg": ([LIN(-720, 720)], DEGREES),
    "tandg": ([LIN(-720, 720)], DEGREES),
    "cotdg": ([LIN(-720, 720)], DEGREES[1:5]),
    "radian": ([LIN(0, 360), LIN(0, 60), LIN(0, 60)], ((0.0, 0.0, 1e-12), (1e6, 0.0, 0.0))),
    "logsumexp": ([LIN(-50, 50)] * 3, ((1e3, 1e3, 0.0), (-1e3, 0.0, -1.0), (0.0, 0.0, 0.0))),
    "softmax": ([LIN(-50, 50)] * 3, ((1e3, 1e3, 0.0), (-700.0, 0.0, 0.0), (0.0, 0.0, 0.0))),
    "log_softmax": ([LIN(-50, 50)] * 3, ((1e3, 1e3, 0.0), (-700.0, 0.0, 0.0), (0.0, 0.0, 0.0))),
    # Bessel functions
    "j0": ([LOG(1e-6, 1e4)], (*SIGNED, *J_ZEROS, -3.0)),
    "j1": ([LOG(1e-6, 1e4)], (*SIGNED, 3.8317059702075125, -3.0)),
    "y0": ([LOG(1e-6, 1e4)], (*TINY, *Y_ZEROS)),
    "y1": ([LOG(1e-6, 1e4)], (*TINY, 2.197141326031017)),
    "i0": ([BOTH(1e-6, 700)], SIGNED),
    "i1": ([BOTH(1e-6, 700)], SIGNED),
    "i0e": ([BOTH(1e-6, 1e6)], (*SIGNED, 1e300)),
    "i1e": ([BOTH(1e-6, 1e6)], (*SIGNED, 1e300)),
    "k0": ([LOG(1e-6, 700)], TINY),
    "k1": ([LOG(1e-6, 700)], TINY),
    "k0e": ([LOG(1e-6, 1e6)], (*TINY, 1e300)),
    "k1e": ([LOG(1e-6, 1e6)], (*TINY, 1e300)),
    "jv": ([ORDER, ARGUMENT], ((0.0, 0.0), (1e-12, 1e-12), (0.5, 1e4), (20.5, 2.0))),
    "jve": ([ORDER, ARGUMENT], ((0.0, 0.0), (1e-12, 1e-12), (0.5, 1e4), (20.5, 2.0))),
    "yv": ([ORDER, ARGUMENT], ((1e-12, 1e-12), (0.5, 1e4), (20.5, 2.0))),
    "yve": ([ORDER, ARGUMENT], ((1e-12, 1e-12), (0.5, 1e4), (20.5, 2.0))),
    "yn": ([COUNTS, ARGUMENT], ((1, 1e-12), (3, 1e4))),
    "kn": ([COUNTS, ARGUMENT], ((1, 1e-12), (3, 600.0))),
    "iv": ([LOG(1e-12, 50), ARGUMENT], ((0.0, 0.0), (1e-12, 1e-12), (0.5, 600.0), (-0.5, 2.0))),
    "ive": ([LOG(1e-12, 50), ARGUMENT], ((0.0, 0.0), (1e-12, 1e-12), (0.5, 1e6), (-0.5, 2.0))),
    "kv": ([ORDER, ARGUMENT], ((1e-12, 1e-12), (0.5, 600.0), (20.5, 2.0))),
    "kve": ([ORDER, ARGUMENT], ((1e-12, 1e-12), (0.5, 1e6), (20.5, 2.0))),
    "hankel1": ([ORDER, ARGUMENT], ((1e-12, 1e-12), (0.5, 1e4))),
    "hankel2": ([ORDER, ARGUMENT], ((1e-12, 1e-12), (0.5, 1e4))),
    "spherical_jn": ([COUNTS, ARGUMENT], ((0, 0.0), (1, 1e-12), (2, -3.0), (0, 1e4))),
    "spherical_yn": ([COUNTS, ARGUMENT], ((1, 1e-12), (2, -3.0), (0, 1e4))),
    "spherical_in": ([COUNTS, ARGUMENT], ((0, 0.0), (1, 1e-12), (2, -3.0), (0, 700.0))),
    "spherical_kn": ([COUNTS, ARGUMENT], ((1, 1e-12), (0, 600.0))),
    "airy_ai": ([BOTH(1e-6, 50)], SIGNED),
    "airy_aip": ([BOTH(1e-6, 50)], SIGNED),
    "airy_bi": ([BOTH(1e-6, 50)], SIGNED),
    "airy_bip": ([BOTH(1e-6, 50)], SIGNED),
    "struve": ([LOG(1e-12, 20), ARGUMENT], ((0.5, 1e3), (0.0, 1e-12))),
    "modstruve": ([LOG(1e-12, 20), ARGUMENT], ((0.5, 600.0), (0.0, 1e-12))),
    # Hypergeometric functions and polynomials
    "hyp0f1": ([LOG(0.05, 50), BOTH(1e-6, 100)], ((1e-12, 1e-12), (1.0, 1e4), (0.5, 0.0))),
    "hyp1f1": ([LOG(1e-12, 10), LOG(0.05, 20), LIN(-30, 30)], ((1.0, 2.0, 0.0), (1e-12, 1.0, 1.0))),
    "hyp2f1": ([LIN(0.1, 5)] * 3 + [LIN(-2, 0.95)], ((1.0, 1.0, 2.0, 0.0), (1e-12, 1.0, 2.0, 0.5))),
    "hyperu": ([LIN(0.1, 5), LIN(0.1, 5), LOG(0.05, 50)], ((1e-12, 1.5, 1.0), (1.0, 2.5, 1e4))),
    "eval_legendre": ([COUNTS, LIN(-1.5, 1.5)], ((3, 1.0), (4, -1.0), (4, 1e-12))),
    "eval_chebyt": ([COUNTS, LIN(-1.5, 1.5)], ((3, 1.0), (4, -1.0), (4, 1e-12))),
    "eval_chebyu": ([COUNTS, LIN(-1.5, 1.5)], ((3, 1.0), (4, -1.0), (4, 1e-12))),
    "eval_gegenbauer": ([COUNTS, LIN(0.1, 3), LIN(-1.5, 1.5)], ((3, 1.0, 1.0), (4, 0.5, 1e-12))),
    "eval_jacobi": ([COUNTS, LIN(0.1, 3), LIN(0.1, 3), LIN(-1.5, 1.5)], ((3, 1.0, 1.0, 1.0),)),
    "eval_laguerre": ([COUNTS, LIN(0, 30)], ((3, 0.0), (5, 1e-12))),
    "eval_genlaguerre": ([COUNTS, LIN(0.1, 3), LIN(0, 30)], ((3, 1.0, 0.0), (5, 0.5, 1e-12))),
    "eval_hermite": ([COUNTS, LIN(-8, 8)], ((3, 0.0), (5, 1e-12))),
    "eval_hermitenorm": ([COUNTS, LIN(-8, 8)], ((3, 0.0), (5, 1e-12))),
    "lpmv": ([WHOLE(0, 3), LIN(3, 12), LIN(-0.99, 0.99)], ((0, 2.0, 1e-12), (0, 3.0, 0.5))),
    # Integrals
    "expi": ([BOTH(1e-6, 600)], (*TINY, 0.37250741078136663)),
    "exp1": ([LOG(1e-6, 700)], TINY),
    "expn": ([COUNTS, LOG(1e-6, 600)], ((2, 0.0), (0, 1e-300), (1, 1e-300))),
    "sici_si": ([BOTH(1e-6, 1e4)], (*SIGNED, INF)),
    "sici_ci": ([LOG(1e-6, 1e4)], (*TINY, 0.6165054856207162)),
    "shichi_shi": ([BOTH(1e-6, 600)], SIGNED),
    "shichi_chi": ([LOG(1e-6, 600)], (*TINY, 0.5238225713898644)),
    "fresnel_s": ([BOTH(1e-6, 100)], (*SIGNED, INF)),
    "fresnel_c": ([BOTH(1e-6, 100)], (*SIGNED, INF)),
    "spence": ([LOG(1e-6, 1e6)], (0.0, 1.0, *near(1.0, 1, -1), 1e12)),
    "kolmogorov": ([LOG(0.1, 15)], (1e-3, 18.0)),
    "ellipk": ([LIN(-50, 0.9999)], (*SIGNED, 1 - 1e-12, -1e12)),
    "ellipkm1": ([LOG(1e-12, 10)], (1e-300, 1.0, 1e6)),
    "ellipe": ([LIN(-50, 0.9999)], (*SIGNED, 1 - 1e-12, 1.0, -1e6)),
    "ellipkinc": ([LIN(-10, 10), LIN(-5, 0.999)], ((0.0, 0.5), (1e-12, 0.5), (1.0, 0.0))),
    "ellipeinc": ([LIN(-10, 10), LIN(-5, 0.999)], ((0.0, 0.5), (1e-12, 0.5), (1.0, 0.0))),
    "ellipj_sn": ([LIN(-10, 10), SHARE], ((0.0, 0.5), (1e-12, 0.5), (1.0, 0.0), (1.0, 1.0))),
    "ellipj_cn": ([LIN(-10, 10), SHARE], ((0.0, 0.5), (1e-12, 0.5), (1.0, 0.0), (1.0, 1.0))),
    "ellipj_dn": ([LIN(-10, 10), SHARE], ((0.0, 0.5), (1e-12, 0.5), (1.0, 0.0), (1.0, 1.0))),
    "ellipj_ph": ([LIN(-10, 10), SHARE], ((0.0, 0.5), (1e-12, 0.5), (1.0, 0.0))),
    "lambertw": ([LOG(1e-10, 1e10), WHOLE(-2, 2)],
        ((1e-12, 0), (1e300, 0), (-0.3678, 0), (-0.3678, -1))),
    "wrightomega": ([LIN(-40, 100)], (-700.0, 1e300, 0.0, 1e-12)),
    # Distributions
    "stdtr": ([LOG(0.1, 1e3), BOTH(1e-3, 50)], ((1.0, 0.0), (5.0, -1e3), (3.0, 1e-12))),
    "stdtrit": ([LOG(0.5, 1e3), SHARE], ((1.0, 0.25), (5.0, 1e-12))),
    "chdtr": ([LOG(0.1, 200), POSITIVE], ((1.0, 1e-12), (200.0, 200.0))),
    "chdtrc": ([LOG(0.1, 200), LOG(1e-6, 600)], ((1.0, 1e-12), (200.0, 200.0))),
    "chdtri": ([LOG(0.1, 200), SHARE], ((1.0, 1e-12), (3.0, 1 - 1e-12))),
    "gdtr": ([LOG(0.1, 5), LOG(0.1, 100), LOG(1e-3, 100)], ((1.0, 2.0, 1e-12),)),
    "gdtrc": ([LOG(0.1, 5), LOG(0.1, 100), LOG(1e-3, 100)], ((1.0, 2.0, 1e-12),)),
    "gdtrix": ([LOG(0.1, 5), LOG(0.1, 100), SHARE], ((1.0, 2.0, 1e-12),)),
    "gdtria": ([SHARE, LOG(0.1, 100), LOG(0.1, 100)], ((1e-12, 2.0, 1.0),)),
    "pdtr": ([WHOLE(0, 50), LOG(0.01, 100)], ((0, 1e-12), (3, 0.0), (100, 100.0))),
    "pdtrc": ([WHOLE(0, 50), LOG(0.01, 100)], ((0, 1e-12), (3, 1e-300), (100, 100.0))),
    "pdtri": ([WHOLE(0, 50), SHARE], ((0, 0.5), (3, 1e-12))),
    "fdtr": ([LOG(0.5, 50), LOG(0.5, 50), LOG(1e-3, 100)], ((2.0, 3.0, 1e-12), (1.0, 1.0, 1e6))),
    "fdtrc": ([LOG(0.5, 50), LOG(0.5, 50), LOG(1e-3, 100)], ((2.0, 3.0, 1e-12), (1.0, 1.0, 1e6))),
    "fdtri": ([LOG(0.5, 50), LOG(0.5, 50), SHARE], ((2.0, 3.0, 1e-12),)),
    "bdtr": ([COUNTS, WHOLE(13, 40), SHARE], ((0, 5, 1e-12), (2, 5, 1.0), (3, 5, 0.0))),
    "bdtrc": ([COUNTS, WHOLE(13, 40), SHARE], ((0, 5, 1e-12), (2, 5, 1.0), (3, 5, 0.0))),
    "bdtri": ([COUNTS, WHOLE(13, 40), SHARE], ((0, 5, 1e-12),)),
    "nbdtr": ([COUNTS, WHOLE(1, 20), SHARE], ((0, 5, 1e-12), (2, 5, 1.0))),
    "nbdtrc": ([COUNTS, WHOLE(1, 20), SHARE], ((0, 5, 1e-12), (2, 5, 0.0))),
    "nbdtri": ([COUNTS, WHOLE(1, 20), SHARE], ((0, 5, 1e-12),)),
}  # fmt: skip


def points(name):
    """Return the arguments of a function: 200 points, the extreme ones last."""
    ranges, extreme = RANGES[name]
    extreme = np.reshape(np.asarray(extreme, float), (-1, len(ranges)))
    step = np.arange(1, COUNT - len(extreme) + 1)
    columns = [kind(step * g % 1) for kind, g in zip(ranges, GENERATORS, strict=False)]
    filled = [[float(f"{v:.4g}") for v in column] for column in columns]
    return [np.array([*many, *few]) for many, few in zip(filled, extreme.T, strict=True)]


FIRST, SECOND = slice(0, 144, 3), slice(1, 144, 18)
"""The points at which there are first and second derivatives."""

UNTABLED = {
    "expit": "x", "log_expit": "x", "softplus": "x", "exp2": "x", "expm1": "x", "log1p": "x",
    "cbrt": "x", "sinc": "x", "multigammaln": "a", "logsumexp": "abc", "softmax": "abc",
    "log_softmax": "abc", "wofz": ("x", "height"), "comb": "Nk", "perm": "Nk", "zeta": "x",
}  # fmt: skip
"""The parameters of functions that are no operators of the tables."""


def parameters(name):
    return UNTABLED.get(name) or TABLE[name].parameters


def differentiated(name):
    """Return the places and the names of the arguments that have a derivative."""
    whole_numbers = {"comb", "perm", "zeta", "gammasgn"}
    names = [] if name in whole_numbers else parameters(name)
    known = names if name in UNTABLED else TABLE[name].formulas
    return {place: x for place, x in enumerate(names) if x in known}


ZEROS = {
    "gammaln", "loggamma", "digamma", "betaln", "zetac", "zeta", "binom", "multigammaln",
    "logsumexp",
    "j0", "j1", "y0", "y1", "jv", "jve", "yv", "yve", "yn", "spherical_jn", "spherical_yn",
    "airy_ai", "airy_aip", "airy_bi", "airy_bip", "hyp0f1", "hyp1f1",
    "hyp2f1", "eval_legendre", "eval_chebyt", "eval_chebyu", "eval_gegenbauer", "eval_jacobi",
    "eval_laguerre", "eval_genlaguerre", "eval_hermite", "eval_hermitenorm", "lpmv", "expi",
    "sici_ci", "shichi_chi", "ellipj_sn", "ellipj_cn", "struve", "cosm1", "sinc", "boxcox",
    "stdtrit",
    "ndtri", "ndtri_exp", "erfcinv", "rel_entr", "xlogy",
}  # fmt: skip
"""Functions with zeros at numbers that are not round."""

DIGITS = {
    "gammainc": 400, "gammaincc": 400, "betainc": 400, "betaincc": 400, "chdtr": 400, "chdtrc": 400,
    "gdtr": 400, "gdtrc": 400, "pdtr": 400, "pdtrc": 400, "bdtr": 150, "bdtrc": 150, "nbdtr": 150,
    "nbdtrc": 150, "fdtr": 150, "fdtrc": 150, "stdtr": 150, "erf": 350, "expm1": 350, "exprel": 350,
    "hurwitz_zeta": 200, "kolmogorov": 200, "ellipkm1": 700, "log_expit": 350, "softplus": 350,
    "expit": 350, "erfc": 350,
}  # fmt: skip
"""How many digits the exact numbers are computed with, where it is not 80."""

LEAST = {"logsumexp": 1.0, "softmax": 1.0, "log_softmax": 1.0}
"""Errors count relative to this at least: a result is as precise as the largest of its array."""
