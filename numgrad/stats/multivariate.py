"""Distributions of vectors and matrices."""

import math
from collections.abc import Callable

import numpy as np

from .. import special as sp
from .._errors import DtypeError, NotDifferentiableError
from .._tensor import ArrayLike, Tensor
from ..functions.creation import eye
from ..functions.exponential import exp, log
from ..functions.operands import as_tensors
from ..functions.selection import where
from ..functions.shape import concat, diag, diagonal, moveaxis, reshape, squeeze
from ..functions.systems import cholesky, solve
from .distribution import Frozen

LOG_2PI = math.log(2 * math.pi)


class Multivariate:
    """A distribution of vectors or matrices; its functions take the parameters of `scipy.stats`."""

    __name__ = ""
    logpdf: Callable[..., Tensor]

    def __repr__(self) -> str:
        return f"<numgrad.stats.{self.__name__}>"

    def __call__(self, *args: ArrayLike, **parameters: ArrayLike) -> Frozen:
        """Return the distribution with these parameters."""
        return Frozen(self, args, parameters)

    def pdf(self, x: ArrayLike, *args: ArrayLike, **parameters: ArrayLike) -> Tensor:
        """Return the density at ``x``, with the parameters of ``logpdf``."""
        return exp(self.logpdf(x, *args, **parameters))

    def _operands(self, *given: ArrayLike) -> list[Tensor]:
        tensors = as_tensors(*given)
        if any(t.dtype.kind == "c" for t in tensors):
            raise DtypeError(f"stats.{self.__name__} takes real numbers only, got complex ones")
        return [t.astype(np.float64, copy=False) for t in tensors]


class MultivariateNormal(Multivariate):
    """``multivariate_normal`` of `scipy.stats`: ``logpdf(x, mean=None, cov=1)`` and ``pdf``."""

    __name__ = "multivariate_normal"

    def logpdf(self, x: ArrayLike, mean: ArrayLike | None = None, cov: ArrayLike = 1) -> Tensor:
        """Return the logarithm of the density at the vectors in the last axis of ``x``.

        Parameters
        ----------
        x : array_like
            Vectors; their elements are points of their own if there is one dimension.
        mean : array_like, optional
            A vector, by default zeros.
        cov : array_like
            A positive definite matrix, the diagonal of one, or a number times the identity.

        Raises
        ------
        numpy.linalg.LinAlgError
            If ``cov`` is not positive definite.

        Notes
        -----
        With the deviations :math:`d` and :math:`w = C^{-1} d` the gradients are :math:`-w` to ``x``
        and :math:`(w w^T - C^{-1}) / 2` to ``cov``.
        """
        x, mean, cov = self._process(x, 0.0 if mean is None else mean, cov)
        factor = cholesky(cov)
        d = x - mean
        whitened = solve(factor, reshape(d, (-1, cov.shape[0])).T)
        squares = reshape((whitened * whitened).sum(axis=0), d.shape[:-1])
        logdet = 2.0 * log(diagonal(factor)).sum()
        return squeeze(-0.5 * (squares + logdet + cov.shape[0] * LOG_2PI))

    def _process(self, *given: ArrayLike) -> list[Tensor]:
        """Return points, mean and covariance with their axes, by the rules of SciPy."""
        x, mean, cov = self._operands(*given)
        n = mean.size if mean.ndim else cov.shape[0] if cov.ndim == 2 else 1
        if mean.ndim > 1 or cov.ndim > 2 or (cov.ndim and {*cov.shape} != {n}):
            raise ValueError(
                f"stats.multivariate_normal: the mean has shape {mean.shape}, the covariance "
                f"{cov.shape}; they need (n,) and (n, n)"
            )
        if cov.ndim < 2:
            cov = diag(cov) if cov.ndim else cov * eye(n)
        return [x[..., None] if x.ndim == 0 or (x.ndim == 1 and n == 1) else x, mean, cov]


