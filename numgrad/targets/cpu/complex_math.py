"""The ``math`` of complex kernels: what `cmath` offers and the few names that only `math` has.

A name that is missing here has no complex version, and a kernel that uses it is refused. Some of
Numba's versions lose what does not overflow, or raise, which would end the loop over the elements;
here they are others.
"""

import cmath
import math
from cmath import *  # noqa: F403  # pyright: ignore[reportWildcardImportFromLibrary]
from collections.abc import Callable
from typing import Any

import numpy as np
from numba.core import types
from numba.extending import overload


def _version(name: str) -> Callable[[Callable[[Any], Any]], Callable[[complex], complex]]:
    """Declare a function of complex numbers by a factory of it, which gets the dtype of parts:
    literals would make all of a kernel for complex64 double."""

    def declare(make: Callable[[Any], Any]) -> Callable[[complex], complex]:
        def stub(z: complex) -> complex:
            return getattr(cmath, name)(z)

        stub.__name__ = stub.__qualname__ = name

        def implementation(z: Any) -> Any:
            if isinstance(z, types.Complex):
                return make(np.float32 if z == types.complex64 else np.float64)
            return lambda z: stub(complex(z, z - z))

        overload(stub, jit_options={"error_model": "numpy"}, strict=False)(implementation)
        return stub

    return declare


@_version("sqrt")
def sqrt(real: Any) -> Any:
    half, small, large = real(0.5), real(np.finfo(real).tiny * 4), real(np.finfo(real).max / 4)
    up, down, quarter, two = real(2.0**60), real(2.0**-30), real(0.25), real(2)

    def root(z):
        a, b = z.real, z.imag
        size = max(abs(a), abs(b))
        if (a == 0 and b == 0) or math.isinf(b):
            return complex(abs(b), b)
        if math.isnan(a):
            return complex(a, a)
        if math.isinf(a):
            zero = b - b
            return complex(a, math.copysign(zero, b)) if a > 0 else complex(
                abs(zero), math.copysign(a, b)
            )
        back = half / half
        if size > large:
            a, b, back = a * quarter, b * quarter, two
        elif size < small:
            a, b, back = a * up, b * up, down
        t = math.sqrt((abs(a) + math.hypot(a, b)) * half)
        other = abs(b) / (t + t)
        first, second = (t, other) if a >= 0 else (other, t)
        return complex(first * back, math.copysign(second, b) * back)

    return root


@_version("log")
def log(real: Any) -> Any:
    small, large = real(np.finfo(real).tiny * 4), real(np.finfo(real).max / 4)
    up, down = real(2.0**60), real(2.0**-2)
    of_up, of_down = real(60 * math.log(2)), real(2 * math.log(2))
    low, high, one, half = real(0.7), real(1.7), real(1), real(0.5)

    def logarithm(z):
        a, b = z.real, z.imag
        size = max(abs(a), abs(b))
        if size > large:
            length = math.log(math.hypot(a * down, b * down)) + of_down
        elif size < small:
            length = math.log(math.hypot(a * up, b * up)) - of_up
        elif low < math.hypot(a, b) < high:  # its distance from 1 must not be rounded
            other = min(abs(a), abs(b))
            length = half * math.log1p((size - one) * (size + one) + other * other)
        else:
            length = math.log(math.hypot(a, b))
        return complex(length, math.atan2(b, a))

    return logarithm


@_version("log10")
def log10(real: Any) -> Any:
    base = real(math.log(10))

    def logarithm(z):
        y = log(z)
        return complex(y.real / base, y.imag / base)

    return logarithm


@_version("exp")
def exp(real: Any) -> Any:
    half, large = real(0.5), real(math.log(np.finfo(real).max))

    def exponential(z):
        if z.imag == 0:
            return complex(math.exp(z.real), z.imag)
        if large < z.real < large + large:  # may be finite times a cosine
            part = math.exp(z.real * half)
            return complex(part * math.cos(z.imag) * part, part * math.sin(z.imag) * part)
        if math.isinf(z.real) and z.real < 0 and not math.isfinite(z.imag):
            zero = math.exp(z.real)
            return complex(zero, math.copysign(zero, z.imag))
        return cmath.exp(z)

    return exponential


# On the axes one factor is 0, and the other may be infinite. What Numba makes of two infinities, or
# of NaN in its arcs, are numbers. Signs of zeros, and parts that are no NaN beside one that is, are
# those of the C library, which NumPy takes them from.


@_version("sinh")
def sinh(real: Any) -> Any:
    half, large = real(0.5), real(math.log(np.finfo(real).max))

    def sine(z):
        if math.isinf(z.real) and not math.isfinite(z.imag):
            return complex(abs(z.real), z.imag - z.imag)
        if z.imag == 0:
            return complex(math.sinh(z.real), z.imag)
        if z.real == 0:
            if not math.isfinite(z.imag):
                return complex(z.real, z.imag - z.imag)
            return complex(z.real * math.cos(z.imag), math.sin(z.imag))
        if large < abs(z.real) < large + large:
            part = math.exp(abs(z.real) * half)
            first = math.copysign(part * half, z.real) * math.cos(z.imag)
            return complex(first * part, part * half * math.sin(z.imag) * part)
        return cmath.sinh(z)

    return sine


