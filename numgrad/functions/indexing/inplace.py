"""Writing elements: ``t[key] = value`` and ``t += value``, with gradients."""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ..._declare import Elementwise
from ..._errors import ArgTypeError, DtypeError
from ..._tensor import ArrayLike, Tensor
from ...engine.graph.kind import MOST_KINDS
from ...engine.graph.memory_order import stand_in
from ...engine.graph.value import CPU, ForeignStorage, Spec, View, spec_of
from ...engine.graph.view import Chain
from ...engine.record import apply as _record
from ...engine.record import inplace as _inplace
from ...engine.record.operands import NumberConverter
from ...engine.record.writes import overwrite, plan_of_write
from ...ir.broadcasting import broadcast_shapes, mismatch
from ...ir.device_array import DeviceArray
from ...operators.elementwise import arithmetic as _elementwise
from ...operators.elementwise import cast as _cast
from ...operators.shape import indexing as _indexing
from ...operators.shape import reshape as _shape
from ...operators.shape.gathering import put_at
from ...operators.shape.index_positions import remains
from ..array.operands import as_tensor
from .index_arrays import positions_of
from .keys import ArrayKey, BasicKey, Items, check_arrays, is_same, parse
from .masked import Part, Selected, part_of, spread


def setitem(x: Tensor, key: Any, value: ArrayLike) -> None:
    """Write ``value`` into ``x`` at ``key``: what ``x[key] = value`` means.

    Parameters
    ----------
    x : Tensor
        Written in place; views of it, and what it views, see the write.
    key : index expression
        As in NumPy. Of positions that occur several times the last value remains.
    value : array_like
        Broadcast to the region and converted to the dtype of ``x``.

    Raises
    ------
    LeafInplaceError
        If ``x`` is a leaf that requires grad (or a view of one), outside ``no_grad``.
    InplaceError
        If gradients could not see the write, or the memory cannot be written.
    DtypeError
        If the conversion would lose an imaginary part, or the graph of ``value``.
    DeviceError
        If ``value`` is a tensor of another device.
    OverflowError, ValueError
        If a Python number does not fit into the integers of ``x``, as in NumPy.

    Notes
    -----
    The gradient of what ``x`` was is zero in the region; that of ``value`` is the region's.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> y = x * 3
    >>> y[0] = x[1]
    >>> ng.grad(y.sum(), x)[0]
    tensor([0., 4.])
    """
    if not isinstance(x, Tensor):
        raise ArgTypeError(f"setitem writes into tensors, not into {type(x).__name__}")
    is_captured = _record.other_modes and isinstance(value, Tensor)
    capture = _record.mode.capture if is_captured else None
    copied = None if capture is None else capture.find_copy(x, value)
    if type(value) in (int, float) and x.dtype.kind in "iu":
        np.zeros((), x.dtype)[...] = value  # raises for a number that does not fit
    part = part_of(x, key) if _record.other_modes else None
    if isinstance(value, Selected):
        _check_dtypes(x, value._values)
        value = value.written(part)
        x, key = part.whole if part else x, ...
    elif part is not None:
        x, key, value = _selected(x, key, value, part)
    normal = parse(key, x.shape, x.spec.device)
    if isinstance(value, Tensor) and _is_region(x, normal, value):
        _inplace.check_write(x, value)
        return  # ``x[key] += v`` ends by writing what is there already
    given, value = value, as_tensor(value, x.spec.device)
    _check_dtypes(x, value)
    if isinstance(given, Tensor) and given.weak is not None:
        value = given.astype(x.dtype, copy=False)  # a number known later may not fit either
    _inplace.check_write(x, value)
    x.as_array()
    if isinstance(normal, BasicKey):
        _write_view(x, normal.items, value)
        return
    _write_at(x, normal, value)
    if copied is not None and is_same(copied.key, key):
        copied.agree()  # ``x[key] += v`` ends by writing what a view would have written already


