"""Half precision in kernels: Numba has no float16, its bits are read and written as integers.

There is no branch, so that loops are vectorised: exponents are found and applied by halving.
"""

import math

import numpy as np

from .arithmetic import where


def from_half(bits):
    """Return the number that the bits of a float16 stand for."""
    exponent, mantissa = (bits >> 10) & 31, bits & 1023
    is_normal = (exponent + 31) >> 5
    power = exponent - is_normal
    scale = where(power & 1, 2.0**-23, 2.0**-24) * where(power & 2, 4.0, 1.0)
    scale = scale * where(power & 4, 16.0, 1.0) * where(power & 8, 256.0, 1.0)
    scale = scale * where(power & 16, 65536.0, 1.0)
    size = scale * np.int32(mantissa + (is_normal << 10))
    size = where(exponent == 31, where(mantissa == 0, math.inf, math.nan), size)
    return where(bits >> 15, -size, size)


def to_half(x):
    """Return the bits of the float16 nearest to a real number, to even at a tie."""
    x = 1.0 * x  # booleans and integers too
    size = abs(x)
    # Subnormal ones keep the exponent of the least normal ones.
    fraction, exponent = size * 16384.0, 0.0
    for step, large, small in _HALVINGS:
        exponent += where(fraction >= large, step, 0.0)
        fraction = where(fraction >= large, fraction * small, fraction)
    # A fraction that rounds up to 2 carries into the exponent, as it should.
    bits = 1024.0 * exponent + round(1024.0 * fraction)
    bits = where(size >= 65520.0, 31744.0, bits)
    bits = where(size == size, bits, 32256.0)
    return np.int32(bits) + where(math.copysign(1.0, x) < 0, 32768, 0)


_HALVINGS = tuple((float(n), 2.0**n, 2.0**-n) for n in (16, 8, 4, 2, 1))
