"""Riccati's equations, and the linear equations of their derivatives.

Let ``k`` be the feedback that belongs to the solution ``x``, and ``c = a - b k``. The left side of
the equation is ``c' x e + e' x c + k' r k - s k - k' s' + q`` in continuous time, and
``c' x c - e' x e + k' r k - s k - k' s' + q`` in discrete time. The left side is stationary in
``k``. So the derivatives by the other matrices are computed with ``k`` fixed.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._declare import HostOperator
from ...ir.broadcasting import broadcast_shapes
from ..elementwise.arithmetic import add, negative, subtract
from .eigen_gaps import half
from .factorization import lu_factor, lu_solve
from .matmul import adjoint, matmul
from .matrix_functions import solve_sylvester

SIGNATURE = "(n,n),(n,m),(n,n),(m,m),(n,n),(n,m)->(n,n)"


def _solved(name: str, arrays: Any, has_e: bool, has_s: bool, balanced: bool) -> np.ndarray:
    """Return the solutions of SciPy's function ``name``, computed one by one in double precision.

    Equations with ``e`` are not balanced. If SciPy 1.17 balances them, it finds no solution for a
    third of well-posed equations, and a wrong one for some.
    """
    import scipy.linalg

    function = getattr(scipy.linalg, name)
    loop = broadcast_shapes(*[x.shape[:-2] for x in arrays])
    whole = [np.broadcast_to(x, (*loop, *x.shape[-2:])) for x in arrays]
    found = np.empty(whole[0].shape, arrays[0].dtype)
    for place in np.ndindex(loop):
        given = [x[place].astype(np.result_type(x, np.float64)) for x in whole]
        e, s = given[4] if has_e else None, given[5] if has_s else None
        found[place] = function(*given[:4], e, s, balanced=balanced and not has_e)
    return found


def _continuous(a, b, q, r, e, s, *, has_e, has_s, balanced):
    """Return the solution of Riccati's equation in continuous time."""
    return _solved("solve_continuous_are", (a, b, q, r, e, s), has_e, has_s, balanced)


def _discrete(a, b, q, r, e, s, *, has_e, has_s, balanced):
    """Return the solution of Riccati's equation in discrete time."""
    return _solved("solve_discrete_are", (a, b, q, r, e, s), has_e, has_s, balanced)


# Derivatives --------------------------------------------------------------------------------------


def _divided(a: Any, b: Any, caller: str) -> Any:
    lu, pivots = lu_factor(a)
    return lu_solve(a, lu, pivots, b, adjoint=False, caller=caller)


def _both_sides(a: Any, g: Any, caller: str) -> Any:
    """Return ``a^-1 g a^-H`` for a Hermitian ``g``."""
    return _divided(a, adjoint(_divided(a, g, caller)), caller)


def _in_continuous_time(closed: Any, e: Any, g: Any, caller: str) -> Any:
    """Return the solution ``w`` of ``c w e' + e w c' = g``, with ``closed`` for ``c``."""
    closed = _divided(e, closed, caller)
    return solve_sylvester(closed, adjoint(closed), _both_sides(e, g, caller), caller=caller)


def _in_discrete_time(closed: Any, e: Any, g: Any, caller: str) -> Any:
    """Return the solution ``w`` of ``c w c' - e w e' = g``, with ``closed`` for ``c``.

    The equation is turned into one in continuous time that has the same solution.
    """
    above = add(closed, e)
    turned = _divided(above, subtract(closed, e), caller)
    return solve_sylvester(
        turned, adjoint(turned), _both_sides(above, add(g, g), caller), caller=caller
    )


def _equation(name: str, function: Callable[..., Any], is_discrete: bool) -> HostOperator:
    operator = HostOperator(function, SIGNATURE, name=name)
    operator.reads(lambda needs: (True, True, False, True, True, True, True))
    transposed = _in_discrete_time if is_discrete else _in_continuous_time

    @operator.pullback
    def pullback(context, g):
        a, b, r, e, s = (context.input(n) for n in (0, 1, 3, 4, 5))
        x, caller = context.output(), context.static.get("caller", name)
        bx = matmul(adjoint(b), x)
        if is_discrete:
            k = _divided(add(r, matmul(bx, b)), add(matmul(bx, a), adjoint(s)), caller)
        else:
            k = _divided(r, add(matmul(bx, e), adjoint(s)), caller)
        closed = subtract(a, matmul(b, k))
        w = transposed(closed, e, negative(half(g, 1)), caller)  # cotangent of the left side
        wk, twice = matmul(w, adjoint(k)), add(w, w)
        of_c = matmul(matmul(x, closed if is_discrete else e), twice)
        of_e = matmul(matmul(x, e if is_discrete else closed), twice)
        of_b = negative(matmul(of_c, adjoint(k)))
        return (
            of_c, of_b, w, matmul(k, wk), negative(of_e) if is_discrete else of_e,
            negative(add(wk, wk)),
        )  # fmt: skip

    return operator


solve_continuous_are = _equation("solve_continuous_are", _continuous, is_discrete=False)
solve_discrete_are = _equation("solve_discrete_are", _discrete, is_discrete=True)
