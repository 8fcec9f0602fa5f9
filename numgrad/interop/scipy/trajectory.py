"""The right hand side of an initial value problem at many points of its solution at once."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._tensor import Tensor, tensor
from ...func import jacobian, vmap
from ...func.gradients import Called
from .derived import Captured
from .functions import function

BLOCK = 256  # points of one call, which is captured once for all: the last one is filled up
ELEMENTS = 1 << 16  # the most that the states of a block may have


class Trajectory:
    """Derivatives of the right hand side along a solution ``y``, a function of time: Jacobians,
    and products with the derivatives to parameters.

    All points of a block are one captured program. A function that cannot be mapped, as it decides
    by values, or that must not be captured, is called point by point.
    """

    def __init__(
        self, hook: function, slope: Callable[..., Any], y: Any, params: Sequence[Tensor]
    ) -> None:
        self.hook, self.y, self.params = hook, y, params
        self._slope = slope
        fixed = (None,) * len(hook.args)
        jacobians = vmap(jacobian(hook.of_vector.vector), in_axes=(0, 0, *fixed))
        self._jacobians = Captured(jacobians, hook.jit, "solve_ivp")
        self._mapped = vmap(slope, in_axes=(0, 0, *(None for _ in params)))
        self._products = Captured(self._pulled, hook.jit, "solve_ivp")
        self._is_mapped = hook.jit

    def jacobians(self, times: np.ndarray) -> np.ndarray:
        """Return the Jacobians at some times, one after the other."""
        states = np.ascontiguousarray(self.y(times).T)
        found = self._in_blocks(self._jacobian_block, states, times)
        if found is not None:
            found = np.concatenate(found)[: times.size]
            if np.isfinite(found).all():
                return found
        return np.array([self.hook.matrix(y, t) for y, t in zip(states, times, strict=True)])

    def to_params(self, w: np.ndarray, times: np.ndarray) -> list[np.ndarray]:
        """Return the sums over some times of products of rows, whose axes are rows, times and
        elements, with the derivatives to the parameters."""
        if not self.params:
            return []
        states = np.ascontiguousarray(self.y(times).T)
        found = self._in_blocks(self._product_block, states, times, w)
        if found is None:
            at = zip(np.moveaxis(w, 1, 0), states, times, strict=True)
            found = [self._product_at(*point) for point in at]
        return [np.sum(part, axis=0) for part in zip(*found, strict=True)]

    def _in_blocks(self, of_block: Callable[..., Any], *arrays: np.ndarray) -> list[Any] | None:
        """Return what a function finds for blocks of points; None if it cannot be mapped."""
        try:
            return [of_block(*block) for block in self._blocks(*arrays)] if self._is_mapped else None
        except Exception:  # noqa: BLE001  an error of the function's own comes again, from a point
            self._is_mapped = False
            return None

    def _blocks(self, states: np.ndarray, times: np.ndarray, w: Any = None) -> Any:
        size = max(1, min(BLOCK, ELEMENTS // max(states.shape[1], 1)))
        for start in range(0, times.size, size):
            some = np.minimum(np.arange(start, start + size), times.size - 1)
            block = states[some], times[some]
            if w is not None:
                part = np.ascontiguousarray(w[:, some])
                part[:, times.size - start :] = 0.0  # what fills the block up counts for nothing
                block = part, *block
            yield block

    def _jacobian_block(self, states: np.ndarray, times: np.ndarray) -> np.ndarray:
        return self._jacobians(states, times, *self.hook.args)

    def _product_block(self, w: np.ndarray, states: np.ndarray, times: np.ndarray) -> Any:
        return self._products(w, states, times, *[p.numpy() for p in self.params])

    def _pulled(self, w: Any, states: Any, times: Any, *params: Any) -> tuple[Any, ...]:
        places = range(2, 2 + len(params))
        at = Called(self._mapped, (states, times, *params), places, "solve_ivp")
        return tuple(at.pulled([w], batched=True))

    def _product_at(self, w: np.ndarray, y: np.ndarray, t: float) -> list[np.ndarray]:
        places = range(2, 2 + len(self.params))
        at = Called(self._slope, (y, t, *self.params), places, "solve_ivp")
        return [g.numpy() for g in at.pulled([tensor(np.ascontiguousarray(w))], batched=True)]