def _selected(x: Tensor, key: Any, value: ArrayLike, part: Part) -> tuple[Tensor, Any, ArrayLike]:
    """Return what to write to, a key without the mask, which is known later only, and what to write
    there instead: one value, or row, goes to all places that a mask selects, how many there may
    be."""
    one = as_tensor(value, x.spec.device)
    if one.ndim > part.behind:
        return x, key, value
    _check_dtypes(x, one)
    return part.whole, ..., spread(part, one.astype(x.dtype, copy=False), part.whole)


def _check_dtypes(x: Tensor, value: Tensor) -> None:
    """Refuse conversions that lose more than precision."""
    if value.dtype.kind == "c" and x.dtype.kind != "c":
        raise DtypeError(f"complex values cannot be written into a tensor of {x.dtype}")
    if value.requires_grad and x.dtype.kind not in "fc":
        raise DtypeError(
            f"a value that requires grad cannot be written into a tensor of {x.dtype}: its graph "
            f"would be cut; write value.detach()"
        )


def _write_view(x: Tensor, items: tuple[Any, ...], value: Tensor) -> None:
    deferred = _inplace.is_deferred(x, value)
    array: Any = np.empty(x.shape, np.bool_) if x.array is None else x.array
    region = array[_indexing.as_numpy_key(items)]
    if deferred:
        _check_fits(value.shape, region.shape)
    else:
        _inplace.preserve_saved_values(x)
        _cast.write(_record.runtime.target, value.array, region)
    if deferred or _inplace.is_recorded(x, value):
        value = _cast.cast(_same_rank(value, region.ndim), x.dtype)
        _inplace.commit_write(x, value, _chain_to(items) if items else ())
    else:
        x.storage.version += 1


def _chain_to(items: tuple[Any, ...]) -> Chain:
    """Return the chain to the elements at a key, the same object each time, as its parameters are
    found by identity; a new one in a capture, where items may be known later."""
    return _new_chain(items) if _record.other_modes else _known_chain(items)


def _new_chain(items: tuple[Any, ...]) -> Chain:
    return ((_indexing.index, {"key": items}),)


_known_chain = lru_cache(MOST_KINDS)(_new_chain)


def _is_region(x: Tensor, key: BasicKey | Items, value: Tensor) -> bool:
    """Whether ``value`` is the region of ``x`` at a key itself, in memory and in the graph."""
    view = value._view
    if not isinstance(view, View) or not isinstance(key, BasicKey):
        return False
    root, chain = _inplace.root_of(x)
    if view.base is not root or value.storage is not x.storage:
        return False
    if view.chain == (*chain, *_chain_to(key.items)):
        return True
    whole, part = x.array, value.array
    if whole is None or part is None:
        of_root = stand_in(root)
        whole, part = (
            _inplace.view_through(chain, of_root),
            _inplace.view_through(view.chain, of_root),
        )
    return _lie_alike(part, whole[_indexing.as_numpy_key(key.items)])


def _lie_alike(first: Any, second: Any) -> bool:
    """Whether two arrays are the same elements; the steps along axes of one do not matter."""
    if first.shape != second.shape or first.dtype != second.dtype:
        return False
    if first.strides != second.strides:
        steps = zip(first.shape, first.strides, second.strides, strict=True)
        if any([n != 1 and a != b for n, a, b in steps]):  # noqa: C419  a list is faster
            return False
    if isinstance(first, DeviceArray):
        return first.memory is second.memory and first.offset == second.offset
    return first.__array_interface__["data"] == second.__array_interface__["data"]


def _check_fits(shape: tuple[int, ...], region: tuple[int, ...]) -> None:
    """Raise unless NumPy would broadcast ``shape`` to the region."""
    extra = max(len(shape) - len(region), 0)
    if set(shape[:extra]) - {1} or broadcast_shapes(shape[extra:], region) != region:
        raise ValueError(f"could not broadcast a value of shape {shape} into shape {region}")


