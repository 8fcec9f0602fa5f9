"""Sums, means, extrema and their positions of the elements that are not NaN."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.composition import composed
from ...operators.elementwise.powers import root_of_sum
from ..array.axes import Axis, normalize_axis_index
from ..array.operands import as_scalar, as_tensor, is_known, values_of
from ..array.results import delivered
from ..elementwise.comparison import isnan, logical_and, logical_not
from ..elementwise.complex_parts import real
from ..elementwise.documentation import renamed
from ..shape.selection import where as _where
from . import cumulative, reduction, statistics


def _total(function: Callable[..., Tensor], begin: int, about: str, **words: str):
    """Return the function that adds or multiplies the elements that are not NaN: NaN counts as
    ``begin``."""
    of_all = function.__name__

    def total(
        a: ArrayLike,
        axis: Axis = None,
        dtype: Any = None,
        out: Tensor | None = None,
        keepdims: bool = False,
        *,
        initial: ArrayLike | None = None,
        where: ArrayLike = True,
    ) -> Tensor:
        """Return the {about} of the elements that are not NaN along ``axis``.

        Parameters
        ----------
        a : array_like
            The elements.
        axis, dtype, out, keepdims
            As in `{of_all}`.
        initial : number, optional
            What the {about} begins with.
        where : array_like
            Which elements to include.

        Notes
        -----
        The gradient is that of `{of_all}`, and 0 for what is left out.

        Examples
        --------
        >>> import numgrad as ng
        >>> x = ng.tensor([1.0, float("nan"), 3.0], requires_grad=True)
        >>> ng.{name}(x).item()
        {value}
        >>> ng.grad(ng.{name}(x), x)[0]
        tensor({gradient})
        """
        return function(_filled(a, begin, where), axis, dtype, out, keepdims, initial)

    return composed(renamed(total, f"nan{of_all}", of_all=of_all, about=about, **words))


nansum = _total(reduction.sum, 0, "sum", value="4.0", gradient="[1., 0., 1.]")
nanprod = _total(reduction.prod, 1, "product", value="3.0", gradient="[3., 0., 1.]")


@composed
def nancumsum(a: ArrayLike, axis: int | None = None, dtype: Any = None) -> Tensor:
    """Return the sums so far of the elements that are not NaN; as `cumsum` otherwise.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.nancumsum([1.0, float("nan"), 3.0])
    tensor([1., 1., 4.])
    """
    return cumulative.cumsum(_filled(a, 0), axis, dtype)


@composed
def nancumprod(a: ArrayLike, axis: int | None = None, dtype: Any = None) -> Tensor:
    """Return the products so far of the elements that are not NaN; as `cumprod` otherwise.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.nancumprod([2.0, float("nan"), 3.0])
    tensor([2., 2., 6.])
    """
    return cumulative.cumprod(_filled(a, 1), axis, dtype)


@composed
def nanmean(
    a: ArrayLike,
    axis: Axis = None,
    dtype: Any = None,
    out: Tensor | None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
) -> Tensor:
    """Return the mean of the elements that are not NaN along ``axis``, NaN if there are none;
    parameters as in `nansum`.

    Notes
    -----
    The gradient is the cotangent over the number of elements that are not NaN.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, float("nan"), 3.0], requires_grad=True)
    >>> ng.grad(ng.nanmean(x), x)[0]
    tensor([0.5, 0. , 0.5])
    """
    a = as_tensor(a)
    if a.dtype.kind not in "fc":
        return statistics.mean(a, axis, dtype, out, keepdims, where=where)
    a, result = _computed_in("nanmean", a, dtype)
    found = _mean(a, _count(a, axis, keepdims, where), axis, keepdims, where)
    return delivered(found.astype(result), out, "nanmean")


def _spread(of_all: str, about: str, is_root: bool, **words: str):
    """Return the function of the variance, or of its root, of the elements that are not NaN."""
    name = f"nan{of_all}"

    def spread(
        a: ArrayLike,
        axis: Axis = None,
        dtype: Any = None,
        out: Tensor | None = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: ArrayLike = True,
        mean: ArrayLike | None = None,
        correction: float | None = None,
    ) -> Tensor:
        """Return the {about} of the elements that are not NaN along ``axis``, NaN if there are no
        more of them than ``ddof``; parameters as in `{of_all}` and `nansum`, the derivative as in
        `{of_all}`.

        Examples
        --------
        >>> import numgrad as ng
        >>> ng.{name}([1.0, float("nan"), 5.0]).item()
        {value}
        """
        v, result = _variance(name, a, axis, dtype, ddof, keepdims, where, mean, correction)
        y = root_of_sum(v) if is_root else v
        return delivered(y.astype(result, copy=False), out, name)

    return composed(renamed(spread, name, of_all=of_all, about=about, **words))


nanvar = _spread("var", "variance", is_root=False, value="4.0")
nanstd = _spread("std", "standard deviation", is_root=True, value="2.0")


_OF_EXTREMA = """Return the {largest} element that is not NaN along ``axis``, NaN if there is none.

Parameters
----------
a, axis, out, keepdims
    As in `{of_all}`.
initial : number, optional
    The {least} result.
where : array_like, optional
    Which elements to include; needs ``initial``.

Raises
------
ValueError
    If there is no element, or ``where`` stands alone.

Notes
-----
The gradient goes to the {largest} element, in even parts to several.

