"""Arrays put together from pieces, and pieces cut out: blocks, insertions, deletions, splits."""

from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.composition import composed
from ...engine.record.guards import guarded
from ..array.argument_checks import integer, integers
from ..array.axes import normalize_axis_index, normalize_axis_tuple
from ..array.operands import arrays_of, as_tensor, values_of
from ..creation.constants import zeros
from ..creation.memory_order import in_order, order_of
from ..indexing.indexing import _flattened, getitem, take
from ..sorting.searching import nonzero
from .diagonals import diag
from .joining import concat, split
from .repeating import broadcast_to
from .reshaping import moveaxis, ravel, reshape


def block(arrays: Any) -> Tensor:
    """Return an array put together from nested lists of blocks.

    Parameters
    ----------
    arrays : nested list of array_like
        The innermost lists are joined along the last axis, those around them along the one before.

    Raises
    ------
    ValueError
        If lists are empty or nested to different depths, or shapes do not fit.
    TypeError
        If there is a tuple among them.

    Notes
    -----
    The gradient of each block is its piece of the result's.

    Examples
    --------
    >>> import numgrad as ng
    >>> a = ng.tensor([[1.0, 2.0]], requires_grad=True)
    >>> ng.block([[a, ng.zeros((1, 1))], [3.0, 4.0, 5.0]]).detach()
    tensor([[1., 2., 0.],
            [3., 4., 5.]])
    """
    leaves: list[ArrayLike] = []
    depth = _depth(arrays, leaves)
    ndim = max([depth, *(np.ndim(leaf) for leaf in leaves)])
    return _joined(arrays, depth, ndim)


def _depth(items: Any, leaves: list[ArrayLike]) -> int:
    """Return how deep lists are nested, and collect what is in them."""
    if isinstance(items, tuple):
        raise TypeError("block: blocks are in lists; a tuple is neither a list nor an array")
    if not isinstance(items, list):
        leaves.append(items)
        return 0
    depths = {_depth(item, leaves) for item in items}
    if len(depths) != 1:
        raise ValueError("block: lists must be nested to one depth, and must not be empty")
    return depths.pop() + 1


def _joined(items: Any, depth: int, ndim: int) -> Tensor:
    if not depth:
        x = as_tensor(items)
        return reshape(x, (1,) * (ndim - x.ndim) + x.shape) if x.ndim < ndim else x.clone()
    return concat([_joined(item, depth - 1, ndim) for item in items], axis=-depth)


@composed
def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> Tensor:
    """Return ``arr`` with ``values`` behind it along ``axis``; both are flattened by default.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.append(ng.tensor([1.0, 2.0]), [[3.0], [4.0]])
    tensor([1., 2., 3., 4.])
    """
    return concat([arr, values], axis=axis)


@composed
def insert(arr: ArrayLike, obj: Any, values: ArrayLike, axis: int | None = None) -> Tensor:
    """Return ``arr`` with ``values`` before positions along ``axis``.

    Parameters
    ----------
    arr : array_like
        Flattened if there is no axis.
    obj : int, slice or array_like
        The positions in ``arr``, or a mask.
    values : array_like
        Converted to the dtype of ``arr``, and broadcast to what is inserted.
    axis : int, optional

    Raises
    ------
    IndexError, ValueError
        Where NumPy raises them: a position out of bounds, values that do not fit.

    Notes
    -----
    Each gradient is the piece of the result's that belongs to it.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.insert(ng.tensor([1.0, 2.0]), 1, 9.0)
    tensor([1., 9., 2.])
    """
    arr, axis = _flattened(as_tensor(arr), axis)
    obj, size, values = (
        arrays_of(guarded(obj)),
        arr.shape[axis],
        as_tensor(values).astype(arr.dtype),
    )
    if not isinstance(obj, slice) and np.size(obj) == 1:  # all values come to this place
        values = reshape(values, (1,) * (arr.ndim - values.ndim) + values.shape)
        values = moveaxis(values, 0, axis) if np.ndim(obj) == 0 else values
        count = values.shape[axis]
    else:
        count = np.insert(np.arange(size), obj, 0).size - size
    order = np.insert(np.arange(size), obj, np.arange(size, size + count))
    values = broadcast_to(values, (*arr.shape[:axis], count, *arr.shape[axis + 1 :]))
    return in_order(take(concat([arr, values], axis=axis), order, axis), order_of(arr))


@composed
def delete(arr: ArrayLike, obj: Any, axis: int | None = None) -> Tensor:
    """Return ``arr`` without positions along ``axis``; parameters as in `insert`.

    Raises
    ------
    IndexError
        For a position out of bounds, or one that is no integer.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.delete(ng.tensor([1.0, 2.0, 3.0]), 1)
    tensor([1., 3.])
    """
    arr, axis = _flattened(as_tensor(arr), axis)
    obj, positions = arrays_of(guarded(obj)), np.arange(arr.shape[axis])
    left = np.delete(positions, obj)
    if isinstance(obj, slice) or np.ndim(obj) == 0:
        return in_order(take(arr, left, axis), order_of(arr))
    return getitem(arr, (*(slice(None),) * axis, left))


