"""Bessel and Airy functions: SciPy's values, recurrences for derivatives."""

import math
import re

from ...._declare.foreign import ForeignFunction
from ...elementwise.arithmetic import where
from ..formulas import NAMES, declare, whole
from . import airy, cylinder, modified

LINE, PLANE, ORDERS = ((0.3, 5),), ((0.2, 1.8), (0.4, 5)), ((2, 2), (0.4, 5))
ORDER = {"fixed": "v", "tried": PLANE}
FIRST, SECOND = "Bessel function of the first kind", "Bessel function of the second kind"

# Of the first and the second kind -----------------------------------------------------------------

# SciPy's functions of any order lose digits with the size of the argument, those of order 0 and 1
# lose none: far out the slopes of order 1 are made of these.

OUTER = 1e4


def j1_slope(x, y):
    outer = abs(x) > OUTER
    near = 0.5 * (j0(x) - jv(2.0, where(outer, 1.0, x)))
    return where(outer, j0(x) - where(outer, y, 0.0) / where(outer, x, 1.0), near)


def y1_slope(x, y):
    outer = x > OUTER
    near = 0.5 * (y0(x) - yv(2.0, where(outer, 1.0, x)))
    far_out = y0(x) - where(outer, y, 0.0) / where(outer, x, 1.0)
    return where(x == 0, math.inf, where(outer, far_out, near))


j0 = declare("j0", "x", f"{FIRST}, order 0", value=cylinder.j0, tried=LINE, dx="-j1(x)")
declare("j1", "x", f"{FIRST}, order 1", value=cylinder.j1, tried=LINE,
        dx=("0.5 * (j0(x) - jv(2.0, x))", j1_slope))
jv = declare("jv", "v z", f"{FIRST}, real order", complex="dz", **ORDER,
        dz="0.5 * (jv(v - 1, z) - jv(v + 1, z))")
declare("jve", "v z", "`jv` times ``exp(-abs(z.imag))``", **ORDER,
        dz="0.5 * (jve(v - 1, z) - jve(v + 1, z))")
y0 = declare("y0", "x", f"{SECOND}, order 0", value=cylinder.y0, domain="x >= 0", tried=LINE,
        dx="-y1(x)")
declare("y1", "x", f"{SECOND}, order 1", value=cylinder.y1, domain="x >= 0", tried=LINE,
        dx=("where(x == 0, math.inf, 0.5 * (y0(x) - yv(2.0, x)))", y1_slope))
declare("yn", "n x", f"{SECOND}, integer order", domain="x >= 0", fixed="n", tried=ORDERS,
        value="nd",
        dx="0.5 * (yn(n - 1, x) - yn(n + 1, x))")
yv = declare("yv", "v z", f"{SECOND}, real order", complex="dz", domain="z >= 0 or complex",
        **ORDER, dz="0.5 * (yv(v - 1, z) - yv(v + 1, z))")
declare("yve", "v z", "`yv` times ``exp(-abs(z.imag))``", domain="z >= 0", **ORDER,
        dz="0.5 * (yve(v - 1, z) - yve(v + 1, z))")
declare("hankel1", "v z", "Hankel function of the first kind, ``jv + 1j * yv``",
        value=ForeignFunction("hankel1", "dz", "z"), complex="dz", gives_complex=True, **ORDER,
        dz="0.5 * (hankel1(v - 1, z) - hankel1(v + 1, z))")
declare("hankel2", "v z", "Hankel function of the second kind, ``jv - 1j * yv``",
        value=ForeignFunction("hankel2", "dz", "z"), complex="dz", gives_complex=True, **ORDER,
        dz="0.5 * (hankel2(v - 1, z) - hankel2(v + 1, z))")

# Modified -----------------------------------------------------------------------------------------

declare("i0", "x", f"modified {FIRST}, order 0", value=modified.i0, tried=LINE, dx="i1(x)")
declare("i1", "x", f"modified {FIRST}, order 1", value=modified.i1, tried=LINE,
        dx=("0.5 * (i0(x) + iv(2.0, x))", "0.5 * (i0(x) + i2(x))"))
