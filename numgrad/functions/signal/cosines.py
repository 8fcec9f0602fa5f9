"""Discrete cosine and sine transforms, under the names of `scipy.fft`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.guards import guarded
from ...operators.signal import fourier as _fourier
from ...operators.signal.fourier import SWAPPED, TRANSPOSED
from ..array.axes import along_axis, normalize_axis_index, normalize_axis_tuple
from ..array.operands import as_tensor
from .fourier import Axes, Function, named, norm_of, points, sizes_and_axes

_DOC = """Return the {which} transform{along}.

    Parameters
    ----------
    x : array_like
        Real and imaginary parts are transformed each on their own.
    type : {{1, 2, 3, 4}}
        Which of the transforms, as SciPy defines them.
    {sizes}
    norm : {{"backward", "ortho", "forward"}}, optional
        As for `fft`.
    overwrite_x, workers
        Accepted as SciPy does; ``x`` stays as it is.
    orthogonalize : bool, optional
        Whether elements at the ends are scaled so that the matrix of the transform is orthogonal,
        but for a factor. By default with ``norm="ortho"``.

    Raises
    ------
    ValueError
        For another type or norm, or if there are too few points.

    Notes
    -----
    The gradient is the transform of the cotangent of type 1, 3, 2 or 4, in this order, with the
    same factor, but for the scale of elements at the ends."""

_ONE = """n : int, optional
        How many points are transformed. Of more the first ones are taken, fewer are followed by
        zeros.
    axis : int"""

_SEVERAL = """s : int or sequence of int, optional
        The number of points along each axis; -1 is the size of the axis.
    axes : int or sequence of int, optional
        By default all, or the last ones."""


def _transform(
    name: str, x: Tensor, kind: Any, n: Any, axis: int, norm: str | None, orthogonalize: Any
) -> Tensor:
    """Apply the one-dimensional transform ``name``: ``dct``, ``dst`` or an inverse of these, which
    is the transpose with the other factor."""
    if kind not in TRANSPOSED:
        raise ValueError(f"fft.{name}: type must be 1, 2, 3 or 4, got {kind!r}")
    norm = norm_of(name, norm)
    orthogonalize = norm == "ortho" if orthogonalize is None else bool(orthogonalize)
    axis = normalize_axis_index(axis, x.ndim)
    n = points(name, x.shape[axis] if n is None else n)
    if kind == 1 and n < 2 and "dct" in name:
        raise ValueError(f"fft.{name}: type 1 needs two points at least, got {n}")
    operator = _fourier.dct if "dct" in name else _fourier.dst
    if name[0] == "i":
        kind, norm = TRANSPOSED[kind], SWAPPED[norm]
    static = {"kind": int(kind), "n": n, "norm": norm, "orthogonalize": orthogonalize}
    return along_axis(lambda x: operator(x, **static), x, axis)


def _one(name: str, which: str, shown: str) -> Function:
    def function(
        x: ArrayLike,
        type: int = 2,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        orthogonalize: bool | None = None,
    ) -> Tensor:
        return _transform(name, as_tensor(x), type, n, axis, norm, orthogonalize)

    doc = _DOC.format(which=which, along=" along an axis", sizes=_ONE)
    return named(function, name, doc, ("[1.0, 2.0], type=3", shown))


def _several(name: str, which: str, shown: str) -> Function:
    one = name.removesuffix("n")

    def function(
        x: ArrayLike,
        type: int = 2,
        s: Sequence[int] | None = None,
        axes: Axes = None,
        norm: str | None = None,
        overwrite_x: bool = False,
        workers: int | None = None,
        *,
        orthogonalize: bool | None = None,
    ) -> Tensor:
        x = as_tensor(x)
        s, axes = (v if v is None or np.ndim(v) else (v,) for v in (guarded(s), guarded(axes)))
        sizes, places = sizes_and_axes(name, x, s, axes)
        if len(set(normalize_axis_tuple(places, x.ndim, allow_duplicate=True))) < len(places):
            raise ValueError(f"fft.{name}: axes must be unique, got {places}")
        for n, axis in zip(sizes, places, strict=True):
            x = _transform(one, x, type, n, axis, norm, orthogonalize)
        return x

    doc = _DOC.format(which=which, along=" along several axes", sizes=_SEVERAL)
    return named(function, name, doc, ("[[1.0, 2.0], [3.0, 4.0]], type=3", shown))


dct = _one("dct", "discrete cosine", "tensor([ 3.82842712, -1.82842712])")
idct = _one("idct", "inverse of the discrete cosine", "tensor([ 1.5       , -0.35355339])")
dst = _one("dst", "discrete sine", "tensor([ 3.41421356, -0.58578644])")
idst = _one("idst", "inverse of the discrete sine", "tensor([ 1.06066017, -0.5       ])")
dctn = _several(
    "dctn", "discrete cosine",
    "tensor([[16.07106781, -5.58578644],\n        [-8.41421356,  1.92893219]])",
)  # fmt: skip
idctn = _several(
    "idctn", "inverse of the discrete cosine",
    "tensor([[ 2.5       , -0.35355339],\n        [-0.70710678,  0.        ]])",
)  # fmt: skip
dstn = _several(
    "dstn", "discrete sine",
    "tensor([[13.07106781, -0.58578644],\n        [-3.41421356, -1.07106781]])",
)  # fmt: skip
idstn = _several(
    "idstn", "inverse of the discrete sine",
    "tensor([[ 1.25      , -0.35355339],\n        [-0.70710678,  0.        ]])",
)  # fmt: skip
