"""The methods of NumPy's universal functions: ``add.reduce``, ``maximum.accumulate``, ``add.at``.

They are made of reductions and of the functions themselves: associative ones take elements in
pairs, so that few operations do for many, others take one element after the other.
"""

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.guards import guarded
from ...operators.elementwise.arithmetic import add
from ...operators.elementwise.cast import cast
from ...operators.shape.gathering import scatter_add, summable
from ..array.axes import Axis, kept, negative_axis, reduced_axes
from ..array.operands import as_tensor, as_tensors, kind_of_operand
from ..array.results import delivered, initial_of, present, way_out, writable
from ..creation.constants import full
from ..creation.memory_order import laid_like
from ..indexing import inplace
from ..indexing.index_arrays import positions_of
from ..indexing.keys import BasicKey, parse
from ..reduction import reduction
from ..reduction.cumulative import RUNNING_EXTREMA, cumprod, cumsum, running_extrema
from ..reduction.statistics import logsumexp
from ..shape.joining import concat, stack
from ..shape.reshaping import expand_dims, moveaxis, reshape
from .arithmetic import negative
from .universal import with_options

Binary = Callable[[Any, Any], Tensor]

ASSOCIATIVE = frozenset({
    "maximum", "minimum", "fmax", "fmin", "logaddexp", "logaddexp2", "hypot", "gcd", "lcm",
    "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor",
})  # fmt: skip
TESTS = frozenset({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})
"""Functions of two numbers whose result is no number of that kind, to be put in again."""


def methods_of(ufunc: np.ufunc) -> dict[str, Any]:
    """Return the methods that a function of NumPy has here."""
    if ufunc.signature is not None or ufunc.nout > 1:
        return {}
    if ufunc.nin == 1 or ufunc.__name__ in TESTS:
        return {"at": at} if ufunc.nin == 1 else {"at": at, "outer": outer}
    return {
        "reduce": reduce, "accumulate": accumulate, "reduceat": reduceat, "outer": outer, "at": at,
    }  # fmt: skip


# Reductions ---------------------------------------------------------------------------------------


def reduce(
    function: Any,
    array: ArrayLike,
    axis: Axis = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: ArrayLike | None = None,
    where: ArrayLike = True,
) -> Tensor:
    """Return ``f(f(x[0], x[1]), x[2])`` and so on along ``axis``: ``ng.add.reduce`` is a sum.

    Parameters are those of ``numpy.ufunc.reduce``.

    Notes
    -----
    The derivatives are those of the function. Of equal elements each receives its part of the
    gradient: even parts from ``maximum`` and ``minimum``.
    """
    name, x = function.__name__, as_tensor(array)
    options = {"keepdims": keepdims, "initial": initial, "where": where, "out": out}
    if name in _SUMS:
        return _SUMS[name](x, axis, dtype, **options)
    x = _in_loop(function, x, dtype)
    if name in _EXTREMA:
        return _EXTREMA[name](x, axis, **options)
    return delivered(_reduced(function, x, axis, keepdims, initial, where), out, f"{name}.reduce")


_SUMS = {"add": reduction.sum, "multiply": reduction.prod}
_EXTREMA = {"maximum": reduction.max, "minimum": reduction.min}


def _in_loop(function: Any, x: Tensor, dtype: Any) -> Tensor:
    """Return the elements in the dtype in which NumPy computes with pairs of them."""
    if function.__name__.startswith("logical"):
        return x.astype(np.bool_, copy=False)
    options = {} if dtype is None else {"signature": (None, None, np.dtype(dtype))}
    ufunc = getattr(np, function.__name__)
    wanted = ufunc.resolve_dtypes((x.dtype, x.dtype, None), **options)[0]
    becomes_float = x.dtype.kind in "biu" and wanted.kind == "f" and dtype is None
    return x.astype(np.float64 if becomes_float else wanted, copy=False)


def _reduced(
    function: Any, x: Tensor, axis: Axis, keepdims: bool, initial: Any, where: ArrayLike
) -> Tensor:
    called, identity = f"{function.__name__}.reduce", getattr(np, function.__name__).identity
    axes = reduced_axes(axis, x.ndim)
    if len(axes) > 1 and function.__name__ not in ASSOCIATIVE:
        raise ValueError(f"{called} is not reorderable: give one axis, not {axis}")
    if where is not True:
        if identity is None:
            raise TypeError(
                f"{called} does not take where=: there is no number that changes nothing; "
                f"{way_out(called)}"
            )
        x = present(x, where, identity, called)
    y = _along(function, _first_axis(x, axes), initial, identity, called) if axes else x
    return expand_dims(y, axes) if kept(keepdims) and axes else y


