"""Comparisons, logic and tests of numbers: functions without derivative."""

from typing import Unpack

from .._tensor import ArrayLike, Tensor
from ..operators import comparison as _comparison
from .universal import Options, universal, with_options


@universal
def equal(x1: ArrayLike, x2: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return ``x1 == x2`` as booleans, without derivative.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.equal(ng.tensor([1.0, 2.0]), ng.tensor([2.0, 2.0]))
    tensor([False,  True])
    """
    return with_options(equal, options, x1, x2) if options else _comparison.equal(x1, x2)


@universal
def not_equal(x1: ArrayLike, x2: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return ``x1 != x2`` as booleans, without derivative.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.not_equal(ng.tensor([1.0, 2.0]), ng.tensor([2.0, 2.0]))
    tensor([ True, False])
    """
    return with_options(not_equal, options, x1, x2) if options else _comparison.not_equal(x1, x2)


@universal
def less(x1: ArrayLike, x2: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return ``x1 < x2`` as booleans, without derivative.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.

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
    return with_options(less, options, x1, x2) if options else _comparison.less(x1, x2)


@universal
def less_equal(x1: ArrayLike, x2: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return ``x1 <= x2`` as booleans, without derivative.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.

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
    return with_options(less_equal, options, x1, x2) if options else _comparison.less_equal(x1, x2)


@universal
def greater(x1: ArrayLike, x2: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return ``x1 > x2`` as booleans, without derivative.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.

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
    return with_options(greater, options, x1, x2) if options else _comparison.greater(x1, x2)


@universal
def greater_equal(x1: ArrayLike, x2: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return ``x1 >= x2`` as booleans, without derivative.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.

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
    if options:
        return with_options(greater_equal, options, x1, x2)
    return _comparison.greater_equal(x1, x2)


@universal
def logical_and(x1: ArrayLike, x2: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return where both arguments are true, that is not 0.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.logical_and(ng.tensor([True, False]), ng.tensor([True, True]))
    tensor([ True, False])
    """
    if options:
        return with_options(logical_and, options, x1, x2)
    return _comparison.logical_and(x1, x2)


@universal
def logical_or(x1: ArrayLike, x2: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return where at least one argument is true, that is not 0.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.logical_or(ng.tensor([True, False]), ng.tensor([True, True]))
    tensor([ True,  True])
    """
    return with_options(logical_or, options, x1, x2) if options else _comparison.logical_or(x1, x2)


@universal
def logical_xor(x1: ArrayLike, x2: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return where exactly one argument is true, that is not 0.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.logical_xor(ng.tensor([True, False]), ng.tensor([True, True]))
    tensor([False,  True])
    """
    if options:
        return with_options(logical_xor, options, x1, x2)
    return _comparison.logical_xor(x1, x2)


@universal
def logical_not(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return where ``x`` is 0.

    Parameters
    ----------
    x : array_like
        Any shape.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.logical_not(ng.tensor([0.0, 2.0]))
    tensor([ True, False])
    """
    return with_options(logical_not, options, x) if options else _comparison.logical_not(x)


@universal
def isnan(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return where ``x`` is NaN.

    Parameters
    ----------
    x : array_like
        Any shape.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.isnan(ng.tensor([1.0, float("inf"), float("nan")]))
    tensor([False, False,  True])
    """
    return with_options(isnan, options, x) if options else _comparison.isnan(x)


@universal
def isinf(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return where ``x`` is infinite.

    Parameters
    ----------
    x : array_like
        Any shape.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.isinf(ng.tensor([1.0, float("inf"), float("nan")]))
    tensor([False,  True, False])
    """
    return with_options(isinf, options, x) if options else _comparison.isinf(x)


@universal
def isfinite(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return where ``x`` is neither infinite nor NaN.

    Parameters
    ----------
    x : array_like
        Any shape.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.isfinite(ng.tensor([1.0, float("inf"), float("nan")]))
    tensor([ True, False, False])
    """
    return with_options(isfinite, options, x) if options else _comparison.isfinite(x)


@universal
def signbit(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
    """Return where the sign of ``x`` is negative, that of -0.0 included.

    Parameters
    ----------
    x : array_like
        Any shape.

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
    return with_options(signbit, options, x) if options else _comparison.signbit(x)
