"""Tangent and cotangent of angles in degrees; they are reduced to one from -90 to 90, exactly."""

import math

from ..._declare.foreign import ForeignFunction
from .double_double import in_single

SCIPYS_TANDG, SCIPYS_COTDG = ForeignFunction("tandg", "d"), ForeignFunction("cotdg", "d")
DEGREE, LARGE = math.pi / 180, 1e14


def tangent(x):
    """SciPy's for what it takes for too large."""
    if in_single() or not abs(x) < LARGE:
        return SCIPYS_TANDG(x)
    angle = x - 180 * round(x / 180)
    if abs(angle) == 90:
        return math.inf
    if abs(angle) == 45:
        return angle / 45
    if abs(angle) < 45:
        return math.tan(angle * DEGREE)
    return 1 / math.tan((math.copysign(90.0, angle) - angle) * DEGREE)


def cotangent(x):
    """SciPy's for what it takes for too large."""
    if in_single() or not abs(x) < LARGE:
        return SCIPYS_COTDG(x)
    angle = x - 180 * round(x / 180)
    if angle == 0:
        return math.inf
    if abs(angle) == 45:
        return angle / 45
    if abs(angle) > 45:
        return math.tan((math.copysign(90.0, angle) - angle) * DEGREE)
    return 1 / math.tan(angle * DEGREE)
