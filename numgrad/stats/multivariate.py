"""Distributions of vectors and matrices, each declared by the logarithm of its density."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import special as sp
from .._errors import DtypeError, NotDifferentiableError
from .._tensor import ArrayLike, Tensor
from ..functions.constants import eye
from ..functions.exponential import exp, log
from ..functions.operands import as_tensors
from ..functions.selection import where
from ..functions.shape import concat, diag, diagonal, moveaxis, reshape, squeeze
from ..functions.systems import cholesky, solve
from .distribution import Frozen

LOG_2, LOG_PI = math.log(2), math.log(math.pi)


class Family:
    """A distribution, declared by a function of the argument and the parameters of `scipy.stats`:
    the logarithm of its density."""

    def __init__(self, log_density: Callable[..., Tensor]) -> None:
        self.__name__, self.__module__ = log_density.__name__, "numgrad.stats"
        self.__doc__ = log_density.__doc__
        self._log_density = log_density

    def __repr__(self) -> str:
        return f"<numgrad.stats.{self.__name__}>"

    def __reduce__(self) -> str:
        return self.__name__

    def __call__(self, *args: ArrayLike, **parameters: ArrayLike) -> Frozen:
        """Return the distribution with these parameters."""
        return Frozen(self, args, parameters)

    def _density(self, *args: Any, **parameters: Any) -> Tensor:
        return exp(self._log_density(*args, **parameters))


class Multivariate(Family):
    """A distribution of numbers."""

    def logpdf(self, x: ArrayLike, *args: Any, **parameters: Any) -> Tensor:
        """Return the logarithm of the density at ``x``."""
        return self._log_density(x, *args, **parameters)

    def pdf(self, x: ArrayLike, *args: Any, **parameters: Any) -> Tensor:
        """Return the density at ``x``."""
        return self._density(x, *args, **parameters)


class Counts(Family):
    """A distribution of integers."""

    def logpmf(self, x: ArrayLike, *args: Any, **parameters: Any) -> Tensor:
        """Return the logarithm of the probability of ``x``."""
        return self._log_density(x, *args, **parameters)

    def pmf(self, x: ArrayLike, *args: Any, **parameters: Any) -> Tensor:
        """Return the probability of ``x``."""
        return self._density(x, *args, **parameters)


def _operands(name: str, *given: ArrayLike) -> list[Tensor]:
    tensors = as_tensors(*given)
    if any(t.dtype.kind == "c" for t in tensors):
        raise DtypeError(f"stats.{name} takes real numbers only, got complex ones")
    return [t.astype(np.float64, copy=False) for t in tensors]


@Multivariate
def multivariate_normal(
    x: ArrayLike, mean: ArrayLike | None = None, cov: ArrayLike = 1
) -> Tensor:
    """The normal distribution of vectors: ``logpdf(x, mean=None, cov=1)`` and ``pdf``.

    The points ``x`` are vectors in the last axis; its elements are points of their own if there is
    one dimension. The mean is a vector, by default zeros. The covariance is a positive definite
    matrix, the diagonal of one, or a number times the identity; any other is a ``LinAlgError``.

    Notes
    -----
    With the deviations :math:`d` and :math:`w = C^{-1} d` the gradients of the logarithm are
    :math:`-w` to ``x`` and :math:`(w w^T - C^{-1}) / 2` to ``cov``.
    """
    x, mean, cov = _operands("multivariate_normal", x, 0.0 if mean is None else mean, cov)
    n = mean.size if mean.ndim else cov.shape[0] if cov.ndim == 2 else 1
    if mean.ndim > 1 or cov.ndim > 2 or (cov.ndim and {*cov.shape} != {n}):
        raise ValueError(
            f"stats.multivariate_normal: the mean has shape {mean.shape}, the covariance "
            f"{cov.shape}; they need (n,) and (n, n)"
        )
    if cov.ndim < 2:
        cov = diag(cov) if cov.ndim else cov * eye(n)
    factor = cholesky(cov)
    d = (x[..., None] if x.ndim == 0 or (x.ndim == 1 and n == 1) else x) - mean
    whitened = solve(factor, reshape(d, (-1, n)).T)
    squares = reshape((whitened * whitened).sum(axis=0), d.shape[:-1])
    return squeeze(-0.5 * squares - _half_logdet(factor) - 0.5 * n * (LOG_2 + LOG_PI))


@Multivariate
def dirichlet(x: ArrayLike, alpha: ArrayLike) -> Tensor:
    """The Dirichlet distribution: ``logpdf(x, alpha)`` and ``pdf``.

    The first axis of ``x`` has numbers of sum 1, or all of them but the last; the density is 0 at
    others. ``alpha`` is a vector of positive numbers; if one is not, the result is NaN.
    """
    x, alpha = _operands("dirichlet", x, alpha)
    if alpha.ndim != 1 or not x.ndim or x.shape[0] not in (alpha.size, alpha.size - 1):
        raise ValueError(
            f"stats.dirichlet: {x.shape} and {alpha.shape} are the shapes of x and alpha; they "
            "need (n, ...) or (n - 1, ...) and (n,)"
        )
    if x.shape[0] == alpha.size - 1:
        x = concat([x, 1.0 - x.sum(axis=0, keepdims=True)])
    inside = (abs(x.sum(axis=0) - 1.0) <= 1e-9) & (x >= 0).all(axis=0)
    alpha = where((alpha > 0).all(), alpha, np.nan)
    terms = sp.xlogy(alpha - 1.0, moveaxis(where(inside, x, 1 / alpha.size), 0, -1))
    y = terms.sum(axis=-1) - sp.gammaln(alpha).sum() + sp.gammaln(alpha.sum())
    return squeeze(where(inside | (y != y), y, -np.inf))


@Multivariate
def wishart(x: ArrayLike, df: ArrayLike, scale: ArrayLike) -> Tensor:
    """The Wishart distribution: ``logpdf(x, df, scale)`` and ``pdf``.

    ``x`` has positive definite matrices in the first two axes, and ``scale`` is one; any other is a
    ``LinAlgError``. ``df`` is more than the number of rows less 1, or the result is NaN.
    """
    x, df, scale = _operands("wishart", x, df, scale)
    p = scale.shape[0] if scale.ndim else 1
    of_x = cholesky(moveaxis(reshape(x, (p, p, -1)), -1, 0))
    of_scale = cholesky(reshape(scale, (p, p)))
    df = where(df > p - 1, df, np.nan)
    mixed = solve(of_scale, of_x)
    gammas = sum(sp.gammaln(0.5 * (df - j)) for j in range(p)) + 0.25 * p * (p - 1) * LOG_PI
    y = (df - p - 1.0) * _half_logdet(of_x) - 0.5 * (mixed * mixed).sum(axis=(-2, -1))
    return squeeze(y - 0.5 * df * p * LOG_2 - df * _half_logdet(of_scale) - gammas)


def _half_logdet(factor: Tensor) -> Tensor:
    return log(diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1)


@Counts
def multinomial(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Tensor:
    """The multinomial distribution: ``logpmf(x, n, p)`` and ``pmf``.

    The last axis of ``x`` has counts of sum ``n``, the number of trials; the probability is 0 of
    others. That of ``p`` has probabilities; the result is NaN if their sum is not 1.

    Notes
    -----
    The gradient of ``p`` is ``x / p``: that of a function of all probabilities, the sum of which is
    kept at 1 by whoever changes them.
    """
    if isinstance(x, Tensor) and x.requires_grad:
        raise NotDifferentiableError(
            "stats.multinomial has no derivative with respect to counts, which are integers; give "
            "them without one, as x.detach()"
        )
    x, n, p = _operands("multinomial", x, n, p)
    whole = abs(p.sum(axis=-1) - 1.0) <= 1e-6  # also of probabilities of single precision
    valid = (n >= 0) & ((p >= 0) & (p <= 1)).all(axis=-1) & whole
    inside = (x.sum(axis=-1) == n) & ((x >= 0) & (x == x.round())).all(axis=-1)
    counts = where(inside[..., None], x, 0.0)
    y = sp.gammaln(n + 1.0) + (sp.xlogy(counts, p) - sp.gammaln(counts + 1.0)).sum(axis=-1)
    return where(valid, where(inside, y, -np.inf), np.nan)
