"""Index expressions: NumPy's keys, checked and brought to what operators take."""

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..._tensor import Tensor
from ...engine.capture.capture import WAYS_OUT, constant_elements, refuse
from ...engine.graph.value import CPU
from ...engine.record.apply import mode, other_modes
from ...engine.record.guards import guarded
from ..array.operands import as_tensor, lists_of, plain
from ..array.pandas_operands import unframed

FULL = (None,)
_ALLOWED = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean "
    "arrays are valid indices"
)


class BasicKey(NamedTuple):
    """Integers, slices as tuples and ``None`` along the last axes: the result is a view."""

    items: tuple[Any, ...]

    @property
    def new_axes(self) -> tuple[int, ...] | None:
        """The negative positions of new axes when the key does nothing else."""
        if any(item is not None and item != FULL for item in self.items):
            return None
        return tuple(n - len(self.items) for n, item in enumerate(self.items) if item is None)


class ArrayKey(NamedTuple):
    """Positions along ``flattened`` axes in front of the last ``tail``: the result is a copy.

    ``shape`` is that of the positions in the result; ``unique`` says that none can occur twice.
    Positions are a tensor where they are known only when a program runs.
    """

    positions: np.ndarray | Tensor
    flattened: int
    tail: int
    shape: tuple[int, ...]
    unique: bool


class Items(NamedTuple):
    """Items for all axes, of which some are arrays, or tensors whose elements a program reads."""

    items: list[Any]
    is_late: bool
    is_view: bool  # with numbers in place of arrays without axes


BASIC = frozenset({int, slice, type(None), type(Ellipsis)})
_INTEGERS = frozenset([np.dtype(code).type for code in np.typecodes["AllInteger"]])
NUMPYS_TOO = BASIC | _INTEGERS


def is_basic(key: Any, kinds: frozenset[type] = BASIC) -> bool:
    """Whether a key is made of integers, slices, ``...`` and ``None``, so that the result is a
    view."""
    if type(key) is not tuple:
        return type(key) in kinds
    return kinds.issuperset(map(type, key))


def is_fixed(key: Any) -> bool:
    """Whether a key that gives a view is made of Python's own numbers, of which a captured function
    need not take note."""
    items = key if type(key) is tuple else (key,)
    bounds = [x for i in items if type(i) is slice for x in (i.start, i.stop, i.step)]
    return all([x is None or type(x) is int for x in bounds])  # noqa: C419  a list is faster


def plain_numbers(key: Any, ndim: int) -> Any:
    """Return a key with Python's integers in place of NumPy's, and of arrays without axes where it
    has an integer for each of ``ndim`` axes: others make a copy of what would be a view."""
    items = key if type(key) is tuple else (key,)
    numbers = [int(item) if type(item) in _INTEGERS else item for item in items]
    if len(items) == ndim and not other_modes:
        found = [int(item) if _is_number(item) else item for item in numbers]
        if {int}.issuperset(map(type, found)):
            return tuple(found)
    return tuple(numbers) if type(key) is tuple else numbers[0]


def _is_number(item: Any) -> bool:
    """Whether an item is an integer in an array without axes."""
    return isinstance(item, (np.ndarray, Tensor)) and not item.ndim and item.dtype.kind in "iu"


def has_window(key: Any) -> bool:
    """Whether a slice begins at a number that is known later."""
    items = key if type(key) is tuple else (key,)
    return any([type(item) is slice and _is_unknown(item.start) for item in items])  # noqa: C419


def parse(key: Any, shape: Sequence[int], device: str = CPU) -> BasicKey | Items:
    """Return a key for an array of ``shape``, normalised where the result is a view. Indices that
    are on the array's ``device``, and not the CPU, stay there: its programs read them.

    Raises
    ------
    IndexError
        As NumPy does: too many items, items of another type; out of bounds where it is a view.
    """
    if is_basic(key) and (not other_modes or is_fixed(key)):
        return _basic_key(key if type(key) is tuple else (key,), shape)
    items = [_item(i, device) for i in key] if isinstance(key, tuple) else [_item(key, device)]
    full = expand(items, len(shape))
    kinds = set(map(type, items))
    has_arrays = Tensor in kinds or np.ndarray in kinds
    if other_modes and has_window(tuple(full)):
        windowed = _windowed(full, shape)
        if windowed is not full:
            return Items(windowed, True, True)
    if has_arrays:
        return Items(full, Tensor in kinds, _is_view_of_numbers(full, items))
    return _basic_key(full, shape)


def _is_view_of_numbers(full: Sequence[Any], items: Sequence[Any]) -> bool:
    """Whether a key would give a view if its arrays were numbers."""
    if any([is_array(item) and item.ndim for item in items]):  # noqa: C419
        return False
    return any([item is ... for item in items]) or any(  # noqa: C419
        [item is None or type(item) is slice for item in full]  # noqa: C419
    )


