"""Elements at the ends of the axes: constants, copies, ramps and statistics, as in `numpy.pad`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._tensor import ArrayLike, Tensor
from ..engine.seen import seen
from ..operators import indexing as _indexing
from .axes import normalize_axis_index
from .indexing import take
from .joining import concat
from .operands import as_tensor, whole
from .reduction import max, min
from .repeating import broadcast_to
from .rounding import floor, rint
from .statistics import mean, median


def pad(
    x: ArrayLike,
    pad_width: Any,
    mode: str = "constant",
    *,
    constant_values: Any = None,
    end_values: Any = None,
    stat_length: Any = None,
    reflect_type: str | None = None,
) -> Tensor:
    """Add elements at the ends of the axes.

    Parameters
    ----------
    x : array_like
    pad_width : int, pair of int, sequence of pairs, or dict
        How many before and after, as in `numpy.pad`.
    mode : str
        Where they come from: "constant", "empty" (which is 0 here), "edge", "reflect", "symmetric",
        "wrap", "linear_ramp", "maximum", "mean", "median" or "minimum".
    constant_values : number, pair, or sequence of pairs
        For ``mode="constant"``, 0 by default.
    end_values : number, pair, or sequence of pairs
        Where a "linear_ramp" ends, at 0 by default.
    stat_length : int, pair, or sequence of pairs
        Of how many elements at the edge the maximum, mean, median or minimum is; by default of all.
    reflect_type : {"even", "odd"}
        For "reflect" and "symmetric": "odd" continues with twice the edge less the elements.

    Raises
    ------
    ValueError
        For another mode, a mode that is a function, and an option that the mode does not have.

    Notes
    -----
    The gradient of each element is the sum of those of its copies, and of what is made of it;
    constants and ends of ramps have none.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.pad(ng.tensor([1.0, 2.0]), (1, 2), mode="edge")
    tensor([1., 1., 2., 2., 2.])
    >>> ng.pad(ng.tensor([1.0, 2.0]), (0, 2), "reflect", reflect_type="odd")
    tensor([1., 2., 3., 4.])
    """
    x = as_tensor(x)
    widths = _widths(seen(pad_width), x.ndim)
    given = {
        "constant_values": constant_values, "end_values": end_values, "stat_length": stat_length,
        "reflect_type": reflect_type,
    }  # fmt: skip
    option = seen(_option(mode, {name: v for name, v in given.items() if v is not None}))
    if mode in ("constant", "empty"):
        return _pad_constant(x, widths, 0 if option is None else option)
    padded = x
    pairs = _pairs(mode, option, x.ndim)
    for axis, (width, pair) in enumerate(zip(widths, pairs, strict=True)):
        if any(width):
            if not x.shape[axis]:
                raise ValueError(f"pad: axis {axis} has no elements; mode={mode!r} needs one")
            padded = _FUNCTIONS[mode](padded, axis, width, mode, pair)
    return padded if padded is not x else x.clone()


def _option(mode: Any, given: dict[str, Any]) -> Any:
    """Return the option of a mode; those of other modes are refused."""
    if not isinstance(mode, str) or mode not in _OPTIONS:
        raise ValueError(f"pad: mode must be one of {', '.join(_OPTIONS)}, got {mode!r}")
    others = given.keys() - {_OPTIONS[mode]}
    if others:
        raise ValueError(f"pad: mode={mode!r} does not take {', '.join(sorted(others))}")
    return given.get(_OPTIONS[mode])


def _pairs(mode: str, option: Any, ndim: int) -> Sequence[Any]:
    """Return what is said for the two ends of each axis."""
    if _OPTIONS[mode] == "reflect_type" or option is None:
        return [option] * ndim
    return list(np.broadcast_to(np.asarray(option), (ndim, 2)))


def _widths(pad_width: Any, ndim: int) -> list[tuple[int, int]]:
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


def _pad_constant(x: Tensor, widths: Sequence[tuple[int, int]], constants: Any) -> Tensor:
    """Write ``x`` into the middle of an array of constants."""
    sizes = [before + n + after for n, (before, after) in zip(x.shape, widths, strict=True)]
    if np.ndim(constants) == 0:
        around = np.broadcast_to(np.asarray(constants).astype(x.dtype), sizes)
    else:
        around = np.pad(np.zeros(x.shape, x.dtype), widths, constant_values=constants)
    key = tuple((before, before + n, 1) for n, (before, _) in zip(x.shape, widths, strict=True))
    chain = _indexing.as_chain([(_indexing.index, {"key": key})])
    return _indexing.put_view(around, x, ncore=x.ndim, nregion=x.ndim, chain=chain)


# Copies -------------------------------------------------------------------------------------------


def _copies(x: Tensor, axis: int, width: tuple[int, int], mode: Any, reflect: Any) -> Tensor:
    n = x.shape[axis]
    padded = take(x, np.pad(np.arange(n), width, mode), axis)
    if reflect in (None, "even") or (mode == "reflect" and n == 1):
        return padded
    if reflect != "odd":
        raise ValueError(f"pad: reflect_type must be 'even' or 'odd', got {reflect!r}")
    before = _odd(x, axis, np.arange(-width[0], 0), mode)
    return concat([before, x, _odd(x, axis, np.arange(n, n + width[1]), mode)], axis=axis)


def _odd(x: Tensor, axis: int, places: np.ndarray, mode: str) -> Tensor:
    """Return what an odd continuation has at places outside: it is odd about both edges, so that it
    has grown by twice their difference after two periods."""
    n = x.shape[axis]
    turns, rest = np.divmod(places, n - 1 if mode == "reflect" else n)
    mirrored = turns % 2
    inside = take(x, np.where(mirrored, n - 1 - rest, rest), axis)
    first, last = take(x, [0], axis), take(x, [-1], axis)
    factors = (1 - 2 * mirrored, mirrored - turns, mirrored + turns)
    shape = (-1, *(1,) * (x.ndim - axis - 1))
    sign, of_first, of_last = (f.astype(x.dtype).reshape(shape) for f in factors)
    return inside * sign + first * of_first + last * of_last


# What is made of elements -------------------------------------------------------------------------


def _ramps(x: Tensor, axis: int, width: tuple[int, int], mode: str, ends: Any) -> Tensor:
    before, after = (0, 0) if ends is None else ends
    left = _ramp(take(x, [0], axis), axis, width[0], before)
    right = _ramp(take(x, [-1], axis), axis, width[1], after)
    return concat([left, x, take(right, np.arange(width[1])[::-1], axis)], axis=axis)


def _ramp(edge: Tensor, axis: int, n: int, end: Any) -> Tensor:
    """Return ``n`` numbers from ``end`` that lead to an edge, rounded down if it is an integer."""
    steps = np.arange(n).reshape(-1, *(1,) * (edge.ndim - axis - 1))
    steps = steps.astype(np.float64 if edge.dtype.kind in "biu" else edge.dtype)
    ramp = (edge - end) / np.maximum(n, 1) * steps + end
    return (floor(ramp) if edge.dtype.kind in "iu" else ramp).astype(edge.dtype, copy=False)


def _statistics(x: Tensor, axis: int, width: tuple[int, int], mode: str, lengths: Any) -> Tensor:
    n, found = x.shape[axis], []
    for end, length in enumerate((None, None) if lengths is None else lengths):
        length = n if length is None else int(np.minimum(length, n))
        if length < 0 or (not length and mode in ("maximum", "minimum")):
            raise ValueError(f"pad: stat_length={length} gives no {mode}")
        places = np.arange(n - length, n) if end else np.arange(length)
        value = _STATISTICS[mode](take(x, places, axis), axis, keepdims=True)
        value = (rint(value) if x.dtype.kind in "iu" else value).astype(x.dtype, copy=False)
        found.append(broadcast_to(value, (*x.shape[:axis], width[end], *x.shape[axis + 1 :])))
    return concat([found[0], x, found[1]], axis=axis)


_STATISTICS = {"maximum": max, "mean": mean, "median": median, "minimum": min}
_OPTIONS = {
    "constant": "constant_values", "empty": "", "edge": "", "wrap": "", "reflect": "reflect_type",
    "symmetric": "reflect_type", "linear_ramp": "end_values",
    **dict.fromkeys(_STATISTICS, "stat_length"),
}  # fmt: skip
"""The modes, and the option of each."""
_FUNCTIONS: dict[str, Any] = {
    **dict.fromkeys(("edge", "reflect", "symmetric", "wrap"), _copies),
    "linear_ramp": _ramps, **dict.fromkeys(_STATISTICS, _statistics),
}  # fmt: skip
