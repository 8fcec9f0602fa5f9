"""Eigenvalues and singular values with their vectors.

The derivative of vectors has the differences of values as denominators. Where two values are equal
to rounding, their vectors can be any basis of a space, and functions of them have a derivative only
if they do not depend on the choice. `_quotient` says what is made of such a pair.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._declare import HostOperator, door
from .cast import cast
from .comparison import equal, less_equal, logical_and, logical_or
from .complex_parts import conj, real
from .elementwise import absolute, add, multiply, negative, reciprocal, subtract, where
from .factorization import lu_factor, lu_solve
from .indexing import diagonal, index
from .joining import concat
from .matmul import adjoint, matmul
from .reduction import sum as sum_
from .selection import maximum
from .shape import expand_dims


class Decomposition(HostOperator):
    """A factorization of matrices; its pullback gets ``None`` for factors that nobody uses."""

    _pushforward: Any = None

    def differentiate(
        self, backward_pass: Any, context: Any, cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        gradients = self._pullback(context, *cotangents)  # type: ignore[misc]
        return gradients if isinstance(gradients, tuple) else (gradients,)

    def tangent(
        self, forward_pass: Any, context: Any, tangents: Sequence[Any]
    ) -> Sequence[Any] | None:
        return None if self._pushforward is None else self._pushforward(context, *tangents)

    def pushforward(self, function: Any) -> Any:
        """Declare what becomes of tangents, for a pullback that is not linear where it refuses."""
        self._pushforward = function
        return function


def decomposition(signature: str, **options: Any) -> Any:
    """Declare a factorization from a function of whole arrays; see `HostOperator`."""
    return lambda function: Decomposition(function, signature, **options)


def reads_outputs(count: int) -> Any:
    """Return what declares that a derivative reads one input not, and all outputs."""
    return lambda needs: (False, *(True,) * count)


# Pairs of values ----------------------------------------------------------------------------------


def _row(x: Any) -> Any:
    return expand_dims(x, axes=(-2,))


def _column(x: Any) -> Any:
    return expand_dims(x, axes=(-1,))


def _first(x: Any, count: int) -> Any:
    """Return the first vectors, columns of ``x``, all without a copy if there are no more."""
    return x if x.shape[-1] == count else index(x, key=((0, count, None),))


def _rest(x: Any, count: int) -> Any:
    return index(x, key=((count, None, None),))


def _half(x: Any, sign: int) -> Any:
    """Return the Hermitian part of matrices, or for the sign -1 the skew-Hermitian part."""
    other = adjoint(x)
    return multiply(add(x, other) if sign > 0 else subtract(x, other), _number(0.5, x.dtype))


def _number(value: float, dtype: np.dtype) -> Any:
    return door.constant(np.array(value, dtype))


def _onto_diagonal(x: Any, dtype: np.dtype) -> Any:
    """Return diagonal matrices, of another dtype perhaps."""
    eye = np.eye(x.shape[-1], dtype=dtype)
    return multiply(_row(cast(x, dtype)), door.constant(eye))


def _main(x: Any) -> Any:
    return diagonal(x, axes=(-2, -1), offset=0)


def _rounding(values: Any, size: int) -> Any:
    """Return how far equal values may be apart; the values are in order, and may be none."""
    ends = index(values, key=((0, 1, None),)), index(values, key=((-1, None, None),))
    largest = maximum(absolute(ends[0]), absolute(ends[1]))
    return multiply(largest, _number(size * np.finfo(values.dtype).eps, values.dtype))


class Gaps(NamedTuple):
    """Denominators, up to which size they are rounding, and where the quotient counts as 0 then."""

    values: Any
    limit: Any
    still: np.ndarray


def _quotient(x: Any, gaps: Gaps, parts: Sequence[Any], alone: bool = False) -> Any:
    """Return ``x`` divided by gaps that are more than rounding.

    Elsewhere it is 0 where nothing depends on the pair, and else NaN: for a function of values and
    vectors, such as a function of a matrix, the limit of the quotient is in neither cotangent.

    Parameters
    ----------
    x : value
        Made of ``parts``. A function of vectors alone, which does not depend on their choice, has 0
        here up to rounding.
    alone : bool
        Whether the vectors are used, but not the values.
    """
    close = less_equal(absolute(gaps.values), gaps.limit)
    zero, nan = _number(0.0, x.dtype), _number(np.nan, x.dtype)
    inverse = reciprocal(where(close, _number(1.0, gaps.values.dtype), gaps.values))
    if alone:
        size = sum_(absolute(parts[0]), axes=(-2, -1))
        for part in parts[1:]:
            size = add(size, sum_(absolute(part), axes=(-2, -1)))
        bound = multiply(size, _number(np.sqrt(np.finfo(size.dtype).eps), size.dtype))
        quiet = less_equal(absolute(x), _column(_column(bound)))
    else:
        quiet = equal(parts[0], zero)
        for part in parts[1:]:
            quiet = logical_and(quiet, equal(part, zero))
    quiet = logical_or(quiet, door.constant(gaps.still))
    return where(close, where(quiet, zero, nan), multiply(x, cast(inverse, x.dtype)))


# Hermitian matrices -------------------------------------------------------------------------------


@decomposition("(n,n)->(n),(n,n)", results=("real", None))
def eigh(a, *, UPLO):
    """Return eigenvalues in ascending order and eigenvectors; one triangle is read."""
    return np.linalg.eigh(a, UPLO)


eigh.reads(reads_outputs(2))


def _eigh_gaps(w: Any) -> Gaps:
    limit = _rounding(w, w.shape[-1])
    return Gaps(subtract(_row(w), _column(w)), _column(limit), _eye(w.shape[-1]))


def _eye(n: int) -> np.ndarray:
    return np.eye(n, dtype=bool)


@eigh.pullback
def eigh_pullback(context, gw, gv):
    w, v = context.output(0), context.output(1)
    if gv is None:
        return _similar(v, gw)
    m = matmul(adjoint(v), gv)
    inner = _quotient(_half(m, -1), _eigh_gaps(w), (m, adjoint(m)), gw is None)
    if gw is not None:
        inner = add(inner, _onto_diagonal(gw, v.dtype))
    return matmul(matmul(v, inner), adjoint(v))


def _similar(v: Any, w: Any) -> Any:
    """Return the matrix with these eigenvectors, which are orthonormal, and eigenvalues."""
    return matmul(multiply(v, _row(cast(w, v.dtype))), adjoint(v))


@eigh.pushforward
def eigh_pushforward(context, ta):
    w, v = context.output(0), context.output(1)
    p = matmul(matmul(adjoint(v), _half(ta, 1)), v)
    return real(_main(p)), matmul(v, _quotient(p, _eigh_gaps(w), (p,)))


@decomposition("(n,n)->(n)", results=("real",))
def eigvalsh(a, *, UPLO):
    """Return eigenvalues in ascending order; one triangle is read."""
    return np.linalg.eigvalsh(a, UPLO)


@eigvalsh.reads
def eigvalsh_reads(needs):
    return True, False


@eigvalsh.pullback
def eigvalsh_pullback(context, gw):
    _, v = eigh(context.input(0), **context.static)
    return _similar(v, gw)


# Singular values ----------------------------------------------------------------------------------


def _svd_sizes(known: dict[str, int], full_matrices: bool, hermitian: bool) -> dict[str, int]:
    m, n = known["m"], known["n"]
    k = min(m, n)
    return {"k": k, "p": m if full_matrices else k, "q": n if full_matrices else k}


@decomposition("(m,n)->(m,p),(k),(q,n)", results=(None, "real", None), sizes=_svd_sizes)
def svd(a, *, full_matrices, hermitian):
    """Return left singular vectors, singular values in descending order, right ones as rows."""
    return np.linalg.svd(a, full_matrices, hermitian=hermitian)


svd.reads(reads_outputs(3))


def folded(x: Any, gx: Any, count: int) -> tuple[Any, Any]:
    """Return the first orthonormal columns of a square matrix, and the cotangent of these to which
    that of all columns comes: the others are a basis of what is left, and turn with it."""
    first, own = _first(x, count), _first(gx, count)
    if x.shape[-1] == count:
        return first, own
    others, theirs = _rest(x, count), _rest(gx, count)
    return first, subtract(own, matmul(others, matmul(adjoint(theirs), first)))


def _svd_gaps(s: Any, size: int, dtype: np.dtype) -> tuple[Gaps, Gaps, Gaps]:
    """Return differences and sums of singular values, and these."""
    k, limit = s.shape[-1], _column(_rounding(s, size))
    nowhere = np.zeros((k, k), bool)
    return (
        Gaps(subtract(_row(s), _column(s)), limit, _eye(k)),
        Gaps(add(_row(s), _column(s)), limit, nowhere if dtype.kind == "c" else _eye(k)),
        Gaps(_row(s), limit, nowhere[:1]),
    )


@svd.pullback
def svd_pullback(context, gu, gs, gvh):
    u, s, vh = (context.output(n) for n in range(3))
    k, v, gv = s.shape[-1], adjoint(vh), None if gvh is None else adjoint(gvh)
    gaps = _svd_gaps(s, max(u.shape[-2], v.shape[-2]), u.dtype)
    alone = gs is None
    inner, parts = None if alone else _onto_diagonal(gs, u.dtype), []
    sides = []
    for x, gx in ((u, gu), (v, gv)):
        if gx is None:
            sides.append((_first(x, k), None, None))
            continue
        x, gx = folded(x, gx, k)
        m = matmul(adjoint(x), gx)
        parts += [m, adjoint(m)]
        outside = None
        if x.shape[-2] > k:
            outside = _quotient(subtract(gx, matmul(x, m)), gaps[2], (gx,), alone)
        sides.append((x, _half(m, -1), outside))
    (u, x, left), (v, y, right) = sides
    if parts:
        plus = x if y is None else y if x is None else add(x, y)
        minus = x if y is None else negative(y) if x is None else subtract(x, y)
        for part, gap in ((plus, gaps[0]), (minus, gaps[1])):
            turn = _quotient(part, gap, parts, alone)
            inner = turn if inner is None else add(inner, turn)
    total = matmul(u, inner)
    total = matmul(total if left is None else add(total, left), adjoint(v))
    total = total if right is None else add(total, matmul(u, adjoint(right)))
    return _half(total, 1) if context.static["hermitian"] else total


@svd.pushforward
def svd_pushforward(context, ta):
    full_u, s, full_vh = (context.output(n) for n in range(3))
    k, full_v = s.shape[-1], adjoint(full_vh)
    u, v = _first(full_u, k), _first(full_v, k)
    ta = _half(ta, 1) if context.static["hermitian"] else ta
    along, across = matmul(ta, v), matmul(adjoint(ta), u)
    p = matmul(adjoint(u), along)
    differences, sums, values = _svd_gaps(s, max(u.shape[-2], v.shape[-2]), u.dtype)
    even, odd = _half(p, 1), _half(p, -1)
    even, odd = _quotient(even, differences, (even,)), _quotient(odd, sums, (odd,))
    turned = []
    for full, x, image, product, turn in (
        (full_u, u, along, p, add(even, odd)),
        (full_v, v, across, adjoint(p), subtract(even, odd)),
    ):
        tx = matmul(x, turn)
        if x.shape[-2] > k:
            rest = subtract(image, matmul(x, product))
            tx = add(tx, _quotient(rest, values, (rest,)))
        if full.shape[-1] > k:
            others = _rest(full, k)
            back = negative(matmul(x, matmul(adjoint(tx), others)))
            tx = concat(tx, back, axis=-1)
        turned.append(tx)
    return turned[0], real(_main(p)), adjoint(turned[1])


def _svdvals_sizes(known: dict[str, int], hermitian: bool) -> dict[str, int]:
    return {"k": min(known["m"], known["n"])}


@decomposition("(m,n)->(k)", results=("real",), sizes=_svdvals_sizes)
def svdvals(a, *, hermitian):
    """Return singular values in descending order."""
    return np.linalg.svd(a, compute_uv=False, hermitian=hermitian)


@svdvals.reads
def svdvals_reads(needs):
    return True, False


@svdvals.pullback
def svdvals_pullback(context, gs):
    return from_singular_values(context.input(0), gs, **context.static)


def from_singular_values(a: Any, gs: Any, **static: Any) -> Any:
    """Return the cotangent of matrices that belongs to one of their singular values."""
    u, _, vh = svd(a, full_matrices=False, **static)
    ga = matmul(multiply(u, _row(cast(gs, u.dtype))), vh)
    return _half(ga, 1) if static["hermitian"] else ga


# General matrices ---------------------------------------------------------------------------------


@decomposition("(n,n)->(n),(n,n)", results=("complex", "complex"))
def eig(a):
    """Return eigenvalues and eigenvectors of length 1, complex ones of any matrix."""
    return np.linalg.eig(a)


eig.reads(reads_outputs(2))


def _eig_gaps(w: Any) -> Gaps:
    sizes = absolute(w)
    total = _column(_column(sum_(sizes, axes=(-1,))))
    limit = multiply(total, _number(np.finfo(sizes.dtype).eps, sizes.dtype))
    return Gaps(subtract(_row(w), _column(w)), limit, _eye(w.shape[-1]))


@eig.pullback
def eig_pullback(context, gw, gv):
    w, v = context.output(0), context.output(1)
    if gv is None:
        inner = _onto_diagonal(gw, v.dtype)
    else:
        m = matmul(adjoint(v), gv)
        turn = subtract(m, multiply(matmul(adjoint(v), v), _row(_main(m))))
        inner = _quotient(turn, _eig_gaps(conj(w)), (m, adjoint(m)), gw is None)
        if gw is not None:
            inner = add(inner, _onto_diagonal(gw, v.dtype))
    ga = _divided(v, matmul(inner, adjoint(v)), True, context)
    return real(ga) if context.input_specs[0].dtype.kind != "c" else ga


def _divided(v: Any, x: Any, transposed: bool, context: Any) -> Any:
    """Divide by eigenvectors from the left: they are singular where some are missing."""
    caller = context.static.get("caller", "eig")
    return lu_solve(v, *lu_factor(v), x, adjoint=transposed, caller=caller)


@eig.pushforward
def eig_pushforward(context, ta):
    w, v = context.output(0), context.output(1)
    p = _divided(v, matmul(cast(ta, v.dtype), v), False, context)
    turn = matmul(v, _quotient(p, _eig_gaps(w), (p,)))
    along = sum_(multiply(conj(v), turn), axes=(-2,))
    return _main(p), subtract(turn, multiply(v, _row(along)))
