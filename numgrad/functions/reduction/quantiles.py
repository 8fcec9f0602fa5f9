"""Quantiles and percentiles by all of NumPy's methods, of all elements or of those that are not
NaN."""

import math
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.apply import other_modes
from ...engine.record.composition import composed
from ...operators.shape.axis_layout import axes_last
from ...operators.shape.gathering import gather
from ..array.axes import Axis, kept, negative_axes
from ..array.operands import as_scalar, as_tensor, is_known, kind_of_operand, values_of
from ..creation.constants import full
from ..creation.memory_order import in_order
from ..elementwise.comparison import isnan, less
from ..elementwise.documentation import renamed
from ..indexing.indexing import take, take_along_axis
from ..shape.repeating import broadcast_to
from ..shape.reshaping import expand_dims, moveaxis, reshape
from ..shape.selection import where
from ..sorting.sorting import argsort, sort
from .averages import fitting_weights
from .cumulative import cumsum
from .reduction import all as _all
from .reduction import sum as _sum


def _closest(q: Any, n: Any) -> Tensor:
    index = n * q - 1.5
    low = np.floor(index)
    return np.where((index == low) & (low % 2 == 1), low, low + 1)


# For n sorted elements the number of one of them,
_DISCRETE = {
    "inverted_cdf": lambda n, q: np.ceil(n * q - 1),
    "closest_observation": lambda n, q: _closest(q, n),
    "lower": lambda n, q: np.floor((n - 1) * q),
    "higher": lambda n, q: np.ceil((n - 1) * q),
    "nearest": lambda n, q: np.rint((n - 1) * q),
}
# or a number between those of two neighbours.
_CONTINUOUS = {
    "averaged_inverted_cdf": lambda n, q: n * q - 1,
    "interpolated_inverted_cdf": lambda n, q: n * q - 1,
    "hazen": lambda n, q: n * q + 0.5 - 1,
    "weibull": lambda n, q: n * q + q - 1,
    "linear": lambda n, q: (n - 1) * q,
    "median_unbiased": lambda n, q: n * q + (1 / 3 + q * (1 / 3)) - 1,
    "normal_unbiased": lambda n, q: n * q + (3 / 8 + q * (1 / 4)) - 1,
    "midpoint": lambda n, q: 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q)),
}
# How much the upper neighbour counts, where that is not the fraction of the number.
_UPPER = {
    "averaged_inverted_cdf": lambda fraction: np.where(fraction == 0, 0.5, 1.0),
    "midpoint": lambda fraction: np.where(fraction == 0, 0.0, 0.5),
}


_DOCUMENTATION = """Return {quantiles} of the elements{which} along ``axis``; NaN if {nan}.

Parameters
----------
a : array_like
    The elements; real.
q : array_like
    Which {quantiles}, from 0 to {most}; its axes are the first ones of the result.
axis : int or tuple of int, optional
    By default all axes.
overwrite_input : bool
    Accepted as NumPy does: the input stays as it is.
method : str
    One of NumPy's thirteen, such as "linear", "lower", "nearest", "median_unbiased".
keepdims : bool
    Whether the axes stay, with size 1.
weights : array_like, optional
    For ``method="inverted_cdf"``: of the shape of ``a``, or of its axes ``axis``.

Raises
------
ValueError
    For another method, a ``q`` out of range or of more than two axes, or weights that no
    method takes or that are negative. Of a ``q`` that is known only later, as in `jit`,
    the quantile is NaN where ``q`` is out of range.
TypeError
    If the elements are complex.
IndexError
    If there are {no}.

Notes
-----
The gradient goes to the one or two elements between which the quantile lies, of equal ones
to that which comes there in the stable order; with continuous methods ``q`` has one too,
their distance times :math:`n - 1` ("linear") or :math:`n`{share}. Weights have the
derivative 0.

Examples
--------
>>> import numgrad as ng
>>> x = ng.tensor([4.0, 1.0, {third}, 9.0], requires_grad=True)
>>> ng.{name}(x, {q}).item()
2.5
>>> ng.grad(ng.{name}(x, {q}), x)[0]
tensor({gradient})
"""


def _function(name: str, **words: str):
    """Return the function of quantiles or percentiles, of all elements or of those that are not
    NaN."""

    def quantiles(
        a: ArrayLike,
        q: ArrayLike,
        axis: Axis = None,
        *,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: bool = False,
        weights: ArrayLike | None = None,
    ) -> Tensor:
        return _quantiles(name, a, q, axis, method, keepdims, weights)

    return renamed(quantiles, name, _DOCUMENTATION, **words)


