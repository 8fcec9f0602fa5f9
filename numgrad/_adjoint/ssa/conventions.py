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
    flat = array.ravel()  # Numba reshapes no results of LAPACK, which lie column by column
    for i in range(flat.size):
        tape[top + i] = flat[i]
    return top + flat.size


@register_jitable
def in_chunks(steps: int, apart: int, work: int, size: int = 0, room: int = 0) -> int:
    """Return in how many chunks the steps of a loop run: as many for any number of threads.

    Parameters
    ----------
    steps : int
    apart : int
        The fewest steps of a chunk.
    work : int
        About how many operations a step takes.
    size : int
        The length of arrays of which each chunk but one has its own.
    room : int
        The bytes that such arrays may take.
    """
    count = steps // apart
    most = 1 + steps * work // 4096
    count = most if count > most else count
    count = 128 if count > 128 else count
    if size > 0:  # to make and to add them shall take a fraction of what the steps take
        most = 1 + steps * work // (8 * size)
        count = most if count > most else count
        most = 1 + room // (8 * size)
        count = most if count > most else count
        count = 32 if count > 32 else count
    return 1 if count < 1 else count


@register_jitable
def most_of(numbers: Any) -> int:
    """Return the largest of natural numbers, 0 if there are none."""
    found = 0
    for number in numbers:
        found = number if number > found else found
    return found


@register_jitable
def moved_together(tape: Any, top: int, room: int, tops: Any) -> int:
    """Close the gaps between what chunks have written to parts of a tape; return the place behind.

    Parameters
    ----------
    tape : array
    top : int
        Where the first part begins.
    room : int
        The length of a part.
    tops : array of int
        How much each part holds; afterwards where that begins, and at last where all ends.
    """
    start = top
    for chunk in range(tops.size - 1):
        length = tops[chunk]
        tops[chunk] = top
        to, held = tape[top : top + length], tape[start : start + length]
        for i in range(length if start > top else 0):
            to[i] = held[i]
        top += length
        start += room
    tops[-1] = top
    return top


CONVENTIONS = {
    "polygamma": polygamma, "root": root, "clip": clip, "held": held, "tied": tied, "kink": kink,
    "laid_down": laid_down, "in_chunks": in_chunks, "most_of": most_of,
    "moved_together": moved_together,
}  # fmt: skip
