"""Modified Bessel functions of order 0, 1 and 2: power series, and polynomials of the reciprocal.

A kernel computes both for whole vectors, and chooses. In single precision SciPy's serve.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...._declare.foreign import ForeignFunction
from ...elementwise.arithmetic import where
from ...elementwise.double_double import in_single

SCIPYS_I0, SCIPYS_I1 = ForeignFunction("i0", "d"), ForeignFunction("i1", "d")
SCIPYS_I0E, SCIPYS_I1E = ForeignFunction("i0e", "d"), ForeignFunction("i1e", "d")
NEAR, TERMS, MOST = 8.0, 24, 1000.0
"""From where on the polynomials serve, how many terms of the series have all digits before, and
where all functions that grow are infinite."""

# Of ``sqrt(x) * exp(-x) * i0(x)``, and of the others, by ``16 / x - 1``, highest power first;
# docs/engine/derive_bessel.py derives them.
OF_ZERO = (
    -2.4421972688131832e-11, 9.114760157514253e-11, 1.7698085539456536e-10,
    -6.494591114401118e-10, -6.327909921997027e-10, 2.163681278413876e-09, 1.6084886155781772e-09,
    -4.5305710768621196e-09, -3.5862834111582305e-09, 6.522264862032271e-09,
    7.600254486433509e-09, -5.0175940345046716e-09, -1.3427511481900905e-08,
    -6.856484545962442e-09, 7.559364098665437e-09, 2.156780676115673e-08, 3.932512321137824e-08,
    8.872014585661555e-08, 2.9735992084667734e-07, 1.4838476780922646e-06, 1.114303378845176e-05,
    0.00013621607438951463, 0.0033605519836678913, 0.4021765094450081,
)
OF_ONE = (
    2.2421768596847442e-11, -9.491890392992048e-11, -1.6283264322621244e-10, 6.7727478454462e-10,
    5.870664618471487e-10, -2.2624401109204446e-09, -1.5218214060680734e-09,
    4.763780078020254e-09, 3.501765193290176e-09, -6.9444186339873875e-09, -7.687251308765992e-09,
    5.5720183980930355e-09, 1.4051746928735543e-08, 6.84757829926934e-09, -8.432168972932417e-09,
    -2.3394122958362557e-08, -4.3128498031006734e-08, -1.0001075046243961e-07,
    -3.4838563464253135e-07, -1.8349102493990178e-06, -1.5038547198221758e-05,
    -0.00021923576383137776, -0.009749577193235765, 0.38939845902587233,
)
OF_TWO = (
    -1.53598307714977e-11, 1.0655021852202356e-10, 1.126755877297644e-10, -7.633589103140395e-10,
    -4.233692860655407e-10, 2.5701493425155495e-09, 1.2032437815841544e-09,
    -5.500111812620615e-09, -3.155951731071079e-09, 8.311022074462565e-09, 7.864658600267628e-09,
    -7.453627944489433e-09, -1.6039927135401515e-08, -6.6631074591803625e-09,
    1.1537650590077308e-08, 2.988395998496133e-08, 5.721752927305904e-08, 1.447696083769453e-07,
    5.70271906351871e-07, 3.593029863631529e-06, 4.04273226671517e-05, 0.001382317694022811,
    -0.04409555824541168, 0.35350170206677406,
)


def polynomial(coefficients: Sequence[float]) -> Callable[[Any], Any]:
    """Return the polynomial of these coefficients, the highest power first, in one expression."""
    text = repr(coefficients[0])
    for coefficient in coefficients[1:]:
        text = f"({text}) * t + {coefficient!r}"
    return eval(f"lambda t: {text}", {"__name__": __name__})  # type: ignore[no-any-return]


def power_series(order: int) -> Callable[[Any], Any]:
    """Return the power series (DLMF 10.25.2) as a function of ``x * x / 4``, without its power."""
    count = range(TERMS, -1, -1)
    return polynomial([1 / (math.factorial(k) * math.factorial(k + order)) for k in count])


near_0, near_1, near_2 = (power_series(order) for order in range(3))
far_0, far_1, far_2 = (polynomial(of) for of in (OF_ZERO, OF_ONE, OF_TWO))


def i0e(x):
    if in_single():
        return SCIPYS_I0E(x)
    z = abs(x)
    return where(z < NEAR, math.exp(-z) * near_0(0.25 * z * z), far_0(16 / z - 1) / math.sqrt(z))


def i1e(x):
    if in_single():
        return SCIPYS_I1E(x)
    z = abs(x)
    near = math.exp(-z) * (0.5 * x * near_1(0.25 * z * z))
    far = far_1(16 / z - 1) / math.sqrt(z)
    return where(z < NEAR, near, where(x < 0, -far, far))


def i2e(x):
    z = abs(x)
    r = 0.25 * z * z
    return where(z < NEAR, math.exp(-z) * (r * near_2(r)), far_2(16 / z - 1) / math.sqrt(z))


def i0(x):
    if in_single():
        return SCIPYS_I0(x)
    z = abs(x)
    return where(z < NEAR, near_0(0.25 * z * z), grown(far_0(16 / z - 1), z))


def i1(x):
    if in_single():
        return SCIPYS_I1(x)
    z = abs(x)
    far = grown(far_1(16 / z - 1), z)
    return where(z < NEAR, 0.5 * x * near_1(0.25 * z * z), where(x < 0, -far, far))


def i2(x):
    z = abs(x)
    r = 0.25 * z * z
    return where(z < NEAR, r * near_2(r), grown(far_2(16 / z - 1), z))


def grown(scaled, z):
    """Return ``scaled * exp(z) / sqrt(z)``, by halves of the exponent: the whole might overflow."""
    half = math.exp(0.5 * z)
    return where(z < MOST, half * (scaled / math.sqrt(z) * half), z * half)


__all__ = ["i0", "i0e", "i1", "i1e", "i2", "i2e"]