_OF_ONE = {"quantiles": "quantiles", "most": "1", "q": "0.25", "share": ""}
_OF_HUNDRED = {"quantiles": "percentiles", "most": "100", "q": "25", "share": ", over 100"}
_OF_ALL = {
    "which": "", "nan": "one of them is", "no": "no elements",
    "third": "3.0", "gradient": "[0.  , 0.25, 0.75, 0.  ]",
}  # fmt: skip
_OF_NUMBERS = {
    "which": " that are not NaN", "nan": "there are none",
    "no": "no elements, of a dtype without NaN",
    "third": 'float("nan")', "gradient": "[0.5, 0.5, 0. , 0. ]",
}  # fmt: skip

quantile = _function("quantile", **_OF_ONE, **_OF_ALL)
percentile = _function("percentile", **_OF_HUNDRED, **_OF_ALL)
nanquantile = _function("nanquantile", **_OF_ONE, **_OF_NUMBERS)
nanpercentile = _function("nanpercentile", **_OF_HUNDRED, **_OF_NUMBERS)


@composed
def nanmedian(
    a: ArrayLike, axis: Axis = None, *, overwrite_input: bool = False, keepdims: bool = False
) -> Tensor:
    """Return the median of the elements that are not NaN, NaN if there are none; parameters and
    derivatives as in `median`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.nanmedian(ng.tensor([4.0, float("nan"), 1.0, 9.0])).item()
    4.0
    """
    a = as_tensor(a)
    a = a.astype(np.float64) if a.dtype.kind in "biu" else a
    axes = negative_axes(axis, a.ndim)
    ordered = _sorted_lines(a, axes)
    if not ordered.shape[-1]:
        return _shaped(full((*ordered.shape[:-1], 1), np.nan, a.dtype), (), axes, keepdims)
    n = _sum(~isnan(ordered), -1, keepdims=True)
    low, high = (_picked(ordered, at) for at in ((n - 1) // 2, n // 2))
    middle = where(n % 2 == 1, low, (low + high) * 0.5).astype(a.dtype, copy=False)
    return _shaped(where(n == 0, np.nan, middle), (), axes, keepdims)


_NUMBERS = (int, float, np.ndarray, np.generic)
_FEW = 16  # quantiles, of which each is an option whose operations are noted


def _quantiles(
    name: str, a: Any, q: Any, axis: Axis, method: str, keepdims: bool, weights: Any
) -> Tensor:
    weak = isinstance(kind_of_operand(q), (int, float)) and not isinstance(q, np.generic)
    is_number = isinstance(q, _NUMBERS) and not isinstance(q, Tensor)  # as one known later is
    a, q = as_tensor(a), np.asarray(q) if is_number else as_tensor(q)
    if a.dtype.kind == "c":
        raise TypeError(f"{name}: elements must be real, got {a.dtype}")
    q = q / 100 if "percentile" in name else q
    q = q if isinstance(q, Tensor) else np.asarray(q)  # NumPy makes numbers of arrays
    if q.ndim > 2:
        raise ValueError(f"{name}: q has at most two axes, got shape {q.shape}")
    known = q if isinstance(q, np.ndarray) else values_of(q) if is_known(q) else np.zeros(())
    if not np.all((known >= 0) & (known <= 1)):
        raise ValueError(f"{name}: q must be between 0 and {100 if 'percentile' in name else 1}")
    if not isinstance(method, str) or (method not in _DISCRETE and method not in _CONTINUOUS):
        known = ", ".join([*_DISCRETE, *_CONTINUOUS])
        raise ValueError(f"{name}: method must be one of {known}, got {method!r}")
    axes, omits = negative_axes(axis, a.ndim), name.startswith("nan") and a.dtype.kind == "f"
    if weights is None and not omits and not math.prod(a.shape[n] for n in axes):
        raise IndexError(f"{name} of no elements")
    if weights is not None:
        return _shaped(_weighted(name, a, q, axis, method, weights, omits), q.shape, axes, keepdims)
    options = (axes, method, keepdims, omits, weak)
    if isinstance(q, np.ndarray) and q.ndim == 0 and q.dtype == np.float64:
        return _at_number(a, q.item(), *options)
    if known.dtype == np.float64 and 0 < known.size <= _FEW and not other_modes:
        is_array = isinstance(q, np.ndarray)
        if is_array or not q.requires_grad:
            return _at_numbers(a, known.tolist(), is_array, *options)
    return _of_lines(a, q, *options)


@composed
def _at_number(a: Tensor, q: float, *options: Any) -> Tensor:
    return _of_lines(a, np.asarray(q), *options)


@composed
def _at_numbers(a: Tensor, q: Any, is_array: bool, *options: Any) -> Tensor:
    numbers = np.asarray(q)
    return _of_lines(a, numbers if is_array else Tensor(numbers), *options)


def _of_lines(
    a: Tensor, q: Any, axes: Any, method: str, keepdims: bool, omits: bool, weak: bool
) -> Tensor:
    """Return the quantiles of the elements along axes."""
    ordered = _sorted_lines(a, axes)
    count = ordered.shape[-1]
    if not count:
        empty = full((*ordered.shape[:-1], q.size), np.nan, a.dtype)
        return _shaped(empty, q.shape, axes, keepdims)
    n: Any = _sum(~isnan(ordered), -1, keepdims=True) if omits else count
    n = n.astype(q.dtype) if omits and q.dtype.kind == "f" else n
    result = _at(ordered, n, q.reshape(-1), method, weak)
    if a.dtype.kind == "f":
        is_bad = n == 0 if omits else isnan(ordered[..., -1:])
        if isinstance(q, Tensor) and not is_known(q):  # what is known has been looked at
            is_bad = is_bad | ~((q.reshape(-1) >= 0) & (q.reshape(-1) <= 1))
        result = where(is_bad, np.nan, result).astype(result.dtype, copy=False)
    return _shaped(result, q.shape, axes, keepdims)


def _sorted_lines(a: Tensor, axes: Any) -> Tensor:
    """Return the elements along axes, ascending along the last one."""
    lines = axes_last(a, axes) if axes else expand_dims(a, -1)
    return sort(lines, -1)


def _shaped(result: Tensor, shape: Any, axes: Any, keepdims: bool) -> Tensor:
    """Return results that lie along the last axis in the shape that NumPy gives them."""
    y = reshape(moveaxis(result, -1, 0), (*shape, *result.shape[:-1]))
    if kept(keepdims) and axes:
        y = expand_dims(y, axes)
    return as_scalar(in_order(y, "C"))


def _picked(ordered: Tensor, at: Any) -> Tensor:
    """Return the elements at positions, the same ones along all lines or those of each line."""
    at = at.detach() if isinstance(at, Tensor) else at
    at = at.astype(np.int64).clip(0, ordered.shape[-1] - 1)
    if at.ndim == 1 and (ordered.ndim > 1 or isinstance(at, np.ndarray)):
        return take(ordered, at, -1)
    *lines, size = ordered.shape
    places = at + np.arange(0, ordered.size, size).reshape(*lines, 1)
    flat = reshape(places, (-1,))
    return gather(ordered, flat, count=ordered.ndim, tail=0, shape=places.shape)


def _at(ordered: Tensor, n: Any, q: Any, method: str, weak: bool) -> Tensor:
    """Return the quantiles of ``n`` sorted elements; NumPy computes what an array ``q`` alone
    decides."""
    if method in _DISCRETE:
        return _picked(ordered, _DISCRETE[method](n, q))
    if method == "linear" and q.dtype.kind in "biu":
        return _picked(ordered, (n - 1) * q)
    number = _CONTINUOUS[method](n, q)
    below = np.floor(number.detach() if isinstance(number, Tensor) else number)
    fraction = number - below
    t = _UPPER[method](fraction) if method in _UPPER else fraction
    t = np.where((number < 0) | (number >= n - 1), 0.0, t)
    above = np.minimum(np.where(number < 0, 0.0, below + 1), n - 1)
    low, high = _picked(ordered, np.minimum(below, n - 1)), _picked(ordered, above)
    dtype = np.result_type(ordered.dtype, 1.0 if weak else number.dtype)
    t = t.astype(np.result_type(dtype, np.float32), copy=False)
    step = high - low
    y = where(t >= 0.5, high - step * (1 - t), low + step * t)
    return y.astype(dtype, copy=False)


def _weighted(
    name: str, a: Tensor, q: Any, axis: Axis, method: str, weights: Any, omits: bool
) -> Tensor:
    """Return the first elements up to which the weights make up parts of their sum."""
    if method != "inverted_cdf":
        raise ValueError(f"{name}: only method 'inverted_cdf' takes weights, not {method!r}")
    w = fitting_weights(name, a, as_tensor(weights).detach(), axis)
    if is_known(w) and np.any(values_of(w) < 0):
        raise ValueError(f"{name}: weights must not be negative")
    w = broadcast_to(w, a.shape).astype(np.float64)
    axes = negative_axes(axis, a.ndim)
    lines, w = (axes_last(x, axes) if axes else expand_dims(x, -1) for x in (a, w))
    order = argsort(lines.detach())
    ordered, w = take_along_axis(lines, order, -1), take_along_axis(w, order, -1)
    missing = isnan(ordered)
    share = cumsum(where(missing, 0.0, w) if omits else w, -1)
    share = share / share[..., -1:]
    is_empty = _all(missing, -1, keepdims=True)
    if is_known(share) and np.any(np.isnan(values_of(where(is_empty, 0.0, share[..., -1:])))):
        raise ValueError(f"{name}: weights are all zero, or have NaN or infinity among them")
    share = share.astype(q.dtype, copy=False) if q.dtype.kind == "f" else share
    share = where(share == 0, -1.0, share)  # what weighs nothing is not the first element
    result = _picked(ordered, _sum(less(share[..., None, :], q.reshape(-1)[:, None]), -1))
    return where(is_empty if omits else missing[..., -1:], np.nan, result).astype(a.dtype)