@_version("cosh")
def cosh(real: Any) -> Any:
    half, large = real(0.5), real(math.log(np.finfo(real).max))

    def cosine(z):
        if math.isinf(z.real) and math.isinf(z.imag):
            return complex(abs(z.real), z.imag - z.imag)
        if z.imag == 0:
            sign = math.copysign(z.imag, z.real) * math.copysign(real(1), z.imag)
            if z.real != z.real:
                sign = z.imag
            return complex(math.cosh(z.real), math.copysign(z.imag, sign))
        if z.real == 0:
            if not math.isfinite(z.imag):
                return complex(z.imag - z.imag, abs(z.real))
            return complex(math.cos(z.imag), z.real * math.sin(z.imag))
        if large < abs(z.real) < large + large:
            part = math.exp(abs(z.real) * half)
            second = math.copysign(part * half, z.real) * math.sin(z.imag)
            return complex(part * half * math.cos(z.imag) * part, second * part)
        return cmath.cosh(z)

    return cosine


@_version("tanh")
def tanh(real: Any) -> Any:
    zero, one = real(0), real(1)

    def tangent(z):
        a, b = z.real, z.imag
        if (math.isnan(a) and b == 0) or (a == 0 and math.isnan(b)):
            return z
        if a == 0 and math.isinf(b):
            return complex(a, b - b)
        if math.isinf(a) and math.isinf(b):
            return complex(math.copysign(one, a), math.copysign(zero, b))
        return cmath.tanh(z)

    return tangent


@_version("asinh")
def asinh(real: Any) -> Any:
    one, large = real(1), real(np.finfo(real).max / 8)
    tiny = real(np.sqrt(np.finfo(real).eps) / 2)

    def arc(z):
        a, b = z.real, z.imag
        if (abs(a) < tiny and abs(b) < tiny) or (math.isnan(a) and b == 0):
            return z
        if abs(a) > large or abs(b) > large:
            return cmath.asinh(z)
        first, second = sqrt(complex(one + b, -a)), sqrt(complex(one - b, a))
        return complex(
            math.asinh(first.real * second.imag - second.real * first.imag),
            math.atan2(b, first.real * second.real - first.imag * second.imag),
        )

    return arc


@_version("acosh")
def acosh(real: Any) -> Any:
    one, two, large = real(1), real(2), real(np.finfo(real).max / 8)
    quarter = real(math.pi / 2)

    def arc(z):
        a, b = z.real, z.imag
        if a == 0 and math.isnan(b):
            return complex(b, quarter)
        if abs(a) > large or abs(b) > large:
            return cmath.acosh(z)
        first, second = sqrt(complex(a - one, b)), sqrt(complex(a + one, b))
        return complex(
            math.asinh(first.real * second.real + first.imag * second.imag),
            two * math.atan2(first.imag, second.real),
        )

    return arc


@_version("acos")
def acos(real: Any) -> Any:
    one, two, large = real(1), real(2), real(np.finfo(real).max / 8)
    quarter = real(math.pi / 2)

    def arc(z):
        a, b = z.real, z.imag
        if a == 0 and math.isnan(b):
            return complex(quarter, b)
        if abs(a) > large or abs(b) > large:
            return cmath.acos(z)
        first, second = sqrt(complex(one - a, -b)), sqrt(complex(one + a, b))
        return complex(
            two * math.atan2(first.real, second.real),
            math.asinh(second.real * first.imag - second.imag * first.real),
        )

    return arc


@_version("atanh")
def atanh(real: Any) -> Any:
    def arc(z):
        if z.real == 0 and math.isnan(z.imag):
            return z
        if math.isnan(z.real) and math.isfinite(z.imag):
            return complex(z.real, z.real)
        return cmath.atanh(z)

    return arc


# Reflected in the diagonal of the plane, which turns signs of zeros and branch cuts as they are,
# functions of the circle are those of the hyperbola.


@_version("sin")
def sin(real: Any) -> Any:
    def sine(z):
        y = sinh(complex(z.imag, z.real))
        return complex(y.imag, y.real)

    return sine


@_version("cos")
def cos(real: Any) -> Any:
    def cosine(z):
        return cosh(complex(-z.imag, z.real))

    return cosine


@_version("tan")
def tan(real: Any) -> Any:
    def tangent(z):
        y = tanh(complex(z.imag, z.real))
        return complex(y.imag, y.real)

    return tangent


@_version("asin")
def asin(real: Any) -> Any:
    def arc(z):
        y = asinh(complex(z.imag, z.real))
        return complex(y.imag, y.real)

    return arc


@_version("atan")
def atan(real: Any) -> Any:
    def arc(z):
        y = atanh(complex(z.imag, z.real))
        return complex(y.imag, y.real)

    return arc
