"""Temme's expansion of the incomplete gamma function of large shapes, near the change from 0 to 1.

With ``m = x / a - 1`` and ``h**2 / 2 = m - log1p(m)`` of the sign of ``m``, the upper part is
``erfc(h * sqrt(a / 2)) / 2`` and a correction (DLMF 8.12.4).
"""

import math

from ...elementwise.double_double import exp_of, product_rest
from .stirling import large_exponent

SHAPES, BELOW, ABOVE = 50.0, 0.75, 1.33
SHARP = 8e34
"""From this shape on, numbers next to it are in the tails."""


def is_near(a, x):
    """Whether the expansion has all digits."""
    return a > SHAPES and BELOW * a < x < ABOVE * a


def near_part(a, x, side):
    """The upper part for ``side == 1``, the lower one for -1."""
    if a > SHARP:
        return 0.5 if x == a else (0.0 if side * (x - a) > 0 else 1.0)
    high, low = large_exponent(a, x)
    root = math.copysign(math.sqrt(max(-high, 0.0)), x - a)
    # What the square of the root lacks is seen where the part is small.
    rest = -(high + root * root) - product_rest(root, root) - low
    moved = 0.5 * rest / root if root != 0 else 0.0
    series = math.sqrt(0.5 / a) * correction(a, root * math.sqrt(2 / a))
    edge = exp_of(high, low) / math.sqrt(math.pi) * (series - moved)
    return 0.5 * math.erfc(side * root) + side * edge


def correction(a, h):
    """Return a sum over powers of ``1 / a``; `tests.oracles.temme_coefficients` writes its body."""
    y = 0.0005313079364639922 + h * (-0.0005918574572401805 + h * 0.000265291845901282)
    total = y
    y = 0.00027731037798116163 + h * (-0.00019922856697054037 + h * 6.642557251256463e-05)
    y = -0.00033679855336635813 + h * (-6.97307797614557e-05 + h * y)
    total = y + total / a
    y = -1.4643739283378412e-06 + h * (6.792724700094963e-05 + h * -3.967144269416244e-05)
    y = -0.0008618880370481948 + h * (0.0007840392244648593 + h * (-0.00029912329332633424 + h * y))
    total = y + total / a
    y = -7.562792495085557e-05 + h * (-1.1333140115401859e-06 + h * 1.1303752800455179e-05)
    y = 0.0002294716412466492 + h * (-0.0004691893830824313 + h * (0.00026776084416651856 + h * y))
    y = 0.0006494341563786008 + h * y
    total = y + total / a
    y = -1.2762552563721888e-05 + h * (-9.330503297998834e-08 + h * 1.4007245110511973e-06)
    y = 2.009172653288062e-06 + h * (-0.00010736648441878714 + h * (5.293205735006129e-05 + h * y))
    y = 0.004133597883597883 + h * (-0.0026813271590411976 + h * (0.0007716049379488757 + h * y))
    total = y + total / a
    y = -1.810046343871961e-05 + h * (7.648529437173385e-06 + h * -1.5838492000425237e-06)
    y = -0.0009902263397082495 + h * (
        0.00020576136477333876 + h * (-4.0180153262034884e-07 + h * y)
    )
    y = -0.001851851851851852 + h * (-0.003472222222206074 + h * (0.0026455026451791316 + h * y))
    total = y + total / a
    y = -1.8542949941901e-06 + h * (8.311603967485611e-07 + h * -1.7408436567181226e-07)
    y = -0.00017875513903977078 + h * (3.919264096950106e-05 + h * (-2.185577598063025e-06 + h * y))
    y = -0.01481481481481415 + h * (0.001157407407327876 + h * (0.0003527336859192681 + h * y))
    y = -0.3333333333333333 + h * (0.08333333333333369 + h * y)
    total = y + total / a
    return total
