"""Series of polynomials of any family: their values, matrices, derivatives, integrals and fits.

A family is known by its recurrence ``p[n + 1] = (a * x + b) * p[n] - c * p[n - 1]`` from
``p[0] = 1``. Derivatives and integrals are linear in the coefficients, by matrices that NumPy's
functions give for the unit vectors.
"""

import inspect
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

from .._tensor import ArrayLike, Tensor
from ..functions.contraction import tensordot
from ..functions.joining import stack
from ..functions.operands import as_tensor, as_tensors
from ..functions.polynomial_fits import fitted, weighted
from ..functions.reshaping import atleast_1d, moveaxis

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Step = Callable[[int], tuple[float, float, float]]


class Family:
    """Polynomials of all degrees.

    Parameters
    ----------
    module : str
        Where their functions are, here and in NumPy.
    prefix : str
        How the names of these begin.
    step : callable
        Returns ``a``, ``b`` and ``c`` of the recurrence that leads from degree ``n`` to the next.
    """

    def __init__(self, module: str, prefix: str, step: Step) -> None:
        self.module, self.prefix, self.step = module, prefix, step
        self.called = f"{module}.{prefix}"

    def numpys(self, name: str) -> Any:
        """Return NumPy's function."""
        return getattr(import_module(f"numpy.polynomial.{self.module}"), self.prefix + name)

    def times(self, n: int, x: Any, p: Any) -> Any:
        """Return ``(a * x + b) * p`` of the step from degree ``n``."""
        a, b, _ = self.step(n)
        result = x * p if a == 1 else a * (x * p)
        return result + b * p if b else result

    def less(self, n: int, before: Any, p: Any) -> Any:
        """Return ``p - c * before`` of the step from degree ``n``."""
        c = self.step(n)[2]
        return p - (before if c == 1 else c * before) if c else p

    def of(
        self, function: Callable[Concatenate["Family", Parameters], Result]
    ) -> Callable[Parameters, Result]:
        """Return a function of this module for the family, under NumPy's name; examples are written
        for Chebyshev's, and hold for all."""

        def named(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            return function(self, *args, **kwargs)

        name = self.prefix + function.__name__
        named.__module__ = f"numgrad.polynomial.{self.module}"
        named.__name__ = named.__qualname__ = name
        named.__doc__ = (function.__doc__ or "").replace("chebyshev.cheb", self.called)
        _, *parameters = inspect.signature(function).parameters.values()
        named.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return named


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
    x = x if isinstance(x, int | float | complex) else as_tensor(x)  # numbers have no dtype
    c = atleast_1d(_floating(c))
    if tensor:
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
    lbnd: float = 0,
    scl: float = 1,
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
    lbnd, scl : float
        Where the integrals have the values ``k``, and what each is multiplied by.
    axis : int
        That of the degrees.

    Notes
    -----
    Differentiable in the coefficients and ``k``.

    Examples
    --------
    >>> import numgrad as ng
    >>> c = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> ng.grad(ng.polynomial.chebyshev.chebint(c).sum(), c)[0].shape
    (3,)
    """
    c = atleast_1d(_floating(c))
    k = atleast_1d(as_tensor(k)).astype(c.dtype)
    integrate, n = family.numpys("int"), c.shape[axis]
    result = _mapped(integrate(np.eye(n), m, [], lbnd, scl), c, axis)
    if not k.size:
        return result
    nothing = np.zeros(max(n, 2))  # one coefficient that is 0 is not integrated
    columns = [integrate(nothing, m, list(unit), lbnd, scl)[: n + m] for unit in np.eye(len(k))]
    shape = [1] * result.ndim
    shape[axis] = -1
    return result + _mapped(np.stack(columns, axis=1), k, 0).reshape(shape)


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
