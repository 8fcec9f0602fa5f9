"""Special functions in mpmath, of which SciPy's names are the keys: definitions, nothing clever."""

import mpmath as mp
import scipy.special as sp

HALF = mp.mpf(0.5)


def upper(a, x):
    return mp.gammainc(a, x, mp.inf, regularized=True)


def lower(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def beta_share(a, b, x):
    """The regularized incomplete beta function, by a series of positive terms."""
    if x == 0 or x == 1:
        return mp.mpf(x)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_share(b, a, 1 - x)
    term = total = mp.mpf(1)
    n = 0
    while term > mp.eps * total * 1e-4:
        term *= (a + b + n) / (a + 1 + n) * x
        total += term
        n += 1
    return x**a * (1 - x) ** b / (a * mp.beta(a, b)) * total


def gamma_density(a, x):
    return mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))


def beta_density(a, b, x):
    return x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b)


def student(df, t):
    tail = beta_share(df / 2, HALF, df / (df + t * t)) / 2
    return tail if t < 0 else 1 - tail


def student_density(df, t):
    return (1 + t * t / df) ** (-(df + 1) / 2) / (mp.sqrt(df) * mp.beta(df / 2, HALF))


def f_share(a, b, x):
    return beta_share(a / 2, b / 2, a * x / (a * x + b))


def f_density(a, b, x):
    whole = a * x + b
    return beta_density(a / 2, b / 2, a * x / whole) * a * b / whole**2


def inverse(name, function, slope):
    """The inverse in the last argument by Newton's method, from SciPy's value."""

    def solve(*args):
        *fixed, p = args
        y = mp.mpf(float(getattr(sp, name)(*map(float, args))))
        for _ in range(6):
            y -= (function(*fixed, y) - p) / slope(*fixed, y)
        return y

    return solve


def normal(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def log_normal(x):
    return mp.log1p(-mp.erfc(x / mp.sqrt(2)) / 2) if x > 0 else mp.log(normal(x))


def normal_density(x):
    return mp.npdf(x)


def normal_inverse(log_p):
    """Newton's method for the logarithm of the distribution function."""
    y = mp.mpf(float(sp.ndtri_exp(float(log_p))))
    for _ in range(7):
        y -= (log_normal(y) - log_p) * mp.exp(log_normal(y)) / mp.npdf(y)
    return y


def owens_t(h, a):
    if mp.isinf(a):
        return mp.erfc(abs(h) / mp.sqrt(2)) / 4 * mp.sign(a)
    share = mp.quad(lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), mp.linspace(0, a, 9))
    return share / (2 * mp.pi)


def faddeeva(z):
    return mp.exp(-z * z) * mp.erfc(-1j * z)


def voigt(x, sigma, gamma):
    scale = sigma * mp.sqrt(2)
    return faddeeva(mp.mpc(x, gamma) / scale).real / (scale * mp.sqrt(mp.pi))


def kolmogorov(x):
    if x < 1:
        terms = (mp.exp(-((2 * k - 1) ** 2) * mp.pi**2 / (8 * x * x)) for k in range(1, 30))
        return 1 - mp.sqrt(2 * mp.pi) / x * sum(terms)
    return -2 * sum((-1) ** k * mp.exp(-2 * k * k * x * x) for k in range(1, 30))


def hurwitz(x, q):
    return mp.zeta(x, q)


def boxcox_of(log_x, lmbda):
    return mp.expm1(lmbda * log_x) / lmbda if lmbda else log_x


def log_inv_boxcox(x, lmbda):
    return mp.log1p(lmbda * x) / lmbda if lmbda else x


def multiple(x1, log_x2):
    return x1 * log_x2() if x1 else mp.mpf(0)


def huber(delta, r):
    return r * r / 2 if abs(r) <= delta else delta * (abs(r) - delta / 2)


def pseudo_huber(delta, r):
    return delta**2 * (mp.sqrt(1 + (r / delta) ** 2) - 1)


