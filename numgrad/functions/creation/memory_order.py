"""Tensors whose elements lie in memory in one of NumPy's orders: 'C', 'F', 'A' and 'K'.

It shows where a tensor is reshaped: the result is a view, which sees later writes, or a copy.
"""

from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...engine.graph.memory_order import stand_in, strides_of_value
from ...engine.record.apply import other_modes
from ...ir.memory_order import Strides, axes_in_memory, in_miniature, laid_along_axes
from ...ir.program import Shape
from ...operators.shape import reshape as _shape
from ...process.bounded_dict import Bounded
from ..array.operands import as_tensor


def plain_order(order: Any) -> Any:
    """Return the order in which NumPy lays out a new array."""
    if order not in (None, "C", "F", "A", "K"):
        raise ValueError(f"order must be one of 'C', 'F', 'A' and 'K', got {order!r}")
    return "F" if order == "F" else "C"


def order_of(x: Tensor) -> str:
    """Return what 'A' means for a tensor: 'F' if it lies in this order and not in C order too."""
    return "F" if strides_of_value(x) is not None and stand_in(x).flags.f_contiguous else "C"


def axes_of(x: Tensor, order: Any) -> tuple[int, ...]:
    """Return the axes of a tensor, the outermost first, when its elements are read in an order."""
    strides = strides_of_value(x) if order == "K" else None
    if strides is not None:
        return axes_in_memory(strides)
    is_fortran = order == "F" or (order == "A" and order_of(x) == "F")
    return tuple(range(x.ndim)[::-1] if is_fortran else range(x.ndim))


def in_order(x: Tensor, order: Any, copy: bool = False) -> Tensor:
    """Return a tensor with its elements in an order of NumPy's in memory: itself, or a copy."""
    plain_order(order)
    if order in (None, "K") or x.ndim < 2:
        return x.clone() if copy else x
    return laid_along(x, axes_of(x, order), copy)


def laid_like(x: Tensor, other: Tensor) -> Tensor:
    """Return a tensor whose axes lie in memory in the order of those of another one, of as many:
    itself, or a copy."""
    return (
        x
        if strides_of_value(x) is strides_of_value(other) is None
        else laid_along(x, axes_of(other, "K"))
    )


def laid_as_read(found: Tensor, x: Tensor, key: Any, count: int) -> Tensor:
    """Return what `gather` has found in a tensor at a key with index arrays, along ``count`` axes,
    laid out as by NumPy: itself, or a copy, as where the index arrays lie in another order."""
    if found.ndim < 2 or not found.size:
        return found
    items = key if type(key) is tuple else (key,)
    indices = [i for i in items if not (i is None or i is ... or isinstance(i, slice))]
    arrays = [i for i in indices if isinstance(i, (np.ndarray, Tensor)) and i.ndim > 1]
    axes = len(indices) + sum([i.ndim - 1 for i in arrays if i.dtype.kind == "b"])
    if axes == count and all([strides_of_value(as_tensor(i)) is None for i in arrays]):  # noqa: C419
        return found
    form = (_form_of_array(x.shape, strides_of_value(x)), *map(_form, items))
    order = None if None in form else _orders.get(form)
    if order is None:
        small = in_miniature(x.shape, strides_of_value(x))[
            tuple([n for item in items for n in _small(item)])
        ]
        order = axes_in_memory(small.strides)
        if None not in form:
            _orders[form] = order
    return laid_along(found, order)


_orders: dict[tuple[Any, ...], tuple[int, ...]] = Bounded(1 << 10)
"""The axes in memory of what NumPy reads at a key, by the forms of the array and of the items."""


def _form(item: Any) -> Any:
    """Return all of an item of a key that decides how NumPy lays out what the key reads; None for
    an item that has to be looked at as a tensor."""
    kind = type(item)
    if kind is np.ndarray:
        if item.dtype.kind == "b":
            return kind, item.ndim
        return _form_of_array(item.shape, None if item.flags.c_contiguous else item.strides)
    if item is None or kind is slice or kind is int:
        return kind
    return kind if item is ... else None


def _form_of_array(shape: Shape, strides: Strides) -> tuple[Shape, Strides]:
    return tuple([min(size, 2) for size in shape]), strides


def _small(item: Any) -> list[Any]:
    """Return what stands for an item of a key in a small array."""
    if item is None or item is ...:
        return [item]
    if isinstance(item, slice):
        return [slice(None)]
    array = as_tensor(item)
    if array.dtype.kind == "b":
        return [np.zeros(2, np.intp)] * array.ndim or [True]  # which makes an axis
    return [in_miniature(array.shape, strides_of_value(array)).astype(np.intp, order="K")]


def laid_along(x: Tensor, axes: tuple[int, ...], copy: bool = False) -> Tensor:
    """Return a tensor with one axis after the other in memory: itself, or a copy."""
    if type(x.array) is np.ndarray and not x.requires_grad and not other_modes and not copy:
        laid = laid_along_axes(x.array, axes)
        return x if laid is x.array else Tensor(laid)
    is_plain = axes == tuple(range(x.ndim))
    turned = x if is_plain else _permuted(x, axes)
    if strides_of_value(turned) is None:
        return x.clone() if copy else x
    turned = _in_c_order(turned)
    return turned if is_plain else _permuted(turned, tuple(int(n) for n in np.argsort(axes)))


def _permuted(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    return _shape.permute_dims(x, axes=tuple(axis - x.ndim for axis in axes))


def _in_c_order(x: Tensor) -> Tensor:
    """Return a copy whose elements lie in C order."""
    flat = _shape.reshape(x, ncore=x.ndim, shape=(x.size,))
    flat = flat.clone() if flat.storage is x.storage else flat
    return _shape.reshape(flat, ncore=1, shape=x.shape)
