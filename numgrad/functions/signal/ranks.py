"""Filters by rank: the median, the least or the largest of what surrounds an element."""

from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ..array.argument_checks import integers
from ..shape.joining import stack
from ..shape.padding import pad
from ..sorting.sorting import sort
from .filters import floating_numbers


def surroundings(x: Tensor, footprint: np.ndarray) -> Tensor:
    """Return the elements in a window around each place, along a new last axis; the window has all
    axes, and the result those places where it fits."""
    shape = [n - k + 1 for n, k in zip(x.shape, footprint.shape, strict=True)]
    parts = [
        x[tuple([slice(i, i + n) for i, n in zip(at, shape, strict=True)])]
        for at in np.argwhere(footprint).tolist()
    ]
    return stack(parts, axis=-1)


def ranked(x: Tensor, footprint: np.ndarray, rank: int) -> Tensor:
    """Return the element of a rank in the window around each place; the least one has rank 0."""
    around = surroundings(x, footprint)
    if rank in (0, around.shape[-1] - 1):
        return around.max(axis=-1) if rank else around.min(axis=-1)
    return sort(around, axis=-1)[..., rank]


def medfilt(volume: ArrayLike, kernel_size: Any = None) -> Tensor:
    """Return the median of what surrounds each element, with zeros outside, as
    `scipy.signal.medfilt` does.

    Parameters
    ----------
    volume : array_like
        Of any number of axes.
    kernel_size : int or sequence of int, optional
        The size of the window along all axes or each, odd numbers; 3 by default.

    Raises
    ------
    ValueError
        For sizes that are not odd.

    Notes
    -----
    The gradient goes to the element that is the median.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 9.0, 2.0, 3.0], requires_grad=True)
    >>> y = ng.signal.medfilt(x, 3)
    >>> y.tolist(), ng.grad(y[1], x)[0].tolist()
    ([1.0, 2.0, 3.0, 2.0], [0.0, 0.0, 1.0, 0.0])
    """
    x = floating_numbers(volume, "volume")
    if x.dtype.kind == "c":
        raise ValueError("medfilt: volume must be real, as complex numbers have no order")
    sizes = (3,) if kernel_size is None else integers(kernel_size, "kernel_size")
    sizes = sizes * x.ndim if len(sizes) == 1 else sizes
    if len(sizes) != x.ndim or any(n < 1 or n % 2 == 0 for n in sizes):
        raise ValueError(
            f"medfilt: kernel_size must be odd numbers, one or {x.ndim}, got {kernel_size!r:.80}"
        )
    if not x.size:
        return x
    wide = pad(x, [(n // 2, n // 2) for n in sizes])
    return ranked(wide, np.ones(sizes, bool), int(np.prod(sizes)) // 2)


def medfilt2d(input: ArrayLike, kernel_size: Any = 3) -> Tensor:
    """Return the median of what surrounds each element of a matrix, as `scipy.signal.medfilt2d`
    does: see `medfilt`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.signal.medfilt2d([[1.0, 2.0], [3.0, 4.0]]).tolist()
    [[0.0, 0.0], [0.0, 0.0]]
    """
    x = floating_numbers(input, "input")
    if x.ndim != 2:
        raise ValueError(f"medfilt2d: input must be a matrix, got shape {x.shape}")
    return medfilt(x, kernel_size)
