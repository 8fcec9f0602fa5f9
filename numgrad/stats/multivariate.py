"""Distributions of vectors and matrices, each declared by the logarithm of its density."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import special as sp
from .._errors import DtypeError, NotDifferentiableError
from .._tensor import ArrayLike, Tensor
from ..functions.array.operands import as_tensors
from ..functions.creation.constants import eye
from ..functions.elementwise.exponential import exp, log, log1p
from ..functions.linalg.least_squares import pinv
from ..functions.linalg.spectral import eigh, eigvalsh
from ..functions.linalg.systems import cholesky, solve
from ..functions.products.products import matmul
from ..functions.shape.diagonals import diag, diagonal
from ..functions.shape.joining import concat
from ..functions.shape.reshaping import moveaxis, reshape, squeeze
from ..functions.shape.selection import clip, where
from .family import Family

LOG_2, LOG_PI = math.log(2), math.log(math.pi)


class Declared(Family):
    """A distribution, declared by a function of the argument and the parameters of `scipy.stats`:
    the logarithm of its density."""

    def __init__(self, log_density: Callable[..., Tensor]) -> None:
        super().__init__(log_density.__name__, log_density.__doc__)
        self._log_density = log_density
        self._entropy: Callable[..., Tensor] | None = None

    def entropy(self, *args: Any, **parameters: Any) -> Tensor:
        """Return the mean of ``-log(p)`` of the density or the probability ``p``."""
        if self._entropy is None:
            return self._without_formula("entropy", *args, **parameters)
        return self._entropy(*args, **parameters)

    def has_entropy(self, entropy: Callable[..., Tensor]) -> Callable[..., Tensor]:
        """Declare the entropy, a function of the parameters."""
        self._entropy = entropy
        return entropy


class Multivariate(Declared):
    """A distribution of numbers."""

    def logpdf(self, x: ArrayLike, *args: Any, **parameters: Any) -> Tensor:
        """Return the logarithm of the density at ``x``."""
        return self._log_density(x, *args, **parameters)

    def pdf(self, x: ArrayLike, *args: Any, **parameters: Any) -> Tensor:
        """Return the density at ``x``."""
        return exp(self._log_density(x, *args, **parameters))


class Counts(Declared):
    """A distribution of integers."""

    def logpmf(self, x: ArrayLike, *args: Any, **parameters: Any) -> Tensor:
        """Return the logarithm of the probability of ``x``."""
        return self._log_density(x, *args, **parameters)

    def pmf(self, x: ArrayLike, *args: Any, **parameters: Any) -> Tensor:
        """Return the probability of ``x``."""
        return exp(self._log_density(x, *args, **parameters))


def _operands(name: str, *given: ArrayLike) -> list[Tensor]:
    tensors = as_tensors(*given)
    if any(t.dtype.kind == "c" for t in tensors):
        raise DtypeError(f"stats.{name} takes real numbers only, got complex ones")
    return [t.astype(np.float64, copy=False) for t in tensors]


@Multivariate
def multivariate_normal(
    x: ArrayLike, mean: ArrayLike | None = None, cov: ArrayLike = 1, allow_singular: bool = False
) -> Tensor:
    """The normal distribution of vectors: ``logpdf(x, mean=None, cov=1, allow_singular=False)``,
    ``pdf``, and ``entropy(mean=None, cov=1)``.

    The points ``x`` are vectors in the last axis; its elements are points of their own if there is
    one dimension. The mean is a vector, by default zeros. The covariance is a positive definite
    matrix, the diagonal of one, or a number times the identity; any other is a ``LinAlgError``.
    With ``allow_singular`` eigenvalues may be 0: the density is that in the space of the others,
    and 0 outside of it. The entropy allows it.

    Notes
    -----
    With the deviations :math:`d` and :math:`w = C^{-1} d` the gradients of the logarithm are
    :math:`-w` to ``x`` and :math:`(w w^T - C^{-1}) / 2` to ``cov``. With pseudo-inverses of a
    singular matrix they are right for changes that keep the rank; second derivatives are NaN if two
    eigenvalues are equal then.
    """
    x, mean, cov = _operands("multivariate_normal", x, 0.0 if mean is None else mean, cov)
    cov = _covariance(mean, cov)
    n = cov.shape[0]
    d = (x[..., None] if x.ndim == 0 or (x.ndim == 1 and n == 1) else x) - mean
    vectors = reshape(d, (-1, n))
    squares, half_logdet, rank = (_degenerate if allow_singular else _whitened)(cov, vectors)
    y = -0.5 * squares - half_logdet - 0.5 * rank * (LOG_2 + LOG_PI)
    return squeeze(reshape(y, d.shape[:-1]))


@multivariate_normal.has_entropy
def normal_entropy(
    mean: ArrayLike | None = None, cov: ArrayLike = 1, allow_singular: bool = True
) -> Tensor:
    mean, cov = _operands("multivariate_normal", 0.0 if mean is None else mean, cov)
    cov = _covariance(mean, cov)
    none = np.zeros((1, cov.shape[0]))
    _, half_logdet, rank = (_degenerate if allow_singular else _whitened)(cov, none)
    return squeeze(half_logdet + 0.5 * rank * (LOG_2 + LOG_PI + 1.0))


def _covariance(mean: Tensor, cov: Tensor, name: str = "multivariate_normal") -> Tensor:
    """Return the matrix of a covariance that may be given by its diagonal or by a number."""
    n = mean.size if mean.ndim else cov.shape[0] if cov.ndim == 2 else 1
    if mean.ndim > 1 or cov.ndim > 2 or (cov.ndim and {*cov.shape} != {n}):
        raise ValueError(
            f"stats.{name}: the mean has shape {mean.shape}, the covariance "
            f"{cov.shape}; they need (n,) and (n, n)"
        )
    return cov if cov.ndim == 2 else diag(cov) if cov.ndim else cov * eye(n)


def _whitened(cov: Tensor, d: ArrayLike) -> tuple[Tensor, Tensor, int]:
    """Return the squares of the lengths of vectors as the covariance measures them, half of the
    logarithm of its determinant, and its rank."""
    factor = cholesky(cov)
    whitened = solve(factor, as_tensors(d)[0].T)
    return (whitened * whitened).sum(axis=0), _half_logdet(factor), cov.shape[0]


def _degenerate(cov: Tensor, d: ArrayLike) -> tuple[Tensor, Tensor, Tensor]:
    """Return the same, each for every vector, in the space of the eigenvectors whose eigenvalues
    are not 0: the squares are infinite outside of it, and all is NaN if one is negative."""
    values = eigvalsh(cov)
    cutoff = ZERO * abs(values.detach()).max()
    counts = values > cutoff
    squares = (matmul(d, pinv(cov, ZERO, hermitian=True)) * d).sum(axis=-1)
    half_logdet = 0.5 * where(counts, log(where(counts, values, 1.0)), 0.0).sum()
    off = matmul(as_tensors(d)[0].detach(), where(counts, 0.0, eigh(cov.detach()).eigenvectors))
    inside = (off * off).sum(axis=-1) < (1e3 * cutoff) ** 2
    valid = (values >= -cutoff).all()
    squares, half_logdet = where(inside, squares, np.inf), where(inside, half_logdet, 0.0)
    return where(valid, squares, np.nan), where(valid, half_logdet, np.nan), counts.sum()


ZERO = 1e6 * np.finfo(np.float64).eps
"""What part of the largest eigenvalue counts as 0, SciPy's number."""


