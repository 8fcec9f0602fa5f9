"""Comparisons, logic and tests of numbers: functions without derivative."""

from typing import Any, Unpack

from ..._tensor import ArrayLike, Tensor
from ...operators.elementwise import comparison as _comparison
from .universal import Options, universal, with_options


@universal(at=("[1.0, 2.0]", "[2.0, 2.0]"), value="tensor([False,  True])")
def equal(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``x1 == x2`` as booleans, without derivative."""
    if into or options:
        return with_options(equal, options, x1, x2, *into)
    return _comparison.equal(x1, x2)


@universal(at=("[1.0, 2.0]", "[2.0, 2.0]"), value="tensor([ True, False])")
def not_equal(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``x1 != x2`` as booleans, without derivative."""
    if into or options:
        return with_options(not_equal, options, x1, x2, *into)
    return _comparison.not_equal(x1, x2)


@universal(at=("[1.0, 2.0]", "[2.0, 2.0]"), value="tensor([ True, False])", refuses="complex")
def less(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``x1 < x2`` as booleans, without derivative."""
    if into or options:
        return with_options(less, options, x1, x2, *into)
    return _comparison.less(x1, x2)


@universal(at=("[1.0, 2.0]", "[2.0, 2.0]"), value="tensor([ True,  True])", refuses="complex")
def less_equal(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``x1 <= x2`` as booleans, without derivative."""
    if into or options:
        return with_options(less_equal, options, x1, x2, *into)
    return _comparison.less_equal(x1, x2)


@universal(at=("[1.0, 2.0]", "[2.0, 2.0]"), value="tensor([False, False])", refuses="complex")
def greater(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return ``x1 > x2`` as booleans, without derivative."""
    if into or options:
        return with_options(greater, options, x1, x2, *into)
    return _comparison.greater(x1, x2)


@universal(at=("[1.0, 2.0]", "[2.0, 2.0]"), value="tensor([False,  True])", refuses="complex")
def greater_equal(
    x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]
) -> Tensor:
    """Return ``x1 >= x2`` as booleans, without derivative."""
    if into or options:
        return with_options(greater_equal, options, x1, x2, *into)
    return _comparison.greater_equal(x1, x2)


@universal(at=("[True, False]", "[True, True]"), value="tensor([ True, False])")
def logical_and(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return where both arguments are true, that is not 0."""
    if into or options:
        return with_options(logical_and, options, x1, x2, *into)
    return _comparison.logical_and(x1, x2)


@universal(at=("[True, False]", "[True, True]"), value="tensor([ True,  True])")
def logical_or(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return where at least one argument is true, that is not 0."""
    if into or options:
        return with_options(logical_or, options, x1, x2, *into)
    return _comparison.logical_or(x1, x2)


@universal(at=("[True, False]", "[True, True]"), value="tensor([False,  True])")
def logical_xor(x1: ArrayLike, x2: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return where exactly one argument is true, that is not 0."""
    if into or options:
        return with_options(logical_xor, options, x1, x2, *into)
    return _comparison.logical_xor(x1, x2)


@universal(at=("[0.0, 2.0]",), value="tensor([ True, False])")
def logical_not(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return where ``x`` is 0."""
    if into or options:
        return with_options(logical_not, options, x, *into)
    return _comparison.logical_not(x)


@universal(at=('[1.0, float("inf"), float("nan")]',), value="tensor([False, False,  True])")
def isnan(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return where ``x`` is NaN."""
    return with_options(isnan, options, x, *into) if into or options else _comparison.isnan(x)


@universal(at=('[1.0, float("inf"), float("nan")]',), value="tensor([False,  True, False])")
def isinf(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return where ``x`` is infinite."""
    return with_options(isinf, options, x, *into) if into or options else _comparison.isinf(x)


@universal(at=('[1.0, float("inf"), float("nan")]',), value="tensor([ True, False, False])")
def isfinite(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return where ``x`` is neither infinite nor NaN."""
    return with_options(isfinite, options, x, *into) if into or options else _comparison.isfinite(x)


@universal(at=("[-1.0, -0.0, 0.0]",), value="tensor([ True,  True, False])", refuses="complex")
def signbit(x: ArrayLike, /, *into: Any, **options: Unpack[Options]) -> Tensor:
    """Return where the sign of ``x`` is negative, that of -0.0 included."""
    return with_options(signbit, options, x, *into) if into or options else _comparison.signbit(x)
