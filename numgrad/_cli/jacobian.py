"""Residuals on tensors, and their Jacobian in one batched call."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import numgrad as ng

from .population import residuals

Array = NDArray[np.float64]


class RecordedResiduals:
    """The residuals as a function of the log parameters, with their exact Jacobian.

    The simulation is recorded where the residuals are asked for; the Jacobian at the same point
    reuses that recording.
    """

    def __init__(self, observed: Array) -> None:
        self.observed = observed
        self._recorded: tuple[Array, Any, Any] | None = None

    def __call__(self, log_parameters: Array) -> Array:
        """Residuals of every year, hare before lynx."""
        return self._record(log_parameters)[1].detach().numpy()

    def jacobian(self, log_parameters: Array) -> Array:
        """One row per residual, from one batched vector-Jacobian product."""
        point, values = self._record(log_parameters)
        (rows,) = ng.grad(
            values,
            point,
            grad_outputs=np.eye(values.size),
            is_grads_batched=True,
            retain_graph=True,
        )
        return rows.numpy()

    def jacobian_by_rows(self, log_parameters: Array) -> Array:
        """The same matrix with one call per row: what the batched call saves."""
        point, values = self._record(log_parameters)
        rows = [
            ng.grad(values, point, grad_outputs=seed, retain_graph=True)[0].numpy()
            for seed in np.eye(values.size)
        ]
        return np.stack(rows)

    def _record(self, log_parameters: Array) -> tuple[Any, Any]:
        if self._recorded is None or not np.array_equal(self._recorded[0], log_parameters):
            point = ng.tensor(log_parameters, requires_grad=True)
            values = residuals(point, self.observed)
            self._recorded = (np.array(log_parameters), point, values)
        return self._recorded[1:]
