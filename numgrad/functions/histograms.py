"""Histograms, counts, and the bins that elements are in: weights have derivatives, counts none."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._tensor import ArrayLike, Tensor, placed
from ..operators.gathering import scatter_add
from .creation import fresh
from .indexing import take
from .operands import as_tensor, is_known, values_of
from .reshaping import ravel, reshape
from .searching import searchsorted


def bincount(x: ArrayLike, /, weights: ArrayLike | None = None, minlength: int = 0) -> Tensor:
    """Return how often each natural number occurs in a vector, or the sums of their weights.

    Parameters
    ----------
    x : array_like of int
        A vector without negative numbers.
    weights : array_like, optional
        One for each element; computed in float64.
    minlength : int
        The least size of the result.

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
    numbers = np.zeros(0, np.int64) if isinstance(x, list) and not x else values_of(x)
    counts = np.bincount(numbers, minlength=int(minlength))
    if weights is None:
        return fresh(counts)
    w = as_tensor(weights)
    if w.dtype.kind == "c":
        raise TypeError("bincount: weights must be real")
    if w.shape != numbers.shape:
        raise ValueError(f"bincount: weights of shape {w.shape} for numbers of {numbers.shape}")
    return _added_up(w.astype(np.float64, copy=False), numbers.astype(np.int64), counts.size)


def _added_up(weights: Tensor, places: np.ndarray, size: int) -> Tensor:
    """Return for each place the sum of its weights, in their order."""
    positions = placed(np.ascontiguousarray(places, np.int64), weights.device)
    if not weights.size:
        return fresh(np.zeros(size, weights.dtype))
    return scatter_add(weights, positions, count=1, tail=0, sizes=(size,))


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
    Piecewise constant in ``a`` and ``bins``, which have no derivative. That of a bin with respect
    to the weights in it is 1.

    Examples
    --------
    >>> import numgrad as ng
    >>> w = ng.tensor([1.0, 2.0, 5.0], requires_grad=True)
    >>> counts, edges = ng.histogram([0.1, 0.9, 0.2], 2, (0, 1), weights=w)
    >>> counts.detach(), edges
    (tensor([6., 2.]), tensor([0. , 0.5, 1. ]))
    """
    array, bins, range = values_of(a), _plain(bins), _plain(range)
    w = None if weights is None else as_tensor(weights)
    if w is None or (is_known(w) and not w.requires_grad):
        found = np.histogram(array, bins, range, density, None if w is None else values_of(w))
        return fresh(found[0]), fresh(found[1])
    if w.shape != array.shape:
        raise ValueError(f"histogram: weights of shape {w.shape} for elements of {array.shape}")
    array, w = array.ravel(), ravel(w)
    # Rules for the number of bins refuse weights, whatever they are.
    edges = np.histogram_bin_edges(array, bins, range, np.ones(array.shape))
    inside = np.flatnonzero((array >= edges[0]) & (array <= edges[-1]))
    places = np.searchsorted(edges, array[inside], "right") - 1
    counts = _added_up(take(w, inside), np.minimum(places, edges.size - 2), edges.size - 1)
    return _density(counts, [edges]) if density else counts, fresh(edges)


def _plain(options: Any) -> Any:
    """Return bins or a range as NumPy takes them, tensors as their values."""
    if isinstance(options, (list, tuple)):
        return [_plain(item) for item in options]
    return values_of(options) if isinstance(options, Tensor) else options


def _density(counts: Tensor, edges: Sequence[np.ndarray]) -> Tensor:
    """Return counts over the sizes of the bins and the total."""
    total = counts.sum()
    for axis, along in enumerate(edges):
        widths = np.diff(along).astype(float)
        counts = counts / widths.reshape((-1,) + (1,) * (len(edges) - axis - 1))
    return counts / total


def histogram_bin_edges(
    a: ArrayLike, bins: Any = 10, range: Any = None, weights: ArrayLike | None = None
) -> Tensor:
    """Return the edges of the bins of `histogram`, which have no derivative.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.histogram_bin_edges(ng.tensor([0.0, 3.0, 4.0]), 2)
    tensor([0., 2., 4.])
    """
    w = None if weights is None else values_of(weights)
    return fresh(np.histogram_bin_edges(values_of(a), _plain(bins), _plain(range), w))


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
    columns = values_of(sample)
    if columns.ndim != 2 or isinstance(sample, (list, tuple)):
        columns = np.atleast_2d(columns).T
    w = None if weights is None else as_tensor(weights)
    plain = w is None or (is_known(w) and not w.requires_grad)
    given = values_of(w) if plain and w is not None else None
    found, edges = np.histogramdd(columns, _plain(bins), _plain(range), density, given)
    if plain or w is None:
        return fresh(found), [fresh(e) for e in edges]
    places, inside = np.zeros(len(columns), np.int64), np.ones(len(columns), bool)
    for column, along in zip(columns.T, edges, strict=True):
        inside &= (column >= along[0]) & (column <= along[-1])
        place = np.minimum(np.searchsorted(along, column, "right") - 1, along.size - 2)
        places = places * (along.size - 1) + place
    chosen = take(ravel(w).astype(np.float64, copy=False), np.flatnonzero(inside))
    counts = reshape(_added_up(chosen, places[inside], found.size), found.shape)
    return _density(counts, edges) if density else counts, [fresh(e) for e in edges]


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
    x, y, bins = values_of(x), values_of(y), _plain(bins)
    if len(x) != len(y):
        raise ValueError(f"histogram2d: {len(x)} and {len(y)} elements, where as many are needed")
    if hasattr(bins, "__len__") and len(bins) not in (1, 2):
        bins = [bins, bins]
    counts, (first, second) = histogramdd([x, y], bins, range, density, weights)
    return counts, first, second


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
    x, edges = as_tensor(x), values_of(bins)
    if "c" in (x.dtype.kind, edges.dtype.kind):
        raise TypeError("digitize: elements and edges must be real")
    side = "left" if right else "right"
    if edges.ndim == 1 and np.all(edges[1:] >= edges[:-1]):
        return searchsorted(edges, x.detach(), side)
    if edges.ndim == 1 and np.all(edges[1:] <= edges[:-1]):
        return edges.size - searchsorted(edges[::-1].copy(), x.detach(), side)
    raise ValueError("digitize: bins must ascend or descend")
