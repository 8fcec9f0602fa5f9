"""Histograms, counts, and the bins that elements are in: weights and edges have derivatives, counts
none."""

import builtins
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor, constant
from ...engine.capture.capture import refuse
from ...engine.graph.value import CPU
from ...engine.record.apply import other_modes
from ...engine.record.composition import composed
from ...engine.record.guards import guarded
from ...operators.elementwise import numpy_functions as _borrowed
from ...operators.shape.gathering import scatter_add, summable
from ...operators.shape.index_positions import countable
from ..array.argument_checks import WordsOfNumpy, integer, pair, sequence
from ..array.operands import as_scalar, as_tensor, is_known, values_of, whole
from ..creation.from_data import fresh
from ..creation.ranges import linspace
from ..shape.reshaping import atleast_2d, ravel, reshape
from ..shape.selection import maximum, minimum, where
from ..signal.differences import diff
from ..sorting.searching import searchsorted
from .reduction import max as largest_of
from .reduction import min as least_of


def bincount(x: ArrayLike, /, weights: ArrayLike | None = None, minlength: int = 0) -> Tensor:
    """Return how often each natural number occurs in a vector, or the sums of their weights.

    Parameters
    ----------
    x : array_like of int
        A vector without negative numbers.
    weights : array_like, optional
        One for each element; computed in float64.
    minlength : int
        The least size of the result. In a captured function, where numbers are not known yet, it
        is the size, and greater numbers are refused when they come.

    Raises
    ------
    ValueError
        For negative numbers, more axes, and weights of another size.
    TypeError
        For numbers that are no integers, and complex weights.

    Notes
    -----
    The gradient of a weight is the cotangent of the number that it belongs to.

    Examples
    --------
    >>> import numgrad as ng
    >>> w = ng.tensor([1.0, 2.0, 5.0], requires_grad=True)
    >>> ng.bincount([0, 2, 0], w).detach()
    tensor([6., 0., 2.])
    >>> ng.grad(ng.bincount([0, 2, 0], w)[0], w)[0]
    tensor([1., 0., 1.])
    """
    places, size = _places(x, whole(minlength))
    w = as_tensor(np.ones(places.shape, np.int64) if weights is None else weights)
    if w.dtype.kind == "c":
        raise TypeError("bincount: weights must be real")
    if w.shape != places.shape:
        raise ValueError(f"bincount: weights of shape {w.shape} for numbers of {places.shape}")
    return _added_up(w if weights is None else w.astype(np.float64, copy=False), places, size)


def _places(x: ArrayLike, minlength: int) -> tuple[Tensor, int]:
    """Return the numbers that `bincount` counts, and how many there may be."""
    numbers = as_tensor(np.zeros(0, np.int64) if isinstance(x, list) and not x else x)
    if is_known(numbers):
        with WordsOfNumpy():
            counts = np.bincount(values_of(numbers), minlength=minlength)
        return numbers.astype(np.int64, copy=False), counts.size
    if not minlength:
        refuse(
            "bincount: the size of the result depends on the numbers. Give minlength=, beyond the "
            "greatest of them: in a captured function that is the size"
        )
    if numbers.ndim != 1 or numbers.dtype.kind not in "biu":
        raise TypeError("bincount: numbers must be a vector of integers")
    return countable(numbers.astype(np.int64, copy=False), size=minlength), minlength


def _added_up(weights: Tensor, places: Tensor, size: int) -> Tensor:
    """Return for each place the sum of its weights, in their order."""
    if not weights.size:
        return fresh(np.zeros(size, weights.dtype))
    added = scatter_add(summable(weights), places, count=1, tail=0, sizes=(size,))
    return added.astype(weights.dtype, copy=False)


