"""Exponential, trigonometric and elliptic integrals, elliptic functions, Lambert's function."""

import math

from ...._declare.foreign import ForeignFunction
from ...elementwise.arithmetic import where
from ...elementwise.double_double import exp_of, product_rest
from ..formulas import declare
from ..hypergeometric.hypergeometric import hyp2f1
from ..hypergeometric.lambert import lambert, omega
from .fresnel import fresnel_c, fresnel_cosine, fresnel_s, fresnel_sine
from .integral_parts import cosine_integral, hyperbolic_sine_integral

LINE = ((0.3, 4),)
SQRT_2PI = math.sqrt(2 * math.pi)
OWN = {"fresnel_s": fresnel_s, "fresnel_c": fresnel_c, "sici_ci": cosine_integral,
       "shichi_shi": hyperbolic_sine_integral}  # fmt: skip

declare("expi", "x", "exponential integral Ei", complex="z", tried=LINE,
        dx=("math.exp(x) / x", "math.exp(x) / where(abs(x) == math.inf, 1.0, x)"))
declare("exp1", "x", "exponential integral E1", complex="z", domain="x > 0 or complex", tried=LINE,
        dx="-math.exp(-x) / x")
declare("expn", "n x", "exponential integral of order ``n``", domain="n >= 0, x >= 0",
        value="nd", fixed="n", tried=((2, 2), (0.3, 4)),
        dx=("-expn(n - 1, x)", "where(n == 0, -y * (1 + 1 / x), -expn(abs(n - 1), x))"))
for _place, (_name, _of, _about, _formula) in enumerate((
    ("sici_si", "sici", "sine integral", "spherical_jn(0.0, x)"),
    ("sici_ci", "sici", "cosine integral", "math.cos(x) / x"),
    ("shichi_shi", "shichi", "hyperbolic sine integral", "spherical_in(0.0, x)"),
    ("shichi_chi", "shichi", "hyperbolic cosine integral", "math.cosh(x) / x"),
    ("fresnel_s", "fresnel", "Fresnel's sine integral",
     ("math.sin(0.5 * math.pi * x * x)", "fresnel_sine(x)")),
    ("fresnel_c", "fresnel", "Fresnel's cosine integral",
     ("math.cos(0.5 * math.pi * x * x)", "fresnel_cosine(x)")),
)):
    declare(_name, "x", _about, scipy=_of,
            value=OWN.get(_name, ForeignFunction(_of, "d", "d", 2, _place % 2)),
            complex=ForeignFunction(_of, "z", "z", 2, _place % 2), tried=LINE, dx=_formula)
declare("fresnel_sine", "x", "slope of `fresnel_s`", value=fresnel_sine, scipy="", tried=LINE,
        complex="math.sin(0.5 * math.pi * x * x)", dx="math.pi * x * fresnel_cosine(x)")
declare("fresnel_cosine", "x", "slope of `fresnel_c`", value=fresnel_cosine, scipy="", tried=LINE,
        complex="math.cos(0.5 * math.pi * x * x)", dx="-math.pi * x * fresnel_sine(x)")
declare("spence", "x", "Spence's function, the integral of ``log(t) / (1 - t)`` from 1",
        complex="z", domain="x >= 0 or complex", tried=((0.2, 0.8),),
        dx=("log(x) / (1 - x), -1 at 1",
            "where(abs(x - 1) < 0.5, -hyp2f1(1.0, 1.0, 2.0, where(abs(x - 1) < 0.5, 1 - x, 0.0)), "
            "math.log(x) / where(abs(x - 1) < 0.5, 1.0, 1 - x))"))


BEYOND = 40.0
"""From here on the survival function is 0."""

BELOW = 0.03
"""Up to here the survival function is 1: all terms of the series underflow."""


def kolmogorov_survival(x):
    """The series of `kolmogorov_slope`, integrated; large arguments have large exponents."""
    if not x > BELOW:
        return where(x == x, 1.0, x)
    total, k, sign = 0.0, 1.0, 2.0
    if x < 0.8:
        for _ in range(4):
            odd = (k - 0.5) * math.pi / x
            total += math.exp(-0.5 * odd * odd)
            k += 1
        return 1 - SQRT_2PI / x * total
    if x > BEYOND:
        return 0.0
    square, rest = x * x, product_rest(x, x)
    for _ in range(7):
        total += sign * exp_of(-2 * k * k * square, -2 * k * k * rest)
        k, sign = k + 1, -sign
    return total


