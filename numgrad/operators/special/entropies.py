"""Logarithms and powers with their limits: entropies, losses, transforms; angles in degrees."""

from ..._declare.foreign import ForeignFunction
from ..elementwise.degrees import cotangent, tangent
from . import entropy_slopes as _entropy_slopes  # noqa: F401  formulas name what is there
from .formulas import declare

POSITIVE = {"domain": "x > 0", "tried": ((0.2, 2),)}
BOTH = {"domain": "x1 >= 0, x2 >= 0", "tried": ((0.2, 2), (0.3, 2))}

xlogy = declare("xlogy", "x1 x2", "``x1 * log(x2)``, and 0 where ``x1`` is 0",
        value="x1 * math.log(where(x1 == 0, where(x2 == x2, 1.0, x2), x2))",  # x2 == x2: not NaN
        complex=ForeignFunction("xlogy", "zz", "z"), domain="x2 > 0 or complex", tried=((0.2, 2),),
        dx1="math.log(x2)", dx2=("x1 / x2", "quotient_or_0(x1, x2)"))
xlog1py = declare("xlog1py", "x1 x2", "``x1 * log1p(x2)``, and 0 where ``x1`` is 0",
        value="x1 * math.log1p(where(x1 == 0, where(x2 == x2, 0.0, x2), x2))",
        complex=ForeignFunction("xlog1py", "zz", "z"), domain="x2 > -1 or complex",
        tried=((-0.5, 2),), dx1="log1p(x2)", dx2=("x1 / (1 + x2)", "quotient_or_0(x1, 1 + x2)"))

# Powers of 0, for densities at the ends of their support; elsewhere there is nothing to compute.

_AT_ZERO = "where(x == 0, where(p > 0, 0.0, where(p {}, {}, p)), 0.0)"
_MIXED = ("where(x == 0, where(p > 2, 0.0, where(p > 1, xlogy(x, x),"  # 0, with infinite slopes
        " where(p > 0, -math.inf, where(p <= 0, math.inf, p)))), 0.0)")
_PLACE = {"scipy": "", "tried": ((0.2, 2),)}

declare("power_of_zero", "x p", "``x**p`` where ``x`` is 0, and 1 elsewhere", **_PLACE,
        value="where(x == 0,"
        " where(p > 0, 0.0, where(p == 0, 1.0, where(p < 0, math.inf, p))), 1.0)",
        dx="power_of_zero_dx(x, p)", dp="power_of_zero_dp(x, p)")
declare("power_of_zero_dx", "x p", "slope of `power_of_zero`", **_PLACE,
        value="where(x == 0, where(p > 1, 0.0,"
        " where(p == 1, 1.0, where(p == 0, 0.0, p * math.inf))), 0.0)",
        dx="p * power_of_zero_dx(where(p == 0, 1.0, x), p - 1)", dp=_MIXED)
declare("power_of_zero_dp", "x p", "slope of `power_of_zero`", **_PLACE,
        value=_AT_ZERO.format("<= 0", "-math.inf"), dx=_MIXED,
        dp=_AT_ZERO.format("<= 0", "math.inf"))

declare("logit", "x", "``log(x / (1 - x))``, the inverse of `expit`",
        value="where(abs(x - 0.5) < 0.2, math.log1p(2 * (x - 0.5)) - math.log1p(-2 * (x - 0.5)),"
        " math.log(x) - math.log1p(-x))", complex="math.log(x) - math.log(1 - x)",
        domain="0 <= x <= 1 or complex", tried=((0.1, 0.9),),
        dx=("1 / (x * (1 - x))", "logit_slope(x)"))
declare("entr", "x", "``-x * log(x)``, 0 at 0 and minus infinity below", domain="x >= 0",
        value="where(x > 0, -x * math.log(x), where(x == 0, 0.0, where(x < 0, -math.inf, x)))",
        tried=((0.2, 2),), dx=("-1 - math.log(x)", "-log_times_e(x)"))
declare("rel_entr", "x1 x2", "``x1 * log(x1 / x2)``, 0 where ``x1`` is 0", **BOTH,
        dx1=("1 + math.log(x1 / x2)", "1 + log_ratio(x1, x2)"),
        dx2=("-x1 / x2", "-quotient_or_0(x1, x2)"))
declare("kl_div", "x1 x2", "``x1 * log(x1 / x2) - x1 + x2``", **BOTH,
        dx1=("math.log(x1 / x2)", "log_ratio(x1, x2)"),
        dx2=("1 - x1 / x2", "ratio_gap(x1, x2)"))


declare("huber", "delta r", "Huber's loss: ``r**2 / 2`` for ``abs(r) <= delta``, linear beyond",
        value="where(delta < 0, math.inf, where(abs(r) <= delta, 0.5 * r * r,"
        " delta * (abs(r) - 0.5 * delta)))", domain="delta >= 0", tried=((0.2, 2), (-3, 3)),
        ddelta="where(abs(r) <= delta, 0.0, abs(r) - delta)",
        dr="where(abs(r) <= delta, r, delta * sign(r))")
