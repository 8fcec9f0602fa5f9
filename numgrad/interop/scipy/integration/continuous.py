"""The continuous adjoint of an initial value problem: another initial value problem, integrated
backwards."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...._autograd import Function, once_differentiable
from ...._errors import ConvergenceError
from ...._tensor import Tensor, tensor
from ..implicit.closures import Closure
from ..implicit.functions import function
from ..implicit.linearization import Linearization
from .collocation import carried
from .trajectory import Trajectory

IMPLICIT = ("Radau", "BDF", "LSODA")
NODES, WEIGHTS = np.polynomial.legendre.leggauss(5)  # exact to the order of any of the methods
SMALL = 32  # the most unknowns for which collocation is faster than SciPy's steps

Add = Callable[[np.ndarray, np.ndarray], None]
"""A function of weighted cotangents and their times that adds their products to sums."""


def taken(matrix: Any, method: str) -> Any:
    """Return a Jacobian in a form that a method takes: LSODA takes no sparse one."""
    return matrix.toarray() if method == "LSODA" and hasattr(matrix, "toarray") else matrix


class Problem:
    """A solved initial value problem, for its adjoint.

    It has the right hand side for SciPy and as a function of ``y``, ``t`` and the tensors among the
    arguments, the solution ``y`` as a function of time, the time of the initial value, the times of
    the wanted states, and the method and tolerances of the adjoint.
    """

    def __init__(
        self, hook: function, slope: Any, count: int, closure: Closure, y: Any, start: float,
        wanted: np.ndarray, **options: Any,
    ) -> None:  # fmt: skip
        self.hook, self.y, self.start, self.wanted, self.options = hook, y, start, wanted, options
        self.trajectory = Trajectory(hook, slope, y, count, closure)

    def adjoint(self, g: np.ndarray, params: list[Tensor]) -> list[np.ndarray]:
        """Return the cotangents of the start and of the parameters, for rows of cotangents of the
        wanted states."""
        sums = [np.zeros((g.shape[0], *p.shape), np.result_type(p.dtype, float)) for p in params]

        def add(w: np.ndarray, times: np.ndarray) -> None:
            for total, part in zip(sums, self.trajectory.to_params(w, times, params), strict=True):
                total += part

        is_small = g.shape[2] <= SMALL and self.hook.form == "dense"
        back = self._by_collocation if is_small else self._by_scipy
        return [back(g, add), *sums]

    def _by_collocation(self, g: np.ndarray, add: Add) -> np.ndarray:
        """Return the cotangents of the start; add to those of parameters."""
        columns = np.ascontiguousarray(g.transpose(1, 2, 0))
        added = dict(zip(self.wanted.tolist(), columns, strict=True))
        w = np.zeros(columns.shape[1:])
        rtol, atol = (np.broadcast_to(t, w.shape[:1]) for t in self._tolerances())
        for times, weighted, end in carried(self.trajectory, self._grid(), w, added, rtol, atol):
            add(weighted, times)
            w = end
        return (w + added.get(self.start, 0.0)).T

    def _grid(self) -> np.ndarray:
        """Return the times of all steps and of the wanted states, from the last wanted one to the
        start: between two of them the interpolated solution is smooth."""
        last = self.wanted[-1] if self.wanted.size else self.start
        low, high = sorted((self.start, last))
        steps = self.y.ts[(self.y.ts > low) & (self.y.ts < high)]
        grid = np.unique([self.start, *steps, *self.wanted])
        return grid[::-1] if last >= self.start else grid

    def _tolerances(self) -> tuple[Any, Any]:
        rtol, atol = (self.options.get(name, t) for name, t in (("rtol", 1e-3), ("atol", 1e-6)))
        return np.maximum(rtol, 100.0 * np.finfo(float).eps), atol

    def _by_scipy(self, g: np.ndarray, add: Add) -> np.ndarray:
        """Return the cotangents of the start; add to those of parameters."""
        rows = np.zeros((g.shape[0], g.shape[2]))
        ends = [self.start, *self.wanted]
        for n in range(self.wanted.size, 0, -1):
            rows = rows + g[:, n - 1]
            if ends[n] != ends[n - 1]:
                rows = self._backwards(rows, ends[n], ends[n - 1], add)
        return rows

    def _backwards(self, rows: np.ndarray, t: float, end: float, add: Add) -> np.ndarray:
        """Carry cotangents from one time to an earlier time and return them; add to the cotangents
        of parameters."""
        from scipy.integrate import solve_ivp

        given = dict(self.options)
        if given["method"] in IMPLICIT:
            given["jac"] = lambda t, w: taken(self._matrix(t, rows.shape[0]), given["method"])
        found = solve_ivp(
            lambda t, w: self._slope(t, w.reshape(rows.shape)), (t, end), rows.reshape(-1),
            dense_output=True, **given,
        )  # fmt: skip
        if not found.success:
            raise ConvergenceError(f"solve_ivp: the adjoint was not integrated: {found.message}")
        half, middle = 0.5 * np.diff(found.t)[:, None], 0.5 * (found.t[1:] + found.t[:-1])[:, None]
        for nodes, weights in zip(middle + half * NODES, -half * WEIGHTS, strict=True):
            w = found.sol(nodes).reshape(*rows.shape, -1) * weights
            add(np.moveaxis(w, 2, 1), nodes)
        return found.y[:, -1].reshape(rows.shape)

    def _slope(self, t: float, w: np.ndarray) -> np.ndarray:
        """Return the right hand side of the adjoint, ``-w @ J``."""
        if self.options["method"] in IMPLICIT:  # the Jacobian at this time is known anyway
            return -np.reshape(w @ self.hook.matrix(self.y(t), t), -1)
        f = self.hook.of_vector
        at = Linearization(f, self.y(t), (t, *self.hook.args), "solve_ivp")
        return -np.reshape(at.pull(w), -1)

    def _matrix(self, t: float, count: int) -> Any:
        """Return the Jacobian of the adjoint, the same block for each of the rows."""
        from scipy.sparse import eye_array, kron

        block = -self.hook.matrix(self.y(t), t).T
        return block if count == 1 else kron(eye_array(count), block, format="csc")


class ContinuousAdjoint(Function):
    """The wanted states of an initial value problem, as a function of its start and of parameters.
    """

    takes_batch = True

    @staticmethod
    def forward(
        ctx: Any, problem: Problem, states: np.ndarray, y0: Tensor, *params: Tensor
    ) -> Tensor:
        ctx.problem = problem
        ctx.save_for_backward(*params)
        return tensor(states)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> Any:
        rows = g.numpy().reshape(-1, *g.shape[-2:])
        params = [p.detach() for p in ctx.saved_tensors]
        found = ctx.problem.adjoint(rows, params)
        lead = g.shape[:-2]
        return None, None, *[tensor(part.reshape((*lead, *part.shape[1:]))) for part in found]
