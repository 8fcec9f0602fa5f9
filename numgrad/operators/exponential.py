"""Elementwise operators: exponential functions and logarithms."""

import math
from math import expm1 as real_expm1  # in kernels for complex arguments ``math`` is complex
from math import log1p as real_log1p

from .._declare.partial import conjugate
from .elementwise import builtin, multiply, reciprocal, where

LN2 = math.log(2)
LN10 = math.log(10)


@builtin
def exp(x):
    return math.exp(x)


@exp.partial("x")
def exp_dx(y):
    return y


def complex_exp2(x):
    return math.exp(x * LN2)


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


@log.reads
def log_reads(needs):
    return True, False


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
    far = math.log(1 + x)
    near = 0.5 * real_log1p(x.real * (2 + x.real) + x.imag * x.imag)
    return complex(where(abs(x) < 0.5, near, far.real), far.imag)


@builtin(complex=complex_log1p)
def log1p(x):
    return math.log1p(x)


@log1p.partial("x")
def log1p_dx(x):
    return 1 / (1 + x)


@builtin(complex=False)
def logaddexp(x1, x2):
    # The difference of equal infinities is NaN.
    larger = max(x1, x2)
    return where(x1 == x2, x1 + LN2, larger + math.log1p(math.exp(-abs(x1 - x2))))


@logaddexp.partial("x1")
def logaddexp_dx1(x1, x2):
    return share_of(x1, x2)


@logaddexp.partial("x2")
def logaddexp_dx2(x1, x2):
    return share_of(x2, x1)


def share_of(x1, x2):
    """``exp(x1) / (exp(x1) + exp(x2))``, a half for equal infinities."""
    d = x2 - x1
    return 1 / (1 + math.exp(where(d == d, d, where(x1 == x2, 0.0, d))))
