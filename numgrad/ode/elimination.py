"""Gaussian elimination on tensors, element by element: it becomes part of the kernel of a loop.

Its derivative is that of the solution, which is another solution with the same factors.
"""

from typing import Any

import numpy as np

from .._autograd import Function, no_grad
from .._tensor import Tensor
from ..functions.elementwise.arithmetic import abs as absolute
from ..functions.products.products import matmul
from ..functions.reduction.reduction import sum as total
from ..functions.shape.joining import concat
from ..functions.shape.selection import where

MOST = 8  # unknowns, whose steps can be kernels; the factors of more are those of LAPACK


class Eliminated:
    """A square matrix, factorized with exchanges of rows.

    An exchange is a choice between values, and what is done to the rows is done to those of the
    unit matrix beside them, so that a solution is a product with these, and a substitution.
    """

    def __init__(self, matrix: Any, size: int) -> None:
        self._matrix = matrix
        with no_grad():
            self._left, self._upper = _factors(matrix, size)

    def solved(self, b: Any) -> Any:
        """Return the solution for a right-hand side."""
        return Solution.apply(self._matrix, b, self._left, self._upper, False)


def _factors(matrix: Any, size: int) -> tuple[Any, Any]:
    """Return what the elimination makes of the unit matrix, and the upper triangle."""
    units = Tensor(np.eye(size))
    rows: list[Any] = [concat([matrix[n], units[n]]) for n in range(size)]
    upper, left = [], []
    for k in range(size):
        first, rest = rows[0], rows[1:]
        for n, row in enumerate(rest):
            is_larger = absolute(row[0]) > absolute(first[0])
            first, rest[n] = where(is_larger, row, first), where(is_larger, first, row)
        upper.append(first[: size - k])
        left.append(first[size - k :])
        rows = [row[1:] - row[0] / first[0] * first[1:] for row in rest]
    zeros = Tensor(np.zeros(size))
    rows = [concat([zeros[:k], row])[None] for k, row in enumerate(upper)]
    return concat([row[None] for row in left]), concat(rows)


class Solution(Function):
    """The solution of a system of equations, or of that with the transposed matrix, by factors that
    are known."""

    @staticmethod
    def forward(
        ctx: Any, matrix: Tensor, b: Tensor, left: Tensor, upper: Tensor, is_transposed: bool
    ) -> Tensor:
        way = _by_columns if is_transposed else _by_rows
        x = way(left, upper, b)
        ctx.save_for_backward(matrix, left, upper, x)
        ctx.is_transposed = is_transposed
        return x

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        matrix, left, upper, x = ctx.saved_tensors
        gb = Solution.apply(matrix, g, left, upper, not ctx.is_transposed)
        row, column = (x, gb) if ctx.is_transposed else (gb, x)
        return -(row[:, None] * column), gb, None, None, None

    @staticmethod
    def jvp(ctx: Any, moved: Any, b: Any, *_: Any) -> Any:
        matrix, left, upper, x = ctx.saved_tensors
        if moved is not None:
            change = matmul(x, moved) if ctx.is_transposed else matmul(moved, x)
            b = -change if b is None else b - change
        return Solution.apply(matrix, b, left, upper, ctx.is_transposed)


def _by_rows(left: Any, upper: Any, b: Any) -> Any:
    """Substitute from the last unknown to the first."""
    c, size = matmul(left, b), b.shape[0]
    x = c[-1:] / upper[-1, -1:]
    for n in reversed(range(size - 1)):
        rest = c[n : n + 1] - total(upper[n, n + 1 :] * x)
        x = concat([rest / upper[n, n : n + 1], x])
    return x


def _by_columns(left: Any, upper: Any, b: Any) -> Any:
    """Substitute from the first unknown of the transposed system to the last."""
    x = b[:1] / upper[0, :1]
    for n in range(1, b.shape[0]):
        rest = b[n : n + 1] - total(upper[:n, n] * x)
        x = concat([x, rest / upper[n, n : n + 1]])
    return matmul(x, left)
