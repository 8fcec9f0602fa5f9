"""Eigenvalues and eigenvectors, of Hermitian and of general matrices.

The first derivatives of eigenvalues are computed by operators of their own, such as
`hermitian_gradient`, which return what they are given. Their purpose is their derivative, the
second one of eigenvalues: it is that of perturbation theory, which knows what to do with equal
eigenvalues; see `eigen_gaps`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._declare.kernel import common_dtype
from ..._declare.operands import as_values
from ...ir.kernel_spec import LibrarySpec
from ..elementwise.arithmetic import absolute, add, multiply, subtract
from ..elementwise.cast import cast
from ..elementwise.complex_parts import conj, real
from ..reduction.reductions import sum as sum_
from .determinant import regular_pivots
from .eigen_gaps import (
    Factors,
    Gaps,
    alone,
    as_column,
    as_row,
    decomposition,
    differences,
    eye,
    half,
    main_diagonal,
    motion,
    number,
    onto_diagonal,
    paired_with,
    quotient,
    rounding,
    slopes_between,
    slopes_of_values,
    turning,
)
from .factorization import Factorization, lu_factor, lu_solve
from .matmul import adjoint, matmul

# Hermitian matrices -------------------------------------------------------------------------------


@decomposition("(n,n)->(n),(n,n)", results=("real", None), values=0)
def eigh(a, *, UPLO, paired=False):
    """Return the eigenvalues in ascending order, and the eigenvectors, of Hermitian matrices.

    Only the triangle ``UPLO`` is read. With ``paired`` a function uses the eigenvalues beside these
    vectors, although they come from another node.
    """
    return np.linalg.eigh(a, UPLO)


eigh.reads(lambda needs: (True, True, True))


def _eigh_gaps(w: Any) -> Gaps:
    limit = rounding(w, w.shape[-1])
    return Gaps(subtract(as_row(w), as_column(w)), as_column(limit), eye(w.shape[-1]))


@eigh.pullback
def eigh_pullback(context, gw, gv):
    w, v = context.output(0), context.output(1)
    if gv is None:
        return _from_eigenvalues(context, w, v, gw)
    m = matmul(adjoint(v), gv)
    by_themselves, recorded = alone(context, gw), context.create_graph
    inner = quotient(half(m, -1), _eigh_gaps(w), (m, adjoint(m)), by_themselves, recorded)
    if gw is not None:
        inner = add(inner, onto_diagonal(gw, v.dtype))
    return matmul(matmul(v, inner), adjoint(v))


def _similar(v: Any, w: Any) -> Any:
    """Return the matrix with orthonormal eigenvectors ``v`` and eigenvalues ``w``."""
    return matmul(multiply(v, as_row(cast(w, v.dtype))), adjoint(v))


def _from_eigenvalues(context: Any, w: Any, v: Any, gw: Any) -> Any:
    """Return the gradient of a function of a Hermitian matrix's eigenvalues by the matrix.

    ``gw`` are the cotangents of the eigenvalues.
    """
    ga = _similar(v, gw)
    if not context.create_graph:
        return ga
    return hermitian_gradient(context.input(0), w, v, gw, motion(context, gw), ga)


@decomposition("(n,n),(n),(n,n),(n),(n),(n,n)->(n,n)")
def hermitian_gradient(a, w, v, g, moved, ga):
    """Return ``ga``, the gradient of a function of eigenvalues by a Hermitian matrix ``a``.

    ``g`` are the cotangents of the eigenvalues, and ``moved`` is what `motion` returns for them.
    The derivative is that of perturbation theory, in which a pair of equal eigenvalues with equal
    cotangents takes no part.
    """
    return ga.copy()


hermitian_gradient.reads(lambda needs: (True, True, True, True, True, False, False))


@hermitian_gradient.pullback
def hermitian_gradient_pullback(context, x):
    p, turned = _turned(context, x)
    w, v = context.input(1), context.input(2)
    return turned, None, None, _slopes(context, w, v, x, real(main_diagonal(p))), None, None


@hermitian_gradient.pushforward
def hermitian_gradient_pushforward(context, ta, tw, tv, tg, tmoved, tga):
    turned = None if ta is None else _turned(context, ta)[1]
    along = None if tg is None else _similar(context.input(2), real(tg))
    return (turned if along is None else along if turned is None else add(turned, along),)


def _turned(context: Any, x: Any) -> tuple[Any, Any]:
    w, v, g, moved = (context.input(n) for n in (1, 2, 3, 4))
    return _turned_by(real(w), v, real(g), real(moved), x)


def _turned_by(w: Any, v: Any, g: Any, moved: Any, x: Any) -> tuple[Any, Any]:
    """Return two changes: of a matrix in the basis of its eigenvectors, and of a gradient.

    The change of the matrix is ``x``. The gradient is that of a function of the eigenvalues, and
    changes because the eigenvectors turn; the cotangents ``g`` of the eigenvalues stay fixed.
    """
    p = _in_basis(v, x)
    total = sum_(absolute(g), axes=(-1,))
    inner = slopes_between(p, as_row(g), as_column(g), differences(moved), _eigh_gaps(w), total)
    return p, matmul(matmul(v, inner), adjoint(v))


def _in_basis(v: Any, x: Any) -> Any:
    return matmul(matmul(adjoint(v), half(x, 1)), v)


@eigh.pushforward
def eigh_pushforward(context, ta):
    w, v = context.output(0), context.output(1)
    p = _in_basis(v, ta)
    slopes = _slopes(context, w, v, ta, real(main_diagonal(p)))
    return slopes, matmul(v, quotient(p, _eigh_gaps(w), (p,), recorded=context.create_graph))


def _slopes(context: Any, w: Any, v: Any, change: Any, slopes: Any) -> Any:
    """Return the slopes of eigenvalues as a Hermitian matrix changes by ``change``.

    The slopes are given; in a recorded pass they are passed through an operator that has the right
    derivative.
    """
    if not context.create_graph:
        return slopes
    return hermitian_slopes(context.input(0), w, v, change, slopes)


@slopes_of_values("(n,n),(n),(n,n),(n,n),(n)->(n)", results=("real",))
def hermitian_slopes(a, w, v, change, slopes):
    """Return ``slopes``, those of the eigenvalues of a Hermitian matrix ``a`` along a ``change``.

    The derivative is that of perturbation theory. For equal eigenvalues it is known only if their
    cotangents are equal.
    """
    return slopes.real.copy()


hermitian_slopes.reads(lambda needs: (True, True, True, True, False, False))


@hermitian_slopes.pullback
def hermitian_slopes_pullback(context, g, moved):
    w, v = real(context.input(1)), context.input(2)
    turned = _turned_by(w, v, g, moved, context.input(3))[1]
    return turned, None, None, _from_eigenvalues(context, w, v, g), None


@hermitian_slopes.pushforward
def hermitian_slopes_pushforward(context, ta, tw, tv, tchange, tslopes):
    w, v, bent = real(context.input(1)), context.input(2), None
    if ta is not None:
        turn = turning(_in_basis(v, ta), _eigh_gaps(w))
        bent = real(main_diagonal(matmul(_in_basis(v, context.input(3)), turn)))
        bent = add(bent, bent)
    if tchange is not None:
        slopes = real(main_diagonal(_in_basis(v, tchange)))
        slopes = _slopes(context, w, v, tchange, slopes)
        bent = slopes if bent is None else add(bent, slopes)
    return (bent,)


class Reduced(Factors, Factorization):
    """An operator of Hermitian matrices whose kernel makes or reads their reductions.

    Matrices are reduced to tridiagonal ones once, for their eigenvalues and for their eigenvectors.
    The static parameter ``lower`` says which triangle is read. A reduction is in double precision.
    """

    def prepare(self, args: Sequence[Any], static: dict[str, Any]) -> tuple[Any, ...]:
        matrix, *reductions = as_values(args)
        dtype = common_dtype([matrix.dtype])
        matrix = matrix if matrix.dtype == dtype else matrix.astype(dtype)
        return self.align([matrix, *reductions])

    def result_dtypes(self, dtypes: Sequence[np.dtype]) -> list[np.dtype]:
        dtype = dtypes[0]
        wide = np.result_type(dtype, np.float64)
        known = {None: dtype, "real": np.finfo(dtype).dtype, "double": wide}
        return [known[r] for r in self.results]

    def kernel(
        self, dtypes: tuple[np.dtype, ...], static: dict[str, Any]
    ) -> tuple[Any, Sequence[np.ndarray]]:
        return LibrarySpec(self.name, dtypes[0], static["lower"]), ()

    def operands(self, contiguous: Callable[..., Any], inputs: Sequence[Any]) -> list[Any]:
        matrix, *reductions = inputs
        return [matrix, *[contiguous(x) for x in reductions]]

    def for_operands(self, spec: LibrarySpec, operands: Sequence[Any]) -> LibrarySpec:
        return spec

    def failure(
        self, target: Any, spec: Any, inputs: Sequence[np.ndarray], status: int, static: Any
    ) -> Exception:
        return self.error(f" at loop index {status - 1}" if inputs[0].ndim > 2 else "")


hermitian_reduced = Reduced(
    "(n,n)->(n,n)", "hermitian_reduced", results=("double",), differentiable=False,
    reason="no memory is left to work in",
)  # fmt: skip
eigvalsh = Reduced(
    "(n,n),(n,n)->(n)", "eigvalsh", results=("real",), reason="Eigenvalues did not converge"
)
hermitian_vectors = Reduced(
    "(n,n),(n,n)->(n),(n,n)", "hermitian_vectors", results=("real", None),
    reason="Eigenvalues did not converge",
)  # fmt: skip
eigvalsh.value_slot = hermitian_vectors.value_slot = 0


eigvalsh.reads(lambda needs: (True, True, False))


@eigvalsh.pullback
def eigvalsh_pullback(context, gw):
    a, reduced = context.input(0), context.input(1)
    w, v = hermitian_vectors(a, reduced, **paired_with(context, gw))
    return _from_eigenvalues(context, w, v, gw), None


hermitian_vectors.reads(lambda needs: (True, False, True, True))


@hermitian_vectors.pullback
def hermitian_vectors_pullback(context, gw, gv):
    return eigh_pullback(context, gw, gv), None


@hermitian_vectors.pushforward
def hermitian_vectors_pushforward(context, ta, reduced):
    return eigh_pushforward(context, ta)


# General matrices ---------------------------------------------------------------------------------


@decomposition("(n,n)->(n),(n,n)", results=("complex", "complex"), values=0)
def eig(a):
    """Return the eigenvalues, and the eigenvectors of length 1, of any matrices, all complex."""
    return np.linalg.eig(a)


eig.reads(lambda needs: (True, True, True))


def _eig_gaps(w: Any) -> Gaps:
    sizes = absolute(w)
    total = as_column(as_column(sum_(sizes, axes=(-1,))))
    limit = multiply(total, number(np.finfo(sizes.dtype).eps, sizes.dtype))
    return Gaps(subtract(as_row(w), as_column(w)), limit, eye(w.shape[-1]))


@eig.pullback
def eig_pullback(context, gw, gv):
    w, v = context.output(0), context.output(1)
    if gv is None:
        ga = _from_any_eigenvalues(context, w, v, gw)
    else:
        m = matmul(adjoint(v), gv)
        turn = subtract(m, multiply(matmul(adjoint(v), v), as_row(main_diagonal(m))))
        parts, recorded = (m, adjoint(m)), context.create_graph
        inner = quotient(turn, _eig_gaps(conj(w)), parts, gw is None, recorded)
        if gw is not None:
            inner = add(inner, onto_diagonal(gw, v.dtype))
        ga = _divided(v, matmul(inner, adjoint(v)), True, context)
    return real(ga) if context.input_specs[0].dtype.kind != "c" else ga


def _from_any_eigenvalues(context: Any, w: Any, v: Any, gw: Any) -> Any:
    """Return the gradient of a function of any matrix's eigenvalues by the matrix, as complex.

    ``gw`` are the cotangents of the eigenvalues.
    """
    ga = _divided(v, matmul(onto_diagonal(gw, v.dtype), adjoint(v)), True, context)
    if not context.create_graph:
        return ga
    caller = context.static.get("caller", "eig")
    moved = motion(context, gw)
    return general_gradient(context.input(0), w, v, gw, moved, ga, caller=caller)


@decomposition("(n,n),(n),(n,n),(n),(n),(n,n)->(n,n)")
def general_gradient(a, w, v, g, moved, ga):
    """Return ``ga``, the gradient of a function of eigenvalues by any matrix ``a``.

    The arguments and the derivative are as in `hermitian_gradient`.
    """
    return ga.copy()


general_gradient.reads(lambda needs: (True, True, True, True, True, False, False))


@general_gradient.pullback
def general_gradient_pullback(context, x):
    p, turned = _turned_in_general(context, x)
    w, v = context.input(1), context.input(2)
    return turned, None, None, _general_slopes(context, w, v, x, main_diagonal(p)), None, None


@general_gradient.pushforward
def general_gradient_pushforward(context, ta, tw, tv, tg, tmoved, tga):
    total = None if ta is None else _turned_in_general(context, ta)[1]
    if tg is not None:
        v = context.input(2)
        along = _divided(v, matmul(onto_diagonal(tg, v.dtype), adjoint(v)), True, context)
        total = along if total is None else add(total, along)
    return (total,)


def _turned_in_general(context: Any, x: Any) -> tuple[Any, Any]:
    w, v, g, moved = (context.input(n) for n in (1, 2, 3, 4))
    return _turned_in_general_by(context, w, v, g, moved, x)


def _turned_in_general_by(
    context: Any, w: Any, v: Any, g: Any, moved: Any, x: Any
) -> tuple[Any, Any]:
    p = _divided(v, matmul(x, v), False, context)
    total = sum_(absolute(g), axes=(-1,))
    gaps = _eig_gaps(conj(w))
    inner = slopes_between(adjoint(p), as_row(g), as_column(g), differences(moved), gaps, total)
    return p, _divided(v, matmul(inner, adjoint(v)), True, context)


def _divided(v: Any, x: Any, transposed: bool, context: Any) -> Any:
    """Return ``v^-1 x``, or ``v^-H x`` if transposed, for the matrix ``v`` of all eigenvectors.

    The matrix is singular, which is an error, if there are too few eigenvectors.
    """
    caller = context.static.get("caller", "eig")
    lu, pivots = lu_factor(v)
    lu = regular_pivots(lu, caller=caller)
    return lu_solve(v, lu, pivots, x, adjoint=transposed, caller=caller)


@eig.pushforward
def eig_pushforward(context, ta):
    w, v = context.output(0), context.output(1)
    ta = cast(ta, v.dtype)
    p = _divided(v, matmul(ta, v), False, context)
    turn = matmul(v, quotient(p, _eig_gaps(w), (p,), recorded=context.create_graph))
    along = sum_(multiply(conj(v), turn), axes=(-2,))
    slopes = _general_slopes(context, w, v, ta, main_diagonal(p))
    return slopes, subtract(turn, multiply(v, as_row(along)))


def _general_slopes(context: Any, w: Any, v: Any, change: Any, slopes: Any) -> Any:
    if not context.create_graph:
        return slopes
    caller = context.static.get("caller", "eig")
    return general_slopes(context.input(0), w, v, change, slopes, caller=caller)


@slopes_of_values("(n,n),(n),(n,n),(n,n),(n)->(n)")
def general_slopes(a, w, v, change, slopes):
    """Return ``slopes``, those of the eigenvalues of any matrix ``a`` along a ``change``.

    The derivative is as in `hermitian_slopes`.
    """
    return slopes.copy()


general_slopes.reads(lambda needs: (True, True, True, True, False, False))


@general_slopes.pullback
def general_slopes_pullback(context, g, moved):
    w, v, change = (context.input(n) for n in (1, 2, 3))
    turned = _turned_in_general_by(context, w, v, g, moved, change)[1]
    return turned, None, None, _from_any_eigenvalues(context, w, v, g), None


@general_slopes.pushforward
def general_slopes_pushforward(context, ta, tw, tv, tchange, tslopes):
    w, v, bent = context.input(1), context.input(2), None
    if ta is not None:
        p = _divided(v, matmul(context.input(3), v), False, context)
        turn = turning(_divided(v, matmul(ta, v), False, context), _eig_gaps(w))
        bent = main_diagonal(subtract(matmul(p, turn), matmul(turn, p)))
    if tchange is not None:
        slopes = main_diagonal(_divided(v, matmul(tchange, v), False, context))
        slopes = _general_slopes(context, w, v, tchange, slopes)
        bent = slopes if bent is None else add(bent, slopes)
    return (bent,)
