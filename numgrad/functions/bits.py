"""Functions of the bits of integers and booleans."""

from typing import Unpack

from .._tensor import ArrayLike, Tensor
from ..operators import comparison as _comparison
from .universal import Options, universal, with_options


@universal
def bitwise_and(x1: ArrayLike, x2: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
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
    if options:
        return with_options(bitwise_and, options, x1, x2)
    return _comparison.bitwise_and(x1, x2)


@universal
def bitwise_or(x1: ArrayLike, x2: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
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
    return with_options(bitwise_or, options, x1, x2) if options else _comparison.bitwise_or(x1, x2)


@universal
def bitwise_xor(x1: ArrayLike, x2: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
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
    if options:
        return with_options(bitwise_xor, options, x1, x2)
    return _comparison.bitwise_xor(x1, x2)


@universal
def bitwise_left_shift(x1: ArrayLike, x2: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
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
    if options:
        return with_options(bitwise_left_shift, options, x1, x2)
    return _comparison.bitwise_left_shift(x1, x2)


left_shift = bitwise_left_shift


@universal
def bitwise_right_shift(x1: ArrayLike, x2: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
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
    if options:
        return with_options(bitwise_right_shift, options, x1, x2)
    return _comparison.bitwise_right_shift(x1, x2)


right_shift = bitwise_right_shift


@universal
def bitwise_invert(x: ArrayLike, /, **options: Unpack[Options]) -> Tensor:
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
    return with_options(bitwise_invert, options, x) if options else _comparison.bitwise_invert(x)


bitwise_not = bitwise_invert
invert = bitwise_invert
