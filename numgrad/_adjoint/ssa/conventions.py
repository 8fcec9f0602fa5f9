"""Functions of derived source whose derivatives are conventions, at ties and at kinks.

A derived source names them where its text alone would have another derivative when it is derived
again.
"""

import math
from typing import Any

from numba.extending import register_jitable

from .gamma import polygamma


@register_jitable
def held(x: Any) -> Any:
    """Return a number, as a constant for derivatives."""
    return x


@register_jitable
def tied(x: Any, extreme: Any, count: Any) -> float:
    """Return 0, whose derivative in ``x`` is a share of 1 where ``x`` is the extreme of several."""
    return 0.0


@register_jitable
def kink(x: Any, y: Any) -> float:
    """Return 0, a slope that is a convention: its derivatives are NaN."""
    return 0.0


@register_jitable
def undefined(x: Any) -> float:
    """Return 0, a slope that does not exist: where it is asked for, its derivative is NaN."""
    return 0.0


@register_jitable
def slope(value: Any, linear: Any) -> Any:
    """Return a number that has the derivatives of another one."""
    return value


@register_jitable
def clip(x: Any, low: Any, high: Any) -> Any:
    """Return a number within bounds, whose slope is 1 at the bounds too."""
    return min(max(x, low), high)


@register_jitable
def root(x: Any) -> Any:
    """Return the square root of a sum of squares, whose slope at 0 is 0 by convention."""
    return math.sqrt(x)


@register_jitable
def laid_down(tape: Any, top: int, array: Any) -> int:
    """Write the elements of an array to a tape; return the place behind them."""
    flat = array.reshape(array.size)
    for i in range(flat.size):
        tape[top + i] = flat[i]
    return top + flat.size


CONVENTIONS = {
    "polygamma": polygamma, "root": root, "clip": clip, "held": held, "tied": tied, "kink": kink,
    "laid_down": laid_down,
}  # fmt: skip