def _same_rank(value: Tensor, ndim: int) -> Tensor:
    """Drop leading axes of size 1, or add some."""
    extra = value.ndim - ndim
    if extra > 0:
        return _shape.squeeze(value, axes=tuple(range(-value.ndim, -ndim)))
    return _shape.expand_dims(value, axes=tuple(range(-ndim, -value.ndim))) if extra else value


def _write_at(x: Tensor, items: Items, value: Tensor) -> None:
    deferred, away = _inplace.is_deferred(x, value), x.spec.device != CPU
    followed = deferred or _inplace.is_recorded(x, value)
    key = None
    if followed or away:  # before the write: indices may be checked here
        key = positions_of(items, x.shape, "setitem")
        if type(key.positions) is np.ndarray:  # nobody else has the array
            key = key._replace(positions=Tensor(key.positions))
    if away and not deferred:
        _write_away(x, key, value)
    elif not deferred:
        _write_here(x, items, value)
    if key is None or not followed:
        x.storage.version += 1
        return
    value = _fill(x, key, value)
    if value.requires_grad and _inplace.is_recorded(x, value) and not key.unique:
        value = _without_overwritten(value, key, x.shape)
    _inplace.commit_write(x, value, _inplace.Positions(*key))


def _write_here(x: Tensor, items: Items, value: Tensor) -> None:
    """Write at a key of arrays as NumPy does."""
    assert x.array is not None
    _inplace.preserve_saved_values(x)
    values: Any = value.array
    if value.dtype != x.dtype:
        (values,) = _cast.astype.run(_record.runtime.target, [values], {"dtype": x.dtype})
    if np.may_share_memory(values, x.array):
        values = values.copy()  # with a mask NumPy would read what it has just written
    try:
        x.array[tuple(items.items)] = values
    except IndexError:
        check_arrays(items.items, x.shape)  # which says more
        raise


def _write_away(x: Tensor, key: ArrayKey | None, value: Tensor) -> None:
    """Write at positions of an array of a device: its kernel makes a copy with the values, which
    is then copied back."""
    assert key is not None
    static = {"count": key.flattened, "tail": key.tail, "shape": key.shape}
    arrays = [x.array, _fill(x, key, value).array, as_tensor(key.positions).array]
    (written,) = _record.runtime.run(put_at, arrays, static)
    _inplace.preserve_saved_values(x)
    _cast.write(_record.runtime.target, written, x.array)


def _fill(x: Tensor, key: ArrayKey, value: Tensor) -> Tensor:
    """Return ``value`` broadcast to the region, in the dtype of ``x``."""
    last = x.ndim - key.tail
    shape = (*x.shape[: last - key.flattened], *key.shape, *x.shape[last:])
    value = _cast.cast(value, x.dtype)
    extra = value.ndim - len(shape)
    if extra > 0 and 0 in value.shape[extra:]:  # then NumPy does not look at the axes before
        value = _shape.reshape(value, ncore=value.ndim, shape=value.shape[extra:])
    elif extra > 0:
        _check_fits(value.shape, shape)
        value = _same_rank(value, len(shape))
    return _shape.broadcast_to(value, shape)


def _without_overwritten(value: Tensor, key: ArrayKey, shape: tuple[int, ...]) -> Tensor:
    """Return zeros in place of what a later value overwrites: only what remains receives a
    gradient."""
    last = len(shape) - key.tail
    size = math.prod(shape[last - key.flattened : last])
    stays = remains(as_tensor(key.positions), size=size)
    if stays.spec.device == CPU and stays.array is not None and stays.array.all():
        return value
    stays = _shape.reshape(stays, ncore=1, shape=(*key.shape, *(1,) * key.tail))
    return _elementwise.where(stays, value, Tensor(np.zeros((), value.dtype)))


# Arithmetic in place ------------------------------------------------------------------------------


