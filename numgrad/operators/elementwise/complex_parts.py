"""Elementwise operators: parts of complex numbers, also of real ones."""

import math

import numpy as np

from ..._declare import ViewOperator
from .arithmetic import absolute, builtin, divide, multiply, sign, subtract, where
from .cast import cast
from .cofactors import smooth
from .comparison import equal

# Booleans, of all numbers, have no parts: so real ones are not asked for them.


def complex_conj(x):
    return x.conjugate()


def complex_real(x):
    return x.real


def complex_imag(x):
    return x.imag


def complex_cartesian(x, y):
    return complex(x.real, y.real)


@builtin(numpy=np.conjugate, complex=complex_conj)
def conj(x):
    return x


@conj.pullback
def conj_pullback(context, g):
    return conj(g)


@builtin(numpy=np.copy, result="real", complex=complex_real)
def real(x):
    return x


@real.pullback
def real_pullback(context, g):
    return g


@builtin(numpy=np.zeros_like, result="real", complex=complex_imag)
def imag(x):
    return 0


@imag.pullback
def imag_pullback(context, g):
    return multiply(g, 1j)  # the engine drops the imaginary part again for a real argument


@builtin(complex=complex_cartesian)
def cartesian(x, y):
    """Complex numbers from their real and imaginary parts, which are complex numbers as well."""
    return x


@cartesian.pullback
def cartesian_pullback(context, g):
    return real(g), imag(g)


class Part(ViewOperator):
    """The memory of the real or imaginary parts of complex numbers; in programs, which do not share
    memory, the elementwise operator."""

    is_linear = True

    def __init__(self, function, element, completed):
        super().__init__(function)
        self.element, self.completed = element, completed

    def infer(self, specs, static):
        return self.element.infer(specs, static)

    def lower(self, builder, inputs, specs, static):
        return self.element.lower(builder, inputs, specs, static)


def with_real(z, x):
    return cartesian(cast(x, z.dtype), cast(imag(z), z.dtype))


def with_imag(z, x):
    return cartesian(cast(real(z), z.dtype), cast(x, z.dtype))


def real_part(x):
    return x.real


def imag_part(x):
    return x.imag


real_part, imag_part = Part(real_part, real, with_real), Part(imag_part, imag, with_imag)
real_part.pullback(real_pullback)
imag_part.pullback(imag_pullback)


def complex_direction(x):
    """An infinite part hides a finite one; what two make is no number."""
    a, b, size = x.real, x.imag, abs(x)
    is_far = size == math.inf
    a = where(is_far, where(a == math.inf, 1.0, where(a == -math.inf, -1.0, 0.0)), a)
    b = where(is_far, where(b == math.inf, 1.0, where(b == -math.inf, -1.0, 0.0)), b)
    size = where(is_far, where((a != 0) & (b != 0), math.nan, 1.0), size)
    return complex(where(size == 0, size, a / size), where(size == 0, size, b / size))


@builtin(complex=complex_direction)
def direction(x):
    """The sign of a complex number: ``x / |x|``, and 0 at 0."""
    return where(x == 0, x, x / abs(x))


direction.reads(lambda needs: (True, True))


@direction.pullback
def direction_pullback(context, g):
    x, y = context.input(0), context.output()
    size = absolute(x)
    is_zero = equal(size, 0.0)
    divisor = where(is_zero, 1.0, size)  # else the derivative of the quotient is no number
    return where(is_zero, 0.0, divide(_turning(g, y), divisor))


def _turning(g, y):
    """Return the part of a cotangent that is across the direction ``y``."""
    return subtract(g, multiply(y, real(multiply(conj(g), y))))


@builtin(complex=complex_direction)
def abs_slope(x):
    """The slope of the absolute value of complex numbers, their direction: at 0 a convention."""
    return where(x == 0, x, x / abs(x))


abs_slope.reads(lambda needs: (True, True))


@abs_slope.pullback
def abs_slope_pullback(context, g):
    size = absolute(context.input(0))
    return divide(_turning(g, context.output()), where(equal(size, 0.0), np.nan, size))


absolute.reads(lambda needs: (True, False))


@absolute.pullback
def absolute_pullback(context, g):
    x = context.input(0)
    if x.dtype.kind != "c":
        return multiply(g, sign(x))
    found = smooth(
        context, x, g,
        lambda h: multiply(h, x), lambda safe: multiply(g, abs_slope(safe)),
    )  # fmt: skip
    return multiply(g, abs_slope(x)) if found is None else found
