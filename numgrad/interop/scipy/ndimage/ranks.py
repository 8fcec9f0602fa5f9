"""Filters by rank under the names of ``scipy.ndimage``."""

from typing import Any

import numpy as np

from ....functions.array.argument_checks import integer, numeric, real_number
from ....functions.signal.ranks import ranked
from .boundary import Image, chosen_axes, extended, for_each


def rank_filter(
    input: Any,  # noqa: A002  SciPy's name
    rank: int,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Return the element of a rank in the surroundings of each element, as
    `scipy.ndimage.rank_filter` does.

    Parameters
    ----------
    input : array_like
        Of real floating numbers.
    rank : int
        0 for the least element, -1 for the largest.
    size : int, or one for each axis
        Of the window, unless there is a ``footprint``.
    footprint : array_like, optional
        What is in the window: elements that are not 0.
    output, mode, cval, origin, axes
        As in `correlate`.

    Returns
    -------
    Tensor or numpy.ndarray
        With gradients to ``input`` and ``cval``: that of the element which has the rank.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 4.0, 9.0, 2.0], requires_grad=True)
    >>> y = ng.interop.scipy.ndimage.rank_filter(x, 1, size=3)
    >>> y.tolist(), ng.grad(y[1], x)[0].tolist()
    ([1.0, 4.0, 4.0, 2.0], [0.0, 1.0, 0.0, 0.0])
    """
    window = size, footprint
    return _filtered("rank_filter", input, rank, window, output, mode, cval, origin, axes)


def percentile_filter(
    input: Any,  # noqa: A002  SciPy's name
    percentile: float,
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Return a percentile of the surroundings of each element, as
    `scipy.ndimage.percentile_filter` does: see `rank_filter`.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 4.0, 9.0, 2.0], requires_grad=True)
    >>> ng.interop.scipy.ndimage.percentile_filter(x, 50, size=3).tolist()
    [1.0, 4.0, 4.0, 2.0]
    """
    share = real_number(percentile, "percentile")
    share = share + 100.0 if share < 0 else share
    if not 0 <= share <= 100:
        raise ValueError(f"percentile_filter: percentile must be in -100..100, got {percentile}")

    def rank(count: int) -> int:
        return count - 1 if share == 100.0 else int(count * share / 100.0)

    window = size, footprint
    return _filtered("percentile_filter", input, rank, window, output, mode, cval, origin, axes)


def median_filter(
    input: Any,  # noqa: A002  SciPy's name
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Return the median of the surroundings of each element, as `scipy.ndimage.median_filter` does:
    see `rank_filter`.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 4.0, 9.0, 2.0], requires_grad=True)
    >>> ng.interop.scipy.ndimage.median_filter(x, 3).tolist()
    [1.0, 4.0, 4.0, 2.0]
    """
    window = size, footprint
    return _filtered(
        "median_filter", input, lambda n: n // 2, window, output, mode, cval, origin, axes
    )


def minimum_filter(
    input: Any,  # noqa: A002  SciPy's name
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Return the least of the surroundings of each element, as `scipy.ndimage.minimum_filter` does.

    Where several elements are the least, they share the gradient, as in `ng.min`.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 4.0, 9.0, 2.0], requires_grad=True)
    >>> ng.interop.scipy.ndimage.minimum_filter(x, 3).tolist()
    [1.0, 1.0, 2.0, 2.0]
    """
    window = size, footprint
    return _filtered("minimum_filter", input, 0, window, output, mode, cval, origin, axes)


def maximum_filter(
    input: Any,  # noqa: A002  SciPy's name
    size: Any = None,
    footprint: Any = None,
    output: Any = None,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Any:
    """Return the largest of the surroundings of each element, as `scipy.ndimage.maximum_filter`
    does: see `minimum_filter`.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 4.0, 9.0, 2.0], requires_grad=True)
    >>> ng.interop.scipy.ndimage.maximum_filter(x, 3).tolist()
    [4.0, 9.0, 9.0, 9.0]
    """
    window = size, footprint
    return _filtered("maximum_filter", input, -1, window, output, mode, cval, origin, axes)


def minimum_filter1d(
    input: Any,  # noqa: A002  SciPy's name
    size: int,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Any:
    """Return the least of the surroundings along an axis: see `minimum_filter`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.interop.scipy.ndimage.minimum_filter1d([1.0, 4.0, 9.0, 2.0], 3).tolist()
    [1.0, 1.0, 2.0, 2.0]
    """
    window = size, None
    return _filtered("minimum_filter1d", input, 0, window, output, mode, cval, origin, axis)


def maximum_filter1d(
    input: Any,  # noqa: A002  SciPy's name
    size: int,
    axis: int = -1,
    output: Any = None,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Any:
    """Return the largest of the surroundings along an axis: see `minimum_filter`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.interop.scipy.ndimage.maximum_filter1d([1.0, 4.0, 9.0, 2.0], 3).tolist()
    [4.0, 9.0, 9.0, 9.0]
    """
    window = size, None
    return _filtered("maximum_filter1d", input, -1, window, output, mode, cval, origin, axis)


def _filtered(
    what: str, given: Any, rank: Any, window: tuple[Any, Any], output: Any, modes: Any, cval: Any,
    origins: Any, axes: Any,
) -> Any:  # fmt: skip
    image = Image(given, what, output)
    if image.x.dtype.kind == "c":
        raise ValueError(f"{what}: input must be real, as complex numbers have no order")
    at = chosen_axes(axes, image.x.ndim, what)
    inside = _footprint(*window, at, what)
    count = int(inside.sum())
    place: Any = rank(count) if callable(rank) else integer(rank, "rank")
    if not -count <= place < count:
        raise ValueError(f"{what}: rank {place} in a window of {count} elements")
    x, shape = image.x, [1] * image.x.ndim
    modes, origins = for_each(modes, at, "mode", what), for_each(origins, at, "origin", what)
    for axis, n, mode, origin in zip(at, inside.shape, modes, origins, strict=True):
        shape[axis], before = n, n // 2 + integer(origin, "origin")
        if not 0 <= before <= n - 1:
            raise ValueError(f"{what}: origin {origin} of a window of {n}")
        x = extended(x, axis, before, n - 1 - before, mode, cval, what)
    order = np.argsort(at)
    y = ranked(x, inside.transpose(order).reshape(shape), place % count) if x.size else x
    return image.delivered(y, cval)


def _footprint(size: Any, footprint: Any, axes: list[int], what: str) -> np.ndarray:
    """Return which elements of a window count."""
    if footprint is None:
        if size is None:
            raise ValueError(f"{what}: size or footprint must be given")
        sizes = [integer(n, "size") for n in for_each(size, axes, "size", what)]
        if any(n < 1 for n in sizes):
            raise ValueError(f"{what}: size must be positive, got {size!r:.80}")
        return np.ones(sizes, bool)
    inside = np.asarray(numeric(footprint, "footprint")) != 0
    if inside.ndim != len(axes) or not inside.any():
        raise ValueError(
            f"{what}: footprint of shape {inside.shape} for {len(axes)} axes, with elements"
        )
    return inside
