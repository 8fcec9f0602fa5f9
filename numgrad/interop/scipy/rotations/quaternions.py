"""Unit quaternions, whose last axis has the scalar at its end, as rotations.

Derivatives exist at the identity, too: functions of an angle that are even are computed from its
square, by their power series where it is small.
"""

import math
from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....functions.elementwise.comparison import less
from ....functions.elementwise.powers import sqrt
from ....functions.elementwise.trigonometric import atan2, cos, sin
from ....functions.products.cross import cross
from ....functions.shape.joining import concat, stack
from ....functions.shape.rearranging import roll
from ....functions.shape.selection import where
from ..interpolate.data import known, real

IDENTITY = np.array([0.0, 0.0, 0.0, 1.0])
_CONJUGATE = np.array([-1.0, -1.0, -1.0, 1.0])
_SINE = [(-1) ** k / (2 * math.factorial(2 * k + 1)) for k in range(9)]
_COSINE = [(-1) ** k / math.factorial(2 * k) for k in range(9)]
_ARCTANGENT = [(-1) ** k / (2 * k + 1) for k in range(13)]
_SMALL = 0.04
"""Up to here the series of the arctangent, of squares of tangents, has all digits."""


def rows_of(x: Any, name: str, size: int, ndim: int = 1) -> Tensor:
    """Return an array as a tensor, whose last axis must have a size."""
    x = real(x, "Rotation", name)
    if x.ndim < ndim or x.shape[-1] != size:
        raise ValueError(f"Rotation: {name} must have shape (..., {size}), got {x.shape}")
    return x


def normalized(q: Tensor) -> Tensor:
    """Return quaternions of length one."""
    squares = (q * q).sum(axis=-1, keepdims=True)
    values = known(squares)
    if values is not None and (values == 0).any():
        raise ValueError("Rotation: a quaternion of length 0 is no rotation")
    return q / sqrt(squares)


def canonical(q: Tensor) -> Tensor:
    """Return, of each quaternion and its negative, which are one rotation, the one whose last
    element that is not 0 is positive; of the vector part it is the first such element."""
    x, y, z, w = (q[..., k].detach() for k in range(4))
    is_turned = (w < 0) | (
        (w == 0) & ((x < 0) | ((x == 0) & ((y < 0) | ((y == 0) & less(z, 0)))))
    )  # fmt: skip
    return where(is_turned[..., None], -q, q)


def conjugate(q: Tensor) -> Tensor:
    """Return the quaternions of the inverse rotations."""
    return q * _CONJUGATE


def product(p: Tensor, q: Tensor) -> Tensor:
    """Return the quaternions of rotations by ``q`` and then by ``p``."""
    v, u, a, b = p[..., :3], q[..., :3], p[..., 3:], q[..., 3:]
    scalar = a * b - (v * u).sum(axis=-1, keepdims=True)
    return concat([a * u + b * v + cross(v, u), scalar], axis=-1)


def rotated(q: Tensor, x: Tensor) -> Tensor:
    """Return vectors that are rotated: ``x + 2 w (v x x) + 2 v x (v x x)``."""
    v, w = q[..., :3], q[..., 3:]
    twice = 2.0 * cross(v, x)
    return x + w * twice + cross(v, twice)


def matrix_of(q: Tensor) -> Tensor:
    """Return the matrices of rotations."""
    x, y, z, w = (q[..., k] for k in range(4))
    rows = [
        [x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), -x * x + y * y - z * z + w * w, 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), -x * x - y * y + z * z + w * w],
    ]
    return stack([stack(row, axis=-1) for row in rows], axis=-2)


def of_matrix(m: Tensor) -> Tensor:
    """Return the quaternions of orthogonal matrices, divided by the greatest of their elements:
    Markley (2008)."""
    of = [[m[..., i, j] for j in range(3)] for i in range(3)]
    trace = of[0][0] + of[1][1] + of[2][2]
    greatest = stack([of[0][0], of[1][1], of[2][2], trace], axis=-1).detach().argmax(axis=-1)
    scalars = [of[k][j] - of[j][k] for j, k in ((1, 2), (2, 0), (0, 1))]
    rows = [[of[i][j] + of[j][i] for j in range(3)] for i in range(3)]
    found = stack([*scalars, 1.0 + trace], axis=-1)
    for i in range(3):
        rows[i][i] = 1.0 - trace + 2.0 * of[i][i]
        row = stack([*rows[i], scalars[i]], axis=-1)
        found = where((greatest == i)[..., None], row, found)
    return normalized(found)


def of_vector(v: Tensor) -> Tensor:
    """Return the quaternions of rotations about vectors, by angles that are their lengths."""
    squares = (v * v).sum(axis=-1, keepdims=True)
    is_small = squares.detach() < 1.0
    near, angle = where(is_small, squares, 0.0) / 4.0, sqrt(where(is_small, 1.0, squares))
    sine = where(is_small, _series(_SINE, near), sin(angle / 2.0) / angle)
    return concat([sine * v, where(is_small, _series(_COSINE, near), cos(angle / 2.0))], axis=-1)


def vector_of(q: Tensor) -> Tensor:
    """Return vectors in the direction of the axes, whose lengths are the angles, at most pi."""
    q = canonical(q)
    v, w = q[..., :3], q[..., 3:]
    squares = (v * v).sum(axis=-1, keepdims=True)
    is_small = (squares < _SMALL * w * w).detach()
    cosine, length = where(is_small, w, 1.0), sqrt(where(is_small, 1.0, squares))
    near = where(is_small, squares, 0.0) / (cosine * cosine)
    small = _series(_ARCTANGENT, near) / cosine
    return 2.0 * where(is_small, small, atan2(length, w) / length) * v


def of_mrp(p: Tensor) -> Tensor:
    """Return the quaternions of modified Rodrigues parameters, tangents of a quarter of the
    angles along the axes."""
    squares = (p * p).sum(axis=-1, keepdims=True)
    return concat([2.0 * p, 1.0 - squares], axis=-1) / (1.0 + squares)


def mrp_of(q: Tensor) -> Tensor:
    """Return the modified Rodrigues parameters of rotations by at most pi."""
    q = where(q[..., 3:].detach() < 0, -q, q)
    return q[..., :3] / (1.0 + q[..., 3:])


def scalar_first(q: Tensor) -> Tensor:
    """Return quaternions with their scalars in front."""
    return roll(q, 1, axis=-1)


def scalar_last(q: Tensor) -> Tensor:
    """Return quaternions with their scalars in front with these at the end."""
    return roll(q, -1, axis=-1)


def _series(coefficients: list[float], x: Tensor) -> Tensor:
    """Return the value of a polynomial, by Horner's scheme."""
    found = coefficients[-1] * x
    for c in coefficients[-2:0:-1]:
        found = (found + c) * x
    return found + coefficients[0]
