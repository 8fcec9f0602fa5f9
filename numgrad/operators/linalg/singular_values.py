"""Singular values and singular vectors.

The operators for first derivatives are as in `spectral`.
"""

from typing import Any

import numpy as np

from ..elementwise.arithmetic import absolute, add, multiply, negative, subtract
from ..elementwise.cast import cast
from ..elementwise.complex_parts import conj, real
from ..reduction.reductions import sum as sum_
from ..shape.joining import concat
from .eigen_gaps import (
    Gaps,
    alone,
    as_column,
    as_row,
    decomposition,
    differences,
    eye,
    first_of,
    half,
    main_diagonal,
    motion,
    number,
    onto_diagonal,
    paired_with,
    quotient,
    rest_of,
    rounding,
    slopes_between,
    slopes_of_values,
    turning,
)
from .matmul import adjoint, matmul


def _svd_sizes(
    known: dict[str, int], full_matrices: bool, hermitian: bool, paired: bool = False
) -> dict[str, int]:
    m, n = known["m"], known["n"]
    k = min(m, n)
    return {"k": k, "p": m if full_matrices else k, "q": n if full_matrices else k}


@decomposition("(m,n)->(m,p),(k),(q,n)", results=(None, "real", None), sizes=_svd_sizes, values=1)
def svd(a, *, full_matrices, hermitian, paired=False):
    """Return left singular vectors, singular values in descending order, and right vectors as rows.

    The option ``paired`` is as in `eigh`.
    """
    return np.linalg.svd(a, full_matrices, hermitian=hermitian)


svd.reads(lambda needs: (True, True, True, True))


def folded(x: Any, gx: Any, count: int) -> tuple[Any, Any]:
    """Return the first ``count`` columns of an orthonormal matrix ``x``, and their cotangent.

    The other columns are a basis of what is orthogonal to the first ones, so they turn with these.
    The cotangent therefore contains what the other columns contribute; ``gx`` is that of all
    columns.
    """
    first, own = first_of(x, count), first_of(gx, count)
    if x.shape[-1] == count:
        return first, own
    others, theirs = rest_of(x, count), rest_of(gx, count)
    return first, subtract(own, matmul(others, matmul(adjoint(theirs), first)))


def _svd_gaps(s: Any, size: int, dtype: np.dtype) -> tuple[Gaps, Gaps, Gaps]:
    """Return the three denominators in derivatives of singular vectors.

    They are the differences of two singular values, the sums of two, and the singular values.
    """
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
    if gu is None and gvh is None:
        return _from_singular_values(context, u, s, vh, gs)
    k, v, gv = s.shape[-1], adjoint(vh), None if gvh is None else adjoint(gvh)
    gaps = _svd_gaps(s, max(u.shape[-2], v.shape[-2]), u.dtype)
    by_themselves, recorded = alone(context, gs), context.create_graph
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
            outside = quotient(subtract(gx, matmul(x, m)), gaps[2], (gx,), by_themselves, recorded)
        sides.append((x, half(m, -1), outside))
    (u, x, left), (v, y, right) = sides
    if parts:
        plus = x if y is None else y if x is None else add(x, y)
        minus = x if y is None else negative(y) if x is None else subtract(x, y)
        for part, gap in ((plus, gaps[0]), (minus, gaps[1])):
            turn = quotient(part, gap, parts, by_themselves, recorded)
            inner = turn if inner is None else add(inner, turn)
    total = matmul(u, inner)
    total = matmul(total if left is None else add(total, left), adjoint(v))
    total = total if right is None else add(total, matmul(u, adjoint(right)))
    return half(total, 1) if context.static["hermitian"] else total


@svd.pushforward
def svd_pushforward(context, ta):
    full_u, s, full_vh = (context.output(n) for n in range(3))
    k, full_v, hermitian = s.shape[-1], adjoint(full_vh), context.static["hermitian"]
    u, v = first_of(full_u, k), first_of(full_v, k)

    def divided(x: Any, gaps: Gaps) -> Any:
        return quotient(x, gaps, (x,), recorded=context.create_graph)

    p, *both = _moved_vectors(u, s, v, half(ta, 1) if hermitian else ta, divided)
    turned = []
    for full, x, tx in ((full_u, u, both[0]), (full_v, v, both[1])):
        if full.shape[-1] > k:
            others = rest_of(full, k)
            back = negative(matmul(x, matmul(adjoint(tx), others)))
            tx = concat(tx, back, axis=-1)
        turned.append(tx)
    slopes = _slopes(context, u, s, v, ta, real(main_diagonal(p)), hermitian)
    return turned[0], slopes, adjoint(turned[1])


