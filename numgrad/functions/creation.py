"""Making tensors: conversion, and constants."""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._declare.dtypes import numbers, require_plain
from .._tensor import ArrayLike, Tensor, constant
from ..engine.seen import seen
from ..engine.values import CPU
from ..operators import joining as _joining
from ..operators import shape as _shape
from ..operators.cast import cast
from .exchange import is_on_gpu, of_gpu
from .operands import plain
from .transfer import on_device, placed_on

Shape = int | Sequence[int]


def asarray(
    obj: ArrayLike, dtype: Any = None, *, device: Any = None, copy: bool | None = None
) -> Tensor:
    """Return ``obj`` as a tensor; a tensor that needs no change is returned itself.

    Parameters
    ----------
    obj : array_like
        A tensor, an array, numbers, or nested sequences of these. Sequences of tensors are stacked,
        so gradients flow back to each.
    dtype : dtype, optional
        By default the dtype of ``obj`` as NumPy sees it.
    device : str, optional
        Where the tensor lives.
    copy : bool, optional
        True always copies, False never does; by default only where it must. An array that is not
        copied shares its memory with the tensor.

    Raises
    ------
    ValueError
        If ``copy=False`` and a copy is needed.

    Notes
    -----
    The derivative is that of `astype` and of `stack`: the gradient, converted back to each source.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor(3.0, requires_grad=True)
    >>> ng.grad(ng.asarray([x, x * x]).sum(), x)[0]
    tensor(7.)
    """
    if device is not None:
        return placed_on(asarray(obj, dtype, copy=copy), device)
    if isinstance(obj, Tensor):
        return _from_tensor(obj, dtype, copy)
    if isinstance(obj, (list, tuple)) and carries_graph(obj):
        if copy is False:
            raise ValueError("asarray: a sequence of tensors cannot become a tensor without a copy")
        return _from_tensor(_stack(obj, dtype), dtype, None)
    if is_on_gpu(obj):
        return _from_tensor(of_gpu(obj), dtype, copy)
    require_plain(obj)
    source = arrays(obj)
    array = np.array(source, dtype=dtype, copy=copy)
    if array is not source:
        seen(obj)
    if copy is False and not array.dtype.isnative:
        raise ValueError(f"asarray: {array.dtype.str} cannot become a tensor without a copy")
    array = numbers(array)
    return constant(array) if _is_foreign(array, source) else Tensor(array)


def _is_foreign(array: np.ndarray, source: Any) -> bool:
    """Return whether the memory of ``array`` may be that of ``source`` and is not ours."""
    if isinstance(source, (list, tuple, int, float, complex, np.generic)):
        return False
    return not isinstance(source, np.ndarray) or np.may_share_memory(array, source)


def _from_tensor(x: Tensor, dtype: Any, copy: bool | None) -> Tensor:
    wanted = x.dtype if dtype is None else np.dtype(dtype)
    if wanted != x.dtype:
        if copy is False:
            raise ValueError(f"asarray: {x.dtype} cannot become {wanted} without a copy")
        return x.astype(wanted)
    return x.clone() if copy else plain(x)


def carries_graph(items: Any) -> bool:
    """Return whether a tensor that requires grad, is still to be computed or is on a device is
    somewhere in nested sequences."""
    if isinstance(items, (list, tuple)):
        return any(carries_graph(item) for item in items)
    if not isinstance(items, Tensor):
        return False
    return items.requires_grad or items.array is None or items.device != CPU


def _stack(items: Any, dtype: Any) -> Tensor:
    """Return nested sequences with tensors in them as one tensor, by default of the common
    dtype."""
    if not isinstance(items, (list, tuple)):
        return asarray(items, dtype)
    parts = [_stack(item, dtype) for item in items]
    dtype = np.result_type(*(part.dtype for part in parts))
    shapes = {part.shape for part in parts}
    if len(shapes) > 1:
        raise ValueError(f"asarray: a sequence has parts of different shapes {sorted(shapes)}")
    return _joining.stack(*[cast(part, dtype) for part in parts], axis=-parts[0].ndim - 1)


def arrays(items: Any) -> Any:
    """Replace the tensors in nested sequences by arrays."""
    if isinstance(items, (list, tuple)):
        return [arrays(item) for item in items]
    return items.numpy() if isinstance(items, Tensor) else items


def fresh(array: np.ndarray, device: Any = None) -> Tensor:
    """Return the tensor of an array that nobody else has, on a device."""
    return on_device(Tensor(numbers(array)), device)


def _sizes(shape: Any) -> Any:
    """Return a shape as Python integers; tensors of one integer are sizes too."""
    if isinstance(shape, (str, bytes)):
        raise TypeError(f"a shape is an integer or a sequence of them, got {shape!r}")
    if isinstance(shape, Tensor):
        shape = shape.tolist()
    seen(shape)
    return [int(n) for n in shape] if isinstance(shape, (list, tuple)) else shape


def _like(x: ArrayLike, dtype: Any, shape: Any, device: Any) -> tuple[Any, np.dtype, Any]:
    if not isinstance(x, Tensor):
        x = np.asarray(x)
    return (
        x.shape if shape is None else _sizes(shape),
        x.dtype if dtype is None else np.dtype(dtype),
        x.device if device is None else device,
    )


# Constants ----------------------------------------------------------------------------------------


