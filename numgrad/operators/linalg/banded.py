"""Systems with banded matrices, stored as in LAPACK: one row for each diagonal, upper ones first.

The stored array is called a band. Element ``(i, j)`` of the matrix is at ``(upper + i - j, j)`` of
the band, where ``upper`` is the number of upper diagonals. Elements of the band that lie outside of
the matrix are never read.
"""

from typing import Any

import numpy as np

from ..._declare import constant
from ..elementwise.arithmetic import multiply, negative, where
from ..elementwise.complex_parts import conj
from ..reduction.reductions import sum as sum_
from ..shape.gathering import gather
from ..shape.reshape import expand_dims
from .factorization import NamesCaller


class BandedSolve(NamesCaller):
    """The operator that solves systems with banded matrices."""

    reason = "singular matrix"


def _solve_banded(ab, lower, b, x):
    """Solve a banded system by Gaussian elimination with exchanges of rows.

    Row ``i`` of the work array is that part of row ``i`` of the matrix that begins at column
    ``i - lower``. It has room for the longer rows that exchanges bring from below.
    """
    rows, n = ab.shape
    upper = rows - 1 - lower
    work = np.zeros((n, rows + lower), ab.dtype)
    for j in range(n):
        for i in range(max(0, j - upper), min(n, j + lower + 1)):
            work[i, j - i + lower] = ab[upper + i - j, j]
    for j in range(n):
        for k in range(x.shape[1]):
            x[j, k] = b[j, k]
    for j in range(n):
        last, best = min(n, j + lower + 1), j
        for i in range(j + 1, last):
            if abs(work[i, j - i + lower]) > abs(work[best, j - best + lower]):
                best = i
        if work[best, j - best + lower] == 0:
            raise ValueError
        end = min(n, j + upper + lower + 1)
        if best != j:
            for c in range(j, end):
                a, z = work[j, c - j + lower], work[best, c - best + lower]
                work[j, c - j + lower], work[best, c - best + lower] = z, a
            for k in range(x.shape[1]):
                x[j, k], x[best, k] = x[best, k], x[j, k]
        for i in range(j + 1, last):
            factor = work[i, j - i + lower] / work[j, lower]
            if factor != 0:
                for c in range(j + 1, end):
                    work[i, c - i + lower] -= factor * work[j, c - j + lower]
                for k in range(x.shape[1]):
                    x[i, k] -= factor * x[j, k]
    for i in range(n - 1, -1, -1):
        for k in range(x.shape[1]):
            total = x[i, k]
            for c in range(i + 1, min(n, i + upper + lower + 1)):
                total -= work[i, c - i + lower] * x[c, k]
            x[i, k] = total / work[i, lower]


solve_banded = BandedSolve(
    _solve_banded, "(d,n),(),(n,k)->(n,k)", name="solve_banded", may_raise=True
)


def banded_solution(ab: Any, below: int, b: Any, caller: str = "solve_banded") -> Any:
    """Return the solution of a system with the band ``ab``, which has ``below`` lower diagonals.

    Errors name ``caller``, the function that the user called.
    """
    return solve_banded(ab, np.int64(below), b, below=below, caller=caller)


solve_banded.reads(lambda needs: (True, False, False, needs[0]))


@solve_banded.pullback
def solve_banded_pullback(context, g):
    """Return the gradients by band and right side.

    The gradient ``gb`` is the solution with the adjoint matrix. The gradient by element ``(i, j)``
    is the product of row ``i`` of ``-gb`` and the conjugate of row ``j`` of the solution.
    """
    ab, below = context.input(0), context.static["below"]
    rows, n = ab.shape[-2:]
    above = rows - 1 - below
    gb = banded_solution(adjoint_band(ab, below), above, g, context.static["caller"])
    if not context.wanted[0]:
        return None, None, gb
    i = _rows_of(rows, n, above)
    inside = constant((i >= 0) & (i < n))
    places = constant(np.clip(i, 0, n - 1).reshape(-1))
    left = gather(gb, places, count=1, tail=1, shape=(rows, n))
    products = multiply(left, expand_dims(conj(context.output()), axes=(-3,)))
    gab = negative(sum_(products, axes=(-1,)))
    return where(inside, gab, constant(np.array(0, g.dtype))), None, gb


def _rows_of(rows: int, n: int, above: int) -> np.ndarray:
    """Return for each element of a band its row in the matrix, which may be outside of it.

    ``above`` is the number of upper diagonals.
    """
    return np.arange(n) + np.arange(rows)[:, None] - above


def adjoint_band(ab: Any, below: int) -> Any:
    """Return the band of the adjoint of a matrix with ``below`` lower diagonals.

    These are the upper diagonals of the adjoint.
    """
    rows, n = ab.shape[-2:]
    columns = np.clip(_rows_of(rows, n, below), 0, n - 1)
    places = np.arange(rows)[::-1, None] * n + columns
    return gather(conj(ab), constant(places.reshape(-1)), count=2, tail=0, shape=(rows, n))
