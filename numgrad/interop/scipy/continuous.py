"""The continuous adjoint of an initial value problem: another one, integrated backwards."""

from typing import Any

import numpy as np

from ..._autograd import Function, once_differentiable
from ..._errors import ConvergenceError
from ..._tensor import Tensor, tensor
from ...func.gradients import Called
from .functions import function
from .linearization import Linearization

IMPLICIT = ("Radau", "BDF", "LSODA")
NODES, WEIGHTS = np.polynomial.legendre.leggauss(5)  # exact to the order of any of the methods


def taken(matrix: Any, method: str) -> Any:
    """Return a Jacobian in a form that a method takes: LSODA knows no sparse ones."""
    return matrix.toarray() if method == "LSODA" and hasattr(matrix, "toarray") else matrix


class Problem:
    """An initial value problem that was solved, with all that its adjoint needs: its right hand
    side for SciPy and as a function of ``y``, ``t`` and the tensors among the arguments, the
    solution ``y`` as a function of time, the time of the initial value, the times whose states are
    wanted, and method and tolerances of the adjoint."""

    def __init__(
        self, hook: function, slope: Any, y: Any, start: float, wanted: np.ndarray, **options: Any
    ) -> None:
        self.hook, self.slope, self.y, self.start, self.wanted = hook, slope, y, start, wanted
        self.options = options

    def adjoint(self, g: np.ndarray, params: list[Tensor]) -> list[np.ndarray]:
        """Return the cotangents of the start and of the parameters, for rows of cotangents of the
        states that are wanted."""
        rows = np.zeros((g.shape[0], g.shape[2]))
        sums = [np.zeros((g.shape[0], *p.shape)) for p in params]
        ends = [self.start, *self.wanted]
        for n in range(self.wanted.size, 0, -1):
            rows = rows + g[:, n - 1]
            if ends[n] != ends[n - 1]:
                rows = self._backwards(rows, ends[n], ends[n - 1], params, sums)
        return [rows, *sums]

    def _backwards(
        self, rows: np.ndarray, t: float, end: float, params: list[Tensor], sums: list[np.ndarray]
    ) -> np.ndarray:
        """Return what cotangents at one time are at an earlier one; add to those of parameters."""
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
        for left, right in zip(found.t[1:], found.t[:-1], strict=True):
            for node, weight in zip(NODES, WEIGHTS, strict=True) if params else ():
                at = 0.5 * (left + right) + 0.5 * (right - left) * node
                w = found.sol(at).reshape(rows.shape)
                parts = self._to_params(w, at, params)
                for total, part in zip(sums, parts, strict=True):
                    total += 0.5 * (right - left) * weight * part
        return found.y[:, -1].reshape(rows.shape)

    def _slope(self, t: float, w: np.ndarray) -> np.ndarray:
        """Return the right hand side of the adjoint, ``-w @ J``."""
        if self.options["method"] in IMPLICIT:  # which have the Jacobian at this time anyway
            return -np.reshape(w @ self.hook.matrix(self.y(t), t), -1)
        f = self.hook.of_vector
        at = Linearization(f, self.y(t), (t, *self.hook.args), "solve_ivp")
        return -np.reshape(at.pull(w), -1)

    def _matrix(self, t: float, count: int) -> Any:
        """Return the Jacobian of the adjoint, the same block for each of the rows."""
        from scipy.sparse import eye_array, kron

        block = -self.hook.matrix(self.y(t), t).T
        return block if count == 1 else kron(eye_array(count), block, format="csc")

    def _to_params(self, w: np.ndarray, t: float, params: list[Tensor]) -> list[np.ndarray]:
        places = range(2, 2 + len(params))
        at = Called(self.slope, (self.y(t), t, *params), places, "solve_ivp")
        return [g.numpy() for g in at.pulled([tensor(w)], batched=True)]


class ContinuousAdjoint(Function):
    """States that are wanted of an initial value problem, as a function of its start and of
    parameters."""

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
