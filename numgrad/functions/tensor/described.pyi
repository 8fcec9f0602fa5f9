"""Functions whose docstrings are put together when they are defined: NumPy's universal ones,
reductions, constants, windows, indices.

Written by `docs/stubs.py`."""

import collections.abc
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar, overload

import numpy

from numgrad._tensor import ArrayLike, Tensor

_P = ParamSpec("_P")
_R = TypeVar("_R", covariant=True)

class _Function(Protocol[_P, _R]):
    """A function of elements with NumPy's methods; those of one operand have ``at`` alone."""
    __name__: str
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    def reduce(
        self, array: ArrayLike, axis: int | collections.abc.Sequence[int] | None = 0,
        dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any | None = None,
        where: ArrayLike = True
    ) -> Tensor:
        """Return ``f(f(x[0], x[1]), x[2])`` and so on along ``axis``: ``ng.add.reduce`` is a sum.

        Parameters are those of ``numpy.ufunc.reduce``.

        Notes
        -----
        The derivatives are those of the function. Of equal elements each receives its part of the
        gradient: even parts from ``maximum`` and ``minimum``.
        """
    def accumulate(self, array: ArrayLike, axis: int = 0, dtype: Any = None, out: Any = None) -> Tensor:
        """Return all results on the way of `reduce`: ``ng.add.accumulate`` is a cumulative sum.

        Parameters are those of ``numpy.ufunc.accumulate``.
        """
    def reduceat(
        self, array: ArrayLike, indices: ArrayLike, axis: int = 0, dtype: Any = None,
        out: Any = None
    ) -> Tensor:
        """Return the reductions of ``array[indices[i]:indices[i + 1]]`` along ``axis``; where that is
        nothing, ``array[indices[i]]``. Parameters are those of ``numpy.ufunc.reduceat``.
        """
    def outer(
        self, a: ArrayLike, b: ArrayLike, /, *, out: Any = None, where: ArrayLike = True,
        dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
    ) -> Tensor:
        """Return the function of all pairs: ``ng.subtract.outer(a, b)[i, j]`` is ``a[i] - b[j]``."""
    def at(self, array: ArrayLike, indices: ArrayLike, values: Any | None = None, /) -> None:
        """Write ``f(array[indices], values)`` into a tensor, once for each time that an index occurs:
        ``ng.add.at`` adds all values up, where ``array[indices] += values`` adds the last one.

        Raises
        ------
        ArgTypeError
            If ``array`` is no tensor and would lose a gradient.
        """

# In quotes, which jedi does not follow: it knows no ParamSpec, and shows functions as written here.
_Universal: TypeAlias = "_Function[_P, _R]"

def _universal(function: collections.abc.Callable[_P, _R]) -> _Universal[_P, _R]: ...

