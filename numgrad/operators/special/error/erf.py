"""The error function and the normal distribution, with their inverses and relatives."""

import math

from ...._declare.foreign import ForeignFunction
from ...elementwise.arithmetic import where
from ..formulas import NAMES, declare
from . import normal
from .faddeeva import wofz
from .normal import erfcx_above_0

CENTRE, SHARES = ((-2, 2),), ((0.1, 0.9),)
PROBABILITY = {"domain": "0 <= x <= 1", "tried": SHARES}
NAMES.update(
    TWO_OVER_SQRT_PI=2 / math.sqrt(math.pi),
    SQRT_TWO_OVER_PI=math.sqrt(2 / math.pi),
    HALF_SQRT_PI=math.sqrt(math.pi) / 2,
    SQRT_HALF_PI=math.sqrt(math.pi / 2),
)
NEAR, LARGE = 8.0, 1e15
SQRT_HALF, SQRT_HALF_PI, HALF_SQRT_PI = (NAMES[name] for name in
                                         ("SQRT_HALF", "SQRT_HALF_PI", "HALF_SQRT_PI"))
ERFINV, ERFCINV, NDTRI = (ForeignFunction(name, "d") for name in ("erfinv", "erfcinv", "ndtri"))


def decay(z, turn):
    """``1 - 3 r + 15 r**2 - ...`` with ``r = turn / (2 z**2)``: the derivatives of `erfcx` (1) and
    of `dawsn` and `wofz` (-1) for large arguments, where the formulas are differences of nearly
    equal numbers. Squares of the largest arguments are infinite: there the series is 1."""
    far = abs(z) > NEAR
    z = where(far, z, z + 2 * NEAR)  # where the other branch is taken, only finite
    ends, large = abs(z) == math.inf, abs(z) > LARGE
    inverse = 1 / where(ends, NEAR, z)
    z = where(large, NEAR, z)
    r = turn / (2 * z * z)
    total, k = 1.0, 39.0
    for _ in range(19):
        total = 1.0 - k * r * total
        k = k - 2.0
    return where(ends, 0.0, where(large, inverse * inverse, total / (z * z)))


def wofz_slope(z, y):
    far, below = abs(z) > NEAR, z.imag < 0
    near = -2 * where(far, 0 * y, z) * y + TWO_I_OVER_SQRT_PI
    low = where(below, z, 0 * y)
    wave = where(below, -4 * low * math.exp(-low * low), 0 * y)
    return where(far, wave - 0.5 * TWO_I_OVER_SQRT_PI * decay(z, -1.0), near)


TWO_I_OVER_SQRT_PI = 2j / math.sqrt(math.pi)
NAMES.update(decay=decay)


def log_ndtr_curvature(x, y):
    """-1 far below 0, where the slope is infinite and its excess over ``-x`` is 0."""
    far = abs(x) == math.inf
    inside = -where(far, 0.0, y) * log_ndtr_excess(where(far, 0.0, x))
    return where(x == -math.inf, -1.0, inside)


# Slopes, which have slopes of their own: 0 at infinity, where a product would be NaN. Those of
# inverse functions are made of what `erfcx` is there and of the argument: an exponential of the
# square of the value has fewer digits than this.

TAILS = {"scipy": "", "tried": CENTRE}
declare("bell", "x", "``exp(-x**2)``", value=normal.bell, complex="math.exp(-x * x)", **TAILS,
        dx="-2 * (where(abs(x) == math.inf, 0 * y, x) * y)")
declare("half_bell", "x", "``exp(-x**2 / 2)``", value=normal.half_bell,
        complex="math.exp(-0.5 * x * x)", **TAILS,
        dx="-where(abs(x) == math.inf, 0 * y, x) * y")
declare("exp_square", "x", "``exp(x**2)``", value=normal.exp_square, complex="math.exp(x * x)",
        **TAILS, dx="2 * (x * y)")
declare("erfcx_derivative", "k x", "derivative ``k`` of `erfcx`", fixed="k", scipy="",
        value=normal.erfcx_derivative, tried=((1, 1), (-2, 2)), dx="erfcx_derivative(k + 1, x)")
log_ndtr_excess = declare("log_ndtr_excess", "x", "``x`` and the slope of `log_ndtr`",
        value=normal.log_ndtr_excess, **TAILS, dx="1 - log_ndtr_slope(x) * y")
declare("log_ndtr_slope", "x", "slope of `log_ndtr`", value=normal.log_ndtr_slope, **TAILS,
        dx=("-y * log_ndtr_excess(x)", log_ndtr_curvature))


def rising_out(t, share):
    """The slope where the value of an inverse function is ``t``, and ``share`` is left beyond."""
    return where(abs(t) == math.inf, math.inf, erfcx_above_0(abs(t)) / share)


