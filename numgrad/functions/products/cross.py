"""The cross product with NumPy's parameters; the Array API's is in `linalg`."""

from collections.abc import Sequence

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.composition import composed
from ..array.axes import normalize_axis_index
from ..array.operands import as_tensors
from ..shape.joining import concat, stack
from ..shape.reshaping import moveaxis


@composed
def cross(
    a: ArrayLike,
    b: ArrayLike,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Tensor:
    """Return the cross products of vectors of three elements, or of two, the third of which is 0.

    Parameters
    ----------
    a, b : array_like
        The other axes are broadcast together.
    axisa, axisb : int
        Where the vectors lie in ``a`` and ``b``.
    axisc : int
        Where they lie in the result; two vectors of two elements give a number instead.
    axis : int, optional
        Replaces all three.

    Raises
    ------
    ValueError
        If there are neither two nor three elements.

    Notes
    -----
    With the cotangent :math:`g` the gradients are :math:`b \\times g` and :math:`g \\times a`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.cross(ng.tensor([1.0, 0.0, 0.0]), [0.0, 1.0, 0.0])
    tensor([0., 0., 1.])
    """
    a, b = as_tensors(a, b)
    if axis is not None:
        axisa = axisb = axisc = axis
    if not (a.ndim and b.ndim):
        raise ValueError("cross: vectors need one axis at least")
    a = moveaxis(a, normalize_axis_index(axisa, a.ndim), -1)
    b = moveaxis(b, normalize_axis_index(axisb, b.ndim), -1)
    sizes = a.shape[-1], b.shape[-1]
    if not {*sizes} <= {2, 3}:
        raise ValueError(f"cross: vectors of {sizes[0]} and {sizes[1]} elements, not of 2 or 3")
    a, b = (_spatial(x) if max(sizes) == 3 else x for x in (a, b))
    first, second = ([x[..., n] for n in range(x.shape[-1])] for x in (a, b))
    if max(sizes) == 2:
        return _minor(first, second, 0, 1)
    c = stack([_minor(first, second, i, j) for i, j in ((1, 2), (2, 0), (0, 1))], axis=-1)
    return moveaxis(c, -1, normalize_axis_index(axisc, c.ndim))


def _spatial(x: Tensor) -> Tensor:
    """Return vectors of three elements."""
    if x.shape[-1] == 3:
        return x
    return concat([x, np.zeros((*x.shape[:-1], 1), x.dtype)], axis=-1)


def _minor(a: Sequence[Tensor], b: Sequence[Tensor], i: int, j: int) -> Tensor:
    return a[i] * b[j] - a[j] * b[i]