def _windowed(items: list[Any], shape: Sequence[int]) -> list[Any]:
    """Return the items with slices from one late integer to another replaced by the positions that
    they stand for; the same list where there are none, or arrays would give another result."""
    late = [n for n, item in enumerate(items) if type(item) is slice and _is_unknown(item.start)]
    touched = [0 if n in late else item for n, item in enumerate(items)]
    # Arrays of no axes are numbers already, or known later; but for masks, which add an axis.
    is_mixed = any([type(x) is np.ndarray or (is_array(x) and x.ndim) for x in items])  # noqa: C419
    if not late or is_mixed or not adjacent(touched):
        return items
    made, axis, behind = items.copy(), 0, len(late)
    for n, item in enumerate(items):
        if n in late:
            window = getattr(item.start, "window", None)
            positions = None if window is None else window(item, shape[axis])
            if positions is None:
                return items
            behind -= 1
            made[n] = positions.reshape(-1, *(1,) * behind)
        axis += consumed(item)
    return made


def is_same(first: Any, second: Any) -> bool:
    """Whether two keys, or items of keys, are made of the same numbers and tensors."""
    if first is second or type(first) is not type(second):
        return first is second
    if type(first) is slice:
        return is_same(_parts(first), _parts(second))
    if type(first) is tuple:
        return len(first) == len(second) and all(map(is_same, first, second))
    return type(first) is int and first == second


def _parts(item: slice) -> tuple[Any, Any, Any]:
    return item.start, item.stop, item.step


def _item(item: Any, device: str) -> Any:
    """Return one item as ``None``, ellipsis, slice, integer, or array of integers or booleans."""
    kind = type(item)
    if item is None or item is ... or kind is int:
        return item
    if kind is slice:
        return guarded(item)
    item = item if kind is np.ndarray else unframed(item)
    if isinstance(item, (Tensor, np.ndarray, list, tuple, range)):
        return _index_array(item, device)
    if isinstance(item, (bool, np.bool_)):
        return np.asarray(item)
    try:
        return operator.index(item)
    except TypeError:
        raise IndexError(f"{_ALLOWED}, not {type(item).__name__}") from None


def _index_array(item: Any, device: str) -> Any:
    if (mode.capture is not None and is_late(item)) or stays(item, device):
        return _require_integers(as_tensor(item))
    if isinstance(item, Tensor):
        array = item._on_host()
    else:
        array = np.asarray(lists_of(guarded(item)))
        if not isinstance(item, np.ndarray) and array.size == 0:
            array = array.astype(np.intp)
    if array.dtype.kind not in "biu":
        raise IndexError(f"{_ALLOWED}, not an array of {array.dtype}")
    return int(array) if array.ndim == 0 and array.dtype.kind in "iu" else array


def stays(item: Any, device: str) -> bool:
    """Whether an index is an array on the device of the indexed array, where a program reads the
    index."""
    is_away = isinstance(item, Tensor) and item.spec.device == device != CPU
    return is_away and item.ndim > 0 and item.dtype.kind in "iu"


def is_late(item: Any) -> bool:
    """Whether a captured function is to read an index at each call: what is to be computed, lists
    with such items, and every array of integers."""
    if _is_unknown(item):
        return True
    is_known = isinstance(item, (Tensor, np.ndarray))
    return is_known and item.ndim > 0 and item.dtype.kind in "iu"


def _is_unknown(item: Any) -> bool:
    if isinstance(item, (list, tuple)):
        return any(map(_is_unknown, item))
    if not isinstance(item, Tensor) or item.array is not None:
        return False
    return item.dtype.kind != "b" or constant_elements(item) is None


def _require_integers(index: Tensor) -> Tensor:
    if index.dtype.kind == "b":
        refuse_mask(index.shape)
    if index.dtype.kind not in "iu":
        raise IndexError(f"{_ALLOWED}, not an array of {index.dtype}")
    return plain(index)


def refuse_mask(shape: tuple[int, ...], here: str = "") -> NoReturn:
    """Raise for a result that has as many elements as a mask selects, which nobody knows yet; at a
    line, or the one that is being executed."""
    refuse(
        f"a boolean mask as an index (of shape {shape}) decides about the shape of the result, and "
        f"its values are known only when the function is replayed. Functions of elements take "
        f"x[mask], or x[mask, 0], alone, with numbers or with y[mask], and their results may be "
        f"summed, averaged and the like (x[mask].mean()), or written with the same mask (x[mask] "
        f"*= 2). How many there are is mask.sum(). Else keep the shape with ng.where(mask, x, 0), "
        f"or find the positions outside (np.nonzero(mask)) and pass them as an argument. "
        f"{WAYS_OUT}",
        here,
    )


def consumed(item: Any) -> int:
    """Return how many axes of the array an item stands for, of an ellipsis those of `expand`."""
    if item is None or item is ...:
        return 0
    return item.ndim if isinstance(item, np.ndarray) and item.dtype.kind == "b" else 1