def histogram(
    a: ArrayLike,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[Tensor, Tensor]:
    """Return how many elements are in each bin, or the sums of their weights, and the bins' edges.

    Parameters
    ----------
    a : array_like
        The elements, of any shape.
    bins : int, array_like or str
        The number of equal bins, their edges, or a rule as in `numpy.histogram_bin_edges`.
    range : pair of float, optional
        The outer edges, by default the least and the largest element.
    density : bool, optional
        Divide by the widths and by the total.
    weights : array_like, optional
        Of the shape of ``a``.

    Raises
    ------
    ValueError
        Where NumPy raises it: edges that do not ascend, a range that is not finite, ...

    Notes
    -----
    Counts are piecewise constant in ``a`` and ``bins``. The derivative of a bin with respect to the
    weights in it is 1; densities depend on the edges, whose derivatives are those of
    `histogram_bin_edges`.

    Examples
    --------
    >>> import numgrad as ng
    >>> w = ng.tensor([1.0, 2.0, 5.0], requires_grad=True)
    >>> counts, edges = ng.histogram([0.1, 0.9, 0.2], 2, (0, 1), weights=w)
    >>> counts.detach(), edges
    (tensor([6., 2.]), tensor([0. , 0.5, 1. ]))
    """
    w = None if weights is None else as_tensor(weights)
    if w is not None and w.shape != np.shape(a):
        raise ValueError(f"histogram: weights of shape {w.shape} for elements of {np.shape(a)}")
    x = ravel(as_tensor(a))
    checked, edges = _edges(x, bins, range, w)
    counts = _counted([x.detach()], [checked], w)
    return _density(counts, [edges]) if density else counts, edges


def _counted(columns: Sequence[Tensor], edges: Sequence[Tensor], w: Tensor | None) -> Tensor:
    """Return the sums of weights, ones by default, of the points in the bins of a grid."""
    shape = tuple(max(along.size - 1, 0) for along in edges)
    if 0 in shape:
        return constant(np.zeros(shape, np.int64 if w is None else w.dtype))
    if w is None and columns and not other_modes and all(map(_is_here, (*columns, *edges))):
        return fresh(_numbers([values_of(x) for x in columns], [values_of(x) for x in edges]))
    places: Any = 0
    inside: Any = True
    for x, along in zip(columns, edges, strict=True):
        inside = (x >= along[0]) & (x <= along[-1]) & inside
        place = minimum(searchsorted(along, x, "right") - 1, along.size - 2)
        places = places * (along.size - 1) + maximum(place, 0)
    each = as_tensor(np.ones(1, np.int64)) if w is None else ravel(w)
    each = where(inside, each, np.zeros((), each.dtype))
    return reshape(_added_up(each, places, prod(shape)), shape)


def _is_here(x: Tensor) -> bool:
    return x.array is not None and x.device == CPU


def _numbers(columns: Sequence[np.ndarray], edges: Sequence[np.ndarray]) -> np.ndarray:
    """Return how many points are in the bins of a grid."""
    shape = tuple(along.size - 1 for along in edges)
    places, inside = np.zeros((), np.int64), np.ones((), bool)
    for x, along in zip(columns, edges, strict=True):
        inside = (x >= along[0]) & (x <= along[-1]) & inside
        place = np.minimum(np.searchsorted(along, x, "right") - 1, along.size - 2)
        places = places * (along.size - 1) + np.maximum(place, 0)
    counts = np.bincount(places[inside], minlength=prod(shape))
    return counts.astype(np.int64, copy=False).reshape(shape)


def _density(counts: Tensor, edges: Sequence[Tensor]) -> Tensor:
    """Return counts over the sizes of the bins and the total."""
    total = counts.sum()
    for axis, along in enumerate(edges):
        widths = diff(along).astype(float)
        counts = counts / reshape(widths, (-1,) + (1,) * (len(edges) - axis - 1))
    return counts / total


def histogram_bin_edges(
    a: ArrayLike, bins: Any = 10, range: Any = None, weights: ArrayLike | None = None
) -> Tensor:
    """Return the edges of the bins of `histogram`.

    Notes
    -----
    Equal bins lie between the least and the largest element, or the limits, and move with them as
    the numbers of `linspace` do; edges that are given are what they are.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.histogram_bin_edges(ng.tensor([0.0, 3.0, 4.0]), 2)
    tensor([0., 2., 4.])
    """
    return _edges(ravel(as_tensor(a)), bins, range, weights)[1]


def _edges(
    x: Tensor, bins: Any, limits: Any, weights: ArrayLike | None = None
) -> tuple[Tensor, Tensor]:
    """Return the edges of bins twice: as they were checked, to count with, and with their graph."""
    if not isinstance(bins, str):
        bins = as_tensor(bins) if isinstance(bins, (list, tuple)) else bins
        if np.ndim(bins) == 1:
            return _borrowed.ascending(as_tensor(bins).detach()), as_tensor(bins)
    ends = None
    if limits is not None:
        ends = pair(values_of(limits).tolist(), "range", "the first edge and the last one")
    if isinstance(bins, str):  # which says how many there are when elements are known
        w = None if weights is None else np.ones(np.shape(weights))
        checked = fresh(np.histogram_bin_edges(values_of(x), bins, ends, w))
    elif limits is None:
        return _equal(x, integer(bins, "bins"))
    else:
        count = integer(bins, "bins")
        checked = _borrowed.equal_bins(x.detach(), bins=count, limits=ends)
    moving = list(limits) if limits is not None else [x] if x.size else []
    if not any(isinstance(end, Tensor) and end.requires_grad for end in moving):
        return checked, checked
    first, last = (least_of(x), largest_of(x)) if limits is None else moving
    return checked, _moving(first, last, checked)


@composed
def _equal(x: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return the edges of equal bins between the least and the largest element."""
    checked = _borrowed.equal_bins(x.detach(), bins=count, limits=None)
    if not (x.size and x.requires_grad):
        return checked, checked
    return checked, _moving(least_of(x), largest_of(x), checked)


def _moving(first: Any, last: Any, checked: Tensor) -> Tensor:
    """Return edges with their graph, as many as there are and of their dtype."""
    width = where(as_tensor(first) == last, 1.0, 0.0)  # of bins around a single number
    between = linspace(first - width / 2, last + width / 2, checked.size)
    return between.astype(checked.dtype, copy=False)


def histogramdd(
    sample: ArrayLike,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[Tensor, list[Tensor]]:
    """Return how many points are in each bin of a grid, or the sums of their weights, and the edges
    of the bins along each axis; the derivatives are those of `histogram`.

    Parameters
    ----------
    sample : array_like
        A row for each point, or a sequence with a vector for each axis.
    bins, range : sequence
        For each axis what `histogram` takes; one number of bins for all.
    density, weights
        As in `histogram`.

    Examples
    --------
    >>> import numgrad as ng
    >>> counts, edges = ng.histogramdd(ng.tensor([[0.0, 0.0], [1.0, 1.0], [1.0, 0.9]]), 2)
    >>> counts
    tensor([[1., 0.],
            [0., 2.]])
    """
    for name, given in (("bins", bins), ("range", range)):
        if isinstance(given, dict):
            raise TypeError(f"histogramdd: {name} must have an entry for each axis, got a dict")
    columns = as_tensor(sample)
    if columns.ndim != 2 or isinstance(sample, (list, tuple)):
        columns = atleast_2d(columns).T
    count = columns.shape[1]
    each = bins if isinstance(bins, (list, tuple)) or np.ndim(bins) else [bins] * count
    range = [None] * count if range is None else range
    for name, given in (("bins", each), ("range", range)):
        if len(sequence(given, name)) != count:
            raise ValueError(f"histogramdd: {name} for {len(given)} axes, where there are {count}")
    columns = [columns[:, axis] for axis in builtins.range(count)]
    pairs = [_edges(x, n, limits) for x, n, limits in zip(columns, each, range, strict=True)]
    edges = [along for _, along in pairs]
    w = None if weights is None else as_tensor(weights)
    counts = _counted([x.detach() for x in columns], [checked for checked, _ in pairs], w)
    counts = counts.astype(np.float64, copy=False)
    return _density(counts, edges) if density else counts, edges


def histogram2d(
    x: ArrayLike,
    y: ArrayLike,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the counts of points ``(x, y)`` in the bins of a grid, and the edges along each axis;
    parameters as in `histogramdd`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.histogram2d([0.0, 1.0, 1.0], [0.0, 1.0, 0.9], 2)[0]
    tensor([[1., 0.],
            [0., 2.]])
    """
    x, y = as_tensor(x), as_tensor(y)
    if len(x) != len(y):
        raise ValueError(f"histogram2d: {len(x)} and {len(y)} elements, where as many are needed")
    if hasattr(bins, "__len__") and len(bins) not in (1, 2):
        bins = [bins, bins]
    counts, (first, second) = histogramdd([x, y], bins, range, density, weights)
    return counts, first, second


@composed
def digitize(x: ArrayLike, bins: ArrayLike, right: bool = False) -> Tensor:
    """Return the numbers of the bins that elements are in: 0 below the first edge.

    Parameters
    ----------
    x : array_like
        Any shape; real.
    bins : array_like
        The edges, ascending or descending.
    right : bool
        Whether the right edge of a bin belongs to it, instead of the left one.

    Raises
    ------
    ValueError
        If the edges neither ascend nor descend.
    TypeError
        If an element is complex.

    Notes
    -----
    Not differentiable: the result is an integer.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.digitize(ng.tensor([0.5, 1.0, 7.0]), [0.0, 1.0, 5.0])
    tensor([1, 2, 3])
    """
    x = as_tensor(x).detach()
    return as_scalar(
        reshape(_borrowed.digitize(ravel(x), bins, right=bool(guarded(right))), x.shape)
    )
