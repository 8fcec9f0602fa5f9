"""Sets of numbers: what is in them, and their differences. Where the elements are has no
derivative, the elements found there have."""

from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...operators.elementwise.comparison import equal, logical_not
from ..array.argument_checks import WordsOfNumpy
from ..array.axes import normalize_axis_index
from ..array.operands import as_tensor, as_tensors
from ..creation.constants import zeros
from ..indexing.indexing import take
from ..reduction import reduction
from ..shape.joining import concat
from ..shape.reshaping import expand_dims, ravel
from ..shape.selection import minimum
from .searching import found as _found
from .searching import searchsorted
from .sorting import sort


def unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """Return the different elements in ascending order, or the different slices along an axis.

    Parameters
    ----------
    ar : array_like
    return_index, return_inverse, return_counts : bool
        Whether to return where each occurs first, which one each element is, and how many there
        are.
    axis : int, optional
        By default ``ar`` is flattened.
    equal_nan : bool
        Whether NaN equals NaN.
    sorted : bool
        Accepted as NumPy does; the elements are always sorted.

    Notes
    -----
    The gradient of each value goes to its first occurrence.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([3.0, 1.0, 3.0], requires_grad=True)
    >>> ng.grad(ng.unique(x).sum(), x)[0]
    tensor([1., 1., 0.])
    """
    x = as_tensor(ar)
    with WordsOfNumpy():
        indices, inverse, counts = _found(
            lambda array: np.unique(array, True, True, True, axis, equal_nan=equal_nan)[1:], x
        )
    axis = None if axis is None else normalize_axis_index(axis, x.ndim)
    values = take(ravel(x) if axis is None else x, indices, axis or 0)
    asked = (return_index, return_inverse, return_counts)
    found = [t for t, wanted in zip((indices, inverse, counts), asked, strict=True) if wanted]
    return (values, *found) if found else values


def isin(
    element: ArrayLike,
    test_elements: ArrayLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> Tensor:
    """Return where elements are among ``test_elements``, as booleans without derivative.

    Parameters
    ----------
    element, test_elements : array_like
    assume_unique, kind
        Accepted as NumPy does; they ask for nothing here.
    invert : bool
        Whether to return where they are not.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.isin(ng.tensor([1.0, 2.0, 3.0]), [1.0, 3.0])
    tensor([ True, False,  True])
    """
    x, others = [t.detach() for t in as_tensors(element, test_elements)]
    dtype = np.result_type(x.dtype, others.dtype)
    x, others = x.astype(dtype, copy=False), ravel(others).astype(dtype, copy=False)
    if not others.size:
        found = zeros(x.shape, bool, device=x.device)
    elif dtype.kind == "c":  # which have no order
        found = reduction.any(equal(expand_dims(x, -1), others), axis=-1)
    else:
        ordered = sort(others)
        place = minimum(searchsorted(ordered, x), others.size - 1)
        found = equal(take(ordered, place), x)
    return logical_not(found) if invert else found


def in1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> Tensor:
    """Return where elements of ``ar1``, flattened, are among those of ``ar2``; see `isin`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.in1d([[1, 2]], [2])
    tensor([False,  True])
    """
    return isin(ravel(as_tensor(ar1)), ar2, invert=invert)


def union1d(ar1: ArrayLike, ar2: ArrayLike) -> Tensor:
    """Return the different elements of both arrays in ascending order; gradients as in `unique`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.union1d(ng.tensor([3.0, 1.0]), [2.0, 3.0])
    tensor([1., 2., 3.])
    """
    first, second = as_tensors(ar1, ar2)
    (places,) = _found(
        lambda a, b: np.unique(np.concatenate((a, b), None), return_index=True)[1:], first, second
    )
    return take(concat([first, second], axis=None), places)


def intersect1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """Return the elements that are in both arrays, in ascending order.

    Parameters
    ----------
    ar1, ar2 : array_like
    assume_unique : bool
        Whether no element occurs twice in one of them.
    return_indices : bool
        Whether to return where they are in both.

    Notes
    -----
    The gradient of each value goes to its first occurrence in ``ar1``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.intersect1d(ng.tensor([3.0, 1.0]), [2.0, 3.0])
    tensor([3.])
    """
    first, second = as_tensors(ar1, ar2)
    places = _found(lambda a, b: np.intersect1d(a, b, assume_unique, True)[1:], first, second)
    dtype = np.result_type(first.dtype, second.dtype)
    values = take(ravel(first), places[0]).astype(dtype, copy=False)
    return (values, *places) if return_indices else values


def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> Tensor:
    """Return the elements of ``ar1`` that are not in ``ar2``: in ascending order, or with
    ``assume_unique`` as they come; gradients as in `unique`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.setdiff1d(ng.tensor([3.0, 1.0, 2.0]), [3.0])
    tensor([1., 2.])
    """
    return _alone(as_tensor(ar1), as_tensor(ar2), assume_unique)


def _alone(x: Tensor, others: Tensor, assume_unique: bool) -> Tensor:
    """Return the elements that are not among others."""

    def places(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray]:
        each = np.arange(a.size) if assume_unique else np.unique(a, return_index=True)[1]
        return (each[np.isin(a.reshape(-1)[each], b, invert=True)],)

    return take(ravel(x), _found(places, x, others)[0])


def setxor1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> Tensor:
    """Return the elements that are in one of two arrays only, in ascending order; gradients as in
    `unique`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.setxor1d(ng.tensor([3.0, 1.0]), [2.0, 3.0])
    tensor([1., 2.])
    """
    first, second = as_tensors(ar1, ar2)
    alone = [_alone(*pair, assume_unique) for pair in ((first, second), (second, first))]
    return sort(concat(alone))
