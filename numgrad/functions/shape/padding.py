"""Adding elements at the ends of axes."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._errors import ArgTypeError
from ..._tensor import ArrayLike, Tensor
from ...engine.record.composition import composed
from ...engine.record.guards import guarded
from ...operators.shape import indexing as _indexing
from ..array.axes import normalize_axis_index
from ..array.operands import as_tensor, whole
from ..array.results import way_out
from ..creation.constants import full
from ..creation.from_data import carries_graph
from ..creation.memory_order import in_order, order_of
from ..creation.ranges import linspace
from ..elementwise.rounding import round
from ..indexing.indexing import take
from ..reduction.reduction import max, min
from ..reduction.statistics import mean, median
from .joining import concat
from .repeating import broadcast_to
from .reshaping import expand_dims
from .selection import where

_STATISTICS = {"maximum": max, "minimum": min, "mean": mean, "median": median}
_OPTIONS = {
    "constant": "constant_values", "linear_ramp": "end_values", "reflect": "reflect_type",
    "symmetric": "reflect_type", **dict.fromkeys(_STATISTICS, "stat_length"), "edge": "",
    "wrap": "", "empty": "",
}  # fmt: skip
"""What each mode takes beside the widths."""


@composed
def pad(
    array: ArrayLike,
    pad_width: Any,
    mode: str = "constant",
    *,
    constant_values: Any = None,
    end_values: Any = None,
    stat_length: Any = None,
    reflect_type: str | None = None,
) -> Tensor:
    """Add elements at the ends of the axes, as `numpy.pad` does.

    Parameters
    ----------
    array : array_like
    pad_width : int, pair of int, sequence of pairs, or dict
        How many before and after.
    mode : str
        Where they come from: "constant", "edge", "reflect", "symmetric", "wrap", "linear_ramp",
        "maximum", "minimum", "mean", "median" or "empty", which are zeros.
    constant_values, end_values : number, pair, or sequence of pairs
        For "constant", and where the ramps of "linear_ramp" end; 0 by default.
    stat_length : int, pair, or sequence of pairs, optional
        Of how many elements at each end the mean etc. is taken, by default of all.
    reflect_type : {"even", "odd"}, optional
        With "odd", "reflect" and "symmetric" turn the elements around the value at the edge.

    Raises
    ------
    ValueError
        For another mode, an option of another mode, and an axis without elements to take.

    Notes
    -----
    The gradient of each element is the sum of those of its copies, and of its parts in means and
    ramps; that of a constant, or of the end of a ramp, those of the elements that it is in.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.pad(ng.tensor([1.0, 2.0]), (1, 2), mode="edge")
    tensor([1., 1., 2., 2., 2.])
    """
    if callable(mode):
        raise ArgTypeError(f"pad takes no function as mode; {way_out('pad')}")
    given = {
        "constant_values": constant_values, "end_values": end_values, "stat_length": stat_length,
        "reflect_type": reflect_type,
    }  # fmt: skip
    _require_options(mode, given)
    array = as_tensor(array)
    widths = _pairs(guarded(pad_width), array.ndim)
    values = 0 if constant_values is None else constant_values
    if mode == "constant" and not carries_graph(values):
        padded = _within_constants(array, widths, guarded(values))
    else:
        option = given[_OPTIONS[mode]] if _OPTIONS[mode] else None
        padded = _along_each(array, widths, mode, option)
    return in_order(padded, order_of(array))


def _require_options(mode: str, given: dict[str, Any]) -> None:
    if not isinstance(mode, str) or mode not in _OPTIONS:
        raise ValueError(f"pad: mode must be one of {', '.join(_OPTIONS)}, got {mode!r}")
    for name, value in given.items():
        if value is not None and name != _OPTIONS[mode]:
            raise ValueError(f"pad: unsupported keyword arguments for mode {mode!r}: {name}")


def _pairs(pad_width: Any, ndim: int) -> list[tuple[int, int]]:
    """Return how many elements to add before and after, for each axis."""
    if isinstance(pad_width, dict):
        widths = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            before, after = np.broadcast_to(width, 2)
            widths[normalize_axis_index(axis, ndim)] = (whole(before), whole(after))
    else:
        pairs = np.broadcast_to(np.asarray(pad_width), (ndim, 2))
        if pairs.dtype.kind not in "iu":
            raise TypeError("pad: pad_width must be integers")
        widths = [(whole(before), whole(after)) for before, after in pairs]
    if any(n < 0 for pair in widths for n in pair):
        raise ValueError("pad: pad_width cannot be negative")
    return widths


def _within_constants(x: Tensor, widths: Sequence[tuple[int, int]], constants: Any) -> Tensor:
    """Write ``x`` into the middle of an array of constants."""
    sizes = [before + n + after for n, (before, after) in zip(x.shape, widths, strict=True)]
    if np.ndim(constants) == 0:
        around = np.broadcast_to(np.asarray(constants).astype(x.dtype), sizes)
    else:
        around = np.pad(np.zeros(x.shape, x.dtype), widths, constant_values=constants)
    key = tuple((before, before + n, 1) for n, (before, _) in zip(x.shape, widths, strict=True))
    chain = _indexing.as_chain([(_indexing.index, {"key": key})])
    return _indexing.put_view(around, x, ncore=x.ndim, nregion=x.ndim, chain=chain)


def _along_each(x: Tensor, widths: Sequence[tuple[int, int]], mode: str, option: Any) -> Tensor:
    """Pad one axis after the other; each includes what the axes before have got."""
    padded, options = x, None
    if mode in ("constant", "linear_ramp", "empty"):
        options = broadcast_to(as_tensor(0 if option is None else option), (x.ndim, 2))
    elif mode in _STATISTICS:
        none = None if option is None else np.broadcast_to(np.asarray(guarded(option)), (x.ndim, 2))
        options = [(n, n) for n in x.shape] if none is None else none.tolist()
    for axis, width in enumerate(widths):
        if not any(width):
            continue
        if not x.shape[axis] and mode not in ("constant", "empty"):
            raise ValueError(
                f"pad: can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
            )
        if options is not None:
            ends = zip(width, options[axis], (False, True), strict=True)
            first, last = (_END[mode](padded, axis, *end, mode) for end in ends)
            padded = concat([first, padded, last], axis=axis)
        elif option == "odd":
            padded = _turned(padded, axis, width, mode)
        elif option not in (None, "even"):
            raise ValueError(f"pad: reflect_type must be 'even' or 'odd', got {option!r}")
        else:
            padded = take(padded, np.pad(np.arange(x.shape[axis]), width, mode), axis)  # type: ignore[call-overload]
    return padded if padded is not x else x.clone()


# One end of an axis -------------------------------------------------------------------------------


def _constant(x: Tensor, axis: int, count: int, value: Any, at_end: bool, mode: str) -> Tensor:
    shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
    return full(shape, value.astype(x.dtype, copy=False))


def _ramp(x: Tensor, axis: int, count: int, value: Any, at_end: bool, mode: str) -> Tensor:
    """Return numbers from ``value`` to the edge, which is not among them."""
    edge = take(x, -1 if at_end else 0, axis)
    ramp = linspace(value, edge, count, endpoint=False, dtype=x.dtype, axis=axis)
    return take(ramp, np.arange(count)[::-1], axis) if at_end else ramp


def _statistic(x: Tensor, axis: int, count: int, length: int, at_end: bool, mode: str) -> Tensor:
    n = x.shape[axis]
    if length < 0 or (not length and mode in ("maximum", "minimum")):
        raise ValueError(f"pad: stat_length of {length} yields no value for padding")
    length = n if length > n else length
    places = np.arange(n - length, n) if at_end else np.arange(length)
    value = expand_dims(_STATISTICS[mode](take(x, places, axis), axis=axis), axis)
    value = round(value) if x.dtype.kind in "iu" and value.dtype.kind == "f" else value
    shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
    return broadcast_to(value.astype(x.dtype, copy=False), shape)


_END: dict[str, Callable[..., Tensor]] = {
    "constant": _constant, "empty": _constant, "linear_ramp": _ramp,
    **dict.fromkeys(_STATISTICS, _statistic),
}  # fmt: skip


def _turned(x: Tensor, axis: int, width: tuple[int, int], mode: str) -> Tensor:
    """Return elements turned around the values at the edges, again and again: a full turn there
    and back adds twice the difference of the two."""
    n = x.shape[axis]
    between = n - 1 if mode == "reflect" else n
    if not between:
        return take(x, np.pad(np.zeros(1, int), width, "edge"), axis)
    turns, place = np.divmod(np.arange(-width[0], n + width[1]), 2 * between)
    is_back = place >= n
    place = np.where(is_back, 2 * between - place - (mode == "symmetric"), place)
    along = (-1,) + (1,) * (x.ndim - axis - 1)
    first, last = take(x, [0], axis), take(x, [n - 1], axis)
    there = take(x, place, axis)
    there = where(is_back.reshape(along), 2 * last - there, there)
    shift = (2 * turns).reshape(along).astype(x.dtype)
    return where(shift == 0, there, there + shift * (last - first))
