"""Draws of NumPy's generators as functions of their parameters, with derivatives to these.

Written by `docs/stubs.py`."""

import collections.abc
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar, overload

import numpy

from numgrad._tensor import ArrayLike, Tensor

@overload
def beta(
    rng: numpy.random.Generator | numpy.random.RandomState, a: ArrayLike, b: ArrayLike,
    size: Any = None
) -> Tensor:
    """Return ``rng.beta(a, b, size, size)`` as a function of the parameters."""
@overload
def beta(a: ArrayLike, b: ArrayLike, size: Any = None) -> Tensor:
    """Return ``rng.beta(a, b, size, size)`` as a function of the parameters."""

def cauchy(
    rng: numpy.random.Generator | numpy.random.RandomState, loc: ArrayLike = 0.0,
    scale: ArrayLike = 1.0, size: Any = None
) -> Tensor:
    """Return ``rng.cauchy(loc, scale, size, size)`` as a function of the parameters."""

@overload
def chisquare(
    rng: numpy.random.Generator | numpy.random.RandomState, df: ArrayLike, size: Any = None
) -> Tensor:
    """Return ``rng.chisquare(df, size, size)`` as a function of the parameters."""
@overload
def chisquare(df: ArrayLike, size: Any = None) -> Tensor:
    """Return ``rng.chisquare(df, size, size)`` as a function of the parameters."""

@overload
def dirichlet(
    rng: numpy.random.Generator | numpy.random.RandomState, alpha: ArrayLike,
    size: int | tuple[int, ...] | None = None
) -> Tensor:
    """Return ``rng.dirichlet(alpha, size)`` as a function of the vector ``alpha``."""
@overload
def dirichlet(alpha: ArrayLike, size: int | tuple[int, ...] | None = None) -> Tensor:
    """Return ``rng.dirichlet(alpha, size)`` as a function of the vector ``alpha``."""

@overload
def exponential(
    rng: numpy.random.Generator | numpy.random.RandomState, scale: ArrayLike = 1.0,
    size: Any = None
) -> Tensor:
    """Return ``rng.exponential(scale, size, size)`` as a function of the parameters."""
@overload
def exponential(scale: ArrayLike = 1.0, size: Any = None) -> Tensor:
    """Return ``rng.exponential(scale, size, size)`` as a function of the parameters."""

@overload
def f(
    rng: numpy.random.Generator | numpy.random.RandomState, dfnum: ArrayLike, dfden: ArrayLike,
    size: Any = None
) -> Tensor:
    """Return ``rng.f(dfnum, dfden, size, size)`` as a function of the parameters."""
@overload
def f(dfnum: ArrayLike, dfden: ArrayLike, size: Any = None) -> Tensor:
    """Return ``rng.f(dfnum, dfden, size, size)`` as a function of the parameters."""

@overload
def gamma(
    rng: numpy.random.Generator | numpy.random.RandomState, shape: ArrayLike,
    scale: ArrayLike = 1.0, size: Any = None
) -> Tensor:
    """Return ``rng.gamma(shape, scale, size, size)`` as a function of the parameters."""
@overload
def gamma(shape: ArrayLike, scale: ArrayLike = 1.0, size: Any = None) -> Tensor:
    """Return ``rng.gamma(shape, scale, size, size)`` as a function of the parameters."""

@overload
def gumbel(
    rng: numpy.random.Generator | numpy.random.RandomState, loc: ArrayLike = 0.0,
    scale: ArrayLike = 1.0, size: Any = None
) -> Tensor:
    """Return ``rng.gumbel(loc, scale, size, size)`` as a function of the parameters."""
@overload
def gumbel(loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Any = None) -> Tensor:
    """Return ``rng.gumbel(loc, scale, size, size)`` as a function of the parameters."""

@overload
def laplace(
    rng: numpy.random.Generator | numpy.random.RandomState, loc: ArrayLike = 0.0,
    scale: ArrayLike = 1.0, size: Any = None
) -> Tensor:
    """Return ``rng.laplace(loc, scale, size, size)`` as a function of the parameters."""
