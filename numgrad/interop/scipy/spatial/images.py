"""Values of arrays between their elements, under the names of ``scipy.ndimage``."""

from collections.abc import Callable
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....engine.record.guards import guarded
from ....functions.array.argument_checks import integer, numeric
from ....functions.array.operands import as_tensor
from ....functions.elementwise.rounding import floor, trunc
from ....functions.indexing.indexing import take
from ....functions.shape.selection import where
from ..interpolate.data import answer, real, require_finite
from .splines import coefficients, shares

Modes = dict[str, tuple[Callable[[Tensor, int], Tensor], Callable[[Tensor, int], Tensor]]]


def map_coordinates(
    input: Any,  # noqa: A002  SciPy's name
    coordinates: Any,
    output: Any = None,
    order: int = 3,
    mode: str = "constant",
    cval: Any = 0.0,
    prefilter: bool = True,
) -> Any:
    """Return an array's values at coordinates between its elements, with the signature of
    `scipy.ndimage.map_coordinates`.

    Parameters
    ----------
    input : array_like
        The array, of floating numbers.
    coordinates : array_like
        Along the first axis, a coordinate for each axis of ``input``, in elements.
    output : dtype, optional
        The dtype of the result; that of ``input`` by default.
    order : int
        0 for the nearest element, 1 for linear interpolation, and 2 to 5 for the spline of that
        degree through all elements.
    mode : str
        What is outside: ``"constant"``, ``"grid-constant"``, ``"nearest"``, ``"mirror"``,
        ``"reflect"``, ``"grid-mirror"``, ``"wrap"``, ``"grid-wrap"``.
    cval : array_like
        The number for the first two of them.
    prefilter : bool
        Whether a spline goes through the elements, or has them as its coefficients.

    Raises
    ------
    ValueError
        For another order or mode, coordinates that are not finite or of another number of axes, an
        ``input`` that is not floating (SciPy rounds what it gives for integers), and an array as
        ``output``.

    Notes
    -----
    ``input``, ``coordinates`` and ``cval`` have gradients. That of a coordinate is the slope to the
    next element; at an element it is the slope behind it,
    at the last one that before it where nothing follows. With order 0 it is 0, and splines have it
    everywhere.

    Examples
    --------
    >>> import numgrad as ng
    >>> at = ng.tensor([[0.5], [1.0]], requires_grad=True)
    >>> y = ng.interop.scipy.map_coordinates([[1.0, 2.0], [3.0, 8.0]], at, order=1)
    >>> y.tolist()
    [5.0]
    >>> ng.grad(y.sum(), at)[0].tolist()
    [[6.0], [3.0]]
    """
    degree = integer(order, "order")
    if not 0 <= degree <= 5:
        raise ValueError(f"map_coordinates: order must be in 0..5, got {degree}")
    if not isinstance(mode, str) or mode not in MODES:
        choices = ", ".join(MODES)
        raise ValueError(f"map_coordinates: mode must be one of {choices}, got {mode!r:.80}")
    x = as_tensor(numeric(input, "input"))
    at = real(numeric(coordinates, "coordinates"), "map_coordinates", "coordinates")
    if x.dtype.kind not in "fc":
        raise ValueError(
            f"map_coordinates: input must be floating, got {x.dtype}; write input.astype(float)"
        )
    if not x.ndim or not at.ndim or at.shape[0] != x.ndim:
        raise ValueError(
            f"map_coordinates: coordinates of shape {at.shape} must have a first axis of size "
            f"{x.ndim} for input of shape {x.shape}"
        )
    require_finite(at, "map_coordinates", "coordinates")
    dtype = x.dtype if output is None else _dtype(output)
    fill = as_tensor(numeric(cval, "cval"))
    if fill.ndim:
        raise ValueError(f"map_coordinates: cval must be a number, got shape {fill.shape}")
    if degree > 1:
        y = _on_spline(x, at, degree, mode, fill, bool(guarded(prefilter)))
    else:
        y = _between(x, at, degree, mode, fill)
    return answer(y.astype(dtype, copy=False), input, coordinates, cval)


def _dtype(output: Any) -> np.dtype:
    try:
        dtype = np.dtype(output)
    except TypeError:
        raise ValueError(f"map_coordinates: output must be a dtype, got {output!r:.80}") from None
    if dtype.kind not in "fc":
        raise ValueError(f"map_coordinates: output must be floating, got {dtype}")
    return dtype


def _between(x: Tensor, at: Tensor, degree: int, mode: str, fill: Tensor) -> Tensor:
    if 0 in x.shape:
        return as_tensor(np.zeros(at.shape[1:], x.dtype)) + fill
    moved, placed = MODES[mode]
    flat, shape = x.reshape(x.size), at.shape[1:]
    inner = [moved(at[k], n) for k, n in enumerate(x.shape)]
    low = [floor(c if degree else c + 0.5) for c in inner]
    if degree and mode in ("constant", "wrap"):  # at the last element, take the interval before it
        ends = [max(n - 2, 0) for n in x.shape]
        low = [where(i > end, float(end), i) for i, end in zip(low, ends, strict=True)]
    total: Any = None
    for corner in product((0, 1) if degree else (0,), repeat=x.ndim):
        places: Any = 0
        inside, weight = True, 1.0
        for k, step in enumerate(corner):
            n, stride = x.shape[k], prod(x.shape[k + 1 :])
            place = low[k] + step
            if mode == "grid-constant":
                inside = inside & (place >= 0) & (place <= n - 1)
            places = places + placed(place, n) * stride
            if degree:
                part = inner[k] - low[k]
                weight = weight * (part if step else 1.0 - part)
        value = take(flat, places.astype(np.int64).reshape(-1)).reshape(shape)
        value = value if inside is True else where(inside, value, fill)
        term = value * weight if degree else value
        total = term if total is None else total + term
    return _filled(total, at, x.shape, fill) if mode == "constant" else total


