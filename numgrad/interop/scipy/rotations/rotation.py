"""Rotations in three dimensions with derivatives."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....func.registered_pytrees import register_pytree
from ....functions.array.operands import as_tensor
from ....functions.elementwise.trigonometric import atan2
from ....functions.linalg.norms import norm
from ....functions.shape.joining import concat
from ..interpolate.data import known, real
from . import angles as _angles
from . import quaternions as _quaternions
from .alignment import aligned, attitude, greatest_vector


class Rotation:
    """One rotation in three dimensions, or an array of rotations, with derivatives.

    Its methods and functions are those of `scipy.spatial.transform.Rotation`, with the same
    conventions, and results that are tensors. An object of SciPy's is taken in place of one of
    these. It is made by a function ``from_...``, or by SciPy's class where that gets a tensor.
    Transformed and captured functions take it and return it.

    Notes
    -----
    The rotation about no axis has derivatives of all orders: `from_rotvec` of zeros, and
    `as_rotvec` of the identity, are as smooth as the functions are. `magnitude` has a kink there.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> Rotation = ng.interop.scipy.Rotation
    >>> def height(v):
    ...     return Rotation.from_rotvec(v).apply([1.0, 0.0, 0.0])[2]
    >>> ng.func.grad(height)(np.zeros(3))
    array([ 0., -1.,  0.])
    """

    __slots__ = ("_given",)
    stands_for_scipys = True

    def __init__(
        self, quat: Any, normalize: bool = True, copy: bool = True, scalar_first: bool = False
    ) -> None:
        q = _quaternions.rows_of(quat, "quat", 4)
        if scalar_first:
            q = _quaternions.scalar_last(q)
        self._given: Any = _quaternions.normalized(q) if normalize else q

    @property
    def _q(self) -> Tensor:
        """The quaternions; functions that are transformed return rotations of arrays."""
        return as_tensor(self._given)

    # Made of ----------------------------------------------------------------------------------

    @classmethod
    def from_quat(cls, quat: Any, *, scalar_first: bool = False) -> "Rotation":
        """Return rotations by quaternions, which are divided by their lengths."""
        return cls(quat, scalar_first=scalar_first)

    @classmethod
    def from_matrix(cls, matrix: Any, *, assume_valid: bool = False) -> "Rotation":
        """Return rotations by matrices; a matrix that is not orthogonal is replaced by the nearest
        that is.

        Raises
        ------
        ValueError
            If a determinant is not positive.
        """
        m = _quaternions.rows_of(matrix, "matrix", 3, ndim=2)
        return cls(attitude(m, assume_valid), normalize=False)

    @classmethod
    def from_rotvec(cls, rotvec: Any, degrees: bool = False) -> "Rotation":
        """Return rotations about vectors, by angles that are their lengths."""
        v = _angles.radians(_quaternions.rows_of(rotvec, "rotvec", 3), degrees)
        return cls(_quaternions.of_vector(v), normalize=False)

    @classmethod
    def from_mrp(cls, mrp: Any) -> "Rotation":
        """Return rotations by modified Rodrigues parameters."""
        return cls(_quaternions.of_mrp(_quaternions.rows_of(mrp, "mrp", 3)), normalize=False)

    @classmethod
    def from_euler(cls, seq: str, angles: Any, degrees: bool = False) -> "Rotation":
        """Return rotations about axes of coordinates, ``"xyz"``, or about those that turn with the
        body, ``"XYZ"``."""
        return cls(_angles.of_euler(seq, angles, degrees), normalize=False)

    @classmethod
    def from_davenport(
        cls, axes: Any, order: str, angles: Any, degrees: bool = False
    ) -> "Rotation":
        """Return rotations about up to three axes, consecutive ones orthogonal."""
        return cls(_angles.of_davenport(axes, order, angles, degrees), normalize=False)

    @classmethod
    def identity(cls, num: int | None = None, *, shape: Any = None) -> "Rotation":
        """Return rotations that change nothing."""
        sizes = shape if num is None else num
        sizes = () if sizes is None else (sizes,) if isinstance(sizes, int) else tuple(sizes)
        return cls(np.broadcast_to(_quaternions.IDENTITY, (*sizes, 4)), normalize=False)

    @classmethod
    def concatenate(cls, rotations: Any) -> "Rotation":
        """Return rotations, and arrays of rotations, one after the other."""
        if isinstance(rotations, Rotation):
            return cls(rotations._q, normalize=False)
        parts = [quaternions(r, "concatenate") for r in rotations]
        return cls(concat([q[None] if q.ndim == 1 else q for q in parts]), normalize=False)

    @classmethod
    def align_vectors(
        cls, a: Any, b: Any, weights: Any = None, return_sensitivity: bool = False
    ) -> tuple["Rotation", Tensor]:
        """Return the rotation that takes vectors ``b`` nearest to ``a``, and the root of the
        weighted sum of squared distances that are left."""
        if return_sensitivity:
            raise TypeError("Rotation.align_vectors of tensors has no return_sensitivity=True")
        q, rest = aligned(a, b, weights)
        return cls(q, normalize=False), rest

    # As ---------------------------------------------------------------------------------------

    def as_quat(self, canonical: bool = False, *, scalar_first: bool = False) -> Tensor:
        """Return the quaternions; ``canonical`` chooses of each and its negative."""
        q = _quaternions.canonical(self._q) if canonical else self._q
        return _quaternions.scalar_first(q) if scalar_first else q

    def as_matrix(self) -> Tensor:
        """Return the matrices."""
        return _quaternions.matrix_of(self._q)

    def as_rotvec(self, degrees: bool = False) -> Tensor:
        """Return vectors along the axes, whose lengths are the angles, at most pi."""
        v = _quaternions.vector_of(self._q)
        return v * (180.0 / np.pi) if degrees else v

    def as_mrp(self) -> Tensor:
        """Return modified Rodrigues parameters, of lengths of at most 1."""
        return _quaternions.mrp_of(self._q)

    def as_euler(
        self, seq: str, degrees: bool = False, *, suppress_warnings: bool = False
    ) -> Tensor:
        """Return the angles about three axes: see `from_euler`."""
        return _angles.euler_of(self._q, seq, degrees, suppress_warnings)

    # Operations -------------------------------------------------------------------------------

    def apply(self, vectors: Any, inverse: bool = False) -> Tensor:
        """Return vectors that are rotated."""
        x = _quaternions.rows_of(vectors, "vectors", 3)
        return _quaternions.rotated(_quaternions.conjugate(self._q) if inverse else self._q, x)

    def inv(self) -> "Rotation":
        """Return the inverse rotations."""
        return Rotation(_quaternions.conjugate(self._q), normalize=False)

    def magnitude(self) -> Tensor:
        """Return the angles, between 0 and pi."""
        return 2.0 * atan2(norm(self._q[..., :3], axis=-1), abs(self._q[..., 3]))

    def approx_equal(self, other: Any, atol: float = 1e-8, degrees: bool = False) -> Tensor:
        """Return where the angles between two rotations are small."""
        angle = (self.inv() * other).magnitude()
        return angle < (atol * np.pi / 180.0 if degrees else atol)

    def mean(self, weights: Any = None) -> "Rotation":
        """Return the rotation from which the weighted sum of squared distances, of matrices, is
        least."""
        q = self._q.reshape(-1, 4)
        w = as_tensor(np.ones(q.shape[0])) if weights is None else real(weights, "mean", "weights")
        values = known(w)
        if values is not None and (values < 0).any():
            raise ValueError("Rotation.mean: weights must not be negative")
        return Rotation(greatest_vector((w.reshape(-1, 1) * q).mT @ q), normalize=False)

    def __mul__(self, other: Any) -> "Rotation":
        if not is_rotation(other):
            return NotImplemented
        found = _quaternions.product(self._q, quaternions(other, "*"))
        return Rotation(found, normalize=False)

    def __rmul__(self, other: Any) -> "Rotation":
        if not is_rotation(other):
            return NotImplemented
        return Rotation(_quaternions.product(quaternions(other, "*"), self._q), normalize=False)

    def __pow__(self, n: Any, modulus: None = None) -> "Rotation":
        if modulus is not None:
            raise NotImplementedError("Rotation: a power has no modulus")
        n = as_tensor(n).reshape(())
        return Rotation.from_rotvec(n * self.as_rotvec())

    # The array --------------------------------------------------------------------------------

    @property
    def single(self) -> bool:
        """Whether it is one rotation."""
        return self._q.ndim == 1

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array of rotations."""
        return self._q.shape[:-1]

    def __len__(self) -> int:
        if self.single:
            raise TypeError("one rotation has no len()")
        return self._q.shape[0]

    def __getitem__(self, index: Any) -> "Rotation":
        if self.single:
            raise TypeError("one rotation has no items")
        index = index if isinstance(index, tuple) else (index,)
        return Rotation(self._q[(*index, ...)], normalize=False)

    def __iter__(self) -> Iterator["Rotation"]:
        return (self[n] for n in range(len(self)))

    def __repr__(self) -> str:
        return f"Rotation.from_quat({self._q!r})"


def _of_children(_: None, children: tuple[Any, ...]) -> Rotation:
    made = object.__new__(Rotation)
    made._given = children[0]
    return made


register_pytree(Rotation, lambda rotation: ((rotation._given,), None), _of_children)


def is_rotation(x: Any) -> bool:
    """Whether an object is a rotation, numgrad's or SciPy's."""
    return isinstance(x, Rotation) or (
        type(x).__name__ == "Rotation" and type(x).__module__.startswith("scipy.spatial.transform")
    )


def quaternions(x: Any, what: str) -> Tensor:
    """Return the quaternions of rotations, numgrad's or SciPy's."""
    if not is_rotation(x):
        raise TypeError(f"Rotation: {what} takes rotations, got {type(x).__name__}")
    return x._q if isinstance(x, Rotation) else as_tensor(x.as_quat())


def of(rotations: Any) -> Rotation:
    """Return the counterpart of rotations of SciPy."""
    return Rotation(quaternions(rotations, "a method"), normalize=False)
