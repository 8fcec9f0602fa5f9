"""The Faddeeva function in the upper half plane, by a trapezoidal rule that knows its poles.

Its integral is that of ``exp(-t**2) / (z - t)``. The rule is wrong by the residue at ``t = z``,
which is added, and loses digits where ``z`` is next to a node: then the nodes are moved by half a
step (Al Azah and Chandler-Wilde 2021).
"""

import math

from ...._declare.foreign import ForeignFunction
from ...elementwise.double_double import in_single
from .normal import FAR, tail

SCIPYS_WOFZ = ForeignFunction("wofz", "z", "z")
NODES, SQRT_PI, LARGE = 14, math.sqrt(math.pi), 1e15
STEP = math.sqrt(math.pi / (NODES + 1))


def wofz(z):
    """On and below the real line SciPy's."""
    if in_single() or not (z.imag > 0 and abs(z) < math.inf):
        return SCIPYS_WOFZ(z)
    if abs(z) > LARGE:  # the square may be infinite
        return 1j / z / SQRT_PI
    if abs(z) > FAR:
        return 1j / (SQRT_PI * z) * tail(-0.5 / (z * z))
    place = abs(z.real) / STEP
    is_moved = abs(place - round(place)) < 0.25
    total = nodes(z, 0.5 if is_moved else 1.0)
    if not is_moved:
        total += 0.5 / (z * z)
    value = 2j * STEP / math.pi * z * total
    if z.imag < math.pi / STEP:
        turn = math.exp(-2j * math.pi / STEP * z)
        value += 2 * math.exp(-z * z) / (1 + turn if is_moved else 1 - turn)
    return value


def nodes(z, first):
    """Return the sum of ``exp(-t**2) / (z**2 - t**2)`` over the nodes above 0."""
    total, k = 0j, first
    for _ in range(NODES):
        t = k * STEP
        total += math.exp(-t * t) / ((z - t) * (z + t))
        k += 1
    return total
