"""The right hand side of an initial value problem, evaluated at many points of its solution at
once."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...._tensor import Tensor, tensor
from ....func import jacobian, vmap
from ..implicit.closures import Closure, Met
from ..implicit.derived import Captured
from ..implicit.functions import function

BLOCK = 256  # points of one call; the last block is filled up, so that one capture serves all
ELEMENTS = 1 << 16  # the most elements of the states of a block


class Trajectory:
    """Derivatives of the right hand side along a solution ``y``, a function of time: Jacobians, and
    products with the derivatives with respect to ``count`` parameters.

    All points of a block are one captured program. A function that cannot be mapped, as it decides
    by values, or that must not be captured, is called point by point.
    """

    def __init__(
        self, hook: function, slope: Callable[..., Any], y: Any, count: int, closure: Closure
    ) -> None:
        self.hook, self.slope, self.y, self.closure = hook, slope, y, closure
        jacobians = jacobian(hook.of_vector.vector)
        mapped = vmap(jacobians, in_axes=(0, 0, *(None for _ in hook.args)))
        self._jacobians = Captured(mapped, hook.jit, "solve_ivp")
        self._mapped = vmap(slope, in_axes=(0, 0, *(None for _ in range(count))))
        self._products = Captured(self._pulled, hook.jit, "solve_ivp")
        self._is_mapped = hook.jit

    def jacobians(self, times: np.ndarray) -> np.ndarray:
        """Return the Jacobians at some times, one after the other."""
        states = np.ascontiguousarray(self.y(times).T)
        found = self._in_blocks(self._jacobians, self.hook.args, states, times)
        if found is not None:
            array = np.concatenate(found)[: times.size]
            if np.isfinite(array).all():
                return array
        return np.array([self.hook.matrix(y, t) for y, t in zip(states, times, strict=True)])

    def to_params(
        self, w: np.ndarray, times: np.ndarray, params: Sequence[Tensor]
    ) -> list[np.ndarray]:
        """Return the sums over times of products of ``w``, with axes for rows, times and elements,
        and the derivatives with respect to parameters."""
        if not params:
            return []
        states = np.ascontiguousarray(self.y(times).T)
        given = self.closure.given(params)
        numbers = [p.numpy() for p in given]
        found = self._in_blocks(self._products, numbers, states, times, w)
        if found is None:
            points = zip(states, times, np.moveaxis(w, 1, 0), strict=True)
            found = [self._pulled_at(*point, given) for point in points]
        return [np.sum(part, axis=0) for part in zip(*found, strict=True)]

    def _in_blocks(
        self, program: Captured, args: Sequence[Any], states: np.ndarray, times: np.ndarray,
        *w: np.ndarray,
    ) -> list[Any] | None:  # fmt: skip
        """Return the results of a program for blocks of points; None if the function cannot be
        mapped."""
        if not self._is_mapped:
            return None
        size = max(1, min(BLOCK, ELEMENTS // max(states.shape[1], 1)))
        starts, found = range(0, times.size, size), []
        try:
            for start in starts:
                some = np.minimum(np.arange(start, start + size), times.size - 1)
                weights = [np.ascontiguousarray(part[:, some]) for part in w]
                for part in weights:  # the points that fill up a block have weight 0
                    part[:, times.size - start :] = 0.0
                found.append(program(*weights, states[some], times[some], *args))
        except Exception:  # an error of the function itself is raised again, at a point
            self._is_mapped = False
            return None
        return found

    def _pulled(self, w: Any, states: Any, times: Any, *params: Any) -> tuple[Any, ...]:
        places = range(2, 2 + len(params))
        at = Met(self._mapped, (states, times, *params), places, self.closure)
        return tuple(at.pulled([w], batched=True))

    def _pulled_at(
        self, y: np.ndarray, t: float, w: np.ndarray, params: Sequence[Tensor]
    ) -> list[np.ndarray]:
        at = Met(self.slope, (tensor(y), t, *params), range(2, 2 + len(params)), self.closure)
        return [g.numpy() for g in at.pulled([tensor(np.ascontiguousarray(w))], batched=True)]