def _first_axis(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Return the array with some axes joined to one, the first axis."""
    moved = moveaxis(x, axes, tuple(range(len(axes))))
    return reshape(moved, (math.prod(moved.shape[: len(axes)]), *moved.shape[len(axes) :]))


def _along(function: Any, x: Tensor, initial: Any, identity: Any, called: str) -> Tensor:
    """Reduce the first axis."""
    if initial is not None:
        first = initial_of(initial, x.dtype, called)
        x = concat([full((1, *x.shape[1:]), first), x])
    if not x.shape[0]:
        if identity is None:
            raise ValueError(f"{called}: there is no element, and no number to begin with")
        return full(x.shape[1:], np.asarray(identity).astype(x.dtype))
    if function.__name__ == "logaddexp" and x.dtype.kind == "f":
        return logsumexp(x, 0)
    if function.__name__ in ASSOCIATIVE:
        return _pairwise(function, x)
    return functools.reduce(function, x)


def _pairwise(function: Binary, x: Tensor) -> Tensor:
    while x.shape[0] > 1:
        half = x.shape[0] // 2
        last = x[2 * half :]
        x = function(x[:half], x[half : 2 * half])
        x = concat([x, last]) if last.shape[0] else x
    return x[0]


def reduceat(
    function: Any,
    array: ArrayLike,
    indices: ArrayLike,
    axis: int = 0,
    dtype: Any = None,
    out: Any = None,
) -> Tensor:
    """Return the reductions of ``array[indices[i]:indices[i + 1]]`` along ``axis``; where that is
    nothing, ``array[indices[i]]``. Parameters are those of ``numpy.ufunc.reduceat``."""
    called, x = f"{function.__name__}.reduceat", as_tensor(array)
    axis = negative_axis(axis, x.ndim)
    x = moveaxis(x, axis, 0)
    given = indices._on_host() if isinstance(indices, Tensor) else np.asarray(guarded(indices))
    outside = given[(given < 0) | (given >= x.shape[0])]
    if outside.size:
        raise IndexError(f"{called}: index {outside[0]} is out of bounds for size {x.shape[0]}")
    return delivered(moveaxis(_of_slices(function, x, given, dtype), 0, axis), out, called)


def _of_slices(function: Any, x: Tensor, starts: np.ndarray, dtype: Any) -> Tensor:
    """Return the reductions of slices; those of one length are reduced together."""
    if not starts.size:
        return reduce(function, x[:1], dtype=dtype, keepdims=True)[:0]
    lengths = np.maximum(np.diff(starts, append=x.shape[0]), 1)
    groups = [np.flatnonzero(lengths == n) for n in np.unique(lengths)]
    places = [starts[group, None] + np.arange(int(lengths[group[0]])) for group in groups]
    x, end, parts = x[np.concatenate([p.ravel() for p in places])], 0, []
    for p in places:
        first, end = end, end + p.size
        parts.append(reduce(function, reshape(x[first:end], p.shape + x.shape[1:]), 1, dtype))
    return concat(parts)[np.argsort(np.concatenate(groups))]


# Results so far -----------------------------------------------------------------------------------


def accumulate(
    function: Any, array: ArrayLike, axis: int = 0, dtype: Any = None, out: Any = None
) -> Tensor:
    """Return all results on the way of `reduce`: ``ng.add.accumulate`` is a cumulative sum.

    Parameters are those of ``numpy.ufunc.accumulate``.
    """
    name, x = function.__name__, as_tensor(array)
    called = f"{name}.accumulate"
    if not x.ndim:
        raise TypeError(f"{called}: a tensor without axes cannot be accumulated")
    axis = negative_axis(axis, x.ndim)
    if name in _SCANS:
        return delivered(_SCANS[name](x, axis, dtype), out, called)
    x = _in_loop(function, x, dtype)
    if name in RUNNING_EXTREMA and x.dtype.kind == "f":
        return delivered(running_extrema(name, x, axis), out, called)
    first = moveaxis(x, axis, 0)
    y = _scanned(function, first) if name in ASSOCIATIVE else _all_on_the_way(function, first)
    return delivered(laid_like(moveaxis(y, 0, axis), x), out, called)


_SCANS = {"add": cumsum, "multiply": cumprod}


def _scanned(function: Binary, x: Tensor) -> Tensor:
    """Take each result together with that of the elements before: twice as many every time."""
    distance = 1
    while distance < x.shape[0]:
        x = concat([x[:distance], function(x[:-distance], x[distance:])])
        distance *= 2
    return x


def _all_on_the_way(function: Binary, x: Tensor) -> Tensor:
    results = list(itertools.accumulate(x, function))
    return stack(results) if results else x


# Pairs, and writes --------------------------------------------------------------------------------


def outer(function: Any, a: ArrayLike, b: ArrayLike, /, **options: Any) -> Tensor:
    """Return the function of all pairs: ``ng.subtract.outer(a, b)[i, j]`` is ``a[i] - b[j]``."""
    a, b = as_tensors(a, b)
    columns = reshape(a, (*a.shape, *(1,) * b.ndim))
    return with_options(function, options, columns, b, called=f"{function.__name__}.outer")


def at(function: Any, array: ArrayLike, indices: Any, values: ArrayLike | None = None, /) -> None:
    """Write ``f(array[indices], values)`` into a tensor, once for each time that an index occurs:
    ``ng.add.at`` adds all values up, where ``array[indices] += values`` adds the last one.

    Raises
    ------
    ArgTypeError
        If ``array`` is no tensor and would lose a gradient.
    """
    called = f"{function.__name__}.at"
    array = writable(array, called, values)
    others = [] if values is None else [_operand(values, array)]
    normal = parse(indices, array.shape, array.spec.device)
    if isinstance(normal, BasicKey):
        array[indices] = function(array[indices], *others)
        return
    key = positions_of(normal, array.shape, called)
    filled = [inplace._fill(array, key, _castable(v, array, called)) for v in others]
    if function.__name__ in ("add", "subtract"):
        (added,) = filled
        _add(array, key, added if function.__name__ == "add" else negative(added))
    else:
        _write_in_turn(function, array, key, filled)


def _operand(value: ArrayLike, array: Tensor) -> Tensor:
    """Return a tensor of the dtype that it has together with the array."""
    dtype = np.result_type(array.dtype, kind_of_operand(value))
    return as_tensor(value).astype(dtype, copy=False)


def _castable(value: Tensor, array: Tensor, called: str) -> Tensor:
    if not np.can_cast(value.dtype, array.dtype, "same_kind"):
        raise TypeError(f"{called}: values of {value.dtype} do not fit a tensor of {array.dtype}")
    return value


def _add(array: Tensor, key: Any, values: Tensor) -> None:
    last = array.ndim - key.tail
    static = {
        "count": len(key.shape), "tail": key.tail, "sizes": array.shape[last - key.flattened : last]
    }  # fmt: skip
    added = scatter_add(summable(values), as_tensor(key.positions), **static)
    inplace.assign(add, array, added)


def _write_in_turn(function: Any, array: Tensor, key: Any, values: list[Tensor]) -> None:
    """Write at all positions that occur, then at those that occur again, and so on."""
    positions = as_tensor(key.positions)._on_host()
    last = array.ndim - key.tail
    lead, tail = array.shape[: last - key.flattened], math.prod(array.shape[last:])
    flat = reshape(array, (*lead, -1 if array.size else 0, tail), copy=True)
    rows = [reshape(v, (*lead, positions.size, tail)) for v in values]
    for turn in _turns(positions):
        there = positions[turn]
        written = function(flat[..., there, :], *(v[..., turn, :] for v in rows))
        flat[..., there, :] = cast(written, array.dtype)
    array[...] = reshape(flat, array.shape)


def _turns(positions: np.ndarray) -> list[np.ndarray]:
    """Return which positions occur for the first time, for the second time, ..."""
    order = np.argsort(positions, kind="stable")
    ordered = positions[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if ordered.size else ordered
    lengths = np.diff(np.append(starts, ordered.size))
    times = np.arange(ordered.size) - np.repeat(starts, lengths)
    return [np.sort(order[times == n]) for n in range(lengths.max(initial=0))]
