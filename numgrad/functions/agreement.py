"""Whether arrays agree: questions with a yes or no, which have no derivative."""

from typing import Any

import numpy as np

from .._tensor import ArrayLike, Tensor


def _values(x: Any) -> Any:
    return x.detach().numpy() if isinstance(x, Tensor) else x


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
    tolerances = _values(rtol), _values(atol)
    return Tensor(np.asarray(np.isclose(_values(a), _values(b), *tolerances, equal_nan=equal_nan)))


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
    return bool(np.all(isclose(a, b, rtol, atol, equal_nan).numpy()))


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