declare("pseudo_huber", "delta r", "``delta**2 * (sqrt(1 + (r / delta)**2) - 1)``",
        value="where(delta < 0, math.inf, where(delta == 0, 0.0, where(r == 0, 0.0,"
        " delta * abs(r) / (delta / abs(r) + math.hypot(delta / abs(r), 1.0)))))",
        domain="delta >= 0",  # no difference of numbers that are nearly equal
        tried=((0.2, 2), (-3, 3)),
        dr=("delta * r / hypot(delta, r)", "pseudo_huber_r(delta, r)"),
        ddelta=("(hypot(delta, r) - delta)**2 / hypot(delta, r)", "pseudo_huber_delta(delta, r)"))

# Transforms of Box and Cox. With L = log(x) the first is L * exprel(lmbda * L), and so on.

LAMBDA = ((0.3, 2), (-1, 2))
_OUT = "where(lmbda * x > 2.0, lmbda * x, 2.0)"
_BENT = (f"where(lmbda * x > 2.0, 2 * (log1p({_OUT}) - {_OUT} / (1 + {_OUT})) / {_OUT} / {_OUT},"
         " hyp2f1(2.0, 2.0, 3.0, -where(lmbda * x > 2.0, 0.0, lmbda * x)))")
"""``hyp2f1(2, 2, 3, -lmbda * x)``, which is elementary, but a difference next to 0."""
declare("exprel", "x", "``expm1(x) / x``, 1 at 0", tried=((-2, 2),), dx="0.5 * hyp1f1(2.0, 3.0, x)")
declare("boxcox", "x lmbda", "Box-Cox transform ``(x**lmbda - 1) / lmbda``, ``log(x)`` at 0",
        domain="x > 0", tried=LAMBDA, dx=("x ** (lmbda - 1)", "lower_power(x, lmbda, 1.0)"),
        dlmbda=("(x**lmbda * log(x) - boxcox(x, lmbda)) / lmbda",
                "0.5 * math.log(x) * math.log(x) * hyp1f1(2.0, 3.0, lmbda * math.log(x))"))
declare("boxcox1p_slope", "x lmbda", "slope of `boxcox1p`", scipy="", domain="x > -1", tried=LAMBDA,
        value="lower_power(1 + x, lmbda, 1.0)", dx="(lmbda - 1) * y / (1 + x)",
        dlmbda="y * log1p(x)")
declare("boxcox1p", "x lmbda", "`boxcox` of ``1 + x``", domain="x > -1", tried=LAMBDA,
        dx=("(1 + x) ** (lmbda - 1)", "boxcox1p_slope(x, lmbda)"),
        dlmbda=("((1 + x)**lmbda * log1p(x) - boxcox1p(x, lmbda)) / lmbda",
                "0.5 * math.log1p(x) * math.log1p(x) * hyp1f1(2.0, 3.0, lmbda * math.log1p(x))"))
declare("inv_boxcox", "x lmbda", "inverse of `boxcox` in its first argument",
        domain="lmbda * x > -1", tried=((-0.4, 0.8), (-0.9, 2)), dx="y / (1 + lmbda * x)",
        dlmbda=("y * (x / (1 + lmbda * x) - log1p(lmbda * x) / lmbda) / lmbda",
                f"-0.5 * y * x * x * {_BENT}"))
declare("inv_boxcox1p", "x lmbda", "inverse of `boxcox1p` in its first argument",
        domain="lmbda * x > -1", tried=((-0.4, 0.8), (-0.9, 2)),
        dx="(1 + y) / (1 + lmbda * x)",
        dlmbda=("(1 + y) * (x / (1 + lmbda * x) - log1p(lmbda * x) / lmbda) / lmbda",
                f"-0.5 * (1 + y) * x * x * {_BENT}"))

# Others -------------------------------------------------------------------------------------------

declare("exp10", "x", "``10**x``", tried=((-2, 2),), dx="LN10 * y")
declare("cosm1", "x", "``cos(x) - 1``, precise near 0", tried=((-2, 2),), dx="-math.sin(x)")
declare("sindg", "x", "sine of an angle in degrees", tried=((-80, 80),), dx="DEGREE * cosdg(x)")
declare("cosdg", "x", "cosine of an angle in degrees", tried=((-80, 80),), dx="-DEGREE * sindg(x)")
declare("tandg", "x", "tangent of an angle in degrees", value=tangent, tried=((-80, 80),),
        dx="DEGREE * (1 + y * y)")
declare("cotdg", "x", "cotangent of an angle in degrees", value=cotangent, tried=((10, 80),),
        dx="-DEGREE * (1 + y * y)")
declare("radian", "d m s", "angle in radians from degrees, minutes and seconds", tried=((1, 50),),
        dd="DEGREE", dm="DEGREE / 60", ds="DEGREE / 3600")
