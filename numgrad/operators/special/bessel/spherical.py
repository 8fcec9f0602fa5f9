"""The cardinal sine, and the spherical Bessel functions that its derivatives are made of."""

import math

from ...._declare.partial import conjugate
from ...elementwise.arithmetic import add, builtin, multiply, where


@builtin
def sinc(x):
    """The angle is reduced first, which is exact, so that there are digits next to the zeros."""
    y = math.pi * x
    turns = round(0.5 * x.real)
    near = round(x.real - 2 * turns)
    sine = (1 - 2 * abs(near)) * math.sin(math.pi * (x - 2 * turns - near))
    sine = sine + 0 * y  # as in NumPy no number where the angle overflows
    return where(y == 0, 1.0, sine / where(y == 0, 1.0, y))


@sinc.partial("x")
def sinc_dx(x):
    return sinc_slope(x)


@builtin
def sinc_slope(x):
    """The slope of `sinc`; the cosine's angle is reduced as its is."""
    turns = 2 * round(0.5 * x.real)
    near = round(2 * (x.real - turns)) * 0.5
    whole = near == round(near)
    angle = math.pi * (x - turns - near)
    cosine = where(whole, (1 - 2 * abs(near)) * math.cos(angle), -2 * near * math.sin(angle))
    cosine = where(abs(near) == 1.5, -cosine / 3, cosine)
    is_far = abs(x) > NEAR
    far = (cosine - sinc(x)) / where(is_far, x, 1.0)
    y = math.pi * x
    return where(is_far, far, -math.pi * y * scaled_bessel(1.0, where(is_far, 0 * y, y)))


@sinc_slope.partial("x")
def sinc_slope_dx(x, y):
    is_far = abs(x) > NEAR
    z = where(is_far, 0.0, math.pi * x)
    curve = scaled_bessel(1.0, z) - z * z * scaled_bessel(2.0, z)
    far = -2 * y / where(is_far, x, 1.0) - PI_SQUARE * sinc(x)
    return where(is_far, far, -PI_SQUARE * curve)


PI_SQUARE, NEAR = math.pi**2, 0.6
"""Up to here the slope of `sinc` is that of its power series."""


@builtin
def scaled_bessel(n, y):
    """The spherical Bessel function of order ``n`` from 1 to 12, over ``y**n``; NaN beyond.

    Its derivative is ``-y`` times the next one. Near 0 it is a power series, elsewhere a recurrence
    upwards from the first two, which loses digits only where ``y`` is small.
    """
    n = abs(n)  # real, of the dtype of y as it is
    z = -0.5 * y * y
    term, k = 1.0, 0.0  # counted in the dtype of y, which an integer would widen
    for _ in range(12):
        k += 1
        term = where(k <= n, term / (2 * k + 1), term)
    series, k = term, 0.0
    for _ in range(29):
        k += 1
        term = term * z / (k * (2 * n + 2 * k + 1))
        series += term
    safe = where(y == 0, 1.0, y)
    r = 1 / (safe * safe)
    last = math.sin(safe) / safe
    value = (last - math.cos(safe)) * r
    found = where(n == 1, value, math.nan)
    k = 0.0
    for _ in range(11):
        k += 1
        last, value = value, ((2 * k + 1) * value - last) * r
        found = where(n == k + 1, value, found)
    return where(n > 12, math.nan, where(abs(y) < n + 1, series, found))


scaled_bessel.reads(lambda needs: (True, True, False))


@scaled_bessel.pullback
def scaled_bessel_pullback(context, g):
    n, y = context.input(0), context.input(1)
    slope = multiply(multiply(y, -1.0), scaled_bessel(add(n, 1.0), y))
    return None, multiply(g, conjugate(slope))
