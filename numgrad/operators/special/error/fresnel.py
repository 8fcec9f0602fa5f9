"""Fresnel's integrals: the power series, and a quadrature of the auxiliary functions."""

import math

from ...elementwise.arithmetic import where
from ...elementwise.double_double import product_rest

NEAR, FAR = 1.25, 1e17
STEP, NODES = 0.5, 12
WEIGHT, RATIO = math.exp(-0.25 * STEP * STEP), math.exp(-2 * STEP * STEP)
"""The first weight is a Gaussian at half a step; ratios of weights have this ratio."""
RATE = math.pi * math.sqrt(math.pi) / STEP
BEYOND = 40 / RATE
EPSILON, EVEN = 1e-17, 2.0**54
"""All numbers from the second one on are even."""


def fresnel_s(x):
    return fresnel(x, True)


def fresnel_c(x):
    return fresnel(x, False)


def fresnel(x, is_sine):
    size = abs(x)
    if size < NEAR:
        return fresnel_series(x, is_sine)
    value = fresnel_far(size, is_sine) if size < FAR else where(x == x, 0.5, x)
    return where(x < 0, -value, value)


def fresnel_series(x, is_sine):
    """DLMF 7.6.4 and 7.6.6."""
    a = 0.5 * math.pi * x * x
    term, k = (x * a, 1.0) if is_sine else (x, 0.0)
    total, share = term / (2 * k + 1), 1.0
    while abs(share) > EPSILON * abs(total):
        term *= -a * a / ((k + 1) * (k + 2))
        k += 2
        share = term / (2 * k + 1)
        total += share
    return total


def fresnel_far(x, is_sine):
    """By the auxiliary functions (DLMF 7.5.3, 7.5.4) of ``a = pi * x**2 / 2``.

    These are integrals of ``exp(-t**2)`` over ``1 + (t**2 / a)**2`` (DLMF 7.7.10, 7.7.11), here by
    the trapezoidal rule of step ``h``, which is wrong by ``exp(-(pi / h)**2)`` after the residue
    at its pole has been added: a power series in ``w = exp((1j - 1) * pi**1.5 * x / h)``.
    """
    a = 0.5 * math.pi * x * x
    f, g, t, weight, ratio = 0.0, 0.0, 0.5 * STEP, WEIGHT, RATIO
    for _ in range(NODES):
        share = t * t / a
        part = weight / (1 + share * share)
        f, g = f + part, g + share * part
        t, weight, ratio = t + STEP, weight * ratio, ratio * RATIO
    scale = 2 * STEP / (math.pi * math.sqrt(math.pi) * x)
    sine, cosine = fresnel_sine(x), fresnel_cosine(x)
    real, imaginary = residue(x) if x < BEYOND else (0.0, 0.0)
    if is_sine:
        return 0.5 - (scale * (f * cosine + g * sine) + (real + imaginary))
    return 0.5 + (scale * (f * sine - g * cosine) - (real - imaginary))


def fresnel_sine(x):
    """The slope of `fresnel_s`, the sine of ``pi * x**2 / 2``."""
    return math.sin(0.5 * math.pi * quarters(x))


def fresnel_cosine(x):
    """The slope of `fresnel_c`."""
    return math.cos(0.5 * math.pi * quarters(x))


def quarters(x):
    """Return ``x**2`` without a multiple of 4, from its digits twofold."""
    square = x * x
    if not square < EVEN * EVEN:  # all the even numbers are multiples of 4 when squared
        return square * 0.0
    rest = product_rest(x, x)
    return (square - 4 * round(0.25 * square)) + (rest - 4 * round(0.25 * rest))


def residue(x):
    w = math.exp(-RATE * x)
    real, imaginary = w * math.cos(RATE * x), w * math.sin(RATE * x)
    return real - real * real + imaginary * imaginary, imaginary - 2 * real * imaginary
