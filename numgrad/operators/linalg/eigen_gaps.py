"""What the derivatives of eigenvectors and singular vectors share.

They have the differences of values as denominators. Where two values are equal to rounding, their
vectors can be any basis of a space, and functions of them have a derivative only if they do not
depend on the choice. `quotient` says what is made of such a pair.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._declare import HostOperator, door
from ..elementwise.arithmetic import absolute, add, multiply, reciprocal, subtract, where
from ..elementwise.cast import cast
from ..elementwise.comparison import equal, less_equal, logical_and, logical_not, logical_or
from ..elementwise.kinks import at_kink
from ..elementwise.selection import maximum
from ..reduction.reductions import sum as sum_
from ..shape.indexing import diagonal, index
from ..shape.reshape import expand_dims
from .matmul import adjoint


class Decomposition(HostOperator):
    """A factorization of matrices; its pullback gets ``None`` for factors that nobody uses."""

    value_slot: int | None = None
    """The output that has eigenvalues or singular values."""
    _pushforward: Any = None

    def __init__(self, *args: Any, values: int | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self.value_slot = values

    def differentiate(
        self, backward_pass: Any, context: Any, cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        gradients = self._pullback(context, *cotangents)  # type: ignore[misc]
        return gradients if isinstance(gradients, tuple) else (gradients,)

    def tangent(
        self, forward_pass: Any, context: Any, tangents: Sequence[Any]
    ) -> Sequence[Any] | None:
        return None if self._pushforward is None else self._pushforward(context, *tangents)

    def pushforward(self, function: Any) -> Any:
        """Declare what becomes of tangents, for a pullback that is not linear where it refuses."""
        self._pushforward = function
        return function


class Slopes(Decomposition):
    """Slopes of values along a change of the matrix; its pullback also gets by how much
    the cotangents move with what they depend on, recorded or not."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, values=0, **options)

    def pullback(self, function: Any) -> Any:
        super().pullback(function)
        self.has_rule = False  # how cotangents move is seen in the graph around
        return function

    def differentiate(
        self, backward_pass: Any, context: Any, cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        (g,) = cotangents
        moved = _motion(door.influence(g, context.node, backward_pass), g)
        return self._pullback(context, g, moved)  # type: ignore[misc]


def slopes_of_values(signature: str, **options: Any) -> Any:
    """Declare an operator of `Slopes` from a function of whole arrays."""
    return lambda function: Slopes(function, signature, **options)


def decomposition(signature: str, **options: Any) -> Any:
    """Declare a factorization from a function of whole arrays; see `HostOperator`."""
    return lambda function: Decomposition(function, signature, **options)


def reads_outputs(count: int) -> Any:
    """Return what declares that a derivative reads one input not, and all outputs."""
    return lambda needs: (False, *(True,) * count)


# Matrices -----------------------------------------------------------------------------------------


def as_row(x: Any) -> Any:
    return expand_dims(x, axes=(-2,))


def as_column(x: Any) -> Any:
    return expand_dims(x, axes=(-1,))


def first_of(x: Any, count: int) -> Any:
    """Return the first vectors, columns of ``x``, all without a copy if there are no more."""
    return x if x.shape[-1] == count else index(x, key=((0, count, None),))


def rest_of(x: Any, count: int) -> Any:
    return index(x, key=((count, None, None),))


def half(x: Any, sign: int) -> Any:
    """Return the Hermitian part of matrices, or for the sign -1 the skew-Hermitian part."""
    other = adjoint(x)
    return multiply(add(x, other) if sign > 0 else subtract(x, other), number(0.5, x.dtype))


def number(value: float, dtype: np.dtype) -> Any:
    return door.constant(np.array(value, dtype))


def onto_diagonal(x: Any, dtype: np.dtype) -> Any:
    """Return diagonal matrices, of another dtype perhaps."""
    eye = np.eye(x.shape[-1], dtype=dtype)
    return multiply(as_row(cast(x, dtype)), door.constant(eye))


def main_diagonal(x: Any) -> Any:
    return diagonal(x, axes=(-2, -1), offset=0)


# Pairs of values ----------------------------------------------------------------------------------


def rounding(values: Any, size: int) -> Any:
    """Return how far equal values may be apart; the values are in order, and may be none."""
    ends = index(values, key=((0, 1, None),)), index(values, key=((-1, None, None),))
    largest = maximum(absolute(ends[0]), absolute(ends[1]))
    return multiply(largest, number(size * np.finfo(values.dtype).eps, values.dtype))


class Gaps(NamedTuple):
    """Denominators, up to which size they are rounding, and where the quotient counts as 0 then."""

    values: Any
    limit: Any
    still: np.ndarray


def turning(x: Any, gaps: Gaps) -> Any:
    """Return ``x`` divided by gaps, and NaN where a gap is rounding: by how much such vectors turn
    is not known."""
    still, dtype = door.constant(gaps.still), gaps.values.dtype
    close = less_equal(absolute(gaps.values), gaps.limit)
    instead = where(still, number(1.0, dtype), number(np.nan, dtype))
    inverse = cast(reciprocal(where(close, instead, gaps.values)), x.dtype)
    return where(still, number(0.0, x.dtype), multiply(x, inverse))


def quotient(
    x: Any, gaps: Gaps, parts: Sequence[Any], alone: bool = False, recorded: bool = False
) -> Any:
    """Return ``x`` divided by gaps that are more than rounding.

    Elsewhere it is 0 where nothing depends on the pair, and else NaN: for a function of values and
    vectors, such as a function of a matrix, the limit of the quotient is in neither cotangent.

    Parameters
    ----------
    x : value
        Made of ``parts``. A function of vectors alone, which does not depend on their choice, has 0
        here up to rounding.
    alone : bool
        Whether the vectors are used, but not the values.
    recorded : bool
        Whether this is differentiated. What is 0 need not be so for other cotangents or tangents:
        it has no derivative, unless the vectors are used alone.
    """
    close = less_equal(absolute(gaps.values), gaps.limit)
    zero, nan = number(0.0, x.dtype), number(np.nan, x.dtype)
    inverse = reciprocal(where(close, number(1.0, gaps.values.dtype), gaps.values))
    if alone:
        size = sum_(absolute(parts[0]), axes=(-2, -1))
        for part in parts[1:]:
            size = add(size, sum_(absolute(part), axes=(-2, -1)))
        bound = multiply(size, number(np.sqrt(np.finfo(size.dtype).eps), size.dtype))
        quiet = less_equal(absolute(x), as_column(as_column(bound)))
    else:
        quiet = equal(parts[0], zero)
        for part in parts[1:]:
            quiet = logical_and(quiet, equal(part, zero))
    still = door.constant(gaps.still)
    inverse = cast(inverse, x.dtype)
    if recorded and not alone:
        pairs = logical_and(close, logical_not(still))
        unknown = where(logical_and(pairs, logical_not(quiet)), nan, zero)
        return where(still, zero, add(multiply(at_kink(pairs, x), inverse), unknown))
    return where(close, where(logical_or(quiet, still), zero, nan), multiply(x, inverse))


def slopes_between(x: Any, first: Any, second: Any, moved: Any, gaps: Gaps, total: Any) -> Any:
    """Return ``x`` times the slopes of cotangents of values, ``(first - second) / gaps``.

    That is what becomes of a matrix with certain vectors and, as values, these cotangents when the
    matrix changes that the vectors are of. Between equal values it is 0 where the cotangents are
    equal and would be for other values: vectors that turn into one another leave such a matrix as
    it is. Where they are not equal, the values have a kink there, and it is NaN; so it is where
    they would not be for other values, unless nothing turns.

    Parameters
    ----------
    moved : value
        0 for pairs of cotangents that stay equal when values move.
    total : value
        The sum of the sizes of all cotangents, by which equal ones are judged.
    """
    close = less_equal(absolute(gaps.values), gaps.limit)
    zero, nan = number(0.0, x.dtype), number(np.nan, x.dtype)
    rise = subtract(first, second)
    bound = multiply(total, number(np.sqrt(np.finfo(total.dtype).eps), total.dtype))
    even = less_equal(absolute(rise), as_column(as_column(bound)))
    quiet = logical_and(even, logical_or(equal(moved, 0), equal(x, zero)))
    quiet = logical_or(quiet, door.constant(gaps.still))
    slope = multiply(rise, reciprocal(where(close, number(1.0, rise.dtype), gaps.values)))
    return where(close, where(quiet, zero, nan), multiply(x, cast(slope, x.dtype)))


def motion(context: Any, cotangents: Any) -> Any:
    """Return, for the cotangents of values that are recorded, by how much they move with what they
    depend on: numbers that are equal where cotangents are equal everywhere, if they are here."""
    return _motion(door.influence(cotangents, context.node), cotangents)


def _motion(found: Any, cotangents: Any) -> Any:
    if not isinstance(found, bool):
        return found
    numbers = np.arange(1.0, cotangents.shape[-1] + 1) * found  # nobody knows, or constant
    return door.constant(numbers.astype(np.finfo(cotangents.dtype).dtype))


def differences(x: Any) -> Any:
    """Return for pairs of elements by how much the one of the column is larger."""
    return subtract(as_row(x), as_column(x))


def eye(n: int) -> np.ndarray:
    return np.eye(n, dtype=bool)


def alone(context: Any, values: Any) -> bool:
    """Whether vectors are used, but not the values."""
    return values is None and not context.static.get("paired", False)


def paired_with(context: Any, values: Any) -> dict[str, Any]:
    """Return the options with which to compute the vectors of values that are used."""
    used = context.create_graph and values.requires_grad
    return context.static | {"paired": True} if used else context.static
