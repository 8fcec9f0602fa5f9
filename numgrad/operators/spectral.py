"""Eigenvalues with their vectors, of Hermitian and of any matrices."""

from typing import Any

import numpy as np

from .cast import cast
from .complex_parts import conj, real
from .determinant import regular_pivots
from .elementwise import absolute, add, multiply, subtract
from .factorization import lu_factor, lu_solve
from .gaps import (
    Gaps,
    alone,
    as_column,
    as_row,
    decomposition,
    eye,
    half,
    main_diagonal,
    number,
    onto_diagonal,
    paired_with,
    quotient,
    reads_outputs,
    rounding,
)
from .matmul import adjoint, matmul
from .reduction import sum as sum_

# Hermitian matrices -------------------------------------------------------------------------------


@decomposition("(n,n)->(n),(n,n)", results=("real", None))
def eigh(a, *, UPLO, paired=False):
    """Return eigenvalues in ascending order and eigenvectors; one triangle is read. ``paired`` says
    that eigenvalues are used beside the vectors, although they come from somewhere else."""
    return np.linalg.eigh(a, UPLO)


eigh.reads(reads_outputs(2))


def _eigh_gaps(w: Any) -> Gaps:
    limit = rounding(w, w.shape[-1])
    return Gaps(subtract(as_row(w), as_column(w)), as_column(limit), eye(w.shape[-1]))


@eigh.pullback
def eigh_pullback(context, gw, gv):
    w, v = context.output(0), context.output(1)
    if gv is None:
        return _similar(v, gw)
    m = matmul(adjoint(v), gv)
    inner = quotient(half(m, -1), _eigh_gaps(w), (m, adjoint(m)), alone(context, gw))
    if gw is not None:
        inner = add(inner, onto_diagonal(gw, v.dtype))
    return matmul(matmul(v, inner), adjoint(v))


def _similar(v: Any, w: Any) -> Any:
    """Return the matrix with these eigenvectors, which are orthonormal, and eigenvalues."""
    return matmul(multiply(v, as_row(cast(w, v.dtype))), adjoint(v))


@eigh.pushforward
def eigh_pushforward(context, ta):
    w, v = context.output(0), context.output(1)
    p = matmul(matmul(adjoint(v), half(ta, 1)), v)
    return real(main_diagonal(p)), matmul(v, quotient(p, _eigh_gaps(w), (p,)))


@decomposition("(n,n)->(n)", results=("real",))
def eigvalsh(a, *, UPLO):
    """Return eigenvalues in ascending order; one triangle is read."""
    return np.linalg.eigvalsh(a, UPLO)


eigvalsh.reads(lambda needs: (True, False))


@eigvalsh.pullback
def eigvalsh_pullback(context, gw):
    _, v = eigh(context.input(0), **paired_with(context, gw))
    return _similar(v, gw)


# General matrices ---------------------------------------------------------------------------------


@decomposition("(n,n)->(n),(n,n)", results=("complex", "complex"))
def eig(a):
    """Return eigenvalues and eigenvectors of length 1, complex ones of any matrix."""
    return np.linalg.eig(a)


eig.reads(reads_outputs(2))


def _eig_gaps(w: Any) -> Gaps:
    sizes = absolute(w)
    total = as_column(as_column(sum_(sizes, axes=(-1,))))
    limit = multiply(total, number(np.finfo(sizes.dtype).eps, sizes.dtype))
    return Gaps(subtract(as_row(w), as_column(w)), limit, eye(w.shape[-1]))


@eig.pullback
def eig_pullback(context, gw, gv):
    w, v = context.output(0), context.output(1)
    if gv is None:
        inner = onto_diagonal(gw, v.dtype)
    else:
        m = matmul(adjoint(v), gv)
        turn = subtract(m, multiply(matmul(adjoint(v), v), as_row(main_diagonal(m))))
        inner = quotient(turn, _eig_gaps(conj(w)), (m, adjoint(m)), gw is None)
        if gw is not None:
            inner = add(inner, onto_diagonal(gw, v.dtype))
    ga = _divided(v, matmul(inner, adjoint(v)), True, context)
    return real(ga) if context.input_specs[0].dtype.kind != "c" else ga


def _divided(v: Any, x: Any, transposed: bool, context: Any) -> Any:
    """Divide by eigenvectors from the left: they are singular where some are missing."""
    caller = context.static.get("caller", "eig")
    lu, pivots = lu_factor(v)
    lu = regular_pivots(lu, caller=caller)
    return lu_solve(v, lu, pivots, x, adjoint=transposed, caller=caller)


@eig.pushforward
def eig_pushforward(context, ta):
    w, v = context.output(0), context.output(1)
    p = _divided(v, matmul(cast(ta, v.dtype), v), False, context)
    turn = matmul(v, quotient(p, _eig_gaps(w), (p,)))
    along = sum_(multiply(conj(v), turn), axes=(-2,))
    return main_diagonal(p), subtract(turn, multiply(v, as_row(along)))