@Multivariate
def multivariate_t(
    x: ArrayLike, loc: ArrayLike | None = None, shape: ArrayLike = 1, df: ArrayLike = 1
) -> Tensor:
    """Student's distribution of vectors: ``logpdf(x, loc=None, shape=1, df=1)`` and ``pdf``.

    The points ``x`` are vectors in the last axis; its elements are points of their own if there is
    one dimension. The location is a vector, by default zeros. The shape is a positive definite
    matrix, the diagonal of one, or a number times the identity; any other is a ``LinAlgError``.
    With infinitely many degrees of freedom ``df`` this is the normal distribution; without any, or
    with fewer, the result is NaN.
    """
    x, loc, shape, df = _operands("multivariate_t", x, 0.0 if loc is None else loc, shape, df)
    shape = _covariance(loc, shape, "multivariate_t")
    n = shape.shape[0]
    d = (x[..., None] if x.ndim == 0 or (x.ndim == 1 and n == 1) else x) - loc
    squares, half_logdet, _ = _whitened(shape, reshape(d, (-1, n)))
    df = clip(where(df > 0, df, np.nan), None, 1e200)
    power = 0.5 * (df + n) * log1p(squares / df)
    mass = 0.5 * n * log(df) + sp.betaln(0.5 * df, 0.5 * n) + half_logdet
    y = math.lgamma(0.5 * n) - 0.5 * n * LOG_PI - mass - power
    return squeeze(reshape(y, d.shape[:-1]))


@Multivariate
def dirichlet(x: ArrayLike, alpha: ArrayLike) -> Tensor:
    """The Dirichlet distribution: ``logpdf(x, alpha)``, ``pdf`` and ``entropy(alpha)``.

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


@dirichlet.has_entropy
def dirichlet_entropy(alpha: ArrayLike) -> Tensor:
    (alpha,) = _operands("dirichlet", alpha)
    alpha = where((alpha > 0).all(), alpha, np.nan)
    total = alpha.sum()
    log_beta = sp.gammaln(alpha).sum() - sp.gammaln(total)
    mean = ((alpha - 1.0) * sp.psi(alpha)).sum()
    return log_beta + (total - alpha.size) * sp.psi(total) - mean


@Multivariate
def wishart(x: ArrayLike, df: ArrayLike, scale: ArrayLike) -> Tensor:
    """The Wishart distribution: ``logpdf(x, df, scale)``, ``pdf`` and ``entropy(df, scale)``.

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


@wishart.has_entropy
def wishart_entropy(df: ArrayLike, scale: ArrayLike) -> Tensor:
    df, scale = _operands("wishart", df, scale)
    p = scale.shape[0] if scale.ndim else 1
    df = where(df > p - 1, df, np.nan)
    logdet = 2.0 * _half_logdet(cholesky(reshape(scale, (p, p))))
    slopes = sum(sp.psi(0.5 * (df - j)) for j in range(p))
    constant = 0.5 * p * (p + 1) * LOG_2 + 0.5 * df * p
    return (
        0.5 * (p + 1) * logdet + constant + sp.multigammaln(0.5 * df, p)
        - 0.5 * (df - p - 1) * slopes
    )  # fmt: skip


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
