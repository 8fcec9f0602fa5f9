"""The solution of an initial value problem at any time, as a function of all that it depends on."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ....functions.array.operands import as_tensor
from ....functions.shape.joining import concat
from ..interpolate.data import known


class DenseSolution:
    """The states at times within the interval, with derivatives: a call solves the problem for
    these times, as if they had been given in ``t_eval``.

    Attributes
    ----------
    t_min, t_max : float
        The ends of the interval.
    """

    def __init__(self, solve: Callable[[Any], Any], span: tuple[float, float]) -> None:
        self._solve, self._is_back = solve, span[1] < span[0]
        self.t_min, self.t_max = min(span), max(span)

    def __call__(self, t: Any) -> Any:
        """Return the state at a time, or with a further axis the states at a vector of times."""
        given = as_tensor(t)
        numbers = known(given)
        if numbers is None or given.ndim > 1:
            raise ValueError(
                f"solve_ivp: sol takes a time or a vector of times that are known, got {given!r}"
            )
        order = np.argsort(numbers, axis=None, kind="stable")
        order = order[::-1] if self._is_back else order
        parts = _without_repeats(numbers.reshape(-1), order)
        y = concat([self._solve(given.reshape(-1)[part]).y for part in parts], axis=-1)
        place = np.argsort(np.concatenate(parts))
        return y[..., place] if given.ndim else y[..., 0]


def _without_repeats(times: np.ndarray, order: np.ndarray) -> list[np.ndarray]:
    """Return the places of times in their order, in parts in which no time occurs twice: each place
    has its derivative."""
    parts: list[list[int]] = [[]]
    for place in order.tolist():
        part = next((p for p in parts if not p or times[p[-1]] != times[place]), None)
        if part is None:
            parts.append([place])
        else:
            part.append(place)
    return [np.array(part, dtype=int) for part in parts]