def _moved_vectors(u: Any, s: Any, v: Any, change: Any, divided: Any) -> tuple[Any, Any, Any]:
    """Return a change of a matrix in the bases of its singular vectors, and the vectors' tangents.

    The function ``divided`` divides a numerator by gaps: `quotient` or `turning`.
    """
    along, across = matmul(change, v), matmul(adjoint(change), u)
    p = matmul(adjoint(u), along)
    apart, sums, values = _svd_gaps(s, max(u.shape[-2], v.shape[-2]), u.dtype)
    even, odd = divided(half(p, 1), apart), divided(half(p, -1), sums)
    turned = []
    for x, image, product, turn in (
        (u, along, p, add(even, odd)),
        (v, across, adjoint(p), subtract(even, odd)),
    ):
        tx = matmul(x, turn)
        if x.shape[-2] > s.shape[-1]:
            tx = add(tx, divided(subtract(image, matmul(x, product)), values))
        turned.append(tx)
    return p, turned[0], turned[1]


def _svdvals_sizes(known: dict[str, int], hermitian: bool) -> dict[str, int]:
    return {"k": min(known["m"], known["n"])}


@decomposition("(m,n)->(k)", results=("real",), sizes=_svdvals_sizes, values=0)
def svdvals(a, *, hermitian):
    """Return the singular values of matrices in descending order."""
    return np.linalg.svd(a, compute_uv=False, hermitian=hermitian)


svdvals.reads(lambda needs: (True, False))


@svdvals.pullback
def svdvals_pullback(context, gs):
    return from_singular_values(context, gs, context.static["hermitian"])


def from_singular_values(context: Any, gs: Any, hermitian: bool = False) -> Any:
    """Return the cotangent of an operator's first input, given that of its singular values."""
    own = {"full_matrices": False, "hermitian": hermitian}
    options = paired_with(context, gs)
    kept = {name: options[name] for name in ("caller", "paired") if name in options}
    u, s, vh = svd(context.input(0), **kept, **own)
    return _from_singular_values(context, u, s, vh, gs, hermitian)


def _from_singular_values(
    context: Any, u: Any, s: Any, vh: Any, gs: Any, hermitian: bool | None = None
) -> Any:
    """Return the gradient of a function of a matrix's singular values by the matrix.

    ``gs`` are the cotangents of the singular values.
    """
    hermitian = context.static["hermitian"] if hermitian is None else hermitian
    k = s.shape[-1]
    u, v = first_of(u, k), first_of(adjoint(vh), k)
    ga = _similar(u, v, gs)
    ga = half(ga, 1) if hermitian else ga
    if not context.create_graph:
        return ga
    moved = motion(context, gs)
    return gradient_of_sizes(context.input(0), u, s, v, gs, moved, ga, hermitian=hermitian)


def _similar(u: Any, v: Any, g: Any) -> Any:
    """Return the matrix with singular vectors in the columns of ``u`` and ``v``, and values ``g``.

    The values may have any sign.
    """
    return matmul(multiply(u, as_row(cast(g, u.dtype))), adjoint(v))


@decomposition("(m,n),(m,k),(k),(n,k),(k),(k),(m,n)->(m,n)")
def gradient_of_sizes(a, u, s, v, g, moved, ga, *, hermitian):
    """Return ``ga``, the gradient of a function of singular values by a matrix ``a``.

    The arguments and the derivative are as in `spectral.hermitian_gradient`.
    """
    return ga.copy()


gradient_of_sizes.reads(lambda needs: (True, True, True, True, True, True, False, False))


@gradient_of_sizes.pullback
def gradient_of_sizes_pullback(context, x):
    p, turned = _turned(context, x)
    u, s, v = (context.input(n) for n in (1, 2, 3))
    slopes = _slopes(context, u, s, v, x, real(main_diagonal(p)), context.static["hermitian"])
    return turned, None, None, None, slopes, None, None


@gradient_of_sizes.pushforward
def gradient_of_sizes_pushforward(context, ta, tu, ts, tv, tg, tmoved, tga):
    total = None if ta is None else _turned(context, ta)[1]
    if tg is not None:
        along = _similar(context.input(1), context.input(3), real(tg))
        along = half(along, 1) if context.static["hermitian"] else along
        total = along if total is None else add(total, along)
    return (total,)


