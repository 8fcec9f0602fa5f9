"""The factors of Gaussian elimination as matrices, for matrices of any shape.

The permutation ``P`` is constant, so the derivative is that of the factors of ``B = P' A``. The
derivative is computed for the leading square block of ``B``. The parts of ``B`` to the right of the
block or below follow by division with its factors.
"""

from typing import Any

import numpy as np

from ..._declare import constant, host_operator
from ...ir.broadcasting import broadcast_shapes
from ..elementwise.arithmetic import add, multiply, subtract
from ..shape.indexing import index
from ..shape.joining import concat
from .factorization import solve_triangular
from .matmul import adjoint, matmul


def _sizes(known: dict[str, int]) -> dict[str, int]:
    return {"k": min(known["m"], known["n"])}


@host_operator("(m,n)->(m,m),(m,k),(k,n)", results=("real", None, None), sizes=_sizes)
def lu(a):
    """Return the factors ``P``, ``L`` and ``U`` of matrices: ``L`` has ones on its diagonal."""
    import scipy.linalg

    if a.size:
        return scipy.linalg.lu(a)
    m, n = a.shape[-2:]
    cores = (m, m), (m, min(m, n)), (min(m, n), n)
    return tuple([np.broadcast_to(np.eye(*core), (*a.shape[:-2], *core)) for core in cores])


lu.reads(lambda needs: (False, True, True, True))


@lu.pullback
def lu_pullback(context, g_p, gl, gu):
    p, lower, upper = (context.output(n) for n in range(3))
    m, n = context.input_specs[0].shape[-2:]
    k = min(m, n)
    first, rest = (0, k, None), (k, None, None)
    (l1, gl1), (l2, gl2) = (
        [index(x, key=(part, (None,))) for x in (lower, gl)] for part in (first, rest)
    )
    (u1, gu1), (u2, gu2) = ([index(x, key=(part,)) for x in (upper, gu)] for part in (first, rest))
    left, up = matmul(adjoint(l1), gl1), matmul(gu1, adjoint(u1))
    if m > k:
        up = subtract(up, matmul(adjoint(l2), gl2))
    if n > k:
        left = subtract(left, matmul(gu2, adjoint(u2)))
    strict = np.tril(np.ones((k, k)), -1).astype(lower.dtype)
    inner = add(multiply(left, constant(strict)), multiply(up, constant(1 - strict)))
    gb = _times_inverse(_divided(l1, inner), u1)
    if n > k:
        gb = concat(gb, _divided(l1, gu2), axis=-1)
    if m > k:
        gb = concat(gb, _times_inverse(gl2, u1), axis=-2)
    return matmul(p.astype(gb.dtype, copy=False), gb)


def _divided(lower: Any, x: Any) -> Any:
    """Return ``L^-H x``."""
    return solve_triangular(lower, x, lower=True, adjoint=True, caller="lu")


def _times_inverse(x: Any, upper: Any) -> Any:
    """Return ``x U^-H``."""
    return adjoint(solve_triangular(upper, adjoint(x), lower=False, adjoint=False, caller="lu"))


@host_operator("(n),(n,k)->(n,k)")
def exchange_rows(pivots, b, *, back):
    """Exchange each row of ``b`` with the row of its pivot, from the first row to the last.

    With ``back`` the exchanges are made from the last row to the first, which undoes them.
    """
    loop = broadcast_shapes(pivots.shape[:-1], b.shape[:-2])
    result = np.array(np.broadcast_to(b, (*loop, *b.shape[-2:])))
    pivots = np.broadcast_to(pivots.real.astype(np.int64), (*loop, pivots.shape[-1]))
    for place in np.ndindex(loop):
        order, rows = np.arange(pivots.shape[-1]), result[place]
        for i in reversed(order.copy()) if back else order.copy():
            j = pivots[place][i]
            order[[i, j]] = order[[j, i]]
        result[place] = rows[order]
    return result


exchange_rows.reads(lambda needs: (True, False, False))


@exchange_rows.pullback
def exchange_rows_pullback(context, g):
    return None, exchange_rows(context.input(0), g, back=not context.static["back"])
