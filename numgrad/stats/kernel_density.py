"""Densities estimated from samples, by Gaussian kernels."""

from typing import Any

import numpy as np

from .._tensor import ArrayLike, Tensor
from ..functions.array.argument_checks import numeric
from ..functions.array.operands import as_tensor
from ..functions.elementwise.exponential import exp, log
from ..functions.elementwise.softmax import logsumexp
from ..functions.linalg.systems import cholesky, inv
from ..functions.linalg.triangular import solve_triangular
from ..functions.products.products import matmul
from ..functions.reduction.averages import cov
from ..functions.shape.diagonals import diagonal
from ..functions.shape.joining import concat
from ..functions.shape.selection import where
from ..special import ndtr

LOG_2_PI = float(np.log(2.0 * np.pi))


class gaussian_kde:  # noqa: N801  SciPy's name
    """The density of a sample by Gaussian kernels, as `scipy.stats.gaussian_kde`.

    Parameters
    ----------
    dataset : array_like, shape (n,) or (d, n)
        The sample: a number or a column for each point.
    bw_method : {"scott", "silverman"}, number or callable, optional
        The bandwidth: how it is found from the number of points, a factor of the sample's standard
        deviation, or a function of this object that returns one.
    weights : array_like, shape (n,), optional

    Attributes
    ----------
    dataset, weights, covariance, factor, neff, d, n

    Notes
    -----
    The sample, weights, bandwidth and the points where the density is asked have gradients of any
    order.

    Examples
    --------
    >>> import numgrad as ng
    >>> sample = ng.tensor([0.0, 1.0, 3.0], requires_grad=True)
    >>> density = ng.stats.gaussian_kde(sample, 0.5)
    >>> round(density(1.0).item(), 6), ng.grad(density(1.0).sum(), sample)[0].numpy().round(4)
    (0.253648, array([ 0.1519,  0.0063, -0.0509]))
    """

    def __init__(
        self, dataset: ArrayLike, bw_method: Any = None, weights: ArrayLike | None = None
    ) -> None:
        x = as_tensor(numeric(dataset, "dataset"))
        x = x if x.dtype.kind == "f" else x.astype(np.float64)
        self.dataset = x = x[None, :] if x.ndim == 1 else x.reshape(-1, 1) if not x.ndim else x
        if x.ndim != 2 or x.shape[1] < 2:
            raise ValueError(f"gaussian_kde: dataset must be two points or more, got {x.shape}")
        self.d, self.n = x.shape
        if weights is None:
            w = as_tensor(np.full(self.n, 1.0 / self.n))
        else:
            w = as_tensor(numeric(weights, "weights")).astype(np.float64, copy=False)
            if w.shape != (self.n,):
                raise ValueError(f"gaussian_kde: weights of shape {w.shape} for {self.n} points")
            w = w / w.sum()
        self.weights, self.neff = w, 1.0 / (w * w).sum()
        self._spread = cov(x, aweights=w).reshape(self.d, self.d)
        self.set_bandwidth(bw_method)

    def scotts_factor(self) -> Tensor:
        """Return Scott's factor."""
        return self.neff ** (-1.0 / (self.d + 4))

    def silverman_factor(self) -> Tensor:
        """Return Silverman's factor."""
        return (self.neff * (self.d + 2.0) / 4.0) ** (-1.0 / (self.d + 4))

    def set_bandwidth(self, bw_method: Any = None) -> None:
        """Choose the bandwidth, see `gaussian_kde`."""
        named = {"scott": gaussian_kde.scotts_factor, "silverman": gaussian_kde.silverman_factor}
        if bw_method is None or isinstance(bw_method, str):
            chosen = "scott" if bw_method is None else bw_method
            if chosen not in named:
                raise ValueError(
                    f"gaussian_kde: bw_method must be 'scott', 'silverman', a number or a "
                    f"function, got {bw_method!r:.80}"
                )
            factor: Any = named[chosen](self)
        else:
            factor = bw_method(self) if callable(bw_method) else bw_method
        self.factor = as_tensor(numeric(factor, "bw_method"))
        if self.factor.ndim or self.factor.dtype.kind not in "iuf":
            raise ValueError(f"gaussian_kde: bw_method must be a number, got {factor!r:.80}")
        self.covariance = self._spread * (self.factor * self.factor)
        self._root = cholesky(self.covariance)

    @property
    def inv_cov(self) -> Tensor:
        """The inverse of the covariance of a kernel."""
        return inv(self.covariance)

    def logpdf(self, x: ArrayLike) -> Tensor:
        """Return the logarithm of the density at points, each a number or a column."""
        at = self._points(x)
        inner, outer = (solve_triangular(self._root, p, lower=True) for p in (self.dataset, at))
        step = outer[:, :, None] - inner[:, None, :]
        scale = log(diagonal(self._root)).sum() + 0.5 * self.d * LOG_2_PI
        # A weight of 0 adds nothing: its logarithm is kept finite.
        positive = self.weights > 0
        share = where(positive, log(where(positive, self.weights, 1.0)), -np.inf)
        return logsumexp(share - 0.5 * (step * step).sum(axis=0), axis=-1) - scale

    def evaluate(self, points: ArrayLike) -> Tensor:
        """Return the density at points, each a number or a column."""
        return exp(self.logpdf(points))

    __call__ = evaluate
    pdf = evaluate

    def _points(self, x: ArrayLike) -> Tensor:
        at = as_tensor(numeric(x, "x"))
        at = at.astype(self.dataset.dtype, copy=False) if at.dtype.kind != "f" else at
        at = at.reshape(1, -1) if at.ndim < 2 else at
        if at.ndim == 2 and at.shape[0] == 1 and at.shape[1] == self.d:
            at = at.reshape(self.d, 1)  # one point
        if at.ndim != 2 or at.shape[0] != self.d:
            raise ValueError(
                f"gaussian_kde: points of shape {at.shape} for a sample of {self.d} coordinates"
            )
        return at

    def integrate_box_1d(self, low: ArrayLike, high: ArrayLike) -> Tensor:
        """Return the probability of an interval."""
        if self.d != 1:
            raise ValueError("gaussian_kde: integrate_box_1d is for samples of numbers")
        ends = [(as_tensor(numeric(x, "low")) - self.dataset[0]) / self._root[0, 0]
                for x in (low, high)]
        return ((ndtr(ends[1]) - ndtr(ends[0])) * self.weights).sum()

    def integrate_gaussian(self, mean: ArrayLike, cov: ArrayLike) -> Tensor:
        """Return the integral of the product with the density of a normal distribution."""
        mu = as_tensor(numeric(mean, "mean")).reshape(-1, 1)
        spread = as_tensor(numeric(cov, "cov")).reshape(-1, mu.shape[0])
        if spread.shape != (self.d, self.d):
            raise ValueError(
                f"gaussian_kde: mean and cov of {self.d} coordinates, got {spread.shape}"
            )
        return self._smoothed(mu, spread)

    def integrate_kde(self, other: "gaussian_kde") -> Tensor:
        """Return the integral of the product with another density."""
        if other.d != self.d:
            raise ValueError("gaussian_kde: both densities need as many coordinates")
        parts = [self._smoothed(other.dataset[:, k : k + 1], other.covariance)[None]
                 for k in range(other.n)]
        return (concat(parts) * other.weights).sum()

    def _smoothed(self, mean: Tensor, spread: Tensor) -> Tensor:
        root = cholesky(self.covariance + spread)
        step = solve_triangular(root, self.dataset - mean, lower=True)
        scale = log(diagonal(root)).sum() + 0.5 * self.d * LOG_2_PI
        return matmul(exp(-0.5 * (step * step).sum(axis=0) - scale), self.weights)