def degrees(function):
    return lambda x: function(x * mp.pi / 180)


def sum_of_exponentials(a, b, c):
    return mp.log(mp.exp(a) + mp.exp(b) + mp.exp(c))


def spherical(cylindrical, turn=1):
    """Of positive arguments; the sign of negative ones is that of the power series."""

    def function(n, z):
        y = mp.sqrt(mp.pi / (2 * abs(z))) * cylindrical(n + HALF, abs(z)) if z else mp.mpf(n == 0)
        return y * turn * (-1) ** int(n) if z < 0 else y

    return function


def amplitude(u, m):
    """The inverse of the elliptic integral of the first kind."""
    y = mp.mpf(float(sp.ellipj(float(u), float(m))[3]))
    for _ in range(7):
        y -= (mp.ellipf(y, m) - u) * mp.sqrt(1 - m * mp.sin(y) ** 2)
    return y


def scaled(function, rate):
    return lambda v, z: function(v, z) * mp.exp(rate(z))


def whole_order(function, order, rate=lambda z: 0):
    return lambda z: function(order, z) * mp.exp(rate(z))


def fixed_order(function):
    return lambda n, *args: function(int(n), *args)


def count(k):
    return mp.floor(k) + 1


GROWTH, DECAY = (lambda z: z), (lambda z: -abs(z))

