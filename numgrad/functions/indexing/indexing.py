"""Reading elements: views for integers and slices, copies for index arrays and masks."""

from typing import Any

import numpy as np

from ..._declare import registry
from ..._tensor import ArrayLike, Tensor
from ...engine.graph.memory_order import strides_of_value
from ...engine.graph.value import CPU
from ...engine.record import inplace as _inplace
from ...engine.record.apply import mode, other_modes
from ...engine.record.dispatch import apply_unplanned
from ...engine.record.guards import guarded
from ...engine.record.options import Steps
from ...operators.elementwise.selection import maximum, minimum
from ...operators.shape import gathering as _gathering
from ...operators.shape import indexing as _indexing
from ...operators.shape import reshape as _shape
from ..array.axes import normalize_axis_index
from ..array.operands import as_tensor
from ..creation.memory_order import in_order, laid_as_read, laid_like
from .index_arrays import (
    of_indices_along,
    of_late_indices_along,
    of_plain_key,
    plain_key,
    positions_of,
)
from .keys import (
    BASIC,
    NUMPYS_TOO,
    WHOLE,
    BasicKey,
    has_window,
    is_basic,
    is_late,
    look_up,
    parse,
    plain_numbers,
    stays,
)
from .masked import Selected, part_of, spread


def getitem(x: ArrayLike, key: Any) -> Tensor:
    """Return the elements of ``x`` at ``key``: what ``x[key]`` means.

    Parameters
    ----------
    x : array_like
    key : index expression
        As in NumPy: integers, slices, ``...`` and ``None`` give a view, integers for all axes
        the element; integer arrays, lists and masks give a copy, also when they are mixed with the
        others.

    Raises
    ------
    IndexError
        Where NumPy raises it.

    Notes
    -----
    The gradient of ``x`` is zero but at ``key``, where it is that of the result; elements taken
    several times receive the sum, added in the order of the result.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> ng.grad(x[[0, 0, 2]].sum(), x)[0]
    tensor([2., 0., 1.])
    """
    if type(x) is not Tensor:
        x = as_tensor(x)
    if (type(key) in BASIC or is_basic(key)) and not (other_modes and has_window(key)):
        return _basic.call(x, key)
    if is_basic(key, NUMPYS_TOO) and not other_modes:
        return _basic.call(x, plain_numbers(key, x.ndim))
    return read(x, key, "getitem")


def read(x: Tensor, key: Any, caller: str) -> Any:
    """Return the elements at a key that may be of any kind; errors of programs name ``caller``."""
    part = part_of(x, key) if other_modes else None
    if part is not None:
        return Selected(part, spread(part, part.whole))
    away = x.spec.device != CPU
    if not other_modes and x.requires_grad and not (away and _holds(key, Tensor)):
        found = of_plain_key(key, x.shape, caller)
        if found is not None:  # which lies in memory as in NumPy already
            return _gathered.call(x, *found, caller == "getitem" and _is_turned(x, *found))
    elif not other_modes and not away:
        plain = plain_key(key, x.ndim)
        if plain is not None:
            assert x.array is not None
            try:
                return Tensor(x.array[(*(WHOLE,) * plain[1], *plain[0])])
            except IndexError:
                pass  # the general way says what is wrong
    numbers = plain_numbers(key, x.ndim)
    if is_basic(numbers) and not other_modes:
        return _basic.call(x, numbers)
    normal = parse(key, x.shape, x.spec.device)
    if isinstance(normal, BasicKey):
        operator, static = _operation(normal, key, x.ndim)
        result = apply_unplanned(operator, x, static)
        # An array or a tensor, also one without axes, makes a copy, as in NumPy.
        is_copy = operator.is_view and _holds(key, (np.ndarray, Tensor))
        return registry["copy"](result) if is_copy else result
    is_noted = mode.trace is not None  # the positions hold for other elements, too
    if away or normal.is_late or is_noted or _inplace.is_deferred(x) or _inplace.is_recorded(x):
        at = positions_of(normal, x.shape, caller)
        positions = at.positions if isinstance(at.positions, Tensor) else Tensor(at.positions)
        result = _found(x, key, caller, positions, at.flattened, at.tail, at.shape)
        if mode.capture is not None and normal.is_view:
            result._view = None  # also without axes it can be written, which nobody would see
            mode.capture.note_copy(x, result, key)
        return result
    assert x.array is not None
    items = normal.items
    return Tensor(np.asarray(look_up(x.array, tuple(items), items, x.shape)))


