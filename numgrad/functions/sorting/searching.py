"""Where elements are: positions have no derivative, the values found there have."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..._tensor import ArrayLike, Tensor, placed
from ...engine.capture.capture import WAYS_OUT, refuse
from ...operators.elementwise.cast import cast
from ...operators.shape.sorting import searchsorted_left, searchsorted_right
from ..array.operands import as_scalar, as_tensor, as_tensors, is_known
from ..indexing.indexing import take
from ..shape.reshaping import ravel


def found(function: Callable[..., Any], *xs: ArrayLike) -> tuple[Tensor, ...]:
    """Return what a function of NumPy finds among the elements, where the first ones are: it finds
    as many as there are, so the processor has to look."""
    tensors = as_tensors(*xs)
    if not all(map(is_known, tensors)):
        refuse(
            "how many results there are depends on elements that are known only when the function "
            "is replayed. Find them outside of it and pass their positions as an argument; or keep "
            "the shape, with ng.where(mask, x, 0), where=mask of sums, or ng.sort for ng.unique. "
            f"{WAYS_OUT}"
        )
    arrays = function(*[x._on_host() for x in tensors])
    return tuple([placed(array, tensors[0].device) for array in arrays])


def nonzero(a: ArrayLike) -> tuple[Tensor, ...]:
    """Return the positions of the elements that are not zero, one tensor of indices per axis.

    Parameters
    ----------
    a : array_like
        Of one axis at least.

    Notes
    -----
    Not differentiable; ``a[nonzero(a)]`` is.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.nonzero(ng.tensor([0.0, 2.0, 3.0]))
    (tensor([1, 2]),)
    """
    return found(np.nonzero, a)


def argwhere(a: ArrayLike) -> Tensor:
    """Return the positions of the elements that are not zero, one row of indices for each.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.argwhere(ng.tensor([[0.0, 2.0], [3.0, 0.0]]))
    tensor([[0, 1],
            [1, 0]])
    """
    return found(lambda array: (np.argwhere(array),), a)[0]


def searchsorted(
    a: ArrayLike, v: ArrayLike, side: Any = "left", sorter: ArrayLike | None = None
) -> Tensor:
    """Return where to insert the elements of ``v`` into the sorted ``a`` so that it stays sorted.

    Parameters
    ----------
    a : array_like
        One axis, ascending, or in the order that ``sorter`` says.
    v : array_like
        What to insert.
    side : {"left", "right"}
        Before or after equal elements.
    sorter : array_like, optional
        Indices that sort ``a``.

    Raises
    ------
    ValueError
        If ``a`` has other than one axis, or ``side`` is another word.

    Notes
    -----
    Not differentiable: the result is an integer.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.searchsorted(ng.tensor([1.0, 2.0, 3.0]), [0.5, 2.5])
    tensor([0, 2])
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side must be 'left' or 'right', got {side!r}")
    ordered, values = as_tensors(a, v)
    if ordered.ndim != 1:
        raise ValueError(f"searchsorted: a needs one axis, got shape {ordered.shape}")
    if sorter is not None:
        ordered = take(ordered, sorter)
    dtype = np.result_type(ordered.dtype, values.dtype)
    position = searchsorted_left if side == "left" else searchsorted_right
    return as_scalar(position(cast(ordered, dtype), cast(values, dtype)))


# Different elements -------------------------------------------------------------------------------


class UniqueAll(NamedTuple):
    """The different elements, where each occurs first, which one each element is, how many."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """The different elements, and how many there are of each."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """The different elements, and which one each element is."""

    values: Tensor
    inverse_indices: Tensor


def unique_all(x: ArrayLike) -> UniqueAll:
    """Return the different elements in ascending order, with positions and counts.

    Parameters
    ----------
    x : array_like
        Each NaN is an element of its own.

    Notes
    -----
    The gradient of each value goes to its first occurrence.

    Examples
    --------
    >>> import numgrad as ng
    >>> values, indices, inverse, counts = ng.unique_all(ng.tensor([3.0, 1.0, 3.0]))
    >>> values, counts
    (tensor([1., 3.]), tensor([1, 2]))
    """
    x = as_tensor(x)
    indices, *others = found(lambda array: np.unique_all(array)[1:], x)
    return UniqueAll(take(ravel(x), indices), indices, *others)


def unique_counts(x: ArrayLike) -> UniqueCounts:
    """Return the different elements and their counts; see `unique_all`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.unique_counts(ng.tensor([3.0, 1.0, 3.0])).counts
    tensor([1, 2])
    """
    every = unique_all(x)
    return UniqueCounts(every.values, every.counts)


def unique_inverse(x: ArrayLike) -> UniqueInverse:
    """Return the different elements and which one each element is; see `unique_all`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.unique_inverse(ng.tensor([3.0, 1.0, 3.0])).inverse_indices
    tensor([1, 0, 1])
    """
    every = unique_all(x)
    return UniqueInverse(every.values, every.inverse_indices)


def unique_values(x: ArrayLike) -> Tensor:
    """Return the different elements in ascending order; see `unique_all`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.unique_values(ng.tensor([3.0, 1.0, 3.0]))
    tensor([1., 3.])
    """
    return unique_all(x).values