def kolmogorov_slope(x):
    """Two series: one of a few terms for large arguments, one for small ones."""
    low = x < 0.8
    z = where(low, where(x > BELOW, x, 1.0), 1.0)
    x = where(x < BEYOND, x, BEYOND)
    near, far, k, turn = 0.0, 0.0, 1.0, 8.0
    for _ in range(7):
        odd = (k - 0.5) * math.pi / z
        near = near + math.exp(-0.5 * odd * odd) * (odd * odd - 1)
        far = far + turn * k * k * math.exp(-2 * k * k * x * x)
        k, turn = k + 1.0, -turn
    near = near * SQRT_2PI / (z * z)
    return -where(low, where(x > BELOW, near, 0.0), x * far)


declare("kolmogorov", "x", "limit of Kolmogorov's distribution, its survival function",
        value=kolmogorov_survival, domain="x >= 0", tried=((0.3, 1.5),),
        dx=("-8 * x * sum((-1)**(k - 1) * k**2 * exp(-2 * k**2 * x**2))", kolmogorov_slope))

# Elliptic -----------------------------------------------------------------------------------------

MODULUS = {"domain": "m < 1", "tried": ((-0.9, 0.9),)}
COMPLEMENT = {"domain": "p > 0", "tried": ((0.2, 0.9),)}

# A slope is a quotient of differences, which cancel next to ``m = 0``. There it is a hypergeometric
# function, of which SciPy's numbers are infinite for large arguments and next to 1.

def ellipk_slope(m, y):
    far = ((m < -2) & (m > -math.inf)) | ((m > 0.8) & (m < 1))
    out, near = where(far, m, -2.0), where(far | (m == -math.inf), 0.0, m)
    quotient = (ellipe(out) / (1 - out) - where(far, y, 1.0)) / (2 * out)
    series = math.pi / 8 * hyp2f1(0.5, 0.5, 2.0, near) / (1 - near)
    return where(far, quotient, where(m == -math.inf, 0.0, series))


def ellipe_slope(m, y):
    far = ((m < -2) & (m > -math.inf)) | ((m > 0.8) & (m < 1))
    out, near = where(far, m, -2.0), where(far | (m == -math.inf), 0.0, m)
    quotient = (where(far, y, 1.0) - ellipk(out)) / (2 * out)
    series = -math.pi / 8 * hyp2f1(0.5, 1.5, 2.0, near)
    return where(far, quotient, where(m == -math.inf, 0.0, series))


def ellipkm1_slope(p, y):
    far = ((p > 3) & (p < math.inf)) | ((p < 0.2) & (p > 0))
    out, near = where(far, p, 3.0), where(far | (p == math.inf), 1.0, p)
    quotient = (ellipem1(out) / out - where(far, y, 1.0)) / (2 * (1 - out))
    series = math.pi / 8 * hyp2f1(0.5, 0.5, 2.0, 1 - near) / near
    return -where(far, quotient, where(p == math.inf, 0.0, series))


def ellipem1_slope(p, y):
    far = ((p > 3) & (p < math.inf)) | ((p < 0.2) & (p > 0))
    out, near = where(far, p, 3.0), where(far | (p == math.inf), 1.0, p)
    quotient = (where(far, y, 1.0) - ellipkm1(out)) / (2 * (1 - out))
    series = -math.pi / 8 * hyp2f1(0.5, 1.5, 2.0, 1 - near)
    return -where(far, quotient, where(p == math.inf, 0.0, series))


ellipk = declare("ellipk", "m", "complete elliptic integral of the first kind", **MODULUS,
        dm=("(ellipe(m) / (1 - m) - ellipk(m)) / (2 * m)", ellipk_slope))
ellipe = declare("ellipe", "m", "complete elliptic integral of the second kind", **MODULUS,
        dm=("(ellipe(m) - ellipk(m)) / (2 * m)", ellipe_slope))
ellipkm1 = declare("ellipkm1", "p", "complete elliptic integral of the first kind of ``1 - p``",
        **COMPLEMENT,
        dp=("-(ellipe(1 - p) / p - ellipk(1 - p)) / (2 * (1 - p))", ellipkm1_slope))
ellipem1 = declare("ellipem1", "p", "`ellipe` of ``1 - p``", value="ellipe(1 - p)", scipy="",
        **COMPLEMENT, dp=("-(ellipe(1 - p) - ellipk(1 - p)) / (2 * (1 - p))", ellipem1_slope))


