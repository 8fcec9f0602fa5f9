"""Rotations that fit best: to matrices that are not orthogonal, and to pairs of vectors."""

from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....functions.elementwise.powers import sqrt
from ....functions.elementwise.trigonometric import atan2
from ....functions.linalg.norms import norm
from ....functions.linalg.powers import polar
from ....functions.linalg.spectral import eigh
from ....functions.linalg.systems import det
from ....functions.products.cross import cross
from ....functions.shape.joining import concat, stack
from ..interpolate.data import known, real
from .quaternions import normalized, of_matrix, of_vector, product, rotated


def attitude(m: Tensor, assume_valid: bool) -> Tensor:
    """Return the quaternions of matrices, of the nearest orthogonal ones unless they are known to
    be orthogonal.

    Raises
    ------
    ValueError
        If a determinant is not positive.
    """
    if m.shape[-2:] != (3, 3):
        raise ValueError(f"Rotation: matrix must have shape (..., 3, 3), got {m.shape}")
    if assume_valid:
        return of_matrix(m)
    volumes = known(det(m.detach()))
    if volumes is not None and (volumes <= 0).any():
        raise ValueError("Rotation: a matrix whose determinant is not positive is no rotation")
    return of_matrix(polar(m)[0])


def greatest_vector(matrix: Tensor) -> Tensor:
    """Return the eigenvector of the greatest eigenvalue of a symmetric matrix."""
    return eigh(matrix)[1][..., -1]


def aligned(a: Any, b: Any, weights: Any) -> tuple[Tensor, Tensor]:
    """Return the quaternion of the rotation that takes vectors ``b`` nearest to ``a``, and the root
    of the weighted sum of squares of what is left.

    One pair of vectors, or one of infinite weight, is aligned first, by the least angle.
    """
    a, b = (real(x, "Rotation.align_vectors", name) for x, name in ((a, "a"), (b, "b")))
    a, b = (x[None] if x.ndim == 1 else x for x in (a, b))
    if a.ndim != 2 or a.shape[-1] != 3 or a.shape != b.shape:
        raise ValueError(
            f"Rotation.align_vectors: a and b must have one shape, (3,) or (n, 3), got {a.shape} "
            f"and {b.shape}"
        )
    w, first = _weights(weights, a.shape[0])
    q = _by_weights(a, b, w) if first is None else _from_first(a, b, w, first)
    if first is not None and a.shape[0] > 1:
        w = concat([w[:first], np.zeros(1), w[first + 1 :]])
    return q, norm(sqrt(w)[:, None] * (a - rotated(q, b)))


def _weights(weights: Any, count: int) -> tuple[Tensor, int | None]:
    """Return the weights, an infinite one replaced by 1, and the number of the pair that is aligned
    first."""
    given = real(np.ones(count) if weights is None else weights, "align_vectors", "weights")
    values = known(given)
    if given.shape != (count,) or (values is not None and (values < 0).any()):
        raise ValueError(
            f"Rotation.align_vectors: weights must be {count} numbers of at least 0, got shape "
            f"{given.shape}"
        )
    infinite = [] if values is None else np.flatnonzero(np.isinf(values)).tolist()
    if len(infinite) > 1:
        raise ValueError("Rotation.align_vectors: only one weight may be infinite")
    if not infinite:
        return given, 0 if count == 1 else None
    n = infinite[0]
    return concat([given[:n], np.ones(1), given[n + 1 :]]), n


def _by_weights(a: Tensor, b: Tensor, w: Tensor) -> Tensor:
    """Return the quaternion that maximizes the quadratic form of Davenport's q method."""
    moment = (w[:, None] * a).mT @ b
    trace = moment[0, 0] + moment[1, 1] + moment[2, 2]
    axis = stack([moment[k, j] - moment[j, k] for j, k in ((1, 2), (2, 0), (0, 1))])
    block = moment + moment.mT - trace * np.eye(3)
    rows = concat([block, axis[:, None]], axis=1)
    return greatest_vector(concat([rows, concat([axis, trace[None]])[None]], axis=0))


def _from_first(a: Tensor, b: Tensor, w: Tensor, first: int) -> Tensor:
    """Return the quaternion that aligns one pair of vectors, and then the others as far as a
    rotation about the first vector does."""
    axis, other = (x[first] / norm(x[first]) for x in (a, b))
    q = _least_turn(other, axis)
    if a.shape[0] == 1:
        return q
    rest = [n for n in range(a.shape[0]) if n != first]
    a, w, turned = a[rest], w[rest], rotated(q, b[rest])
    sine = (w * (cross(turned, a) * axis).sum(axis=-1)).sum()
    cosine = (w * ((turned * a).sum(axis=-1) - (turned @ axis) * (a @ axis))).sum()
    return product(of_vector(atan2(sine, cosine) * axis), q)


def _least_turn(start: Tensor, end: Tensor) -> Tensor:
    """Return the quaternion of the rotation of one unit vector to another by the least angle."""
    cosine = (start * end).sum()
    values, product_of = known(end), known(cosine)
    is_opposite = product_of is not None and product_of < -1.0 + 1e-14
    if values is not None and is_opposite:  # any axis does
        axis = np.cross(values, np.eye(3)[np.abs(values).argmin()])
        return normalized(concat([axis + 0.0 * end, cosine[None] + 1.0]))
    return normalized(concat([cross(start, end), 1.0 + cosine[None]]))
