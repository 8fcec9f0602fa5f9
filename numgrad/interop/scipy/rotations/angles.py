"""Rotations about the axes of coordinates, or other orthogonal axes, one after the other."""

import itertools
import re
import warnings
from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....functions.elementwise.powers import hypot
from ....functions.elementwise.trigonometric import atan2
from ....functions.linalg.norms import norm
from ....functions.shape.joining import stack
from ....functions.shape.selection import where
from ..interpolate.data import known, real
from .quaternions import of_vector, product, rows_of

_LOCKED = 1e-7
"""Angles between the outer axes that are closer to 0 or pi leave the sum of the others alone."""


def axes_of(sequence: str, count: tuple[int, ...] = (1, 2, 3)) -> tuple[list[int], bool]:
    """Return the numbers of the axes that a sequence names, and whether they turn with the body.

    Raises
    ------
    ValueError
        If it is no such sequence, or names one axis twice in a row.
    """
    is_intrinsic = re.fullmatch("[XYZ]+", sequence) is not None
    is_known = is_intrinsic or re.fullmatch("[xyz]+", sequence) is not None
    if not is_known or len(sequence) not in count:
        raise ValueError(
            f"Rotation: the axes must be {' or '.join(map(str, count))} of 'xyz', or of 'XYZ' for "
            f"axes that turn with the body, got {sequence!r}"
        )
    axes = ["xyz".index(axis) for axis in sequence.lower()]
    if any(a == b for a, b in itertools.pairwise(axes)):
        raise ValueError(f"Rotation: consecutive axes must be different, got {sequence!r}")
    return axes, is_intrinsic


def radians(angles: Any, degrees: bool) -> Tensor:
    """Return angles as a tensor, in radians."""
    angles = real(angles, "Rotation", "angles")
    return angles * (np.pi / 180.0) if degrees else angles


def turned(axes: Any, angles: Tensor, is_intrinsic: bool) -> Tensor:
    """Return the quaternions of rotations by angles about axes, one after the other.

    Parameters
    ----------
    axes : array_like, shape (..., n, 3)
        Unit vectors.
    angles : Tensor, shape (..., n)
    """
    if angles.ndim == 0:
        angles = angles.reshape(1)
    if angles.shape[-1] != axes.shape[-2]:
        raise ValueError(
            f"Rotation: {axes.shape[-2]} axes take angles of shape (..., {axes.shape[-2]}), got "
            f"{angles.shape}"
        )
    steps = [of_vector(angles[..., n, None] * axes[..., n, :]) for n in range(angles.shape[-1])]
    found = steps[0]
    for step in steps[1:]:
        found = product(found, step) if is_intrinsic else product(step, found)
    return found


def of_euler(sequence: str, angles: Any, degrees: bool) -> Tensor:
    """Return the quaternions of rotations about axes of coordinates."""
    axes, is_intrinsic = axes_of(sequence)
    return turned(np.eye(3)[axes], radians(angles, degrees), is_intrinsic)


def of_davenport(axes: Any, order: str, angles: Any, degrees: bool) -> Tensor:
    """Return the quaternions of rotations about given axes."""
    if order not in ("e", "extrinsic", "i", "intrinsic"):
        raise ValueError(
            f"Rotation.from_davenport: order must be 'extrinsic' or 'intrinsic', got {order!r}"
        )
    axes = rows_of(axes, "axes", 3)
    axes = axes[None] if axes.ndim == 1 else axes
    axes = axes / norm(axes, axis=-1, keepdims=True)
    products = known((axes[..., 1:, :] * axes[..., :-1, :]).sum(axis=-1))
    if axes.shape[-2] > 3 or (products is not None and (abs(products) > 1e-7).any()):
        raise ValueError(
            "Rotation.from_davenport: there must be at most 3 axes, consecutive ones orthogonal"
        )
    return turned(axes, radians(angles, degrees), order[0] == "i")


def euler_of(q: Tensor, sequence: str, degrees: bool, suppress_warnings: bool) -> Tensor:
    """Return the angles about three axes of coordinates: Bernardes and Viollet (2022)."""
    (i, j, k), is_intrinsic = axes_of(sequence, (3,))
    if is_intrinsic:
        i, k = k, i
    is_symmetric = i == k
    k = 3 - i - j if is_symmetric else k
    sign = (i - j) * (j - k) * (k - i) // 2
    w, x, y, z = q[..., 3], q[..., i], q[..., j], sign * q[..., k]
    halves = (w, x, y, z) if is_symmetric else (w - y, x + z, y + w, z - x)
    first, middle, last = _from_halves(*halves, is_intrinsic, suppress_warnings)
    if not is_symmetric:
        middle = middle - np.pi / 2.0
        first, last = (sign * first, last) if is_intrinsic else (first, sign * last)
    found = stack([first, middle, last], axis=-1)
    turns = where(found.detach() > np.pi, 1.0, where(found.detach() < -np.pi, -1.0, 0.0))
    found = found - 2.0 * np.pi * turns
    return found * (180.0 / np.pi) if degrees else found


def _from_halves(
    a: Tensor, b: Tensor, c: Tensor, d: Tensor, is_intrinsic: bool, is_quiet: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the three angles; where the outer axes are parallel, the last one is 0."""
    half_sum, half_difference = atan2(b, a), atan2(d, c)
    middle = 2.0 * atan2(hypot(c, d), hypot(a, b))
    at = middle.detach()
    is_zero = abs(at) <= _LOCKED
    is_locked = is_zero | (abs(at - np.pi) <= _LOCKED)
    values = known(is_locked)
    if values is not None and values.any() and not is_quiet:
        warnings.warn(
            "Rotation.as_euler: the first and the last axis are parallel (gimbal lock), so that "
            "only the sum of their angles is known; the last angle is set to 0",
            stacklevel=4,
        )
    sign = 1.0 if is_intrinsic else -1.0
    whole = where(is_zero, 2.0 * half_sum, 2.0 * sign * half_difference)
    first = where(is_locked, whole, half_sum + sign * half_difference)
    return first, middle, where(is_locked, 0.0, half_sum - sign * half_difference)