EXACT = {
    "gamma": mp.gamma, "gammaln": lambda x: mp.log(abs(mp.gamma(x))) if x < 0 else mp.loggamma(x),
    "loggamma": mp.loggamma, "rgamma": mp.rgamma, "gammasgn": lambda x: mp.sign(mp.rgamma(x)),
    "digamma": mp.digamma, "polygamma": fixed_order(mp.polygamma), "poch": mp.rf,
    "binom": mp.binomial, "beta": mp.beta,
    "betaln": lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b),
    "gammainc": lower, "gammaincc": upper,
    "gammaincinv": inverse("gammaincinv", lower, gamma_density),
    "gammainccinv": inverse("gammainccinv", upper, lambda a, x: -gamma_density(a, x)),
    "betainc": beta_share, "betaincc": lambda a, b, x: beta_share(b, a, 1 - x),
    "betaincinv": inverse("betaincinv", beta_share, beta_density),
    "betainccinv": inverse("betainccinv", lambda a, b, x: beta_share(b, a, 1 - x),
                           lambda a, b, x: -beta_density(a, b, x)),
    "zetac": lambda x: mp.zeta(x) - 1, "zeta": mp.zeta, "hurwitz_zeta": hurwitz,
    "multigammaln": lambda a: mp.log(mp.pi) * 3 / 2 + sum(
        mp.loggamma(a - j * HALF) for j in range(3)
    ),
    "comb": mp.binomial, "perm": lambda n, k: mp.ff(n, k),
    # Error functions
    "erf": mp.erf, "erfc": mp.erfc, "erfcx": lambda x: mp.erfc(x) * mp.exp(x * x), "erfi": mp.erfi,
    "dawsn": lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x),
    "wofz": lambda x, height: faddeeva(mp.mpc(x, height)),
    "voigt_profile": voigt,
    "erfinv": inverse("erfinv", mp.erf, lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x)),
    "erfcinv": inverse("erfcinv", mp.erfc, lambda x: -2 / mp.sqrt(mp.pi) * mp.exp(-x * x)),
    "ndtr": normal, "ndtri": inverse("ndtri", normal, mp.npdf), "log_ndtr": log_normal,
    "ndtri_exp": normal_inverse, "owens_t": owens_t,
    # Logarithms, entropies, losses, transforms, angles
    "expit": lambda x: 1 / (1 + mp.exp(-x)), "log_expit": lambda x: -mp.log1p(mp.exp(-x)),
    "softplus": lambda x: mp.log1p(mp.exp(x)),
    "xlogy": lambda a, b: multiple(a, lambda: mp.log(b)),
    "xlog1py": lambda a, b: multiple(a, lambda: mp.log1p(b)),
    "logit": lambda x: mp.log(x) - mp.log1p(-x), "entr": lambda x: -multiple(x, lambda: mp.log(x)),
    "rel_entr": lambda a, b: multiple(a, lambda: mp.log(a / b)),
    "kl_div": lambda a, b: multiple(a, lambda: mp.log(a / b)) - a + b,
    "huber": huber, "pseudo_huber": pseudo_huber,
    "exprel": lambda x: mp.expm1(x) / x if x else mp.mpf(1),
    "boxcox": lambda x, lmbda: boxcox_of(mp.log(x), lmbda),
    "boxcox1p": lambda x, lmbda: boxcox_of(mp.log1p(x), lmbda),
    "inv_boxcox": lambda x, lmbda: mp.exp(log_inv_boxcox(x, lmbda)),
    "inv_boxcox1p": lambda x, lmbda: mp.expm1(log_inv_boxcox(x, lmbda)),
    "exp10": lambda x: mp.mpf(10) ** x, "exp2": lambda x: mp.mpf(2) ** x, "expm1": mp.expm1,
    "log1p": mp.log1p, "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "sinc": lambda x: mp.sinc(mp.pi * x), "cosm1": lambda x: -2 * mp.sin(x / 2) ** 2,
    "sindg": degrees(mp.sin), "cosdg": degrees(mp.cos), "tandg": degrees(mp.tan),
    "cotdg": degrees(mp.cot), "radian": lambda d, m, s: (d + m / 60 + s / 3600) * mp.pi / 180,
    "logsumexp": sum_of_exponentials,
    "softmax": lambda a, b, c: mp.exp(a - sum_of_exponentials(a, b, c)),
    "log_softmax": lambda a, b, c: a - sum_of_exponentials(a, b, c),
    # Bessel functions
    "j0": whole_order(mp.besselj, 0), "j1": whole_order(mp.besselj, 1),
    "y0": whole_order(mp.bessely, 0), "y1": whole_order(mp.bessely, 1),
    "i0": whole_order(mp.besseli, 0), "i1": whole_order(mp.besseli, 1),
    "i0e": whole_order(mp.besseli, 0, DECAY), "i1e": whole_order(mp.besseli, 1, DECAY),
    "k0": whole_order(mp.besselk, 0), "k1": whole_order(mp.besselk, 1),
    "k0e": whole_order(mp.besselk, 0, GROWTH), "k1e": whole_order(mp.besselk, 1, GROWTH),
    "jv": mp.besselj, "jve": mp.besselj, "yv": mp.bessely, "yve": mp.bessely,
    "yn": fixed_order(mp.bessely), "kn": fixed_order(mp.besselk),
    "iv": mp.besseli, "ive": scaled(mp.besseli, DECAY),
    "kv": mp.besselk, "kve": scaled(mp.besselk, GROWTH),
    "hankel1": mp.hankel1, "hankel2": mp.hankel2,
    "spherical_jn": spherical(mp.besselj), "spherical_yn": spherical(mp.bessely, -1),
    "spherical_in": spherical(mp.besseli),
    "spherical_kn": spherical(mp.besselk),
    "airy_ai": mp.airyai, "airy_aip": lambda x: mp.airyai(x, derivative=1),
    "airy_bi": mp.airybi, "airy_bip": lambda x: mp.airybi(x, derivative=1),
    "struve": mp.struveh, "modstruve": mp.struvel,
    # Hypergeometric functions and polynomials
    "hyp0f1": mp.hyp0f1, "hyp1f1": mp.hyp1f1, "hyp2f1": mp.hyp2f1, "hyperu": mp.hyperu,
    "eval_legendre": fixed_order(mp.legendre), "eval_chebyt": fixed_order(mp.chebyt),
    "eval_chebyu": fixed_order(mp.chebyu), "eval_gegenbauer": fixed_order(mp.gegenbauer),
    "eval_jacobi": fixed_order(mp.jacobi),
    "eval_laguerre": fixed_order(lambda n, x: mp.laguerre(n, 0, x)),
    "eval_genlaguerre": fixed_order(mp.laguerre), "eval_hermite": fixed_order(mp.hermite),
    "eval_hermitenorm": fixed_order(lambda n, x: mp.hermite(n, x / mp.sqrt(2)) / mp.sqrt(2) ** n),
    "lpmv": lambda m, v, x: mp.legenp(v, m, x).real,
    # Integrals
    "expi": mp.ei, "exp1": mp.e1, "expn": fixed_order(mp.expint), "sici_si": mp.si,
    "sici_ci": mp.ci,
    "shichi_shi": mp.shi, "shichi_chi": lambda x: mp.chi(x).real, "fresnel_s": mp.fresnels,
    "fresnel_c": mp.fresnelc, "spence": lambda x: mp.polylog(2, 1 - x).real,
    "kolmogorov": kolmogorov, "ellipk": mp.ellipk, "ellipkm1": lambda p: mp.ellipk(1 - p),
    "ellipe": mp.ellipe, "ellipkinc": mp.ellipf, "ellipeinc": lambda phi, m: mp.ellipe(phi, m),
    "ellipj_sn": lambda u, m: mp.ellipfun("sn", u, m=m),
    "ellipj_cn": lambda u, m: mp.ellipfun("cn", u, m=m),
    "ellipj_dn": lambda u, m: mp.ellipfun("dn", u, m=m), "ellipj_ph": amplitude,
    "lambertw": lambda z, k: mp.lambertw(z, int(k)),
    "wrightomega": lambda z: mp.lambertw(mp.exp(z)),
    # Distributions
    "stdtr": student, "stdtrit": inverse("stdtrit", student, student_density),
    "chdtr": lambda v, x: lower(v / 2, x / 2), "chdtrc": lambda v, x: upper(v / 2, x / 2),
    "chdtri": inverse("chdtri", lambda v, x: upper(v / 2, x / 2),
                      lambda v, x: -gamma_density(v / 2, x / 2) / 2),
    "gdtr": lambda a, b, x: lower(b, a * x), "gdtrc": lambda a, b, x: upper(b, a * x),
    "gdtrix": inverse("gdtrix", lambda a, b, x: lower(b, a * x),
                      lambda a, b, x: a * gamma_density(b, a * x)),
    "pdtr": lambda k, m: upper(count(k), m), "pdtrc": lambda k, m: lower(count(k), m),
    "pdtri": inverse("pdtri", lambda k, m: upper(count(k), m),
                     lambda k, m: -gamma_density(count(k), m)),
    "fdtr": f_share, "fdtrc": lambda a, b, x: beta_share(b / 2, a / 2, b / (a * x + b)),
    "fdtri": inverse("fdtri", f_share, f_density),
    "bdtr": lambda k, n, p: beta_share(n - k, count(k), 1 - p),
    "bdtrc": lambda k, n, p: beta_share(count(k), n - k, p),
    "bdtri": inverse("bdtri", lambda k, n, p: beta_share(n - k, count(k), 1 - p),
                     lambda k, n, p: -beta_density(n - k, count(k), 1 - p)),
    "nbdtr": lambda k, n, p: beta_share(n, count(k), p),
    "nbdtrc": lambda k, n, p: beta_share(count(k), n, 1 - p),
    "nbdtri": inverse("nbdtri", lambda k, n, p: beta_share(n, count(k), p),
                      lambda k, n, p: beta_density(n, count(k), p)),
}  # fmt: skip


def gdtria(p, b, x):
    return EXACT["gammaincinv"](b, p) / x


EXACT["gdtria"] = gdtria