@overload
def laplace(loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Any = None) -> Tensor:
    """Return ``rng.laplace(loc, scale, size, size)`` as a function of the parameters."""

@overload
def logistic(
    rng: numpy.random.Generator | numpy.random.RandomState, loc: ArrayLike = 0.0,
    scale: ArrayLike = 1.0, size: Any = None
) -> Tensor:
    """Return ``rng.logistic(loc, scale, size, size)`` as a function of the parameters."""
@overload
def logistic(loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Any = None) -> Tensor:
    """Return ``rng.logistic(loc, scale, size, size)`` as a function of the parameters."""

@overload
def lognormal(
    rng: numpy.random.Generator | numpy.random.RandomState, mean: ArrayLike = 0.0,
    sigma: ArrayLike = 1.0, size: Any = None
) -> Tensor:
    """Return ``rng.lognormal(mean, sigma, size, size)`` as a function of the parameters."""
@overload
def lognormal(mean: ArrayLike = 0.0, sigma: ArrayLike = 1.0, size: Any = None) -> Tensor:
    """Return ``rng.lognormal(mean, sigma, size, size)`` as a function of the parameters."""

@overload
def multivariate_normal(
    rng: numpy.random.Generator | numpy.random.RandomState, mean: ArrayLike, cov: ArrayLike,
    size: int | tuple[int, ...] | None = None
) -> Tensor:
    """Return ``mean + L z`` of normal draws ``z``, with the Cholesky factor ``L`` of ``cov``.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the same as its ``multivariate_normal(..., method="cholesky")``.
    mean : array_like
        A vector.
    cov : array_like
        A positive definite matrix; for others there is a ``LinAlgError``.
    size : int or tuple of int, optional
        How many vectors.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> mean = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> draws = ng.random.multivariate_normal(np.random.default_rng(0), mean, np.eye(2), 4)
    >>> ng.grad(draws.sum(), mean)[0]
    tensor([4., 4.])
    """
@overload
def multivariate_normal(
    mean: ArrayLike, cov: ArrayLike, size: int | tuple[int, ...] | None = None
) -> Tensor:
    """Return ``mean + L z`` of normal draws ``z``, with the Cholesky factor ``L`` of ``cov``.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the same as its ``multivariate_normal(..., method="cholesky")``.
    mean : array_like
        A vector.
    cov : array_like
        A positive definite matrix; for others there is a ``LinAlgError``.
    size : int or tuple of int, optional
        How many vectors.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> mean = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> draws = ng.random.multivariate_normal(np.random.default_rng(0), mean, np.eye(2), 4)
    >>> ng.grad(draws.sum(), mean)[0]
    tensor([4., 4.])
    """

@overload
def normal(
    rng: numpy.random.Generator | numpy.random.RandomState, loc: ArrayLike = 0.0,
    scale: ArrayLike = 1.0, size: Any = None
) -> Tensor:
    """Return ``rng.normal(loc, scale, size, size)`` as a function of the parameters."""
@overload
def normal(loc: ArrayLike = 0.0, scale: ArrayLike = 1.0, size: Any = None) -> Tensor:
    """Return ``rng.normal(loc, scale, size, size)`` as a function of the parameters."""

@overload
def pareto(
    rng: numpy.random.Generator | numpy.random.RandomState, a: ArrayLike, size: Any = None
) -> Tensor:
    """Return ``rng.pareto(a, size, size)`` as a function of the parameters."""
@overload
def pareto(a: ArrayLike, size: Any = None) -> Tensor:
    """Return ``rng.pareto(a, size, size)`` as a function of the parameters."""

@overload
def power(
    rng: numpy.random.Generator | numpy.random.RandomState, a: ArrayLike, size: Any = None
) -> Tensor:
    """Return ``rng.power(a, size, size)`` as a function of the parameters."""
@overload
def power(a: ArrayLike, size: Any = None) -> Tensor:
    """Return ``rng.power(a, size, size)`` as a function of the parameters."""

@overload
def random(rng: numpy.random.Generator | numpy.random.RandomState, size: Any = None) -> Tensor:
    """Return ``rng.random(size, size)`` as a function of the parameters."""
