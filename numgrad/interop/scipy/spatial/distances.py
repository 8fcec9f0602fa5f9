"""Distances between points, under the names of ``scipy.spatial.distance``."""

from collections.abc import Callable
from math import isqrt
from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....functions.array.argument_checks import numeric
from ....functions.array.operands import as_tensor
from ....functions.elementwise.comparison import greater, not_equal
from ....functions.indexing.indexing import take
from ....functions.linalg.norms import norm
from ....functions.linalg.systems import inv
from ....functions.products.products import matmul
from ....functions.reduction.averages import cov
from ....functions.reduction.statistics import var
from ....functions.shape.joining import concat, stack
from ....functions.shape.selection import where
from ....special import rel_entr
from ..interpolate.data import answer, known, real

Row = Callable[..., Tensor]


def cdist(
    XA: Any, XB: Any, metric: str | Callable[..., Any] = "euclidean", *, out: Any = None,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """Return the distances between each of two collections of points, with the signature of
    `scipy.spatial.distance.cdist`.

    Parameters
    ----------
    XA, XB : array_like
        Points, one in a row.
    metric : str or callable
        ``"braycurtis"``, ``"canberra"``, ``"chebyshev"``, ``"cityblock"``, ``"correlation"``,
        ``"cosine"``, ``"euclidean"``, ``"hamming"``, ``"jensenshannon"``, ``"mahalanobis"``,
        ``"minkowski"``, ``"seuclidean"``, ``"sqeuclidean"``, or a function of two points.
    out : None
        For SciPy's sake: nothing is written.
    **kwargs
        ``p`` of ``"minkowski"``, the variances ``V`` of ``"seuclidean"``, the matrix ``VI`` of
        ``"mahalanobis"``, and weights ``w`` of all others but ``"jensenshannon"``; or options of
        the function.

    Raises
    ------
    ValueError
        For what are no points of equally many coordinates, another metric, and options that it does
        not take.

    Notes
    -----
    Everything has a gradient, ``V``, ``VI``, ``w`` and ``p`` included, and what stands for those
    that are not given. Where two points coincide, the gradient of a distance is 0. Time and memory
    are those of all differences of coordinates.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([[0.0, 0.0], [3.0, 4.0]], requires_grad=True)
    >>> d = ng.interop.scipy.cdist(x, [[0.0, 0.0]])
    >>> d.tolist()
    [[0.0], [5.0]]
    >>> ng.grad(d.sum(), x)[0].round(6).tolist()
    [[0.0, 0.0], [0.6, 0.8]]
    """
    xa, xb = _points(XA, "cdist", "XA"), _points(XB, "cdist", "XB")
    if xa.shape[-1] != xb.shape[-1]:
        raise ValueError(
            f"cdist: XA and XB need equally many columns, got shapes {xa.shape} and {xb.shape}"
        )
    _require_none("cdist", out)
    if callable(metric):
        rows = [[as_tensor(metric(u, v, **kwargs)) for v in xb] for u in xa]
        return answer(_square_of(rows, xb.shape[0]), XA, XB, *kwargs.values())
    both = [xa, xb]
    found = _measured("cdist", metric, xa[:, None, :], xb[None, :, :], both, kwargs)
    return answer(found, XA, XB, *kwargs.values())


def pdist(
    X: Any, metric: str | Callable[..., Any] = "euclidean", *, out: Any = None, **kwargs: Any
) -> Any:
    """Return the distances between all pairs of points, with the signature of
    `scipy.spatial.distance.pdist`.

    Parameters
    ----------
    X : array_like
        Points, one in a row.
    metric, out, **kwargs
        As for `cdist`.

    Returns
    -------
    Tensor or ndarray
        The distances as a vector, those of the first point come first; `squareform` makes a matrix
        of them.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.interop.scipy.pdist([[0.0], [1.0], [3.0]], "cityblock").tolist()
    [1.0, 3.0, 2.0]
    """
    x = _points(X, "pdist", "X")
    _require_none("pdist", out)
    first, second = np.triu_indices(x.shape[0], 1)
    if callable(metric):
        pairs = zip(first, second, strict=True)
        found = [as_tensor(metric(x[i], x[j], **kwargs)) for i, j in pairs]
        return answer(stack(found) if found else x.reshape(-1)[:0], X, *kwargs.values())
    u, v = take(x, first, axis=0), take(x, second, axis=0)
    return answer(_measured("pdist", metric, u, v, [x], kwargs), X, *kwargs.values())


def squareform(X: Any, force: str = "no", checks: bool = True) -> Any:
    """Return the matrix of distances for a vector of them, or the other way round, with the
    signature of `scipy.spatial.distance.squareform`.

    Parameters
    ----------
    X : array_like
        A vector as of `pdist`, or a symmetric matrix with zeros on its diagonal.
    force : {"no", "tomatrix", "tovector"}
        What it has to become.
    checks : bool
        Whether a matrix is looked at; while a function is captured it is not.

    Raises
    ------
    ValueError
        For a vector or matrix of another size, and a matrix that is not symmetric.

    Notes
    -----
    The gradient of a matrix is on the elements that are read, those above the diagonal.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.interop.scipy.squareform([1.0, 2.0, 3.0]).tolist()
    [[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]]
    """
    if not isinstance(force, str) or force.lower() not in ("no", "tomatrix", "tovector"):
        raise ValueError(
            f"squareform: force must be 'no', 'tomatrix' or 'tovector', got {force!r:.80}"
        )
    x = as_tensor(numeric(X, "X"))
    if x.ndim not in (1, 2) or force.lower() == ("tovector", "tomatrix")[x.ndim - 1]:
        raise ValueError(f"squareform: force={force!r} does not fit X of shape {x.shape}")
    return answer(_as_matrix(x) if x.ndim == 1 else _as_vector(x, checks), X)


def _as_matrix(x: Tensor) -> Tensor:
    count = x.shape[0]
    n = (1 + isqrt(1 + 8 * count)) // 2 if count else 1
    if n * (n - 1) // 2 != count:
        raise ValueError(f"squareform: X has {count} elements, which are not those of all pairs")
    places = np.full((n, n), count)
    places[np.triu_indices(n, 1)] = np.arange(count)
    places = np.minimum(places, places.T)
    return take(concat([x, np.zeros(1, x.dtype)]), places)


def _as_vector(x: Tensor, checks: Any) -> Tensor:
    n = x.shape[0]
    if x.shape != (n, n):
        raise ValueError(f"squareform: X must be a square matrix, got shape {x.shape}")
    values = known(x) if checks else None
    if values is not None and not np.allclose(values, values.T, equal_nan=True):
        raise ValueError("squareform: X must be symmetric")
    if values is not None and values.diagonal().any():
        raise ValueError("squareform: X must have zeros on its diagonal")
    first, second = np.triu_indices(n, 1)
    return take(x.reshape(n * n), first * n + second)


# Arguments ----------------------------------------------------------------------------------------


def _points(x: Any, name: str, argument: str) -> Tensor:
    x = real(numeric(x, argument), name, argument)
    if x.ndim != 2:
        raise ValueError(f"{name}: {argument} must be a matrix of points, got shape {x.shape}")
    return x


def _require_none(name: str, out: Any) -> None:
    if out is not None:
        raise ValueError(f"{name}: out must be None, as nothing is written")


def _square_of(rows: list[list[Tensor]], count: int) -> Tensor:
    if not rows or not count:
        return as_tensor(np.zeros((len(rows), count)))
    return stack([stack(row) for row in rows])


def _measured(
    name: str, metric: Any, u: Tensor, v: Tensor, points: list[Tensor], options: dict[str, Any]
) -> Tensor:
    if not isinstance(metric, str) or metric.lower() not in (*METRICS, *SHORT):
        raise ValueError(
            f"{name}: metric must be one of {', '.join(METRICS)}, or a function, got {metric!r:.80}"
        )
    metric = SHORT.get(metric.lower(), metric.lower())
    function, takes = METRICS[metric]
    for option in options:
        if option not in takes:
            raise ValueError(f"{name}: metric {metric!r} does not take {option}")
    given = {key: real(numeric(x, key), name, key) for key, x in options.items() if x is not None}
    n = u.shape[-1]
    shapes = {"p": (), "w": (n,), "V": (n,), "VI": (n, n)}
    for key, x in given.items():
        if x.shape != shapes[key]:
            raise ValueError(f"{name}: {key} must have shape {shapes[key]}, got {x.shape}")
    if metric in DEFAULTS and not given:
        given = DEFAULTS[metric](points)
    return function(u, v, **given)


def _variances(points: list[Tensor]) -> dict[str, Tensor]:
    return {"V": var(concat(points, axis=0), axis=0, ddof=1)}


def _precision(points: list[Tensor]) -> dict[str, Tensor]:
    x = concat(points, axis=0)
    return {"VI": inv(cov(x.T).reshape(x.shape[-1], x.shape[-1])).T}


# Metrics along the last axis ----------------------------------------------------------------------


def _sum(x: Tensor, w: Tensor | None) -> Tensor:
    return (x if w is None else x * w).sum(axis=-1)


def _root(x: Tensor, power: Any = 0.5) -> Tensor:
    """Return the roots of sums, with the gradient 0 where a sum is 0."""
    positive = greater(x, 0.0)
    return where(positive, where(positive, x, 1.0) ** power, 0.0)


def _quotient(x: Tensor, y: Tensor) -> Tensor:
    """Return the quotients, 0 for 0 / 0."""
    is_zero = (x == 0.0) & (y == 0.0)
    return where(is_zero, 0.0, x / where(is_zero, 1.0, y))


def euclidean(u: Tensor, v: Tensor, w: Tensor | None = None) -> Tensor:
    """Return the root of the sum of squared differences."""
    return norm(u - v, axis=-1) if w is None else _root(_sum((u - v) ** 2, w))


def sqeuclidean(u: Tensor, v: Tensor, w: Tensor | None = None) -> Tensor:
    """Return the sum of squared differences."""
    return _sum((u - v) ** 2, w)


def cityblock(u: Tensor, v: Tensor, w: Tensor | None = None) -> Tensor:
    """Return the sum of absolute differences."""
    return _sum(abs(u - v), w)


def chebyshev(u: Tensor, v: Tensor, w: Tensor | None = None) -> Tensor:
    """Return the largest absolute difference; weights only say which coordinates count."""
    size = abs(u - v)
    return (size if w is None else where(greater(w, 0.0), size, 0.0)).max(axis=-1)


def minkowski(u: Tensor, v: Tensor, p: Any = 2.0, w: Tensor | None = None) -> Tensor:
    """Return the ``p``-th root of the sum of powers of absolute differences."""
    return _root(_sum(_power(abs(u - v), p), w), 1.0 / p)


def _power(x: Tensor, p: Any) -> Tensor:
    positive = greater(x, 0.0)
    return where(positive, where(positive, x, 1.0) ** p, 0.0)


def canberra(u: Tensor, v: Tensor, w: Tensor | None = None) -> Tensor:
    """Return the sum of absolute differences relative to the coordinates."""
    return _sum(_quotient(abs(u - v), abs(u) + abs(v)), w)


def braycurtis(u: Tensor, v: Tensor, w: Tensor | None = None) -> Tensor:
    """Return the sum of ``abs(u - v)`` over the sum of ``abs(u + v)``."""
    return _sum(abs(u - v), w) / _sum(abs(u + v), w)


def cosine(u: Tensor, v: Tensor, w: Tensor | None = None) -> Tensor:
    """Return 1 minus the cosine of the angle."""
    return 1.0 - _sum(u * v, w) / (_sum(u * u, w) * _sum(v * v, w)) ** 0.5


def correlation(u: Tensor, v: Tensor, w: Tensor | None = None) -> Tensor:
    """Return the cosine distance after subtraction of the means."""
    total = float(u.shape[-1]) if w is None else w.sum()
    u, v = (x - (_sum(x, w) / total)[..., None] for x in (u, v))
    return cosine(u, v, w)


def hamming(u: Tensor, v: Tensor, w: Tensor | None = None) -> Tensor:
    """Return the share of the coordinates that differ."""
    total = float(u.shape[-1]) if w is None else w.sum()
    return _sum(where(not_equal(u, v), 1.0, 0.0), w) / total


def jensenshannon(u: Tensor, v: Tensor) -> Tensor:
    """Return the root of the divergence of Jensen and Shannon."""
    u, v = (x / x.sum(axis=-1, keepdims=True) for x in (u, v))
    middle = 0.5 * (u + v)
    return _root(0.5 * (rel_entr(u, middle) + rel_entr(v, middle)).sum(axis=-1))


def seuclidean(u: Tensor, v: Tensor, V: Tensor) -> Tensor:
    """Return the root of the sum of squared differences over variances."""
    return _root(((u - v) ** 2 / V).sum(axis=-1))


def mahalanobis(u: Tensor, v: Tensor, VI: Tensor) -> Tensor:
    """Return the root of the quadratic form of the differences."""
    d = u - v
    return _root((matmul(d, VI) * d).sum(axis=-1))


WEIGHTED: tuple[Row, ...] = (
    braycurtis, canberra, chebyshev, cityblock, correlation, cosine, euclidean, hamming,
    sqeuclidean,
)  # fmt: skip
METRICS: dict[str, tuple[Row, tuple[str, ...]]] = {
    **{f.__name__: (f, ("w",)) for f in WEIGHTED},
    "jensenshannon": (jensenshannon, ()),
    "mahalanobis": (mahalanobis, ("VI",)),
    "minkowski": (minkowski, ("p", "w")),
    "seuclidean": (seuclidean, ("V",)),
}
SHORT = {
    "ch": "chebyshev", "cheb": "chebyshev", "cheby": "chebyshev", "chebychev": "chebyshev",
    "c": "cityblock", "cb": "cityblock", "cblock": "cityblock", "co": "correlation",
    "cos": "cosine", "e": "euclidean", "eu": "euclidean", "euclid": "euclidean", "h": "hamming",
    "ha": "hamming", "hamm": "hamming", "matching": "hamming", "js": "jensenshannon",
    "mah": "mahalanobis", "mahal": "mahalanobis", "m": "minkowski", "mi": "minkowski",
    "pnorm": "minkowski", "s": "seuclidean", "se": "seuclidean", "sqe": "sqeuclidean",
    "sqeuclid": "sqeuclidean",
}  # fmt: skip
DEFAULTS: dict[str, Callable[[list[Tensor]], dict[str, Tensor]]] = {
    "mahalanobis": _precision, "seuclidean": _variances,
}  # fmt: skip
