"""Making tensors of what there is."""

from typing import Any

import numpy as np

from ..._declare.dtypes import numbers, read, require_plain
from ..._tensor import ArrayLike, Tensor, constant
from ...engine.graph.lease import leased
from ...engine.graph.value import CPU
from ...engine.record.guards import guarded
from ...operators.elementwise.cast import cast
from ...operators.shape import joining as _joining
from ...operators.shape import reshape as _shape
from ..array.argument_checks import least_axes
from ..array.device_transfer import on_device, placed_on
from ..array.operands import lists_of, plain
from .dlpack import is_on_gpu, of_gpu
from .memory_order import in_order


def array(
    object: ArrayLike,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    like: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a copy of ``object`` as a tensor: `asarray` with NumPy's other name and parameters.

    Parameters
    ----------
    object, dtype, copy, order, like
        As in `asarray`.
    subok : bool
        Asks for nothing.
    ndmin : int
        How many axes there are at least; new ones are put in front.
    requires_grad : bool
        Whether gradients are asked for, as in `tensor`.

    Notes
    -----
    Gradients flow back to tensors in ``object``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.array([1.0, 2.0], ndmin=2)
    tensor([[1., 2.]])
    """
    x = asarray(object, dtype, order, copy=copy, like=like)
    missing = least_axes(ndmin, "array") - x.ndim
    if missing > 0:
        x = _shape.expand_dims(x, axes=tuple(range(-x.ndim - missing, -x.ndim)))
    return asking(x, requires_grad)


def asarray(
    a: ArrayLike,
    dtype: Any = None,
    order: Any = None,
    *,
    device: Any = None,
    copy: bool | None = None,
    like: Any = None,
) -> Tensor:
    """Return ``a`` as a tensor; a tensor that needs no change is returned itself.

    Parameters
    ----------
    a : array_like
        A tensor, an array, numbers, or nested sequences of these. Sequences of tensors are stacked,
        so gradients flow back to each.
    dtype : dtype, optional
        By default the dtype of ``a`` as NumPy sees it.
    order : {"C", "F", "A", "K"}, optional
        How the elements lie in memory; a copy is made where they do not.
    device, like
        As in `zeros`.
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
    device = device_like(device, like)
    if device is not None:
        return placed_on(asarray(a, dtype, order, copy=copy), device)
    if order is not None:
        x = asarray(a, dtype, copy=copy)
        y = in_order(x, order)
        if copy is False and y is not x:
            raise ValueError(f"asarray: order={order!r} needs a copy")
        return y
    if isinstance(a, Tensor):
        return _from_tensor(a, dtype, copy)
    if isinstance(a, (list, tuple)) and carries_graph(a):
        if copy is False:
            raise ValueError("asarray: a sequence of tensors cannot become a tensor without a copy")
        return _from_tensor(in_order(_stack(a, dtype), "C"), dtype, None)
    if is_on_gpu(a):
        return _from_tensor(of_gpu(a), dtype, copy)
    data = getattr(a, "data", None) if type(a).__module__.startswith("xarray.") else None
    if isinstance(data, Tensor):
        return _from_tensor(data, dtype, copy)
    require_plain(a)
    source = lists_of(a)
    array = np.array(read(source) if copy else source, dtype=dtype, copy=copy)
    if array is not source:
        guarded(a)
    if copy is False and not array.dtype.isnative:
        raise ValueError(f"asarray: {array.dtype.str} cannot become a tensor without a copy")
    array = numbers(array, a)
    return constant(leased(array)) if _is_foreign(array, source) else Tensor(array)


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
        return any([carries_graph(item) for item in items])  # noqa: C419  a list is faster
    if not isinstance(items, Tensor):
        return False
    return items.requires_grad or items.array is None or items.device != CPU


def _stack(items: Any, dtype: Any) -> Tensor:
    """Return nested sequences with tensors in them as one tensor, by default of the common
    dtype."""
    if not isinstance(items, (list, tuple)):
        return asarray(items, dtype)
    if dtype is None and {type(x) for x in items} == {Tensor} and len({x.spec for x in items}) == 1:
        return _joining.stack(*items, axis=-items[0].ndim - 1)
    parts = [_stack(item, dtype) for item in items]
    dtype = np.result_type(*(part.dtype for part in parts))
    shapes = {part.shape for part in parts}
    if len(shapes) > 1:
        raise ValueError(f"asarray: a sequence has parts of different shapes {sorted(shapes)}")
    return _joining.stack(*[cast(part, dtype) for part in parts], axis=-parts[0].ndim - 1)


def fresh(array: np.ndarray, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Return the tensor of an array that nobody else has, on a device."""
    return asking(on_device(Tensor(numbers(array)), device), requires_grad)


def asking(x: Tensor, requires_grad: bool) -> Tensor:
    """Return a new tensor, which requires grad if that is asked for."""
    return x.requires_grad_() if requires_grad else x


def device_like(device: Any, like: Any) -> Any:
    """Return where a tensor is to live that resembles another one, ``like=``."""
    return like.device if device is None and isinstance(like, Tensor) else device


def copy(a: ArrayLike, order: Any = "K", subok: bool = False) -> Tensor:
    """Return a copy through which gradients flow, in an order in memory; ``subok`` asks for
    nothing."""
    return in_order(asarray(a), order, copy=True)


def asanyarray(
    a: ArrayLike, dtype: Any = None, order: Any = None, *, device: Any = None,
    copy: bool | None = None, like: Any = None,
) -> Tensor:  # fmt: skip
    """Return what `asarray` does: there are no classes derived from tensors.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.asanyarray([1.0, 2.0])
    tensor([1., 2.])
    """
    return asarray(a, dtype, device=device_like(device, like), copy=copy, order=order)


def ascontiguousarray(a: ArrayLike, dtype: Any = None, *, like: Any = None) -> Tensor:
    """Return a tensor of one axis or more whose elements lie in C order.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.ascontiguousarray(3.0)
    tensor([3.])
    """
    x = asarray(a, dtype, device=device_like(None, like))
    return in_order(x if x.ndim else x.reshape(1), "C")


def asfortranarray(a: ArrayLike, dtype: Any = None, *, like: Any = None) -> Tensor:
    """Return a tensor whose elements lie in Fortran's order, the first axis innermost.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.asfortranarray([[1.0, 2.0], [3.0, 4.0]]).strides
    (8, 16)
    """
    return in_order(asarray(a, dtype, device=device_like(None, like)), "F")
