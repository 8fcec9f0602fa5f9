"""Series of polynomials of any family: their values, matrices, derivatives, integrals and fits.

A family is known by its recurrence ``p[n + 1] = (a * x + b) * p[n] - c * p[n - 1]`` from
``p[0] = 1``. Derivatives and integrals are linear in the coefficients, by matrices that NumPy's
functions give for the unit vectors.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._tensor import ArrayLike, Tensor
from ..functions.array.operands import as_tensor, as_tensors
from ..functions.products.contraction import tensordot
from ..functions.shape.joining import concat, stack
from ..functions.shape.reshaping import atleast_1d, moveaxis
from ..functions.signal.polynomial_fits import fitted, weighted
from .family import Family


def _floating(x: ArrayLike) -> Tensor:
    return as_tensor(x) + 0.0


# Values -------------------------------------------------------------------------------------------


def val(family: Family, x: ArrayLike, c: ArrayLike, tensor: bool = True) -> Tensor:
    """Return the value of a series at points.

    Parameters
    ----------
    x : array_like
        The points, of any shape.
    c : array_like
        Coefficients, the lowest first; further axes have several series.
    tensor : bool
        Evaluate each series at all points; otherwise the points are broadcast with the series.

    Notes
    -----
    Computed by Clenshaw's recurrence; differentiable in the points and the coefficients.

    Examples
    --------
    >>> import numgrad as ng
    >>> c = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> ng.grad(ng.polynomial.chebyshev.chebval(0.5, c), c)[0][0].item()
    1.0
    """
    is_polynomial = hasattr(x, "convert")  # which the series is a polynomial of
    x = x if is_polynomial or isinstance(x, int | float | complex) else as_tensor(x)
    c = atleast_1d(_floating(c))
    if tensor and not is_polynomial:
        c = c.reshape(c.shape + (1,) * np.ndim(x))
    last = c.shape[0] - 1
    value = after = c[last] + x * 0
    for n in range(last - 1, -1, -1):
        lower = family.times(n, x, value) + c[n]
        value, after = family.less(n + 1, after, lower) if n < last - 1 else lower, value
    return value


def val2d(family: Family, x: ArrayLike, y: ArrayLike, c: ArrayLike) -> Tensor:
    """Return the value of a series of products at points ``(x, y)``; see the function of one axis.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.polynomial.chebyshev.chebval2d([0.5], [0.25], [[3.0]]).item()
    3.0
    """
    return val(family, y, val(family, x, c), tensor=False)


def val3d(family: Family, x: ArrayLike, y: ArrayLike, z: ArrayLike, c: ArrayLike) -> Tensor:
    """Return the value of a series of products at points ``(x, y, z)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.polynomial.chebyshev.chebval3d([0.5], [0.25], [1.0], [[[3.0]]]).item()
    3.0
    """
    return val(family, z, val2d(family, x, y, c), tensor=False)


def grid2d(family: Family, x: ArrayLike, y: ArrayLike, c: ArrayLike) -> Tensor:
    """Return the value of a series of products at all pairs of ``x`` and ``y``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.polynomial.chebyshev.chebgrid2d([0.5, 1.0], [0.25], [[3.0]]).tolist()
    [[3.0], [3.0]]
    """
    return val(family, y, val(family, x, c))


def grid3d(family: Family, x: ArrayLike, y: ArrayLike, z: ArrayLike, c: ArrayLike) -> Tensor:
    """Return the value of a series of products at all triples of ``x``, ``y`` and ``z``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.polynomial.chebyshev.chebgrid3d([0.5], [0.25], [1.0, 2.0], [[[3.0]]]).tolist()
    [[[3.0, 3.0]]]
    """
    return val(family, z, grid2d(family, x, y, c))


# Matrices -----------------------------------------------------------------------------------------


def vander(family: Family, x: ArrayLike, deg: int) -> Tensor:
    """Return the polynomials up to a degree at points, along a new last axis.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.polynomial.chebyshev.chebvander([0.5, 1.0], 0).tolist()
    [[1.0], [1.0]]
    """
    if deg < 0:
        raise ValueError(f"{family.prefix}vander: deg must not be negative, got {deg}")
    x = atleast_1d(_floating(x))
    found = [x * 0 + 1]
    for n in range(deg):
        higher = family.times(n, x, found[-1])
        found.append(family.less(n, found[-2], higher) if n else higher)
    return stack(found, axis=-1)


def vander2d(family: Family, x: ArrayLike, y: ArrayLike, deg: Sequence[int]) -> Tensor:
    """Return the products of the polynomials in ``x`` and ``y`` up to two degrees at points.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.polynomial.chebyshev.chebvander2d([0.5], [1.0], [0, 0]).tolist()
    [[1.0]]
    """
    return _products(family, (x, y), deg)


def vander3d(
    family: Family, x: ArrayLike, y: ArrayLike, z: ArrayLike, deg: Sequence[int]
) -> Tensor:
    """Return the products of the polynomials in ``x``, ``y`` and ``z`` up to three degrees.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.polynomial.chebyshev.chebvander3d([0.5], [1.0], [2.0], [0, 0, 0]).tolist()
    [[1.0]]
    """
    return _products(family, (x, y, z), deg)


def _products(family: Family, points: Sequence[ArrayLike], deg: Sequence[int]) -> Tensor:
    first, *others = [vander(family, x, d) for x, d in zip(points, deg, strict=True)]
    for factor in others:
        first = first[..., :, None] * factor[..., None, :]
        first = first.reshape(*first.shape[:-2], -1)
    return first


# Derivatives and integrals ------------------------------------------------------------------------


def _mapped(matrix: np.ndarray, c: Tensor, axis: int) -> Tensor:
    """Return the coefficients that a matrix makes of those along an axis."""
    return moveaxis(tensordot(matrix.astype(c.dtype), moveaxis(c, axis, 0), 1), 0, axis)


def der(family: Family, c: ArrayLike, m: int = 1, scl: Any = 1, axis: int = 0) -> Tensor:
    """Return the coefficients of a derivative.

    Parameters
    ----------
    c : array_like
        Coefficients, the lowest first.
    m : int
        Of which order.
    scl : array_like
        What each derivative is multiplied by, for a linear change of the variable.
    axis : int
        That of the degrees.

    Notes
    -----
    Differentiable in the coefficients and ``scl``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.polynomial.chebyshev.chebder([1.0]).tolist()
    [0.0]
    """
    c = atleast_1d(_floating(c))
    matrix = family.numpys("der")(np.eye(c.shape[axis]), m)
    return _mapped(matrix, c, axis) * scl**m


def int_(
    family: Family,
    c: ArrayLike,
    m: int = 1,
    k: Any = (),
    lbnd: ArrayLike = 0,
    scl: ArrayLike = 1,
    axis: int = 0,
) -> Tensor:
    """Return the coefficients of an integral.

    Parameters
    ----------
    c : array_like
        Coefficients, the lowest first.
    m : int
        How often to integrate.
    k : array_like
        The values of the integrals at ``lbnd``; those that are missing are 0.
    lbnd, scl : number or Tensor
        Where the integrals have the values ``k``, and what each is multiplied by.
    axis : int
        That of the degrees.

    Notes
    -----
    Differentiable in the coefficients, ``k``, ``lbnd`` and ``scl``.

    Examples
    --------
    >>> import numgrad as ng
    >>> c = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> ng.grad(ng.polynomial.chebyshev.chebint(c).sum(), c)[0].shape
    (3,)
    """
    c, constants = atleast_1d(_floating(c)), list(k) if np.iterable(k) else [k]
    if m < 0 or len(constants) > m:
        raise ValueError(f"{family.prefix}int: {len(constants)} constants for {m} integrations")
    for n in range(m):
        c = _mapped(family.numpys("int")(np.eye(c.shape[axis])), c, axis) * scl
        lines = moveaxis(c, axis, 0)
        at_bound = (constants[n] if n < len(constants) else 0) - val(family, lbnd, lines)
        c = moveaxis(concat([(lines[0] + at_bound)[None], lines[1:]]), 0, axis)
    return c


int_.__name__ = "int"


# Fits ---------------------------------------------------------------------------------------------


def fit(
    family: Family,
    x: ArrayLike,
    y: ArrayLike,
    deg: Any,
    rcond: float | None = None,
    full: bool = False,
    w: ArrayLike | None = None,
) -> Any:
    """Return the coefficients of the series with the least squares of what is left.

    Parameters
    ----------
    x : array_like
        Places of the points, of one axis.
    y : array_like
        Their values; a second axis has several sets.
    deg : int or sequence of int
        The degree, or the degrees of the terms that take part.
    rcond : float, optional
        Singular values up to so many times the largest count as 0; by default the number of points
        times the precision.
    full : bool
        Return a list of residuals, rank, singular values and ``rcond`` as well.
    w : array_like, optional
        Factors of what is left at each point.

    Notes
    -----
    Differentiable in the places, the values and the factors.

    Examples
    --------
    >>> import numgrad as ng
    >>> y = ng.tensor([1.0, 2.0, 6.0], requires_grad=True)
    >>> ng.grad(ng.polynomial.chebyshev.chebfit([0.0, 1.0, 2.0], y, 0)[0], y)[0].round(3)
    tensor([0.333, 0.333, 0.333])
    """
    x, y = (t + 0.0 for t in as_tensors(x, y))
    terms = np.arange(deg + 1) if np.ndim(deg) == 0 else np.sort(deg)
    matrix = vander(family, x, int(terms[-1]))[:, terms]
    found, *status = fitted(*weighted(matrix, y, w), rcond)
    coefficients = _mapped(np.eye(int(terms[-1]) + 1)[:, terms], found, 0)
    return (coefficients, status) if full else coefficients
