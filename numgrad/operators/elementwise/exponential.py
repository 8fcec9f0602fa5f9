"""Elementwise operators: exponential functions and logarithms."""

import math
from math import expm1 as real_expm1  # in kernels for complex arguments ``math`` is complex
from math import log1p as real_log1p

from ..._declare.partial import conjugate
from .arithmetic import builtin, multiply, negative, reciprocal, where
from .double_double import LN2_REST, LN2_REST_SINGLE, in_single, product_rest, sum_rest

LN2 = math.log(2)
LN10 = math.log(10)


@builtin
def exp(x):
    return math.exp(x)


@exp.partial("x")
def exp_dx(y):
    return y


def complex_exp2(x):
    # Infinity times 0j would be NaN.
    return math.exp(complex(x.real * LN2, x.imag * LN2))  # pyright: ignore[reportArgumentType]


@builtin(complex=complex_exp2)
def exp2(x):
    return math.exp2(x)


@exp2.partial("x")
def exp2_dx(y):
    return y * LN2


def complex_expm1(x):
    """``expm1(a) cos b - 2 sin(b / 2)**2 + i exp(a) sin b``, in which nothing cancels near 0."""
    half = math.sin(0.5 * x.imag).real
    return complex(real_expm1(x.real) * math.cos(x.imag).real - 2 * half * half, math.exp(x).imag)


@builtin(complex=complex_expm1)
def expm1(x):
    return math.expm1(x)


@expm1.partial("x")
def expm1_dx(x):
    return math.exp(x)  # y + 1 has no correct digits where x is very negative


@builtin
def log(x):
    return math.log(x)


log.reads(lambda needs: (True, False))


@log.pullback
def log_pullback(context, g):
    return multiply(g, conjugate(reciprocal(context.input(0))))  # which quotients by x share


def complex_log2(x):
    y = math.log(x)
    return complex(y.real / LN2, y.imag / LN2)


@builtin(complex=complex_log2)
def log2(x):
    return math.log2(x)


@log2.partial("x")
def log2_dx(x):
    return 1 / (x * LN2)


@builtin
def log10(x):
    return math.log10(x)


@log10.partial("x")
def log10_dx(x):
    return 1 / (x * LN10)


def complex_log1p(x):
    """``log|1 + x|`` from ``|1 + x|**2 - 1`` near 0, where ``1 + x`` is rounded."""
    # A sum with 1 would lose the sign of -0j.
    far = math.log(complex(1 + x.real, x.imag))  # pyright: ignore[reportArgumentType]
    near = 0.5 * real_log1p(x.real * (2 + x.real) + x.imag * x.imag)
    return complex(where(abs(x) < 0.5, near, far.real), far.imag)


@builtin(complex=complex_log1p)
def log1p(x):
    return math.log1p(x)


@log1p.partial("x")
def log1p_dx(x):
    return 1 / (1 + x)


@builtin
def logistic_density(x):
    """The slope of the logistic function: ``expit(x) * expit(-x)``, with digits where either is 1.
    """
    e = math.exp(where(x.real < 0, x, -x))
    return e / ((1 + e) * (1 + e))


@logistic_density.partial("x")
def logistic_density_dx(x, y):
    below = x.real < 0
    e = expm1(where(below, x, -x))
    return where(below, -e, e) / (2 + e) * y  # minus the hyperbolic tangent of a half of x


@builtin(complex=False)
def logaddexp(x1, x2):
    # The difference of equal infinities is NaN.
    larger = max(x1, x2)
    return where(x1 == x2, x1 + LN2, larger + math.log1p(math.exp(-abs(x1 - x2))))


@builtin(complex=False)
def logaddexp2(x1, x2):
    larger = max(x1, x2)
    return where(x1 == x2, x1 + 1, larger + math.log1p(math.exp2(-abs(x1 - x2))) / LN2)


@builtin(complex=False)
def soft_share(x1, x2, scale):
    """``exp(s x1) / (exp(s x1) + exp(s x2))``, a half for equal infinities; ``s`` is 1 or log(2).

    What rounding takes from the exponent is made good: an exponential far out has it in front.
    """
    d = x2 - x1
    d = where(d == d, d, where(x1 == x2, 0.0, d))
    lacking = where(scale == 1, 0.0, LN2_REST_SINGLE if in_single() else LN2_REST)
    rest = scale * sum_rest(x2, -x1) + lacking * d + product_rest(scale, d)
    e = math.exp(scale * d)
    return 1 / (1 + where(abs(e * rest) < math.inf, e + e * rest, e))


# A share times what is left has digits, and no infinite exponential, where a share is 0 or 1.


soft_share.reads(lambda needs: (True, True, True, False))


@soft_share.pullback
def soft_share_pullback(context, g):
    x1, x2, scale = (context.input(n) for n in range(3))
    slope = multiply(scale, multiply(soft_share(x1, x2, scale), soft_share(x2, x1, scale)))
    gradient = multiply(g, slope)
    return gradient, negative(gradient), None


def reads_both(needs):
    return True, True, False


def shares(context, g, scale):
    x1, x2 = context.input(0), context.input(1)
    want1, want2 = context.wanted
    return (
        multiply(g, soft_share(x1, x2, scale)) if want1 else None,
        multiply(g, soft_share(x2, x1, scale)) if want2 else None,
    )


logaddexp.reads(reads_both)
logaddexp2.reads(reads_both)


@logaddexp.pullback
def logaddexp_pullback(context, g):
    return shares(context, g, 1.0)


@logaddexp2.pullback
def logaddexp2_pullback(context, g):
    return shares(context, g, LN2)
