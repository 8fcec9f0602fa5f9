"""Functions of complex numbers for use in loops: they take real and imaginary parts, and return the
parts of the result."""

import math


def times(a, b, c, d):
    """Return the product."""
    return a * c - b * d, a * d + b * c


def divided(a, b, c, d):
    """Return the quotient, by the larger part of the divisor."""
    if abs(c) >= abs(d):
        ratio = d / c
        scale = c + d * ratio
        return (a + b * ratio) / scale, (b - a * ratio) / scale
    ratio = c / d
    scale = c * ratio + d
    return (a * ratio + b) / scale, (b * ratio - a) / scale


def exp(a, b):
    """Return the exponential."""
    r = math.exp(a)
    return r * math.cos(b), r * math.sin(b)


def log(a, b):
    """Return the logarithm."""
    return math.log(math.hypot(a, b)), math.atan2(b, a)


def sqrt(a, b):
    """Return the square root with a natural real part."""
    r = math.hypot(a, b)
    if a >= 0.0:
        t = math.sqrt(0.5 * (r + a))
        return t, 0.5 * b / t
    t = math.copysign(math.sqrt(0.5 * (r - a)), b)
    return 0.5 * b / t, t


def sin(a, b):
    """Return the sine."""
    return math.sin(a) * math.cosh(b), math.cos(a) * math.sinh(b)


def cos(a, b):
    """Return the cosine."""
    return math.cos(a) * math.cosh(b), -math.sin(a) * math.sinh(b)


def sinh(a, b):
    """Return the hyperbolic sine."""
    return math.sinh(a) * math.cos(b), math.cosh(a) * math.sin(b)


def cosh(a, b):
    """Return the hyperbolic cosine."""
    return math.cosh(a) * math.cos(b), math.sinh(a) * math.sin(b)


def tanh(a, b):
    """Return the hyperbolic tangent."""
    if abs(a) > 20.0:
        e = 4.0 * math.exp(-2.0 * abs(a))
        return math.copysign(1.0, a), e * math.sin(b) * math.cos(b)
    s, c = math.sinh(a), math.cos(b)
    d = s * s + c * c
    return s * math.cosh(a) / d, math.sin(b) * c / d


def whole_power(a, b, n):
    """Return a power with a natural exponent."""
    r, i = 1.0, 0.0
    for _ in range(n):
        r, i = r * a - i * b, r * b + i * a
    return r, i


def power(a, b, c, d):
    """Return a power."""
    if a == 0.0 and b == 0.0:
        return (1.0, 0.0) if c == 0.0 and d == 0.0 else (0.0 * a, 0.0 * b)
    r, t = math.log(math.hypot(a, b)), math.atan2(b, a)
    m, p = math.exp(c * r - d * t), d * r + c * t
    return m * math.cos(p), m * math.sin(p)
