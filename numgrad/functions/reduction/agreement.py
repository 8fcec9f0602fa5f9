"""Whether arrays agree: questions with a yes or no, which have no derivative."""

from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.guards import guarded
from ...operators.elementwise.arithmetic import absolute, add, multiply, subtract
from ...operators.elementwise.cast import cast
from ...operators.elementwise.comparison import (
    equal,
    isfinite,
    isnan,
    less_equal,
    logical_and,
    logical_or,
)
from ..array.operands import as_tensors
from ..creation.from_data import asarray, carries_graph


def _values(x: Any) -> Any:
    x = asarray(x) if carries_graph(x) else x
    return x._on_host() if isinstance(x, Tensor) else guarded(x)


def isclose(
    a: ArrayLike, b: ArrayLike, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Return where ``abs(a - b) <= atol + rtol * abs(b)``, as a boolean tensor.

    Parameters
    ----------
    a, b : array_like
        What to compare.
    rtol, atol : float
        Relative and absolute tolerance.
    equal_nan : bool
        Whether NaN equals NaN.

    Notes
    -----
    Not differentiable: the result has no gradient.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.isclose(ng.tensor([1.0, 2.0]), [1.0, 2.1])
    tensor([ True, False])
    """
    x, y = [x.detach() for x in as_tensors(a, b)]
    y = cast(y, np.result_type(y.dtype, 1.0))  # the size of the least integer is none
    bound = add(multiply(absolute(y), _plain(rtol)), _plain(atol))
    near = logical_and(less_equal(absolute(subtract(x, y)), bound), isfinite(y))
    close = logical_or(near, equal(x, y))
    return logical_or(close, logical_and(isnan(x), isnan(y))) if equal_nan else close


def _plain(tolerance: Any) -> Any:
    return tolerance.detach() if isinstance(tolerance, Tensor) else tolerance


def allclose(
    a: ArrayLike, b: ArrayLike, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False
) -> bool:
    """Return whether all elements are close; parameters as in `isclose`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.allclose(ng.tensor([1.0, 2.0]), [1.0, 2.1])
    False
    """
    return bool(np.all(_values(isclose(a, b, rtol, atol, equal_nan))))


def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: bool = False) -> bool:
    """Return whether two arrays have the same shape and elements.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.array_equal(ng.tensor([1.0, 2.0]), [1.0, 2.0])
    True
    """
    return np.array_equal(_values(a1), _values(a2), equal_nan=equal_nan)


def array_equiv(a1: ArrayLike, a2: ArrayLike) -> bool:
    """Return whether two arrays broadcast to the same shape and have the same elements there.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.array_equiv(ng.tensor([1.0, 1.0]), 1.0)
    True
    """
    return bool(np.array_equiv(_values(a1), _values(a2)))
