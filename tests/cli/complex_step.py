"""The Jacobian of the main job by complex steps: no numgrad, and no difference to cancel."""

import numpy as np

from numgrad._cli.population import STEPS_PER_YEAR, residuals


class ComplexStepResiduals:
    """Stands where ``RecordedResiduals`` stands."""

    def __init__(self, observed, steps_per_year=STEPS_PER_YEAR):
        self.observed = observed
        self.steps_per_year = steps_per_year

    def __call__(self, log_parameters):
        return residuals(log_parameters, self.observed, self.steps_per_year)

    def jacobian(self, log_parameters):
        tiny = 1e-30
        columns = [
            self(log_parameters + step).imag / tiny
            for step in 1j * tiny * np.eye(log_parameters.size)
        ]
        return np.stack(columns, axis=1)
