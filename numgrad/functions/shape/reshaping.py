"""Changing the shape: views that cost nothing, in a recorded program either."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.graph.memory_order import strides_of_value
from ...engine.record.options import Steps
from ...operators.shape import reshape as _shape
from ..array.argument_checks import integers
from ..array.axes import negative_axes, normalize_axis_index, normalize_axis_tuple
from ..array.operands import as_tensor, whole
from ..creation.memory_order import axes_of, order_of, plain_order

Axis = int | Sequence[int]


# Reshaping ----------------------------------------------------------------------------------------


def reshape(x: ArrayLike, shape: Any, order: str = "C", *, copy: bool | None = None) -> Tensor:
    """Return the elements of ``x`` in another shape.

    Parameters
    ----------
    x : array_like
    shape : int or sequence of int
        One size may be -1: it follows from the others.
    order : {"C", "F", "A"}
        Which axis counts first where elements are read and placed: the last one, or, as in
        Fortran, the first one. "A" is "F" for what lies in memory like this, else "C".
    copy : bool, optional
        True always copies; by default the result is a view where memory allows it.

    Raises
    ------
    ValueError
        If the number of elements would change, if ``copy=False`` and a copy is needed, and for
        another order.

    Notes
    -----
    The gradient of ``x`` is that of the result in the shape of ``x``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.reshape(ng.tensor([[1.0, 2.0], [3.0, 4.0]]), -1)
    tensor([1., 2., 3., 4.])
    """
    x = as_tensor(x)
    if order not in ("C", "F", "A"):
        raise ValueError(f"reshape: order must be 'C', 'F' or 'A', got {order!r}")
    if order == "F" or (order == "A" and order_of(x) == "F"):
        sizes = _sizes(x, shape)[::-1]
        return _reversed(reshape(_reversed(x), sizes, copy=copy))
    result = _reshaped.call(x, shape)
    if copy:
        return result.clone() if result.storage is x.storage else result
    if copy is False and result.array is not None and result.storage is not x.storage:
        raise ValueError(f"reshape: shape {x.shape} cannot become {result.shape} without a copy")
    return result


def _reversed(x: Tensor) -> Tensor:
    return transpose(x, tuple(range(x.ndim))[::-1])


@Steps
def _reshaped(x: Tensor, shape: Any) -> list[tuple[Any, dict[str, Any]]]:
    return [(_shape.reshape, {"ncore": x.ndim, "shape": _sizes(x, shape)})]


def _sizes(x: Tensor, shape: Any) -> tuple[int, ...]:
    """Return a shape with the size that -1 stands for."""
    sizes = (whole(shape),) if np.ndim(shape) == 0 else tuple(whole(n) for n in shape)
    known = math.prod(n for n in sizes if n != -1)
    if sizes.count(-1) == 1 and known and x.size % known == 0:
        sizes = tuple(x.size // known if n == -1 else n for n in sizes)
    if any(n < 0 for n in sizes) or math.prod(sizes) != x.size:
        raise ValueError(f"cannot reshape a tensor of shape {x.shape} into shape {sizes}")
    return sizes


def ravel(a: ArrayLike, order: str = "C") -> Tensor:
    """Return the elements along one axis: a view of what lies in that order in memory, as in NumPy,
    else a copy; the parameters are those of `reshape`, and "K" is the order in memory.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.ravel(ng.tensor([[1, 2], [3, 4]]))
    tensor([1, 2, 3, 4])
    """
    a = as_tensor(a)
    plain_order(order)
    a = a if order == "C" else transpose(a, axes_of(a, order))
    return reshape(a, a.size, copy=None if strides_of_value(a) is None else True)


def flatten(x: ArrayLike, order: str = "C") -> Tensor:
    """Return a copy of the elements along one axis; the parameters are those of `ravel`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.flatten(ng.tensor([[1, 2], [3, 4]]))
    tensor([1, 2, 3, 4])
    """
    x = as_tensor(x)
    flat = ravel(x, order)
    return flat.clone() if flat.storage is x.storage else flat


def expand_dims(a: ArrayLike, axis: Axis = 0) -> Tensor:
    """Insert axes of size 1.

    Parameters
    ----------
    a : array_like
    axis : int or sequence of int
        Where they are in the result.

    Raises
    ------
    AxisError
        For positions outside the result.

    Notes
    -----
    The gradient of ``a`` is that of the result without these axes.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.expand_dims(ng.tensor([1.0, 2.0]), 1).shape
    (2, 1)
    """
    return _expanded.call(as_tensor(a), axis)


@Steps
def _expanded(x: Tensor, axis: Axis) -> list[tuple[Any, dict[str, Any]]]:
    count = 1 if np.ndim(axis) == 0 else len(axis)  # type: ignore[arg-type]
    axes = integers(axis, "axis") if axis is None else axis
    return [(_shape.expand_dims, {"axes": negative_axes(axes, x.ndim + count)})]


def squeeze(a: ArrayLike, axis: Axis | None = None) -> Tensor:
    """Remove axes of size 1.

    Parameters
    ----------
    a : array_like
    axis : int or sequence of int, optional
        Which; by default all of them.

    Raises
    ------
    ValueError
        If an axis has another size.

    Notes
    -----
    The gradient of ``a`` is that of the result with these axes.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.squeeze(ng.tensor([[1.0], [2.0]]))
    tensor([1., 2.])
    """
    return _squeezed.call(as_tensor(a), axis)


@Steps
def _squeezed(x: Tensor, axis: Axis | None) -> list[tuple[Any, dict[str, Any]]]:
    if axis is None:
        axis = [n for n, size in enumerate(x.shape) if size == 1]
    axes = negative_axes(axis, x.ndim)
    if any(x.shape[a] != 1 for a in axes):
        raise ValueError(f"cannot squeeze axes {axis} of shape {x.shape}: their size is not one")
    return [(_shape.squeeze, {"axes": axes})] if axes else []


def atleast_1d(*xs: ArrayLike) -> Any:
    """Return each argument with at least one axis: the tensor, or a tuple of them.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.atleast_1d(2.0)
    tensor([2.])
    """
    return _each(xs, lambda x: reshape(x, 1) if x.ndim == 0 else x)


def atleast_2d(*xs: ArrayLike) -> Any:
    """Return each argument with at least two axes, new ones in front: a tensor, or a tuple of them.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.atleast_2d([1.0, 2.0]).shape
    (1, 2)
    """
    return _each(xs, lambda x: expand_dims(x, tuple(range(2 - x.ndim))))


def atleast_3d(*xs: ArrayLike) -> Any:
    """Return each argument with at least three axes, where `numpy.atleast_3d` puts them.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.atleast_3d([1.0, 2.0]).shape
    (1, 2, 1)
    """
    places: dict[int, tuple[int, ...]] = {0: (0, 1, 2), 1: (0, 2), 2: (2,)}
    return _each(xs, lambda x: expand_dims(x, places.get(x.ndim, ())))


def _each(xs: Sequence[ArrayLike], function: Any) -> Any:
    results = tuple(function(as_tensor(x)) for x in xs)
    return results[0] if len(results) == 1 else results


# Order of the axes --------------------------------------------------------------------------------


def permute_dims(a: ArrayLike, axes: Sequence[int] | None = None) -> Tensor:
    """Reorder the axes.

    Parameters
    ----------
    a : array_like
    axes : sequence of int, optional
        Axis ``n`` of the result is axis ``axes[n]`` of ``a``; by default their order is reversed.

    Raises
    ------
    ValueError
        If ``axes`` is no permutation.

    Notes
    -----
    The gradient of ``a`` is that of the result with its axes in the old order.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.permute_dims(ng.tensor([[1.0, 2.0], [3.0, 4.0]]), (1, 0))
    tensor([[1., 3.],
            [2., 4.]])
    """
    return _permuted.call(as_tensor(a), axes)


@Steps
def _permuted(x: Tensor, axes: Sequence[int] | None) -> list[tuple[Any, dict[str, Any]]]:
    order = tuple(range(x.ndim))[::-1] if axes is None else normalize_axis_tuple(axes, x.ndim)
    if len(order) != x.ndim:
        raise ValueError(f"axes {axes} do not match a tensor of shape {x.shape}")
    return [(_shape.permute_dims, {"axes": tuple(a - x.ndim for a in order)})] if x.ndim else []


transpose = permute_dims


def matrix_transpose(x: ArrayLike) -> Tensor:
    """Swap the last two axes; the gradient is transposed too.

    Raises
    ------
    ValueError
        If there are fewer than two.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.matrix_transpose(ng.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[1., 3.],
            [2., 4.]])
    """
    return _transposed.call(as_tensor(x))


@Steps
def _transposed(x: Tensor) -> list[tuple[Any, dict[str, Any]]]:
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose needs two axes at least, got shape {x.shape}")
    return [(_shape.permute_dims, {"axes": (-1, -2)})]


def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> Tensor:
    """Swap two axes; those of the gradient are swapped back.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.swapaxes(ng.tensor([[1.0, 2.0]]), 0, 1).shape
    (2, 1)
    """
    a = as_tensor(a)
    first, second = (normalize_axis_index(axis, a.ndim) for axis in (axis1, axis2))
    order = list(range(a.ndim))
    order[first], order[second] = second, first
    return _permuted.call(a, tuple(order))


def moveaxis(a: ArrayLike, source: Axis, destination: Axis) -> Tensor:
    """Move axes to other positions; the rest keep their order.

    Parameters
    ----------
    a : array_like
    source, destination : int or sequence of int
        Where the axes are, and where they go.

    Notes
    -----
    The axes of the gradient are moved back.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.moveaxis(ng.tensor([[[1.0, 2.0]]]), 2, 0).shape
    (2, 1, 1)
    """
    a = as_tensor(a)
    sources = normalize_axis_tuple(source, a.ndim, "source")
    places = normalize_axis_tuple(destination, a.ndim, "destination")
    if len(sources) != len(places):
        raise ValueError("moveaxis: source and destination must have the same number of axes")
    order = [n for n in range(a.ndim) if n not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return _permuted.call(a, tuple(order))
