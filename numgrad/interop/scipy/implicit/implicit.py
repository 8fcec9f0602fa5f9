"""Solutions of equations as functions of their parameters, by the implicit function theorem.

Where ``F(x, p) = 0``, the derivative of ``x`` to ``p`` is ``-J^-1 dF/dp`` with ``J = dF/dx``. So
the cotangent of ``p`` is a vector-Jacobian product of ``F``, whose seed solves a system with the
transpose of ``J``. Both steps are differentiable again: the derivative of a solved system is
another system with the same matrix, and products of derivatives of ``F``. So one factorization
serves cotangents, batches of them, and derivatives of any order.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...._autograd import Function, no_grad
from ...._errors import InplaceError
from ...._tensor import Tensor, tensor
from ....func.forward import push
from ....func.gradients import pull
from ....functions.shape.reshaping import reshape
from .closures import Closure, Met
from .factors import System


class Equation(System):
    """The equation ``F(x, *params) = 0`` at a solution; ``matrix`` returns the Jacobian of its
    residual with respect to ``x``."""

    def __init__(
        self, residual: Any, matrix: Callable[[], Any], what: str, closure: Closure
    ) -> None:
        super().__init__(matrix, what)
        self.residual, self.rest = residual, np.zeros(0)
        self.closure = closure

    def remember(self, x: Tensor, params: Sequence[Tensor]) -> None:
        """Keep the residual at the point where the solver has stopped."""
        with no_grad():
            self.rest = self.residual(x, *self.closure.given(params)).numpy()

    def require_same(self, rest: np.ndarray, x: np.ndarray) -> None:
        """Raise if the equation has changed so that its solution is another one."""
        if np.array_equal(rest, self.rest, equal_nan=True):
            return
        step = np.abs(self.solve(rest - self.rest, False)).max(initial=0.0)
        if not step <= np.sqrt(np.finfo(float).eps) * np.abs(x).max(initial=0.0):
            raise InplaceError(
                f"{self.what}: the function has changed since the solution was found, so that this "
                f"solves it no more: an array that it closes over has been written, or it returns "
                f"other numbers at each call. Pass the array in args, which are kept as they were, "
                f"or call backward before it is written"
            )

    def to_params(self, w: Tensor, x: Tensor, params: Sequence[Tensor]) -> list[Tensor]:
        """Return the products of ``-w`` with the Jacobians of the residual with respect to
        parameters."""
        params, batched = self.closure.given(params), w.ndim == 2
        at = Met(self.residual, (x, *params), range(1 + len(params)), self.closure)
        self.require_same(at.output.detach().numpy(), x.detach().numpy())
        graph, inputs = at.outer_graph(w), at.variables.leaves
        found = pull(at.leaves, inputs[1:], [-w], graph, batched)
        outer = self.closure.pulled(at.leaves, inputs, [-w], graph, batched)
        return [at.variables.deliver(g) for g in (*found, *outer)]

    def of_matrix(
        self, solved: Tensor, other: Tensor, transposed: bool, point: Sequence[Tensor]
    ) -> list[Tensor]:
        """Return the cotangents of ``x`` and of the parameters, on which the matrix depends.

        ``solved`` is the solution of a system, all of whose axes but the last count right hand
        sides; ``other`` is the solution for its cotangents, which may have an axis for a batch in
        front.
        """
        n, count = solved.shape[-1], math.prod(solved.shape[:-1])
        lead = other.shape[: other.ndim - solved.ndim]
        point = self.closure.given(point)
        at = Met(self.residual, point, range(len(point)), self.closure)
        graph, inputs = at.outer_graph(solved, other), at.variables.leaves
        product = pull if transposed else push
        rows = reshape(solved, (count, n))
        (first,) = product(at.leaves, inputs[:1], [rows], True, batched=True)
        seeds = reshape(-other, (*lead, count, n))
        found = pull([first], inputs, [seeds], graph, batched=bool(lead))
        outer = self.closure.pulled([first], [*inputs, rows], [seeds], graph, bool(lead))
        return [at.variables.deliver(g) for g in (*found, *outer)]


class Solve(Function):
    """The solution of a system with the matrix at a point, or with its transpose, for rows of right
    hand sides."""

    takes_batch = True

    @staticmethod
    def forward(ctx: Any, system: Any, transposed: bool, rhs: Tensor, *point: Tensor) -> Tensor:
        ctx.system, ctx.transposed = system, transposed
        solved = tensor(system.solve(rhs.numpy(), transposed))
        ctx.save_for_backward(solved, *point)
        return solved

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        solved, *point = ctx.saved_tensors
        grhs = Solve.apply(ctx.system, not ctx.transposed, g, *point)
        if not any(ctx.needs_input_grad[3:]):
            return (None, None, grhs, *(None for _ in point))
        return None, None, grhs, *ctx.system.of_matrix(solved, grhs, ctx.transposed, point)


class Solution(Function):
    """A solution found by a solver, as a function of the parameters."""

    takes_batch = True

    @staticmethod
    def forward(ctx: Any, equation: Equation, found: np.ndarray, *params: Tensor) -> Tensor:
        x = tensor(found)
        equation.remember(x, params)
        ctx.equation = equation
        ctx.save_for_backward(x, *params)
        return x

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        x, *params = ctx.saved_tensors
        w = Solve.apply(ctx.equation, True, g, x, *params)
        return None, None, *ctx.equation.to_params(w, x, params)
