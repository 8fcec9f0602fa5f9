"""The QR factorization, pseudo-inverses and least squares."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from ..._declare import constant
from ...ir.broadcasting import broadcast_shapes
from ...ir.gufunc_signature import Signature, parse_signature
from ...ir.kernel_spec import LibrarySpec
from ..elementwise.arithmetic import add, multiply, subtract
from ..elementwise.cast import cast
from ..elementwise.comparison import less
from ..shape.indexing import index
from ..shape.joining import concat
from ..shape.reshape import expand_dims
from .eigen_gaps import decomposition, number, reads_outputs
from .factorization import Factorization, solve_triangular
from .matmul import adjoint, matmul
from .singular_values import folded, from_singular_values

# QR -----------------------------------------------------------------------------------------------


class OrthogonalFactors(Factorization):
    """The operator `qr`: a factor with orthonormal columns, and an upper triangle.

    Their product is the matrix. The static parameter ``mode`` is one of `numpy.linalg.qr`.
    """

    def parse(self, signature: str) -> Signature:
        return parse_signature(signature, computed=True)

    def sizes(self, shapes: Sequence[tuple[int, ...]], static: dict[str, Any]) -> dict[str, int]:
        known = self.core_sizes(shapes)
        m, n = known["m"], known["n"]
        return known | {"p": m if static["mode"] == "complete" else min(m, n)}

    def kernel(
        self, dtypes: tuple[np.dtype, ...], static: dict[str, Any]
    ) -> tuple[Any, Sequence[np.ndarray]]:
        return LibrarySpec("qr_square" if static["mode"] == "complete" else "qr", dtypes[0]), ()

    def for_operands(self, spec: LibrarySpec, operands: Sequence[Any]) -> LibrarySpec:
        m, n = operands[0].shape[-2:]
        return spec if m >= n else replace(spec, name="qr_square")


qr = OrthogonalFactors(
    "(m,n)->(m,p),(p,n)", "qr", results=(None, None), reason="no memory is left to work in"
)


qr.reads(reads_outputs(2))


@qr.pullback
def qr_pullback(context, gq, gr):
    """Return the gradient by ``a``.

    Of a wide matrix only the leading square block is factored. The other columns of ``r`` are the
    product of ``q'`` with those of ``a``.
    """
    q, r = context.output(0), context.output(1)
    k, n = min(q.shape[-2], r.shape[-1]), r.shape[-1]
    q, gq = folded(q, gq, k)
    others, g_others = (index(x, key=((0, k, None), (k, None, None))) for x in (r, gr))
    r, gr = (index(x, key=((0, k, None), (0, k, None))) for x in (r, gr))
    if n > k:
        gq = add(gq, matmul(matmul(q, others), adjoint(g_others)))
    upper = np.triu(np.ones((k, k))) - 0.5 * np.eye(k)
    w = subtract(matmul(gr, adjoint(r)), matmul(adjoint(q), gq))
    w = multiply(w, constant(upper.astype(q.dtype)))
    total = add(gq, matmul(q, add(w, adjoint(w))))
    ga = adjoint(solve_triangular(r, adjoint(total), lower=False, adjoint=False, caller="qr"))
    return concat(ga, matmul(q, g_others), axis=-1) if n > k else ga


# Pseudo-inverses ----------------------------------------------------------------------------------


@decomposition("(m,n),()->(n,m),()", results=(None, np.int64))
def pinv(a, rcond, *, hermitian):
    """Return the pseudo-inverses of matrices, as `numpy.linalg.pinv` does, and their ranks.

    Singular values up to ``rcond`` times the largest count as 0.
    """
    if 0 in a.shape:
        return np.empty_like(a.mT), np.zeros(a.shape[:-2], np.int64)
    u, s, vh = np.linalg.svd(np.conj(a), full_matrices=False, hermitian=hermitian)
    inverse, rank = _inverses(s, np.real(rcond))
    return vh.mT @ (inverse[..., None] * u.mT), rank


def _inverses(s: np.ndarray, rcond: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the inverses of descending singular values, 0 for those that count as 0, and the
    ranks."""
    counts = s > rcond[..., None] * s[..., :1]
    inverse = np.zeros(counts.shape, s.dtype)
    np.divide(1.0, s, out=inverse, where=counts)
    return inverse, np.add.reduce(counts, -1, np.int64)


pinv.reads(lambda needs: (True, False, True, True))


@pinv.pullback
def pinv_pullback(context, g, g_rank):
    """Return the gradient by ``a`` for changes that keep the rank (Golub and Pereyra 1973)."""
    a, (p, rank) = context.input(0), (context.output(n) for n in (0, 1))
    ga = _through_inverse(a, p, rank, g)
    if context.static["hermitian"]:
        ga = multiply(add(ga, adjoint(ga)), number(0.5, a.dtype))
    return ga, None


def _through_inverse(a: Any, p: Any, rank: Any, g: Any) -> Any:
    """Return the cotangent of matrices for that of their pseudo-inverses ``p``."""
    ph, gh = adjoint(p), adjoint(g)
    left, right = matmul(gh, p), matmul(p, gh)
    beside = _beside(subtract(left, matmul(a, matmul(p, left))), rank, a, -2)
    ga = subtract(matmul(beside, ph), matmul(ph, matmul(g, ph)))
    beside = _beside(subtract(right, matmul(matmul(right, p), a)), rank, a, -1)
    return add(ga, matmul(ph, beside))