def _filled(y: Tensor, at: Tensor, shape: tuple[int, ...], fill: Tensor) -> Tensor:
    inside: Any = True
    for k, n in enumerate(shape):
        inside = inside & (at[k] >= 0) & (at[k] <= n - 1)
    return where(inside, y, fill)


def _on_spline(
    x: Tensor, at: Tensor, degree: int, mode: str, fill: Tensor, is_through: bool
) -> Tensor:
    """Return the values of a spline, a sum over the coefficients around each point."""
    if 0 in x.shape:
        return as_tensor(np.zeros(at.shape[1:], x.dtype)) + fill
    c, pad = x.astype(np.result_type(x.dtype, np.float64), copy=False), 0
    if is_through:
        c, pad = coefficients(c, degree, mode, fill)
    moved, placed = AROUND_SPLINES.get(mode, MODES[mode])
    flat, shape, total = c.reshape(c.size), at.shape[1:], None
    starts, weights = [], []
    for k, n in enumerate(c.shape):
        inner = moved(at[k] + float(pad), n)
        shifted = inner + 0.5 * (1 - degree % 2)
        low = floor(shifted)
        starts.append(low - float(degree // 2))
        weights.append(shares(shifted - low, degree))
    for corner in product(range(degree + 1), repeat=c.ndim):
        places: Any = 0
        inside, weight = True, 1.0
        for k, step in enumerate(corner):
            n, place = c.shape[k], starts[k] + float(step)
            if mode == "grid-constant":
                inside = inside & (place >= 0) & (place <= n - 1)
            places = places + placed(place, n) * prod(c.shape[k + 1 :])
            weight = weight * weights[k][step]
        value = take(flat, places.astype(np.int64).reshape(-1)).reshape(shape)
        term = (value if inside is True else where(inside, value, fill)) * weight
        total = term if total is None else total + term
    assert total is not None
    return _filled(total, at, x.shape, fill) if mode == "constant" else total


# Coordinates outside, and places of elements there ------------------------------------------------


def _as_given(c: Tensor, n: int) -> Tensor:
    return c


def _clipped(c: Tensor, n: int) -> Tensor:
    return where(c < 0, 0.0, where(c > n - 1, n - 1.0, c))


def _mirrored(c: Tensor, n: int) -> Tensor:
    """Reflect about the centres of the elements at the ends."""
    if n == 1:
        return c * 0.0
    period = 2.0 * n - 2.0
    below = c + period * trunc(-c / period)
    below = where(below <= 1 - n, below + period, -below)
    above = c - period * trunc(c / period)
    above = where(above >= n, period - above, above)
    return where(c < 0, below, where(c > n - 1, above, c))


def _reflected(c: Tensor, n: int) -> Tensor:
    """Reflect about the outer edges of the elements at the ends."""
    period = 2.0 * n
    below = c + period * trunc(-c / period)
    below = where(below < -n, below + period, -below - 1.0)
    above = c - period * trunc(c / period)
    above = where(above >= n, period - above - 1.0, above)
    return where(c < 0, below, where(c > n - 1, above, c))


def _wrapped(c: Tensor, n: int, period: float | None = None) -> Tensor:
    """Return coordinates moved into an axis of ``n`` elements that repeats with a period; by
    default the first and the last element are the same point."""
    size = n - 1.0 if period is None else period
    if not size:
        return c * 0.0
    below = c + size * (trunc(-c / size) + 1.0)
    above = c - size * trunc(c / size)
    return where(c < 0, below, where(c > n - 1, above, c))


def _repeated(c: Tensor, n: int) -> Tensor:
    return _wrapped(c, n, float(n))


def _mirrored_places(i: Tensor, n: int) -> Tensor:
    return _clipped(where(i < 0, -i, where(i > n - 1, 2.0 * n - 2.0 - i, i)), n)


def _repeated_places(i: Tensor, n: int) -> Tensor:
    return i - n * floor(i / n)


MODES: Modes = {
    "constant": (_as_given, _clipped),
    "grid-constant": (_as_given, _clipped),
    "nearest": (_clipped, _clipped),
    "mirror": (_mirrored, _mirrored_places),
    "reflect": (_reflected, _clipped),
    "grid-mirror": (_reflected, _clipped),
    "wrap": (_wrapped, _clipped),
    "grid-wrap": (_repeated, _repeated_places),
}
AROUND_SPLINES: Modes = {
    "constant": (_as_given, _mirrored),
    "nearest": (_as_given, _clipped),
    "mirror": (_mirrored, _mirrored),
    "reflect": (_reflected, _reflected),
    "grid-mirror": (_reflected, _reflected),
    "wrap": (_wrapped, _mirrored),
}
"""Modes in which splines, which reach further than the next element, go on otherwise."""