declare("i2", "x", f"modified {FIRST}, order 2", value=modified.i2, scipy="", tried=LINE,
        dx="0.5 * (i1(x) + iv(3.0, x))")
declare("iv", "v z", f"modified {FIRST}, real order", complex="dz", **ORDER,
        dz="0.5 * (iv(v - 1, z) + iv(v + 1, z))")
declare("k0", "x", f"modified {SECOND}, order 0", domain="x >= 0", tried=LINE, dx="-k1(x)")
declare("k1", "x", f"modified {SECOND}, order 1", domain="x >= 0", tried=LINE,
        dx="-0.5 * (k0(x) + kv(2.0, x))")
declare("kn", "n x", f"modified {SECOND}, integer order", domain="x >= 0", fixed="n",
        value="nd", tried=ORDERS, dx="-0.5 * (kv(n - 1, x) + kv(n + 1, x))")
declare("kv", "v z", f"modified {SECOND}, real order", complex="dz", domain="z >= 0 or complex",
        **ORDER, dz="-0.5 * (kv(v - 1, z) + kv(v + 1, z))")

# The derivative of a scaled function is a difference of nearly equal numbers where its argument is
# large. There it is the function times the quotient of two asymptotic series.

FAR = 40.0


def far(v, z):
    """Whether the asymptotic series are to be used."""
    return abs(z) > FAR + 4 * abs(v * v)


def far_slope(v, z, turn):
    """The logarithmic derivative of `ive` (turn -1) or `kve` (turn 1) for large arguments.

    At infinity, where it is 0, it is any number: the functions and all derivatives are 0 there.
    """
    z = where(abs(z) < math.inf, z, 4 * FAR)
    z = where(far(v, z), z, z + 2 * FAR)  # where the other branch is taken, only finite
    inverse = 1 / z
    value, slope, term, k = 1.0, 0.5, 1.0, 0.5
    for _ in range(14):
        term = turn * term * ((v * v - k * k) / (2 * k + 1)) * inverse
        value = value + term
        slope = slope + (k + 1) * term
        k = k + 1.0
    return -slope / (z * value)


def near(v, x):
    """A real argument, but 1 where the asymptotic series are used: SciPy's functions, of which the
    other branch is made, are NaN for arguments beyond 1e9."""
    return where(far(v, x), 1.0, x)


NAMES.update(far=far, far_slope=far_slope, near=near)

declare("ive", "v z", "`iv` times ``exp(-abs(z.real))``", **ORDER,
        dz=("(ive(v - 1, z) + ive(v + 1, z)) / 2 - sign(z) * ive(v, z)",
            "where(far(v, z), y * sign(z) * far_slope(v, abs(z), -1.0),"
            " 0.5 * (ive(v - 1, near(v, z)) + ive(v + 1, near(v, z))) - sign(z) * y)"))
i0e = declare("i0e", "x", "`i0` times ``exp(-abs(x))``", value=modified.i0e, tried=LINE,
        dx=("i1e(x) - sign(x) * i0e(x)",
            "where(far(0.0, x), y * sign(x) * far_slope(0.0, abs(x), -1.0),"
            " i1e(near(0.0, x)) - sign(x) * y)"))
declare("i1e", "x", "`i1` times ``exp(-abs(x))``", value=modified.i1e, tried=LINE,
        dx=("(i0e(x) + ive(2.0, x)) / 2 - sign(x) * i1e(x)",
            "where(far(1.0, x), y * sign(x) * far_slope(1.0, abs(x), -1.0),"
            " 0.5 * (i0e(near(1.0, x)) + i2e(near(1.0, x))) - sign(x) * y)"))
declare("i2e", "x", "`i2` times ``exp(-abs(x))``", value=modified.i2e, scipy="", tried=LINE,
        dx=("(i1e(x) + ive(3.0, x)) / 2 - sign(x) * i2e(x)",
            "where(far(2.0, x), y * sign(x) * far_slope(2.0, abs(x), -1.0),"
            " 0.5 * (i1e(near(2.0, x)) + ive(3.0, near(2.0, x))) - sign(x) * y)"))
