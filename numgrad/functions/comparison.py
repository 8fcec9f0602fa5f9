"""Comparisons, logic and tests of numbers: functions without derivative."""

from .._tensor import ArrayLike, Tensor
from ..operators import comparison as _comparison


def equal(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
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
    return _comparison.equal(x1, x2)


def not_equal(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
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
    return _comparison.not_equal(x1, x2)


def less(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
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
    return _comparison.less(x1, x2)


def less_equal(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
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
    return _comparison.less_equal(x1, x2)


def greater(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
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
    return _comparison.greater(x1, x2)


def greater_equal(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
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
    return _comparison.greater_equal(x1, x2)


def logical_and(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
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
    return _comparison.logical_and(x1, x2)


def logical_or(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
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
    return _comparison.logical_or(x1, x2)


def logical_xor(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
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
    return _comparison.logical_xor(x1, x2)


def logical_not(x: ArrayLike, /) -> Tensor:
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
    return _comparison.logical_not(x)


def isnan(x: ArrayLike, /) -> Tensor:
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
    return _comparison.isnan(x)


def isinf(x: ArrayLike, /) -> Tensor:
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
    return _comparison.isinf(x)


def isfinite(x: ArrayLike, /) -> Tensor:
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
    return _comparison.isfinite(x)


def signbit(x: ArrayLike, /) -> Tensor:
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
    return _comparison.signbit(x)
