"""Lambert's function, and Wright's omega of real numbers."""

import math

from ...elementwise.arithmetic import where
from ...elementwise.double_double import product_rest

E, E_REST = math.e, 1.4456468917292502e-16
ENOUGH = 1e-6
SMALL, EXACT = -40.0, 1e17
"""Below, omega is an exponential; from there on it is its argument, to all digits."""


def lambert(z, k):
    """The root ``w`` of ``w * exp(w) == z`` on branch ``k``, by Halley's method.

    Where the branches meet, at -1/e, it begins with the series in ``sqrt(2 * (e z + 1))``.
    """
    is_near = abs(z + 1 / E) < 1
    real = where(is_near, z.real, 0.0)
    q = (E * z + 1) + (product_rest(E, real) + E_REST * real)
    p = math.sqrt(2 * q)
    p = where(k == 0, p, -p)
    series = -1 + p * (1 - p * (1 / 3 - p * (11 / 72 - p * 43 / 540)))
    log = math.log(where(z == 0, 1.0 + 0j, z)) + 2j * math.pi * k
    far = log - math.log(where(log == 0, 1.0 + 0j, log))
    near_0 = z / (1 + z)
    close = abs(z + 1 / E) < where(k == 0, 0.6, 0.3)
    upper, lower = z.imag >= 0, z.imag < 0
    joined = (k == 0) | ((k == -1) & upper) | ((k == 1) & lower)
    near = (k == 0) & (abs(z) < 1.5) & (z.real > -0.5)
    w = where(close & joined, series, where(near, near_0, far))
    for _ in range(12):
        if w.real > 0:  # so that nothing overflows
            f = w - z * math.exp(-w)
            step = f / ((w + 1) - 0.5 * (w + 2) * f / (w + 1))
        else:
            e = math.exp(w)
            f = w * e - z
            step = f / (e * (w + 1) - 0.5 * (w + 2) * f / (w + 1))
        w = where(step == step, w - where(step == step, step, 0 * step), w)
        if not abs(step) > ENOUGH * abs(w):  # the next error would be the cube
            break
    if close & joined & (abs(w + 1) < 0.5):
        return near_branch_point(q, where(abs(p) < 0.05, series, w) + 1)
    w = where(abs(z) == math.inf, log, w)
    return where(z == 0, where(k == 0, 0 * z, 0 * z - math.inf), w)


def near_branch_point(q, start):
    """Return ``w`` with ``w * exp(w + 1) == q - 1`` by Newton's method for ``d = w + 1``, which is
    small: ``1 + (d - 1) * exp(d)`` is the series of ``(k - 1) * d**k / k!``, from ``k = 2``."""
    d = start
    for _ in range(2):
        total, power, k = 0 * d, 0.5 * d * d, 2.0
        while k < 20:
            total += (k - 1) * power
            k += 1
            power *= d / k
        slope = d * math.exp(d)
        d = d - (total - q) / where(slope == 0, 1 + 0 * slope, slope)
    return d - 1


def omega(z):
    """By the method of Fritsch, Shafer and Crowley (1973); below 0, where the logarithm of the
    result is large, for ``w * exp(w) == exp(z)``."""
    power = math.exp(min(z, 0.0))
    if z < SMALL:
        return power
    if not z < EXACT:
        return z
    w = power / (1 + power) if z < 0 else 0.57 + 0.47 * z
    if z > 2:
        w = z - math.log(z) * z / (1 + z)
    for _ in range(2):
        r = math.log(power / w) - w if z < 0 else (z - w) - math.log(w)
        q = 2 * (1 + w) * (1 + w + 2 * r / 3)
        w += w * r / (1 + w) * (q - r) / (q - 2 * r)
    return w
