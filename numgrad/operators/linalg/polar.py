"""The polar decomposition, whose derivative is the solution of an equation of Sylvester."""

import numpy as np

from ..._declare import host_operator
from ..elementwise.arithmetic import add, subtract
from .eigen_gaps import half
from .factorization import lu_factor, lu_solve
from .matmul import adjoint, matmul
from .matrix_functions import solve_sylvester


@host_operator("(m,n)->(m,n),(n,n)")
def polar(a):
    """Return the polar factors of matrices: orthonormal columns, and a positive semidefinite one.

    The matrices have at least as many rows as columns.
    """
    left, sizes, right = np.linalg.svd(a, full_matrices=False)
    back = right.conj().swapaxes(-1, -2)
    return left @ right, (back * sizes[..., None, :]) @ right


polar.reads(lambda needs: (False, True, True))


@polar.pullback
def polar_pullback(context, gu, gp):
    """Return the gradient by ``a = u p``, from an equation of Sylvester.

    Let ``h`` be the Hermitian part of ``gp``, and ``z`` the skew-Hermitian part of ``u' gu - h p``.
    The gradient is ``u (h + 2 t)``, where ``t`` solves ``p t + t p = z``. For tall matrices the
    part of ``gu p^-1`` that is orthogonal to the columns of ``u`` is added.
    """
    u, p, caller = context.output(0), context.output(1), context.static.get("caller", "polar")
    h, inner = half(gp, 1), matmul(adjoint(u), gu)
    t = solve_sylvester(p, p, half(subtract(inner, matmul(h, p)), -1), caller=caller)
    along = add(h, add(t, t))
    m, n = context.input_specs[0].shape[-2:]
    if m == n:
        return matmul(u, along)
    lu, pivots = lu_factor(p)
    across = subtract(gu, matmul(u, inner))
    across = adjoint(lu_solve(p, lu, pivots, adjoint(across), adjoint=False, caller=caller))
    return add(matmul(u, along), across)
