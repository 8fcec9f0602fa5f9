"""Elementwise operators: powers, roots and the length of a vector."""

import math

import numpy as np

from .arithmetic import builtin, multiply, where
from .cofactors import smooth
from .double_double import sum_rest
from .kinks import at_kink


@builtin(numpy=np.square)
def square(x):
    return x * x


@square.partial("x")
def square_dx(x):
    return 2 * x


@builtin
def cube(x):
    return x * x * x


@cube.partial("x")
def cube_dx(x):
    return 3 * x * x


@builtin
def sqrt(x):
    return math.sqrt(x)


@sqrt.partial("x")
def sqrt_dx(y):
    return 0.5 * (1 / y)  # the bits of 0.5 / y; a kernel that needs 1 / y too divides once


@builtin(name="root_of_sum", complex=False)
def root_of_sum(x):
    """The square root of a sum of squares: its slope at 0 is 0, the middle of the cone."""
    return math.sqrt(x)


@root_of_sum.partial("x")
def root_of_sum_dx(y):
    return at_kink(y == 0, 0.5 * (1 / y))


@root_of_sum.pullback
def root_of_sum_pullback(context, g):
    found = smooth(
        context, context.output(), g,
        lambda h: multiply(h, 0.5), lambda y: multiply(g, 0.5 * (1 / y)),
    )  # fmt: skip
    return root_of_sum.partials[0].apply(context, g) if found is None else found


@builtin(complex=False)
def kinked_power(x1, x2):
    """A power of a size, or a root of a sum of such: its slope at 0 is 0, as that of ``abs``.

    The exponent is the order of a norm, a number: there is no slope in it.
    """
    return x1**x2


@kinked_power.partial("x1")
def kinked_power_dx1(x1, x2):
    return at_kink(x1 == 0, x2 * x1 ** (x2 - 1))


@builtin(complex=False)
def cbrt(x):
    return math.cbrt(x)


@builtin(complex=False)
def cbrt_slope(x):
    return cbrt_quotient(x, math.cbrt(x))


@cbrt_slope.partial("x")
def cbrt_slope_dx(x, y):
    return -(2 / 3) * y / x


@cbrt.partial("x")
def cbrt_dx(x, y):
    return cbrt_quotient(x, y)


def cbrt_quotient(x, y):
    return where(x == 0, math.inf, where(abs(x) == math.inf, 0.0, y / x / 3))


cbrt_dx.on_tensors = lambda x, y: cbrt_slope(x)
cbrt_slope.lower_as(cbrt.partials[0])


# ``power``, because a global ``pow`` would hide the builtin. The registry has the name of ``math``.


def whole_power(x1, x2):
    """A power of integers that wraps around; Numba makes it of floats where ``x2`` is large.

    A negative one is refused, as by NumPy: there is no integer for it.
    """
    if x2 < 0:
        raise ValueError
    if x2 <= 65536:
        return x1**x2
    result = x1 ** (x2 ^ x2)
    square, rest = x1 * result, x2 ^ (x2 ^ x2)
    while rest > 0:
        if rest & 1:
            result = result * square
        square = square * square
        rest = rest >> 1
    return result


_NEGATIVE = (  # NumPy's words first, which it raises eagerly
    "Integers to negative integer powers are not allowed. Convert the base, with .astype(float)"
)


@builtin(name="pow", numpy=np.power, integers=whole_power, refuses=_NEGATIVE)
def power(x1, x2):
    return x1**x2


@builtin
def lower_power(x1, x2, k):
    """``x1**(x2 - k)``, with what ``x2 - k`` lacks: the error is so many logarithms."""
    power, rest = x1 ** (x2 - k), sum_rest(x2, -k) * math.log(x1)
    is_small = (abs(rest) < 1) & (abs(power) < math.inf)
    return where(is_small, power + power * rest, power)


@lower_power.partial("x1")
def lower_power_dx1(x1, x2, k):
    constant = x2 == k
    return where(constant, 0.0, (x2 - k) * lower_power(x1, where(constant, k + 1, x2), k + 1))


@lower_power.partial("x2")
def lower_power_dx2(x1, y):
    return where((x1 == 0) & (y == 0), 0.0, y * math.log(x1))


@lower_power.partial("k")
def lower_power_dk(x1, y):
    return -where((x1 == 0) & (y == 0), 0.0, y * math.log(x1))


# The slopes of a power are operators, so that its mixed slopes are one function, at 0 its limit.


