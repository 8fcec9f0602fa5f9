"""Sorting: the order of the elements, and the elements in that order."""

from typing import Any

from ..._tensor import ArrayLike, Tensor
from ...engine.record.guards import guarded
from ...engine.record.options import Steps
from ...ir.dtypes import FLOATING
from ...operators.elementwise.arithmetic import subtract
from ...operators.shape import sorting as _operators
from ...operators.shape.reshape import flip, reshape
from ..array.axes import along_axis
from ..array.operands import as_tensor
from ..creation.memory_order import in_order

_KINDS = (None, "quicksort", "heapsort", "mergesort", "stable")


def sort(
    a: ArrayLike,
    axis: int | None = -1,
    kind: str | None = None,
    *,
    descending: bool = False,
    stable: bool | None = True,
) -> Tensor:
    """Return the elements in ascending order along ``axis``; NaN comes last.

    Parameters
    ----------
    a : array_like
        The elements.
    axis : int, optional
        The axis to sort along, by default the last; ``None`` flattens first.
    kind : {None, "quicksort", "heapsort", "mergesort", "stable"}
        Accepted as NumPy does: equal elements keep their order with any of them.
    descending : bool
        Whether to begin with the largest; NaN comes first then.
    stable : bool
        Accepted for the Array API: equal elements always keep their order.

    Notes
    -----
    The gradient takes the elements back to where they came from: it is the inverse permutation.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([3.0, 1.0, 2.0], requires_grad=True)
    >>> ng.sort(x).detach()
    tensor([1., 2., 3.])
    >>> ng.grad(ng.sort(x), x, ng.tensor([1.0, 10.0, 100.0]))[0]
    tensor([100.,   1.,  10.])
    """
    _require_kind(kind)
    return _sorted.call(a, axis, descending)


def _any_sort(x: ArrayLike, axis: int | None, descending: bool) -> Tensor:
    x = as_tensor(x)
    ordered = along_axis(lambda v: _operators.permute(v, _order(v, descending)), x, axis)
    return ordered.astype(x.dtype, copy=False)


def _sort_steps(x: Any, axis: int | None, descending: bool) -> Any:
    """Return what sorting along the last axis comes to."""
    if type(x) is not Tensor or axis not in (-1, x.ndim - 1) or descending or not x.ndim:
        return ()
    if x.dtype not in FLOATING:
        return ()
    return [(_operators.argsort, {}, (0,)), (_operators.permute, {}, (0, 1))]


_sorted = Steps(_sort_steps, _any_sort)


def argsort(
    a: ArrayLike,
    axis: int | None = -1,
    kind: str | None = None,
    *,
    descending: bool = False,
    stable: bool | None = True,
) -> Tensor:
    """Return the positions of the elements in ascending order along ``axis``; parameters as in
    `sort`.

    Notes
    -----
    Not differentiable: the result has no gradient.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.argsort([3.0, 1.0, 2.0, 1.0])
    tensor([1, 3, 2, 0])
    """
    _require_kind(kind)
    a = as_tensor(a)
    a = a if a.ndim else reshape(a, ncore=0, shape=(1,))  # as NumPy, which sorts no number
    return in_order(along_axis(lambda values: _order(values, descending), a, axis), "C")


def _require_kind(kind: str | None) -> None:
    if kind not in _KINDS:
        raise ValueError(f"kind must be one of {', '.join(map(repr, _KINDS))}, got {kind!r}")


def _order(x: Tensor, descending: bool) -> Tensor:
    """Return the stable order along the last axis; descending is the mirror image's ascending."""
    if not guarded(descending):
        return _operators.argsort(x)
    mirrored = _operators.argsort(flip(x, axes=(-1,)))
    return subtract(x.shape[-1] - 1, flip(mirrored, axes=(-1,)))
