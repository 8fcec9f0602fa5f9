"""Monotone cubics on a grid, along one axis after the other, the last one first."""

from collections.abc import Sequence

import numpy as np

from ...._tensor import Tensor
from ....functions.shape.reshaping import moveaxis
from .data import beside, interval
from .monotone import harmonic


def folded(grid: Sequence[Tensor], values: Tensor, columns: Sequence[Tensor]) -> Tensor:
    """Return the interpolant at points.

    The values interpolated along an axis are those of the interpolant along the axes after it.
    """
    y = values[..., None]  # the last axis is for the points; all have the same values at first
    for axis in range(len(grid) - 1, -1, -1):
        y = _along_first(grid[axis], moveaxis(y, axis, 0), columns[axis])
    return moveaxis(y, -1, 0)


def _along_first(x: Tensor, y: Tensor, at: Tensor) -> Tensor:
    """Return, for each point, the cubic through its values along the first axis."""
    h = beside(x[1:] - x[:-1], y)
    slopes = harmonic(h, (y[1:] - y[:-1]) / h)
    place = interval(x, at, 0, x.size - 2)
    point = np.arange(at.size) if y.shape[-1] > 1 else np.zeros(at.size, int)
    low, width = x[place], x[place + 1] - x[place]

    def taken(of: Tensor, n: int) -> Tensor:
        return moveaxis(moveaxis(of, -1, 1)[place + n, point], 0, -1)

    s = (at - low) / width
    left, right = (taken(slopes, n) * width for n in (0, 1))
    start, end = (taken(y, n) for n in (0, 1))
    square = s * s
    rising = square * (3.0 - 2.0 * s)
    bent = s * (1.0 - s)
    return start + (end - start) * rising + bent * ((1.0 - s) * left - s * right)
