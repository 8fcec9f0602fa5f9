"""Roots of polynomials, and polynomials fitted to points: by eigenvalues and least squares."""

from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.composition import composed
from ..array.operands import as_tensor, is_known, truncated, values_of
from ..creation.constants import zeros
from ..linalg.least_squares import lstsq, shortest
from ..linalg.spectral import eigvals
from ..linalg.systems import inv
from ..products.products import outer
from ..reduction.reduction import sum as _sum
from ..shape.joining import concat
from ..shape.reshaping import atleast_1d
from ..sorting.sorting import argsort
from .polynomials import vander


def roots(p: ArrayLike) -> Tensor:
    """Return the roots of a polynomial: the eigenvalues of its companion matrix, always complex.

    Parameters
    ----------
    p : array_like
        Coefficients, the highest first; zeros at the two ends are cut off as in NumPy, where they
        are known and no gradient is wanted.

    Raises
    ------
    ValueError
        If there is more than one axis, or the highest coefficient is 0 and requires grad: all roots
        depend on it.

    Notes
    -----
    The gradient is that of `linalg.eigvals`, which simple roots have, 0 among them.

    Examples
    --------
    >>> import numgrad as ng
    >>> p = ng.tensor([1.0, -3.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.real(ng.roots(p)).max(), p)[0]
    tensor([-4., -2., -1.])
    """
    p = atleast_1d(as_tensor(p))
    if p.ndim != 1:
        raise ValueError(f"roots: the coefficients must have one axis, got shape {p.shape}")
    p = p if p.dtype.kind in "fc" else p.astype(np.float64)
    first, last = _ends(p)
    at_zero = zeros(max(len(p) - 1 - last, 0), np.result_type(p.dtype, np.complex64))
    if last < first:
        return at_zero[:0]
    if last == first:
        return at_zero
    found = _between(p, first, last)
    if at_zero.size or not is_known(found) or values_of(p)[last]:
        return concat([found, at_zero])
    return found[argsort(found.detach() == 0)]  # at the end, as in NumPy


@composed
def _between(p: Tensor, first: int, last: int) -> Tensor:
    """Return the eigenvalues of the companion matrix of some of the coefficients."""
    p, count = p[first : last + 1], last - first
    below = np.eye(count - 1, count, dtype=p.dtype)
    return eigvals(concat([(-p[1:] / p[0])[None], below]))


def _ends(p: Tensor) -> tuple[int, int]:
    """Return the places of the first and the last coefficient that count."""
    if not is_known(p):
        return 0, len(p) - 1
    places = np.flatnonzero(values_of(p))
    if not places.size:
        return 0, -1
    if not p.requires_grad:
        return int(places[0]), int(places[-1])
    if places[0]:
        raise ValueError(
            "roots: the highest coefficient is 0 and requires grad, but all roots depend on it; "
            "leave it out"
        )
    return 0, len(p) - 1


def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: ArrayLike | None = None,
    cov: Any = False,
) -> Any:
    """Return the coefficients of the polynomial with the least squares of what is left.

    Parameters
    ----------
    x : array_like
        Places of the points, of one axis.
    y : array_like
        Their values; a second axis has several sets.
    deg : int
        The degree.
    rcond : float, optional
        Singular values up to so many times the largest count as 0; by default the number of points
        times the precision.
    full : bool
        Return residuals, rank, singular values and ``rcond`` as well.
    w : array_like, optional
        Factors of what is left at each point.
    cov : bool or "unscaled"
        Return the covariance of the coefficients as well, scaled by what is left unless that is
        asked for.

    Raises
    ------
    ValueError
        If there are fewer points than the scaled covariance needs, or a degree is negative.

    Notes
    -----
    Differentiable in the places, the values and the factors.

    Examples
    --------
    >>> import numgrad as ng
    >>> y = ng.tensor([1.0, 2.0, 6.0], requires_grad=True)
    >>> ng.grad(ng.polyfit([0.0, 1.0, 2.0], y, 1)[0], y)[0].round(3)
    tensor([-0.5,  0. ,  0.5])
    """
    deg = truncated(deg)
    if not (full or isinstance(cov, str) or cov):
        return _coefficients(x, y, deg, rcond, w)
    matrix, y = _system(x, y, deg, w)
    coefficients, *status = fitted(matrix, y, rcond)
    if full:
        return coefficients, *status
    scale = _lengths(matrix)
    spread = inv(matrix.T @ matrix / outer(scale, scale)) / outer(scale, scale)
    factor: Any = 1.0
    if cov != "unscaled":
        if len(y) <= deg + 1:
            raise ValueError("polyfit: the number of points must exceed deg + 1 to scale cov")
        left = y - matrix @ coefficients
        factor = _sum((left * left.conj()).real, axis=0) / (len(y) - deg - 1)
    return coefficients, spread * factor if y.ndim == 1 else spread[:, :, None] * factor


@composed
def _coefficients(x: ArrayLike, y: ArrayLike, deg: int, rcond: Any, w: Any) -> Tensor:
    matrix, y = _system(x, y, deg, w)
    return fitted(matrix, y, rcond, shortest)[0]


def _system(x: ArrayLike, y: ArrayLike, deg: int, w: Any) -> tuple[Tensor, Tensor]:
    """Return the powers of the places and the values, times the factors of the points."""
    x, y = as_tensor(x) + 0.0, as_tensor(y) + 0.0
    _require_points(x, y, deg)
    return weighted(vander(x, deg + 1), y, w)


def weighted(matrix: Tensor, y: Tensor, w: ArrayLike | None) -> tuple[Tensor, Tensor]:
    """Return the rows of a system of least squares times the factors of the points."""
    if w is None:
        return matrix, y
    factors = as_tensor(w) + 0.0
    return matrix * factors[:, None], y * (factors if y.ndim == 1 else factors[:, None])


def fitted(matrix: Tensor, y: Tensor, rcond: float | None, solve: Any = lstsq) -> tuple[Any, ...]:
    """Return coefficients, residuals, rank, singular values and ``rcond``; for the singular values
    the columns have length 1."""
    rcond = len(y) * float(np.finfo(matrix.dtype).eps) if rcond is None else rcond
    scale = _lengths(matrix)
    found, *status = solve(matrix / scale, y, rcond)
    return (found.T / scale).T, *status, rcond


def _lengths(matrix: Tensor) -> Tensor:
    return (matrix * matrix).sum(axis=0) ** 0.5


def _require_points(x: Tensor, y: Tensor, deg: int) -> None:
    if deg < 0:
        raise ValueError(f"polyfit: deg must not be negative, got {deg}")
    if x.ndim != 1 or y.ndim not in (1, 2) or len(x) != len(y) or not len(x):
        raise TypeError(f"polyfit: x and y of shapes {x.shape} and {y.shape} are no points")
