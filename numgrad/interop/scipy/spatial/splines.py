"""Splines through arrays: their coefficients, and the shares of these between elements."""

from functools import cache
from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....functions.array.operands import as_tensor
from ....functions.indexing.indexing import take
from ....functions.shape.joining import concat
from ....functions.signal.convolution import correlate

CONTINUED = {
    "constant": "reflect", "grid-constant": "reflect", "mirror": "reflect", "wrap": "reflect",
    "grid-wrap": "wrap", "nearest": "symmetric", "reflect": "symmetric",
    "grid-mirror": "symmetric",
}  # fmt: skip
"""How an array goes on where coefficients are found, in NumPy's words, by SciPy's mode."""
PADDED = ("nearest", "grid-constant")
PAD = 12
"""How many elements SciPy puts around an array in modes that have no exact condition at the end."""


def shares(u: Tensor, degree: int) -> list[Any]:
    """Return the basis functions of a degree that are not zero in an interval between uniform
    knots, at fractions of it."""
    values: list[Any] = [1.0]
    for d in range(1, degree + 1):
        new: list[Any] = []
        for j in range(d + 1):
            parts = []
            if j < d:
                parts.append(values[j] * ((j + 1.0 - u) / d))
            if j:
                parts.append(values[j - 1] * ((u + (d - j)) / d))
            new.append(sum(parts[1:], parts[0]))
        values = new
    return values


@cache
def _inverse(degree: int) -> np.ndarray:
    """Return the weights of the filter from values to coefficients, to rounding."""
    middle = as_tensor(0.5 if degree % 2 == 0 else 0.0)
    size = 256
    column = np.zeros(size)
    for k, share in enumerate(shares(middle, degree)):
        column[(k - degree // 2) % size] += float(share)
    weights = np.fft.irfft(1.0 / np.fft.rfft(column), size)
    count = int(np.flatnonzero(np.abs(weights[: size // 2]) > 1e-18)[-1])
    count = min(count, {2: 23, 3: 30, 4: 39, 5: 47}[degree])
    return weights[np.arange(-count, count + 1)]


def filtered(x: Tensor, degree: int, axis: int, mode: str) -> Tensor:
    """Return the coefficients, along an axis, of the spline through values."""
    n = x.shape[axis]
    if degree < 2 or n < 2 or not x.size:
        return x
    weights = _inverse(degree)
    around = weights.size // 2
    continued: Any = CONTINUED[mode]
    places = np.pad(np.arange(n), around, continued)
    shape = [1] * x.ndim
    shape[axis] = weights.size
    return correlate(take(x, places, axis=axis), weights.reshape(shape), "valid", "direct")


def coefficients(x: Tensor, degree: int, mode: str, fill: Tensor) -> tuple[Tensor, int]:
    """Return the coefficients of the spline through an array, and how many elements were put around
    it before."""
    pad = PAD if mode in PADDED else 0
    for axis in range(x.ndim):
        x = _padded(x, axis, mode, fill) if pad else x
    for axis in range(x.ndim):
        x = filtered(x, degree, axis, mode)
    return x, pad


def _padded(x: Tensor, axis: int, mode: str, fill: Tensor) -> Tensor:
    if mode == "nearest":
        return take(x, np.pad(np.arange(x.shape[axis]), PAD, "edge"), axis=axis)
    side = np.ones((*x.shape[:axis], PAD, *x.shape[axis + 1 :])) * fill
    return concat([side, x, side], axis=axis)
