"""Reductions: sums, products, extrema and their positions, truth and counts."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._declare.operands import Selection
from ..._tensor import ArrayLike, Tensor
from ...engine.capture.capture import refuse
from ...operators.elementwise import arithmetic as _elementwise
from ...operators.elementwise.arithmetic import add, multiply
from ...operators.elementwise.selection import maximum, minimum
from ...operators.reduction import reductions as _operators
from ...operators.reduction import searching as _searching
from ..array.argument_checks import integer
from ..array.axes import (
    Axis,
    kept,
    negative_axes,
    number_of_elements,
    own_array,
    reduce_axes,
    reducer,
)
from ..array.operands import as_tensor
from ..array.results import delivered, initial_of, present
from ..elementwise.documentation import renamed
from ..shape.repeating import broadcast_to


def _as_dtype(x: ArrayLike, dtype: Any) -> Tensor:
    x = as_tensor(x)
    return x if dtype is None or x.dtype == np.dtype(dtype) else x.astype(dtype)


# Each of the following makes two functions, which have a signature and a documentation in common.


_OF_TOTALS = """Return the {about} of the elements along ``axis``.

Parameters
----------
a : array_like
    The elements; the {about} of none is {begin}.
axis : int or tuple of int, optional
    The axes to reduce, by default all.
dtype : dtype, optional
    Of the {about}, and of the elements before; by default small integers become int64 as in
    NumPy.
out : Tensor, optional
    Where the result is written.
keepdims : bool
    Whether the reduced axes stay, with size 1.
initial : number or Tensor, optional
    What the {about} begins with.
where : array_like of bool, optional
    Which elements count; the others receive no gradient.

Notes
-----
{notes}

Examples
--------
>>> import numgrad as ng
{example}
"""


def _total(operator: Any, name: str, about: str, join: Any, begin: int, **words: str):
    """Return the function that adds or multiplies elements, from ``begin`` on."""
    reduced = reducer(operator)

    def total(
        a: ArrayLike,
        axis: Axis = None,
        dtype: Any = None,
        out: Tensor | None = None,
        keepdims: bool = False,
        initial: ArrayLike | None = None,
        where: ArrayLike = True,
    ) -> Tensor:
        if type(a) is not Tensor or dtype is not None:
            if isinstance(a, Selection):
                options = {"where": where, "dtype": dtype, "initial": initial}
                return delivered(a.reduced(total, axis, keepdims, **options), out, name)
            a = _as_dtype(a, dtype)
        if where is not True:
            a = present(a, where, begin, name)
        y = own_array(reduced.call(a, axis, keepdims), keepdims)
        y = y if dtype is None else y.astype(dtype)
        if initial is not None:
            y = join(y, initial_of(initial, y.dtype, name))
        return y if out is None else delivered(y, out, name)

    return renamed(total, name, _OF_TOTALS, about=about, begin=str(begin), **words)


sum = _total(
    _operators.sum, "sum", "sum", add, 0,
    notes="The gradient is the cotangent, repeated along the summed axes. The sum has the same\n"
    "bits for every memory layout and number of threads.",
    example=">>> x = ng.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)\n"
    ">>> ng.sum(x, axis=0).detach()\n"
    "tensor([4., 6.])\n"
    ">>> ng.grad(ng.sum(x, axis=0), x, ng.tensor([1.0, 10.0]))[0]\n"
    "tensor([[ 1., 10.],\n"
    "        [ 1., 10.]])",
)
prod = _total(
    _operators.prod, "prod", "product", multiply, 1,
    notes="The gradient is :math:`g^x_i = g \\prod_{j \\ne i} x_j`, computed without a division,\n"
    "so that zeros do no harm at any order.",
    example=">>> x = ng.tensor([0.0, 2.0, 3.0], requires_grad=True)\n"
    ">>> ng.grad(ng.prod(x), x)[0]\n"
    "tensor([6., 0., 0.])",
)


_OF_EXTREMA = """Return the {largest} element along ``axis``, NaN if there is one.

Parameters
----------
a : array_like
    The elements; real.
axis : int or tuple of int, optional
    The axes to search, by default all.
out, keepdims
    As in `sum`.
initial : number or Tensor, optional
    The result is no {smaller}.
where : array_like of bool, optional
    Which elements count; ``initial`` is needed then.

Raises
------
ValueError
    If there is no element, and no ``initial``.

Notes
-----
The gradient goes to the {largest} element, in even parts to several; where the result is
NaN so is the gradient.