class Dirichlet(Multivariate):
    """``dirichlet`` of `scipy.stats`: ``logpdf(x, alpha)`` and ``pdf``."""

    __name__ = "dirichlet"

    def logpdf(self, x: ArrayLike, alpha: ArrayLike) -> Tensor:
        """Return the logarithm of the density at the points along the first axis of ``x``.

        Parameters
        ----------
        x : array_like
            Numbers of sum 1, or all of them but the last; the density is 0 at others.
        alpha : array_like
            A vector of positive numbers; if one is not, the result is NaN.
        """
        x, alpha = self._operands(x, alpha)
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
        constant = sp.gammaln(alpha).sum() - sp.gammaln(alpha.sum())
        y = terms.sum(axis=-1) - constant
        return squeeze(where(inside | (y != y), y, -np.inf))


class Wishart(Multivariate):
    """``wishart`` of `scipy.stats`: ``logpdf(x, df, scale)`` and ``pdf``."""

    __name__ = "wishart"

    def logpdf(self, x: ArrayLike, df: ArrayLike, scale: ArrayLike) -> Tensor:
        """Return the logarithm of the density at the matrices in the first two axes of ``x``.

        Parameters
        ----------
        x : array_like
            Positive definite matrices.
        df : float
            The degrees of freedom, at least the number of rows; NaN is the result of others.
        scale : array_like
            A positive definite matrix.

        Raises
        ------
        numpy.linalg.LinAlgError
            If a matrix is not positive definite.
        """
        x, df, scale = self._operands(x, df, scale)
        p = scale.shape[0] if scale.ndim else 1
        x = moveaxis(reshape(x, (p, p, -1)), -1, 0)
        scale = reshape(scale, (p, p))
        df = where(df > p - 1, df, np.nan)
        of_x, of_scale = cholesky(x), cholesky(scale)
        mixed = solve(of_scale, of_x)
        gammas = sum(sp.gammaln(0.5 * (df - j)) for j in range(p)) + 0.25 * p * (p - 1) * LOG_PI
        y = (df - p - 1.0) * _half_logdet(of_x) - 0.5 * (mixed * mixed).sum(axis=(-2, -1))
        y = y - 0.5 * df * p * LOG_2 - df * _half_logdet(of_scale) - gammas
        return squeeze(y)


LOG_2, LOG_PI = math.log(2), math.log(math.pi)


def _half_logdet(factor: Tensor) -> Tensor:
    return log(diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1)


class Multinomial(Multivariate):
    """``multinomial`` of `scipy.stats`: ``logpmf(x, n, p)`` and ``pmf``."""

    __name__ = "multinomial"

    def logpmf(self, x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Tensor:
        """Return the logarithm of the probability of the counts in the last axis of ``x``.

        Parameters
        ----------
        x : array_like
            Counts of sum ``n``; the probability is 0 of others.
        n : array_like
            Numbers of trials.
        p : array_like
            Probabilities, in the last axis; the result is NaN if their sum is not 1.

        Notes
        -----
        The gradient of ``p`` is ``x / p``: that of a function of all probabilities, the sum of
        which is kept at 1 by whoever changes them.
        """
        if isinstance(x, Tensor) and x.requires_grad:
            raise NotDifferentiableError(
                "stats.multinomial.logpmf has no derivative with respect to counts, which are "
                "integers; give them without one, as x.detach()"
            )
        x, n, p = self._operands(x, n, p)
        whole = abs(p.sum(axis=-1) - 1.0) <= 1e-6  # also of probabilities of single precision
        valid = (n >= 0) & ((p >= 0) & (p <= 1)).all(axis=-1) & whole
        inside = (x.sum(axis=-1) == n) & ((x >= 0) & (x == x.round())).all(axis=-1)
        counts = where(inside[..., None], x, 0.0)
        y = sp.gammaln(n + 1.0) + (sp.xlogy(counts, p) - sp.gammaln(counts + 1.0)).sum(axis=-1)
        return where(valid, where(inside, y, -np.inf), np.nan)

    def pmf(self, x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Tensor:
        """Return the probability of the counts in the last axis of ``x``."""
        return exp(self.logpmf(x, n, p))


multivariate_normal = MultivariateNormal()
dirichlet = Dirichlet()
wishart = Wishart()
multinomial = Multinomial()
