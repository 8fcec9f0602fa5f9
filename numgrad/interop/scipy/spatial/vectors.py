"""Distances between two vectors, under the names of ``scipy.spatial.distance``."""

from typing import Any

from ....functions.array.argument_checks import numeric
from ....functions.elementwise.exponential import log
from ....special import rel_entr
from ..interpolate.data import answer, known, real
from . import distances as _rows


def _vectors(name: str, u: Any, v: Any, **options: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Return two vectors of one size, and the options that are given."""
    a, b = (real(numeric(x, n), name, n) for x, n in ((u, "u"), (v, "v")))
    if a.ndim != 1 or a.shape != b.shape or not a.size:
        raise ValueError(
            f"{name}: u and v must be vectors of one size, got shapes {a.shape} and {b.shape}"
        )
    given = {k: real(numeric(x, k), name, k) for k, x in options.items() if x is not None}
    shapes = {"w": a.shape, "V": a.shape, "VI": a.shape * 2}
    for key, x in given.items():
        if x.shape != shapes[key]:
            raise ValueError(f"{name}: {key} must have shape {shapes[key]}, got {x.shape}")
    w = given.get("w")
    numbers = None if w is None else known(w)
    if numbers is not None and (numbers < 0).any():
        raise ValueError(f"{name}: w must not be negative")
    return a, b, given


def _measured(name: str, u: Any, v: Any, **options: Any) -> Any:
    a, b, given = _vectors(name, u, v, **options)
    found = getattr(_rows, name)(a, b, **given)
    return answer(found, u, v, *options.values())


def euclidean(u: Any, v: Any, w: Any = None) -> Any:
    """Return the root of the sum of squared differences of two vectors.

    Parameters
    ----------
    u, v : array_like, shape (n,)
        With gradients, as all arguments; that of the distance of equal vectors is 0.
    w : array_like, shape (n,), optional
        Weights of the coordinates.

    Examples
    --------
    >>> import numgrad as ng
    >>> u = ng.tensor([3.0, 4.0], requires_grad=True)
    >>> d = ng.interop.scipy.distance.euclidean(u, [0.0, 0.0])
    >>> d.item(), ng.grad(d, u)[0].round(6).tolist()
    (5.0, [0.6, 0.8])
    """
    return _measured("euclidean", u, v, w=w)


def sqeuclidean(u: Any, v: Any, w: Any = None) -> Any:
    """Return the sum of squared differences of two vectors: see `euclidean`.

    Examples
    --------
    >>> import numgrad as ng
    >>> float(ng.interop.scipy.distance.sqeuclidean([3.0, 4.0], [0.0, 0.0]))
    25.0
    """
    return _measured("sqeuclidean", u, v, w=w)


def cityblock(u: Any, v: Any, w: Any = None) -> Any:
    """Return the sum of absolute differences of two vectors: see `euclidean`.

    Examples
    --------
    >>> import numgrad as ng
    >>> float(ng.interop.scipy.distance.cityblock([3.0, 4.0], [0.0, 0.0]))
    7.0
    """
    return _measured("cityblock", u, v, w=w)


def chebyshev(u: Any, v: Any, w: Any = None) -> Any:
    """Return the largest absolute difference of two vectors; weights only say which coordinates
    count.

    Examples
    --------
    >>> import numgrad as ng
    >>> float(ng.interop.scipy.distance.chebyshev([3.0, 4.0], [0.0, 0.0]))
    4.0
    """
    return _measured("chebyshev", u, v, w=w)


def minkowski(u: Any, v: Any, p: Any = 2, w: Any = None) -> Any:
    """Return the ``p``-th root of the sum of powers of the absolute differences of two vectors; `p`
    has a gradient, too.

    Examples
    --------
    >>> import numgrad as ng
    >>> round(float(ng.interop.scipy.distance.minkowski([3.0, 4.0], [0.0, 0.0], 2.0)), 12)
    5.0
    """
    a, b, given = _vectors("minkowski", u, v, w=w)
    power = real(numeric(p, "p"), "minkowski", "p")
    if power.ndim:
        raise ValueError(f"minkowski: p must be a number, got shape {power.shape}")
    number = known(power)
    if number is not None and not number > 0:
        raise ValueError(f"minkowski: p must be positive, got {number}")
    if number is not None and number == float("inf"):
        return chebyshev(u, v, w)
    return answer(_rows.minkowski(a, b, power, **given), u, v, p, w)


def canberra(u: Any, v: Any, w: Any = None) -> Any:
    """Return the sum of relative differences of two vectors: see `euclidean`.

    Examples
    --------
    >>> import numgrad as ng
    >>> float(ng.interop.scipy.distance.canberra([3.0, 4.0], [1.0, 4.0]))
    0.5
    """
    return _measured("canberra", u, v, w=w)


def braycurtis(u: Any, v: Any, w: Any = None) -> Any:
    """Return the sum of absolute differences of two vectors over that of absolute sums.

    Examples
    --------
    >>> import numgrad as ng
    >>> float(ng.interop.scipy.distance.braycurtis([3.0, 4.0], [1.0, 4.0]))
    0.16666666666666666
    """
    return _measured("braycurtis", u, v, w=w)


def cosine(u: Any, v: Any, w: Any = None) -> Any:
    """Return 1 minus the cosine of the angle of two vectors: see `euclidean`.

    Examples
    --------
    >>> import numgrad as ng
    >>> float(ng.interop.scipy.distance.cosine([1.0, 0.0], [0.0, 1.0]))
    1.0
    """
    return _measured("cosine", u, v, w=w)


def correlation(u: Any, v: Any, w: Any = None, centered: bool = True) -> Any:
    """Return 1 minus the correlation of two vectors: see `euclidean`.

    Examples
    --------
    >>> import numgrad as ng
    >>> round(float(ng.interop.scipy.distance.correlation([1.0, 2.0], [2.0, 1.0])), 12)
    2.0
    """
    return _measured("correlation" if centered else "cosine", u, v, w=w)


def hamming(u: Any, v: Any, w: Any = None) -> Any:
    """Return the share of the coordinates in which two vectors differ; only weights have gradients.

    Examples
    --------
    >>> import numgrad as ng
    >>> float(ng.interop.scipy.distance.hamming([1.0, 2.0], [1.0, 3.0]))
    0.5
    """
    return _measured("hamming", u, v, w=w)


def seuclidean(u: Any, v: Any, V: Any) -> Any:
    """Return the root of the sum of squared differences of two vectors over variances.

    Examples
    --------
    >>> import numgrad as ng
    >>> float(ng.interop.scipy.distance.seuclidean([3.0, 4.0], [0.0, 0.0], [1.0, 4.0]))
    3.605551275463989
    """
    return _measured("seuclidean", u, v, V=V)


def mahalanobis(u: Any, v: Any, VI: Any) -> Any:
    """Return the root of a quadratic form of the difference of two vectors.

    Parameters
    ----------
    u, v : array_like, shape (n,)
    VI : array_like, shape (n, n)
        The inverse of a covariance, with a gradient, too.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> float(ng.interop.scipy.distance.mahalanobis([3.0, 4.0], [0.0, 0.0], np.eye(2)))
    5.0
    """
    return _measured("mahalanobis", u, v, VI=VI)


def jensenshannon(
    p: Any, q: Any, base: Any = None, *, axis: int = 0, keepdims: bool = False
) -> Any:
    """Return the root of the divergence of Jensen and Shannon of probabilities.

    Parameters
    ----------
    p, q : array_like
        Of one shape; scaled to the sum 1.
    base : float, optional
        Of the logarithm.
    axis : int
    keepdims : bool

    Examples
    --------
    >>> import numgrad as ng
    >>> round(float(ng.interop.scipy.distance.jensenshannon([1.0, 0.0], [0.0, 1.0], 2.0)), 12)
    1.0
    """
    a, b = (real(numeric(x, n), "jensenshannon", n) for x, n in ((p, "p"), (q, "q")))
    if not a.ndim or a.shape != b.shape:
        raise ValueError(f"jensenshannon: p and q have shapes {a.shape} and {b.shape}")
    a, b = (x / x.sum(axis=axis, keepdims=True) for x in (a, b))
    middle = 0.5 * (a + b)
    total = (rel_entr(a, middle) + rel_entr(b, middle)).sum(axis=axis, keepdims=bool(keepdims))
    if base is not None:
        total = total / log(real(numeric(base, "base"), "jensenshannon", "base"))
    return answer(_rows._root(0.5 * total), p, q, base)


__all__ = [
    "braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "euclidean",
    "hamming", "jensenshannon", "mahalanobis", "minkowski", "seuclidean", "sqeuclidean",
]  # fmt: skip
