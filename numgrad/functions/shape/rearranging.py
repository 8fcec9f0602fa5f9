"""Moving elements: reversing, rolling, rotating."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.options import Steps
from ...operators.shape import joining as _joining
from ...operators.shape import reshape as _shape
from ..array.argument_checks import integer
from ..array.axes import negative_axes, normalize_axis_tuple
from ..array.operands import as_tensor, truncated
from .reshaping import Axis, ravel, reshape, swapaxes


def flip(m: ArrayLike, axis: Axis | None = None) -> Tensor:
    """Reverse the order of the elements along axes, as a view.

    Parameters
    ----------
    m : array_like
    axis : int or sequence of int, optional
        By default all of them.

    Notes
    -----
    The gradient is reversed too.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.flip(ng.tensor([1.0, 2.0, 3.0]))
    tensor([3., 2., 1.])
    """
    return _flipped.call(as_tensor(m), axis)


@Steps
def _flipped(x: Tensor, axis: Axis | None) -> list[tuple[Any, dict[str, Any]]]:
    return [(_shape.flip, {"axes": negative_axes(axis, x.ndim)})]


def flipud(m: ArrayLike) -> Tensor:
    """Reverse the order of the rows; see `flip`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.flipud([[1.0], [2.0]])
    tensor([[2.],
            [1.]])
    """
    return flip(m, 0)


def fliplr(m: ArrayLike) -> Tensor:
    """Reverse the order of the columns; see `flip`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fliplr([[1.0, 2.0]])
    tensor([[2., 1.]])
    """
    return flip(m, 1)


def rot90(m: ArrayLike, k: int = 1, axes: Sequence[int] = (0, 1)) -> Tensor:
    """Rotate by 90 degrees in the plane of two axes, as a view.

    Parameters
    ----------
    m : array_like
    k : int
        The number of rotations.
    axes : two int
        The rotation is from the first to the second.

    Notes
    -----
    The gradient is rotated back.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.rot90([[1.0, 2.0], [3.0, 4.0]])
    tensor([[2., 4.],
            [1., 3.]])
    """
    m = as_tensor(m)
    first, second = normalize_axis_tuple(axes, m.ndim)
    k = integer(k, "k") % 4
    if k == 0:
        return reshape(m, m.shape)
    if k == 2:
        return flip(m, (first, second))
    if k == 1:
        return swapaxes(flip(m, second), first, second)
    return flip(swapaxes(m, first, second), second)


def roll(a: ArrayLike, shift: Any, axis: Axis | None = None) -> Tensor:
    """Shift the elements along axes; what leaves at one end enters at the other.

    Parameters
    ----------
    a : array_like
    shift : int or sequence of int
    axis : int or sequence of int, optional
        By default ``a`` is flattened, rolled, and brought back to its shape.

    Notes
    -----
    The gradient is rolled back.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.roll(ng.tensor([1.0, 2.0, 3.0]), 1)
    tensor([3., 1., 2.])
    """
    a = as_tensor(a)
    if axis is None:
        if len(a.shape) != 1:
            return reshape(roll(ravel(a), shift, 0), a.shape)
        axis = 0
    return _rolled.call(a, shift, axis)


@Steps
def _rolled(x: Tensor, shift: Any, axis: Axis) -> list[tuple[Any, dict[str, Any]]]:
    places = normalize_axis_tuple(axis, x.ndim, allow_duplicate=True)
    total: dict[int, int] = {}
    for amount, place in np.broadcast(shift, places):
        total[int(place) - x.ndim] = total.get(int(place) - x.ndim, 0) + truncated(amount)
    axes = tuple(sorted(total))
    return [(_joining.roll, {"shifts": tuple(total[a] for a in axes), "axes": axes})]
