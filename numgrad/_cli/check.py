"""What the exact Jacobian costs, and that it is right."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from .fit import central_differences
from .jacobian import RecordedResiduals

# All single rows would take longer than the fit; every seventh is enough to compare and to
# extrapolate.
EVERY = 7

# Central differences are good to about eps^(2/3); a wrong derivative is off by far more.
TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class JacobianCheck:
    """The difference to central differences and the time of both ways to the same matrix.

    The time of one call per row is extrapolated from every `EVERY`-th row.
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


def check_jacobian(model: RecordedResiduals, log_parameters: NDArray[np.float64]) -> JacobianCheck:
    """Compare the batched Jacobian with finite differences and with one call per row."""
    batched, batched_seconds = _timed(lambda: model.jacobian(log_parameters), 3)
    by_rows, sample_seconds = _timed(lambda: model.jacobian_by_rows(log_parameters, EVERY), 1)
    by_rows_seconds = sample_seconds * len(batched) / len(by_rows)
    numerical = central_differences(log_parameters, model.observed)
    scale = np.abs(batched).max()
    return JacobianCheck(
        shape=(batched.shape[0], batched.shape[1]),
        difference=float(np.abs(batched - numerical).max() / scale),
        rows_difference=float(np.abs(batched[::EVERY] - by_rows).max() / scale),
        batched_seconds=batched_seconds,
        by_rows_seconds=by_rows_seconds,
    )


def _timed(
    work: Callable[[], NDArray[np.float64]], times: int
) -> tuple[NDArray[np.float64], float]:
    result, first = _timed_once(work)
    return result, median([first, *(_timed_once(work)[1] for _ in range(times - 1))])


def _timed_once(work: Callable[[], NDArray[np.float64]]) -> tuple[NDArray[np.float64], float]:
    began = perf_counter()
    result = work()
    return result, perf_counter() - began
