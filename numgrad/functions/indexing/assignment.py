"""NumPy's functions that write into arrays, here into tensors and with gradients, and those that
pick elements by conditions and numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.graph.value import CPU
from ...engine.record.apply import mode as recording
from ...engine.record.composition import composed
from ...engine.record.guards import guarded
from ...operators.elementwise import arithmetic as _elementwise
from ...operators.shape.gathering import gather
from ..array.argument_checks import sequence
from ..array.axes import normalize_axis_index
from ..array.operands import as_tensor, in_one_dtype, values_of
from ..array.results import delivered, mask_of, writable
from ..creation.memory_order import in_order
from ..reduction.cumulative import cumsum
from ..shape.joining import stack
from ..shape.repeating import broadcast_arrays, broadcast_to
from ..shape.reshaping import flatten, ravel, reshape
from ..sorting.searching import found, nonzero
from . import inplace
from .indexing import _grid, _indices, _inside, take, take_along_axis


def _host(values: ArrayLike) -> np.ndarray:
    return values._on_host() if isinstance(values, Tensor) else np.asarray(guarded(values))


def _in_turn(values: Tensor, count: int) -> Tensor:
    """Return as many values, beginning again behind the last one."""
    v = ravel(values)
    return v if v.size == count else take(v, np.arange(count) % v.size)


def _write_flat(a: Tensor, places: np.ndarray, values: ArrayLike) -> None:
    """Write values in turn to places of the flattened tensor; where there are none, as in NumPy,
    nothing is written."""
    v = as_tensor(values)
    if places.size and v.size:
        key = np.unravel_index(places, a.shape) if a.ndim else ...
        inplace.setitem(a, key, _in_turn(v, places.size))


def _require_integers(places: Any, called: str) -> None:
    """Raise for numbers that are no positions; an empty list is one of floats, and has none."""
    if places.size and places.dtype.kind not in "biu":
        raise TypeError(f"{called} needs integers as positions, got {places.dtype}")


def _require_size(mask: Any, a: Tensor, called: str) -> None:
    if mask.size != a.size:
        raise ValueError(
            f"{called} needs a mask with as many elements as the tensor of shape {a.shape}, "
            f"got one of shape {mask.shape}"
        )


def put(a: Tensor, ind: ArrayLike, v: ArrayLike, mode: str = "raise") -> None:
    """Write values at places of the flattened tensor.

    Parameters
    ----------
    a : Tensor
        Written in place.
    ind : array_like of int
    v : array_like
        Begins again where there are fewer values than places.
    mode : {"raise", "wrap", "clip"}
        As in `take`.

    Raises
    ------
    IndexError
        For a place out of bounds.
    TypeError
        For places that are no integers.

    Notes
    -----
    Gradients are those of `setitem`.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.zeros((2, 2))
    >>> ng.put(x, [0, 3], [1.0, 2.0])
    >>> x
    tensor([[1., 0.],
            [0., 2.]])
    """
    a, places = writable(a, "put", v), np.ravel(_host(ind))
    _require_integers(places, "put")
    places = places.astype(np.int64)
    places = places if mode == "raise" else _inside(places, a.size, mode)
    if places.size and (places.min() < -a.size or places.max() >= a.size):
        raise IndexError(f"put: an index is out of bounds for {a.size} elements")
    _write_flat(a, places % max(a.size, 1), v)


def place(arr: Tensor, mask: ArrayLike, vals: ArrayLike) -> None:
    """Write values, one after the other, to the elements where a mask is true; see `put`.

    Raises
    ------
    ValueError
        If the mask has another size, or there is no value to write.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0, 3.0])
    >>> ng.place(x, x > 1.5, [10.0, 20.0])
    >>> x
    tensor([ 1., 10., 20.])
    """
    arr = writable(arr, "place", mask, vals)
    where, v = as_tensor(mask).astype(bool), ravel(as_tensor(vals))
    _require_size(where, arr, "place")
    if v.size:
        number = cumsum(ravel(where), dtype=np.int64) - 1  # of the value for each place
        given = take(v, number % v.size).reshape(arr.shape)
        inplace.setitem(arr, ..., _elementwise.where(where.reshape(arr.shape), given, arr))
    elif values_of(where).any():
        raise ValueError(f"place needs values, got shape {v.shape}")


def putmask(a: Tensor, mask: ArrayLike, values: ArrayLike) -> None:
    """Write to the elements where a mask is true those values that stand in the same place.

    Raises
    ------
    ValueError
        If the mask has another size.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0, 3.0])
    >>> ng.putmask(x, x > 1.5, [10.0, 20.0, 30.0])
    >>> x
    tensor([ 1., 20., 30.])
    """
    a = writable(a, "putmask", mask, values)
    where, v = as_tensor(mask), as_tensor(values)
    _require_size(where, a, "putmask")
    if v.size:
        given = _in_turn(v, a.size).reshape(a.shape)
        inplace.setitem(a, ..., _elementwise.where(where.reshape(a.shape), given, a))


def copyto(
    dst: Tensor, src: ArrayLike, casting: Any = "same_kind", where: ArrayLike = True
) -> None:
    """Write ``src`` into ``dst``, where a mask is true.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.zeros(2)
    >>> ng.copyto(x, 3.0, where=[True, False])
    >>> x
    tensor([3., 0.])
    """
    dst, value = writable(dst, "copyto", src, where), as_tensor(src)
    weak = type(src) in (int, float, complex) and np.result_type(dst.dtype, src) == dst.dtype
    if not weak and not np.can_cast(value.dtype, dst.dtype, casting):
        raise TypeError(f"copyto: {value.dtype} cannot become {dst.dtype} by {casting!r}")
    if where is not True:
        value = _elementwise.where(mask_of(where, "copyto"), broadcast_to(value, dst.shape), dst)
    inplace.setitem(dst, ..., value)


def put_along_axis(
    arr: Tensor, indices: ArrayLike, values: ArrayLike, axis: int | None = -1
) -> None:
    """Write values at indices that match ``arr`` along all other axes; see `take_along_axis`.

    Raises
    ------
    IndexError
        For indices that are no integers, or out of bounds.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.zeros((2, 2))
    >>> ng.put_along_axis(x, [[0], [1]], 5.0, 1)
    >>> x
    tensor([[5., 0.],
            [0., 5.]])
    """
    arr = writable(arr, "put_along_axis", values)
    where = _indices(indices, arr.spec.device)
    if where.dtype.kind not in "iu":
        raise IndexError(f"put_along_axis: indices must be integers, not {where.dtype}")
    if axis is None:
        put(arr, where, broadcast_to(as_tensor(values), where.shape))
        return
    if where.ndim != arr.ndim:
        raise ValueError(f"put_along_axis: indices need {arr.ndim} axes, got {where.ndim}")
    key = _grid(where, arr.shape, normalize_axis_index(axis, arr.ndim))
    inplace.setitem(arr, key, values)


def fill_diagonal(a: Tensor, val: ArrayLike, wrap: bool = False) -> None:
    """Write values to the main diagonal; with ``wrap`` again below it in tall matrices.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.zeros((2, 2))
    >>> ng.fill_diagonal(x, [1.0, 2.0])
    >>> x
    tensor([[1., 0.],
            [0., 2.]])
    """
    a = writable(a, "fill_diagonal", val)
    if a.ndim < 2 or (a.ndim > 2 and len({*a.shape}) > 1):
        raise ValueError(f"fill_diagonal: a needs two axes, or more of one size, got {a.shape}")
    step = 1 + int(np.cumprod(a.shape[:0:-1]).sum())
    end = a.shape[1] ** 2 if a.ndim == 2 and not wrap else a.size
    places = np.arange(a.size)[:end:step]
    _write_flat(a, places, val)


class Flat:
    """The elements of a tensor one after the other, to be read and written: ``t.flat[i] = v``."""

    def __init__(self, tensor: Tensor) -> None:
        self.base = tensor

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> Any:
        return iter(ravel(self.base))

    def __getitem__(self, key: Any) -> Tensor:
        return ravel(self.base)[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        put(self.base, np.arange(self.base.size)[key], value)

    def copy(self) -> Tensor:
        """Return the elements along one axis."""
        return flatten(self.base)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.copy().__array__(dtype, copy)


# Picking ------------------------------------------------------------------------------------------


def compress(
    condition: ArrayLike, a: ArrayLike, axis: int | None = None, out: Tensor | None = None
) -> Tensor:
    """Return the slices along an axis for which a condition holds.

    Parameters
    ----------
    condition : array_like of bool
        One axis, at most as long as that of ``a``.
    a : array_like
    axis : int, optional
        By default ``a`` is flattened.
    out : Tensor, optional
        Where the result is written.

    Notes
    -----
    The gradient is that of `take`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.compress([False, True], [[1.0, 2.0], [3.0, 4.0]], axis=0)
    tensor([[3., 4.]])
    """
    mask = as_tensor(condition)
    if mask.ndim != 1:
        raise ValueError(f"compress: condition needs one axis, got shape {mask.shape}")
    return take(a, nonzero(mask)[0], axis, out)


def extract(condition: ArrayLike, arr: ArrayLike) -> Tensor:
    """Return the elements, along one axis, for which a condition holds; see `compress`.

    Raises
    ------
    IndexError
        If the condition holds beyond the last element.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.extract([True, False], [1.0, 2.0])
    tensor([1.])
    """
    return take(ravel(as_tensor(arr)), found(lambda mask: (np.flatnonzero(mask),), condition)[0])


def choose(
    a: ArrayLike, choices: Sequence[ArrayLike], out: Tensor | None = None, mode: str = "raise"
) -> Tensor:
    """Return for each integer the element of that array of several.

    Parameters
    ----------
    a : array_like of int
    choices : sequence of array_like
        Broadcast with each other and with ``a``.
    out, mode
        As in `take`.

    Raises
    ------
    TypeError
        If ``a`` has no integers.
    ValueError
        For a number without an array.

    Notes
    -----
    The gradient goes to the array that was chosen.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.choose([0, 1, 0], [[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])
    tensor([ 1., 20.,  3.])
    """
    a, parts = as_tensor(a), in_one_dtype(*sequence(choices, "choices"))
    if a.dtype.kind not in "biu":
        raise TypeError(f"choose needs integers to choose by, got {a.dtype}")
    a = a.astype(np.int64, copy=False)
    if mode == "raise" and a.array is not None:
        given, count = a._on_host(), len(parts)
        is_out = ((given < 0) | (given >= count)).any()
        if is_out and broadcast_arrays(a, *parts)[0].size:
            raise ValueError(f"choose: a has numbers that are not from 0 to {count - 1}")
    return delivered(_chosen(a, mode, *parts), out, "choose")


@composed
def _chosen(a: Tensor, mode: str, *parts: Tensor) -> Tensor:
    """Return for each number in ``a``, one of the parts, its element."""
    where, *parts = broadcast_arrays(a, *parts)  # type: ignore[assignment]
    numbers = where if mode == "raise" else _inside(where, len(parts), mode)
    table = stack(parts)
    if recording.capture is not None or a.device != CPU:  # programs look whether it is one of them
        return in_order(take_along_axis(table, numbers[None], 0)[0], "C")
    places = numbers * where.size + np.arange(where.size).reshape(where.shape)
    flat = reshape(places, (-1,))
    found = gather(table, flat, count=table.ndim, tail=0, shape=(1, *where.shape))
    return in_order(found[0], "C")
