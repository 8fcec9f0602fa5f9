"""Functions of `numpy.polynomial`, as the loops that stand for them in kernels: coefficients begin
with the constant one."""

import numpy as np


def trimseq(seq):
    """Return coefficients without zeros of the highest degrees; of zeros, the first."""
    count = seq.size
    while count > 1 and seq[count - 1] == 0:
        count -= 1
    return seq[:count]


def polyadd(c1, c2):
    """Return the sum of two polynomials."""
    return _sum(c1, c2, 1.0)


def polysub(c1, c2):
    """Return the difference of two polynomials."""
    return _sum(c1, c2, -1.0)


def _sum(c1, c2, sign):
    one, other = trimseq(c1), trimseq(c2)
    made = np.zeros(max(one.size, other.size))
    for i in range(one.size):
        made[i] += one[i]
    for i in range(other.size):
        made[i] += sign * other[i]
    return trimseq(made).copy()


def polymul(c1, c2):
    """Return the product of two polynomials."""
    made = np.convolve(trimseq(c1), trimseq(c2))
    return trimseq(made).copy()


def polydiv(c1, c2):
    """Return the quotient of two polynomials, and the rest."""
    rest, divisor = trimseq(c1) * 1.0, trimseq(c2)
    gap, highest = rest.size - divisor.size, divisor[divisor.size - 1]
    if highest == 0:
        raise ZeroDivisionError
    quotient = np.zeros(max(gap + 1, 1))
    for i in range(gap, -1, -1):
        factor = rest[i + divisor.size - 1] / highest
        quotient[i] = factor
        for j in range(divisor.size - 1):
            rest[i + j] -= factor * divisor[j]
    left = divisor.size - 1 if gap >= 0 else rest.size
    kept = np.zeros(max(left, 1))
    for i in range(left):
        kept[i] = rest[i]
    return quotient, trimseq(kept).copy()


def polyint(c, m=1):
    """Return a polynomial integrated from 0 several times."""
    if c.ndim != 1:
        raise NotImplementedError("polyint is understood of one polynomial")
    made = np.zeros(c.size + m)
    for i in range(c.size):
        factor = 1.0
        for j in range(m):
            factor *= i + 1 + j
        made[i + m] = c[i] / factor
    return trimseq(made).copy()


def polyval(x, c, tensor=True):
    """Return a polynomial at numbers."""
    if c.ndim != 1:
        raise NotImplementedError("polyval is understood of one polynomial")
    y = c[c.size - 1] + x * 0.0
    for i in range(c.size - 2, -1, -1):
        y = c[i] + y * x
    return y
