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
    counts = s > np.real(rcond)[..., None] * s.max(-1, keepdims=True)
    inverse = np.divide(1.0, s, out=np.zeros_like(s), where=counts)
    return vh.mT @ (inverse[..., None] * u.mT), counts.sum(-1)


pinv.reads(lambda needs: (True, False, True, True))


@pinv.pullback
def pinv_pullback(context, g, g_rank):
    """Return the gradient by ``a`` for changes that keep the rank (Golub and Pereyra 1973)."""
    a, (p, rank) = context.input(0), (context.output(n) for n in (0, 1))
    ph, gh = adjoint(p), adjoint(g)
    left, right = matmul(gh, p), matmul(p, gh)
    beside = _beside(subtract(left, matmul(a, matmul(p, left))), rank, a, -2)
    ga = subtract(matmul(beside, ph), matmul(ph, matmul(g, ph)))
    beside = _beside(subtract(right, matmul(matmul(right, p), a)), rank, a, -1)
    ga = add(ga, matmul(ph, beside))
    if context.static["hermitian"]:
        ga = multiply(add(ga, adjoint(ga)), number(0.5, a.dtype))
    return ga, None


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


@decomposition("(m,n),(m,k),()->(n,k),(),(p)", results=(None, np.int64, "real"), values=2,
               sizes=lambda known: {"p": min(known["m"], known["n"])})  # fmt: skip
def lstsq(a, b, rcond):
    """Return the least-squares solutions of least norm, and the ranks and singular values of ``a``.
    """
    loop = broadcast_shapes(a.shape[:-2], b.shape[:-2], rcond.shape)
    (m, n), k = a.shape[-2:], b.shape[-1]
    if prod(loop) == 1:
        found = np.linalg.lstsq(a.reshape(m, n), b.reshape(m, k), np.real(rcond).item())
        return found[0].reshape(*loop, n, k), np.full(loop, found[2]), found[3].reshape(*loop, -1)
    a, b = (np.broadcast_to(x, (*loop, *x.shape[-2:])) for x in (a, b))
    rcond = np.broadcast_to(np.real(rcond), loop)
    x, rank = np.empty((*loop, n, k), a.dtype), np.empty(loop, np.int64)
    s = np.empty((*loop, min(m, n)), np.finfo(a.dtype).dtype)
    for place in np.ndindex(loop):
        found = np.linalg.lstsq(a[place], b[place], float(rcond[place]))
        x[place], _, rank[place], s[place] = found
    return x, rank, s


lstsq.reads(lambda needs: (True, True, True, True, True, False))


@lstsq.pullback
def lstsq_pullback(context, gx, g_rank, gs):
    a, rcond = context.input(0), context.input(2)
    ga = None if gs is None else from_singular_values(context, gs)
    if gx is None:
        return ga, None, None
    x, rank, (p, _) = context.output(0), context.output(1), pinv(a, rcond, hermitian=False)
    ph = adjoint(p)
    gb = matmul(ph, gx)
    if context.wanted[0]:
        rest = _beside(subtract(context.input(1), matmul(a, x)), rank, a, -2)
        own = subtract(matmul(rest, matmul(adjoint(gb), ph)), matmul(gb, adjoint(x)))
        outside = _beside(subtract(adjoint(gx), matmul(adjoint(gb), a)), rank, a, -1)
        own = add(own, matmul(matmul(ph, x), outside))
        ga = own if ga is None else add(ga, own)
    return ga, gb, None