@_universal
def abs(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the absolute value, real for complex arguments.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is `sign`: 0 at 0. For a complex ``x`` it is ``x / abs(x)``, the direction of
    steepest ascent, and at 0 there is no second derivative: NaN.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([-2.0, 0.0, 3.0], requires_grad=True)
    >>> ng.grad(ng.abs(x), x)[0]
    tensor([-1.,  0.,  1.])
    """

@_universal
def absolute(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the absolute value, real for complex arguments.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is `sign`: 0 at 0. For a complex ``x`` it is ``x / abs(x)``, the direction of
    steepest ascent, and at 0 there is no second derivative: NaN.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([-2.0, 0.0, 3.0], requires_grad=True)
    >>> ng.grad(ng.abs(x), x)[0]
    tensor([-1.,  0.,  1.])
    """

@_universal
def acos(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse cosine.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``-1 / sqrt((1 - x) * (1 + x))``: infinite at -1 and 1.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.acos(x), x)[0]
    tensor([-1.03279556, -1.15470054])
    """

@_universal
def acosh(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse hyperbolic cosine.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``1 / (sqrt(x - 1) * sqrt(x + 1))``: infinite at 1.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.acosh(x), x)[0]
    tensor([       inf, 0.57735027])
    """

@_universal
def add(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 + x2``.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivatives are 1 and 1.

    Examples
    --------
    >>> import numgrad as ng
    >>> x1 = ng.tensor([1.0, 4.0], requires_grad=True)
    >>> x2 = ng.tensor([2.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.add(x1, x2), [x1, x2])
    (tensor([1., 1.]), tensor([1., 1.]))
    """

def all(
    a: ArrayLike, axis: int | collections.abc.Sequence[int] | None = None,
    out: Tensor | None = None, keepdims: bool = False, *, where: ArrayLike = True
) -> Tensor:
    """Return whether no element along ``axis`` is zero.

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
    >>> ng.all([[2.0, 1.0], [0.0, 1.0]], axis=1)
    tensor([ True, False])
    """

def amax(
    a: ArrayLike, axis: int | collections.abc.Sequence[int] | None = None,
    out: Tensor | None = None, keepdims: bool = False, initial: Any | None = None,
    where: ArrayLike = True
) -> Tensor:
    """Return the largest element along ``axis``, NaN if there is one.

    Parameters
    ----------
    a : array_like
        The elements; real.
    axis : int or tuple of int, optional
        The axes to search, by default all.
    out, keepdims
        As in `sum`.
    initial : number or Tensor, optional
        The result is no smaller.
    where : array_like of bool, optional
        Which elements count; ``initial`` is needed then.

    Raises
    ------
    ValueError
        If there is no element, and no ``initial``.

    Notes
    -----
    The gradient goes to the largest element, in even parts to several; where the result is
    NaN so is the gradient.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 3.0, 3.0], requires_grad=True)
    >>> ng.grad(ng.max(x), x)[0]
    tensor([0. , 0.5, 0.5])
    """

def amin(
    a: ArrayLike, axis: int | collections.abc.Sequence[int] | None = None,
    out: Tensor | None = None, keepdims: bool = False, initial: Any | None = None,
    where: ArrayLike = True
) -> Tensor:
    """Return the smallest element along ``axis``, NaN if there is one.

    Parameters
    ----------
    a : array_like
        The elements; real.
    axis : int or tuple of int, optional
        The axes to search, by default all.
    out, keepdims
        As in `sum`.
    initial : number or Tensor, optional
        The result is no larger.
    where : array_like of bool, optional
        Which elements count; ``initial`` is needed then.

    Raises
    ------
    ValueError
        If there is no element, and no ``initial``.

    Notes
    -----
    The gradient goes to the smallest element, in even parts to several; where the result is
    NaN so is the gradient.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([3.0, 1.0, 1.0], requires_grad=True)
    >>> ng.grad(ng.min(x), x)[0]
    tensor([0. , 0.5, 0.5])
    """

def any(
    a: ArrayLike, axis: int | collections.abc.Sequence[int] | None = None,
    out: Tensor | None = None, keepdims: bool = False, *, where: ArrayLike = True
) -> Tensor:
    """Return whether any element along ``axis`` is not zero.

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
    >>> ng.any([[2.0, 1.0], [0.0, 0.0]], axis=1)
    tensor([ True, False])
    """

@_universal
def arccos(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse cosine.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``-1 / sqrt((1 - x) * (1 + x))``: infinite at -1 and 1.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.acos(x), x)[0]
    tensor([-1.03279556, -1.15470054])
    """

@_universal
def arccosh(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse hyperbolic cosine.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``1 / (sqrt(x - 1) * sqrt(x + 1))``: infinite at 1.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.acosh(x), x)[0]
    tensor([       inf, 0.57735027])
    """

@_universal
def arcsin(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse sine.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``1 / sqrt((1 - x) * (1 + x))``: infinite at -1 and 1.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.asin(x), x)[0]
    tensor([1.03279556, 1.15470054])
    """

@_universal
def arcsinh(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse hyperbolic sine.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``1 / sqrt(1 + x**2)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.asinh(x), x)[0]
    tensor([0.9701425 , 0.89442719])
    """

@_universal
def arctan(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse tangent.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``1 / (1 + x**2)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.atan(x), x)[0]
    tensor([0.94117647, 0.8       ])
    """

@_universal
def arctan2(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the angle of the point ``(x2, x1)``, in ``[-pi, pi]``.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is complex.

    Notes
    -----
    The derivatives are ``x2 / r**2`` and ``-x1 / r**2`` with ``r = hypot(x1, x2)``, and 0 at
    the origin, where second derivatives do not exist and are NaN.

    Examples
    --------
    >>> import numgrad as ng
    >>> x1 = ng.tensor([3.0, 0.0], requires_grad=True)
    >>> x2 = ng.tensor([4.0, 0.0], requires_grad=True)
    >>> ng.grad(ng.atan2(x1, x2), [x1, x2])
    (tensor([0.16, 0.  ]), tensor([-0.12,  0.  ]))
    """

@_universal
def arctanh(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse hyperbolic tangent.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``1 / ((1 - x) * (1 + x))``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.atanh(x), x)[0]
    tensor([1.06666667, 1.33333333])
    """

def argmax(
    a: ArrayLike, axis: int | None = None, out: Tensor | None = None, *, keepdims: bool = False
) -> Tensor:
    """Return the position of the first largest element along ``axis``, or of the first NaN.

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
    >>> ng.argmax([2.0, 3.0, 1.0, 1.0, 3.0])
    tensor(1)
    """

def argmin(
    a: ArrayLike, axis: int | None = None, out: Tensor | None = None, *, keepdims: bool = False
) -> Tensor:
    """Return the position of the first smallest element along ``axis``, or of the first NaN.

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
    >>> ng.argmin([2.0, 3.0, 1.0, 1.0, 3.0])
    tensor(2)
    """

@_universal
def asin(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse sine.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``1 / sqrt((1 - x) * (1 + x))``: infinite at -1 and 1.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.asin(x), x)[0]
    tensor([1.03279556, 1.15470054])
    """

@_universal
def asinh(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse hyperbolic sine.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``1 / sqrt(1 + x**2)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.asinh(x), x)[0]
    tensor([0.9701425 , 0.89442719])
    """

@_universal
def atan(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse tangent.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``1 / (1 + x**2)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.atan(x), x)[0]
    tensor([0.94117647, 0.8       ])
    """

@_universal
def atan2(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the angle of the point ``(x2, x1)``, in ``[-pi, pi]``.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is complex.

    Notes
    -----
    The derivatives are ``x2 / r**2`` and ``-x1 / r**2`` with ``r = hypot(x1, x2)``, and 0 at
    the origin, where second derivatives do not exist and are NaN.

    Examples
    --------
    >>> import numgrad as ng
    >>> x1 = ng.tensor([3.0, 0.0], requires_grad=True)
    >>> x2 = ng.tensor([4.0, 0.0], requires_grad=True)
    >>> ng.grad(ng.atan2(x1, x2), [x1, x2])
    (tensor([0.16, 0.  ]), tensor([-0.12,  0.  ]))
    """

@_universal
def atanh(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the inverse hyperbolic tangent.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``1 / ((1 - x) * (1 + x))``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.atanh(x), x)[0]
    tensor([1.06666667, 1.33333333])
    """

def bartlett(M: ArrayLike) -> Any:
    """Return the triangular window; as `numpy.bartlett`, not differentiable.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.bartlett(3)
    tensor([0., 1., 0.])
    """

@_universal
def bitwise_and(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 & x2`` of integers or booleans.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is floating or complex.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.bitwise_and(ng.tensor([6, 5]), ng.tensor([2, 1]))
    tensor([2, 1])
    """

@_universal
def bitwise_count(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the numbers of ones among the bits of the absolute values of integers.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If ``x`` is floating or complex.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.bitwise_count(ng.tensor([6, -7]))
    tensor([2, 3], dtype=uint8)
    """

@_universal
def bitwise_invert(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``~x`` of integers or booleans.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If ``x`` is floating or complex.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.bitwise_invert(ng.tensor([6, 5]))
    tensor([-7, -6])
    """

@_universal
def bitwise_left_shift(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 << x2`` of integers or booleans.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is floating or complex.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.bitwise_left_shift(ng.tensor([6, 5]), ng.tensor([2, 1]))
    tensor([24, 10])
    """

@_universal
def bitwise_not(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``~x`` of integers or booleans.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If ``x`` is floating or complex.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.bitwise_invert(ng.tensor([6, 5]))
    tensor([-7, -6])
    """

@_universal
def bitwise_or(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 | x2`` of integers or booleans.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is floating or complex.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.bitwise_or(ng.tensor([6, 5]), ng.tensor([2, 1]))
    tensor([6, 5])
    """

@_universal
def bitwise_right_shift(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 >> x2`` of integers or booleans.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is floating or complex.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.bitwise_right_shift(ng.tensor([6, 5]), ng.tensor([2, 1]))
    tensor([1, 2])
    """

@_universal
def bitwise_xor(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 ^ x2`` of integers or booleans.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is floating or complex.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.bitwise_xor(ng.tensor([6, 5]), ng.tensor([2, 1]))
    tensor([4, 4])
    """

def blackman(M: ArrayLike) -> Any:
    """Return the Blackman window; as `numpy.blackman`, not differentiable.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.blackman(3).round(6)
    tensor([-0.,  1., -0.])
    """

@_universal
def cbrt(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the cube root.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Notes
    -----
    The derivative is ``1 / (3 * cbrt(x)**2)``: infinite at 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([-8.0, 1.0], requires_grad=True)
    >>> ng.grad(ng.cbrt(x), x)[0]
    tensor([0.08333333, 0.33333333])
    """

@_universal
def ceil(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the smallest integers not below ``x``, in its dtype.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Notes
    -----
    The derivative is 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.ceil(ng.tensor([-1.5, 1.5]))
    tensor([-1.,  2.])
    """

@_universal
def conj(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the complex conjugate; real numbers stay what they are.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The cotangent is conjugated.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.conj(ng.tensor([1.0 + 2.0j]))
    tensor([1.-2.j])
    """

@_universal
def conjugate(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the complex conjugate; real numbers stay what they are.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The cotangent is conjugated.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.conj(ng.tensor([1.0 + 2.0j]))
    tensor([1.-2.j])
    """

@_universal
def copysign(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``abs(x1)`` with the sign of ``x2``.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is complex.

    Notes
    -----
    The derivatives are ``sign(x1) * copysign(1, x2)`` and 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.copysign(ng.tensor([1.0, 2.0]), ng.tensor([-1.0, 0.0]))
    tensor([-1.,  2.])
    """

@_universal
def cos(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the cosine.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``-sin(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.cos(x), x)[0]
    tensor([-0.24740396, -0.47942554])
    """

@_universal
def cosh(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the hyperbolic cosine.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``sinh(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.cosh(x), x)[0]
    tensor([0.25261232, 0.52109531])
    """

@_universal
def deg2rad(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return degrees as radians.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Notes
    -----
    The derivative is ``pi / 180``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.deg2rad(ng.tensor([90.0, 180.0]))
    tensor([1.57079633, 3.14159265])
    """

@_universal
def degrees(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return radians as degrees.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Notes
    -----
    The derivative is ``180 / pi``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.rad2deg(ng.tensor([0.5, 1.0]))
    tensor([28.64788976, 57.29577951])
    """

def diag_indices(n: ArrayLike, ndim: Any = 2) -> Any:
    """Return the indices of the main diagonal; as `numpy.diag_indices`, not differentiable.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.diag_indices(2)
    (tensor([0, 1]), tensor([0, 1]))
    """

@_universal
def divide(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 / x2``; integers are divided as float64.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivatives are ``1 / x2`` and ``-x1 / x2**2``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x1 = ng.tensor([1.0, 4.0], requires_grad=True)
    >>> x2 = ng.tensor([2.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.divide(x1, x2), [x1, x2])
    (tensor([0.5, 0.5]), tensor([-0.25, -1.  ]))
    """

@_universal
def divmod(
    x1: ArrayLike, x2: ArrayLike, out1: Any = None, out2: Any = None, /, *, out: Any = None,
    where: ArrayLike = True, dtype: Any = None, casting: Any = 'same_kind', order: str = 'K',
    subok: bool = True
) -> tuple[Tensor, Tensor]:
    """Return `floor_divide` and `remainder` of two arguments, whose derivatives they have.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.divmod(ng.tensor([7.0, -7.0]), 2.0)
    (tensor([ 3., -4.]), tensor([1., 1.]))
    """

def empty(
    shape: int | collections.abc.Sequence[int], dtype: Any = None, order: Any = 'C', *,
    device: Any = None, like: Any = None, requires_grad: bool = False
) -> Tensor:
    """Return a tensor whose elements are not set.

    Parameters
    ----------
    shape : int or sequence of int
        The sizes of the axes.
    dtype : dtype, optional
        Default float64.
    order : {"C", "F"}
        How the elements lie in memory; "A" and "K" mean "C".
    device : str, optional
        Where the tensor lives.
    like : Tensor, optional
        The tensor lives where this one does.
    requires_grad : bool
        Whether gradients are asked for, as in `tensor`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.empty((2, 3)).shape
    (2, 3)
    """

@_universal
def equal(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 == x2`` as booleans, without derivative.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.equal(ng.tensor([1.0, 2.0]), ng.tensor([2.0, 2.0]))
    tensor([False,  True])
    """

@_universal
def exp(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``e**x``.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``exp(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.exp(x), x)[0]
    tensor([1.28402542, 1.64872127])
    """

@_universal
def exp2(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``2**x``.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``log(2) * exp2(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.exp2(x), x)[0]
    tensor([0.82429556, 0.98025814])
    """

@_universal
def expm1(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``exp(x) - 1``, precise near 0.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``exp(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.expm1(x), x)[0]
    tensor([1.28402542, 1.64872127])
    """

@_universal
def fabs(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the absolute value of real numbers; integers are converted to float64.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Notes
    -----
    The derivative is `sign`: 0 at 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([-2.0, 0.0, 3.0], requires_grad=True)
    >>> ng.grad(ng.fabs(x), x)[0]
    tensor([-1.,  0.,  1.])
    """

@_universal
def fix(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x`` rounded towards zero.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Notes
    -----
    The derivative is 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.trunc(ng.tensor([-1.5, 1.5]))
    tensor([-1.,  1.])
    """

@_universal
def float_power(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1**x2`` in double precision at least; the derivatives are those of `pow`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.float_power([2, 4], -1)
    tensor([0.5 , 0.25])
    """

@_universal
def floor(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the largest integers not above ``x``, in its dtype.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Notes
    -----
    The derivative is 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.floor(ng.tensor([-1.5, 1.5]))
    tensor([-2.,  1.])
    """

@_universal
def floor_divide(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``floor(x1 / x2)``.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is complex.

    Notes
    -----
    The derivatives are 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.floor_divide(ng.tensor([7.0, -7.0]), ng.tensor([2.0, 2.0]))
    tensor([ 3., -4.])
    """

@_universal
def fmax(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the larger argument, and the other one where one is NaN.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is complex.

    Notes
    -----
    The derivatives are 1 for the argument returned and 0 for the other, a half each at a tie.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fmax(ng.tensor([1.0, float("nan")]), ng.tensor([2.0, 2.0]))
    tensor([2., 2.])
    """

@_universal
def fmin(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the smaller argument, and the other one where one is NaN.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is complex.

    Notes
    -----
    The derivatives are 1 for the argument returned and 0 for the other, a half each at a tie.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fmin(ng.tensor([1.0, float("nan")]), ng.tensor([2.0, 2.0]))
    tensor([1., 2.])
    """

@_universal
def fmod(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 - x2 * trunc(x1 / x2)``, with the sign of ``x1``.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is complex.

    Notes
    -----
    The derivatives are 1 and ``-trunc(x1 / x2)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x1 = ng.tensor([7.0, -7.0], requires_grad=True)
    >>> x2 = ng.tensor([2.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.fmod(x1, x2), [x1, x2])
    (tensor([1., 1.]), tensor([-3.,  3.]))
    """

@_universal
def frexp(
    x: ArrayLike, out1: Any = None, out2: Any = None, /, *, out: Any = None,
    where: ArrayLike = True, dtype: Any = None, casting: Any = 'same_kind', order: str = 'K',
    subok: bool = True
) -> tuple[Tensor, Tensor]:
    """Return numbers from 0.5 to 1, with the sign of ``x``, and the powers of 2 that make ``x`` of
    them.

    Notes
    -----
    The derivative of the first is :math:`2^{-e}`; the second are integers.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.frexp(ng.tensor([3.0, 0.25]))
    (tensor([0.75, 0.5 ]), tensor([ 2, -1], dtype=int32))
    """

@_universal
def gcd(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the greatest common divisors of integers.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is floating or complex.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.gcd(ng.tensor([12, 20]), ng.tensor([8, 8]))
    tensor([4, 4])
    """

@_universal
def greater(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 > x2`` as booleans, without derivative.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is complex.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.greater(ng.tensor([1.0, 2.0]), ng.tensor([2.0, 2.0]))
    tensor([False, False])
    """

@_universal
def greater_equal(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 >= x2`` as booleans, without derivative.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is complex.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.greater_equal(ng.tensor([1.0, 2.0]), ng.tensor([2.0, 2.0]))
    tensor([False,  True])
    """

def hamming(M: ArrayLike) -> Any:
    """Return the Hamming window; as `numpy.hamming`, not differentiable.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.hamming(3)
    tensor([0.08, 1.  , 0.08])
    """

def hanning(M: ArrayLike) -> Any:
    """Return the Hann window; as `numpy.hanning`, not differentiable.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.hanning(3)
    tensor([0., 1., 0.])
    """

@_universal
def heaviside(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return 0 where ``x1`` is negative, ``x2`` where it is 0, 1 where it is positive.

    Notes
    -----
    The derivatives are 0, and for ``x2`` 1 where ``x1`` is 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.heaviside(ng.tensor([-1.5, 0.0, 2.0]), 0.5)
    tensor([0. , 0.5, 1. ])
    """

@_universal
def hypot(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``sqrt(x1**2 + x2**2)`` without overflow.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is complex.

    Notes
    -----
    The derivatives are ``x1 / y`` and ``x2 / y``, and 0 at the origin, where second derivatives
    do not exist and are NaN.

    Examples
    --------
    >>> import numgrad as ng
    >>> x1 = ng.tensor([3.0, 0.0], requires_grad=True)
    >>> x2 = ng.tensor([4.0, 0.0], requires_grad=True)
    >>> ng.grad(ng.hypot(x1, x2), [x1, x2])
    (tensor([0.6, 0. ]), tensor([0.8, 0. ]))
    """

def imag(val: ArrayLike) -> Tensor:
    """Return the imaginary part: of complex numbers a view, as in NumPy, which can be written in
    place, of real numbers 0.

    Parameters
    ----------
    val : array_like
        Any shape.

    Notes
    -----
    The cotangent becomes the imaginary part of the gradient.

    Examples
    --------
    >>> import numgrad as ng
    >>> val = ng.tensor([1.0 + 2.0j], requires_grad=True)
    >>> ng.grad(ng.imag(val), val)[0]
    tensor([0.+1.j])
    """

def indices(dimensions: ArrayLike, dtype: Any = ..., sparse: Any = False) -> Any:
    """Return the index of every element along each axis; as `numpy.indices`, not differentiable.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.indices((2, 2))[0]
    tensor([[0, 0],
            [1, 1]])
    """

@_universal
def invert(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``~x`` of integers or booleans.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If ``x`` is floating or complex.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.bitwise_invert(ng.tensor([6, 5]))
    tensor([-7, -6])
    """

@_universal
def isfinite(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return where ``x`` is neither infinite nor NaN.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.isfinite(ng.tensor([1.0, float("inf"), float("nan")]))
    tensor([ True, False, False])
    """

@_universal
def isinf(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return where ``x`` is infinite.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.isinf(ng.tensor([1.0, float("inf"), float("nan")]))
    tensor([False,  True, False])
    """

@_universal
def isnan(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return where ``x`` is NaN.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.isnan(ng.tensor([1.0, float("inf"), float("nan")]))
    tensor([False, False,  True])
    """

@_universal
def lcm(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the least common multiples of integers.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is floating or complex.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.lcm(ng.tensor([12, 20]), ng.tensor([8, 8]))
    tensor([24, 40])
    """

@_universal
def ldexp(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 * 2**x2`` for integers ``x2``.

    Raises
    ------
    TypeError
        If ``x2`` is not of integers.

    Notes
    -----
    The derivative for ``x1`` is :math:`2^{x_2}`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.ldexp(ng.tensor([0.75, 0.5]), [2, -1])
    tensor([3.  , 0.25])
    """

@_universal
def left_shift(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 << x2`` of integers or booleans.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is floating or complex.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.bitwise_left_shift(ng.tensor([6, 5]), ng.tensor([2, 1]))
    tensor([24, 10])
    """

@_universal
def less(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 < x2`` as booleans, without derivative.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is complex.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.less(ng.tensor([1.0, 2.0]), ng.tensor([2.0, 2.0]))
    tensor([ True, False])
    """

@_universal
def less_equal(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 <= x2`` as booleans, without derivative.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is complex.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.less_equal(ng.tensor([1.0, 2.0]), ng.tensor([2.0, 2.0]))
    tensor([ True,  True])
    """

@_universal
def log(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the natural logarithm.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``1 / x``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.log(x), x)[0]
    tensor([4., 2.])
    """

@_universal
def log10(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the logarithm to base 10.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``1 / (x * log(10))``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.log10(x), x)[0]
    tensor([1.73717793, 0.86858896])
    """

@_universal
def log1p(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``log(1 + x)``, precise near 0.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``1 / (1 + x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.log1p(x), x)[0]
    tensor([0.8       , 0.66666667])
    """

@_universal
def log2(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the logarithm to base 2.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``1 / (x * log(2))``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.log2(x), x)[0]
    tensor([5.77078016, 2.88539008])
    """

@_universal
def logaddexp(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``log(exp(x1) + exp(x2))`` without overflow.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is complex.

    Notes
    -----
    The derivatives are ``exp(x1 - y)`` and ``exp(x2 - y)``, their sum is 1; each is a half for
    equal infinities.

    Examples
    --------
    >>> import numgrad as ng
    >>> x1 = ng.tensor([1.0, 4.0], requires_grad=True)
    >>> x2 = ng.tensor([2.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.logaddexp(x1, x2), [x1, x2])
    (tensor([0.26894142, 0.88079708]), tensor([0.73105858, 0.11920292]))
    """

@_universal
def logaddexp2(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``log2(2**x1 + 2**x2)`` without overflow.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is complex.

    Notes
    -----
    The derivatives are ``2**(x1 - y)`` and ``2**(x2 - y)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x1 = ng.tensor([1.0, 4.0], requires_grad=True)
    >>> x2 = ng.tensor([2.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.logaddexp2(x1, x2), [x1, x2])
    (tensor([0.33333333, 0.8       ]), tensor([0.66666667, 0.2       ]))
    """

@_universal
def logical_and(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return where both arguments are true, that is not 0.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.logical_and(ng.tensor([True, False]), ng.tensor([True, True]))
    tensor([ True, False])
    """

@_universal
def logical_not(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return where ``x`` is 0.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.logical_not(ng.tensor([0.0, 2.0]))
    tensor([ True, False])
    """

@_universal
def logical_or(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return where at least one argument is true, that is not 0.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.logical_or(ng.tensor([True, False]), ng.tensor([True, True]))
    tensor([ True,  True])
    """

@_universal
def logical_xor(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return where exactly one argument is true, that is not 0.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.logical_xor(ng.tensor([True, False]), ng.tensor([True, True]))
    tensor([False,  True])
    """

def mask_indices(n: ArrayLike, mask_func: ArrayLike, k: Any = 0) -> Any:
    """Return the indices where a function such as `triu` leaves ones of a square matrix; as `numpy.mask_indices`, not differentiable.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.mask_indices(2, np.triu)
    (tensor([0, 0, 1]), tensor([0, 1, 1]))
    """

@_universal
def matmul(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the matrix product; leading axes broadcast.

    Parameters
    ----------
    x1, x2 : array_like
        A vector stands for one row on the left, for one column on the right.

    Raises
    ------
    ValueError
        For numbers, or if the sizes do not fit.

    Notes
    -----
    For :math:`C = A B` with cotangent :math:`G` the gradients are :math:`G B^H` and :math:`A^H G`.

    Examples
    --------
    >>> import numgrad as ng
    >>> A = ng.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> ng.grad(A @ [1.0, 10.0], A)[0]
    tensor([[ 1., 10.],
            [ 1., 10.]])
    """

@_universal
def matvec(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the products of matrices and vectors; other axes broadcast.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.matvec([[1.0, 2.0], [3.0, 4.0]], [[1.0, 10.0], [0.0, 1.0]])
    tensor([[21., 43.],
            [ 2.,  4.]])
    """

def max(
    a: ArrayLike, axis: int | collections.abc.Sequence[int] | None = None,
    out: Tensor | None = None, keepdims: bool = False, initial: Any | None = None,
    where: ArrayLike = True
) -> Tensor:
    """Return the largest element along ``axis``, NaN if there is one.

    Parameters
    ----------
    a : array_like
        The elements; real.
    axis : int or tuple of int, optional
        The axes to search, by default all.
    out, keepdims
        As in `sum`.
    initial : number or Tensor, optional
        The result is no smaller.
    where : array_like of bool, optional
        Which elements count; ``initial`` is needed then.

    Raises
    ------
    ValueError
        If there is no element, and no ``initial``.

    Notes
    -----
    The gradient goes to the largest element, in even parts to several; where the result is
    NaN so is the gradient.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 3.0, 3.0], requires_grad=True)
    >>> ng.grad(ng.max(x), x)[0]
    tensor([0. , 0.5, 0.5])
    """

@_universal
def maximum(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the larger argument, NaN where either is NaN.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is complex.

    Notes
    -----
    The derivatives are 1 for the larger argument and 0 for the other, a half each at a tie.

    Examples
    --------
    >>> import numgrad as ng
    >>> x1 = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> x2 = ng.tensor([2.0, 2.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.maximum(x1, x2), [x1, x2])
    (tensor([0. , 0.5, 1. ]), tensor([1. , 0.5, 0. ]))
    """

def min(
    a: ArrayLike, axis: int | collections.abc.Sequence[int] | None = None,
    out: Tensor | None = None, keepdims: bool = False, initial: Any | None = None,
    where: ArrayLike = True
) -> Tensor:
    """Return the smallest element along ``axis``, NaN if there is one.

    Parameters
    ----------
    a : array_like
        The elements; real.
    axis : int or tuple of int, optional
        The axes to search, by default all.
    out, keepdims
        As in `sum`.
    initial : number or Tensor, optional
        The result is no larger.
    where : array_like of bool, optional
        Which elements count; ``initial`` is needed then.

    Raises
    ------
    ValueError
        If there is no element, and no ``initial``.

    Notes
    -----
    The gradient goes to the smallest element, in even parts to several; where the result is
    NaN so is the gradient.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([3.0, 1.0, 1.0], requires_grad=True)
    >>> ng.grad(ng.min(x), x)[0]
    tensor([0. , 0.5, 0.5])
    """

@_universal
def minimum(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the smaller argument, NaN where either is NaN.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is complex.

    Notes
    -----
    The derivatives are 1 for the smaller argument and 0 for the other, a half each at a tie.

    Examples
    --------
    >>> import numgrad as ng
    >>> x1 = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> x2 = ng.tensor([2.0, 2.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.minimum(x1, x2), [x1, x2])
    (tensor([1. , 0.5, 0. ]), tensor([0. , 0.5, 1. ]))
    """

@_universal
def mod(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 - x2 * floor(x1 / x2)``, with the sign of ``x2``.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is complex.

    Notes
    -----
    The derivatives are 1 and ``-floor(x1 / x2)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x1 = ng.tensor([7.0, -7.0], requires_grad=True)
    >>> x2 = ng.tensor([2.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.remainder(x1, x2), [x1, x2])
    (tensor([1., 1.]), tensor([-3.,  4.]))
    """

@_universal
def modf(
    x: ArrayLike, out1: Any = None, out2: Any = None, /, *, out: Any = None,
    where: ArrayLike = True, dtype: Any = None, casting: Any = 'same_kind', order: str = 'K',
    subok: bool = True
) -> tuple[Tensor, Tensor]:
    """Return the fractions and the integers of numbers, both with their sign.

    Notes
    -----
    The derivatives are 1 and 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.modf(ng.tensor([1.5, -2.25]))
    (tensor([ 0.5 , -0.25]), tensor([ 1., -2.]))
    """

@_universal
def multiply(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 * x2``.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivatives are ``x2`` and ``x1``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x1 = ng.tensor([1.0, 4.0], requires_grad=True)
    >>> x2 = ng.tensor([2.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.multiply(x1, x2), [x1, x2])
    (tensor([2., 2.]), tensor([1., 4.]))
    """

def nanargmax(
    a: ArrayLike, axis: int | None = None, out: Tensor | None = None, *, keepdims: bool = False
) -> Tensor:
    """Return the position of the first largest element that is not NaN; parameters as in
    `argmax`.

    Raises
    ------
    ValueError
        If all elements are NaN; in a captured function the position is 0 then.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.nanargmax([1.0, float("nan"), 3.0]).item()
    2
    """

def nanargmin(
    a: ArrayLike, axis: int | None = None, out: Tensor | None = None, *, keepdims: bool = False
) -> Tensor:
    """Return the position of the first smallest element that is not NaN; parameters as in
    `argmin`.

    Raises
    ------
    ValueError
        If all elements are NaN; in a captured function the position is 0 then.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.nanargmin([1.0, float("nan"), 3.0]).item()
    0
    """

def nanmax(
    a: ArrayLike, axis: int | collections.abc.Sequence[int] | None = None,
    out: Tensor | None = None, keepdims: bool = False, *, initial: Any | None = None,
    where: ArrayLike = True
) -> Tensor:
    """Return the largest element that is not NaN along ``axis``, NaN if there is none.

    Parameters
    ----------
    a, axis, out, keepdims
        As in `max`.
    initial : number, optional
        The least result.
    where : array_like, optional
        Which elements to include; needs ``initial``.

    Raises
    ------
    ValueError
        If there is no element, or ``where`` stands alone.

    Notes
    -----
    The gradient goes to the largest element, in even parts to several.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, float("nan"), 3.0], requires_grad=True)
    >>> ng.grad(ng.nanmax(x), x)[0]
    tensor([0., 0., 1.])
    """

def nanmin(
    a: ArrayLike, axis: int | collections.abc.Sequence[int] | None = None,
    out: Tensor | None = None, keepdims: bool = False, *, initial: Any | None = None,
    where: ArrayLike = True
) -> Tensor:
    """Return the smallest element that is not NaN along ``axis``, NaN if there is none.

    Parameters
    ----------
    a, axis, out, keepdims
        As in `min`.
    initial : number, optional
        The largest result.
    where : array_like, optional
        Which elements to include; needs ``initial``.

    Raises
    ------
    ValueError
        If there is no element, or ``where`` stands alone.

    Notes
    -----
    The gradient goes to the smallest element, in even parts to several.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, float("nan"), 3.0], requires_grad=True)
    >>> ng.grad(ng.nanmin(x), x)[0]
    tensor([1., 0., 0.])
    """

def nanpercentile(
    a: ArrayLike, q: ArrayLike, axis: int | collections.abc.Sequence[int] | None = None, *,
    overwrite_input: bool = False, method: str = 'linear', keepdims: bool = False,
    weights: Any | None = None
) -> Tensor:
    """Return percentiles of the elements that are not NaN along ``axis``; NaN if there are none.

    Parameters
    ----------
    a : array_like
        The elements; real.
    q : array_like
        Which percentiles, from 0 to 100; its axes are the first ones of the result.
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
        If there are no elements, of a dtype without NaN.

    Notes
    -----
    The gradient goes to the one or two elements between which the quantile lies, of equal ones
    to that which comes there in the stable order; with continuous methods ``q`` has one too,
    their distance times :math:`n - 1` ("linear") or :math:`n`, over 100. Weights have the
    derivative 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([4.0, 1.0, float("nan"), 9.0], requires_grad=True)
    >>> ng.nanpercentile(x, 25).item()
    2.5
    >>> ng.grad(ng.nanpercentile(x, 25), x)[0]
    tensor([0.5, 0.5, 0. , 0. ])
    """

def nanprod(
    a: ArrayLike, axis: int | collections.abc.Sequence[int] | None = None, dtype: Any = None,
    out: Tensor | None = None, keepdims: bool = False, *, initial: Any | None = None,
    where: ArrayLike = True
) -> Tensor:
    """Return the product of the elements that are not NaN along ``axis``.

    Parameters
    ----------
    a : array_like
        The elements.
    axis, dtype, out, keepdims
        As in `prod`.
    initial : number, optional
        What the product begins with.
    where : array_like
        Which elements to include.

    Notes
    -----
    The gradient is that of `prod`, and 0 for what is left out.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, float("nan"), 3.0], requires_grad=True)
    >>> ng.nanprod(x).item()
    3.0
    >>> ng.grad(ng.nanprod(x), x)[0]
    tensor([3., 0., 1.])
    """

def nanquantile(
    a: ArrayLike, q: ArrayLike, axis: int | collections.abc.Sequence[int] | None = None, *,
    overwrite_input: bool = False, method: str = 'linear', keepdims: bool = False,
    weights: Any | None = None
) -> Tensor:
    """Return quantiles of the elements that are not NaN along ``axis``; NaN if there are none.

    Parameters
    ----------
    a : array_like
        The elements; real.
    q : array_like
        Which quantiles, from 0 to 1; its axes are the first ones of the result.
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
        If there are no elements, of a dtype without NaN.

    Notes
    -----
    The gradient goes to the one or two elements between which the quantile lies, of equal ones
    to that which comes there in the stable order; with continuous methods ``q`` has one too,
    their distance times :math:`n - 1` ("linear") or :math:`n`. Weights have the
    derivative 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([4.0, 1.0, float("nan"), 9.0], requires_grad=True)
    >>> ng.nanquantile(x, 0.25).item()
    2.5
    >>> ng.grad(ng.nanquantile(x, 0.25), x)[0]
    tensor([0.5, 0.5, 0. , 0. ])
    """

def nanstd(
    a: ArrayLike, axis: int | collections.abc.Sequence[int] | None = None, dtype: Any = None,
    out: Tensor | None = None, ddof: float = 0, keepdims: bool = False, *,
    where: ArrayLike = True, mean: Any | None = None, correction: float | None = None
) -> Tensor:
    """Return the standard deviation of the elements that are not NaN along ``axis``, NaN if there are no
    more of them than ``ddof``; parameters as in `std` and `nansum`, the derivative as in
    `std`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.nanstd([1.0, float("nan"), 5.0]).item()
    2.0
    """

def nansum(
    a: ArrayLike, axis: int | collections.abc.Sequence[int] | None = None, dtype: Any = None,
    out: Tensor | None = None, keepdims: bool = False, *, initial: Any | None = None,
    where: ArrayLike = True
) -> Tensor:
    """Return the sum of the elements that are not NaN along ``axis``.

    Parameters
    ----------
    a : array_like
        The elements.
    axis, dtype, out, keepdims
        As in `sum`.
    initial : number, optional
        What the sum begins with.
    where : array_like
        Which elements to include.

    Notes
    -----
    The gradient is that of `sum`, and 0 for what is left out.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, float("nan"), 3.0], requires_grad=True)
    >>> ng.nansum(x).item()
    4.0
    >>> ng.grad(ng.nansum(x), x)[0]
    tensor([1., 0., 1.])
    """

def nanvar(
    a: ArrayLike, axis: int | collections.abc.Sequence[int] | None = None, dtype: Any = None,
    out: Tensor | None = None, ddof: float = 0, keepdims: bool = False, *,
    where: ArrayLike = True, mean: Any | None = None, correction: float | None = None
) -> Tensor:
    """Return the variance of the elements that are not NaN along ``axis``, NaN if there are no
    more of them than ``ddof``; parameters as in `var` and `nansum`, the derivative as in
    `var`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.nanvar([1.0, float("nan"), 5.0]).item()
    4.0
    """

@_universal
def negative(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``-x``.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is -1.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.negative(x), x)[0]
    tensor([-1., -1.])
    """

@_universal
def nextafter(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the next number after ``x1`` towards ``x2``.

    Notes
    -----
    The derivative for ``x1`` is 1, that for ``x2`` is 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.nextafter(ng.tensor(1.0), 2.0) - 1.0 == ng.finfo(float).eps
    tensor(True)
    """

@_universal
def not_equal(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 != x2`` as booleans, without derivative.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.not_equal(ng.tensor([1.0, 2.0]), ng.tensor([2.0, 2.0]))
    tensor([ True, False])
    """

def ones(
    shape: int | collections.abc.Sequence[int], dtype: Any = None, order: Any = 'C', *,
    device: Any = None, like: Any = None, requires_grad: bool = False
) -> Tensor:
    """Return a tensor of ones.

    Parameters
    ----------
    shape : int or sequence of int
        The sizes of the axes.
    dtype : dtype, optional
        Default float64.
    order : {"C", "F"}
        How the elements lie in memory; "A" and "K" mean "C".
    device : str, optional
        Where the tensor lives.
    like : Tensor, optional
        The tensor lives where this one does.
    requires_grad : bool
        Whether gradients are asked for, as in `tensor`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.ones(3, dtype=ng.int64)
    tensor([1, 1, 1])
    """

def ones_like(
    a: ArrayLike, dtype: Any = None, order: Any = 'K', subok: bool = True, *,
    device: Any = None, shape: Any = None, requires_grad: bool = False
) -> Tensor:
    """Return ones with the shape and dtype of ``a``, unless others are given.

    Parameters
    ----------
    a : array_like
        What the result resembles.
    dtype : dtype, optional
        Another dtype.
    order, subok
        As in `zeros`; ``subok`` has no effect.
    device : str, optional
        Where the tensor lives.
    shape : int or sequence of int, optional
        Another shape.
    requires_grad : bool
        As in `zeros`.

    Notes
    -----
    The result does not depend on the values of ``a``: no gradient flows.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.ones_like(ng.tensor([1.0, 2.0]))
    tensor([1., 1.])
    """

def percentile(
    a: ArrayLike, q: ArrayLike, axis: int | collections.abc.Sequence[int] | None = None, *,
    overwrite_input: bool = False, method: str = 'linear', keepdims: bool = False,
    weights: Any | None = None
) -> Tensor:
    """Return percentiles of the elements along ``axis``; NaN if one of them is.

    Parameters
    ----------
    a : array_like
        The elements; real.
    q : array_like
        Which percentiles, from 0 to 100; its axes are the first ones of the result.
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
        If there are no elements.

    Notes
    -----
    The gradient goes to the one or two elements between which the quantile lies, of equal ones
    to that which comes there in the stable order; with continuous methods ``q`` has one too,
    their distance times :math:`n - 1` ("linear") or :math:`n`, over 100. Weights have the
    derivative 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([4.0, 1.0, 3.0, 9.0], requires_grad=True)
    >>> ng.percentile(x, 25).item()
    2.5
    >>> ng.grad(ng.percentile(x, 25), x)[0]
    tensor([0.  , 0.25, 0.75, 0.  ])
    """

@_universal
def positive(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``+x``, a copy.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is 1.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.positive(x), x)[0]
    tensor([1., 1.])
    """

@_universal
def pow(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1**x2``.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivatives are ``x2 * x1**(x2 - 1)`` and ``x1**x2 * log(x1)``.

    ``x**0`` has the derivative 0 everywhere (NaN where x is NaN). In the exponent, ``0**x2``
    has the derivative 0 for ``x2 >= 0``, and that of a negative base is NaN.

    Some exponents that are Python numbers are computed without a logarithm: 2 by `square`, and
    of floating and complex tensors 3, 4 and 6 by products, -1 by `reciprocal`, -2 by its square
    and 0.5 by `sqrt`. So many roundings are off by less than 3 units in the last place.

    Examples
    --------
    >>> import numgrad as ng
    >>> x1 = ng.tensor([2.0, 0.0], requires_grad=True)
    >>> x2 = ng.tensor([3.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.pow(x1, x2), [x1, x2])
    (tensor([12.,  0.]), tensor([5.54517744, 0.        ]))
    """

@_universal
def power(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1**x2``.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivatives are ``x2 * x1**(x2 - 1)`` and ``x1**x2 * log(x1)``.

    ``x**0`` has the derivative 0 everywhere (NaN where x is NaN). In the exponent, ``0**x2``
    has the derivative 0 for ``x2 >= 0``, and that of a negative base is NaN.

    Some exponents that are Python numbers are computed without a logarithm: 2 by `square`, and
    of floating and complex tensors 3, 4 and 6 by products, -1 by `reciprocal`, -2 by its square
    and 0.5 by `sqrt`. So many roundings are off by less than 3 units in the last place.

    Examples
    --------
    >>> import numgrad as ng
    >>> x1 = ng.tensor([2.0, 0.0], requires_grad=True)
    >>> x2 = ng.tensor([3.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.pow(x1, x2), [x1, x2])
    (tensor([12.,  0.]), tensor([5.54517744, 0.        ]))
    """

def prod(
    a: ArrayLike, axis: int | collections.abc.Sequence[int] | None = None, dtype: Any = None,
    out: Tensor | None = None, keepdims: bool = False, initial: Any | None = None,
    where: ArrayLike = True
) -> Tensor:
    r"""Return the product of the elements along ``axis``.

    Parameters
    ----------
    a : array_like
        The elements; the product of none is 1.
    axis : int or tuple of int, optional
        The axes to reduce, by default all.
    dtype : dtype, optional
        Of the product, and of the elements before; by default small integers become int64 as in
        NumPy.
    out : Tensor, optional
        Where the result is written.
    keepdims : bool
        Whether the reduced axes stay, with size 1.
    initial : number or Tensor, optional
        What the product begins with.
    where : array_like of bool, optional
        Which elements count; the others receive no gradient.

    Notes
    -----
    The gradient is :math:`g^x_i = g \prod_{j \ne i} x_j`, computed without a division,
    so that zeros do no harm at any order.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.0, 2.0, 3.0], requires_grad=True)
    >>> ng.grad(ng.prod(x), x)[0]
    tensor([6., 0., 0.])
    """

def quantile(
    a: ArrayLike, q: ArrayLike, axis: int | collections.abc.Sequence[int] | None = None, *,
    overwrite_input: bool = False, method: str = 'linear', keepdims: bool = False,
    weights: Any | None = None
) -> Tensor:
    """Return quantiles of the elements along ``axis``; NaN if one of them is.

    Parameters
    ----------
    a : array_like
        The elements; real.
    q : array_like
        Which quantiles, from 0 to 1; its axes are the first ones of the result.
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
        If there are no elements.

    Notes
    -----
    The gradient goes to the one or two elements between which the quantile lies, of equal ones
    to that which comes there in the stable order; with continuous methods ``q`` has one too,
    their distance times :math:`n - 1` ("linear") or :math:`n`. Weights have the
    derivative 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([4.0, 1.0, 3.0, 9.0], requires_grad=True)
    >>> ng.quantile(x, 0.25).item()
    2.5
    >>> ng.grad(ng.quantile(x, 0.25), x)[0]
    tensor([0.  , 0.25, 0.75, 0.  ])
    """

@_universal
def rad2deg(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return radians as degrees.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Notes
    -----
    The derivative is ``180 / pi``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.rad2deg(ng.tensor([0.5, 1.0]))
    tensor([28.64788976, 57.29577951])
    """

@_universal
def radians(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return degrees as radians.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Notes
    -----
    The derivative is ``pi / 180``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.deg2rad(ng.tensor([90.0, 180.0]))
    tensor([1.57079633, 3.14159265])
    """

def real(val: ArrayLike) -> Tensor:
    """Return the real part: a view, as in NumPy, which can be written in place.

    Parameters
    ----------
    val : array_like
        Any shape.

    Notes
    -----
    The cotangent becomes the real part of the gradient.

    Examples
    --------
    >>> import numgrad as ng
    >>> val = ng.tensor([1.0 + 2.0j], requires_grad=True)
    >>> ng.grad(ng.real(val), val)[0]
    tensor([1.+0.j])
    """

@_universal
def reciprocal(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``1 / x``; integers are converted to float64, unlike NumPy's.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``-1 / x**2``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.reciprocal(x), x)[0]
    tensor([-16.,  -4.])
    """

@_universal
def remainder(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 - x2 * floor(x1 / x2)``, with the sign of ``x2``.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is complex.

    Notes
    -----
    The derivatives are 1 and ``-floor(x1 / x2)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x1 = ng.tensor([7.0, -7.0], requires_grad=True)
    >>> x2 = ng.tensor([2.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.remainder(x1, x2), [x1, x2])
    (tensor([1., 1.]), tensor([-3.,  4.]))
    """

@_universal
def right_shift(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 >> x2`` of integers or booleans.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If an argument is floating or complex.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.bitwise_right_shift(ng.tensor([6, 5]), ng.tensor([2, 1]))
    tensor([1, 2])
    """

@_universal
def rint(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x`` rounded to integers, halves to even; integers are converted to float64.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is 0. Of complex numbers both parts are rounded.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.rint(ng.tensor([0.5, 1.5]))
    tensor([0., 2.])
    """

@_universal
def sign(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return -1, 0 or 1, for complex numbers ``x / abs(x)``.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is 0. For complex ``y = x / abs(x)`` the cotangent ``g`` becomes ``(g - y *
    real(conj(g) * y)) / abs(x)``, and 0 at ``x = 0``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.sign(ng.tensor([-2.0, 0.0, 3.0]))
    tensor([-1.,  0.,  1.])
    """

@_universal
def signbit(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return where the sign of ``x`` is negative, that of -0.0 included.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.signbit(ng.tensor([-1.0, -0.0, 0.0]))
    tensor([ True,  True, False])
    """

@_universal
def sin(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the sine.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``cos(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.sin(x), x)[0]
    tensor([0.96891242, 0.87758256])
    """

@_universal
def sinh(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the hyperbolic sine.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``cosh(x)``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.sinh(x), x)[0]
    tensor([1.0314131 , 1.12762597])
    """

@_universal
def spacing(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the distance to the next number that is larger in magnitude.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Notes
    -----
    Not differentiable: the result has no gradient.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.spacing(ng.tensor([1.0, 2.0]))
    tensor([2.22044605e-16, 4.44089210e-16])
    """

@_universal
def sqrt(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the square root.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``0.5 / sqrt(x)``: infinite at 0, NaN below.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.0, 4.0], requires_grad=True)
    >>> ng.grad(ng.sqrt(x), x)[0]
    tensor([ inf, 0.25])
    """

@_universal
def square(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x * x``.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``2 * x``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.square(x), x)[0]
    tensor([0.5, 1. ])
    """

def std(
    a: ArrayLike, axis: int | collections.abc.Sequence[int] | None = None, dtype: Any = None,
    out: Tensor | None = None, ddof: float = 0, keepdims: bool = False, *,
    where: ArrayLike = True, mean: Any | None = None, correction: float | None = None
) -> Tensor:
    """Return the standard deviation of the elements along ``axis``.

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
    With the deviations :math:`d` from the mean and :math:`c` for ``ddof`` the gradient is
    :math:`g d_i / ((n - c) s)`, and 0 where the standard deviation :math:`s` is 0; second
    derivatives do not exist there and are NaN.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 3.0, 1.0, 3.0], requires_grad=True)
    >>> ng.std(x).item()
    1.0
    >>> ng.grad(ng.std(x), x)[0]
    tensor([-0.25,  0.25, -0.25,  0.25])
    """

@_universal
def subtract(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 - x2``.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivatives are 1 and -1.

    Examples
    --------
    >>> import numgrad as ng
    >>> x1 = ng.tensor([1.0, 4.0], requires_grad=True)
    >>> x2 = ng.tensor([2.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.subtract(x1, x2), [x1, x2])
    (tensor([1., 1.]), tensor([-1., -1.]))
    """

def sum(
    a: ArrayLike, axis: int | collections.abc.Sequence[int] | None = None, dtype: Any = None,
    out: Tensor | None = None, keepdims: bool = False, initial: Any | None = None,
    where: ArrayLike = True
) -> Tensor:
    """Return the sum of the elements along ``axis``.

    Parameters
    ----------
    a : array_like
        The elements; the sum of none is 0.
    axis : int or tuple of int, optional
        The axes to reduce, by default all.
    dtype : dtype, optional
        Of the sum, and of the elements before; by default small integers become int64 as in
        NumPy.
    out : Tensor, optional
        Where the result is written.
    keepdims : bool
        Whether the reduced axes stay, with size 1.
    initial : number or Tensor, optional
        What the sum begins with.
    where : array_like of bool, optional
        Which elements count; the others receive no gradient.

    Notes
    -----
    The gradient is the cotangent, repeated along the summed axes. The sum has the same
    bits for every memory layout and number of threads.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> ng.sum(x, axis=0).detach()
    tensor([4., 6.])
    >>> ng.grad(ng.sum(x, axis=0), x, ng.tensor([1.0, 10.0]))[0]
    tensor([[ 1., 10.],
            [ 1., 10.]])
    """

@_universal
def tan(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the tangent.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``1 + tan(x)**2``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.tan(x), x)[0]
    tensor([1.0651995 , 1.29844641])
    """

@_universal
def tanh(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return the hyperbolic tangent.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivative is ``1 - tanh(x)**2``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([0.25, 0.5], requires_grad=True)
    >>> ng.grad(ng.tanh(x), x)[0]
    tensor([0.94001485, 0.78644773])
    """

def tri(N: ArrayLike, M: Any = None, k: Any = 0, dtype: Any = ..., *, like: Any = None) -> Any:
    """Return a matrix with ones at and below diagonal `k`; as `numpy.tri`, not differentiable.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.tri(2, 3)
    tensor([[1., 0., 0.],
            [1., 1., 0.]])
    """

def tril_indices(n: ArrayLike, k: Any = 0, m: Any = None) -> Any:
    """Return the indices of the lower triangle of a matrix; as `numpy.tril_indices`, not differentiable.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.tril_indices(2)
    (tensor([0, 1, 1]), tensor([0, 0, 1]))
    """

def triu_indices(n: ArrayLike, k: Any = 0, m: Any = None) -> Any:
    """Return the indices of the upper triangle of a matrix; as `numpy.triu_indices`, not differentiable.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.triu_indices(2)
    (tensor([0, 0, 1]), tensor([0, 1, 1]))
    """

@_universal
def true_divide(
    x1: ArrayLike, x2: ArrayLike, /, out: Any = None, *, where: ArrayLike = True,
    dtype: Any = None, casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x1 / x2``; integers are divided as float64.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Notes
    -----
    The derivatives are ``1 / x2`` and ``-x1 / x2**2``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x1 = ng.tensor([1.0, 4.0], requires_grad=True)
    >>> x2 = ng.tensor([2.0, 2.0], requires_grad=True)
    >>> ng.grad(ng.divide(x1, x2), [x1, x2])
    (tensor([0.5, 0.5]), tensor([-0.25, -1.  ]))
    """

@_universal
def trunc(
    x: ArrayLike, /, out: Any = None, *, where: ArrayLike = True, dtype: Any = None,
    casting: Any = 'same_kind', order: str = 'K', subok: bool = True
) -> Tensor:
    """Return ``x`` rounded towards zero.

    Parameters
    ----------
    x : array_like
        Any shape.
    *into, **options
        ``out``, ``where``, ``dtype`` and ``casting``, as in NumPy.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Notes
    -----
    The derivative is 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.trunc(ng.tensor([-1.5, 1.5]))
    tensor([-1.,  1.])
    """

def var(
    a: ArrayLike, axis: int | collections.abc.Sequence[int] | None = None, dtype: Any = None,
    out: Tensor | None = None, ddof: float = 0, keepdims: bool = False, *,
    where: ArrayLike = True, mean: Any | None = None, correction: float | None = None
) -> Tensor:
    r"""Return the variance of the elements along ``axis``.

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
    With the deviations :math:`d` from the mean and :math:`c` for ``ddof``,
    :math:`v = \sum |d_i|^2 / (n - c)`, and the gradient is :math:`2 g d_i / (n - c)`.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 3.0, 1.0, 3.0], requires_grad=True)
    >>> ng.var(x).item()
    1.0
    >>> ng.grad(ng.var(x), x)[0]
    tensor([-0.5,  0.5, -0.5,  0.5])
    """

@_universal
def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Tensor:
    """Return the products of vectors along ``axis``, the first one conjugated; other axes
    broadcast.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.vecdot([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0])
    tensor([21., 43.])
    """

@_universal
def vecmat(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return the products of vectors, which are conjugated, and matrices; other axes broadcast.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.vecmat([1.0, 10.0], [[1.0, 2.0], [3.0, 4.0]])
    tensor([31., 42.])
    """

def zeros(
    shape: int | collections.abc.Sequence[int], dtype: Any = None, order: Any = 'C', *,
    device: Any = None, like: Any = None, requires_grad: bool = False
) -> Tensor:
    """Return a tensor of zeros.

    Parameters
    ----------
    shape : int or sequence of int
        The sizes of the axes.
    dtype : dtype, optional
        Default float64.
    order : {"C", "F"}
        How the elements lie in memory; "A" and "K" mean "C".
    device : str, optional
        Where the tensor lives.
    like : Tensor, optional
        The tensor lives where this one does.
    requires_grad : bool
        Whether gradients are asked for, as in `tensor`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.zeros((2, 2))
    tensor([[0., 0.],
            [0., 0.]])
    """

def zeros_like(
    a: ArrayLike, dtype: Any = None, order: Any = 'K', subok: bool = True, *,
    device: Any = None, shape: Any = None, requires_grad: bool = False
) -> Tensor:
    """Return zeros with the shape and dtype of ``a``, unless others are given.

    Parameters
    ----------
    a : array_like
        What the result resembles.
    dtype : dtype, optional
        Another dtype.
    order, subok
        As in `zeros`; ``subok`` has no effect.
    device : str, optional
        Where the tensor lives.
    shape : int or sequence of int, optional
        Another shape.
    requires_grad : bool
        As in `zeros`.

    Notes
    -----
    The result does not depend on the values of ``a``: no gradient flows.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.zeros_like(ng.tensor([1.0, 2.0]))
    tensor([0., 0.])
    """