def _holds(key: Any, kinds: type | tuple[type, ...]) -> bool:
    items = key if type(key) is tuple else (key,)
    return any([isinstance(item, kinds) for item in items])  # noqa: C419


@Steps
def _basic(x: Tensor, key: Any) -> list[tuple[Any, dict[str, Any]]]:
    """Return what a key of integers and slices comes to."""
    normal = parse(key, x.shape)
    assert isinstance(normal, BasicKey)
    return [_operation(normal, key, x.ndim)]


def _operation(normal: BasicKey, key: Any, ndim: int) -> tuple[Any, dict[str, Any]]:
    items = normal.items
    if len(items) == ndim and {int}.issuperset(map(type, items)):
        given = key if type(key) is tuple else (key,)
        if not any([item is ... for item in given]):  # noqa: C419  it makes a view
            return _indexing.element, {"key": items}
    axes = normal.new_axes
    if axes:
        return _shape.expand_dims, {"axes": axes}
    return _indexing.index, {"key": items}


def _found(
    x: Tensor, key: Any, caller: str, positions: Tensor, count: int, tail: int, shape: Any
) -> Tensor:
    """Return the elements at positions as an operation of the graph; what an index reads lies in
    memory as in NumPy, other functions give C order."""
    is_index = caller == "getitem"
    turned = is_index and _is_turned(x, positions, count, tail, shape)
    found = _gathered.call(x, positions, count, tail, shape, turned)
    return laid_as_read(found, x, key, count) if is_index else found


def _is_turned(x: Tensor, positions: Tensor, count: int, tail: int, shape: Any) -> bool:
    """Whether NumPy might lay out what an index reads in another order than C."""
    return x.ndim > count + tail or strides_of_value(x) is not None


def _gather(x: Tensor, positions: Tensor, *options: Any) -> Tensor:
    ((gathered, static),) = _gather_steps(x, positions, *options)
    return gathered(x, positions, **static)


def _gather_steps(
    x: Tensor, positions: Tensor, count: int, tail: int, shape: Any, turned: bool
) -> Any:
    static = {"count": count, "tail": tail, "shape": shape}
    return [(_gathering.gather, {**static, "turned": True} if turned else static)]


_gathered = Steps(_gather_steps, _gather)


def take(
    a: ArrayLike,
    indices: ArrayLike,
    axis: int | None = None,
    out: Tensor | None = None,
    mode: str = "raise",
) -> Tensor:
    """Return the elements of ``a`` at ``indices`` along ``axis``.

    Parameters
    ----------
    a : array_like
    indices : array_like of int
        Negative ones count from the end.
    axis : int, optional
        By default ``a`` is flattened first.
    out : Tensor, optional
        Where the result is written.
    mode : {"raise", "wrap", "clip"}
        What indices out of bounds mean: an error, the elements in turn, or the first and the last.

    Raises
    ------
    IndexError
        For indices out of bounds.

    Notes
    -----
    Each element's gradient is the sum of those of the results that it went to.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> ng.take(x, [1, 1, 0], axis=1)
    tensor([[2., 2., 1.],
            [4., 4., 3.]], grad_fn=<gather>)
    """
    a, axis = _flattened(as_tensor(a), axis)
    where = _indices(indices, a.spec.device)
    if where.dtype.kind == "b" or (where.size == 0 and isinstance(where, np.ndarray)):
        where = where.astype(np.int64)  # as in NumPy: booleans are 0 and 1 here, and no mask
    if mode != "raise":
        where = _inside(where, a.shape[axis], mode)
    y = in_order(read(a, (*(slice(None),) * axis, where) if axis else where, "take"), "C")
    if out is None:
        return y
    from ..array.results import delivered  # which writes, with keys that are made here

    return delivered(y, out, "take")


