"""The solution of an initial value problem between the solver's steps, as a function of time."""

from collections.abc import Sequence
from typing import Any

from scipy.integrate import OdeSolution

from ...._tensor import Tensor, tensor
from ....functions.shape.reshaping import matrix_transpose
from ..implicit.parameters import number
from .flow import Slopes, all_moved, followed, moved


class Interpolant(OdeSolution):
    """SciPy's interpolant, whose derivative with respect to the time is the slope at the
    interpolated state."""

    def __init__(self, found: OdeSolution, field: Slopes, params: Sequence[Tensor]) -> None:
        vars(self).update(vars(found))
        self._field, self._params = field, params

    def __call__(self, t: Any) -> Any:
        """Return the state at a time, or those at several times, in columns."""
        times = followed(t)
        if times is None:
            return super().__call__(number(t))
        numbers = times.detach().numpy()
        states = tensor(super().__call__(numbers).T.copy())
        if times.ndim == 0:
            return moved(self._field, tensor(numbers), times, states, self._params)
        return matrix_transpose(all_moved(self._field, numbers, times, states, self._params))

    def __reduce__(self) -> Any:
        return OdeSolution, (self.ts, self.interpolants)
