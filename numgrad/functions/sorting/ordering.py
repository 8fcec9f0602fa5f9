"""Partly sorted elements, orders by several keys, and positions in C order."""

from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.guards import guarded
from ..array.argument_checks import integers, sequence
from ..array.axes import normalize_axis_index
from ..array.operands import arrays_of, as_tensor, as_tensors
from ..indexing.indexing import take_along_axis
from ..shape.reshaping import moveaxis, ravel
from .searching import nonzero
from .sorting import argsort, sort


def partition(
    a: ArrayLike, kth: Any, axis: int | None = -1, kind: str = "introselect", order: None = None
) -> Tensor:
    """Return the elements with the ``kth`` ones in their sorted places, smaller ones before and
    larger ones behind: here all are sorted.

    Parameters
    ----------
    a : array_like
        The elements.
    kth : int or sequence of int
        Places.
    axis : int, optional
        By default the last; ``None`` flattens first.
    kind, order
        Accepted as NumPy does.

    Raises
    ------
    ValueError
        If there is no such place.

    Notes
    -----
    The derivative is that of `sort`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.partition(ng.tensor([3.0, 1.0, 2.0]), 1)[1].item()
    2.0
    """
    a = as_tensor(a)
    _require_places("partition", a, kth, axis, kind)
    return sort(a, axis)


def argpartition(
    a: ArrayLike, kth: Any, axis: int | None = -1, kind: str = "introselect", order: None = None
) -> Tensor:
    """Return the positions of the elements in the order of `partition`; not differentiable.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.argpartition(ng.tensor([3.0, 1.0, 2.0]), 1)[1].item()
    2
    """
    a = as_tensor(a).detach()
    _require_places("argpartition", a, kth, axis, kind)
    return argsort(a, axis)


def _require_places(name: str, a: Tensor, kth: Any, axis: int | None, kind: str) -> None:
    if kind != "introselect":
        raise ValueError(f'{name}: kind must be "introselect", got {kind!r}')
    size = a.size if axis is None else a.shape[normalize_axis_index(axis, a.ndim)]
    for place in integers(np.ravel(arrays_of(guarded(kth))), "kth"):
        if not -size <= place < size:
            raise ValueError(f"{name}: kth {place} is out of bounds for {size} elements")


def lexsort(keys: Any, axis: int = -1) -> Tensor:
    """Return the order of elements by several keys, of which the last one comes first; not
    differentiable.

    Parameters
    ----------
    keys : sequence of array_like
        Of one shape.
    axis : int

    Raises
    ------
    TypeError
        If there are no keys.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.lexsort([[2, 1, 0], [5, 3, 5]])
    tensor([1, 2, 0])
    """
    rows = [key.detach() for key in as_tensors(*sequence(keys, "keys"))]
    if not rows:
        raise TypeError("lexsort: at least one key is needed")
    if len({key.shape for key in rows}) > 1:
        raise ValueError("lexsort: all keys must have one shape")
    if not rows[0].ndim:
        return as_tensor(0)
    rows = [moveaxis(key, normalize_axis_index(axis, key.ndim), -1) for key in rows]
    found = argsort(rows[0])
    for key in rows[1:]:
        found = take_along_axis(found, argsort(take_along_axis(key, found)))
    return moveaxis(found, -1, axis)


def flatnonzero(a: ArrayLike) -> Tensor:
    """Return the positions, in C order, of the elements that are not 0; not differentiable.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.flatnonzero(ng.tensor([[0.0, 2.0], [3.0, 0.0]]))
    tensor([1, 2])
    """
    return nonzero(ravel(as_tensor(a)))[0]


def sort_complex(a: ArrayLike) -> Tensor:
    """Return the elements as complex numbers, sorted by real parts, then imaginary ones.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.sort_complex(ng.tensor([2.0, 1.0]))
    tensor([1.+0.j, 2.+0.j])
    """
    a = as_tensor(a)
    small = a.dtype.char in "bhBHF"  # those alone that NumPy has in single precision
    return sort(a.astype(np.complex64 if small else np.complex128, copy=False))
