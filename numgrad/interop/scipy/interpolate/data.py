"""The data of interpolators: coordinates and values, checked where they are known."""

from typing import Any

import numpy as np

from ...._tensor import Tensor
from ....func.pytree import holds_tensors
from ....functions.array.operands import as_tensor, is_known, values_of
from ....functions.shape.reshaping import moveaxis, permute_dims
from ....functions.shape.selection import where
from ....functions.sorting.searching import searchsorted


def floating(x: Any) -> Tensor:
    """Return an array as a tensor of float64, or of complex128 if it is complex."""
    x = as_tensor(x)
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64, copy=False)


def real(x: Any, what: str, name: str) -> Tensor:
    """Return an array as a tensor of float64."""
    x = floating(x)
    if x.dtype.kind == "c":
        raise ValueError(f"{what}: {name} must contain real values")
    return x


def known(x: Tensor) -> np.ndarray | None:
    """Return the elements of a tensor, or None if they are not known."""
    return values_of(x.detach()) if is_known(x) else None


def require_finite(x: Tensor, what: str, name: str) -> None:
    """Raise if there are infinite values or NaN."""
    values = known(x)
    if values is not None and not np.isfinite(values).all():
        raise ValueError(f"{what}: {name} must contain only finite values")


def ascending(x: Any, what: str, least: int = 2) -> Tensor:
    """Return ascending coordinates as a tensor."""
    x = real(x, what, "x")
    if x.ndim != 1 or x.size < least:
        raise ValueError(
            f"{what}: x must be a vector of {least} or more elements, got shape {x.shape}"
        )
    require_finite(x, what, "x")
    values = known(x)
    if values is not None and (np.diff(values) <= 0).any():
        raise ValueError(f"{what}: x must be a strictly increasing sequence")
    return x


def along_first(y: Any, x: Tensor, axis: int, what: str, name: str = "y") -> tuple[Tensor, int]:
    """Return values with the axis of interpolation in front, and the original number of that axis.
    """
    y = floating(y)
    require_finite(y, what, name)
    if not -y.ndim <= axis < y.ndim:
        raise ValueError(f"{what}: axis {axis} is out of bounds for {name} of shape {y.shape}")
    axis %= y.ndim
    if y.shape[axis] != x.size:
        raise ValueError(
            f"{what}: the length {y.shape[axis]} of {name} along axis {axis} is not that of x, "
            f"{x.size}"
        )
    return moveaxis(y, axis, 0), axis


def beside(x: Tensor, y: Tensor) -> Tensor:
    """Return numbers, one for each element of the first axis of values, with further axes, for
    products with values."""
    return x.reshape(x.shape + (1,) * (y.ndim - 1))


def to_axis(y: Tensor, axis: int, ndim: int) -> Tensor:
    """Return values with the first ``ndim`` axes, those of points, in the place of an axis."""
    if not axis:
        return y
    order = [*range(ndim, ndim + axis), *range(ndim), *range(ndim + axis, y.ndim)]
    return permute_dims(y, order)


def interval(breaks: Tensor, at: Tensor, first: int, last: Any) -> Tensor:
    """Return the number of the interval between breakpoints, from ``first`` to ``last``, of each
    point.

    An interval includes its left end; the last one includes both.
    """
    return (searchsorted(breaks.detach(), at.detach(), "right") - 1).clip(first, last)


def within(y: Tensor, at: Tensor, ends: tuple[Tensor, Tensor] | None) -> Tensor:
    """Return values, with NaN for points that are NaN or outside of an interval."""
    at = at.detach()
    is_there = at == at
    if ends is not None:
        is_there = is_there & (at >= ends[0].detach()) & (at <= ends[1].detach())
    return where(is_there.reshape(at.shape + (1,) * (y.ndim - at.ndim)), y, np.nan)


def answer(y: Tensor, *given: Any) -> Any:
    """Return a tensor if an argument is a tensor, else an array."""
    return y if holds_tensors(list(given)) else y.numpy()