def _inside(where: Any, size: int, mode: str) -> Any:
    """Return indices with those out of bounds replaced."""
    if mode not in ("wrap", "clip"):
        raise ValueError(f"take: mode must be 'raise', 'wrap' or 'clip', got {mode!r}")
    if not size:
        return where  # for which there is no index
    if mode == "wrap":
        return where % size
    lower, upper = (maximum, minimum) if isinstance(where, Tensor) else (np.maximum, np.minimum)
    return upper(lower(where, 0), size - 1)


def _flattened(x: Tensor, axis: int | None) -> tuple[Tensor, int]:
    """Return the tensor and the axis where indices count; without an axis it is flattened first."""
    if axis is not None:
        return x, normalize_axis_index(axis, x.ndim)
    return x if x.ndim == 1 else _shape.reshape(x, ncore=x.ndim, shape=(x.size,)), 0


def _indices(indices: ArrayLike, device: str) -> Any:
    """Return indices as an array, or as they are where a captured function reads them later, or a
    device."""
    if (mode.capture is not None and is_late(indices)) or stays(indices, device):
        return indices
    return indices._on_host() if isinstance(indices, Tensor) else np.asarray(guarded(indices))


def take_along_axis(arr: ArrayLike, indices: ArrayLike, axis: int | None = -1) -> Tensor:
    """Return elements of ``arr`` picked by ``indices``, which match ``arr`` along all other axes.

    Parameters
    ----------
    arr : array_like
    indices : array_like of int
        As many axes as ``arr``; axes of size 1 are repeated. What ``argsort`` returns, for example.
    axis : int, optional
        Where the indices count; ``None`` flattens ``arr`` first.

    Raises
    ------
    ValueError
        If the numbers of axes differ.
    IndexError
        For indices out of bounds, or no integers.

    Notes
    -----
    Each element's gradient is the sum of those of the results that it went to.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([[1.0, 2.0], [4.0, 3.0]], requires_grad=True)
    >>> ng.take_along_axis(x, [[1], [0]], axis=1)
    tensor([[2.],
            [4.]], grad_fn=<gather>)
    """
    arr = as_tensor(arr)
    where = _indices(indices, arr.spec.device)
    arr, axis = _flattened(arr, axis)
    if where.ndim != arr.ndim:
        raise ValueError(
            f"take_along_axis: indices of shape {where.shape} and arr of shape {arr.shape} differ "
            f"in their axes"
        )
    if where.dtype.kind not in "iu":
        raise IndexError(f"take_along_axis: indices must be integers, not {where.dtype}")
    is_plain = not other_modes and arr.requires_grad and arr.spec.device == CPU
    known = of_indices_along(where, arr.shape, axis, "take_along_axis") if is_plain else None
    if mode.capture is not None and type(arr) is Tensor and is_late(where):
        known = of_late_indices_along(as_tensor(where), arr.shape, axis, "take_along_axis")
    if known is None:
        found = read(arr, _grid(where, arr.shape, axis), "take_along_axis")
    else:
        found = _gathered.call(arr, known[0], arr.ndim, 0, known[1], False)
    is_in_order = type(where) is np.ndarray and where.flags.c_contiguous
    if is_in_order and strides_of_value(found) is None:
        return found
    return laid_like(found, as_tensor(where))


def _grid(where: Any, shape: tuple[int, ...], axis: int) -> tuple[Any, ...]:
    """Return index arrays: ``where`` along ``axis``, every element once along the others."""
    ndim = len(shape)
    return tuple(
        where if n == axis else np.arange(size).reshape((1,) * n + (-1,) + (1,) * (ndim - n - 1))
        for n, size in enumerate(shape)
    )
