"""Averages and spreads, and the logarithm of a sum of exponentials: made of sums and extrema."""

from typing import Any

import numpy as np

from ..._declare.operands import Selection
from ..._tensor import ArrayLike, Tensor
from ...engine.record.composition import composed
from ...ir.dtypes import FLOATING
from ...operators.elementwise.arithmetic import add, divide, multiply, subtract, where
from ...operators.elementwise.cast import cast
from ...operators.elementwise.comparison import isnan
from ...operators.elementwise.complex_parts import conj, real
from ...operators.elementwise.exponential import log
from ...operators.elementwise.powers import root_of_sum, square
from ...operators.elementwise.selection import maximum
from ...operators.reduction import reductions as _operators
from ...operators.shape.axis_layout import axes_last
from ...operators.shape.indexing import index
from ...operators.shape.reshape import broadcast_to, expand_dims
from ...operators.shape.sorting import argsort, permute
from ...operators.special.softmax import of_logsumexp
from ..array.axes import Axis, kept, negative_axes, number_of_elements, reducer
from ..array.operands import as_scalar, as_tensor
from ..array.results import delivered, mask_of, present
from ..elementwise.documentation import renamed


def mean(
    a: ArrayLike,
    axis: Axis = None,
    dtype: Any = None,
    out: Tensor | None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
) -> Tensor:
    """Return the arithmetic mean of the elements along ``axis``.

    Parameters
    ----------
    a : array_like
        The elements; integers are averaged in float64. The mean of none is NaN.
    axis : int or tuple of int, optional
        The axes to average over, by default all.
    dtype : dtype, optional
        Of the elements before they are averaged, and of the mean.
    out : Tensor, optional
        Where the result is written.
    keepdims : bool
        Whether these axes stay, with size 1.
    where : array_like of bool, optional
        Which elements count.

    Notes
    -----
    The gradient is the cotangent over the number of elements, repeated.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0, 3.0, 6.0], requires_grad=True)
    >>> ng.mean(x).item()
    3.0
    >>> ng.grad(ng.mean(x), x)[0]
    tensor([0.25, 0.25, 0.25, 0.25])
    """
    if dtype is None and type(a) is Tensor and a.dtype in FLOATING and where is True:
        y = _mean(a, axis, keepdims)
        return y if out is None else delivered(y, out, "mean")
    if isinstance(a, Selection):
        return delivered(a.reduced(mean, axis, keepdims, where=where, dtype=dtype), out, "mean")
    a, result = _computed_in(a, dtype)
    y = _mean(a, axis, keepdims, where).astype(result, copy=False)
    return delivered(y, out, "mean")


_OF_SPREADS = """Return the {about} of the elements along ``axis``.

Parameters
----------
a : array_like
    The elements; complex ones count with the square of their distance from the mean.
axis, dtype, out, keepdims, where
    As in `mean`.
ddof : float
    What to take from the number of elements in the divisor: 1 for the unbiased estimate of
    the variance.
mean : array_like, optional
    The mean, with the axes kept, if it is known.
correction : float, optional
    The Array API's name of ``ddof``.

Raises
------
ValueError
    If both ``ddof`` and ``correction`` are given.

Notes
-----
{notes}

Examples
--------
>>> import numgrad as ng
>>> x = ng.tensor([1.0, 3.0, 1.0, 3.0], requires_grad=True)
>>> ng.{name}(x).item()
1.0
>>> ng.grad(ng.{name}(x), x)[0]
tensor({gradient})
"""


def _spread(name: str, about: str, is_root: bool, **words: str):
    """Return the function of the variance, or of its root."""

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
        if isinstance(a, Selection):
            options = {"where": where, "dtype": dtype, "ddof": ddof, "correction": correction}
            found = a.reduced(spread if mean is None else a.refuse, axis, keepdims, **options)
            return delivered(found, out, name)
        a = as_tensor(a)
        v, result = variance(a, axis, dtype, ddof, keepdims, where, mean, correction)
        if is_root and (mean is not None or number_of_elements(a, axis) != 1):
            v = root_of_sum(v)  # one element is its mean: it deviates nowhere, and has no kink
        return delivered(v.astype(result, copy=False), out, name)

    return composed(renamed(spread, name, _OF_SPREADS, about=about, **words))