def zeros(shape: Shape, dtype: Any = None, *, device: Any = None) -> Tensor:
    """Return a tensor of zeros.

    Parameters
    ----------
    shape : int or sequence of int
        The sizes of the axes.
    dtype : dtype, optional
        Default float64.
    device : str, optional
        Where the tensor lives.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.zeros((2, 2))
    tensor([[0., 0.],
            [0., 0.]])
    """
    return fresh(np.zeros(_sizes(shape), dtype), device)


def ones(shape: Shape, dtype: Any = None, *, device: Any = None) -> Tensor:
    """Return a tensor of ones; parameters as in `zeros`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.ones(3, dtype=ng.int64)
    tensor([1, 1, 1])
    """
    return fresh(np.ones(_sizes(shape), dtype), device)


def empty(shape: Shape, dtype: Any = None, *, device: Any = None) -> Tensor:
    """Return a tensor whose elements are not set; parameters as in `zeros`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.empty((2, 3)).shape
    (2, 3)
    """
    return fresh(np.empty(_sizes(shape), dtype), device)


def full(shape: Shape, fill_value: ArrayLike, dtype: Any = None, *, device: Any = None) -> Tensor:
    """Return a tensor with every element equal to ``fill_value``.

    Parameters
    ----------
    shape : int or sequence of int
        The sizes of the axes.
    fill_value : number or Tensor
        The value, or values that broadcast to ``shape``.
    dtype : dtype, optional
        By default that of the value.
    device : str, optional
        Where the tensor lives.

    Notes
    -----
    The gradient of a tensor ``fill_value`` is the sum of the gradient over the elements it fills.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor(2.0, requires_grad=True)
    >>> ng.grad(ng.full((2, 3), x).sum(), x)[0]
    tensor(6.)
    """
    sizes = _sizes(shape)
    if carries_graph(fill_value) or isinstance(fill_value, Tensor):
        wanted = (sizes,) if isinstance(sizes, int) else tuple(sizes)
        value = asarray(fill_value, dtype)
        if np.broadcast_shapes(value.shape, wanted) != wanted:
            raise ValueError(f"full: a value of shape {value.shape} does not fill shape {wanted}")
        return placed_on(_shape.broadcast_to(value, wanted).clone(), device or value.device)
    return fresh(np.full(sizes, seen(fill_value), dtype), device)


def zeros_like(x: ArrayLike, dtype: Any = None, *, device: Any = None, shape: Any = None) -> Tensor:
    """Return zeros with the shape and dtype of ``x``, unless others are given.

    Parameters
    ----------
    x : array_like
        What the result resembles.
    dtype : dtype, optional
        Another dtype.
    device : str, optional
        Where the tensor lives.
    shape : int or sequence of int, optional
        Another shape.

    Notes
    -----
    The result does not depend on the values of ``x``: no gradient flows.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.zeros_like(ng.tensor([1.0, 2.0]))
    tensor([0., 0.])
    """
    sizes, dtype, device = _like(x, dtype, shape, device)
    return zeros(sizes, dtype, device=device)


def ones_like(x: ArrayLike, dtype: Any = None, *, device: Any = None, shape: Any = None) -> Tensor:
    """Return ones with the shape and dtype of ``x``; parameters as in `zeros_like`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.ones_like(ng.tensor([1.0, 2.0]))
    tensor([1., 1.])
    """
    sizes, dtype, device = _like(x, dtype, shape, device)
    return ones(sizes, dtype, device=device)


def empty_like(x: ArrayLike, dtype: Any = None, *, device: Any = None, shape: Any = None) -> Tensor:
    """Return unset elements with the shape and dtype of ``x``; parameters as in `zeros_like`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.empty_like(ng.tensor([1.0, 2.0])).shape
    (2,)
    """
    sizes, dtype, device = _like(x, dtype, shape, device)
    return empty(sizes, dtype, device=device)


def full_like(
    x: ArrayLike,
    fill_value: ArrayLike,
    dtype: Any = None,
    *,
    device: Any = None,
    shape: Any = None,
) -> Tensor:
    """Return ``fill_value`` in the shape and dtype of ``x``; parameters as in `full`, `zeros_like`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.full_like(ng.tensor([1.0, 2.0]), 7)
    tensor([7., 7.])
    """
    sizes, dtype, device = _like(x, dtype, shape, device)
    return full(sizes, fill_value, dtype, device=device)


def eye(
    n_rows: int, n_cols: int | None = None, k: int = 0, dtype: Any = None, *, device: Any = None
) -> Tensor:
    """Return a matrix with ones on diagonal ``k`` and zeros elsewhere.

    Parameters
    ----------
    n_rows, n_cols : int
        The shape; square by default.
    k : int
        The diagonal; positive above the main one.
    dtype : dtype, optional
        Default float64.
    device : str, optional
        Where the tensor lives.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.eye(2, 3, k=1)
    tensor([[0., 1., 0.],
            [0., 0., 1.]])
    """
    columns = n_rows if n_cols is None else n_cols
    rows, columns, k = map(operator.index, seen((n_rows, columns, k)))
    return fresh(np.eye(rows, columns, k, dtype=np.float64 if dtype is None else dtype), device)


def identity(n: int, dtype: Any = None) -> Tensor:
    """Return the ``n`` by ``n`` identity matrix.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.identity(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    return eye(n, dtype=dtype)