def within(phi):
    """The number of half turns nearest to an angle, and what is left of it."""
    turns = round(phi / math.pi)
    return turns, phi - turns * math.pi


def ellipkinc_slope(phi, m):
    """Carlson's form of half the integral of ``sin(t)**2 / (1 - m * sin(t)**2)**1.5``."""
    turns, rest = within(phi)
    s, c = math.sin(rest), math.cos(rest)
    part = s * s * s / 6 * ELLIPRD(c * c, 1.0, 1 - m * s * s)
    return part if turns == 0 else part + turns * math.pi / 4 * HYP(0.5, 0.5, 2.0, m) / (1 - m)


def ellipeinc_slope(phi, m):
    """Carlson's form of minus half the integral of ``sin(t)**2 / sqrt(1 - m * sin(t)**2)``."""
    turns, rest = within(phi)
    s, c = math.sin(rest), math.cos(rest)
    part = s * s * s / 6 * ELLIPRD(c * c, 1 - m * s * s, 1.0)
    return -part if turns == 0 else -part - turns * math.pi / 4 * HYP(0.5, 1.5, 2.0, m)


ELLIPRD, HYP = ForeignFunction("elliprd", "ddd"), ForeignFunction("hyp2f1", "dddd")
declare("ellipkinc_m", "phi m", "slope of `ellipkinc` in ``m``", value=ellipkinc_slope, scipy="",
        fixed="m", tried=((-1.4, 1.4), (-0.9, 0.9)),
        dphi="0.5 * math.sin(phi)**2 / (1 - m * math.sin(phi)**2)**1.5")
declare("ellipeinc_m", "phi m", "slope of `ellipeinc` in ``m``", value=ellipeinc_slope, scipy="",
        fixed="m", tried=((-1.4, 1.4), (-0.9, 0.9)),
        dphi="-0.5 * math.sin(phi)**2 / math.sqrt(1 - m * math.sin(phi)**2)")
declare("ellipkinc", "phi m", "incomplete elliptic integral of the first kind",
        once="m", tried=((-1.4, 1.4), (-0.9, 0.9)),
        dphi="1 / math.sqrt(1 - m * math.sin(phi) * math.sin(phi))",
        dm=("(ellipeinc(phi, m) / (1 - m) - ellipkinc(phi, m)) / (2 * m)"
            " - sin(2 * phi) / (4 * (1 - m) * sqrt(1 - m * sin(phi)**2))", "ellipkinc_m(phi, m)"))
declare("ellipeinc", "phi m", "incomplete elliptic integral of the second kind",
        once="m", tried=((-1.4, 1.4), (-0.9, 0.9)),
        dphi="math.sqrt(1 - m * math.sin(phi) * math.sin(phi))",
        dm=("(ellipeinc(phi, m) - ellipkinc(phi, m)) / (2 * m)", "ellipeinc_m(phi, m)"))
for _place, (_name, _about, _formula) in enumerate((
    ("ellipj_sn", "elliptic function sn", "ellipj_cn(u, m) * ellipj_dn(u, m)"),
    ("ellipj_cn", "elliptic function cn", "-ellipj_sn(u, m) * ellipj_dn(u, m)"),
    ("ellipj_dn", "elliptic function dn", "-m * ellipj_sn(u, m) * ellipj_cn(u, m)"),
    ("ellipj_ph", "amplitude of the elliptic functions", "ellipj_dn(u, m)"),
)):
    declare(_name, "u m", _about, value=ForeignFunction("ellipj", "dd", "d", 4, _place),
            scipy="ellipj", domain="0 <= m <= 1", fixed="m", tried=((-2, 2), (0.1, 0.9)),
            du=_formula)

# Lambert's function -------------------------------------------------------------------------------

def omega_slope(y):
    """Of large values by their reciprocals, so that no slope of the slope is a difference."""
    far = abs(y) > 1
    out, near = where(far, y, 1.0), where(far, 1.0, y)
    return where(far, 1 / (1 + 1 / out), near / (1 + near))


declare("lambertw", "z k", "Lambert's function, branch ``k``: ``w * exp(w) == z``",
        value=lambert, complex=lambert, gives_complex=True, scipy="", fixed="k",
        tried=((0.5, 3), (0, 0)),
        dz=("w / (z * (1 + w))", "math.exp(-y) / (1 + y)"))
declare("wrightomega", "z", "Wright's omega function, ``w + log(w) == z``", value=omega,
        complex="z", tried=((-2, 3),), dz=("y / (1 + y)", omega_slope))
