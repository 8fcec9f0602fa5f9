"""Quantiles of distributions whose quantiles have no formula: numbers of SciPy, corrected.

SciPy finds some of these numbers by a search that ends early where the probability is small, or far
from the place that is sought.
"""

from collections.abc import Callable

import numpy as np

PRECISE, CLOSE = 1e-9, 1e-3
"""Relative errors of a probability: of a number that is left as it is, and of one from which
Newton's method converges."""

Function = Callable[..., np.ndarray]


def corrected(
    x: np.ndarray, q: np.ndarray, shapes: list[np.ndarray], share: Function, density: Function,
    rises: bool,
) -> np.ndarray:  # fmt: skip
    """Return quantiles whose probability is ``q``.

    Parameters
    ----------
    x : ndarray
        The quantiles as they were found, right or not.
    shapes : list of ndarray
        The parameters of the distribution.
    share, density : callable
        Functions of an argument and the parameters: the probability, and its slope without a sign.
    rises : bool
        Whether the probability grows with the argument.
    """
    x, q, *shapes = (np.array(part) for part in np.broadcast_arrays(x, q, *shapes))
    for error, correct in ((CLOSE, _bisected), (PRECISE, _moved)):
        with np.errstate(invalid="ignore"):
            is_wrong = ~(np.abs(share(x, *shapes) - q) <= error * q) & (q > 0) & (q < 1)
        if is_wrong.any():
            given = [part[is_wrong] for part in (x, q, *shapes)]
            x[is_wrong] = correct(*given, share=share, density=density, rises=rises)
    return x


def _moved(
    x: np.ndarray, q: np.ndarray, *shapes: np.ndarray, share: Function, density: Function,
    rises: bool,
) -> np.ndarray:  # fmt: skip
    """Return numbers after a step of Newton's method."""
    step = (share(x, *shapes) - q) / density(x, *shapes)
    return x - step if rises else x + step


def _bisected(
    x: np.ndarray, q: np.ndarray, *shapes: np.ndarray, share: Function, density: Function,
    rises: bool,
) -> np.ndarray:  # fmt: skip
    """Return the numbers between which the probability passes ``q``, by halving the numbers that
    there are in double precision; NaN where a parameter is none."""
    high = np.full(x.shape, np.array(np.finfo(float).max).view(np.int64)[()])
    low = -high
    for _ in range(64):
        middle = (low >> 1) + (high >> 1) + (low & high & 1)
        is_low = (share(_number(middle), *shapes) < q) == rises
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    return np.where(np.isfinite(sum(shapes, q)), _number(high), np.nan)


def _number(place: np.ndarray) -> np.ndarray:
    """Return the numbers at places in the order of all numbers, of which 0 is that of 0."""
    return np.copysign(np.abs(place).view(np.float64), place)
