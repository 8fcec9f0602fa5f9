"""Half precision in kernels: Numba has no float16, its bits are read and written as integers."""

import math


def from_half(bits):
    """Return the number that the bits of a float16 stand for."""
    exponent, mantissa = (bits >> 10) & 31, bits & 1023
    if exponent == 31:
        size = math.inf if mantissa == 0 else math.nan
    elif exponent == 0:
        size = math.ldexp(float(mantissa), -24)
    else:
        size = math.ldexp(float(mantissa + 1024), exponent - 25)
    return -size if bits >> 15 else size


def to_half(x):
    """Return the bits of the float16 nearest to a real number, to even at a tie."""
    x = 1.0 * x  # booleans and integers too
    sign = 32768 if math.copysign(1.0, x) < 0 else 0
    size = abs(x)
    if size != size:
        bits = 32256.0
    elif size >= 65520.0:
        bits = 31744.0
    elif size < 6.103515625e-05:  # subnormal: multiples of 2**-24
        bits = round(math.ldexp(size, 24))
    else:
        fraction, exponent = math.frexp(size)
        # A fraction that rounds up to 1 carries into the exponent, as it should.
        bits = 1024.0 * (exponent + 13) + round(math.ldexp(fraction, 11))
    return sign + int(bits)
