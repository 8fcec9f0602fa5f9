"""Functions of the bits of integers and booleans."""

from .._tensor import ArrayLike, Tensor
from ..operators import comparison as _comparison


def bitwise_and(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return ``x1 & x2`` of integers or booleans.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.

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
    return _comparison.bitwise_and(x1, x2)


def bitwise_or(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return ``x1 | x2`` of integers or booleans.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.

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
    return _comparison.bitwise_or(x1, x2)


def bitwise_xor(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return ``x1 ^ x2`` of integers or booleans.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.

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
    return _comparison.bitwise_xor(x1, x2)


def bitwise_left_shift(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return ``x1 << x2`` of integers or booleans.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.

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
    return _comparison.bitwise_left_shift(x1, x2)


left_shift = bitwise_left_shift


def bitwise_right_shift(x1: ArrayLike, x2: ArrayLike, /) -> Tensor:
    """Return ``x1 >> x2`` of integers or booleans.

    Parameters
    ----------
    x1, x2 : array_like
        Broadcast together.

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
    return _comparison.bitwise_right_shift(x1, x2)


right_shift = bitwise_right_shift


def bitwise_invert(x: ArrayLike, /) -> Tensor:
    """Return ``~x`` of integers or booleans.

    Parameters
    ----------
    x : array_like
        Any shape.

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
    return _comparison.bitwise_invert(x)


bitwise_not = bitwise_invert
invert = bitwise_invert