var = _spread(
    "var", "variance", is_root=False, gradient="[-0.5,  0.5, -0.5,  0.5]",
    notes="With the deviations :math:`d` from the mean and :math:`c` for ``ddof``,\n"
    ":math:`v = \\sum |d_i|^2 / (n - c)`, and the gradient is :math:`2 g d_i / (n - c)`.",
)
std = _spread(
    "std", "standard deviation", is_root=True, gradient="[-0.25,  0.25, -0.25,  0.25]",
    notes="With the deviations :math:`d` from the mean and :math:`c` for ``ddof`` the gradient is\n"
    ":math:`g d_i / ((n - c) s)`, and 0 where the standard deviation :math:`s` is 0; second\n"
    "derivatives do not exist there and are NaN.",
)


@composed
def median(
    a: ArrayLike,
    axis: Axis = None,
    out: Tensor | None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Tensor:
    """Return the median of the elements along ``axis``; NaN if one of them is.

    Parameters
    ----------
    a : array_like
        The elements; the median of none is NaN.
    axis : int or tuple of int, optional
        By default all axes.
    out : Tensor, optional
        Where the result is written.
    overwrite_input : bool
        Accepted as NumPy does; the elements stay as they are.
    keepdims : bool
        Whether these axes stay, with size 1.

    Notes
    -----
    The gradient goes to the middle element, in halves to two of them; of equal ones, to that which
    comes there in the stable order.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([4.0, 1.0, 3.0, 9.0], requires_grad=True)
    >>> ng.median(x).item()
    3.5
    >>> ng.grad(ng.median(x), x)[0]
    tensor([0.5, 0. , 0.5, 0. ])
    """
    a, result = _computed_in(a, None)
    axes = negative_axes(axis, a.ndim)
    if not axes or not number_of_elements(a, axis):
        return delivered(_mean(a, axis, keepdims).astype(result, copy=False), out, "median")
    y = _middle(axes_last(a, axes)).astype(result, copy=False)
    y = expand_dims(y, axes=axes) if kept(keepdims) else as_scalar(y)
    return delivered(y, out, "median")


def _middle(line: Tensor) -> Tensor:
    """Return the median along the last axis."""
    n = line.shape[-1]
    ordered = permute(line, argsort(line))
    low, high, last = (index(ordered, key=(i,)) for i in ((n - 1) // 2, n // 2, n - 1))
    middle = low if n % 2 else multiply(add(low, high), 0.5)
    return where(isnan(last), last, middle)  # NaN is sorted to the end


@composed
def logsumexp(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the logarithm of the sum of the exponentials of the elements along ``axis``.

    Parameters
    ----------
    x : array_like
        The elements; real.
    axis : int or tuple of int, optional
        The axes to sum over, by default all.
    keepdims : bool
        Whether these axes stay, with size 1.

    Notes
    -----
    The largest element is subtracted first, so nothing overflows. The gradient is the softmax:
    :math:`g e^{x_i - y}`; elements that are infinite like the result share evenly. Of no elements
    it is -inf.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1000.0, 1000.0], requires_grad=True)
    >>> ng.logsumexp(x).item()
    1000.6931471805599
    >>> ng.grad(ng.logsumexp(x), x)[0]
    tensor([0.5, 0.5])
    """
    x, result = _computed_in(x, None)
    axes = negative_axes(axis, x.ndim)
    if not x.size:  # there is no largest element
        return log(x.sum(axis=axes, keepdims=kept(keepdims))).astype(result, copy=False)
    if not axes:
        return add(x, 0.0).astype(result, copy=False)
    inside = x.detach()
    largest = _operators.max(inside, axes=axes)
    powers = _operators.shifted_exp(inside, expand_dims(largest, axes=axes))
    total = _operators.sum(powers, axes=axes)
    y = add(log(total), largest)
    y = of_logsumexp(x, y, powers, expand_dims(total, axes=axes), axes=axes)
    y = y.astype(result, copy=False)
    return expand_dims(y, axes=axes) if kept(keepdims) else y


def _computed_in(x: ArrayLike, dtype: Any) -> tuple[Tensor, np.dtype]:
    """Return the elements in the dtype to compute in, and the dtype of the result."""
    x = as_tensor(x)
    result = np.dtype(dtype) if dtype is not None else x.dtype
    if dtype is None and result.kind not in "fc":
        result = np.dtype(np.float64)
    return x.astype(np.float32 if result == np.float16 else result, copy=False), result


def _real(dtype: np.dtype) -> np.dtype:
    return np.real(np.zeros((), dtype)).dtype


def _mean(x: Tensor, axis: Axis, keepdims: bool, where: ArrayLike = True) -> Tensor:
    if where is not True:
        total = _total(present(x, where, 0, "mean"), axis, keepdims)
        return divide(total, _count(x, axis, where, keepdims))
    count = x.size if axis is None else number_of_elements(x, axis)
    return divide(_total(x, axis, keepdims), count)


def _total(x: Tensor, axis: Axis, keepdims: bool) -> Tensor:
    """Return the sum in the dtype of the elements, of integers too."""
    total = _sums.call(x, axis, kept(keepdims))
    return total if total.dtype == x.dtype else cast(total, x.dtype)


_sums = reducer(_operators.sum)


def _count(x: Tensor, axis: Axis, where: ArrayLike, keepdims: bool) -> Any:
    """Return how many elements are reduced to one: a number, or a tensor where some do not
    count."""
    if where is True:
        return number_of_elements(x, axis)
    mask = broadcast_to(mask_of(where, "mean"), x.shape)
    return cast(_sums.call(mask, axis, kept(keepdims)), _real(x.dtype))


def _divisor(
    x: Tensor, axis: Axis, ddof: float, correction: float | None, where: Any, keepdims: bool
) -> Any:
    if correction is not None:
        if ddof != 0:
            raise ValueError("ddof and correction are two names of one parameter: give one of them")
        ddof = correction
    if isinstance(ddof, Tensor):
        ddof = float(ddof)  # whose error says what to write where the number is known only later
    if not isinstance(ddof, (int, float, np.number)):
        raise TypeError(f"ddof must be a number, got {type(ddof).__name__}")
    count = _count(x, axis, where, keepdims)
    return float(np.maximum(count - ddof, 0)) if where is True else maximum(count - ddof, 0.0)


def variance(
    x: ArrayLike, axis: Axis, dtype: Any, ddof: float, keepdims: bool, where: ArrayLike, mean: Any,
    correction: float | None,
) -> tuple[Tensor, np.dtype]:  # fmt: skip
    """Return the variance, and the dtype of the result. The mean and the sum of squares are of the
    dtype that is asked for, the deviations of what they are made of."""
    x, (averaged, result) = as_tensor(x), _computed_in(x, dtype)
    divisor = _divisor(averaged, axis, ddof, correction, where, keepdims)
    centre = mean
    if mean is None:
        centre = _mean(averaged, axis, True, where).astype(averaged.dtype, copy=False)
    d = subtract(x, centre)
    d = d if where is True else present(d, where, 0, "var")
    squares = real(multiply(d, conj(d))) if d.dtype.kind == "c" else square(d)
    squares = squares.astype(_real(averaged.dtype), copy=False)
    v = divide(_total(squares, axis, keepdims), divisor)
    v = v if v.dtype.kind == squares.dtype.kind else v.astype(squares.dtype)
    return v, result if dtype is not None else _real(result)
