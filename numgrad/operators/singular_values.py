"""Singular values with their vectors."""

from typing import Any

import numpy as np

from .cast import cast
from .complex_parts import real
from .elementwise import add, multiply, negative, subtract
from .gaps import (
    Gaps,
    alone,
    as_column,
    as_row,
    decomposition,
    eye,
    first_of,
    half,
    main_diagonal,
    onto_diagonal,
    paired_with,
    quotient,
    reads_outputs,
    rest_of,
    rounding,
)
from .joining import concat
from .matmul import adjoint, matmul


def _svd_sizes(
    known: dict[str, int], full_matrices: bool, hermitian: bool, paired: bool = False
) -> dict[str, int]:
    m, n = known["m"], known["n"]
    k = min(m, n)
    return {"k": k, "p": m if full_matrices else k, "q": n if full_matrices else k}


@decomposition("(m,n)->(m,p),(k),(q,n)", results=(None, "real", None), sizes=_svd_sizes)
def svd(a, *, full_matrices, hermitian, paired=False):
    """Return left singular vectors, singular values in descending order, right ones as rows; what
    ``paired`` says is as for `eigh`."""
    return np.linalg.svd(a, full_matrices, hermitian=hermitian)


svd.reads(reads_outputs(3))


def folded(x: Any, gx: Any, count: int) -> tuple[Any, Any]:
    """Return the first orthonormal columns of a square matrix, and the cotangent of these to which
    that of all columns comes: the others are a basis of what is left, and turn with it."""
    first, own = first_of(x, count), first_of(gx, count)
    if x.shape[-1] == count:
        return first, own
    others, theirs = rest_of(x, count), rest_of(gx, count)
    return first, subtract(own, matmul(others, matmul(adjoint(theirs), first)))


def _svd_gaps(s: Any, size: int, dtype: np.dtype) -> tuple[Gaps, Gaps, Gaps]:
    """Return differences and sums of singular values, and these."""
    k, least = s.shape[-1], rounding(s, size)
    limit = as_column(least)
    nowhere = np.zeros((k, k), bool)
    return (
        Gaps(subtract(as_row(s), as_column(s)), limit, eye(k)),
        Gaps(add(as_row(s), as_column(s)), limit, nowhere if dtype.kind == "c" else eye(k)),
        Gaps(as_row(s), as_row(least), np.zeros((1, k), bool)),
    )


@svd.pullback
def svd_pullback(context, gu, gs, gvh):
    u, s, vh = (context.output(n) for n in range(3))
    k, v, gv = s.shape[-1], adjoint(vh), None if gvh is None else adjoint(gvh)
    gaps = _svd_gaps(s, max(u.shape[-2], v.shape[-2]), u.dtype)
    by_themselves = alone(context, gs)
    inner, parts = None if gs is None else onto_diagonal(gs, u.dtype), []
    sides = []
    for x, gx in ((u, gu), (v, gv)):
        if gx is None:
            sides.append((first_of(x, k), None, None))
            continue
        x, gx = folded(x, gx, k)
        m = matmul(adjoint(x), gx)
        parts += [m, adjoint(m)]
        outside = None
        if x.shape[-2] > k:
            outside = quotient(subtract(gx, matmul(x, m)), gaps[2], (gx,), by_themselves)
        sides.append((x, half(m, -1), outside))
    (u, x, left), (v, y, right) = sides
    if parts:
        plus = x if y is None else y if x is None else add(x, y)
        minus = x if y is None else negative(y) if x is None else subtract(x, y)
        for part, gap in ((plus, gaps[0]), (minus, gaps[1])):
            turn = quotient(part, gap, parts, by_themselves)
            inner = turn if inner is None else add(inner, turn)
    total = matmul(u, inner)
    total = matmul(total if left is None else add(total, left), adjoint(v))
    total = total if right is None else add(total, matmul(u, adjoint(right)))
    return half(total, 1) if context.static["hermitian"] else total


@svd.pushforward
def svd_pushforward(context, ta):
    full_u, s, full_vh = (context.output(n) for n in range(3))
    k, full_v = s.shape[-1], adjoint(full_vh)
    u, v = first_of(full_u, k), first_of(full_v, k)
    ta = half(ta, 1) if context.static["hermitian"] else ta
    along, across = matmul(ta, v), matmul(adjoint(ta), u)
    p = matmul(adjoint(u), along)
    differences, sums, values = _svd_gaps(s, max(u.shape[-2], v.shape[-2]), u.dtype)
    even, odd = half(p, 1), half(p, -1)
    even, odd = quotient(even, differences, (even,)), quotient(odd, sums, (odd,))
    turned = []
    for full, x, image, product, turn in (
        (full_u, u, along, p, add(even, odd)),
        (full_v, v, across, adjoint(p), subtract(even, odd)),
    ):
        tx = matmul(x, turn)
        if x.shape[-2] > k:
            rest = subtract(image, matmul(x, product))
            tx = add(tx, quotient(rest, values, (rest,)))
        if full.shape[-1] > k:
            others = rest_of(full, k)
            back = negative(matmul(x, matmul(adjoint(tx), others)))
            tx = concat(tx, back, axis=-1)
        turned.append(tx)
    return turned[0], real(main_diagonal(p)), adjoint(turned[1])


def _svdvals_sizes(known: dict[str, int], hermitian: bool) -> dict[str, int]:
    return {"k": min(known["m"], known["n"])}


@decomposition("(m,n)->(k)", results=("real",), sizes=_svdvals_sizes)
def svdvals(a, *, hermitian):
    """Return singular values in descending order."""
    return np.linalg.svd(a, compute_uv=False, hermitian=hermitian)


svdvals.reads(lambda needs: (True, False))


@svdvals.pullback
def svdvals_pullback(context, gs):
    return from_singular_values(context, gs, context.static["hermitian"])


def from_singular_values(context: Any, gs: Any, hermitian: bool = False) -> Any:
    """Return the cotangent of the first input that belongs to one of its singular values."""
    static = paired_with(context, gs) | {"full_matrices": False, "hermitian": hermitian}
    u, _, vh = svd(context.input(0), **static)
    ga = matmul(multiply(u, as_row(cast(gs, u.dtype))), vh)
    return half(ga, 1) if hermitian else ga