def erfinv_dx(x, y):
    return HALF_SQRT_PI * rising_out(y, 1 - abs(x))


def erfcinv_dx(x, y):
    return -HALF_SQRT_PI * rising_out(y, where(x < 1, x, 2 - x))


def ndtri_dx(x, y):
    return SQRT_HALF_PI * rising_out(SQRT_HALF * y, where(x < 0.5, x, 1 - x))


declare("erfinv_slope", "x", "slope of `erfinv`", value=lambda x: erfinv_dx(x, ERFINV(x)), scipy="",
        tried=((-0.9, 0.9),), dx="2 * erfinv(x) * y * y")
declare("erfcinv_slope", "x", "slope of `erfcinv`", value=lambda x: erfcinv_dx(x, ERFCINV(x)),
        scipy="", tried=((0.1, 1.9),), dx="2 * erfcinv(x) * y * y")
declare("ndtri_slope", "x", "slope of `ndtri`", value=lambda x: ndtri_dx(x, NDTRI(x)), scipy="",
        tried=SHARES, dx="ndtri(x) * y * y")
vars(erfinv_dx)["on_tensors"] = lambda x, y: NAMES["erfinv_slope"](x)
vars(erfcinv_dx)["on_tensors"] = lambda x, y: NAMES["erfcinv_slope"](x)
vars(ndtri_dx)["on_tensors"] = lambda x, y: NAMES["ndtri_slope"](x)

declare("erf", "x", "error function", value="math.erf(x)", complex="z", tried=CENTRE,
        dx=("TWO_OVER_SQRT_PI * math.exp(-x * x)", "TWO_OVER_SQRT_PI * bell(x)"))
declare("erfc", "x", "``1 - erf(x)``, precise for large ``x``", value="math.erfc(x)", complex="z",
        tried=CENTRE,
        dx=("-TWO_OVER_SQRT_PI * math.exp(-x * x)", "-TWO_OVER_SQRT_PI * bell(x)"))
declare("erfcx", "x", "`erfc` times ``exp(x**2)``", value=normal.erfcx, tried=CENTRE,
        dx=("2 * x * erfcx(x) - 2 / sqrt(pi)", "erfcx_derivative(1.0, x)"))
declare("erfi", "x", "imaginary error function ``-1j * erf(1j * x)``", value=normal.erfi,
        complex="z", tried=CENTRE,
        dx=("TWO_OVER_SQRT_PI * math.exp(x * x)", "TWO_OVER_SQRT_PI * exp_square(x)"))
declare("dawsn", "x", "Dawson's integral", value=normal.dawson, tried=CENTRE,
        dx=("1 - 2 * x * dawsn(x)",
            "where(abs(x) > 8, -0.5 * decay(x, -1.0), 1 - 2 * where(abs(x) > 8, 0.0, x) * y)"))
declare("wofz", "z", "Faddeeva function ``exp(-z**2) * erfc(-1j * z)``",
        value=wofz, complex=wofz, gives_complex=True, tried=CENTRE,
        dz=("2j / sqrt(pi) - 2 * z * wofz(z)", wofz_slope))
declare("erfinv", "x", "inverse of `erf`", domain="-1 <= x <= 1", tried=((-0.9, 0.9),),
        dx=("HALF_SQRT_PI * math.exp(y * y)", erfinv_dx))
declare("erfcinv", "x", "inverse of `erfc`", domain="0 <= x <= 2", tried=((0.1, 1.9),),
        dx=("-HALF_SQRT_PI * math.exp(y * y)", erfcinv_dx))
declare("ndtr", "x", "distribution function of the standard normal distribution", complex="z",
        value=normal.ndtr, tried=CENTRE,
        dx=("math.exp(-0.5 * x * x) / SQRT_2PI", "half_bell(x) / SQRT_2PI"))
declare("ndtri", "x", "inverse of `ndtr`", **PROBABILITY,
        dx=("SQRT_2PI * math.exp(0.5 * y * y)", ndtri_dx))
declare("log_ndtr", "x", "logarithm of `ndtr`", value=normal.log_ndtr, tried=CENTRE,
        dx=("exp(-x**2 / 2) / (sqrt(2 * pi) * ndtr(x))",
            "log_ndtr_slope(x)"))
declare("ndtri_exp", "x", "``ndtri(exp(x))``", value=normal.ndtri_exp, domain="x <= 0",
        tried=((-4, -0.1),),
        dx=("ndtr(y) * sqrt(2 * pi) * exp(y**2 / 2)", "SQRT_HALF_PI * erfcx(-SQRT_HALF * y)"))


def owens_slope(h, a):
    s = 1 + a * a
    return math.exp(-0.5 * h * h * s) / (2 * math.pi * s)