def resize(a: ArrayLike, new_shape: Any) -> Tensor:
    """Return the elements in another shape, repeated in C order if they are too few.

    Raises
    ------
    ValueError
        For negative sizes.

    Notes
    -----
    The gradient of each element is the sum over its repetitions.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.resize(ng.tensor([1.0, 2.0, 3.0]), (2, 2))
    tensor([[1., 2.],
            [3., 1.]])
    """
    a, shape = ravel(as_tensor(a)), tuple(np.atleast_1d(arrays_of(guarded(new_shape))).tolist())
    shape = integers(shape, "new_shape")
    if any(n < 0 for n in shape):
        raise ValueError(f"resize: sizes must not be negative, got {shape}")
    count = int(np.prod(shape))
    if not a.size:
        return zeros(shape, a.dtype)
    return reshape(take(a, np.arange(count) % a.size), shape)


def trim_zeros(filt: ArrayLike, trim: str = "fb", axis: Any = None) -> Tensor:
    """Return ``filt`` without the zeros at its ends along axes; a vector as a rule.

    Parameters
    ----------
    filt : array_like
    trim : {"fb", "f", "b"}
        At the front, at the back, or both.
    axis : int or tuple of int, optional
        By default all axes.

    Raises
    ------
    ValueError
        For another ``trim``.
    TypeError
        If ``trim`` is no text.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.trim_zeros(ng.tensor([0.0, 1.0, 0.0, 2.0, 0.0]))
    tensor([1., 0., 2.])
    """
    filt = as_tensor(filt)
    if not isinstance(trim, str):
        raise TypeError(f"trim_zeros: trim must be a text, got {type(trim).__name__}")
    sides = trim.lower()
    if sides not in ("fb", "bf", "f", "b"):
        raise ValueError(f'trim_zeros: trim must be "fb", "f" or "b", got {trim!r}')
    axes = normalize_axis_tuple(range(filt.ndim) if axis is None else axis, filt.ndim)
    found = [values_of(places) for places in nonzero(filt)] if axes else []
    key = [slice(None)] * filt.ndim
    for n in axes:
        places, key[n] = found[n], slice(0, 0)
        if places.size:
            front = places.min() if "f" in sides else 0
            key[n] = slice(front, places.max() + 1 if "b" in sides else None)
    return filt[tuple(key)]


def hsplit(ary: ArrayLike, indices_or_sections: Any) -> list[Tensor]:
    """Split into views along the second axis, a vector along the only one; as `split`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.hsplit(ng.tensor([1.0, 2.0, 3.0]), [1])
    [tensor([1.]), tensor([2., 3.])]
    """
    x = _with_axes("hsplit", ary, 1)
    return split(x, indices_or_sections, 1 if x.ndim > 1 else 0)


def vsplit(ary: ArrayLike, indices_or_sections: Any) -> list[Tensor]:
    """Split into views along the first of at least two axes; as `split`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.vsplit(ng.tensor([[1.0], [2.0]]), 2)
    [tensor([[1.]]), tensor([[2.]])]
    """
    return split(_with_axes("vsplit", ary, 2), indices_or_sections, 0)


def dsplit(ary: ArrayLike, indices_or_sections: Any) -> list[Tensor]:
    """Split into views along the third axis; as `split`.

    Examples
    --------
    >>> import numgrad as ng
    >>> [part.shape for part in ng.dsplit(ng.zeros((1, 2, 4)), 2)]
    [(1, 2, 2), (1, 2, 2)]
    """
    return split(_with_axes("dsplit", ary, 3), indices_or_sections, 2)


def _with_axes(name: str, x: ArrayLike, count: int) -> Tensor:
    x = as_tensor(x)
    if x.ndim < count:
        raise ValueError(f"{name} needs an array of {count} axes at least, got shape {x.shape}")
    return x


def rollaxis(a: ArrayLike, axis: int, start: int = 0) -> Tensor:
    """Move an axis before another one, as a view; `moveaxis` is easier to read.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.rollaxis(ng.zeros((1, 2, 3)), 2).shape
    (3, 1, 2)
    """
    a = as_tensor(a)
    axis, start = normalize_axis_index(axis, a.ndim), integer(start, "start")
    if not -a.ndim <= start <= a.ndim:
        raise np.exceptions.AxisError(f"rollaxis: start {start} is out of range for {a.ndim} axes")
    start += a.ndim * (start < 0)
    return moveaxis(a, axis, start - (axis < start))


def diagflat(v: ArrayLike, k: int = 0) -> Tensor:
    """Return the matrix with the elements, in C order, on diagonal ``k``; as `diag`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.diagflat(ng.tensor([[1.0, 2.0]]))
    tensor([[1., 0.],
            [0., 2.]])
    """
    return diag(ravel(as_tensor(v)), k)