def assign(operator: Any, x: Tensor, value: ArrayLike) -> Tensor:
    """Write ``operator(x, value)`` into ``x``: what ``x += value`` means, of `add`.

    Parameters
    ----------
    operator : Operator or callable
        What computes, an operator or a function of the same parameters.
    x : Tensor
        Keeps its shape and dtype; views of it see the write.
    value : array_like

    Raises
    ------
    LeafInplaceError, InplaceError
        As for `setitem`.
    DtypeError, ValueError
        If the result does not fit into ``x``.

    Notes
    -----
    The gradients are those of ``x + value``. What derivatives read of what ``x`` was is kept, as
    by ``x *= y`` for the gradient of ``y``. What is a scalar in NumPy, an element as in
    ``x = a[i]`` or a result without axes as in ``x = a.sum()``, is a value: ``x += value`` makes
    another one.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> y = x * 2
    >>> y += x
    >>> ng.grad(y.sum(), x)[0]
    tensor([3., 3.])
    """
    is_number = isinstance(value, (bool, int, float, complex))
    operand = value if is_number else as_tensor(value, x.spec.device)
    if x.is_scalar:
        return operator(x, operand)  # as with a scalar of NumPy, for which ``+=`` makes another one
    _inplace.check_write(x, operand if isinstance(operand, Tensor) else x.detached())
    if not _computed_there(operator, x, operand):
        result = _converted(operator(x, operand), x, operator.__name__)
        if not _inplace.is_deferred(x, result):
            _inplace.preserve_saved_values(x)
            _cast.write(_record.runtime.target, result.array, x.array)
        x.storage.version += 1
        _inplace.adopt_result(x, result)
    return x


def _fits(name: str, shape: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether the result of the operator has the first of the two shapes."""
    return mismatch(name, (shape, other)) is None and broadcast_shapes(shape, other) == shape


def _computed_there(operator: Any, x: Tensor, operand: Any) -> bool:
    """Compute into the memory of ``x`` itself; say no where something else has to be read from
    it."""
    if not isinstance(operator, Elementwise) or x.dtype not in _FAST or not _is_ours(x):
        return False
    read = None
    is_usual = not _record.other_modes and x.spec.device == CPU and x.dtype.kind == "f"
    if is_usual and type(operand) in _REAL:
        second, read = _number_beside(x.spec)(operand)
    else:
        first, second = operator.prepare((x, operand), {})
        if _inplace.is_deferred(first, second) or first is not x:
            return False
    if second is not x and second._storage is x.storage:
        return False
    if second.shape != x.shape and not _fits(operator.name, x.shape, second.shape):
        return False
    plan = plan_of_write(operator, x, second)
    grad = not _record.other_modes or _record.mode.grad
    wanted = x.requires_grad + 2 * second.requires_grad if grad else 0
    reads = plan.reads[wanted] if wanted and plan.reads else None
    if reads and (reads[0] or (second is x and reads[1])):
        return False  # the derivative reads what is overwritten
    _inplace.preserve_saved_values(x)
    result = overwrite(plan, x, second, wanted, read)
    if wanted:
        _inplace.adopt_result(x, result)
    return True


_REAL = frozenset((bool, int, float))


@lru_cache(256)
def _number_beside(spec: Spec) -> NumberConverter:
    """Return what converts Python's real numbers to operands beside a value of a spec, whose dtype
    they take on."""
    return NumberConverter(spec_of((1,) * len(spec.shape), spec.dtype))


_FAST = frozenset(map(np.dtype, ("float32", "float64", "complex64", "complex128")))


def _is_ours(x: Tensor) -> bool:
    """Whether nodes save ``x`` itself; a copy made now would have what is written, not what was."""
    has_hooks = _record.other_modes and _record.mode.saved_hooks
    return not has_hooks and not isinstance(x.storage, ForeignStorage)


def _converted(result: Tensor, x: Tensor, name: str) -> Tensor:
    if result.shape != x.shape:
        raise ValueError(
            f"{name}: a result of shape {result.shape} cannot be written into shape {x.shape}"
        )
    if not np.can_cast(result.dtype, x.dtype, "same_kind"):
        raise DtypeError(
            f"{name}: a result of {result.dtype} cannot be written into a tensor of {x.dtype}"
        )
    return _cast.cast(result, x.dtype)