@overload
def random(size: Any = None) -> Tensor:
    """Return ``rng.random(size, size)`` as a function of the parameters."""

@overload
def rayleigh(
    rng: numpy.random.Generator | numpy.random.RandomState, scale: ArrayLike = 1.0,
    size: Any = None
) -> Tensor:
    """Return ``rng.rayleigh(scale, size, size)`` as a function of the parameters."""
@overload
def rayleigh(scale: ArrayLike = 1.0, size: Any = None) -> Tensor:
    """Return ``rng.rayleigh(scale, size, size)`` as a function of the parameters."""

@overload
def standard_cauchy(
    rng: numpy.random.Generator | numpy.random.RandomState, size: Any = None
) -> Tensor:
    """Return ``rng.standard_cauchy(size, size)`` as a function of the parameters."""
@overload
def standard_cauchy(size: Any = None) -> Tensor:
    """Return ``rng.standard_cauchy(size, size)`` as a function of the parameters."""

@overload
def standard_exponential(
    rng: numpy.random.Generator | numpy.random.RandomState, size: Any = None
) -> Tensor:
    """Return ``rng.standard_exponential(size, size)`` as a function of the parameters."""
@overload
def standard_exponential(size: Any = None) -> Tensor:
    """Return ``rng.standard_exponential(size, size)`` as a function of the parameters."""

@overload
def standard_gamma(
    rng: numpy.random.Generator | numpy.random.RandomState, shape: ArrayLike, size: Any = None
) -> Tensor:
    """Return ``rng.standard_gamma(shape, size, size)`` as a function of the parameters."""
@overload
def standard_gamma(shape: ArrayLike, size: Any = None) -> Tensor:
    """Return ``rng.standard_gamma(shape, size, size)`` as a function of the parameters."""

@overload
def standard_normal(
    rng: numpy.random.Generator | numpy.random.RandomState, size: Any = None
) -> Tensor:
    """Return ``rng.standard_normal(size, size)`` as a function of the parameters."""
@overload
def standard_normal(size: Any = None) -> Tensor:
    """Return ``rng.standard_normal(size, size)`` as a function of the parameters."""

@overload
def standard_t(
    rng: numpy.random.Generator | numpy.random.RandomState, df: ArrayLike, size: Any = None
) -> Tensor:
    """Return ``rng.standard_t(df, size, size)`` as a function of the parameters."""
@overload
def standard_t(df: ArrayLike, size: Any = None) -> Tensor:
    """Return ``rng.standard_t(df, size, size)`` as a function of the parameters."""

@overload
def triangular(
    rng: numpy.random.Generator | numpy.random.RandomState, left: ArrayLike, mode: ArrayLike,
    right: ArrayLike, size: Any = None
) -> Tensor:
    """Return ``rng.triangular(left, mode, right, size, size)`` as a function of the parameters."""
@overload
def triangular(left: ArrayLike, mode: ArrayLike, right: ArrayLike, size: Any = None) -> Tensor:
    """Return ``rng.triangular(left, mode, right, size, size)`` as a function of the parameters."""

@overload
def uniform(
    rng: numpy.random.Generator | numpy.random.RandomState, low: ArrayLike = 0.0,
    high: ArrayLike = 1.0, size: Any = None
) -> Tensor:
    """Return ``rng.uniform(low, high, size, size)`` as a function of the parameters."""
@overload
def uniform(low: ArrayLike = 0.0, high: ArrayLike = 1.0, size: Any = None) -> Tensor:
    """Return ``rng.uniform(low, high, size, size)`` as a function of the parameters."""

@overload
def weibull(
    rng: numpy.random.Generator | numpy.random.RandomState, a: ArrayLike, size: Any = None
) -> Tensor:
    """Return ``rng.weibull(a, size, size)`` as a function of the parameters."""
@overload
def weibull(a: ArrayLike, size: Any = None) -> Tensor:
    """Return ``rng.weibull(a, size, size)`` as a function of the parameters."""

def __getattr__(name: str) -> Any: ...  # NumPy's and SciPy's own
