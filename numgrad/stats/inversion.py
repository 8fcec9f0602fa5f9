"""Quantiles of distributions whose quantiles have no formula: numbers of SciPy, corrected.

SciPy finds some of these numbers by a search that ends early where the probability is small, or far
from the place that is sought.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._tensor import Tensor
from ..functions.array.operands import as_tensors
from ..functions.shape.selection import where

PRECISE, CLOSE = 1e-9, 1e-3
"""Relative errors of a probability: of a number that is left as it is, and of one from which
Newton's method converges."""


def with_limits(
    inside: Callable[..., Any], at_0: Callable[..., Any] | None, at_1: Callable[..., Any] | None
) -> Callable[..., Any]:
    """Return quantiles which have the given limits at the probabilities 0 and 1, where Newton's
    method has none. The limits are functions of the distance to these, and of the parameters."""

    def inverse(q: Tensor, *shapes: Tensor) -> Tensor:
        if at_0 is None or at_1 is None or not any(t.requires_grad for t in (q, *shapes)):
            return inside(q, *shapes)
        x = inside(where((q == 0) | (q == 1), 0.5, q), *shapes)
        x = where(q == 0, at_0(q, *shapes), x)
        return where(q == 1, at_1(1.0 - q, *shapes), x)

    return inverse


class Inverted(NamedTuple):
    """A probability whose inverse is sought.

    Attributes
    ----------
    probability, log_density : callable
        Functions of tensors, of an argument and the parameters of the distribution.
    low : float
        The lower end of the support.
    rises : bool
        Whether the probability grows with the argument.
    """

    probability: Callable[..., Any]
    log_density: Callable[..., Any]
    low: Any
    rises: bool

    def corrected(self, x: np.ndarray, q: np.ndarray, *shapes: np.ndarray) -> np.ndarray:
        """Return the arguments whose probability is ``q``; ``x`` has them as they were found, right
        or not."""
        x, q, *parts = (np.array(part) for part in np.broadcast_arrays(x, q, *shapes))
        for error, correct in ((CLOSE, self._bisected), (PRECISE, self._moved)):
            with np.errstate(invalid="ignore"):
                is_wrong = ~(np.abs(self._share(x, *parts) - q) <= error * q) & (q > 0) & (q < 1)
            if is_wrong.any():
                x[is_wrong] = correct(*[part[is_wrong] for part in (x, q, *parts)])
        return x

    def _share(self, x: np.ndarray, *shapes: np.ndarray) -> np.ndarray:
        is_inside = x > self.low
        found = self.probability(*as_tensors(np.where(is_inside, x, 1.0), *shapes)).numpy()
        return np.where(is_inside, found, 0.0 if self.rises else 1.0)

    def _moved(self, x: np.ndarray, q: np.ndarray, *shapes: np.ndarray) -> np.ndarray:
        """Return numbers after a step of Newton's method."""
        density = np.exp(self.log_density(*as_tensors(x, *shapes)).numpy())
        step = (self._share(x, *shapes) - q) / density
        return x - step if self.rises else x + step

    def _bisected(self, x: np.ndarray, q: np.ndarray, *shapes: np.ndarray) -> np.ndarray:
        """Return the numbers between which the probability passes ``q``, by halving the numbers
        that there are in double precision; NaN where a parameter is none."""
        high = np.full(x.shape, np.array(np.finfo(float).max).view(np.int64)[()])
        low = -high
        for _ in range(64):
            middle = (low >> 1) + (high >> 1) + (low & high & 1)
            is_low = (self._share(_number(middle), *shapes) < q) == self.rises
            low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
        return np.where(np.isfinite(sum(shapes, q)), _number(high), np.nan)


def _number(place: np.ndarray) -> np.ndarray:
    """Return the numbers at places in the order of all numbers, of which 0 is that of 0."""
    return np.copysign(np.abs(place).view(np.float64), place)
