"""Gaussian elimination on tensors, element by element: it becomes part of the kernel of a loop."""

from typing import Any

import numpy as np

from .._tensor import Tensor
from ..functions.elementwise.arithmetic import abs as absolute
from ..functions.products.products import matmul
from ..functions.reduction.reduction import sum as total
from ..functions.shape.joining import concat
from ..functions.shape.selection import where

MOST = 16  # unknowns; the factors of more are those of LAPACK


class Eliminated:
    """A square matrix, factorized with exchanges of rows.

    An exchange is a choice between values, and what is done to the rows is done to those of the
    unit matrix beside them, so that a solution is a product with these, and a substitution.
    """

    def __init__(self, matrix: Any, size: int) -> None:
        units = Tensor(np.eye(size))
        rows: list[Any] = [concat([matrix[n], units[n]]) for n in range(size)]
        self._upper, left = [], []
        for k in range(size):
            first, rest = rows[0], rows[1:]
            for n, row in enumerate(rest):
                is_larger = absolute(row[0]) > absolute(first[0])
                first, rest[n] = where(is_larger, row, first), where(is_larger, first, row)
            self._upper.append(first[: size - k])
            left.append(first[size - k :])
            rows = [row[1:] - row[0] / first[0] * first[1:] for row in rest]
        self._left = concat([row[None] for row in left])

    def solved(self, b: Any) -> Any:
        """Return the solution for a right-hand side."""
        c = matmul(self._left, b)
        x: Any = None
        for n in reversed(range(len(self._upper))):
            row = self._upper[n]
            rest = c[n : n + 1] if x is None else c[n : n + 1] - total(row[1:] * x)
            x = rest / row[0] if x is None else concat([rest / row[0], x])
        return x