declare("owens_t", "h a", "Owen's T function", tried=((-2, 2), (-2, 2)),
        dh="-0.5 * math.exp(-0.5 * h * h) / SQRT_2PI * erf(SQRT_HALF * a * h)",
        da=("exp(-h**2 * (1 + a**2) / 2) / (2 * pi * (1 + a**2))", owens_slope))


def owens_rest(h, a):
    """What Owen's T function of ``h`` lacks at ``a`` of its limit for ``a`` without end; neither is
    negative.

    The difference has its digits where ``a h`` is below 1. Else, with ``v`` for the root of the
    exponent beyond that at ``a``, the integrand is a bell times a smooth function, and
    ``v = exp(t - exp(-t))`` lets the trapezoidal rule have all digits (Takahasi and Mori 1974).
    """
    if not a * h >= 1:
        return 0.25 * math.erfc(SQRT_HALF * h) - OWENS_T(h, a)
    total, square = 0 * h, h * h
    for k in range(STEPS_OF_REST):
        t = 0.1 * k - 2.8
        fall = math.exp(-t)
        v2 = math.exp(2 * (t - fall))
        r2 = a * a + 2 * v2 / square
        total += math.exp(-v2) * v2 * (1 + fall) / (math.sqrt(r2) * (1 + r2))
    return 0.1 * math.exp(-0.5 * square * (1 + a * a)) * total / (math.pi * square)


STEPS_OF_REST, OWENS_T = 49, ForeignFunction("owens_t", "dd")
declare("owens_rest", "h a", "rest of Owen's T function", value=owens_rest, scipy="",
        tried=((0.2, 3), (0.2, 3)),
        dh="-0.5 * math.exp(-0.5 * h * h) / SQRT_2PI * erfc(SQRT_HALF * a * h)",
        da=("-exp(-h**2 * (1 + a**2) / 2) / (2 * pi * (1 + a**2))",
            lambda h, a: -owens_slope(h, a)))

# The Voigt profile is the real part of `wofz` in real numbers ------------------------------------

WOFZ = ForeignFunction("wofz", "z", "z")
TERMS = 64  # of the fraction: it has all digits where it is taken, and the next derivatives too


def faddeeva(k, x, height):
    """Derivative ``k`` of `wofz` above the real line. Far from the line, or from 0, the recurrence
    takes differences of nearly equal numbers; there the quotients of one derivative and the one
    before are a continued fraction."""
    z = complex(x, height)
    value, ratio = WOFZ(z), 0 * z
    if height > 2 or abs(z) > 8:
        for n in range(TERMS, 0, -1):
            ratio = -1 / (z + 0.5 * (n + 1) * ratio)
            value = value * n * ratio if n <= k else value
        return value
    j, last = 0.0, 0 * z
    for _ in range(int(k)):
        start = 2j / SQRT_PI if j == 0 else 0j
        last, value, j = value, start - 2 * (z * value + j * last), j + 1
    return value


def faddeeva_real(k, x, height):
    return faddeeva(k, x, height).real


def faddeeva_imag(k, x, height):
    return faddeeva(k, x, height).imag


SQRT_PI = math.sqrt(math.pi)
PARTS = {"scipy": "", "fixed": "k", "tried": ((1, 1), (-2, 2), (0.2, 2))}
declare("wofz_real", "k x height", "real part of derivative ``k`` of ``wofz(x + 1j * height)``",
        value=faddeeva_real, **PARTS,
        dx="wofz_real(k + 1, x, height)", dheight="-wofz_imag(k + 1, x, height)")
declare("wofz_imag", "k x height", "imaginary part of derivative ``k`` of `wofz`",
        value=faddeeva_imag, **PARTS,
        dx="wofz_imag(k + 1, x, height)", dheight="wofz_real(k + 1, x, height)")
PLACE = "SQRT_HALF * x / sigma, SQRT_HALF * gamma / sigma"
declare("voigt_profile", "x sigma gamma", "Voigt profile, a normal distribution of standard "
        "deviation ``sigma`` convolved with a Cauchy distribution of width ``gamma``",
        domain="sigma > 0, gamma > 0", tried=((-2, 2), (0.5, 2), (0.3, 2)),
        dx=("with z = (x + 1j * gamma) / (sqrt(2) * sigma), "
            "w' = 2j / sqrt(pi) - 2 * z * wofz(z): real(w') / (2 * sqrt(pi) * sigma**2)",
            f"0.5 * wofz_real(1.0, {PLACE}) / (SQRT_PI * sigma * sigma)"),
        dgamma=("-imag(w') / (2 * sqrt(pi) * sigma**2)",
                f"-0.5 * wofz_imag(1.0, {PLACE}) / (SQRT_PI * sigma * sigma)"),
        dsigma=("real(w'') / (2 * sqrt(2 * pi) * sigma**2)",
                f"0.5 * wofz_real(2.0, {PLACE}) / (SQRT_2PI * sigma * sigma)"))