declare("kve", "v z", "`kv` times ``exp(z)``", complex="dz", domain="z >= 0 or complex", **ORDER,
        dz=("kve(v, z) - (kve(v - 1, z) + kve(v + 1, z)) / 2",
            "where(far(v, z), y * far_slope(v, z, 1.0),"
            " y - 0.5 * (kve(v - 1, z) + kve(v + 1, z)))"))
declare("k0e", "x", "`k0` times ``exp(x)``", domain="x >= 0", tried=LINE,
        dx=("k0e(x) - k1e(x)",
            "where(far(0.0, x), y * far_slope(0.0, x, 1.0), y - k1e(near(0.0, x)))"))
declare("k1e", "x", "`k1` times ``exp(x)``", domain="x >= 0", tried=LINE,
        dx=("k1e(x) - (k0e(x) + kve(2.0, x)) / 2",
            "where(far(1.0, x), y * far_slope(1.0, x, 1.0),"
            " y - 0.5 * (k0e(near(1.0, x)) + kve(2.0, near(1.0, x))))"))

# Spherical ----------------------------------------------------------------------------------------


def below(n):
    """The order below ``n``, which is not asked for below 0: it is multiplied with 0 there."""
    return where(n == 0, n, n - 1)


NAMES.update(below=below)


def reflected(name):
    """The value for real numbers of both signs; SciPy's function is for positive ones."""
    value = ForeignFunction(name, "nd")

    def same(n, z):
        n = whole(n)
        y = value(n, abs(z))
        return where(z < 0, (1 - 2 * (n % 2)) * y, y)

    def opposite(n, z):
        n = whole(n)
        y = value(n, abs(z))
        return where(z < 0, (2 * (n % 2) - 1) * y, y)

    return {"spherical_yn": opposite, "spherical_kn": value}.get(name, same)


for _letter, _about, _formula in (
    ("j", FIRST, "(n * {0}(below(n), z) - (n + 1) * {0}(n + 1, z)) / (2 * n + 1)"),
    ("y", SECOND, "(n * {0}(below(n), z) - (n + 1) * {0}(n + 1, z)) / (2 * n + 1)"),
    ("i", f"modified {FIRST}", "(n * {0}(below(n), z) + (n + 1) * {0}(n + 1, z)) / (2 * n + 1)"),
    ("k", f"modified {SECOND}", "-(n * {0}(below(n), z) + (n + 1) * {0}(n + 1, z)) / (2 * n + 1)"),
):
    _name = f"spherical_{_letter}n"
    declare(_name, "n z", f"spherical {_about}", value=reflected(_name), complex="nz",
            fixed="n", tried=ORDERS, dz=(_formula.format(_name).replace("below(n)", "n - 1"),
                                         re.sub(r"\bn\b", "whole(n)", _formula.format(_name))))

# Airy ---------------------------------------------------------------------------------------------

for _place, (_name, _about, _formula) in enumerate((
    ("airy_ai", "Airy function Ai", "airy_aip(x)"),
    ("airy_aip", "derivative of the Airy function Ai", "x * airy_ai(x)"),
    ("airy_bi", "Airy function Bi", "airy_bip(x)"),
    ("airy_bip", "derivative of the Airy function Bi", "x * airy_bi(x)"),
)):
    declare(_name, "x", _about, value=getattr(airy, _name), scipy="airy",
            complex=ForeignFunction("airy", "z", "z", 4, _place), tried=((-3, 2),), dx=_formula)

# Struve -------------------------------------------------------------------------------------------

# With the sign of the gamma function; `gammasgn` has none at the poles, where the term is 0.
STRUVE = (
    "(0.5 - where(v < -1.5, math.floor(v + 1.5), 0 * v) % 2)"
    " * math.exp(xlogy(v, 0.5 * x) - gammaln(v + 1.5)) / SQRT_PI"
)
declare("struve", "v x", "Struve function", domain="x > 0", **ORDER,
        dx=f"0.5 * (struve(v - 1, x) - struve(v + 1, x)) + {STRUVE}")
declare("modstruve", "v x", "modified Struve function", domain="x > 0", **ORDER,
        dx=f"0.5 * (modstruve(v - 1, x) + modstruve(v + 1, x)) + {STRUVE}")