Examples
--------
>>> import numgrad as ng
>>> x = ng.tensor({elements}, requires_grad=True)
>>> ng.grad(ng.{name}(x), x)[0]
tensor([0. , 0.5, 0.5])
"""


def _extreme(operator: Any, name: str, largest: str, **words: str):
    """Return the function that finds the largest or the smallest element."""
    extrema = reducer(operator)

    def extreme(
        a: ArrayLike,
        axis: Axis = None,
        out: Tensor | None = None,
        keepdims: bool = False,
        initial: ArrayLike | None = None,
        where: ArrayLike = True,
    ) -> Tensor:
        if isinstance(a, Selection):
            of_selected = extreme if initial is not None else _or_nan(extrema, name)
            options = {"where": where, "initial": initial}
            return delivered(a.reduced(of_selected, axis, keepdims, **options), out, name)
        a = a if type(a) is Tensor else as_tensor(a)
        if initial is None and where is True and out is None:
            return own_array(extrema.call(a, axis, keepdims), keepdims)
        return _extremum(extrema, name, a, axis, out, keepdims, initial, where)

    return renamed(extreme, name, _OF_EXTREMA, largest=largest, **words)


max = amax = _extreme(
    _operators.max, "max", "largest", smaller="smaller", elements="[1.0, 3.0, 3.0]"
)
min = amin = _extreme(
    _operators.min, "min", "smallest", smaller="larger", elements="[3.0, 1.0, 1.0]"
)


def _extremum(
    extrema: Any, name: str, x: Tensor, axis: Axis, out: Any, keepdims: bool, initial: Any,
    where: Any,
) -> Tensor:  # fmt: skip
    """Return the extremum of those elements that count, and of ``initial``."""
    if where is not True:
        if initial is None:
            raise ValueError(f"{name}: where= needs initial=, for no element may count")
        x = present(x, where, _utmost(x.dtype, name == "max"), name)
    if initial is None:
        return delivered(own_array(extrema.call(x, axis, keepdims), keepdims), out, name)
    least = initial_of(initial, x.dtype, name)
    if not x.ndim or number_of_elements(x, axis):
        y = (maximum if name == "max" else minimum)(extrema.call(x, axis, keepdims), least)
    else:
        axes = negative_axes(axis, x.ndim)
        left = np.any(np.empty(x.shape, bool), axes, keepdims=kept(keepdims)).shape
        y = broadcast_to(least, left).clone()
    return delivered(y, out, name)


def _or_nan(extrema: Any, name: str) -> Callable[..., Tensor]:
    """Return the function that finds the extremum of those elements that count, NaN where none
    does."""

    def extremum(
        x: Tensor, axis: Axis, keepdims: bool, where: Any = True, initial: None = None
    ) -> Tensor:
        if where is True:
            return extrema.call(x, axis, keepdims)
        if x.dtype.kind != "f":
            refuse(f"the {name} of x[mask] of {x.dtype} needs initial=, for no element may count")
        filled = present(x, where, _utmost(x.dtype, name == "max"), name)
        counts = broadcast_to(as_tensor(where), x.shape)
        is_there = reduce_axes(_searching.any, counts, axis, keepdims)
        return _elementwise.where(
            is_there, extrema.call(filled, axis, keepdims), x.dtype.type("nan")
        )

    return extremum


def _utmost(dtype: np.dtype, lowest: bool) -> Any:
    """Return the number that is no larger, or no smaller, than any other one of a dtype."""
    if dtype.kind in "fc":
        return -np.inf if lowest else np.inf
    if dtype.kind == "b":
        return not lowest
    return np.iinfo(dtype).min if lowest else np.iinfo(dtype).max


def _truth(operator: Any, name: str, missing: int, **words: str):
    """Return the function that asks whether elements are zero; those that do not count are
    ``missing``."""

    def truth(
        a: ArrayLike,
        axis: Axis = None,
        out: Tensor | None = None,
        keepdims: bool = False,
        *,
        where: ArrayLike = True,
    ) -> Tensor:
        """Return whether {about} along ``axis`` is {zero}.

        Parameters
        ----------
        a : array_like
            The elements; NaN is not zero.
        axis : int or tuple of int, optional
            The axes to search, by default all.
        out, keepdims, where
            As in `sum`.

        Notes
        -----
        Not differentiable: the result has no gradient.

        Examples
        --------
        >>> import numgrad as ng
        >>> ng.{name}([[2.0, 1.0], [0.0, {last}]], axis=1)
        tensor([ True, False])
        """
        if isinstance(a, Selection):
            return delivered(a.reduced(truth, axis, keepdims, where=where), out, name)
        a = as_tensor(a)
        a = a if where is True else present(a, where, missing, name)
        return delivered(reduce_axes(operator, a, axis, keepdims), out, name)

    return renamed(truth, name, **words)


any = _truth(_searching.any, "any", 0, about="any element", zero="not zero", last="0.0")
all = _truth(_searching.all, "all", 1, about="no element", zero="zero", last="1.0")


def count_nonzero(a: ArrayLike, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Return the number of elements along ``axis`` that are not zero; parameters and notes as in
    `any`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.count_nonzero([1.0, 0.0, 2.0])
    tensor(2)
    """
    if isinstance(a, Selection):
        is_counted: Any = a != 0
        return is_counted.sum(axis, keepdims=keepdims)
    return reduce_axes(_searching.count_nonzero, as_tensor(a), axis, keepdims)


def _place(operator: Any, name: str, largest: str, first: str):
    """Return the function that finds where the largest or the smallest element is."""

    def place(
        a: ArrayLike, axis: int | None = None, out: Tensor | None = None, *, keepdims: bool = False
    ) -> Tensor:
        """Return the position of the first {largest} element along ``axis``, or of the first NaN.

        Parameters
        ----------
        a : array_like
            The elements; real.
        axis : int, optional
            By default the position counts the elements of all axes, in C order.
        out : Tensor, optional
            Where the result is written.
        keepdims : bool
            Whether the axis stays, with size 1.

        Raises
        ------
        ValueError
            If there is no element.

        Notes
        -----
        Not differentiable: the result has no gradient.

        Examples
        --------
        >>> import numgrad as ng
        >>> ng.{name}([2.0, 3.0, 1.0, 1.0, 3.0])
        tensor({first})
        """
        one = None if axis is None else integer(axis, "axis")
        return delivered(reduce_axes(operator, as_tensor(a), one, keepdims), out, name)

    return renamed(place, name, largest=largest, first=first)


argmax = _place(_searching.argmax, "argmax", "largest", first="1")
argmin = _place(_searching.argmin, "argmin", "smallest", first="2")
