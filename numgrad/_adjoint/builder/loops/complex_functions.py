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


def polar(a, b):
    """Return the modulus and the angle."""
    return math.hypot(a, b), math.atan2(b, a)


def rect(r, t):
    """Return the number of a modulus and an angle."""
    return r * math.cos(t), r * math.sin(t)


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


def tan(a, b):
    """Return the tangent."""
    p, q = tanh(-b, a)
    return q, -p


def log10(a, b):
    """Return the logarithm to the base 10."""
    return math.log10(math.hypot(a, b)), math.atan2(b, a) / math.log(10.0)


def acos(a, b):
    """Return the inverse cosine."""
    (p, q), (r, s) = sqrt(1.0 - a, -b), sqrt(1.0 + a, b)
    return 2.0 * math.atan2(p, r), math.asinh(r * q - s * p)


def acosh(a, b):
    """Return the inverse hyperbolic cosine."""
    (p, q), (r, s) = sqrt(a - 1.0, b), sqrt(a + 1.0, b)
    return math.asinh(r * p + s * q), 2.0 * math.atan2(q, r)


def asinh(a, b):
    """Return the inverse hyperbolic sine."""
    (p, q), (r, s) = sqrt(1.0 + b, -a), sqrt(1.0 - b, a)
    return math.asinh(p * s - r * q), math.atan2(b, p * r - q * s)


def asin(a, b):
    """Return the inverse sine."""
    p, q = asinh(-b, a)
    return q, -p


def atanh(a, b):
    """Return the inverse hyperbolic tangent."""
    re = 0.25 * math.log1p(4.0 * a / ((1.0 - a) * (1.0 - a) + b * b))
    return re, 0.5 * math.atan2(2.0 * b, (1.0 - a) * (1.0 + a) - b * b)


def atan(a, b):
    """Return the inverse tangent."""
    p, q = atanh(-b, a)
    return q, -p