def expand(items: list[Any], ndim: int) -> list[Any]:
    """Replace the ellipsis, or what is left out at the end, by full slices; one that stands for no
    axis stays between arrays and integers, which it sets apart."""
    used, at = 0, None
    for n, item in enumerate(items):
        if item is ...:
            if at is not None:
                raise IndexError("an index can only have a single ellipsis ('...')")
            at = n
        else:
            used += consumed(item)
    if used > ndim:
        raise IndexError(
            f"too many indices for tensor: tensor is {ndim}-dimensional, but {used} were indexed"
        )
    at = len(items) if at is None else at
    if used == ndim and any(map(is_index, items[:at])) and any(map(is_index, items[at + 1 :])):
        return items
    return [*items[:at], *(slice(None),) * (ndim - used), *items[at + 1 :]]


# Views --------------------------------------------------------------------------------------------


def _basic_key(items: Sequence[Any], shape: Sequence[int]) -> BasicKey:
    ndim = len(shape)
    used = len(items) - items.count(None)
    if used > ndim or ... in items:
        items, used = expand(list(items), ndim), ndim
    axis = 0
    normal: list[Any] = []
    for item in items:
        if item is ...:
            continue
        if item is not None:
            size = shape[axis]
            item = _slice(item, size) if isinstance(item, slice) else _integer(item, axis, size)
            axis += 1
        if normal or item != FULL:
            normal.append(item)
    return BasicKey((*normal, *(FULL,) * (ndim - used)) if normal else ())


def _integer(item: int, axis: int, size: int) -> int:
    if not -size <= item < size:
        raise IndexError(f"index {item} is out of bounds for axis {axis} with size {size}")
    return item + size if item < 0 else item


def _slice(item: slice, size: int) -> tuple[int | None, ...]:
    """Return a slice as a tuple with bounds inside the axis."""
    start, stop, step = item.indices(size)
    if not range(start, stop, step):
        return (0, 0, 1) if size else FULL
    if step == 1:
        return FULL if stop - start == size else (start, stop, 1)
    return (start, None if stop < 0 else stop, step)


# Copies -------------------------------------------------------------------------------------------


def few_positions(items: Sequence[Any], shape: Sequence[int]) -> ArrayKey | None:
    """Return a key with positions that are looked up in a table of all of them; None where the key
    touches axes with more elements than tables are kept for."""
    lead, tail = untouched(items)
    sizes = tuple(shape[lead : len(shape) - tail])
    if math.prod(sizes) > FEW:
        return None
    touched = tuple(items[lead : len(items) - tail])
    positions = look_up(numbers_of(sizes), touched, items, shape)
    return ArrayKey(positions.reshape(-1), len(sizes), tail, positions.shape, is_unique(touched))


def look_up(table: np.ndarray, touched: Any, items: Sequence[Any], shape: Sequence[int]) -> Any:
    """Return what NumPy finds at ``touched``; errors say what is wrong with the items of a key for
    an array of ``shape``."""
    try:
        return table[touched]
    except IndexError:
        check_arrays(items, shape)
        raise


def untouched(items: Sequence[Any]) -> tuple[int, int]:
    """Return how many axes stay as they are in front of those that a key touches, and behind."""
    full = [item == WHOLE if type(item) is slice else False for item in items]
    return full.index(False) if full[0] and adjacent(items) else 0, full[::-1].index(False)


WHOLE = slice(None)
FEW = 4096  # elements whose numbers are kept


@functools.lru_cache(maxsize=256)
def numbers_of(sizes: tuple[int, ...]) -> np.ndarray:
    """Return the numbers of the elements of an array, in its shape."""
    numbers = np.arange(math.prod(sizes), dtype=np.int64).reshape(sizes)
    numbers.flags.writeable = False
    return numbers


def is_unique(touched: Sequence[Any]) -> bool:
    """Whether no position can occur twice: there are no arrays but masks."""
    return all([not is_array(item) or item.dtype.kind == "b" for item in touched])  # noqa: C419


def is_array(item: Any) -> bool:
    """Whether an item is an array, known or late."""
    return isinstance(item, (np.ndarray, Tensor))


def adjacent(items: Sequence[Any]) -> bool:
    """Whether arrays and integers stand side by side; else NumPy puts their axes in front."""
    places = [n for n, item in enumerate(items) if is_index(item)]
    return places[-1] - places[0] == len(places) - 1


def is_index(item: Any) -> bool:
    """Whether an item is an array or an integer."""
    return type(item) is int or is_array(item)


def check_arrays(items: Sequence[Any], shape: Sequence[int]) -> None:
    """Raise for what is out of bounds, and for masks of another shape."""
    axis = 0
    for item in items:
        if isinstance(item, np.ndarray):
            if item.dtype.kind == "b":
                _check_mask(item, axis, shape)
            elif item.size:
                _integer(int(item.min()), axis, shape[axis])
                _integer(int(item.max()), axis, shape[axis])
        elif isinstance(item, int):
            _integer(item, axis, shape[axis])
        axis += consumed(item)


def _check_mask(mask: np.ndarray, axis: int, shape: Sequence[int]) -> None:
    for n, size in enumerate(mask.shape):
        if shape[axis + n] != size:
            raise IndexError(
                f"boolean index did not match indexed tensor along axis {axis + n}; size of axis "
                f"is {shape[axis + n]} but size of corresponding boolean axis is {size}"
            )
