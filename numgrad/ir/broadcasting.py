"""Broadcasting of shapes of any rank that an array can have."""

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

MOST_AXES = 64
"""The highest rank of an array of NumPy 2."""


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Return the shape to which arrays of these shapes are broadcast.

    Unlike `numpy.broadcast_shapes`, which takes at most 32 axes, this function takes as many as an
    array can have, 64.

    Raises
    ------
    ValueError
        The shapes do not fit.
    """
    try:
        return np.broadcast_shapes(*shapes)  # type: ignore[arg-type]
    except RuntimeError:
        backward = zip_longest(*[shape[::-1] for shape in shapes], fillvalue=1)
        sizes = [_together(sizes, shapes) for sizes in backward]
        return tuple(sizes[::-1])


def _together(sizes: Sequence[int], shapes: Sequence[Sequence[int]]) -> int:
    found = set(sizes) - {1}
    if len(found) > 1:
        raise ValueError(
            "shape mismatch: objects cannot be broadcast to a single shape: "
            + ", ".join([str(tuple(shape)) for shape in shapes])
        )
    return found.pop() if found else 1
