"""Functions of the bits of integers and booleans, of their divisors, and of gaps in floats."""

from collections.abc import Callable
from typing import Any, Unpack

from .._tensor import ArrayLike, Tensor
from ..operators import borrowed as _borrowed
from ..operators import comparison as _comparison
from .operands import as_tensor
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


def _borrowed_function(name: str, says: str, example: str, result: str) -> Callable[..., Any]:
    """Return a function that NumPy computes, and that has no derivative."""
    operator: Any = getattr(_borrowed, name)

    def call(*args: ArrayLike, **options: Unpack[Options]) -> Tensor:
        if options:
            return with_options(call, options, *args)
        given = [x if type(x) in (int, bool, float) else as_tensor(x).detach() for x in args]
        return operator(*given)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""Return {says}; as `numpy.{name}`, not differentiable.

    Examples
    --------
    >>> import numgrad as ng
    >>> {example}
    {result}
    """
    return universal(call)


gcd = _borrowed_function("gcd", "the greatest common divisors of integers", "ng.gcd([12, 20], 8)",
                         "tensor([4, 4])")  # fmt: skip
lcm = _borrowed_function("lcm", "the least common multiples of integers", "ng.lcm([12, 20], 8)",
                         "tensor([24, 40])")  # fmt: skip
spacing = _borrowed_function("spacing", "the distances to the next larger numbers",
                             "ng.spacing(1.0) == ng.finfo(float).eps", "tensor(True)")  # fmt: skip
bitwise_count = _borrowed_function("bitwise_count", "the numbers of ones among bits",
                                   "ng.bitwise_count([6, -7])",
                                   "tensor([2, 3], dtype=uint8)")  # fmt: skip