def _turned(context: Any, x: Any) -> tuple[Any, Any]:
    u, s, v, g, moved = (context.input(n) for n in (1, 2, 3, 4, 5))
    return _turned_by(u, real(s), v, real(g), real(moved), x, context.static["hermitian"])


def _turned_by(
    u: Any, s: Any, v: Any, g: Any, moved: Any, x: Any, hermitian: bool
) -> tuple[Any, Any]:
    """Return two changes: of a matrix in the bases of its singular vectors, and of a gradient.

    The change of the matrix is ``x``. The gradient is that of a function of the singular values,
    and changes because singular vectors turn: into one another, and into vectors orthogonal to all
    of them. The cotangents ``g`` of the singular values stay fixed.
    """
    x = half(x, 1) if hermitian else x
    along, across = matmul(x, v), matmul(adjoint(x), u)
    p = matmul(adjoint(u), along)
    apart, sums, values = _svd_gaps(s, max(u.shape[-2], v.shape[-2]), u.dtype)
    total, none = sum_(absolute(g), axes=(-1,)), number(0.0, g.dtype)
    row, column = as_row(g), as_column(g)
    opposite = add(as_row(moved), as_column(moved))
    inner = add(
        slopes_between(half(p, 1), row, column, differences(moved), apart, total),
        slopes_between(half(p, -1), row, negative(column), opposite, sums, total),
    )
    turned = matmul(u, matmul(inner, adjoint(v)))

    def outside(one: Any, image: Any, product: Any) -> Any:
        rest = subtract(image, matmul(one, product))
        return slopes_between(rest, row, none, as_row(moved), values, total)

    if u.shape[-2] > s.shape[-1]:
        turned = add(turned, matmul(outside(u, along, p), adjoint(v)))
    if v.shape[-2] > s.shape[-1]:
        turned = add(turned, matmul(u, adjoint(outside(v, across, adjoint(p)))))
    return p, half(turned, 1) if hermitian else turned


def _slopes(
    context: Any, u: Any, s: Any, v: Any, change: Any, slopes: Any, hermitian: bool
) -> Any:
    """Return the slopes of singular values as a matrix changes by ``change``.

    The slopes are given; in a recorded pass they are passed through an operator that has the right
    derivative.
    """
    if not context.create_graph:
        return slopes
    return slopes_of_sizes(context.input(0), u, s, v, change, slopes, hermitian=hermitian)


@slopes_of_values("(m,n),(m,k),(k),(n,k),(m,n),(k)->(k)", results=("real",))
def slopes_of_sizes(a, u, s, v, change, slopes, *, hermitian):
    """Return ``slopes``, those of the singular values of a matrix ``a`` along a ``change``.

    The derivative is as in `spectral.hermitian_slopes`.
    """
    return slopes.real.copy()


slopes_of_sizes.reads(lambda needs: (True, True, True, True, True, False, False))


@slopes_of_sizes.pullback
def slopes_of_sizes_pullback(context, g, moved):
    u, s, v, change = (context.input(n) for n in (1, 2, 3, 4))
    s, hermitian = real(s), context.static["hermitian"]
    turned = _turned_by(u, s, v, g, moved, change, hermitian)[1]
    along = _from_singular_values(context, u, s, adjoint(v), g, hermitian)
    return turned, None, None, None, along, None


@slopes_of_sizes.pushforward
def slopes_of_sizes_pushforward(context, ta, tu, ts, tv, tchange, tslopes):
    u, s, v, change = (context.input(n) for n in (1, 2, 3, 4))
    s, hermitian, bent = real(s), context.static["hermitian"], None
    if ta is not None:
        ta, change = (half(ta, 1), half(change, 1)) if hermitian else (ta, change)
        _, left, right = _moved_vectors(u, s, v, ta, turning)
        both = (left, matmul(change, v)), (u, matmul(change, right))
        first, second = (real(sum_(multiply(conj(x), y), axes=(-2,))) for x, y in both)
        bent = add(first, second)
    if tchange is not None:
        p = matmul(adjoint(u), matmul(half(tchange, 1) if hermitian else tchange, v))
        slopes = _slopes(context, u, s, v, tchange, real(main_diagonal(p)), hermitian)
        bent = slopes if bent is None else add(bent, slopes)
    return (bent,)