Examples
--------
>>> import numgrad as ng
>>> x = ng.tensor([1.0, float("nan"), 3.0], requires_grad=True)
>>> ng.grad(ng.{name}(x), x)[0]
tensor({gradient})
"""


def _extreme(function: Callable[..., Tensor], worst: float, largest: str, **words: str):
    """Return the function that finds the largest or the smallest element that is not NaN: NaN
    counts as ``worst``."""
    of_all = function.__name__
    name = f"nan{of_all}"

    def extreme(
        a: ArrayLike,
        axis: Axis = None,
        out: Tensor | None = None,
        keepdims: bool = False,
        *,
        initial: ArrayLike | None = None,
        where: ArrayLike = True,
    ) -> Tensor:
        x = as_tensor(a)
        if where is not True and initial is None:
            raise ValueError(f"{name}: where= needs initial=")
        filled = _where(isnan(x), worst, x) if x.dtype.kind == "f" else x
        y = function(filled, axis, keepdims=keepdims, initial=initial, where=where)
        if initial is None and x.dtype.kind == "f":
            is_empty = reduction.all(isnan(x), axis, keepdims=keepdims)
            y = as_scalar(_where(is_empty, np.nan, y))
        return delivered(y, out, name)

    made = renamed(extreme, name, _OF_EXTREMA, of_all=of_all, largest=largest, **words)
    return composed(made)


nanmax = _extreme(reduction.max, -np.inf, "largest", least="least", gradient="[0., 0., 1.]")
nanmin = _extreme(reduction.min, np.inf, "smallest", least="largest", gradient="[1., 0., 0.]")


def _place(function: Callable[..., Tensor], worst: float, largest: str, first: str):
    """Return the function that finds where the largest or the smallest element is that is not
    NaN."""
    name = f"nan{function.__name__}"

    def place(
        a: ArrayLike, axis: int | None = None, out: Tensor | None = None, *, keepdims: bool = False
    ) -> Tensor:
        """Return the position of the first {largest} element that is not NaN; parameters as in
        `{of_all}`.

        Raises
        ------
        ValueError
            If all elements are NaN; in a captured function the position is 0 then.

        Examples
        --------
        >>> import numgrad as ng
        >>> ng.{name}([1.0, float("nan"), 3.0]).item()
        {first}
        """
        found = function(_present(name, a, axis, worst), axis, keepdims=keepdims)
        return delivered(found, out, name)

    return renamed(place, name, of_all=function.__name__, largest=largest, first=first)


nanargmax = _place(reduction.argmax, -np.inf, "largest", first="2")
nanargmin = _place(reduction.argmin, np.inf, "smallest", first="0")


def _filled(x: ArrayLike, value: float, where: ArrayLike = True) -> Tensor:
    """Return the elements with ``value`` in place of NaN and of what is not to be included."""
    x = as_tensor(x)
    if x.dtype.kind in "fc":
        x = _where(isnan(x), value, x)
    return x if where is True else _where(where, x, np.asarray(value, x.dtype))


def _included(x: Tensor, where: ArrayLike) -> Tensor:
    """Return which elements count."""
    present = logical_not(isnan(x))
    return present if where is True else logical_and(present, where)


def _computed_in(name: str, x: Tensor, dtype: Any) -> tuple[Tensor, np.dtype]:
    """Return floating elements in the dtype to compute in, and the dtype of the result."""
    result = x.dtype if dtype is None else np.dtype(dtype)
    if result.kind not in "fc":
        raise TypeError(f"{name}: dtype must be floating where the elements are, not {result}")
    return x.astype(np.float32 if result == np.float16 else result, copy=False), result


def _count(x: Tensor, axis: Axis, keepdims: bool, where: ArrayLike) -> Tensor:
    return reduction.sum(_included(x, where), axis, keepdims=keepdims)


def _mean(x: Tensor, count: Tensor, axis: Axis, keepdims: bool, where: ArrayLike) -> Tensor:
    total = reduction.sum(_filled(x, 0, where), axis, keepdims=keepdims)
    return total / count.astype(real(x).dtype)


def _variance(
    name: str, x: Any, axis: Axis, dtype: Any, ddof: float, keepdims: bool, where: Any, mean: Any,
    correction: float | None,
) -> tuple[Tensor, np.dtype]:  # fmt: skip
    x = as_tensor(x)
    if x.dtype.kind not in "fc":
        return statistics.variance(x, axis, dtype, ddof, keepdims, where, mean, correction)
    if correction is not None:
        if ddof != 0:
            raise ValueError("ddof and correction are two names of one parameter: give one of them")
        ddof = correction
    averaged, result = _computed_in(name, x, dtype)
    count = _count(x, axis, True, where)
    centre = _mean(averaged, count, axis, True, where) if mean is None else mean
    d = _where(_included(x, where), x - centre, 0)
    squares = (real(d * d.conj()) if d.dtype.kind == "c" else d * d).astype(real(averaged).dtype)
    left = _count(x, axis, keepdims, where) - ddof
    total = reduction.sum(squares, axis, keepdims=keepdims)
    v = total / _where(left > 0, left, np.nan).astype(total.dtype)
    return v, result if dtype is not None else real(x).dtype


def _present(name: str, x: ArrayLike, axis: int | None, worst: float) -> Tensor:
    x = as_tensor(x).detach()
    axis = axis if axis is None else normalize_axis_index(axis, x.ndim)
    if x.size and is_known(x) and np.any(np.all(np.isnan(values_of(x)), axis)):
        raise ValueError(f"{name}: all elements are NaN")
    return _filled(x, worst)
