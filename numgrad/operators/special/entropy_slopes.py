"""The slopes of entropies and losses, as operators with slopes of their own.

A formula of a slope may be a difference of nearly equal numbers, or its next slope by the product
rule; what is here is none.
"""

import math

from ..elementwise.arithmetic import where
from ..elementwise.double_double import in_single
from .formulas import declare

INV_E, INV_E_REST = 0.36787944117144233, -1.2428753672788363e-17
INV_E_REST_SINGLE = -9.149755188170102e-09
LEAST, MOST = 1e-30, 1e30
"""Quotients beyond are taken apart."""


def quotient_or_0(x1, x2):
    """``x1 / x2``, 0 where both are."""
    empty = abs(x1) + abs(x2) == 0
    return where(empty, 0.0, x1 / where(empty, 1.0, x2))


def quotient_or_0_dx2(x1, x2, y):
    empty = abs(x1) + abs(x2) == 0
    return where(empty, 0.0, -y / where(empty, 1.0, x2))


def log_times_e(x):
    """``1 + log(x)``, with digits next to its zero."""
    lacking = INV_E_REST_SINGLE if in_single() else INV_E_REST
    d = (x - INV_E - lacking) / INV_E
    return where(abs(d) < 0.5, math.log1p(d), 1 + math.log(x))


def log_ratio(x1, x2):
    """``log(x1 / x2)``, with digits where that is next to 0, and where the quotient overflows."""
    d, q = x1 - x2, x1 / x2
    usual = where((q > LEAST) & (q < MOST), math.log(q), math.log(x1) - math.log(x2))
    is_near = (abs(d) < 0.5 * x2) & (x2 < math.inf)
    return where(is_near, math.log1p(d / where(is_near, x2, 1.0)), usual)


def ratio_gap(x1, x2):
    """``1 - x1 / x2``, 1 where both are 0."""
    empty = abs(x1) + abs(x2) == 0
    ratio = where(x2 == math.inf, 1 - x1 / x2, (x2 - x1) / where(empty, 1.0, x2))
    return where(empty, 1.0, ratio)


def pseudo_huber_r(delta, r):
    length = math.hypot(delta, r)
    far = where(abs(r) == math.inf, math.copysign(delta, r), r / length * delta)
    return where(length == 0, 0.0, where(abs(r) < delta, delta / length * r, far))


def pseudo_huber_delta(delta, r):
    """In which the length minus ``delta`` is no difference."""
    length = math.hypot(delta, r)
    excess = r / (length + delta) * r
    return where(length == 0, 0.0, excess / length * excess)


def pseudo_huber_delta_delta(delta, r):
    length = math.hypot(delta, r)
    excess = r / length * (r / (length + delta))
    return -(2 + delta / length) * excess * excess


def leg_cube(x1, x2):
    share = x1 / math.hypot(x1, x2)
    return share * share * share


def leg_cube_dx1(x1, x2):
    length = math.hypot(x1, x2)
    both = x1 / length * (x2 / length)
    return 3 * both * both / length


def leg_cube_dx2(x1, x2):
    length = math.hypot(x1, x2)
    share = x1 / length
    return -3 * share * share * share * (x2 / length) / length


declare("quotient_or_0", "x1 x2", "``x1 / x2``, 0 where both are", value=quotient_or_0,
        complex=quotient_or_0, scipy="", tried=((0.2, 2), (0.3, 2)), dx1="1 / x2",
        dx2=("-x1 / x2**2", quotient_or_0_dx2))
declare("logit_slope", "x", "slope of `logit`", value="1 / (x * (1 - x))",
        complex="1 / (x * (1 - x))", scipy="", tried=((0.1, 0.9),), dx="(x - (1 - x)) * y * y")
declare("log_times_e", "x", "``1 + log(x)``", value=log_times_e, scipy="", tried=((0.2, 2),),
        dx="1 / x")
declare("log_ratio", "x1 x2", "``log(x1 / x2)``", value=log_ratio, scipy="",
        tried=((0.2, 2), (0.3, 2)), dx1="1 / x1", dx2="-1 / x2")
declare("ratio_gap", "x1 x2", "``1 - x1 / x2``", value=ratio_gap, scipy="",
        tried=((0.2, 2), (0.3, 2)), dx1="-1 / x2",
        dx2="quotient_or_0(quotient_or_0(x1, x2), x2)")
declare("pseudo_huber_r", "delta r", "slope of `pseudo_huber`", value=pseudo_huber_r, scipy="",
        tried=((0.2, 2), (-3, 3)), ddelta="leg_cube(r, delta)", dr="leg_cube(delta, r)")
declare("leg_cube", "x1 x2", "``(x1 / hypot(x1, x2))**3``", value=leg_cube, scipy="",
        tried=((0.2, 2), (0.3, 2)),
        dx1=("3 * (x1 * x2)**2 / hypot(x1, x2)**5", leg_cube_dx1),
        dx2=("-3 * x1**3 * x2 / hypot(x1, x2)**5", leg_cube_dx2))
declare("pseudo_huber_delta", "delta r", "slope of `pseudo_huber`", value=pseudo_huber_delta,
        scipy="", tried=((0.2, 2), (-3, 3)), ddelta=(
            "-(2 + delta / h) * (1 - delta / h)**2, h = hypot(delta, r)", pseudo_huber_delta_delta),
        dr="leg_cube(r, delta)")