def _beside(x, rank, a, axis):
    """Return ``x``, a part orthogonal to the range of ``a`` or of its adjoint, or an exact zero.

    If the rank is the size of the axis, nothing is orthogonal to the range, and ``x`` is rounding
    error. It is replaced by zero, as such errors grow with the square of the condition number in
    the next derivative.
    """
    size = a.shape[axis]
    if min(a.shape[-2:]) < size:
        return x
    left = cast(less(rank, constant(np.array(size))), x.dtype)
    return multiply(x, expand_dims(left, axes=(-2, -1)))


def _sizes_with_inverse(known: dict[str, int], inverse: bool) -> dict[str, int]:
    m, n = known["m"], known["n"]
    return {"p": min(m, n), "q": n if inverse else 0, "r": m if inverse else 0}


@decomposition("(m,n),(m,k),()->(n,k),(),(p),(q,r)", results=(None, np.int64, "real", None),
               values=2, sizes=_sizes_with_inverse)  # fmt: skip
def lstsq(a, b, rcond, *, inverse):
    """Return the least-squares solutions of least norm, the ranks and singular values of ``a``, and
    with ``inverse`` the pseudo-inverses, which derivatives read: one decomposition has both.
    """
    loop = broadcast_shapes(a.shape[:-2], b.shape[:-2], rcond.shape)
    (m, n), k, rcond = a.shape[-2:], b.shape[-1], np.real(rcond)
    if inverse and a.size:
        return _with_inverse(a, b, rcond, loop)
    none = np.zeros((*loop, n, m) if inverse else (*loop, 0, 0), a.dtype)
    if prod(loop) == 1:
        found = np.linalg.lstsq(a.reshape(m, n), b.reshape(m, k), rcond.item())
        x, rank, s = found[0].reshape(*loop, n, k), np.full(loop, found[2]), found[3]
        return x, rank, s.reshape(*loop, -1), none
    a, b = (np.broadcast_to(x, (*loop, *x.shape[-2:])) for x in (a, b))
    rcond = np.broadcast_to(rcond, loop)
    x, rank = np.empty((*loop, n, k), a.dtype), np.empty(loop, np.int64)
    s = np.empty((*loop, min(m, n)), np.finfo(a.dtype).dtype)
    for place in np.ndindex(loop):
        found = np.linalg.lstsq(a[place], b[place], float(rcond[place]))
        x[place], _, rank[place], s[place] = found
    return x, rank, s, none


def _with_inverse(
    a: np.ndarray, b: np.ndarray, rcond: np.ndarray, loop: tuple[int, ...]
) -> tuple[np.ndarray, ...]:
    """Return what `lstsq` does, from singular vectors. A tolerance below 0 stands for that of
    rounding in one number, as in LAPACK."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    if (rcond < 0).any():
        rcond = np.where(rcond < 0, np.finfo(a.dtype).eps, rcond)
    inverse, rank = _inverses(s, rcond)
    uh, v = u.mT, vh.mT
    if a.dtype.kind == "c":
        uh, v = uh.conj(), v.conj()
    left = inverse[..., None] * uh
    parts = v @ (left @ b), rank, s, v @ left
    cores = [x.ndim - n for x, n in zip(parts, (2, 0, 1, 2), strict=True)]
    if all(x.shape[:lead] == loop for x, lead in zip(parts, cores, strict=True)):
        return parts
    return tuple([np.broadcast_to(x, (*loop, *x.shape[lead:]))
                  for x, lead in zip(parts, cores, strict=True)])  # fmt: skip


lstsq.reads(lambda needs: (True, True, True, True, True, False, True))


@lstsq.pullback
def lstsq_pullback(context, gx, g_rank, gs, gp):
    a, rank = context.input(0), context.output(1)
    ga = None if gs is None else from_singular_values(context, gs)
    if gx is None and gp is None:
        return ga, None, None
    if context.static["inverse"]:
        p = context.output(3)
    else:
        p, _ = pinv(a, context.input(2), hermitian=False)
    if gp is not None and context.wanted[0]:
        ga = _sum(ga, _through_inverse(a, p, rank, gp))
    if gx is None:
        return ga, None, None
    gb = matmul(adjoint(p), gx)
    if context.wanted[0]:
        ga = _sum(ga, _through_solution(context, p, gx, gb))
    return ga, gb, None


def _sum(one: Any, other: Any) -> Any:
    return other if one is None else add(one, other)


def _through_solution(context: Any, p: Any, gx: Any, gb: Any) -> Any:
    """Return the cotangent of matrices for that of solutions, ``gx``, and of right hand sides."""
    a, x, rank, ph = context.input(0), context.output(0), context.output(1), adjoint(p)
    rest = _beside(subtract(context.input(1), matmul(a, x)), rank, a, -2)
    own = subtract(matmul(rest, matmul(adjoint(gb), ph)), matmul(gb, adjoint(x)))
    outside = _beside(subtract(adjoint(gx), matmul(adjoint(gb), a)), rank, a, -1)
    return add(own, matmul(matmul(ph, x), outside))
