"""Elementwise operators: trigonometric and hyperbolic functions and their inverses."""

import math

from .elementwise import builtin, where
from .kinks import at_kink


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


@builtin
def asin(x):
    return math.asin(x)


@asin.partial("x")
def asin_dx(x):
    return 1 / (math.sqrt(where(x == 1, 1 - x, -(x - 1))) * math.sqrt(x - (-1)))


@builtin
def acos(x):
    return math.acos(x)


@acos.partial("x")
def acos_dx(x):
    return -1 / (math.sqrt(where(x == 1, 1 - x, -(x - 1))) * math.sqrt(x - (-1)))


@builtin
def atan(x):
    return math.atan(x)


@atan.partial("x")
def atan_dx(x):
    return 1 / (1 + x * x)


@builtin(complex=False)
def atan2(x1, x2):
    return math.atan2(x1, x2)


@atan2.partial("x1")
def atan2_dx1(x1, x2):
    # Divided twice by the length, whose square may overflow or underflow.
    r = math.hypot(x1, x2)
    return at_kink(r == 0, x2 / r / r)


@atan2.partial("x2")
def atan2_dx2(x1, x2):
    r = math.hypot(x1, x2)
    return at_kink(r == 0, -x1 / r / r)


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


@builtin
def tanh(x):
    return math.tanh(x)


@tanh.partial("x")
def tanh_dx(y):
    return 1 - y * y


@builtin
def asinh(x):
    return math.asinh(x)


@asinh.partial("x")
def asinh_dx(x):
    return 1 / math.sqrt(x * x - (-1))


@builtin
def acosh(x):
    return math.acosh(x)


@acosh.partial("x")
def acosh_dx(x):
    return 1 / (math.sqrt(x - 1) * math.sqrt(x - (-1)))


@builtin
def atanh(x):
    return math.atanh(x)


@atanh.partial("x")
def atanh_dx(x):
    return 1 / ((1 - x) * (1 + x))
