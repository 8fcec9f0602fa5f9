"""What the exact Jacobian costs, and that it is right."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from .fit import central_differences
from .jacobian import RecordedResiduals

Array = NDArray[np.float64]

# The first call builds what later ones find again, and the second one may; neither is timed.
UNTIMED = 2
ROUNDS = 3

# Central differences are good to about eps^(2/3); a wrong derivative is off by far more.
TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class JacobianCheck:
    """The difference to central differences and the time of both ways to the whole matrix.

    Both have been called before, and take turns; the times are medians.
    """

    shape: tuple[int, int]
    difference: float
    rows_difference: float
    batched_seconds: float
    by_rows_seconds: float

    @property
    def passed(self) -> bool:
        """Whether finite differences and single rows agree with the batched call."""
        return self.difference < TOLERANCE and self.rows_difference < TOLERANCE


def check_jacobian(model: RecordedResiduals, log_parameters: Array) -> JacobianCheck:
    """Compare the batched Jacobian with finite differences and with one call per row."""
    (batched, batched_seconds), (by_rows, by_rows_seconds) = _timed_in_turns(
        lambda: model.jacobian(log_parameters), lambda: model.jacobian_by_rows(log_parameters)
    )
    numerical = central_differences(log_parameters, model.observed)
    scale = np.abs(batched).max()
    return JacobianCheck(
        shape=(batched.shape[0], batched.shape[1]),
        difference=float(np.abs(batched - numerical).max() / scale),
        rows_difference=float(np.abs(batched - by_rows).max() / scale),
        batched_seconds=batched_seconds,
        by_rows_seconds=by_rows_seconds,
    )


def _timed_in_turns(*ways: Callable[[], Array]) -> list[tuple[Array, float]]:
    """Return the result of each way, and the median of its times."""
    results = [[way() for way in ways] for _ in range(UNTIMED)][-1]
    rounds = [[_seconds(way) for way in ways] for _ in range(ROUNDS)]
    return list(zip(results, map(median, zip(*rounds, strict=True)), strict=True))


def _seconds(way: Callable[[], Array]) -> float:
    began = perf_counter()
    way()
    return perf_counter() - began