@builtin
def base_slope(x1, x2):
    return slope_in_base(x1, x2, x1**x2)


def slope_in_base(x1, x2, y):
    if x1 != 0 and LEAST < abs(y) < MOST and abs(y / x1) < math.inf:
        return x2 * (y / x1)
    # x1**0 is constant in x1, and 0 * x1**-1 would be NaN where that is infinite.
    constant = (x2 == 0) & (abs(1 / x1) == math.inf)
    return x2 * where(constant, 1.0, lower_power(x1, x2, 1.0))


LEAST, MOST = 1e-30, 1e30
"""Between these a power has all its digits in either precision."""


@builtin
def exponent_slope(x1, x2):
    return logarithms(x1, x1**x2)


def logarithms(x1, y):
    # 0**x2 is constant for x2 > 0, but log(0) is not finite; ``y - y == 0`` says that y is finite.
    return y * math.log(where(x1 == 0, where(y - y == 0, 1.0, x1), x1))


@base_slope.partial("x1")
def base_slope_dx1(x1, x2):
    constant = (x2 == 0) | (x2 == 1)  # 0 times an infinite power would be NaN
    rising = (x2 - 1) * lower_power(x1, where(constant, 2.0, x2), 2.0)
    return where(constant, 0.0, x2 * rising)


@base_slope.partial("x2")
@exponent_slope.partial("x1")
def mixed_slope(x1, x2):
    power = lower_power(x1, x2, 1.0)
    growth = where(x2 == 0, 1.0, 1 + x2 * math.log(x1))
    return where((x1 == 0) & (power == 0), 0.0, power * growth)


@exponent_slope.partial("x2")
def exponent_slope_dx2(x1, x2, y):
    return logarithms(x1, y)


@power.partial("x1")
def power_dx1(x1, x2, y):
    return slope_in_base(x1, x2, y)


@power.partial("x2")
def power_dx2(x1, x2, y):
    return logarithms(x1, y)


power_dx1.on_tensors = lambda x1, x2, y: base_slope(x1, x2)
power_dx2.on_tensors = lambda x1, x2, y: exponent_slope(x1, x2)
base_slope.lower_as(power.partials[0])
exponent_slope.lower_as(power.partials[1])


@builtin(complex=False)
def hypot(x1, x2):
    return math.hypot(x1, x2)


@hypot.partial("x1")
def hypot_dx1(x1, x2, y):
    return where(y == 0, 0.0, x1 / y)


@hypot.partial("x2")
def hypot_dx2(x1, x2, y):
    return where(y == 0, 0.0, x2 / y)


# The slopes of the length are operators: the product rule would make differences of their slopes.
# The order of the arguments stays, because the bits of the length depend on it.


@builtin(complex=False)
def leg_share(x1, x2):
    """``x1 / hypot(x1, x2)``; at 0 it has a value by convention, and no slope."""
    y = math.hypot(x1, x2)
    return where(y == 0, 0.0, x1 / y)


@builtin(complex=False)
def other_share(x1, x2):
    """``x2 / hypot(x1, x2)``"""
    y = math.hypot(x1, x2)
    return where(y == 0, 0.0, x2 / y)


@leg_share.partial("x1")
def leg_share_dx1(x1, x2):
    y = math.hypot(x1, x2)
    return where(y == math.inf, 0.0, (x2 / y) * (x2 / y / y))


@leg_share.partial("x2")
@other_share.partial("x1")
def shares_turn(x1, x2):
    y = math.hypot(x1, x2)
    return where(y == math.inf, 0.0, -(x1 / y) * (x2 / y / y))


@other_share.partial("x2")
def other_share_dx2(x1, x2):
    y = math.hypot(x1, x2)
    return where(y == math.inf, 0.0, (x1 / y) * (x1 / y / y))


hypot_dx1.on_tensors = lambda x1, x2, y: leg_share(x1, x2)
hypot_dx2.on_tensors = lambda x1, x2, y: other_share(x1, x2)
leg_share.lower_as(hypot.partials[0])
other_share.lower_as(hypot.partials[1])


@hypot.pullback
def hypot_pullback(context, g):
    return tuple([_hypot_gradient(context, g, n) if context.wanted[n] else None for n in (0, 1)])


def _hypot_gradient(context, g, n):
    found = smooth(
        context, context.output(), g,
        lambda h: multiply(h, context.input(n)), lambda y: multiply(g, context.input(n) / y),
    )  # fmt: skip
    return hypot.partials[n].apply(context, g) if found is None else found
