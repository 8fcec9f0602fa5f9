"""What the derivatives of eigenvectors and of singular vectors share: gaps as denominators.

In this module *values* are eigenvalues or singular values, *vectors* are the eigenvectors or
singular vectors, and a *gap* is the difference of two values. The derivatives of vectors have gaps
as denominators. Two values are called *close* if their gap is no more than rounding. The vectors of
close values can be any basis of a space, so a function of these vectors has a derivative only if
the function does not depend on this choice. `quotient` and `slopes_between` return 0 or NaN there.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._declare import HostOperator, constant
from ...engine.differentiate.spectral_influence import influence
from ..elementwise.arithmetic import absolute, add, multiply, reciprocal, subtract, where
from ..elementwise.cast import cast
from ..elementwise.comparison import equal, less_equal, logical_and, logical_not, logical_or
from ..elementwise.kinks import at_kink
from ..elementwise.selection import maximum
from ..reduction.reductions import sum as sum_
from ..shape.indexing import diagonal, index
from ..shape.reshape import expand_dims
from .matmul import adjoint


class Factors:
    """A mixin of operators that factorize matrices; see `Decomposition`.

    The pullback gets None as the cotangent of an unused factor.
    """

    value_slot: int | None = None
    """The number of the output that has eigenvalues or singular values, if one has."""
    _pullback: Any
    _pushforward: Any = None

    def differentiate(
        self, backward_pass: Any, context: Any, cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        gradients = self._pullback(context, *cotangents)
        return gradients if isinstance(gradients, tuple) else (gradients,)

    def tangent(
        self, forward_pass: Any, context: Any, tangents: Sequence[Any]
    ) -> Sequence[Any] | None:
        return None if self._pushforward is None else self._pushforward(context, *tangents)

    def pushforward(self, function: Any) -> Any:
        """Declare the forward derivative, a function of the context and the tangents of all inputs.

        Other operators have their forward derivatives made from the pullback, which must be linear
        for that. A pullback that returns NaN for some cotangents is not linear.
        """
        self._pushforward = function
        return function


class Decomposition(Factors, HostOperator):
    """A factorization of matrices by a function of whole arrays."""

    def __init__(self, *args: Any, values: int | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self.value_slot = values


class Slopes(Decomposition):
    """An operator that returns the slopes of eigenvalues or singular values as a matrix changes.

    The pullback gets, beside the cotangents, what `motion` returns for them, in passes that are
    recorded and in others.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, values=0, **options)

    def pullback(self, function: Any) -> Any:
        super().pullback(function)
        self.has_rule = False  # a rule sees one node, but `motion` needs the graph around the node
        return function

    def differentiate(
        self, backward_pass: Any, context: Any, cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        (g,) = cotangents
        moved = _motion(influence(g, context.node, backward_pass), g)
        return self._pullback(context, g, moved)  # type: ignore[misc]


def slopes_of_values(signature: str, **options: Any) -> Any:
    """Return a decorator that declares a `Slopes` operator from a function of whole arrays."""
    return lambda function: Slopes(function, signature, **options)


def decomposition(signature: str, **options: Any) -> Any:
    """Return a decorator that declares a factorization from a function of whole arrays.

    The options are those of `HostOperator`.
    """
    return lambda function: Decomposition(function, signature, **options)


def reads_outputs(count: int) -> Any:
    """Return the argument of ``reads`` for a derivative that reads all outputs and no input.

    The operator has one input and ``count`` outputs.
    """
    return lambda needs: (False, *(True,) * count)


# Matrices -----------------------------------------------------------------------------------------


def as_row(x: Any) -> Any:
    return expand_dims(x, axes=(-2,))


def as_column(x: Any) -> Any:
    return expand_dims(x, axes=(-1,))


def first_of(x: Any, count: int) -> Any:
    """Return the first ``count`` columns of ``x``, or ``x`` itself if it has no more."""
    return x if x.shape[-1] == count else index(x, key=((0, count, None),))


def rest_of(x: Any, count: int) -> Any:
    return index(x, key=((count, None, None),))


def half(x: Any, sign: int) -> Any:
    """Return the Hermitian part of matrices, or their skew-Hermitian part if the sign is -1."""
    other = adjoint(x)
    return multiply(add(x, other) if sign > 0 else subtract(x, other), number(0.5, x.dtype))


def number(value: float, dtype: np.dtype) -> Any:
    return constant(np.array(value, dtype))


def onto_diagonal(x: Any, dtype: np.dtype) -> Any:
    """Return matrices of a dtype with the elements of ``x`` on their diagonals."""
    eye = np.eye(x.shape[-1], dtype=dtype)
    return multiply(as_row(cast(x, dtype)), constant(eye))


def main_diagonal(x: Any) -> Any:
    return diagonal(x, axes=(-2, -1), offset=0)


# Pairs of values ----------------------------------------------------------------------------------


def rounding(values: Any, size: int) -> Any:
    """Return the distance up to which two values count as equal, for sorted values of a matrix.

    ``size`` is the larger side of the matrix; there may be no values at all.
    """
    ends = index(values, key=((0, 1, None),)), index(values, key=((-1, None, None),))
    largest = maximum(absolute(ends[0]), absolute(ends[1]))
    return multiply(largest, number(size * np.finfo(values.dtype).eps, values.dtype))


class Gaps(NamedTuple):
    """The gaps of pairs of values, and which of them are rounding.

    Attributes
    ----------
    values
        The gaps, as matrices.
    limit
        The size up to which a gap is no more than rounding.
    still : ndarray of bool
        Pairs whose quotient is 0 if the gap is rounding, such as each value with itself.
    """

    values: Any
    limit: Any
    still: np.ndarray


def turning(x: Any, gaps: Gaps) -> Any:
    """Return ``x`` divided by gaps, which says how vectors turn when the matrix changes.

    The quotient is NaN where a gap is rounding, as vectors of close values turn by unknown angles,
    and 0 for the pairs in ``gaps.still``.
    """
    still, dtype = constant(gaps.still), gaps.values.dtype
    close = less_equal(absolute(gaps.values), gaps.limit)
    instead = where(still, number(1.0, dtype), number(np.nan, dtype))
    inverse = cast(reciprocal(where(close, instead, gaps.values)), x.dtype)
    return where(still, number(0.0, x.dtype), multiply(x, inverse))


def quotient(
    x: Any, gaps: Gaps, parts: Sequence[Any], alone: bool = False, recorded: bool = False
) -> Any:
    """Return ``x`` divided by gaps, and 0 or NaN where a gap is no more than rounding.

    For such a pair of values the quotient is 0 if nothing depends on the pair, as far as ``parts``
    tell, and else NaN. The limit of the quotient exists for some functions of values and vectors,
    such as functions of a matrix, but cannot be computed from their cotangents.

    Parameters
    ----------
    x : value
        The numerators, one for each pair.
    gaps : Gaps
    parts : sequence of values
        What ``x`` was computed from. Nothing depends on a pair if all parts are 0 there.
    alone : bool
        Whether only vectors are used, and no values. Then nothing depends on a pair if ``x`` is 0
        there up to rounding: that is so for a function that does not depend on the choice of
        vectors.
    recorded : bool
        Whether the quotient will be differentiated. For other cotangents or tangents a numerator
        that is 0 here may be another number. So the derivative of the quotient is NaN for a close
        pair, unless the vectors are used alone.
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
    still = constant(gaps.still)
    inverse = cast(inverse, x.dtype)
    if recorded and not alone:
        pairs = logical_and(close, logical_not(still))
        unknown = where(logical_and(pairs, logical_not(quiet)), nan, zero)
        return where(still, zero, add(multiply(at_kink(pairs, x), inverse), unknown))
    return where(close, where(logical_or(quiet, still), zero, nan), multiply(x, inverse))


def slopes_between(x: Any, first: Any, second: Any, moved: Any, gaps: Gaps, total: Any) -> Any:
    """Return ``x * (first - second) / gaps``, for pairs of cotangents ``first`` and ``second``.

    The gradient of a function of values is a matrix with the same vectors, and with the cotangents
    of the values in place of the values. The product is the derivative of this gradient, in the
    basis of the vectors, if the matrix changes by ``x``. For close values it is

    - 0 if their cotangents are equal, and stay equal for other values: the vectors turn into one
      another, which leaves the gradient as it is;
    - 0 if their cotangents are equal here only, and ``x`` is 0, as then no vector turns;
    - NaN otherwise: if the cotangents differ, the function has a kink.

    Parameters
    ----------
    x : value
        The change of the matrix, in the basis of the vectors.
    first, second : values
        The cotangents of the two values of each pair.
    moved : value
        A number for each pair of cotangents, 0 if the two stay equal for other values; see
        `motion`.
    gaps : Gaps
    total : value
        The sum of the sizes of all cotangents. Two cotangents count as equal if they differ by a
        small part of this.
    """
    close = less_equal(absolute(gaps.values), gaps.limit)
    zero, nan = number(0.0, x.dtype), number(np.nan, x.dtype)
    rise = subtract(first, second)
    bound = multiply(total, number(np.sqrt(np.finfo(total.dtype).eps), total.dtype))
    even = less_equal(absolute(rise), as_column(as_column(bound)))
    quiet = logical_and(even, logical_or(equal(moved, 0), equal(x, zero)))
    quiet = logical_or(quiet, constant(gaps.still))
    slope = multiply(rise, reciprocal(where(close, number(1.0, rise.dtype), gaps.values)))
    return where(close, where(quiet, zero, nan), multiply(x, cast(slope, x.dtype)))


def motion(context: Any, cotangents: Any) -> Any:
    """Return a tangent of the cotangents of values, to see which cotangents stay equal.

    The values are those that the node of ``context`` has computed. Two cotangents that are equal
    here, and have equal tangents, count as equal for all values. The cotangents are recorded.
    """
    return _motion(influence(cotangents, context.node), cotangents)


def _motion(found: Any, cotangents: Any) -> Any:
    if not isinstance(found, bool):
        return found
    # True if unknown: all numbers differ. False if the cotangents are constant: all are 0.
    numbers = np.arange(1.0, cotangents.shape[-1] + 1) * found
    return constant(numbers.astype(np.finfo(cotangents.dtype).dtype))


def differences(x: Any) -> Any:
    """Return matrices of the differences ``x[j] - x[i]``, for row ``i`` and column ``j``."""
    return subtract(as_row(x), as_column(x))


def eye(n: int) -> np.ndarray:
    return np.eye(n, dtype=bool)


def alone(context: Any, values: Any) -> bool:
    """Whether the program uses the vectors of a factorization but not its values.

    ``values`` is the cotangent of eigenvalues or singular values, None if they are not used. The
    option ``paired`` says that they are used although they come from another node.
    """
    return values is None and not context.static.get("paired", False)


def paired_with(context: Any, values: Any) -> dict[str, Any]:
    """Return the static options with which a pullback of eigenvalues computes the eigenvectors.

    The same is done for singular values. ``values`` are the cotangents of either. If cotangents are
    recorded, the options say ``paired``; see `alone`.
    """
    used = context.create_graph and values.requires_grad
    return context.static | {"paired": True} if used else context.static
