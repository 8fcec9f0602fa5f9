"""Elementwise operators: trigonometric and hyperbolic functions and their inverses."""

import math

from .arithmetic import builtin, where
from .exponential import logistic_density

FAR = 1e17  # an exponential beside which 2 is nothing, in any dtype


@builtin
def sin(x):
    return math.sin(x)


@sin.partial("x")
def sin_dx(x):
    return math.cos(x)


@builtin
def cos(x):
    return math.cos(x)


@cos.partial("x")
def cos_dx(x):
    return -math.sin(x)


@builtin
def tan(x):
    return math.tan(x)


@tan.partial("x")
def tan_dx(y):
    return 1 + y * y


# The factors 1 - x and 1 + x are exact near the ends of the domain, where 1 - x * x cancels. Their
# roots are taken one by one: only their product has the branch cuts of the complex functions. On a
# cut the sign of a zero says on which side, and a sum with 1 may lose it: so 1 + x is x - (-1), and
# 1 - x is -(x - 1), but of x = 1, where that of real numbers would be -0.


# The slopes of inverse functions are operators with slopes of their own: the product rule would
# take differences of what is nearly equal, or squares of what is nearly 0.


def finite(x, y):
    """Return ``x``, but 0 at infinity, where the slope ``y`` is 0 and all its derivatives are."""
    return where(abs(x) == math.inf, 0 * y, x)


@builtin
def asin_slope(x):
    return 1 / (math.sqrt(where(x == 1, 1 - x, -(x - 1))) * math.sqrt(x - (-1)))


@asin_slope.partial("x")
def asin_slope_dx(x, y):
    return x * y / ((1 - x) * (1 + x))


@builtin
def asin(x):
    return math.asin(x)


@asin.partial("x")
def asin_dx(x):
    return asin_slope(x)


@builtin
def acos(x):
    return math.acos(x)


@acos.partial("x")
def acos_dx(x):
    return -asin_slope(x)


@builtin
def atan_slope(x):
    return 1 / (1 + x * x)


@atan_slope.partial("x")
def atan_slope_dx(x, y):
    return -2 * (finite(x, y) * y) * y


@builtin
def atan(x):
    return math.atan(x)


@atan.partial("x")
def atan_dx(x):
    return atan_slope(x)


@builtin(complex=False)
def atan2(x1, x2):
    return math.atan2(x1, x2)


@atan2.partial("x1")
def atan2_dx1(x1, x2):
    # Divided twice by the length, whose square may overflow or underflow.
    r = math.hypot(x1, x2)
    return where(r == 0, 0.0, x2 / r / r)


@atan2.partial("x2")
def atan2_dx2(x1, x2):
    r = math.hypot(x1, x2)
    return where(r == 0, 0.0, -x1 / r / r)


@builtin(complex=False)
def turn_rate(x1, x2):
    """``x2 / (x1**2 + x2**2)``; at 0 it has a value by convention, and no slope."""
    r = math.hypot(x1, x2)
    return where(r == 0, 0.0, x2 / r / r)


@builtin(complex=False)
def other_rate(x1, x2):
    """``-x1 / (x1**2 + x2**2)``"""
    r = math.hypot(x1, x2)
    return where(r == 0, 0.0, -x1 / r / r)


@turn_rate.partial("x1")
def turn_rate_dx1(x1, x2):
    r = math.hypot(x1, x2)
    return -2 * (x1 / r) * (x2 / r) / r / r


@turn_rate.partial("x2")
@other_rate.partial("x1")
def mixed_rate(x1, x2):
    r = math.hypot(x1, x2)
    return 4 * ((0.5 * x1 - 0.5 * x2) / r) * ((0.5 * x1 + 0.5 * x2) / r) / r / r


@other_rate.partial("x2")
def other_rate_dx2(x1, x2):
    r = math.hypot(x1, x2)
    return 2 * (x1 / r) * (x2 / r) / r / r


atan2_dx1.on_tensors = lambda x1, x2: turn_rate(x1, x2)
atan2_dx2.on_tensors = lambda x1, x2: other_rate(x1, x2)


@builtin
def sinh(x):
    return math.sinh(x)


@sinh.partial("x")
def sinh_dx(x):
    return math.cosh(x)


@builtin
def cosh(x):
    return math.cosh(x)


@cosh.partial("x")
def cosh_dx(x):
    return math.sinh(x)


# Both functions are made of ``e = exp(2 |x|) - 1`` and of ``1 / (e + 2)``: a kernel that computes
# the function and its slope has one exponential and one division for both.


def complex_tanh(x):
    return math.tanh(x)


def complex_tanh_slope(x):
    return 4 * logistic_density(2 * x)


@builtin(complex=complex_tanh_slope)
def tanh_slope(x):
    """The slope of the hyperbolic tangent; ``1 - tanh(x)**2`` has no digits where that rounds to 1.
    """
    r = 1 / (math.expm1(2 * abs(x)) + 2)
    return 4 * (r - r * r)


@builtin(complex=complex_tanh)
def tanh(x):
    e = math.expm1(2 * abs(x))
    return math.copysign(where(e > FAR, 1.0, e * (1 / (e + 2))), x)


@tanh_slope.partial("x")
def tanh_slope_dx(x, y):
    return -2 * (tanh(x) * y)


@tanh.partial("x")
def tanh_dx(x):
    return tanh_slope(x)


@builtin
def asinh_slope(x):
    s = x * x - (-1)
    far = where(x.real < 0, -x, x)  # where the square overflows
    return 1 / where(abs(s) < math.inf, math.sqrt(s), far)


@asinh_slope.partial("x")
def asinh_slope_dx(x, y):
    x = finite(x, y)
    return -(x * y) / (1 + x * x)


@builtin
def asinh(x):
    return math.asinh(x)


@asinh.partial("x")
def asinh_dx(x):
    return asinh_slope(x)


@builtin
def acosh_slope(x):
    return 1 / (math.sqrt(x - 1) * math.sqrt(x - (-1)))


@acosh_slope.partial("x")
def acosh_slope_dx(x, y):
    x = finite(x, y)
    return -(x * y) / ((x - 1) * (x + 1))


@builtin
def acosh(x):
    return math.acosh(x)


@acosh.partial("x")
def acosh_dx(x):
    return acosh_slope(x)


@builtin
def atanh_slope(x):
    return 1 / ((1 - x) * (1 + x))


@atanh_slope.partial("x")
def atanh_slope_dx(x, y):
    return 2 * (x * y) * y


@builtin
def atanh(x):
    return math.atanh(x)


@atanh.partial("x")
def atanh_dx(x):
    return atanh_slope(x)
